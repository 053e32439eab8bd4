/* bench_requests.c - the floors' requests as bytes. The scripts of "the same bytes" are the
 * library's own, out of its table of kinds. */
#include "config_auto.h"

#include "bench_requests.h"

#include "kind.h"
#include "limits.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char give_bare[] = "if redis.call('GET', KEYS[1]) == ARGV[1] then\n"
                                "  return redis.call('DEL', KEYS[1])\n"
                                "end\n"
                                "return 0\n";

bool bench_script_load(struct server_talk *talk, const char *body, char ret_sha[48])
{
    const char *load[3] = {"SCRIPT", "LOAD", body};
    return server_talk_ask(talk, 3, load, ret_sha, 48) == '$' && strlen(ret_sha) == 40;
}

bool bench_requests_load(struct bench_requests *requests, struct server_talk *talk)
{
    const struct rl_kind *plain = rl_kind(REDLOCK_PLAIN);
    if (requests->kind == BENCH_BARE)
        return bench_script_load(talk, give_bare, requests->sha[BENCH_GIVE]);
    return bench_script_load(talk, plain->script[RL_ACQUIRE].body, requests->sha[BENCH_TAKE]) &&
           bench_script_load(talk, plain->script[RL_RELEASE].body, requests->sha[BENCH_GIVE]);
}

static void build(struct bench_bytes *bytes, size_t argc, const char *const *argv)
{
    bytes->len = server_encode(bytes->at, sizeof(bytes->at), argc, argv);
    assert(bytes->len > 0);
}

/* What the library sends for a verb, by its table of kinds. */
static void build_script(struct bench_requests *requests, enum bench_verb verb,
                         const struct rl_script *script, const char *name, const char *token,
                         const char *ttl)
{
    char queue[BENCH_REQUEST_MAX];
    char keep[16];
    const char *argv[16];
    size_t argc = 0;
    snprintf(queue, sizeof(queue), "%s%s", name, RL_QUEUE_SUFFIX);
    snprintf(keep, sizeof(keep), "%d", RL_KEEP_MIN_MS);
    argv[argc++] = "EVALSHA";
    argv[argc++] = requests->sha[verb];
    argv[argc++] = script->keys[1] ? "2" : "1";
    argv[argc++] = name;
    if (script->keys[1])
        argv[argc++] = queue;
    argv[argc++] = BENCH_NONCE;
    for (const char *which = script->args; *which != '\0'; which++) {
        assert(strchr("tTk", *which) != NULL);
        argv[argc++] = *which == 't' ? token : *which == 'T' ? ttl : keep;
    }
    build(&requests->request[verb], argc, argv);
}

void bench_script_success(struct bench_bytes *ret_bytes)
{
    ret_bytes->len =
        (size_t)snprintf(ret_bytes->at, sizeof(ret_bytes->at), "*2\r\n$%zu\r\n%s\r\n:1\r\n",
                         strlen(BENCH_NONCE), BENCH_NONCE);
}

static void build_same(struct bench_requests *requests, const char *name, const char *token,
                       const char *ttl)
{
    const struct rl_script *script = rl_kind(REDLOCK_PLAIN)->script;
    build_script(requests, BENCH_TAKE, &script[RL_ACQUIRE], name, token, ttl);
    build_script(requests, BENCH_GIVE, &script[RL_RELEASE], name, token, ttl);
    bench_script_success(&requests->success[BENCH_TAKE]);
    bench_script_success(&requests->success[BENCH_GIVE]);
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
