/* ask.c - one command to one master, through a client of the tests' own; see masters.h. */
#include "config_auto.h"

#include "masters.h"

#include "wire.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { WORDS_MAX = 40, REPLY_ROOM = 1 << 20, LIMIT_S = 10 };

static void render(struct reply *ret, const struct wire_item *items, unsigned count)
{
    ret->type = items[0].type;
    ret->number = items[0].number;
    for (unsigned i = 0; i < count && ret->len < sizeof(ret->text) - 1; i++) {
        size_t room = sizeof(ret->text) - ret->len;
        const char *space = i > 1 ? " " : "";
        int len = 0;
        if (items[i].type == ':' || (items[i].type == '$' && items[i].number < 0))
            len = snprintf(ret->text + ret->len, room, "%s%lld", space, items[i].number);
        else if (items[i].type != '*')
            len = snprintf(ret->text + ret->len, room, "%s%.*s", space, (int)items[i].len,
                           items[i].bytes);
        ret->len += (size_t)len < room ? (size_t)len : room - 1;
    }
}

/* Take `skip` replies away and render the one after them. */
static void receive(int fd, unsigned skip, struct reply *ret)
{
    char *bytes = malloc(REPLY_ROOM);
    size_t len = 0, at = 0;
    while (bytes) {
        struct wire_item items[WIRE_ITEMS_MAX];
        unsigned count;
        long used = wire_parse(bytes + at, len - at, items, &count);
        if (used > 0 && skip-- == 0) {
            render(ret, items, count);
            break;
        }
        if (used > 0) {
            at += (size_t)used;
            continue;
        }
        ssize_t got = used == 0 ? recv(fd, bytes + len, REPLY_ROOM - len, 0) : -1;
        if (got < 0 && used == 0 && errno == EINTR) /* also of a process that was stopped */
            continue;
        if (got <= 0)
            break;
        len += (size_t)got;
    }
    free(bytes);
}

struct reply master_do_n(struct masters *masters, unsigned node, unsigned argc,
                         const char *const argv[], const size_t lens[])
{
    struct reply reply = {.type = 0};
    size_t size = 1024;
    for (unsigned i = 0; i < argc; i++)
        size += lens[i] + 64;
    char *bytes = malloc(size);
    int fd = net_connect(&masters->node[node].unix_at);
    if (fd < 0 || !bytes) {
        free(bytes);
        return reply;
    }
    struct timeval limit = {.tv_sec = LIMIT_S};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    size_t len = 0;
    if (masters->password) {
        const char *user = masters->user ? masters->user : "default";
        const char *const auth[] = {"AUTH", user, masters->password};
        const size_t auth_lens[] = {4, strlen(user), strlen(masters->password)};
        len = wire_encode(bytes, size, 3, auth, auth_lens);
    }
    len += wire_encode(bytes + len, size - len, argc, argv, lens);
    if (net_send(fd, bytes, len))
        receive(fd, masters->password ? 1 : 0, &reply);
    net_close(fd, false);
    free(bytes);
    return reply;
}

struct reply master_do(struct masters *masters, unsigned node, ...)
{
    const char *argv[WORDS_MAX];
    size_t lens[WORDS_MAX];
    unsigned argc = 0;
    va_list words;
    va_start(words, node);
    while (argc < WORDS_MAX && (argv[argc] = va_arg(words, const char *)) != NULL) {
        lens[argc] = strlen(argv[argc]);
        argc++;
    }
    va_end(words);
    return master_do_n(masters, node, argc, argv, lens);
}

bool master_has(struct masters *masters, unsigned node, const char *name)
{
    return master_do(masters, node, "EXISTS", name, NULL).number == 1;
}

unsigned masters_with(struct masters *masters, const char *name)
{
    unsigned count = 0;
    for (unsigned i = 0; i < masters->n; i++)
        if (masters->node[i].pid != 0 && !masters->node[i].paused)
            count += master_has(masters, i, name);
    return count;
}

int master_connect_as(struct masters *masters, unsigned node, const char *name, size_t len)
{
    char head[96], answer[64] = "";
    int fd = net_connect(&masters->node[node].unix_at);
    ck_assert_int_ge(fd, 0);
    int head_len =
        snprintf(head, sizeof(head), "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n$%zu\r\n", len);
    ck_assert(net_send(fd, head, (size_t)head_len) && net_send(fd, name, len) &&
              net_send(fd, "\r\n", 2));
    ck_assert_int_gt(read(fd, answer, sizeof(answer) - 1), 0);
    ck_assert_msg(strcmp(answer, "+OK\r\n") == 0, "%s", answer);
    return fd;
}
