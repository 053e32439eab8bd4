/* test_kind.c - the table of kinds: every verb has its script and arguments, only an answer
 * of the promised shape is a vote, and a holder that will wake who waits is known. */
#include "config_auto.h"

#include "kinds/kind.h"
#include "base/limits.h"
#include "script_text.h"
#include "suite.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    enum rl_verb verb;
    const char *name;
    const char *keys;
    const char *args;
    bool takes, deletes;
    bool holder_yes, holder_no; /* does a yes, a no, name a holder? */
    bool place_no;              /* and a no a place? */
    bool details;               /* and both of them details? */
} verbs[] = {
    {RL_ACQUIRE, "plain_acquire", "n", "tT", true, false, false, true, false, false},
    {RL_EXTEND, "plain_extend", "n", "tT", true, false, false, false, false, false},
    {RL_RETAKE, "plain_retake", "n", "tT", true, false, false, false, false, false},
    {RL_RELEASE, "plain_release", "nq", "k", false, true, false, false, false, false},
    {RL_INSPECT, "inspect", "n", "o", false, false, true, true, false, true},
    {RL_FORCE, "force", "nq", "keWX", false, true, false, false, false, false},
    {RL_ACQUIRE_OR_QUEUE, "plain_wait", "nq", "tTwaq", true, false, false, true, true, false},
    {RL_DEQUEUE, "plain_leave", "nq", "wk", false, true, false, false, false, false},
};
#define VERBS ((int)(sizeof(verbs) / sizeof(verbs[0])))

/* Looking and deleting are the same for all kinds. */
static const struct rl_script *script_of(enum rl_verb verb)
{
    bool any = verb == RL_INSPECT || verb == RL_FORCE;
    return &rl_kind(any ? RL_ROW_ANY : RL_ROW_PLAIN)->script[verb];
}

TEST(plain, every_verb_has_script, .rows = VERBS)
{
    const struct rl_script *script = script_of(verbs[_i].verb);
    ck_assert_int_eq(VERBS, RL_VERBS);
    ck_assert_str_eq(script->name, verbs[_i].name);
    ck_assert_str_eq(script->keys, verbs[_i].keys);
    ck_assert_str_eq(script->args, verbs[_i].args);
}

/* The core knows one way to acquire. */
TEST(plain, waiting_is_acquiring_for_core, .rows = VERBS)
{
    enum rl_verb verb = verbs[_i].verb;
    ck_assert_int_eq(rl_verb_of(verb), verb == RL_ACQUIRE_OR_QUEUE ? RL_ACQUIRE : verb);
    ck_assert_int_eq(rl_verb_takes(rl_verb_of(verb)), verbs[_i].takes);
}

/* The script without its comments, which all are lines of their own. */
static const char *code_of(enum rl_verb verb)
{
    static char code[8192];
    size_t len = 0;
    const char *line = script_text(script_of(verb)->body);
    while (*line) {
        size_t line_len = strcspn(line, "\n") + 1;
        ck_assert_uint_lt(len + line_len, sizeof(code));
        if (strncmp(line, "--", 2) != 0) {
            memcpy(code + len, line, line_len);
            len += line_len;
        }
        line += line_len;
    }
    code[len] = '\0';
    return code;
}

/* Are items 1 to `wanted` of an array used, and no others? */
static void expect_used(const char *code, const char *array, unsigned wanted)
{
    for (unsigned i = 0; i < 20; i++) {
        char item[16];
        snprintf(item, sizeof(item), "%s[%u]", array, i);
        ck_assert_msg((strstr(code, item) != NULL) == (i >= 1 && i <= wanted), "%s, of %u",
                      item, wanted);
    }
    /* And by no other way than these. */
    for (const char *at = code; (at = strstr(at, array)) != NULL; at++)
        ck_assert(at[4] == '[' && at[5] >= '1' && at[5] <= '9' && at[6] == ']');
}

/* Without its functions, whose returns are no answers. */
static const char *outside_functions(const char *code)
{
    static char outside[8192];
    size_t len = 0;
    bool inside = false;
    for (; *code; code += strcspn(code, "\n") + 1) {
        size_t line_len = strcspn(code, "\n") + 1;
        inside |= strncmp(code, "local function ", 15) == 0;
        bool whole = memmem(code, line_len, " function(", 10) != NULL; /* in this line */
        if (!inside && !whole) {
            memcpy(outside + len, code, line_len);
            len += line_len;
        }
        inside &= strncmp(code, "end\n", 4) != 0;
    }
    outside[len] = '\0';
    return outside;
}

/* The keys and arguments that the table promises are those that the script uses; every script
 * starts its answers with the nonce, or with what it echoes of its token. */
TEST(plain, scripts_use_all_keys_and_arguments_of_table, .rows = VERBS)
{
    const struct rl_script *script = script_of(verbs[_i].verb);
    const char *code = code_of(verbs[_i].verb);
    expect_used(code, "KEYS", (unsigned)strlen(script->keys));
    expect_used(code, "ARGV", 1 + (unsigned)strlen(script->args));
    const char *answer = strstr(outside_functions(code), "return ");
    ck_assert_ptr_nonnull(answer);
    ck_assert_int_eq(strstr(code, "local proof = string.sub(ARGV[1], 2)\n") != NULL,
                     script->echoes_token);
    for (; answer; answer = strstr(answer + 1, "return "))
        ck_assert(script->echoes_token
                      ? strncmp(answer, "return {proof .. '-', ", 22) == 0 ||
                            strncmp(answer, "return proof\n", 13) == 0
                      : strncmp(answer, "return {ARGV[1] .. '-', ", 24) == 0 ||
                            strncmp(answer, "return not_ours(KEYS[", 21) == 0 ||
                            strncmp(answer, "return ARGV[1]\n", 15) == 0);
}

/* CE19: nothing but force deletes a key whose value it has not compared. */
TEST(plain, ce19_release_compares_token)
{
    static const struct {
        enum rl_verb verb;
        const char *compare, *then;
    } compares[] = {
        {RL_RELEASE, "local mine = redis.pcall('GET', KEYS[1]) == ARGV[1]\n",
         "if mine then\n  redis.call('DEL', KEYS[1])\n"},
        {RL_DEQUEUE, "local kept = holder == '" RL_RESERVED_PREFIX "' .. ARGV[2]\n",
         "if kept then\n  redis.call('DEL', KEYS[1])\n"},
    };
    for (int i = 0; i < VERBS; i++)
        ck_assert_int_eq(strstr(code_of(verbs[i].verb), "'DEL'") != NULL, verbs[i].deletes);
    for (unsigned i = 0; i < sizeof(compares) / sizeof(compares[0]); i++) {
        const char *code = code_of(compares[i].verb);
        const char *compare = strstr(code, compares[i].compare);
        ck_assert_ptr_nonnull(compare);
        const char *then = strstr(compare, compares[i].then);
        ck_assert_ptr_nonnull(then);
        const char *deletes = strstr(code, "'DEL'");
        ck_assert(deletes > then && strstr(deletes + 1, "'DEL'") == NULL);
    }
}

/* What kind.h says of channels and kept locks is what the scripts do. */
TEST(plain, scripts_know_prefixes)
{
    static const enum rl_verb waking[] = {RL_RELEASE, RL_FORCE, RL_DEQUEUE};
    for (unsigned i = 0; i < sizeof(waking) / sizeof(waking[0]); i++) {
        const char *code = code_of(waking[i]);
        ck_assert_ptr_nonnull(
            strstr(code, "'" RL_WAKE_PREFIX "' .. string.sub(some[i], 1, 36)"));
        ck_assert_ptr_nonnull(strstr(code, "'" RL_RESERVED_PREFIX "' .. told[#told]"));
    }
    ck_assert_ptr_nonnull(
        strstr(code_of(RL_ACQUIRE_OR_QUEUE), "'" RL_RESERVED_PREFIX "' .. ARGV[4]"));
}

TEST(plain, unknown_kinds)
{
    static const int unknown[] = {-1, RL_ROWS, 100, INT_MIN, INT_MAX};
    ck_assert_str_eq(rl_kind(REDLOCK_PLAIN)->name, "plain");
    for (unsigned i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
        ck_assert_ptr_null(rl_kind(unknown[i]));
    ck_assert_ptr_null(rl_kind_on(-1, 1));
    ck_assert_ptr_null(rl_kind_on(REDLOCK_WRITE + 1, 1));
}

TEST(plain, only_promised_shape_fits, .rows = VERBS)
{
    for (unsigned bits = 0; bits < 16; bits++) {
        struct rl_answer answer = {
            .granted = bits & 1,
            .with_holder = bits & 2,
            .with_place = bits & 4,
            .with_details = bits & 8,
        };
        bool holder = answer.granted ? verbs[_i].holder_yes : verbs[_i].holder_no;
        bool place = !answer.granted && verbs[_i].place_no;
        if (verbs[_i].verb == RL_EXTEND && !answer.granted) /* it may tell who broke it */
            holder = answer.with_holder;
        ck_assert_int_eq(rl_kind_answer_fits(verbs[_i].verb, false, &answer),
                         answer.with_holder == holder && answer.with_place == place &&
                             answer.with_details == verbs[_i].details);
    }
}

/* Who must not delete what is no lock is told what it is; to look is never refused. */
TEST(plain, data_is_named_before_deletion)
{
    struct rl_answer answer = {.code = RL_REPLY_WRONGTYPE, .with_holder = true};
    ck_assert(rl_kind_answer_fits(RL_FORCE, false, &answer));
    ck_assert(!rl_kind_answer_fits(RL_RELEASE, false, &answer));
    answer.with_holder = false;
    ck_assert(!rl_kind_answer_fits(RL_FORCE, false, &answer));
    answer = (struct rl_answer){.code = RL_REPLY_UPGRADE, .with_holder = true};
    ck_assert(!rl_kind_answer_fits(RL_FORCE, false, &answer));
    answer = (struct rl_answer){
        .code = RL_REPLY_WRONGTYPE, .with_holder = true, .with_details = true};
    ck_assert(!rl_kind_answer_fits(RL_INSPECT, false, &answer));
}

#define RANDOM "0123456789abcdef0123456789abcdef" /* of a token */

/* Tokens of ours, and locks kept for a waiter, are released with a message; what peers write
 * is not. */
TEST(plain, which_holders_wake)
{
    static const struct {
        const char *holder;
        bool wakes;
    } holders[] = {
        {RANDOM ":service", true},
        {RANDOM ":", true},
        {"00000000000000000000000000000000:a:b", true},
        {RANDOM, false},
        {RANDOM "-service", false},
        {RANDOM "0:service", false},
        {"0123456789ABCDEF0123456789ABCDEF:service", false}, /* ours are in small letters */
        {"0123456789abcdef0123456789abcde:service", false},
        {"0123456789abcdef0123456789abcdeg:service", false},
        {"/123456789abcdef0123456789abcdef:service", false},
        {"`123456789abcdef0123456789abcdef:service", false},
        {RL_RESERVED_PREFIX "x", true},
        {RL_RESERVED_PREFIX, false}, /* for whom? */
        {"redlock:nex", false},
        {"redlock:NEXT:x", false},
        {"x" RL_RESERVED_PREFIX "x", false},
        {"Ym9yZGVyczo0Mg==", false}, /* redsync's are base64 */
        {"", false},
    };
    ck_assert_uint_eq(strlen(RANDOM), 2 * RL_TOKEN_RANDOM_BYTES);
    for (unsigned i = 0; i < sizeof(holders) / sizeof(holders[0]); i++) {
        /* In memory of its own size, where no byte behind it may be read. */
        size_t len = strlen(holders[i].holder);
        char *holder = malloc(len + (len == 0));
        ck_assert_ptr_nonnull(holder);
        memcpy(holder, holders[i].holder, len);
        ck_assert_msg(rl_kind_holder_wakes(holder, len) == holders[i].wakes, "'%s'",
                      holders[i].holder);
        free(holder);
    }
}
