/* fake_serve.c - a fake master's connections: a thread each, which reads commands, answers
 * them, and mangles the answers as the rules say. */
#include "config_auto.h"

#include "fake_internal.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

enum { ROOM = 1 << 20, SPLIT_MS = 3 };

/* The line that rules and records know a command by. */
static void make_line(const struct wire_item *items, unsigned count, struct fake_record *ret)
{
    int script = fake_script(items, count, &ret->whole);
    size_t size = sizeof(ret->line), len = 0;
    if (fake_is_native(items, count)) {
        snprintf(ret->line, size, "acquire %.*s %.*s %.*s", (int)items[2].len, items[2].bytes,
                 (int)items[3].len, items[3].bytes, (int)items[6].len, items[6].bytes);
        return;
    }
    if (script >= 0)
        len = (size_t)snprintf(ret->line, size, "%s %.*s", fake_script_verb(script),
                               (int)items[4].len, items[4].bytes);
    for (unsigned i = script >= 0 ? 6 : 1; i < count && len < size; i++)
        len += (size_t)snprintf(ret->line + len, size - len, "%s%.*s", i > 1 ? " " : "",
                                (int)items[i].len, items[i].bytes);
    for (char *at = ret->line; script < 0 && *at && *at != ' '; at++)
        *at = (char)toupper((unsigned char)*at);
}

static size_t answer_info(const struct fake *fake, char *ret, size_t size)
{
    char text[1024];
    int len = snprintf(text, sizeof(text),
                       "# Server\r\nredis_version:7.0.0\r\nrun_id:%s\r\n"
                       "uptime_in_seconds:%ld\r\nrole:%s\r\nloading:0\r\n%s",
                       fake->run_id, fake->uptime_s, fake->role, fake->also);
    return (size_t)snprintf(ret, size, "$%d\r\n%s\r\n", len, text);
}

static size_t answer(struct fake *fake, const struct wire_item *items, unsigned count,
                     const char *line, char *ret, size_t size)
{
    static const char *const fine[] = {"AUTH *", "SELECT *", "CLIENT *"};
    if (strncmp(line, "INFO", 4) == 0)
        return answer_info(fake, ret, size);
    if (strcmp(line, "PING") == 0)
        return (size_t)snprintf(ret, size, "+PONG\r\n");
    for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
        if (fnmatch(fine[i], line, 0) == 0)
            return (size_t)snprintf(ret, size, "+OK\r\n");
    }
    if (count > 1 && strncasecmp(items[1].bytes, "EVAL", 4) == 0)
        return fake_execute(&fake->keys, items, count, ret, size);
    if (fake_is_native(items, count))
        return fake_set(&fake->keys, items, ret, size);
    if (fnmatch("GET *", line, 0) == 0 && count == 3)
        return fake_get(&fake->keys, items, ret, size);
    return (size_t)snprintf(ret, size, "-ERR unknown command\r\n");
}

/* A rule's own reply, with the nonce put in: alone, or as an array has it. */
static size_t rule_reply(const struct fake_rule *rule, const struct wire_item *items,
                         unsigned count, char *ret, size_t size)
{
    static const char mark[] = "{nonce";
    size_t len = rule->reply_len > 0 ? rule->reply_len : strlen(rule->reply);
    size_t used = 0;
    unsigned keys = count > 5 ? (unsigned)strtoul(items[3].bytes, NULL, 10) : 0;
    const struct wire_item *nonce = 4 + keys < count ? &items[4 + keys] : NULL;
    for (size_t i = 0; i < len && used + 64 < size;) {
        if (keys > 0 && nonce && len - i >= 7 && memcmp(rule->reply + i, mark, 6) == 0) {
            bool array = rule->reply[i + 6] == '-';
            used += (size_t)snprintf(ret + used, 64, "$%zu\r\n%.*s%s\r\n", nonce->len + array,
                                     (int)nonce->len, nonce->bytes, array ? "-" : "");
            i += array ? 8 : 7;
        } else {
            ret[used++] = rule->reply[i++];
        }
    }
    return used;
}

static const struct fake_rule *pick_rule(struct fake *fake, const char *line)
{
    for (unsigned i = fake->rule_count; i-- > 0;) {
        const struct fake_rule *rule = &fake->rules[i];
        if (fnmatch(rule->match, line, 0) != 0)
            continue;
        if (rule->times > 0 && fake->matched[i] >= rule->skip + rule->times)
            continue;
        if (fake->matched[i]++ >= rule->skip)
            return rule;
    }
    return NULL;
}

/* ---- a connection ----------------------------------------------------------------------- */

/* Under the mutex; false: the fake is being stopped. */
static bool rest(struct fake *fake, int ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += (ms % 1000) * 1000000L;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    while (!fake->stopping &&
           pthread_cond_timedwait(&fake->stopping_now, &fake->mutex, &until) != ETIMEDOUT)
        continue;
    return !fake->stopping;
}

/* Under the mutex, which is let go of to send. */
static bool send_part(struct fake_connection *connection, const char *bytes, size_t len)
{
    pthread_mutex_unlock(&connection->fake->mutex);
    bool sent = net_send(connection->fd, bytes, len);
    pthread_mutex_lock(&connection->fake->mutex);
    return sent;
}

static bool send_mangled(struct fake_connection *connection, const struct fake_rule *rule,
                         const char *bytes, size_t len)
{
    if (rule->delay_ms > 0 && !rest(connection->fake, rule->delay_ms))
        return false;
    if (rule->cut && rule->cut_at < len)
        len = rule->cut_at;
    size_t sent = 0;
    while (sent < len) {
        size_t part = len - sent;
        if (rule->split_each)
            part = 1;
        else if (sent < rule->split_at && rule->split_at < len)
            part = rule->split_at;
        if (!send_part(connection, bytes + sent, part))
            return false;
        sent += part;
        if (sent < len && !rest(connection->fake, rule->split_each ? 0 : SPLIT_MS))
            return false;
    }
    return true;
}

/* Under the mutex: one command. False: the connection is over. */
static bool serve(struct fake_connection *connection, const struct wire_item *items,
                  unsigned count, char *reply, bool *silent)
{
    struct fake *fake = connection->fake;
    struct fake_record record = {.at_ms = now_ms(), .connection = connection->number};
    make_line(items, count, &record);
    if (fake->record_count < FAKE_RECORDS_MAX)
        fake->records[fake->record_count++] = record;
    if (*silent)
        return true;
    const struct fake_rule *found = pick_rule(fake, record.line);
    struct fake_rule rule = found ? *found : (struct fake_rule){.match = NULL};
    size_t len = rule.reply ? rule_reply(&rule, items, count, reply, ROOM)
                            : answer(fake, items, count, record.line, reply, ROOM);
    if (!send_mangled(connection, &rule, reply, len))
        return false;
    *silent = rule.then == FAKE_SILENT;
    if (rule.then == FAKE_RESET) /* never false here: the test may have said so meanwhile */
        connection->reset = true;
    return rule.then == FAKE_GO_ON || rule.then == FAKE_SILENT;
}

void *fake_serve(void *argument)
{
    struct fake_connection *connection = argument;
    struct fake *fake = connection->fake;
    char *bytes = malloc(2 * (size_t)ROOM);
    size_t len = 0;
    bool silent = false, over = bytes == NULL;
    while (!over) {
        ssize_t got = recv(connection->fd, bytes + len, ROOM - len, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        len += (size_t)got;
        struct wire_item items[WIRE_ITEMS_MAX];
        unsigned count;
        long used;
        pthread_mutex_lock(&fake->mutex);
        while (!over && (used = wire_parse(bytes, len, items, &count)) != 0) {
            over = used < 0 || !serve(connection, items, count, bytes + ROOM, &silent);
            if (used > 0) {
                len -= (size_t)used;
                memmove(bytes, bytes + used, len);
            }
        }
        pthread_mutex_unlock(&fake->mutex);
    }
    free(bytes);
    pthread_mutex_lock(&fake->mutex);
    net_close(connection->fd, connection->reset);
    connection->fd = -1;
    pthread_mutex_unlock(&fake->mutex);
    return NULL;
}
