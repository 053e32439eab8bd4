/* tags: unsanitized */
/* test_chaos_schedule.c - the faults of a run, over many seeds: all that were asked for occur,
 * none takes the majority away for good, and there are times in which all is well. */
#include "config_auto.h"

#include "chaos/faults/kinds.h"
#include "chaos/faults/schedule.h"
#include "suite.h"

#include <string.h>

#define MS INT64_C(1000000)
#define SEEDS 400
#define LOCAL_ALL (CHAOS_ALL & ~CHAOS_BIT_OF(DISCONNECT))

static struct chaos_fault fault[CHAOS_FAULTS_MAX], other[CHAOS_FAULTS_MAX];
static struct chaos_options options;
static unsigned nodes;
static size_t count;

static void set_up(void)
{
    options = (struct chaos_options){
        .clients = 8, .names = 3, .duration_ms = 300000, .ttl_ms = 1000, .faults = LOCAL_ALL};
    nodes = 5;
}

static void draw(uint64_t seed)
{
    options.seed = seed;
    count = chaos_schedule(&options, nodes, fault);
}

static int64_t end_of(const struct chaos_fault *it)
{
    return it->planned_ns + it->length_ns;
}

static bool is_one_of(const struct chaos_fault *it, uint64_t set)
{
    return (set & CHAOS_BIT(it->kind)) != 0;
}

static unsigned size_of(uint64_t set)
{
    return (unsigned)__builtin_popcountll(set);
}

TEST(chaos_schedule, seed_is_one_schedule)
{
    draw(7);
    size_t first = count;
    memcpy(other, fault, sizeof(fault));
    draw(7);
    ck_assert_uint_eq(count, first);
    ck_assert_mem_eq(fault, other, count * sizeof(fault[0]));
    draw(8);
    ck_assert(count != first || memcmp(fault, other, count * sizeof(fault[0])) != 0);
}

/* As long as it needs is long enough, and a moment less is refused by who asks for it. */
TEST(chaos_schedule, every_kind_occurs_where_there_is_time_that_it_needs)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        nodes = 1 + (unsigned)(seed % 7);
        options.clients = 1 + (unsigned)(seed % 11);
        options.faults = seed % 3 == 0 ? CHAOS_DEFAULT : LOCAL_ALL;
        options.where = seed % 5 == 0 ? CHAOS_COMPOSE : CHAOS_LOCAL;
        options.seed = seed;
        options.duration_ms = chaos_schedule_needs_ms(&options, nodes);
        draw(seed);
        uint64_t seen = 0;
        for (size_t i = 0; i < count; i++)
            seen |= CHAOS_BIT(fault[i].kind);
        ck_assert_uint_eq(seen, options.faults);
    }
}

TEST(chaos_schedule, list_is_changed_by_one_master_or_by_two_at_once)
{
    options.faults = CHAOS_OF_LISTS;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        nodes = 3 + (unsigned)(seed % 5);
        draw(seed);
        ck_assert_uint_gt(count, 0);
        for (size_t i = 0; i < count; i++)
            ck_assert_uint_eq(size_of(fault[i].nodes),
                              fault[i].kind == CHAOS_FAULT_MEMBERS ? 1 : 2);
    }
}

TEST(chaos_schedule, half_minute_is_enough_for_usual_kinds)
{
    options.faults = CHAOS_DEFAULT;
    for (uint64_t seed = 0; seed < 20 * SEEDS; seed++) {
        options.seed = seed;
        ck_assert_int_le(chaos_schedule_needs_ms(&options, nodes), 30000);
    }
}

TEST(chaos_schedule, no_faults_are_no_faults)
{
    options.faults = 0;
    draw(1);
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(chaos_schedule_needs_ms(&options, nodes), 0);
}

TEST(chaos_schedule, they_come_in_order_and_end_before_run_does)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        draw(seed);
        ck_assert_uint_gt(count, 40);
        for (size_t i = 0; i < count; i++) {
            ck_assert_int_gt(fault[i].planned_ns, 0);
            ck_assert_int_gt(fault[i].length_ns, 0);
            ck_assert_int_lt(end_of(&fault[i]), options.duration_ms * MS);
            ck_assert(i == 0 || fault[i - 1].planned_ns <= fault[i].planned_ns);
            ck_assert_int_eq(fault[i].begun_ns, 0);
        }
    }
}

TEST(chaos_schedule, they_are_about_masters_and_contenders_that_there_are)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        nodes = 1 + (unsigned)(seed % 9);
        options.clients = 2 + (unsigned)(seed % 7);
        draw(seed);
        for (size_t i = 0; i < count; i++) {
            bool holder = is_one_of(&fault[i], CHAOS_OF_HOLDERS);
            ck_assert_uint_eq(fault[i].nodes >> nodes, 0);
            ck_assert_uint_eq(fault[i].clients >> options.clients, 0);
            ck_assert((fault[i].nodes == 0) == holder);
            ck_assert((fault[i].clients != 0) == is_one_of(&fault[i], CHAOS_OF_PATHS));
            if (fault[i].kind == CHAOS_FAULT_PAUSE_HOLDER)
                ck_assert_int_gt(fault[i].length_ns, options.ttl_ms * MS);
            if (fault[i].kind == CHAOS_FAULT_CLOCK || fault[i].kind == CHAOS_FAULT_CLOCK_BACK)
                ck_assert_int_gt(fault[i].step_ms, options.ttl_ms);
        }
    }
}

/* Two at once, never three; and those two have nothing to do with each other. */
TEST(chaos_schedule, faults_that_meet_are_of_different_masters)
{
    unsigned met = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        draw(seed);
        for (size_t i = 0; i < count; i++) {
            unsigned with = 0;
            for (size_t j = 0; j < count; j++) {
                if (j == i || end_of(&fault[j]) <= fault[i].planned_ns ||
                    fault[j].planned_ns >= end_of(&fault[i]))
                    continue;
                ck_assert_uint_eq(fault[i].nodes & fault[j].nodes, 0);
                const uint64_t of_processes = CHAOS_OF_HOLDERS | CHAOS_OF_LISTS;
                ck_assert(!is_one_of(&fault[i], of_processes) ||
                          !is_one_of(&fault[j], of_processes));
                with++;
            }
            ck_assert_uint_le(with, 1);
            met += with;
        }
    }
    ck_assert_uint_gt(met, SEEDS);
}

static bool silences(const struct chaos_fault *it)
{
    return is_one_of(it, CHAOS_SILENCING) || chaos_fault_guarded(&options, it->kind);
}

/* Masters that do not vote at that time, for one contender at least. */
static uint64_t unfit_at(int64_t at_ns)
{
    uint64_t unfit = 0;
    for (size_t i = 0; i < count; i++) {
        bool guarded = chaos_fault_guarded(&options, fault[i].kind);
        int64_t guard_ns = guarded ? chaos_schedule_guard_ms(&options) * MS : 0;
        if (silences(&fault[i]) && fault[i].planned_ns <= at_ns &&
            at_ns < end_of(&fault[i]) + guard_ns)
            unfit |= fault[i].nodes;
    }
    return unfit;
}

static int64_t longest_fault_ns(void)
{
    int64_t longest_ns = 0;
    for (size_t i = 0; i < count; i++)
        if (fault[i].length_ns > longest_ns)
            longest_ns = fault[i].length_ns;
    return longest_ns;
}

/* It is taken away, and it comes back: by the time that one fault and one guard last. */
TEST(chaos_schedule, majority_always_comes_back)
{
    unsigned taken = 0;
    for (uint64_t seed = 0; seed < SEEDS / 8; seed++) {
        nodes = 1 + (unsigned)(seed % 7);
        options.markers = seed % 2 == 1;
        draw(seed);
        int64_t missing_ns = 0;
        int64_t limit_ns = longest_fault_ns() + (chaos_schedule_guard_ms(&options) + 100) * MS;
        for (int64_t at_ns = 0; at_ns < options.duration_ms * MS; at_ns += 50 * MS) {
            bool missing = size_of(unfit_at(at_ns)) > (nodes - 1) / 2;
            missing_ns = missing ? missing_ns + 50 * MS : 0;
            taken += missing_ns == 50 * MS;
            ck_assert_msg(missing_ns <= limit_ns, "seed %d, at %d ms: no majority for %d ms",
                          (int)seed, (int)(at_ns / MS), (int)(missing_ns / MS));
        }
    }
    ck_assert_uint_gt(taken, SEEDS / 8);
}

/* Does a fault of more than a minority keep masters from voting then? */
static bool is_taken_at(int64_t at_ns)
{
    for (size_t i = 0; i < count; i++)
        if (silences(&fault[i]) && size_of(fault[i].nodes) > (nodes - 1) / 2 &&
            fault[i].planned_ns <= at_ns &&
            at_ns < end_of(&fault[i]) + (chaos_schedule_guard_ms(&options) + 700) * MS)
            return true;
    return false;
}

/* Also several together, and those that come soon after each other. */
TEST(chaos_schedule, faults_of_minority_leave_majority)
{
    options.ttl_ms = 3000;
    for (uint64_t seed = 0; seed < SEEDS / 8; seed++) {
        nodes = 3 + (unsigned)(seed % 5);
        options.markers = seed % 2 == 1;
        draw(seed);
        for (int64_t at_ns = 0; at_ns < options.duration_ms * MS; at_ns += 50 * MS)
            ck_assert(size_of(unfit_at(at_ns)) <= (nodes - 1) / 2 || is_taken_at(at_ns));
    }
}

static bool is_quiet(int64_t at_ns)
{
    for (size_t i = 0; i < count; i++)
        if (fault[i].planned_ns <= at_ns && at_ns < end_of(&fault[i]))
            return false;
    return unfit_at(at_ns) == 0;
}

/* Nothing is in force, and all masters vote, after every few faults. */
TEST(chaos_schedule, from_time_to_time_all_is_well)
{
    options.ttl_ms = 5000; /* and so long do masters not vote after a restart */
    options.duration_ms = 900000;
    for (uint64_t seed = 0; seed < SEEDS / 8; seed++) {
        draw(seed);
        unsigned since = 0;
        size_t next = 0;
        for (int64_t at_ns = 0; at_ns < end_of(&fault[count - 1]); at_ns += 20 * MS) {
            for (; next < count && fault[next].planned_ns <= at_ns; next++)
                since++;
            if (is_quiet(at_ns))
                since = 0;
            ck_assert_uint_le(since, 7);
        }
    }
}

/* With `fencing strict` a majority that lost its counters would wait for an operator. */
TEST(chaos_schedule, certified_majority_never_loses_its_counters)
{
    unsigned losses = 0;
    options.certified = true;
    options.duration_ms = INT64_C(3600000);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        draw(seed);
        for (size_t i = 0; i < count; i++) {
            if (!chaos_fault_restarts(fault[i].kind) && fault[i].kind != CHAOS_FAULT_FLUSHALL)
                continue;
            losses++;
            ck_assert_uint_le(size_of(fault[i].nodes), (nodes - 1) / 2);
        }
    }
    ck_assert_uint_gt(losses, 100);
}

TEST(chaos_schedule, list_of_faults_has_end)
{
    options.duration_ms = INT64_C(7) * 86400000;
    draw(3);
    ck_assert_uint_eq(count, CHAOS_FAULTS_MAX);
}

TEST(chaos_schedule, words_are_found_and_guessed)
{
    for (int kind = 0; kind < CHAOS_FAULT_KINDS; kind++) {
        const char *word = chaos_fault_word((enum chaos_fault_kind)kind);
        ck_assert_int_eq(chaos_fault_find(word, strlen(word)), kind);
        ck_assert_str_eq(chaos_fault_nearest(word, strlen(word)), word);
    }
    ck_assert_int_eq(chaos_fault_find("kil", 3), -1);
    ck_assert_str_eq(chaos_fault_nearest("partitoin", 9), "partition");
    ck_assert_ptr_null(chaos_fault_nearest("earthquake", 10));
    ck_assert(chaos_fault_restarts(CHAOS_FAULT_KILL_AOF));
    ck_assert(!chaos_fault_restarts(CHAOS_FAULT_PAUSE));
    ck_assert(!chaos_fault_guarded(&options, CHAOS_FAULT_FLUSHALL));
    options.markers = true;
    ck_assert(chaos_fault_guarded(&options, CHAOS_FAULT_FLUSHALL));
    options.markers = false;
    options.certified = true;
    ck_assert(chaos_fault_guarded(&options, CHAOS_FAULT_FLUSHALL));
    ck_assert_int_eq(chaos_fault_breaks(CHAOS_FAULT_FLUSHALL), CHAOS_KEYS_STAY);
}

CASE(chaos_schedule, .set_up = set_up, .timeout_s = 30)
