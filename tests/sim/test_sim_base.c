/* test_sim_base.c - what the simulator stands on: time, choices, the odometer, the story. */
#include "config_auto.h"

#include "sim.h"
#include "suite.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ---- time ----------------------------------------------------------------------------- */

enum { MANY = 500, MEDDLED = 5000 };

struct note {
    struct sim_event event;
    int64_t due_ns;
};

static struct note notes[MANY];
static unsigned happened;
static int64_t last_ns;

static void note_it(struct sim_event *event)
{
    struct note *note = (struct note *)event;
    ck_assert_int_eq(sim_now_ns(), note->due_ns);
    ck_assert_int_ge(sim_now_ns(), last_ns);
    last_ns = sim_now_ns();
    happened++;
    sim_mark(1000, (uint64_t)(note - notes), 0);
}

static void plan(struct note *note, int64_t at_ns)
{
    note->event.fire = note_it;
    note->due_ns = at_ns;
    sim_at(&note->event, at_ns);
}

static void begin(uint64_t seed)
{
    sim_begin(seed);
    memset(notes, 0, sizeof(notes));
    happened = 0;
    last_ns = 0;
}

/* Many, some moved, some taken back: what is left happens in the order of time. */
static uint64_t play(uint64_t seed)
{
    unsigned dropped = 0;

    begin(seed);
    for (unsigned i = 0; i < MANY; i++)
        plan(&notes[i], sim_between(0, 50));
    for (unsigned i = 0; i < MANY; i++) {
        if (sim_chance(300000)) {
            plan(&notes[i], sim_between(0, 100));
        } else if (sim_chance(300000)) {
            sim_not(&notes[i].event);
            sim_not(&notes[i].event);
            dropped++;
        }
    }
    ck_assert(sim_run_until(1000));
    ck_assert_int_eq(sim_now_ns(), 1000);
    ck_assert_uint_gt(dropped, 0);
    ck_assert_uint_eq(happened, MANY - dropped);
    sim_end();
    return sim_hash();
}

TEST(time, events_happen_in_order_of_time)
{
    for (uint64_t seed = 0; seed < 50; seed++)
        play(seed);
}

/* It is the first of all that are planned, and goes on to move, take back and plan others. */
static void meddle(struct sim_event *event)
{
    bool first = true;
    happened++;
    for (unsigned i = 0; i < MANY; i++) {
        const struct sim_event *other = &notes[i].event;
        if (other->place && (other->at_ns < event->at_ns ||
                             (other->at_ns == event->at_ns && other->tie < event->tie)))
            first = false;
    }
    ck_assert(first);
    for (uint64_t changes = happened < MEDDLED ? sim_below(5) : 0; changes > 0; changes--) {
        struct sim_event *other = sim_chance(300000) ? event : &notes[sim_below(MANY)].event;
        if (sim_chance(200000))
            sim_not(other);
        else
            sim_at(other, sim_now_ns() + sim_between(0, 20));
    }
}

TEST(time, event_may_plan_move_and_take_back_others)
{
    for (uint64_t seed = 0; seed < 5; seed++) {
        begin(seed);
        for (unsigned i = 0; i < MANY; i++) {
            notes[i].event.fire = meddle;
            if (i % 3 == 0)
                sim_at(&notes[i].event, sim_between(0, 50));
        }
        ck_assert(sim_run_while(NULL, NULL, SIM_NEVER));
        ck_assert_uint_ge(happened, MEDDLED);
        for (unsigned i = 0; i < MANY; i++)
            ck_assert_uint_eq(notes[i].event.place, 0);
        sim_end();
    }
}

TEST(time, one_seed_is_one_history)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        uint64_t hash = play(seed);
        play(seed + 1000);
        ck_assert_uint_eq(play(seed), hash);
        ck_assert_uint_ne(play(seed + 1), hash);
    }
}

static bool none_yet(void *context)
{
    (void)context;
    return happened == 0;
}

TEST(time, timers_due_together_come_in_any_order)
{
    unsigned first[3] = {0};
    for (uint64_t seed = 0; seed < 3000; seed++) {
        begin(seed);
        for (unsigned i = 0; i < 3; i++)
            plan(&notes[i], 7);
        ck_assert(sim_run_while(none_yet, NULL, 7));
        for (unsigned i = 0; i < 3; i++)
            first[i] += notes[i].event.place == 0;
        ck_assert(sim_run_until(7));
        sim_end();
    }
    for (unsigned i = 0; i < 3; i++)
        ck_assert_uint_gt(first[i], 900);
}

TEST(time, past_event_happens_now)
{
    begin(1);
    ck_assert(sim_run_until(100));
    plan(&notes[0], 100);
    sim_at(&notes[0].event, 20);
    ck_assert(sim_run_until(100));
    ck_assert_uint_eq(happened, 1);
    sim_end();
}

static void stop_it(struct sim_event *event)
{
    (void)event;
    sim_stop();
}

static bool not_three(void *context)
{
    (void)context;
    return happened < 3;
}

TEST(time, run_ends_where_it_is_told_to)
{
    begin(1);
    for (unsigned i = 0; i < 6; i++)
        plan(&notes[i], 10 * (int64_t)i);
    struct sim_event stop = {.fire = stop_it};
    sim_at(&stop, 15);
    ck_assert(!sim_run_until(1000));
    ck_assert_int_eq(sim_now_ns(), 15);
    ck_assert(sim_run_while(not_three, NULL, 1000));
    ck_assert_int_eq(sim_now_ns(), 20);
    ck_assert(sim_run_while(NULL, NULL, 35));
    ck_assert_uint_eq(happened, 4);
    ck_assert_int_eq(sim_now_ns(), 35);
    ck_assert(sim_run_while(NULL, NULL, SIM_NEVER));
    ck_assert_int_eq(sim_now_ns(), 50);
    sim_end();
}

TEST(time, world_ends_with_nothing_left_to_happen, .signal = SIGABRT)
{
    begin(1);
    plan(&notes[0], 10);
    sim_end();
}

/* ---- choices -------------------------------------------------------------------------- */

TEST(choices, draws_stay_within_and_reach_their_bounds)
{
    bool low = false, high = false;
    unsigned chances = 0;

    begin(3);
    for (unsigned i = 0; i < 100000; i++) {
        ck_assert_uint_lt(sim_below(UINT64_MAX - 1), UINT64_MAX - 1);
        int64_t drawn = sim_between(-3, 3);
        ck_assert(drawn >= -3 && drawn <= 3);
        low |= drawn == -3;
        high |= drawn == 3;
        chances += sim_chance(250000);
        ck_assert(!sim_chance(0) && sim_chance(1000000));
    }
    ck_assert(low && high);
    ck_assert(chances > 24000 && chances < 26000);
    ck_assert_int_eq(sim_between(INT64_MAX, INT64_MAX), INT64_MAX);
    sim_between(INT64_MIN / 2, INT64_MAX / 2);
    sim_end();
}

TEST(choices, scales_are_mostly_small)
{
    unsigned below_ms = 0, above_s = 0;

    begin(4);
    for (unsigned i = 0; i < 10000; i++) {
        int64_t drawn = sim_scale(SIM_US, 10 * SIM_S);
        ck_assert(drawn >= SIM_US && drawn <= 10 * SIM_S);
        below_ms += drawn < SIM_MS;
        above_s += drawn > SIM_S;
    }
    ck_assert(below_ms > 3500 && below_ms < 5000);
    ck_assert(above_s > 800 && above_s < 2000);
    ck_assert_int_eq(sim_scale(7, 7), 7);
    ck_assert_int_eq(sim_scale(7, 3), 7);
    for (unsigned i = 0; i < 1000; i++)
        ck_assert_int_gt(sim_scale(1, INT64_MAX), 0);
    sim_end();
}

/* How many choices there are, and of how many, depends on those before. */
TEST(choices, odometer_shows_every_combination_once)
{
    bool seen[3][4][5] = {{{false}}};
    unsigned worlds = 0;

    sim_odometer_first();
    do {
        begin(worlds);
        uint64_t a = sim_pick(3), b = 0, c = 0;
        if (a > 0)
            b = sim_pick(a + 2);
        ck_assert_uint_eq(sim_below(100), 0);
        ck_assert_int_eq(sim_between(5, 9), 5);
        ck_assert(!sim_chance(999999));
        if (b == 1)
            c = sim_pick(5);
        ck_assert_uint_eq(sim_pick(1), 0);
        ck_assert(!seen[a][b][c]);
        seen[a][b][c] = true;
        worlds++;
        sim_end();
    } while (sim_odometer_next());
    ck_assert_uint_eq(worlds, 1 + (2 + 5) + (3 + 5));
    begin(1); /* it is over */
    ck_assert_uint_gt(sim_below(UINT64_MAX), 0);
    sim_end();
}

TEST(choices, under_odometer_events_come_in_turn)
{
    sim_odometer_first();
    begin(1);
    for (unsigned i = 0; i < 9; i++)
        plan(&notes[i], 5);
    for (unsigned i = 1; i < 9; i++)
        ck_assert_uint_gt(notes[i].event.tie, notes[i - 1].event.tie);
    ck_assert(sim_run_until(5));
    sim_end();
    ck_assert(!sim_odometer_next());
}

/* ---- the story ------------------------------------------------------------------------ */

static void take_line(void *context, const char *line)
{
    ck_assert_ptr_eq(context, &happened);
    ck_assert_str_eq(line, "   2.000345  one 1");
    happened++;
}

TEST(story, story_is_told_where_somebody_listens)
{
    begin(1);
    ck_assert(!sim_tells());
    sim_tell("to nobody");
    ck_assert(sim_run_until(2 * SIM_S + 345 * SIM_US));
    uint64_t hash = sim_hash();
    sim_tell_to(take_line, &happened);
    ck_assert(sim_tells());
    sim_tell("one %d", 1);
    sim_tell_to(NULL, NULL);
    sim_tell("to nobody");
    ck_assert_uint_eq(happened, 1);
    ck_assert_uint_eq(sim_hash(), hash);
    sim_end();
}

TEST(story, hash_depends_on_all_that_is_marked)
{
    uint64_t seen[8];

    for (unsigned i = 0; i < 8; i++) {
        begin(1);
        if (i == 1)
            ck_assert(sim_run_until(1));
        if (i <= 4)
            sim_mark(i == 2, i == 3, i == 4);
        else
            sim_mark_bytes(1, i == 5 ? "abcdefghi" : "abcdefghj", i == 7 ? 8 : 9);
        seen[i] = sim_hash();
        sim_end();
    }
    for (unsigned i = 0; i < 8; i++) {
        for (unsigned k = 0; k < i; k++)
            ck_assert_uint_ne(seen[i], seen[k]);
    }
}
