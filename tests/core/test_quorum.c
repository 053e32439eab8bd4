/* tags: valgrind */
/* test_quorum.c - votes counted: every combination for small N, the edges of a word for
 * large N; and what one node may take of a round. */
#include "config_auto.h"

#include "base/limits.h"
#include "core/quorum.h"
#include "suite.h"

#include <signal.h>

#define MS RL_NS_PER_MS
#define S RL_NS_PER_S

/* ---- a majority of the configured N ---------------------------------------------------- */

TEST(votes, majority_is_more_than_half)
{
    for (unsigned n = 1; n <= REDLOCK_NODES_MAX; n++) {
        unsigned needed = rl_quorum_needed(n);
        ck_assert_uint_gt(2 * needed, n);
        ck_assert_uint_le(2 * (needed - 1), n);
    }
    ck_assert_uint_eq(rl_quorum_needed(1), 1);
    ck_assert_uint_eq(rl_quorum_needed(2), 2);
    ck_assert_uint_eq(rl_quorum_needed(4), 3);
    ck_assert_uint_eq(rl_quorum_needed(64), 33);
}

TEST(votes, no_nodes_are_no_quorum, .signal = SIGABRT)
{
    rl_quorum_needed(0);
}

TEST(votes, more_nodes_than_bits_are_refused, .signal = SIGABRT)
{
    rl_quorum_needed(REDLOCK_NODES_MAX + 1);
}

TEST(votes, sets_of_nodes)
{
    ck_assert_uint_eq(rl_all(1), 1);
    ck_assert_uint_eq(rl_all(63), UINT64_MAX >> 1);
    ck_assert_uint_eq(rl_all(64), UINT64_MAX);
    for (unsigned node = 0; node < 64; node++) {
        ck_assert_uint_eq(rl_first(rl_bit(node)), node);
        ck_assert_uint_eq(rl_count(rl_bit(node)), 1);
        ck_assert_uint_eq(rl_count(rl_all(node + 1)), node + 1);
    }
    ck_assert_uint_eq(rl_count(0), 0);
}

/* ---- two lists ------------------------------------------------------------------------- */

/* Two majorities without a node in common, by trying all sets: nodes of both lists first, then
 * those of the one, then those of the other. */
static bool meet_by_trying(unsigned one, unsigned other, unsigned common)
{
    uint64_t ones = rl_all(one), others = rl_all(common) | rl_all(other - common) << one;
    for (uint64_t a = 0; a <= ones; a++) {
        /* It is enough to look at the rest of the other list. */
        if (rl_count(a) >= rl_quorum_needed(one) &&
            rl_count(others & ~a) >= rl_quorum_needed(other))
            return false;
    }
    return true;
}

TEST(votes, majorities_of_two_lists_meet_where_sets_say_so)
{
    for (unsigned one = 1; one <= 10; one++)
        for (unsigned other = 1; other <= 10; other++)
            for (unsigned common = 0; common <= one && common <= other; common++)
                ck_assert_msg(rl_majorities_meet(one, other, common) ==
                                  meet_by_trying(one, other, common),
                              "%u and %u with %u in common", one, other, common);
}

/* What redlock(7) says of changing the list. */
TEST(votes, one_master_added_or_removed_is_sound_for_every_number)
{
    for (unsigned n = 1; n < REDLOCK_NODES_MAX; n++) {
        ck_assert(rl_majorities_meet(n, n, n));
        ck_assert(rl_majorities_meet(n, n + 1, n));
        ck_assert(rl_majorities_meet(n + 1, n, n));
    }
}

TEST(votes, two_changes_at_once_are_sound_for_even_numbers_alone)
{
    for (unsigned n = 1; n + 2 <= REDLOCK_NODES_MAX; n++) {
        ck_assert_int_eq(rl_majorities_meet(n, n + 2, n), n % 2 == 0);
        ck_assert_int_eq(rl_majorities_meet(n, n, n - 1), n % 2 == 0); /* one is replaced */
    }
    for (unsigned n = 2; n <= REDLOCK_NODES_MAX; n++)
        ck_assert(!rl_majorities_meet(n, n, n - 2));
}

/* n, then n + 1, then n again with another one left out: the first and the last list. */
TEST(votes, list_before_last_may_not_meet_new_one)
{
    for (unsigned n = 1; n <= REDLOCK_NODES_MAX; n += 2)
        ck_assert(!rl_majorities_meet(n, n, n - 1));
}

/* ---- every combination of votes -------------------------------------------------------- */

enum { SILENT = 3 }; /* beside enum rl_vote */

/* The verdict by trying: what could the silent ones still make of it? */
static enum rl_verdict verdict_by_trying(unsigned n, const unsigned *votes)
{
    unsigned yes = 0, silent = 0;
    for (unsigned i = 0; i < n; i++) {
        yes += votes[i] == RL_VOTE_YES;
        silent += votes[i] == SILENT;
    }
    if (yes * 2 > n)
        return RL_WON;
    return (yes + silent) * 2 > n ? RL_OPEN : RL_LOST;
}

static unsigned count_of(unsigned n, const unsigned *votes, unsigned vote)
{
    unsigned count = 0;
    for (unsigned i = 0; i < n; i++)
        count += votes[i] == vote;
    return count;
}

static void check_votes(unsigned n, const unsigned *votes)
{
    struct rl_round round;
    rl_round_start(&round, n, 5, 6);
    uint64_t silent = rl_all(n);
    for (unsigned i = n; i-- > 0;) { /* the order must not matter */
        if (votes[i] == SILENT)
            continue;
        ck_assert(rl_round_vote(&round, i, (enum rl_vote)votes[i]));
        silent &= ~rl_bit(i);
        ck_assert_uint_eq(rl_round_silent(&round), silent);
    }
    enum rl_verdict verdict = verdict_by_trying(n, votes);
    ck_assert_int_eq(rl_round_verdict(&round), verdict);
    unsigned yes = count_of(n, votes, RL_VOTE_YES), no = count_of(n, votes, RL_VOTE_NO);
    unsigned failed = count_of(n, votes, RL_VOTE_FAILED);
    ck_assert_uint_eq(rl_count(round.yes), yes);
    ck_assert_uint_eq(rl_count(round.no), no);
    ck_assert_uint_eq(rl_count(round.failed), failed);
    ck_assert_int_eq(rl_round_no_quorum(&round), (n - failed) * 2 <= n);
    ck_assert_int_eq(rl_round_split(&round),
                     verdict == RL_LOST && yes > 0 && no > 0 && no * 2 <= n);
}

TEST(votes, every_combination_of_votes, .first = 1, .rows = 8)
{
    unsigned votes[7] = {0};
    unsigned n = (unsigned)_i;
    for (;;) {
        check_votes(n, votes);
        unsigned at = 0;
        while (at < n && votes[at] == SILENT)
            votes[at++] = 0;
        if (at == n)
            break;
        votes[at]++;
    }
}

/* One server counts once: CE14, and an answer that arrives twice. */
TEST(votes, nodes_first_vote_stands)
{
    static const enum rl_vote all[] = {RL_VOTE_YES, RL_VOTE_NO, RL_VOTE_FAILED};
    for (unsigned first = 0; first < 3; first++) {
        for (unsigned second = 0; second < 3; second++) {
            struct rl_round round;
            rl_round_start(&round, 3, 0, 1);
            ck_assert(rl_round_vote(&round, 1, all[first]));
            struct rl_round before = round;
            ck_assert(!rl_round_vote(&round, 1, all[second]));
            ck_assert_mem_eq(&round, &before, sizeof(round));
            ck_assert_uint_eq(rl_count(rl_round_silent(&round)), 2);
        }
    }
}

/* CE23: a majority of those who answered is not one of those who are. */
TEST(votes, ce23_majority_of_answers_is_no_majority)
{
    struct rl_round round;
    rl_round_start(&round, 5, 0, 1);
    rl_round_vote(&round, 0, RL_VOTE_YES);
    rl_round_vote(&round, 1, RL_VOTE_YES);
    rl_round_vote(&round, 2, RL_VOTE_FAILED);
    rl_round_vote(&round, 3, RL_VOTE_FAILED);
    ck_assert_int_eq(rl_round_verdict(&round), RL_OPEN);
    rl_round_vote(&round, 4, RL_VOTE_FAILED);
    ck_assert_int_eq(rl_round_verdict(&round), RL_LOST);
    ck_assert(rl_round_no_quorum(&round));
}

/* CE13: half of an even N would let two win. */
TEST(votes, ce13_half_of_even_number_loses)
{
    for (unsigned n = 2; n <= 64; n += 2) {
        struct rl_round round;
        rl_round_start(&round, n, 0, 1);
        for (unsigned i = 0; i < n; i++)
            rl_round_vote(&round, i, i < n / 2 ? RL_VOTE_YES : RL_VOTE_NO);
        ck_assert_int_eq(rl_round_verdict(&round), RL_LOST);
        ck_assert(rl_round_split(&round));
    }
}

/* The largest N decide at the same vote, whichever ends the bits begin from. */
TEST(votes, word_full_of_nodes)
{
    static const unsigned sizes[] = {31, 32, 33, 63, 64};
    for (unsigned k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        unsigned n = sizes[k], needed = n / 2 + 1;
        struct rl_round round;
        rl_round_start(&round, n, 0, 1);
        for (unsigned i = 0; i < needed; i++) {
            ck_assert_int_eq(rl_round_verdict(&round), RL_OPEN);
            rl_round_vote(&round, n - 1 - i, RL_VOTE_YES);
        }
        ck_assert_int_eq(rl_round_verdict(&round), RL_WON);
        rl_round_start(&round, n, 0, 1);
        for (unsigned i = 0; i <= n - needed; i++) {
            ck_assert_int_eq(rl_round_verdict(&round), RL_OPEN);
            rl_round_vote(&round, i, i % 2 ? RL_VOTE_NO : RL_VOTE_FAILED);
        }
        ck_assert_int_eq(rl_round_verdict(&round), RL_LOST);
    }
}

TEST(votes, node_that_is_none, .signal = SIGABRT)
{
    struct rl_round round;
    rl_round_start(&round, 3, 0, 1);
    rl_round_vote(&round, 3, RL_VOTE_YES);
}

TEST(votes, round_of_nobody, .signal = SIGABRT)
{
    struct rl_round round;
    rl_round_start(&round, 0, 0, 1);
}

TEST(votes, round_that_ends_before_it_begins, .signal = SIGABRT)
{
    struct rl_round round;
    rl_round_start(&round, 3, 10, 9);
}

/* ---- time ------------------------------------------------------------------------------ */

static const struct {
    int64_t remaining;
    unsigned n;
    int64_t node_timeout, round_trip, budget;
} budgets[] = {
    {500 * MS, 5, 0, 0, 100 * MS},           /* remaining / N */
    {500 * MS, 5, 30 * MS, 0, 30 * MS},      /* node-timeout caps it */
    {500 * MS, 5, 200 * MS, 0, 100 * MS},    /* and never raises it */
    {500 * MS, 5, 100 * MS, 0, 100 * MS},    /* equal */
    {500 * MS, 5, 1 * MS, 0, 2 * MS},        /* never below 2 ms */
    {500 * MS, 5, 1 * MS, 40 * MS, 80 * MS}, /* nor below two round trips */
    {500 * MS, 5, 0, 60 * MS, 120 * MS},
    {9 * MS, 5, 0, 3 * MS / 2, 3 * MS},
    {500 * MS, 64, 0, 0, 500 * MS / 64},
    {4 * MS, 5, 0, 0, 2 * MS}, /* little is left: what a round needs */
    {2 * MS, 5, 0, 0, 2 * MS}, /* just enough */
    {2 * MS - 1, 5, 0, 0, -1}, /* too little to begin */
    {2 * MS, 1, 0, 0, 2 * MS},
    {0, 5, 0, 0, -1},
    {-1, 5, 0, 0, -1},
    {INT64_MIN, 5, 0, 0, -1},
    {100 * MS, 5, 0, 50 * MS, 100 * MS},
    {100 * MS, 5, 0, 50 * MS + 1, -1},
    {100 * MS, 1, 0, 1 * MS, 100 * MS}, /* two round trips that are 2 ms */
};

TEST(time, node_share_of_round, .rows = ROWS(budgets))
{
    int64_t budget = rl_node_budget_ns(budgets[_i].remaining, budgets[_i].n,
                                       budgets[_i].node_timeout, budgets[_i].round_trip);
    ck_assert_int_eq(budget, budgets[_i].budget);
}

TEST(time, answer_is_late_before_it_is_lost)
{
    ck_assert_int_eq(rl_patience_ns(0), 500 * MS);
    ck_assert_int_eq(rl_patience_ns(62 * MS), 500 * MS);
    ck_assert_int_eq(rl_patience_ns(63 * MS), 504 * MS);
    ck_assert_int_eq(rl_patience_ns(2 * S), 16 * S);
}

TEST(time, budget_for_nobody, .signal = SIGABRT)
{
    rl_node_budget_ns(S, 0, 0, 0);
}

TEST(time, negative_round_trip, .signal = SIGABRT)
{
    rl_node_budget_ns(S, 5, 0, -1);
}
