/* tags: long unsanitized */
/* test_model.c - the models of the protocol: the safe ones are, the broken ones are caught. The
 * large ones are left to `make check-model`. And what the search itself must not get wrong. */
#include "config_auto.h"

#include "suite.h"
#include "variants.h"

#include <stdlib.h>
#include <string.h>

TEST(protocol, variant_is_safe_or_caught, .rows = (int)variant_count)
{
    const struct variant *variant = &variants[_i];
    if (variant->large)
        return;
    FILE *story = fopen("/dev/null", "w"); /* it can be told */
    ck_assert_ptr_nonnull(story);
    struct exploration found = variant_explore(variant, story);
    fclose(story);
    ck_assert_msg(variant_as_it_must(variant, &found), "%s: %s, %zu states", variant->name,
                  found.wrong ? found.wrong : "nothing is wrong", found.states);
}

static const struct variant *safe_one(void)
{
    for (size_t i = 0; i < variant_count; i++) {
        if (!variants[i].rule && !variants[i].large)
            return &variants[i];
    }
    suite_die("no variant is safe");
}

TEST(protocol, bound_that_is_met_is_no_success)
{
    const struct variant *variant = safe_one();
    struct exploration whole = variant_explore(variant, NULL);
    struct exploration exact = explore(variant->model, variant->rules, whole.states, NULL);
    struct exploration less = explore(variant->model, variant->rules, whole.states - 1, NULL);
    ck_assert(variant_as_it_must(variant, &exact));
    ck_assert(!less.complete && !less.wrong);
    ck_assert_uint_eq(less.states, whole.states - 1);
    ck_assert(!variant_as_it_must(variant, &less));
}

TEST(protocol, wrong_result_is_noticed)
{
    const struct variant *safe = safe_one();
    struct variant broken = *safe;
    struct exploration found = variant_explore(safe, NULL);
    broken.rule = "R2";
    ck_assert(!variant_as_it_must(&broken, &found));
    found.complete = false;
    found.wrong = "two holds are valid at once";
    ck_assert(!variant_as_it_must(safe, &found));
    ck_assert(variant_as_it_must(&broken, &found));
}

/* ---- a model of one's own: a number goes up by 2 or 3, and 7 is wrong ---- */

static void one(const void *rules, void *ret_state)
{
    (void)rules;
    *(unsigned char *)ret_state = 1;
}

static void two_or_three_more(const void *rules, const void *state, struct explorer *explorer)
{
    unsigned char from = *(const unsigned char *)state;
    (void)rules;
    for (unsigned char more = 2; from < 100 && more <= 3; more++) {
        unsigned char to = (unsigned char)(from + more);
        explore_move(explorer, &to, "%d becomes %d", from, to);
    }
}

/* Tens are alike but for their name, so they are one state. */
static void without_tens(const void *rules, void *state)
{
    (void)rules;
    if (*(unsigned char *)state >= 10)
        *(unsigned char *)state = 10;
}

static const char *is_wrong(const void *rules, const void *state)
{
    return *(const unsigned char *)state == *(const unsigned char *)rules ? "it is wrong"
                                                                          : NULL;
}

static const struct model numbers = {1, one, two_or_three_more, without_tens, is_wrong};

TEST(search, shortest_schedule_is_told)
{
    unsigned char seven = 7;
    char *story = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&story, &len);
    ck_assert_ptr_nonnull(file);
    struct exploration found = explore(&numbers, &seven, 100, file);
    fclose(file);
    ck_assert_str_eq(found.wrong, "it is wrong");
    ck_assert(!found.complete);
    ck_assert_str_eq(story, "   1. 1 becomes 4\n   2. 4 becomes 7\n      it is wrong.\n");
    free(story);
}

TEST(search, states_that_differ_by_name_count_once)
{
    unsigned char none = 0;
    struct exploration found = explore(&numbers, &none, 100, NULL);
    ck_assert(found.complete);
    ck_assert_uint_eq(found.states, 9); /* 1, 3 to 9, and the tens */
}

CASE(protocol, .timeout_s = 60)
