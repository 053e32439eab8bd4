/* floor_fair.c - the floor under a fair lock's hand-off, on raw sockets. */
#include "config_auto.h"

#include "bench/floor/floor_fair.h"

#include "bench/floor/requests.h"
#include "kinds/keys.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#define TURN_LIMIT_S 10
#define CHANNEL_MAX (RL_KEY_MAX + 64)

struct bench_floor_fair {
    struct server_talk asks, listens;
    struct bench_requests requests;
    char owner[48];
};

/* Ask, and wait for the whole reply. Is it the one that means yes? */
static bool ask(struct bench_floor_fair *floor, enum bench_verb verb)
{
    const struct bench_bytes *request = &floor->requests.request[verb];
    const struct bench_bytes *success = &floor->requests.success[verb];
    char reply[1024];
    size_t got = 0;
    ssize_t whole;
    if (!server_send_all(floor->asks.fd, request->at, request->len))
        return false;
    while ((whole = server_reply_length(reply, got)) == 0 && got < sizeof(reply)) {
        ssize_t more = recv(floor->asks.fd, reply + got, sizeof(reply) - got, 0);
        if (more <= 0)
            return false;
        got += (size_t)more;
    }
    return whole == (ssize_t)success->len && memcmp(reply, success->at, success->len) == 0;
}

/* Sleep until a whole message has come. */
static bool listen_for_one(struct bench_floor_fair *floor)
{
    struct server_talk *talk = &floor->listens;
    ssize_t whole;
    while ((whole = server_reply_length(talk->buffer, talk->len)) == 0) {
        ssize_t more =
            recv(talk->fd, talk->buffer + talk->len, sizeof(talk->buffer) - talk->len, 0);
        if (more <= 0)
            return false;
        talk->len += (size_t)more;
    }
    if (whole < 0)
        return false;
    talk->len -= (size_t)whole;
    memmove(talk->buffer, talk->buffer + whole, talk->len);
    return true;
}

static bool acquire(void *context)
{
    struct bench_floor_fair *floor = context;
    while (!ask(floor, BENCH_ACQUIRE)) {
        if (!listen_for_one(floor))
            return false;
    }
    return true;
}

static bool release(void *context)
{
    return ask(context, BENCH_RELEASE);
}

struct bench_driver bench_floor_fair_driver(struct bench_floor_fair *floor)
{
    return (struct bench_driver){.name = "floor, same scripts",
                                 .context = floor,
                                 .acquire = acquire,
                                 .release = release};
}

/* Subscribe to the channel on which this owner is woken. */
static bool subscribe(struct bench_floor_fair *floor, const char *name)
{
    char channel[CHANNEL_MAX], text[CHANNEL_MAX];
    struct rl_target target = {
        .kind = floor->requests.lock,
        .name = name,
        .name_len = strlen(name),
        .owner = floor->owner,
        .owner_len = strlen(floor->owner),
    };
    channel[rl_key_channel(&target, channel)] = '\0';
    const char *words[2] = {"SUBSCRIBE", channel};
    struct timeval limit = {.tv_sec = TURN_LIMIT_S};
    return server_talk_ask(&floor->listens, 2, words, text, sizeof(text)) == '*' &&
           setsockopt(floor->listens.fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0;
}

static void close_floor(void *what)
{
    struct bench_floor_fair *floor = what;
    server_talk_close(&floor->asks);
    server_talk_close(&floor->listens);
    free(floor);
}

struct bench_floor_fair *bench_floor_fair_open(const struct server_at *at, const char *name,
                                               unsigned number, int64_t ttl_ms)
{
    struct bench_floor_fair *floor = bench_zeroed(sizeof(*floor));
    char token[2 * RL_TOKEN_RANDOM_BYTES + 1];
    if (floor == NULL)
        return NULL;
    floor->asks.fd = floor->listens.fd = -1;
    bench_at_end(close_floor, floor);
    snprintf(floor->owner, sizeof(floor->owner), "%08x-0123-0123-0123-0123456789ab:1", number);
    snprintf(token, sizeof(token), "%032x", number);
    floor->requests = (struct bench_requests){.kind = BENCH_SAME_BYTES,
                                              .lock = rl_kind(REDLOCK_FAIR),
                                              .owner = floor->owner,
                                              .waits = true};
    if (!server_talk_open(&floor->asks, at) || !server_talk_open(&floor->listens, at) ||
        !bench_requests_load(&floor->requests, &floor->asks) || !subscribe(floor, name)) {
        fprintf(stderr, "redlock-bench: a master can't be reached by a plain socket\n");
        return NULL;
    }
    bench_requests_build(&floor->requests, name, token, ttl_ms);
    return floor;
}
