/* test_kind_rows.c - every row of the table of kinds: the verbs that a lock needs have scripts,
 * these use what they are given and no more, and are texts that can be sent. */
#include "config_auto.h"

#include "kinds/keys.h"
#include "script_text.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

enum { ITEMS = 20 };

/* Those that are locks, of one name or several. */
static bool is_lock(const struct rl_kind *kind)
{
    return kind && kind->script[RL_ACQUIRE].name;
}

TEST(rows, every_kind_has_verbs_of_lock, .rows = RL_ROWS)
{
    static const enum rl_verb needed[] = {RL_ACQUIRE, RL_ACQUIRE_OR_QUEUE, RL_EXTEND,
                                          RL_RETAKE, RL_RELEASE};
    const struct rl_kind *kind = rl_kind(_i);
    if (!is_lock(kind))
        return;
    ck_assert_uint_eq(rl_kind_row(kind), (unsigned)_i);
    ck_assert(kind->name[0] && kind->shown[0]);
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        const struct rl_script *script = &kind->script[needed[i]];
        ck_assert_msg(script->name && script->body, "%s, verb %d", kind->name, (int)needed[i]);
        ck_assert_msg((strchr(script->args, 't') != NULL) != script->echoes_token,
                      "%s knows no token, or two", script->name);
        ck_assert_int_eq(strchr(script->args, 'o') != NULL, rl_kind_owned(kind));
        ck_assert_int_eq(strchr(script->args, 'T') != NULL, needed[i] != RL_RELEASE);
        ck_assert(script->keys[0] == (kind->several ? 'N' : 'n'));
    }
    ck_assert(strpbrk(kind->script[RL_RELEASE].args, "kK"));
}

TEST(rows, kinds_have_names_of_their_own, .rows = RL_ROWS)
{
    for (int other = 0; other < _i; other++)
        ck_assert_str_ne(rl_kind(other)->name, rl_kind(_i)->name);
}

TEST(rows, scripts_are_given_all_arguments_that_they_use, .rows = RL_ROWS)
{
    const struct rl_kind *kind = rl_kind(_i);
    for (int verb = 0; kind && verb < RL_VERBS; verb++) {
        const struct rl_script *script = &kind->script[verb];
        const char *body = script_text(script->body);
        for (size_t i = 0; script->name && i < ITEMS; i++) {
            char item[24];
            snprintf(item, sizeof(item), "ARGV[%zu]", i);
            bool given = i >= 1 && i <= 1 + strlen(script->args);
            ck_assert_msg(given || !strstr(body, item), "%s: %s", script->name, item);
        }
    }
}

TEST(rows, scripts_are_ascii_and_fit_request, .rows = RL_ROWS)
{
    const struct rl_kind *kind = rl_kind(_i);
    for (int verb = 0; kind && verb < RL_VERBS; verb++) {
        const struct rl_script *script = &kind->script[verb];
        if (!script->name)
            continue;
        const char *body = script_text(script->body);
        for (const char *at = body; *at; at++)
            ck_assert_msg(*at == '\n' || (*at >= ' ' && *at <= '~'), "%s", script->name);
        size_t len = strlen(body);
        size_t keys = kind->several ? 2 : strlen(script->keys);
        ck_assert_int_eq(body[len - 1], '\n');
        len += keys * (RL_KEY_MAX + 16) + (2 + strlen(script->args)) * (RL_OWNER_MAX + 16) + 64;
        ck_assert_msg(len < RL_REQUEST_MAX, "%s: %zu bytes", script->name, len);
    }
}
