/* test_outcome.c - what a call is told that ends without the lock: every combination of votes,
 * silence, own holds and earlier findings. */
#include "config_auto.h"

#include "core/outcome.h"
#include "suite.h"

#include <redlock.h>
#include <string.h>

/* What a node has done in a round. BRIEF: it was silent, and not for long enough to have failed.
 * LEFT: the round was decided without it. */
enum node { YES, NO, FAILED, BRIEF, LEFT, NODES };

static struct rl_round lost;
static uint64_t unknown;
static unsigned is[NODES];

/* The round in which node i did digit i of `number`, to the base of NODES. */
static void play(unsigned n, unsigned number)
{
    unknown = 0;
    memset(is, 0, sizeof(is));
    rl_round_start(&lost, n, 1, 2);
    for (unsigned i = 0; i < n; i++, number /= NODES) {
        enum node did = number % NODES;
        is[did]++;
        if (did == YES || did == NO)
            rl_round_vote(&lost, i, did == YES ? RL_VOTE_YES : RL_VOTE_NO);
        else if (did != LEFT)
            rl_round_vote(&lost, i, RL_VOTE_FAILED);
        if (did == BRIEF)
            unknown |= rl_bit(i);
    }
}

static unsigned power(unsigned base, unsigned exponent)
{
    return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

TEST(outcome, every_round_tells_what_is_certain, .first = 1, .rows = 7)
{
    unsigned n = (unsigned)_i;
    for (unsigned number = 0; number < power(NODES, n); number++) {
        play(n, number);
        bool late = is[YES] > n / 2;
        bool down = n - is[FAILED] <= n / 2;
        bool perhaps_down = n - is[FAILED] - is[BRIEF] <= n / 2;
        bool held = is[NO] > 0 && !perhaps_down;
        int expected = late || down ? REDLOCK_ENOQUORUM : held ? REDLOCK_EHELD : 0;
        ck_assert_msg(rl_round_tells(&lost, unknown) == expected, "n %u, number %u", n, number);
    }
}

/* Where the others had no time to answer, a minority may say what it likes. */
TEST(outcome, minority_alone_tells_nothing)
{
    for (unsigned number = 0; number < power(NODES, 5); number++) {
        play(5, number);
        if (is[BRIEF] >= 3)
            ck_assert_int_eq(rl_round_tells(&lost, unknown), 0);
    }
}

static const int codes[] = {0, REDLOCK_EHELD, REDLOCK_ENOQUORUM};
#define CODES 3

/* The findings of every code at every time around the call's beginning. */
TEST(outcome, first_source_that_tells_decides, .rows = CODES)
{
    enum { BEGAN = 10 };
    const int tells = codes[_i];
    for (unsigned i = 0; i < CODES * CODES * 3 * 3 * 2 * 2; i++) {
        unsigned drawn = i;
        struct rl_finding own = {.code = codes[drawn % CODES]};
        struct rl_finding shared = {.code = codes[(drawn /= CODES) % CODES]};
        own.at_ns = own.code ? BEGAN + (int64_t)((drawn /= CODES) % 3) * 2 : 0;
        drawn = own.code ? drawn : drawn / CODES;
        shared.at_ns = BEGAN - 3 + (int64_t)((drawn /= 3) % 3) * 4;
        shared.stands = (drawn /= 3) % 2;
        bool held_here = (drawn / 2) % 2;
        int of_shared = shared.stands || shared.at_ns >= BEGAN ? shared.code : 0;
        int expected = shared.at_ns > own.at_ns ? of_shared : own.code;
        if (held_here)
            expected = REDLOCK_EHELD;
        if (tells)
            expected = tells;
        ck_assert_int_eq(rl_outcome(tells, held_here, &own, &shared, BEGAN),
                         expected ? expected : REDLOCK_EUNDECIDED);
    }
}
