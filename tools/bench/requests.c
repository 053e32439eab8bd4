/* requests.c - the floors' requests as bytes. The scripts of "the same bytes" are the
 * library's own, out of its table of kinds. */
#include "config_auto.h"

#include "bench/requests.h"

#include "kinds/keys.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define KEYS_MAX 8

static const char give_bare[] = "if redis.call('GET', KEYS[1]) == ARGV[1] then\n"
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
    return verb == BENCH_TAKE && kind_of(requests)->native && !requests->waits;
}

static const struct rl_script *script_of(const struct bench_requests *requests,
                                         enum bench_verb verb)
{
    enum rl_verb take = requests->waits ? RL_WAIT : RL_ACQUIRE;
    return &kind_of(requests)->script[verb == BENCH_TAKE ? take : RL_RELEASE];
}

bool bench_requests_load(struct bench_requests *requests, struct server_talk *talk)
{
    if (requests->kind == BENCH_BARE)
        return bench_script_load(talk, give_bare, requests->sha[BENCH_GIVE]);
    for (enum bench_verb verb = BENCH_TAKE; verb <= BENCH_GIVE; verb++) {
        if (!bench_script_load(talk, script_of(requests, verb)->body, requests->sha[verb]))
            return false;
    }
    return true;
}

static void build(struct bench_bytes *bytes, size_t argc, const char *const *argv)
{
    bytes->len = server_encode(bytes->at, sizeof(bytes->at), argc, argv);
    assert(bytes->len > 0);
}

/* What a letter of a kind's table stands for, as lease_send.c has it. */
static const char *argument(const struct bench_requests *requests, char which,
                            const char *token, const char *ttl)
{
    static char keep[16], mark[16], life[16];
    switch (which) {
    case 'o':
        return requests->owner;
    case 't':
        return token;
    case 'T':
        return ttl;
    case 'k':
        snprintf(keep, sizeof(keep), "%d", RL_KEEP_MIN_MS);
        return keep;
    case 'm':
        snprintf(mark, sizeof(mark), "%d", RL_WRITER_MARK_MS);
        return mark;
    case 'f':
        snprintf(life, sizeof(life), "%d", RL_FAIR_WAITER_MS);
        return life;
    case 'w': /* nobody waits: as the library's own, by length */
        return "01234567-0123-0123-0123-0123456789ab:1";
    default:
        assert(false && "a letter that no floor needs yet");
        return "";
    }
}

/* What the library sends for a verb, by its table of kinds. */
static void build_script(struct bench_requests *requests, enum bench_verb verb,
                         const struct rl_script *script, const char *name, const char *token,
                         const char *ttl)
{
    static char key[KEYS_MAX][RL_KEY_MAX + 1];
    struct rl_target target = {
        .kind = requests->lock,
        .name = name,
        .name_len = strlen(name),
        .owner = requests->owner,
        .owner_len = requests->owner ? strlen(requests->owner) : 0,
    };
    char keys[24];
    const char *argv[24];
    size_t argc = 0;
    snprintf(keys, sizeof(keys), "%zu", strlen(script->keys));
    assert(strlen(script->keys) <= KEYS_MAX);
    argv[argc++] = "EVALSHA";
    argv[argc++] = requests->sha[verb];
    argv[argc++] = keys;
    for (size_t i = 0; script->keys[i] != '\0'; i++) {
        key[i][rl_key_text(script->keys[i], &target, key[i])] = '\0';
        argv[argc++] = key[i];
    }
    argv[argc++] = BENCH_NONCE;
    for (const char *which = script->args; *which != '\0'; which++)
        argv[argc++] = argument(requests, *which, token, ttl);
    build(&requests->request[verb], argc, argv);
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

static void build_native(struct bench_requests *requests, const char *name, const char *token,
                         const char *ttl)
{
    struct bench_bytes *take = &requests->request[BENCH_TAKE];
    struct bench_bytes *success = &requests->success[BENCH_TAKE];
    const char *set[6] = {"SET", name, token, "NX", "PX", ttl}, *get[2] = {"GET", name};
    take->len = server_encode(take->at, sizeof(take->at), 6, set);
    take->len += server_encode(take->at + take->len, sizeof(take->at) - take->len, 2, get);
    success->len = (size_t)snprintf(success->at, sizeof(success->at), "+OK\r\n$%zu\r\n%s\r\n",
                                    strlen(token), token);
    success->replies = 2;
}

void bench_script_success(struct bench_bytes *ret_bytes)
{
    ret_bytes->replies = 1;
    ret_bytes->len =
        (size_t)snprintf(ret_bytes->at, sizeof(ret_bytes->at), "*2\r\n$%zu\r\n%s\r\n:1\r\n",
                         strlen(BENCH_NONCE), BENCH_NONCE);
}

static void build_same(struct bench_requests *requests, const char *name, const char *token,
                       const char *ttl)
{
    for (enum bench_verb verb = BENCH_TAKE; verb <= BENCH_GIVE; verb++) {
        if (is_native(requests, verb)) {
            build_native(requests, name, token, ttl);
            continue;
        }
        build_script(requests, verb, script_of(requests, verb), name, token, ttl);
        bench_script_success(&requests->success[verb]);
    }
}

static void build_bare(struct bench_requests *requests, const char *name, const char *token,
                       const char *ttl)
{
    const char *take[6] = {"SET", name, token, "NX", "PX", ttl};
    const char *give[5] = {"EVALSHA", requests->sha[BENCH_GIVE], "1", name, token};
    build(&requests->request[BENCH_TAKE], 6, take);
    build(&requests->request[BENCH_GIVE], 5, give);
    requests->success[BENCH_TAKE] =
        (struct bench_bytes){.len = 5, .replies = 1, .at = "+OK\r\n"};
    requests->success[BENCH_GIVE] =
        (struct bench_bytes){.len = 4, .replies = 1, .at = ":1\r\n"};
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
