/* sim_scripts.c - EVAL, EVALSHA and SCRIPT of model masters, for the scripts in the table of
 * kinds. Other scripts are not known to them. */
#include "config_auto.h"

#include "sim_script_parts.h"

#include "kinds/fencing.h"
#include "kinds/lists.h"
#include "kinds/marker.h"
#include "script_text.h"

#include <ctype.h>
#include <openssl/sha.h>
#include <stdio.h>

enum { SHA_LEN = 2 * SHA_DIGEST_LENGTH };

struct script {
    const char *name;       /* "plain_acquire" */
    const char *short_name; /* "acquire" */
    const char *body;
    size_t len;
    int token, ttl;   /* which of ARGV they are, from 1; 0: none */
    unsigned several; /* keys of each name; 0: it is for one name */
    bool fenced;      /* inside fence_grant.lua or fence_keep.lua */
    bool strict;      /* behind marker_strict.lua */
    bool own_story;   /* it tells it itself */
    sim_script_fn *run;
    char sha[SHA_LEN + 1];
};

static struct script scripts[SIM_SCRIPTS_MAX];
static unsigned n_scripts;
static char strict_bodies[320 * 1024]; /* of those behind marker_strict.lua */

static void name_sha(const char *bytes, size_t len, char ret_sha[SHA_LEN + 1])
{
    unsigned char digest[SHA_DIGEST_LENGTH];
    SHA1((const unsigned char *)bytes, len, digest);
    for (size_t i = 0; i < sizeof(digest); i++)
        snprintf(ret_sha + 2 * i, 3, "%02x", digest[i]);
}

static sim_script_fn *player_of(const char *name)
{
    static const struct sim_known_script *const known[] = {
        sim_scripts_fair,      sim_scripts_plain, sim_scripts_qrw,
        sim_scripts_reentrant, sim_scripts_rw,    sim_scripts_several,
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        for (const struct sim_known_script *script = known[i]; script->name; script++) {
            if (strcmp(script->name, name) == 0)
                return script->run;
        }
    }
    return NULL; /* nobody plays it: it is not known to them */
}

static const char *strict_body(const char *body)
{
    static size_t used;
    char *text = strict_bodies + used;
    size_t room = sizeof(strict_bodies) - used;
    int len = snprintf(text, room, "%s%s", rl_marker_strict, body);
    assert(len > 0 && (size_t)len < room);
    used += (size_t)len + 1;
    return text;
}

static void learn_one(const struct rl_kind *kind, const struct rl_script *from, bool fenced,
                      bool strict)
{
    assert(n_scripts < SIM_SCRIPTS_MAX);
    struct script *script = &scripts[n_scripts++];
    const char *bar = strchr(from->name, '_'), *token = strchr(from->args, 't');
    const char *ttl = strchr(from->args, 'T');
    script->name = from->name;
    script->short_name = bar ? bar + 1 : from->name;
    script->body = script_text(fenced ? from->fenced_body : from->body);
    if (strict)
        script->body = strict_body(script->body);
    script->len = strlen(script->body);
    script->token = from->echoes_token ? 1 : token ? (int)(token - from->args) + 2 : 0;
    script->ttl = ttl ? (int)(ttl - from->args) + 2 : 0;
    script->several = kind->several ? (unsigned)strlen(from->keys) + fenced : 0;
    script->fenced = fenced;
    script->strict = strict;
    script->run = player_of(from->name);
    name_sha(script->body, script->len, script->sha);
}

/* It stands in no row of the table. */
static void learn_alone(const struct sim_known_script *known, const char *body)
{
    assert(n_scripts < SIM_SCRIPTS_MAX);
    struct script *script = &scripts[n_scripts++];
    script->name = known->name;
    script->short_name = strchr(known->name, '_') + 1;
    script->body = body;
    script->len = strlen(script->body);
    script->run = known->run;
    script->own_story = true;
    name_sha(script->body, script->len, script->sha);
}

/* The table of kinds, and who plays what in it. */
static void learn_table(bool strict)
{
    for (int fenced = 0; fenced < 2; fenced++) {
        for (int k = 0; k < RL_ROWS; k++) {
            const struct rl_kind *kind = rl_kind(k);
            for (int verb = 0; kind && verb < RL_VERBS; verb++) {
                const struct rl_script *from = &kind->script[verb];
                if (from->name && player_of(from->name) && (!fenced || from->fenced_body) &&
                    (!strict || from->strict_sha))
                    learn_one(kind, from, fenced, strict);
            }
        }
    }
}

/* Once. */
static void learn(void)
{
    learn_table(false);
    learn_alone(&sim_scripts_marker[0], rl_marker_join);
    learn_alone(&sim_scripts_lists[0], rl_lists_join);
    learn_table(true);
    learn_alone(&sim_scripts_certify[0], rl_fence_join);
    learn_alone(&sim_scripts_marker[1], rl_marker_named);
}

static const struct script *by_sha(const struct sim_word *word)
{
    char sha[SHA_LEN];
    if (n_scripts == 0)
        learn();
    if (word->len != SHA_LEN)
        return NULL;
    for (unsigned i = 0; i < n_scripts; i++) {
        if (memcmp(scripts[i].sha, word->bytes, SHA_LEN) == 0)
            return &scripts[i];
    }
    for (size_t i = 0; i < SHA_LEN; i++)
        sha[i] = (char)tolower((unsigned char)word->bytes[i]);
    for (unsigned i = 0; i < n_scripts; i++) {
        if (memcmp(scripts[i].sha, sha, SHA_LEN) == 0)
            return &scripts[i];
    }
    return NULL;
}

static const struct script *by_body(const struct sim_word *word)
{
    if (n_scripts == 0)
        learn();
    for (unsigned i = 0; i < n_scripts; i++) {
        if (scripts[i].len == word->len && memcmp(scripts[i].body, word->bytes, word->len) == 0)
            return &scripts[i];
    }
    return NULL;
}

static size_t number_of(const struct script *script)
{
    return (size_t)(script - scripts);
}

/* What a mark tells of it. */
static uint64_t mark_of(const struct script *script)
{
    size_t number = number_of(script);
    return number < 64 ? UINT64_C(1) << number : number;
}

/* The lock, or several. */
static const char *names_of(const struct sim_run *run, const struct script *script,
                            char ret_names[128])
{
    unsigned count = script->several ? run->n_keys / script->several : 1;
    size_t len = 0;
    for (unsigned i = 1; i <= count && i <= run->n_keys && len < 128; i++)
        len += (size_t)snprintf(ret_names + len, 128 - len, "%s%s", i > 1 ? "+" : "",
                                run->keys[i - 1].bytes);
    return len > 0 ? ret_names : "?";
}

static void tell(const struct sim_run *run, const struct script *script)
{
    const struct sim_call *call = run->call;
    const struct sim_word *ttl = script->ttl ? sim_argv_at(run, (unsigned)script->ttl) : NULL;
    bool timed = ttl && script->short_name[0] != 'r';
    char text[128], names[128];
    if (!run->answered) { /* less the script's hash, which is no part of the story */
        const char *error = call->out->bytes, *end = strstr(error, " script: ");
        size_t len = end ? (size_t)(end - error) : strcspn(error, "\r");
        snprintf(text, sizeof(text), "fails: %.*s", (int)(len < 100 ? len : 100), error);
    } else if (run->yes && timed) {
        snprintf(text, sizeof(text), "granted, %.20s ms", ttl->bytes);
    } else if (run->holder[0]) {
        snprintf(text, sizeof(text), "%s has it, for %lld ms more", run->holder,
                 (long long)run->left_ms);
    } else if (run->code == RL_REPLY_UNMARKED) {
        snprintf(text, sizeof(text), "not with that marker");
    } else {
        snprintf(text, sizeof(text), run->yes ? "done" : "not its own");
    }
    text[strcspn(text, "\r")] = '\0';
    sim_tell("n%u %s %s for %s: %s", call->server->index + 1, script->short_name,
             names_of(run, script, names), call->session->by ? call->session->by->name : "?",
             text);
}

/* Whoever looks at fair locks is told what was asked. */
static void tell_asked(const struct sim_run *run, const struct script *script, bool had)
{
    void (*asked)(const struct sim_asked *) = sim_masters_options()->asked;
    const struct sim_word *owner = sim_argv_at(run, 2);
    if (!asked || !run->answered || !owner)
        return;
    asked(&(struct sim_asked){
        .master = run->call->server->index,
        .script = script->name,
        .name = run->keys[0].bytes,
        .owner = owner->bytes,
        .had = had,
        .code = run->code,
        .place = run->place,
        .now_ms = run->call->now_ms,
    });
}

static void run_script(struct sim_call *call, const struct script *script, int64_t keys)
{
    struct sim_server *server = call->server;
    struct sim_run run = {
        .call = call,
        .body = script->body,
        .sha = script->sha,
        .keys = &call->word[3],
        .n_keys = (unsigned)keys,
        .args = &call->word[3 + keys],
        .n_args = call->words - 3 - (unsigned)keys,
        .echoes = script->token == 1,
    };
    const struct sim_word *token =
        script->token ? sim_argv_at(&run, (unsigned)script->token) : NULL;
    if (sim_server_dies_before(server, script->short_name))
        return;
    call->name = script->short_name;
    call->argument = token ? token->bytes : NULL;
    bool fair = strncmp(script->name, "fair_", 5) == 0;
    bool had = fair && sim_script_key(&run, &run.keys[0]);
    if (script->strict && !sim_marker_stands(&run))
        ; /* that is its answer */
    else if (script->fenced)
        sim_run_fenced(&run, script->run, script->short_name);
    else
        script->run(&run);
    if (fair)
        tell_asked(&run, script, had);
    sim_mark(SIM_MARK_COMMAND, mark_of(script), run.yes);
    if (sim_tells() && (!script->own_story || !run.answered))
        tell(&run, script);
}

/* EVAL and EVALSHA have their words checked alike. False: it has been said what is wrong. */
static bool read_keys(struct sim_call *call, int64_t *ret_keys)
{
    const char *error = NULL;
    if (!sim_word_integer(&call->word[2], ret_keys))
        error = sim_not_integer;
    else if (*ret_keys > call->words - 3)
        error = "ERR Number of keys can't be greater than number of args";
    else if (*ret_keys < 0)
        error = "ERR Number of keys can't be negative";
    if (error)
        sim_put_error(call->out, error);
    return !error;
}

static void run_known(struct sim_call *call, const struct script *script, int64_t keys)
{
    if (call->trouble == SIM_MASTERDOWN) {
        call->server->troubled++;
        sim_put_error(call->out, sim_masterdown);
        return;
    }
    run_script(call, script, keys);
}

static const char says_front[] = "return '", says_back[] = "'";

/* "return 'NONCE'": it is said, and known from then on. */
static bool learn_nonce(struct sim_call *call)
{
    const size_t front = sizeof(says_front) - 1;
    const struct sim_word *body = &call->word[1];
    struct sim_nonces *nonces = &call->server->nonces;
    if (body->len != front + SIM_NONCE_LEN + 1 || memcmp(body->bytes, says_front, front) != 0)
        return false;
    char *nonce = nonces->nonce[nonces->count++ % SIM_NONCES_MAX];
    memcpy(nonce, body->bytes + front, SIM_NONCE_LEN);
    nonce[SIM_NONCE_LEN] = '\0';
    sim_put_bulk(call->out, nonce, SIM_NONCE_LEN);
    return true;
}

static bool recall_nonce(struct sim_call *call)
{
    const struct sim_nonces *nonces = &call->server->nonces;
    for (unsigned i = 0; i < nonces->count && i < SIM_NONCES_MAX; i++) {
        char body[64], sha[SHA_LEN + 1];
        int len =
            snprintf(body, sizeof(body), "%s%s%s", says_front, nonces->nonce[i], says_back);
        name_sha(body, (size_t)len, sha);
        if (call->word[1].len == SHA_LEN && memcmp(sha, call->word[1].bytes, SHA_LEN) == 0) {
            sim_put_bulk(call->out, nonces->nonce[i], SIM_NONCE_LEN);
            return true;
        }
    }
    return false;
}

void sim_run_eval(struct sim_call *call)
{
    int64_t keys;
    if (!read_keys(call, &keys))
        return;
    const struct script *script = by_body(&call->word[1]);
    if (!script && learn_nonce(call))
        return;
    if (!script) {
        sim_put_error(call->out, "ERR model masters play the library's scripts only");
        return;
    }
    call->server->scripts_known[number_of(script)] = true;
    run_known(call, script, keys);
}

void sim_run_evalsha(struct sim_call *call)
{
    int64_t keys;
    const struct script *script = by_sha(&call->word[1]);
    if (call->word[1].len == SHA_LEN && !read_keys(call, &keys))
        return;
    if (script && call->server->scripts_known[number_of(script)]) {
        run_known(call, script, keys);
        return;
    }
    if (script && call->server->scripts_forgotten[number_of(script)]) {
        call->server->scripts_forgotten[number_of(script)] = false;
        call->server->felt.unknown++;
    }
    if (!script && recall_nonce(call))
        return;
    sim_put_error(call->out, "NOSCRIPT No matching script. Please use EVAL.");
}

void sim_run_script_load(struct sim_call *call)
{
    char sha[SHA_LEN + 1];
    const struct script *script = by_body(&call->word[2]);
    if (script)
        call->server->scripts_known[number_of(script)] = true;
    name_sha(call->word[2].bytes, call->word[2].len, sha);
    sim_put_bulk(call->out, sha, SHA_LEN);
}

void sim_run_script_exists(struct sim_call *call)
{
    sim_put_array(call->out, call->words - 2);
    for (unsigned i = 2; i < call->words; i++) {
        const struct script *script = by_sha(&call->word[i]);
        sim_put_integer(call->out, script && call->server->scripts_known[number_of(script)]);
    }
}
