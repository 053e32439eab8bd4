/* server_talk.c - requests and replies as bytes, and a blocking connection to a master. */
#include "config_auto.h"

#include "cluster/server_talk.h"

#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define WORDS_MAX 16
#define TALK_LIMIT_MS 5000

/* 0: no limit. */
static void set_limit(int fd, int limit_ms)
{
    struct timeval limit = {.tv_sec = limit_ms / 1000, .tv_usec = limit_ms % 1000 * 1000};
    if (limit_ms > 0) {
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    }
}

static int connect_unix(const char *path, int limit_ms)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = strlen(path);
    if (len >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, len + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    set_limit(fd, limit_ms);
    if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        int saved = errno;
        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

static int connect_tcp(const char *host, int port, int limit_ms)
{
    char service[16];
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    snprintf(service, sizeof(service), "%d", port);
    if (getaddrinfo(host, service, &hints, &found) != 0) {
        errno = EHOSTUNREACH;
        return -1;
    }
    int fd = -1;
    int saved = EHOSTUNREACH;
    for (const struct addrinfo *at = found; at != NULL && fd < 0; at = at->ai_next) {
        fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0)
            set_limit(fd, limit_ms);
        if (fd >= 0 && connect(fd, at->ai_addr, at->ai_addrlen) != 0) {
            saved = errno;
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(found);
    if (fd < 0) {
        errno = saved;
        return -1;
    }
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return fd;
}

int server_connect_within(const struct server_at *node, int limit_ms)
{
    return node->path != NULL ? connect_unix(node->path, limit_ms)
                              : connect_tcp(node->host, node->port, limit_ms);
}

int server_connect(const struct server_at *node)
{
    return server_connect_within(node, 0);
}

size_t server_encode(char *buffer, size_t size, size_t argc, const char *const *argv)
{
    int wrote = snprintf(buffer, size, "*%zu\r\n", argc);
    size_t len = (size_t)wrote;
    for (size_t i = 0; i < argc && len < size; i++) {
        wrote = snprintf(buffer + len, size - len, "$%zu\r\n%s\r\n", strlen(argv[i]), argv[i]);
        len += (size_t)wrote;
    }
    return len < size ? len : 0;
}

/* The line that starts at `at`: its length with CRLF, 0 where it is not all there. */
static size_t line_length(const char *bytes, size_t len, size_t at)
{
    const char *end = memchr(bytes + at, '\n', len - at);
    return end == NULL ? 0 : (size_t)(end - (bytes + at)) + 1;
}

ssize_t server_reply_length(const char *bytes, size_t len)
{
    size_t at = 0;
    long wanted = 1; /* replies still to come, elements of arrays among them */
    while (wanted > 0) {
        size_t line = at < len ? line_length(bytes, len, at) : 0;
        if (line == 0)
            return 0;
        char type = bytes[at];
        long number = type == '+' || type == '-' ? 0 : strtol(bytes + at + 1, NULL, 10);
        at += line;
        wanted--;
        if (type == '*' && number > 0)
            wanted += number;
        else if (type == '$' && number >= 0)
            at += (size_t)number + 2;
        else if (strchr("+-:$*", type) == NULL || type == '\0')
            return -1;
    }
    return at <= len ? (ssize_t)at : 0;
}

void server_talk_close(struct server_talk *talk)
{
    if (talk->fd >= 0)
        close(talk->fd);
    talk->fd = -1;
}

bool server_send_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t sent = send(fd, bytes, len, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        bytes += sent;
        len -= (size_t)sent;
    }
    return true;
}

/* Read until a whole reply is there. Its length, or 0. */
static size_t await_reply(struct server_talk *talk)
{
    for (;;) {
        ssize_t whole = server_reply_length(talk->buffer, talk->len);
        if (whole != 0)
            return whole > 0 ? (size_t)whole : 0;
        if (talk->len == sizeof(talk->buffer) - 1)
            return 0;
        ssize_t got =
            recv(talk->fd, talk->buffer + talk->len, sizeof(talk->buffer) - 1 - talk->len, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return 0;
        talk->len += (size_t)got;
        talk->buffer[talk->len] = '\0';
    }
}

char server_talk_ask(struct server_talk *talk, size_t argc, const char *const *argv,
                     char *ret_text, size_t size)
{
    char request[16384]; /* a long script */
    size_t len = server_encode(request, sizeof(request), argc, argv);
    assert(size > 0);
    ret_text[0] = '\0';
    if (talk->fd < 0 || len == 0 || !server_send_all(talk->fd, request, len))
        return 0;
    size_t whole = await_reply(talk);
    if (whole == 0)
        return 0;
    char type = talk->buffer[0];
    size_t from = type == '$' ? line_length(talk->buffer, whole, 0) : 1;
    size_t text = whole - from;
    if (type != '*')
        text = text >= 2 ? text - 2 : 0;
    if (text > size - 1)
        text = size - 1;
    memcpy(ret_text, talk->buffer + from, text);
    ret_text[text] = '\0';
    talk->len -= whole;
    memmove(talk->buffer, talk->buffer + whole, talk->len);
    return type;
}

char server_talk_say(struct server_talk *talk, const char *words, char *ret_text, size_t size)
{
    char copy[1024];
    const char *argv[WORDS_MAX];
    size_t argc = 0;
    snprintf(copy, sizeof(copy), "%s", words);
    for (char *rest = copy; *rest != '\0' && argc < WORDS_MAX;) {
        argv[argc++] = rest;
        rest += strcspn(rest, " ");
        if (*rest == ' ')
            *rest++ = '\0';
    }
    return server_talk_ask(talk, argc, argv, ret_text, size);
}

static bool greet(struct server_talk *talk, const struct server_at *node)
{
    char text[128];
    bool fine = true;
    if (node->password != NULL) {
        const char *auth[3] = {"AUTH", node->user, node->password};
        if (node->user == NULL)
            auth[1] = node->password;
        fine =
            server_talk_ask(talk, node->user == NULL ? 2 : 3, auth, text, sizeof(text)) == '+';
    }
    if (fine && node->db != 0) {
        char db[16];
        snprintf(db, sizeof(db), "%d", node->db);
        const char *select[2] = {"SELECT", db};
        fine = server_talk_ask(talk, 2, select, text, sizeof(text)) == '+';
    }
    return fine;
}

bool server_talk_open_within(struct server_talk *talk, const struct server_at *node,
                             int limit_ms)
{
    talk->len = 0;
    talk->fd = server_connect_within(node, limit_ms);
    if (talk->fd < 0)
        return false;
    bool fine = greet(talk, node);
    if (!fine) {
        server_talk_close(talk);
        errno = EPROTO;
    }
    return fine;
}

bool server_talk_open(struct server_talk *talk, const struct server_at *node)
{
    return server_talk_open_within(talk, node, TALK_LIMIT_MS);
}
