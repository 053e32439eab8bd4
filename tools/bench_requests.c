/* bench_requests.c - the floors' requests as bytes. The scripts of "the same bytes" are the
 * library's own, out of its table of kinds. */
#include "config_auto.h"

#include "bench_requests.h"

#include "kind.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* As long as the ones the library sends. */
#define NONCE "1234567890123456"

static const char give_bare[] = "if redis.call('GET', KEYS[1]) == ARGV[1] then\n"
                                "  return redis.call('DEL', KEYS[1])\n"
                                "end\n"
                                "return 0\n";

static bool load_script(struct bench_talk *talk, const char *body, char ret_sha[48])
{
    const char *load[3] = {"SCRIPT", "LOAD", body};
    return bench_talk_ask(talk, 3, load, ret_sha, 48) == '$' && strlen(ret_sha) == 40;
}

bool bench_requests_load(struct bench_requests *requests, struct bench_talk *talk)
{
    const struct rl_kind *plain = rl_kind(REDLOCK_PLAIN);
    if (requests->kind == BENCH_BARE)
        return load_script(talk, give_bare, requests->sha[BENCH_GIVE]);
    return load_script(talk, plain->script[RL_ACQUIRE].body, requests->sha[BENCH_TAKE]) &&
           load_script(talk, plain->script[RL_RELEASE].body, requests->sha[BENCH_GIVE]);
}

static void build(struct bench_bytes *bytes, size_t argc, const char *const *argv)
{
    bytes->len = bench_encode(bytes->at, sizeof(bytes->at), argc, argv);
    assert(bytes->len > 0);
}

static void build_same(struct bench_requests *requests, const char *name, const char *token,
                       const char *ttl)
{
    const char *take_sha = requests->sha[BENCH_TAKE];
    const char *give_sha = requests->sha[BENCH_GIVE];
    const char *take[7] = {"EVALSHA", take_sha, "1", name, NONCE, token, ttl};
    const char *give[6] = {"EVALSHA", give_sha, "1", name, NONCE, token};
    build(&requests->request[BENCH_TAKE], 7, take);
    build(&requests->request[BENCH_GIVE], 6, give);
    struct bench_bytes *yes = &requests->success[BENCH_TAKE];
    yes->len = (size_t)snprintf(yes->at, sizeof(yes->at), "*2\r\n$%zu\r\n%s\r\n:1\r\n",
                                strlen(NONCE), NONCE);
    requests->success[BENCH_GIVE] = *yes;
}

static void build_bare(struct bench_requests *requests, const char *name, const char *token,
                       const char *ttl)
{
    const char *take[6] = {"SET", name, token, "NX", "PX", ttl};
    const char *give[5] = {"EVALSHA", requests->sha[BENCH_GIVE], "1", name, token};
    build(&requests->request[BENCH_TAKE], 6, take);
    build(&requests->request[BENCH_GIVE], 5, give);
    requests->success[BENCH_TAKE] = (struct bench_bytes){.len = 5, .at = "+OK\r\n"};
    requests->success[BENCH_GIVE] = (struct bench_bytes){.len = 4, .at = ":1\r\n"};
}

void bench_requests_build(struct bench_requests *requests, const char *name, const char *token,
                          int64_t ttl_ms)
{
    char ttl[24];
    snprintf(ttl, sizeof(ttl), "%lld", (long long)ttl_ms);
    if (requests->kind == BENCH_SAME_BYTES)
        build_same(requests, name, token, ttl);
    else
        build_bare(requests, name, token, ttl);
}
