/* requests.c - the floors' requests as bytes. The scripts of "the same bytes" are the
 * library's own, out of its table of kinds. */
#include "config_auto.h"

#include "bench/floor/requests.h"

#include "base/clock.h"
#include "base/limits.h"
#include "node/request.h"
#include "net/resp.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char release_bare[] = "if redis.call('GET', KEYS[1]) == ARGV[1] then\n"
                                   "  return redis.call('DEL', KEYS[1])\n"
                                   "end\n"
                                   "return 0\n";

bool bench_script_load(struct server_talk *talk, const char *body, char ret_sha[48])
{
    const char *load[3] = {"SCRIPT", "LOAD", body};
    return server_talk_ask(talk, 3, load, ret_sha, 48) == '$' && strlen(ret_sha) == 40;
}

static const struct rl_kind *kind_of(const struct bench_requests *requests)
{
    return requests->lock ? requests->lock : rl_kind(REDLOCK_PLAIN);
}

/* Does the library take it by the native pair? */
static bool is_native(const struct bench_requests *requests, enum bench_verb verb)
{
    return verb == BENCH_ACQUIRE && kind_of(requests)->native && !requests->waits &&
           !requests->counter;
}

static bool is_fenced(const struct bench_requests *requests, enum bench_verb verb)
{
    return verb == BENCH_ACQUIRE && requests->counter;
}

static enum rl_verb verb_of(const struct bench_requests *requests, enum bench_verb verb)
{
    if (verb == BENCH_RELEASE)
        return RL_RELEASE;
    return requests->waits ? RL_ACQUIRE_OR_QUEUE : RL_ACQUIRE;
}

/* Its parts as one text. */
static bool load(struct server_talk *talk, const char *const *parts, char ret_sha[48])
{
    static char text[RL_REQUEST_MAX];
    struct rl_out out;
    rl_out_init(&out, text, sizeof(text) - 1);
    for (; *parts; parts++)
        rl_put_raw(&out, *parts, strlen(*parts));
    assert(!out.overflow);
    text[out.len] = '\0';
    return bench_script_load(talk, text, ret_sha);
}

bool bench_requests_load(struct bench_requests *requests, struct server_talk *talk)
{
    if (requests->kind == BENCH_BARE)
        return bench_script_load(talk, release_bare, requests->sha[BENCH_RELEASE]);
    for (enum bench_verb verb = BENCH_ACQUIRE; verb <= BENCH_RELEASE; verb++) {
        const struct rl_script *script = &kind_of(requests)->script[verb_of(requests, verb)];
        if (!load(talk, is_fenced(requests, verb) ? script->fenced_body : script->body,
                  requests->sha[verb]))
            return false;
    }
    return true;
}

static void build(struct bench_bytes *bytes, size_t argc, const char *const *argv)
{
    bytes->len = server_encode(bytes->at, sizeof(bytes->at), argc, argv);
    assert(bytes->len > 0);
}

/* The library's request for a verb, by its own encoder. */
static void build_request(struct bench_requests *requests, enum bench_verb verb,
                          const char *name, const char *token, int64_t ttl_ms)
{
    static char bytes[RL_REQUEST_MAX];
    const struct rl_target target = {
        .kind = kind_of(requests),
        .name = name,
        .name_len = strlen(name),
        .owner = requests->owner,
        .owner_len = requests->owner ? strlen(requests->owner) : 0,
    };
    struct rl_request request = {
        .target = &target,
        .script = verb_of(requests, verb),
        .token = token,
        .token_len = strlen(token),
        .ttl_ms = ttl_ms,
        .uuid = "01234567-0123-0123-0123-0123456789ab", /* nobody waits: as long as ours */
        .waiter = 1,
        .reserve_ms = RL_RESERVE_MIN_MS,
        .writer_waiting_ms = RL_WRITER_WAITING_MS,
        .fenced = is_fenced(requests, verb),
        .counter = requests->counter,
        .proposed = rl_clock_wall_us(), /* as long as ours */
        .ahead_us = RL_FENCE_LEAD_MS * 1000,
        .counter_life_ms = RL_FENCE_LIFE_MS,
    };
    struct bench_bytes *to = &requests->request[verb];
    memcpy(request.nonce, BENCH_NONCE, sizeof(request.nonce));
    to->len = is_native(requests, verb) ? rl_request_encode_native(&request, bytes)
                                        : rl_request_encode(&request, false, bytes);
    assert(to->len <= sizeof(to->at));
    memcpy(to->at, bytes, to->len);
}

ssize_t bench_answer_length(const struct bench_bytes *success, const char *bytes, size_t len)
{
    size_t at = 0;
    for (unsigned i = 0; i < success->replies; i++) {
        ssize_t whole = at < len ? server_reply_length(bytes + at, len - at) : 0;
        if (whole <= 0)
            return whole;
        at += (size_t)whole;
    }
    return (ssize_t)at;
}

static void native_success(struct bench_bytes *ret_bytes, const char *token)
{
    ret_bytes->replies = 2;
    ret_bytes->len = (size_t)snprintf(ret_bytes->at, sizeof(ret_bytes->at),
                                      "+OK\r\n$%zu\r\n%s\r\n", strlen(token), token);
}

void bench_script_success(struct bench_bytes *ret_bytes, const char *proof, bool fenced)
{
    ret_bytes->replies = 1;
    ret_bytes->goes_on = fenced;
    ret_bytes->len = (size_t)snprintf(ret_bytes->at, sizeof(ret_bytes->at),
                                      fenced ? "*3\r\n$%zu\r\n%s-\r\n:1\r\n" : "$%zu\r\n%s\r\n",
                                      strlen(proof) + fenced, proof);
}

static void build_same(struct bench_requests *requests, const char *name, const char *token,
                       int64_t ttl_ms)
{
    for (enum bench_verb verb = BENCH_ACQUIRE; verb <= BENCH_RELEASE; verb++) {
        build_request(requests, verb, name, token, ttl_ms);
        /* It leaves the first character out. */
        bool echoes = kind_of(requests)->script[verb_of(requests, verb)].echoes_token;
        if (is_native(requests, verb))
            native_success(&requests->success[verb], token);
        else
            bench_script_success(&requests->success[verb], echoes ? token + 1 : BENCH_NONCE,
                                 is_fenced(requests, verb));
    }
}

static void build_bare(struct bench_requests *requests, const char *name, const char *token,
                       int64_t ttl_ms)
{
    char ttl[24];
    snprintf(ttl, sizeof(ttl), "%lld", (long long)ttl_ms);
    const char *acquire[6] = {"SET", name, token, "NX", "PX", ttl};
    const char *release[5] = {"EVALSHA", requests->sha[BENCH_RELEASE], "1", name, token};
    build(&requests->request[BENCH_ACQUIRE], 6, acquire);
    build(&requests->request[BENCH_RELEASE], 5, release);
    requests->success[BENCH_ACQUIRE] =
        (struct bench_bytes){.len = 5, .replies = 1, .at = "+OK\r\n"};
    requests->success[BENCH_RELEASE] =
        (struct bench_bytes){.len = 4, .replies = 1, .at = ":1\r\n"};
}

void bench_requests_build(struct bench_requests *requests, const char *name, const char *token,
                          int64_t ttl_ms)
{
    if (requests->kind == BENCH_SAME_BYTES)
        build_same(requests, name, token, ttl_ms);
    else
        build_bare(requests, name, token, ttl_ms);
}
