/* tags: valgrind */
/* test_sightings.c - two servers at one address are told from one that is restarted. */
#include "config_auto.h"

#include "core/sightings.h"
#include "suite.h"

#include <stdio.h>

#define WINDOW 100

struct sight {
    const char *run_id;
    int64_t sent, came;
    bool two; /* that is when it is found */
};

static const struct story {
    const char *what;
    struct sight sight[6];
} stories[] = {
    {"one server", {{"a", 1, 2, false}, {"a", 3, 4, false}, {"a", 2, 5, false}}},
    {"restarts", {{"a", 1, 2, false}, {"b", 3, 4, false}, {"b", 5, 6, false}, {"c", 7, 8, false}}},
    {"one comes back", {{"a", 1, 2, false}, {"b", 3, 4, false}, {"a", 5, 6, true}}},
    {"the second is confirmed", {{"a", 1, 2, false}, {"b", 3, 4, false}, {"a", 5, 6, true}, {"b", 7, 8, true}}},
    {"of three", {{"a", 1, 2, false}, {"b", 3, 4, false}, {"c", 5, 6, false}, {"a", 7, 8, true}}},
    {"an answer from before", {{"a", 1, 2, false}, {"b", 3, 9, false}, {"a", 5, 10, false}, {"b", 11, 12, false}}},
    {"asked at the same time", {{"a", 1, 5, false}, {"b", 2, 6, false}, {"a", 7, 8, false}}},
    {"one that is not told", {{"a", 1, 2, false}, {"", 3, 4, false}, {"a", 5, 6, false}}},
};

TEST(sightings, process_that_answers_after_its_successor_is_another_server,
     .rows = ROWS(stories))
{
    struct rl_sightings sightings = {.two_ns = 0};
    const struct story *story = &stories[_i];
    for (const struct sight *sight = story->sight; sight->run_id; sight++) {
        bool two = rl_sightings_learn(&sightings, sight->run_id, sight->sent, sight->came);
        ck_assert_msg(two == sight->two, "%s: %s at %d", story->what, sight->run_id,
                      (int)sight->came);
        ck_assert_int_eq(rl_sightings_two(&sightings, WINDOW, sight->came) || !sight->two, 1);
    }
}

TEST(sightings, two_servers_are_forgotten_after_window)
{
    struct rl_sightings sightings = {.two_ns = 0};
    ck_assert(!rl_sightings_two(&sightings, WINDOW, 1));
    (void)rl_sightings_learn(&sightings, "a", 1, 2);
    (void)rl_sightings_learn(&sightings, "b", 3, 4);
    ck_assert(rl_sightings_learn(&sightings, "a", 5, 6));
    ck_assert(rl_sightings_two(&sightings, WINDOW, 6 + WINDOW - 1));
    ck_assert(!rl_sightings_two(&sightings, WINDOW, 6 + WINDOW));
    (void)rl_sightings_learn(&sightings, "a", 7, 8);
    ck_assert(!rl_sightings_two(&sightings, WINDOW, 6 + WINDOW)); /* that is nothing new */
}

/* Restarts without end do not push out one that was there lately, nor bring one back. */
TEST(sightings, many_restarts_are_no_second_server)
{
    struct rl_sightings sightings = {.two_ns = 0};
    char run_id[16];
    for (int i = 1; i < 100; i++) {
        snprintf(run_id, sizeof(run_id), "run-%d", i);
        ck_assert(!rl_sightings_learn(&sightings, run_id, 2 * i, 2 * i + 1));
    }
    ck_assert(rl_sightings_learn(&sightings, "run-98", 300, 301));
}
