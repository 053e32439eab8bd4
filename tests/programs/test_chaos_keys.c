/* test_chaos_keys.c - keys that nobody took back, as redlock-chaos finds them: how long one may
 * stay, what explains that it does, and what is left when all have ended. */
#include "config_auto.h"

#include "chaos_made.h"

#include "chaos/faults/kinds.h"
#include "suite.h"

#include <string.h>

enum { KEY = 77, NODE = 2 };

static struct made made;
static struct chaos_stay stay;
static const struct chaos_verdict *verdict;

/* Contender 1 has lock 0 by KEY from 3 s on, with a ttl of 2 s, and lets go of it at 3.1 s. */
static void set_up(void)
{
    made_init(&made);
    made_asks(&made, 2900 * MS, 1, 0);
    made_holds(&made, 3000 * MS, 5000 * MS, 1, 0);
    made.event[made.count - 1].value = KEY;
    made_event(&made, 3100 * MS, CHAOS_LETS_GO, 1, 0);
    stay =
        (struct chaos_stay){.from_ns = 3000 * MS, .to_ns = 4990 * MS, .key = KEY, .node = NODE};
    made.history.stays = &stay;
    made.history.stay_count = 1;
}

static void tear_down(void)
{
    made_free(&made);
}

static void expect(bool found)
{
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->orphans, found ? 1 : 0);
    ck_assert_uint_eq(verdict->excused, 0);
    ck_assert_int_eq(verdict->exit_status, found ? 1 : 0);
}

/* Seen until so many ms; of the hold that ended at 3.1 s, and would have run out at 5 s. */
static const struct {
    int64_t to_ms;
    bool found;
} stays[] = {
    {3200, false}, {4099, false}, {4599, false}, {4600, true}, {4990, true}, {6000, true},
};

TEST(keys, release_takes_key_back, .rows = ROWS(stays))
{
    stay.to_ns = stays[_i].to_ms * MS;
    expect(stays[_i].found);
    if (stays[_i].found) {
        ck_assert_int_eq(verdict->finding[0].what, CHAOS_ORPHAN);
        ck_assert_int_eq(verdict->finding[0].at_ns, stay.to_ns);
        ck_assert_uint_eq(verdict->finding[0].client, 1);
        ck_assert_ptr_nonnull(strstr(verdict->finding[0].text, "contender 1 had let go"));
    }
}

/* The same where it let go only shortly before the end: half a ttl is nobody's fault. */
TEST(keys, key_released_late_may_stay_for_half_ttl, .rows = 2)
{
    made.event[made.count - 1].at_ns = 4900 * MS;
    stay.to_ns = (5900 + _i) * MS - 1;
    expect(_i > 0);
}

/* Nobody ever had the lock by that key: from when it was seen first it may live for less. */
static const struct {
    uint64_t key;
    unsigned name;
    int64_t for_ms;
    bool found;
} partial[] = {
    {KEY + 1, 0, 900, false},
    {KEY + 1, 0, 1599, false},
    {KEY + 1, 0, 1600, true},
    {KEY, 1, 1990, true}, /* of another lock */
};

TEST(keys, refused_try_takes_back_its_grants, .rows = ROWS(partial))
{
    stay.key = partial[_i].key;
    stay.name = (uint16_t)partial[_i].name;
    stay.to_ns = stay.from_ns + partial[_i].for_ms * MS;
    expect(partial[_i].found);
    if (partial[_i].found)
        ck_assert_ptr_nonnull(strstr(verdict->finding[0].text, "nobody ever had the lock"));
}

TEST(keys, full_logs_do_not_accuse_keys)
{
    made.history.lost_events = 1;
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->orphans, 0);
}

/* What explains it: a fault of that master, or of the contender, from a ttl before it let go
 * (3.1 s) until the key was seen last (4.99 s). Times in ms. */
static const struct {
    enum chaos_fault_kind kind;
    int64_t begun, undone; /* undone 0: never */
    uint64_t nodes, clients;
    bool of_nobody; /* the key is of a try that was refused */
    bool explains;
} faults[] = {
    {CHAOS_FAULT_PAUSE, 3500, 3600, CHAOS_BIT(NODE), 0, false, true},
    {CHAOS_FAULT_PAUSE, 3500, 3600, CHAOS_BIT(NODE + 1), 0, false, false},
    {CHAOS_FAULT_PAUSE, 500, 1099, CHAOS_BIT(NODE), 0, false, false},
    {CHAOS_FAULT_PAUSE, 500, 1100, CHAOS_BIT(NODE), 0, false, true},
    {CHAOS_FAULT_PAUSE, 4990, 6000, CHAOS_BIT(NODE), 0, false, true},
    {CHAOS_FAULT_PAUSE, 4991, 6000, CHAOS_BIT(NODE), 0, false, false},
    {CHAOS_FAULT_KILL, 500, 0, CHAOS_BIT(NODE), 0, false, true},
    {CHAOS_FAULT_PARTITION, 3000, 4000, CHAOS_BIT(NODE), CHAOS_BIT(1), false, true},
    {CHAOS_FAULT_HALVES, 3000, 4000, CHAOS_BIT(0), CHAOS_BIT(3), false, true},
    {CHAOS_FAULT_RING, 3000, 4000, CHAOS_BIT(0), CHAOS_BIT(3), false, true},
    {CHAOS_FAULT_PAUSE_HOLDER, 3000, 4000, 0, CHAOS_BIT(1), false, true},
    {CHAOS_FAULT_KILL_HOLDER, 3000, 4000, 0, CHAOS_BIT(1), false, true},
    {CHAOS_FAULT_KILL_HOLDER, 3000, 4000, 0, CHAOS_BIT(2), false, false},
    {CHAOS_FAULT_KILL_HOLDER, 3000, 4000, 0, CHAOS_BIT(2), true, true},
    {CHAOS_FAULT_CLOCK_BACK, 3000, 4000, CHAOS_BIT(NODE), 0, false, true},
};

TEST(keys, fault_of_master_or_contender_explains_it, .rows = ROWS(faults))
{
    if (faults[_i].of_nobody)
        stay.key++;
    made_fault(&made, faults[_i].kind, faults[_i].begun * MS, faults[_i].undone * MS,
               faults[_i].nodes, faults[_i].clients);
    expect(!faults[_i].explains);
}

/* While the list is changed, contenders are killed in turn: 1, or another one. Times in ms. */
static const struct {
    int64_t killed;
    unsigned client;
    bool of_nobody, explains;
} kills[] = {
    {2899, 1, false, false}, /* before it asked: it is another process that did */
    {2900, 1, false, true},  {3200, 1, false, true},  {4990, 1, false, true},
    {4991, 1, false, false}, {3200, 2, false, false}, {2950, 1, true, true},
    {999, 1, true, false},   {2950, 2, true, false}, /* 2 did not ask */
    {0, 1, false, false},                            /* nobody was killed */
};

TEST(keys, contender_that_was_killed_releases_nothing_and_others_do, .rows = ROWS(kills))
{
    struct chaos_kill kill = {kills[_i].killed * MS, kills[_i].client};
    if (kills[_i].of_nobody)
        stay.key++;
    made.history.kills = &kill;
    made.history.kill_count = kills[_i].killed > 0;
    made_fault(&made, CHAOS_FAULT_MEMBERS, 2 * SEC, 6 * SEC, CHAOS_BIT(NODE), 0);
    expect(!kills[_i].explains);
}

TEST(keys, fault_planned_and_not_done_explains_nothing)
{
    made_fault(&made, CHAOS_FAULT_PAUSE, 3500 * MS, 3600 * MS, CHAOS_BIT(NODE), 0)->begun_ns =
        0;
    made_fault(&made, CHAOS_FAULT_PAUSE, 100 * MS, 200 * MS, CHAOS_BIT(NODE), 0);
    expect(true);
}

/* The last contender is refused at 10 s: what was undone less than a ttl before explains what
 * is left there, and so does what is on still. */
static const struct {
    enum chaos_fault_kind kind;
    int64_t undone_ms;
    uint64_t nodes;
    int64_t seen_ms;
    unsigned left;
} ends[] = {
    {CHAOS_FAULT_PAUSE, 7999, 1, 11000, 5},       {CHAOS_FAULT_PAUSE, 8000, 1, 11000, 3},
    {CHAOS_FAULT_PAUSE, 10500, 16, 11000, 2},     {CHAOS_FAULT_PAUSE, 9000, 17, 11000, 0},
    {CHAOS_FAULT_KILL_HOLDER, 9000, 0, 11000, 0}, {CHAOS_FAULT_KILL_HOLDER, 7999, 0, 11000, 5},
    {CHAOS_FAULT_PAUSE, 7500, 1, 10999, 0},       {CHAOS_FAULT_PAUSE, 7500, 1, 0, 0},
};

/* Killed a ttl before the last one let go, or earlier. */
TEST(keys, contender_killed_at_last_may_leave_keys, .rows = 2)
{
    struct chaos_kill kill = {(_i ? 7999 : 8000) * MS, 3};
    made.history.stay_count = 0;
    made_asks(&made, 9 * SEC, 2, 0);
    made_event(&made, 10 * SEC, CHAOS_REFUSED, 2, 0);
    made.history.left_ns[0] = 11 * SEC;
    made.history.left[0] = 2;
    made.history.kills = &kill;
    made.history.kill_count = 1;
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->orphans, _i ? 2 : 0);
}

TEST(keys, nothing_is_left_when_all_have_ended, .rows = ROWS(ends))
{
    made.history.stay_count = 0;
    made_asks(&made, 9 * SEC, 2, 0);
    made_event(&made, 10 * SEC, CHAOS_REFUSED, 2, 0);
    made_event(&made, 10500 * MS, CHAOS_RELEASED, 1, 0);
    made.history.left_ns[0] = made.history.left_ns[4] = ends[_i].seen_ms * MS;
    made.history.left[0] = 2;
    made.history.left[4] = 3;
    made_fault(&made, ends[_i].kind, 7 * SEC, ends[_i].undone_ms * MS, ends[_i].nodes, 0);
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->orphans, ends[_i].left);
    ck_assert_int_eq(verdict->exit_status, ends[_i].left > 0 ? 1 : 0);
    if (ends[_i].left == 5)
        ck_assert_ptr_nonnull(
            strstr(verdict->finding[0].text, "node 1 had 2 keys left 1000 ms after"));
}

CASE(keys, .set_up = set_up, .tear_down = tear_down)
