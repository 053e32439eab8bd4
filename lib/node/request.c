/* request.c - see request.h. */
#include "config_auto.h"

#include "node/request.h"

#include "kinds/keys.h"
#include "kinds/marker.h"
#include "kinds/name_set.h"

#include <assert.h>
#include <string.h>

static const struct rl_script *script_of(const struct rl_request *request)
{
    assert(request->target->kind && request->script < RL_VERBS);
    return &request->target->kind->script[request->script];
}

/* The letters of what a script with fencing tokens has behind the other arguments. */
static const char *fenced_args(const struct rl_request *request)
{
    if (!request->fenced)
        return "";
    return rl_verb_of(request->script) == RL_ACQUIRE ? RL_FENCED_GRANT_ARGS
                                                     : RL_FENCED_KEEP_ARGS;
}

bool rl_request_reserves(const struct rl_request *request)
{
    assert(script_of(request)->args); /* the kind has this script */
    return strpbrk(script_of(request)->args, "kK") != NULL;
}

static void put_argument(struct rl_out *out, const struct rl_request *request, char which)
{
    char waiter[RL_WAITER_MAX];
    switch (which) {
    case 'o':
        rl_put_bulk(out, request->target->owner, request->target->owner_len);
        break;
    case 't':
        rl_put_bulk(out, request->token, request->token_len);
        break;
    case 'T':
        assert(request->ttl_ms > 0);
        rl_put_number(out, request->ttl_ms);
        break;
    case 'w':
        rl_put_bulk(out, waiter, rl_waiter_text(request->uuid, request->waiter, waiter));
        break;
    case 'a':
        rl_put_number(out, request->age_us);
        break;
    case 'q':
        rl_put_number(out, RL_QUEUE_TTL_MS);
        break;
    case 'f':
        rl_put_number(out, RL_FAIR_WAITER_MS);
        break;
    case 's':
        rl_put_number(out, RL_SHORTENED_MS);
        break;
    case 'm':
        rl_put_number(out, request->writer_waiting_ms);
        break;
    /* These two letters alone keep it that a release of several names always wakes: its row in
     * kind.c has K only. With k a release can wake nobody. */
    case 'K':
        rl_put_number(out, request->reserve_ms);
        break;
    case 'k':
        rl_put_number(out, request->wakes_nobody ? 0 : request->reserve_ms);
        break;
    case 'e':
        rl_put_number(out, request->endless);
        break;
    case 'W':
        rl_put_bulk(out, request->who, strlen(request->who));
        break;
    case 'X':
        rl_put_number(out, request->max_ttl_ms);
        break;
    case 'c':
        rl_put_number(out, (int64_t)rl_names_count(request->target));
        break;
    case 'p':
        rl_put_number(out, (int64_t)request->proposed);
        break;
    case 'A':
        rl_put_number(out, request->ahead_us);
        break;
    case 'B':
        rl_put_number(out, request->writes_back);
        break;
    case 'F':
        rl_put_number(out, (int64_t)request->fencing_token);
        break;
    case 'L': /* Redisson's counters have no end */
        rl_put_number(out, request->counter == 'F' ? request->counter_life_ms : 0);
        break;
    default:
        assert(false && "an argument of the kind's table");
    }
}

static void put_keys(struct rl_out *out, const char *letters, const struct rl_target *target)
{
    char key[RL_KEY_MAX];
    for (; *letters; letters++) {
        struct rl_target one = *target;
        redlock_bytes name;
        for (size_t at = 0; rl_names_next(target, &at, &name);) {
            one.name = name.bytes;
            one.name_len = name.len;
            if (*letters == 'n' || *letters == 'N')
                rl_put_bulk(out, name.bytes, name.len);
            else
                rl_put_bulk(out, key, rl_key_text(*letters, &one, key));
        }
    }
}

/* Which of its texts, or its name. */
static void put_script(struct rl_out *out, const struct rl_script *script, bool fenced,
                       bool strict, bool by_body)
{
    const char *const *body = fenced ? script->fenced_body : script->body;
    const char *sha = fenced ? script->fenced_sha : script->sha;
    if (strict)
        sha = fenced ? script->fenced_strict_sha : script->strict_sha;
    if (by_body)
        rl_put_texts(out, strict ? rl_marker_strict : "", body);
    else
        rl_put_text(out, sha);
}

size_t rl_request_encode(const struct rl_request *request, bool by_body,
                         char ret_bytes[RL_REQUEST_MAX])
{
    const struct rl_script *script = script_of(request);
    const char *more = fenced_args(request);
    const char counter[] = {*more ? request->counter : '\0', '\0'};
    size_t keys = (strlen(script->keys) + strlen(counter)) * rl_names_count(request->target);
    const unsigned shown = request->certificate ? 2 : 0, marker = request->strict ? 3 : 0;
    struct rl_out out;
    assert(script->body && script->sha); /* the kind has this script */
    assert(!*more || (script->fenced_body && script->fenced_sha));
    assert(!request->strict || script->strict_sha);
    assert(!shown || (*more && request->certificate_key));
    rl_out_init(&out, ret_bytes, RL_REQUEST_MAX);
    rl_put_array(&out, 4 + marker + shown +
                           (unsigned)(keys + strlen(script->args) + strlen(more)));
    if (by_body)
        RL_PUT_LITERAL(&out, "$4\r\nEVAL\r\n");
    else
        RL_PUT_LITERAL(&out, "$7\r\nEVALSHA\r\n");
    put_script(&out, script, *more, request->strict, by_body);
    rl_put_number(&out, (int64_t)keys);
    put_keys(&out, script->keys, request->target);
    put_keys(&out, counter, request->target);
    if (script->echoes_token)
        rl_put_bulk(&out, request->token, request->token_len);
    else
        rl_put_bulk(&out, request->nonce, sizeof(request->nonce));
    for (const char *which = script->args; *which; which++)
        put_argument(&out, request, *which);
    for (const char *which = more; *which; which++)
        put_argument(&out, request, *which);
    if (shown) {
        rl_put_text(&out, request->certificate_key);
        rl_put_text(&out, request->certificate);
    }
    assert(!out.overflow);
    return out.len;
}

size_t rl_request_put_marker(char bytes[RL_REQUEST_MAX], size_t len,
                             const struct rl_server_keys *keys, const char *marker)
{
    struct rl_out out;
    rl_out_init(&out, bytes, RL_REQUEST_MAX);
    out.len = len;
    rl_put_text(&out, keys->marker);
    rl_put_text(&out, keys->quarantine);
    rl_put_text(&out, marker);
    assert(!out.overflow);
    return out.len;
}

size_t rl_request_encode_native(const struct rl_request *request,
                                char ret_bytes[RL_REQUEST_MAX])
{
    const struct rl_target *target = request->target;
    struct rl_out out;
    assert(target->kind->native && request->script == RL_ACQUIRE);
    assert(!request->fenced && request->token_len > 0 && request->ttl_ms > 0);
    rl_out_init(&out, ret_bytes, RL_REQUEST_MAX);
    RL_PUT_LITERAL(&out, "*6\r\n$3\r\nSET\r\n");
    rl_put_bulk(&out, target->name, target->name_len);
    rl_put_bulk(&out, request->token, request->token_len);
    RL_PUT_LITERAL(&out, "$2\r\nNX\r\n$2\r\nPX\r\n");
    rl_put_number(&out, request->ttl_ms);
    RL_PUT_LITERAL(&out, "*2\r\n$3\r\nGET\r\n");
    rl_put_bulk(&out, target->name, target->name_len);
    assert(!out.overflow);
    return out.len;
}
