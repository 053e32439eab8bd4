/* test_kind.c - the table of kinds: every verb has its script and arguments, and only an
 * answer of the promised shape is a vote. */
#include "config_auto.h"

#include "kind.h"
#include "suite.h"

#include <limits.h>
#include <string.h>

static const struct {
    enum rl_verb verb;
    const char *name;
    bool token, ttl, takes;
    bool holder_yes, holder_no; /* does a yes, a no, name a holder? */
} verbs[] = {
    {RL_ACQUIRE, "plain_acquire", true, true, true, false, true},
    {RL_EXTEND, "plain_extend", true, true, true, false, false},
    {RL_RETAKE, "plain_retake", true, true, true, false, false},
    {RL_RELEASE, "plain_release", true, false, false, false, false},
    {RL_INSPECT, "plain_inspect", false, false, false, false, true},
    {RL_FORCE, "plain_force", false, false, false, false, false},
};
#define VERBS ((int)(sizeof(verbs) / sizeof(verbs[0])))

START_TEST(every_verb_has_a_script)
{
    const struct rl_script *script = &rl_kind(REDLOCK_PLAIN)->script[verbs[_i].verb];
    ck_assert_int_eq(VERBS, RL_VERBS);
    ck_assert_str_eq(script->name, verbs[_i].name);
    ck_assert_int_eq(script->with_token, verbs[_i].token);
    ck_assert_int_eq(script->with_ttl, verbs[_i].ttl);
    ck_assert_int_eq(rl_verb_takes(verbs[_i].verb), verbs[_i].takes);
}
END_TEST

/* The arguments that the table promises are those that the script uses; every script starts
 * its answers with the nonce and works on one key. */
START_TEST(scripts_use_what_they_are_given)
{
    const struct rl_script *script = &rl_kind(REDLOCK_PLAIN)->script[verbs[_i].verb];
    const char *answer = strstr(script->body, "return ");
    ck_assert_ptr_nonnull(answer);
    for (; answer; answer = strstr(answer + 1, "return "))
        ck_assert(strncmp(answer, "return {ARGV[1], ", 17) == 0);
    ck_assert_ptr_nonnull(strstr(script->body, "KEYS[1]"));
    ck_assert_ptr_null(strstr(script->body, "KEYS[2]"));
    ck_assert_int_eq(strstr(script->body, "ARGV[2]") != NULL, verbs[_i].token);
    ck_assert_int_eq(strstr(script->body, "ARGV[3]") != NULL, verbs[_i].ttl);
    ck_assert_ptr_null(strstr(script->body, "ARGV[4]"));
}
END_TEST

/* CE19: nothing but force deletes a key whose token it has not compared. */
START_TEST(ce19_a_release_compares_the_token)
{
    const struct rl_kind *kind = rl_kind(REDLOCK_PLAIN);
    for (int i = 0; i < VERBS; i++) {
        bool deletes = strstr(kind->script[verbs[i].verb].body, "'DEL'") != NULL;
        ck_assert_int_eq(deletes, verbs[i].verb == RL_RELEASE || verbs[i].verb == RL_FORCE);
    }
    const char *release = kind->script[RL_RELEASE].body;
    const char *compare = strstr(release, "redis.call('GET', KEYS[1]) == ARGV[2]");
    ck_assert_ptr_nonnull(compare);
    ck_assert(compare < strstr(release, "'DEL'"));
}
END_TEST

START_TEST(unknown_kinds)
{
    static const int unknown[] = {-1, 1, 2, 100, INT_MIN, INT_MAX};
    ck_assert_str_eq(rl_kind(REDLOCK_PLAIN)->name, "plain");
    for (unsigned i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
        ck_assert_ptr_null(rl_kind(unknown[i]));
}
END_TEST

START_TEST(only_the_promised_shape_fits)
{
    for (int granted = 0; granted < 2; granted++) {
        for (int holder = 0; holder < 2; holder++) {
            struct rl_answer answer = {.granted = granted, .with_holder = holder};
            bool expected = granted ? verbs[_i].holder_yes : verbs[_i].holder_no;
            ck_assert_int_eq(rl_kind_answer_fits(verbs[_i].verb, &answer),
                             expected == (holder != 0));
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kind");
    TCase *tcase = tcase_create("plain");
    tcase_add_loop_test(tcase, every_verb_has_a_script, 0, VERBS);
    tcase_add_loop_test(tcase, scripts_use_what_they_are_given, 0, VERBS);
    tcase_add_test(tcase, ce19_a_release_compares_the_token);
    tcase_add_test(tcase, unknown_kinds);
    tcase_add_loop_test(tcase, only_the_promised_shape_fits, 0, VERBS);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
