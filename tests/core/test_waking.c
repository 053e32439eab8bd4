/* test_waking.c - what a waiter is told by nodes, and when it asks: at once by a majority's
 * word, later by a minority's, and by itself when nothing is said. */
#include "config_auto.h"

#include "core/waking.h"
#include "suite.h"

#define MS RL_NS_PER_MS
#define NOW (1000 * RL_NS_PER_S)
#define ALL 7U
#define PLANNED (NOW + 3600 * RL_NS_PER_S)

static struct rl_waking waking;
static struct rl_pause rest;
static struct rl_refusals refusals;
static struct rl_prng prng;
static struct rl_wait_view view;

static void set_up(void)
{
    rl_prng_seed(&prng, 42);
    rl_waking_init(&waking, true);
    rl_pause_init(&rest);
    refusals = (struct rl_refusals){0};
    rl_refusals_begin(&refusals, NOW);
    view = (struct rl_wait_view){
        .n = 3, .waking = &waking, .listening = ALL, .now_ns = NOW, .prng = &prng};
    rest.until_ns = PLANNED;
}

static void queue_at(uint64_t nodes)
{
    for (unsigned i = 0; i < view.n; i++)
        rl_waking_answer(&waking, i, nodes & 1U << i ? RL_QUEUED : RL_NOT_QUEUED);
}

static int64_t end_after(struct rl_defeat defeat)
{
    return rl_pause_end_ns(&rest, &refusals, &defeat, &view) - NOW;
}

static const struct rl_defeat held = {.will_tell = true};

TEST(waking, majority_begins_round_at_once_and_minority_after_grace)
{
    queue_at(ALL);
    rl_waking_message(&waking, 2, NOW);
    ck_assert_int_eq(rl_pause_turn(&rest, RL_TURN_WOKEN, &view), RL_ROUND_SOONER);
    ck_assert_int_ge(rest.until_ns, NOW + MS);
    ck_assert_int_lt(rest.until_ns, NOW + 2 * MS);
    rl_waking_message(&waking, 2, NOW);
    ck_assert_int_ne(rl_pause_turn(&rest, RL_TURN_WOKEN, &view), RL_ROUND_NOW);
    rl_waking_message(&waking, 0, NOW);
    ck_assert_int_eq(rl_pause_turn(&rest, RL_TURN_WOKEN, &view), RL_ROUND_NOW);
}

/* Whatever a minority says again and again, its rounds get rarer; a majority forgets that. */
TEST(waking, minority_costs_fewer_and_fewer_rounds)
{
    unsigned rounds = 0;
    int64_t end_ns = NOW + 10 * RL_NS_PER_S;
    while (view.now_ns < end_ns) {
        rl_waking_message(&waking, 0, view.now_ns);
        rest.until_ns = INT64_MAX;
        rl_pause_turn(&rest, RL_TURN_WOKEN, &view);
        view.now_ns = rest.until_ns;
        rl_waking_round(&waking, view.n, false, &prng, view.now_ns);
        rounds++;
    }
    ck_assert_uint_lt(rounds, 40);
    ck_assert_int_gt(waking.hint_ns, view.now_ns);
    rl_waking_message(&waking, 0, view.now_ns);
    rl_waking_message(&waking, 1, view.now_ns);
    rl_waking_round(&waking, view.n, false, &prng, view.now_ns);
    ck_assert_int_eq(waking.hint_ns, 0);
}

/* A majority wakes it each millisecond, and it is refused each time. */
TEST(waking, majority_costs_bounded_number_of_rounds_until_lock_is_had)
{
    enum { SECONDS = 4 };
    unsigned rounds = 0;
    int64_t end_ns = NOW + SECONDS * RL_NS_PER_S;
    for (; view.now_ns < end_ns; view.now_ns += MS) {
        rl_waking_message(&waking, 0, view.now_ns);
        rl_waking_message(&waking, 1, view.now_ns);
        rest.until_ns = INT64_MAX;
        if (rl_pause_turn(&rest, RL_TURN_WOKEN, &view) == RL_ROUND_NOW) {
            rl_waking_round(&waking, view.n, false, &prng, view.now_ns);
            rounds++;
        } else {
            ck_assert_int_le(rest.until_ns, view.now_ns + RL_WAKE_EACH_NS);
        }
    }
    ck_assert_uint_ge(rounds, RL_WAKES_BURST);
    ck_assert_uint_le(rounds, RL_WAKES_BURST + 1 + SECONDS * RL_NS_PER_S / RL_WAKE_EACH_NS);
    rl_waking_won(&waking);
    for (rounds = 0; rounds < RL_WAKES_BURST; rounds++) {
        rl_waking_message(&waking, 0, view.now_ns);
        rl_waking_message(&waking, 1, view.now_ns);
        ck_assert_int_eq(rl_pause_turn(&rest, RL_TURN_WOKEN, &view), RL_ROUND_NOW);
        rl_waking_round(&waking, view.n, false, &prng, view.now_ns);
    }
}

/* Its grace would end sooner, and others that speak in it make it a majority's. */
TEST(waking, minority_waits_for_what_majority_has_cost)
{
    for (unsigned rounds = 0; rounds <= RL_WAKES_BURST; rounds++) {
        rl_waking_message(&waking, 0, view.now_ns);
        rl_waking_message(&waking, 1, view.now_ns);
        rl_waking_round(&waking, view.n, false, &prng, view.now_ns);
    }
    rl_waking_message(&waking, 0, view.now_ns);
    rest.until_ns = INT64_MAX;
    ck_assert_int_eq(rl_pause_turn(&rest, RL_TURN_WOKEN, &view), RL_ROUND_SOONER);
    ck_assert_int_ge(rest.until_ns, view.now_ns + RL_WAKE_EACH_NS);
}

/* It probes if a majority will wake it, and polls if not: then it asks much sooner. */
TEST(waking, queued_waiter_probes_and_other_one_polls)
{
    ck_assert_int_le(end_after(held), RL_RETRY_MIN_MS * MS);
    ck_assert(!rest.unprompted);
    queue_at(3);
    ck_assert_int_ge(end_after(held), RL_UNPROMPTED_MS * MS);
    ck_assert(rest.unprompted);
    view.listening = 4; /* who is not heard wakes nobody */
    ck_assert_int_lt(end_after(held), RL_UNPROMPTED_MS * MS);
    view.listening = ALL;
    ck_assert_int_lt(end_after((struct rl_defeat){.will_tell = false}), RL_UNPROMPTED_MS * MS);
    ck_assert_int_lt(end_after((struct rl_defeat){.will_tell = true, .split = true}),
                     RL_UNPROMPTED_MS * MS);
    queue_at(1);
    ck_assert_int_ge(end_after((struct rl_defeat){.will_tell = true, .silent = 2}),
                     RL_UNPROMPTED_MS * MS);
}

TEST(waking, majority_that_spoke_meanwhile_ends_pause)
{
    queue_at(ALL);
    rl_waking_message(&waking, 0, NOW);
    ck_assert_int_lt(end_after(held), 2 * MS);
    rl_waking_message(&waking, 1, NOW);
    ck_assert_int_eq(end_after(held), 0);
    ck_assert_int_gt(end_after((struct rl_defeat){.in_vain = true}), 0);
    ck_assert_int_ne(rl_pause_turn(&rest, RL_TURN_WOKEN, &view), RL_ROUND_NOW);
}

/* The second of three keys to run out frees a majority. Who asked one node first knows one. */
TEST(waking, pause_ends_when_enough_keys_run_out)
{
    queue_at(ALL);
    rl_refusals_held(&refusals, NOW + 300 * MS);
    ck_assert_int_ge(end_after(held), RL_UNPROMPTED_MS * MS);
    int64_t wait_ns = end_after((struct rl_defeat){.will_tell = true, .ordered = true});
    ck_assert_int_ge(wait_ns, 300 * MS);
    ck_assert_int_lt(wait_ns, 300 * MS + RL_RETRY_MIN_MS * MS);
    rl_refusals_held(&refusals, NOW + 100 * MS);
    rl_refusals_held(&refusals, NOW + 200 * MS);
    refusals.place = 10; /* those before it ask first */
    wait_ns = end_after(held);
    ck_assert_int_ge(wait_ns, 200 * MS + 10 * MS);
    ck_assert_int_lt(wait_ns, 300 * MS);
}

/* Who is next after one holder for long sleeps long, and looks whether it would be told. */
TEST(waking, next_one_probes_seldom_while_it_can_hear)
{
    queue_at(ALL);
    for (int round = 0; round < 3; round++) {
        rl_refusals_begin(&refusals, view.now_ns);
        for (unsigned i = 0; i < view.n; i++)
            rl_refusals_next(&refusals, 5);
        view.now_ns += RL_UNPROMPTED_MS * MS;
    }
    rest.until_ns = rl_pause_end_ns(&rest, &refusals, &held, &view);
    ck_assert_int_ge(rest.until_ns, view.now_ns + RL_UNPROMPTED_MAX_MS * MS);
    ck_assert(rl_pause_look(&rest, &refusals, 0, &view)); /* it is not time yet */
    view.now_ns = rest.look_ns;
    ck_assert(rl_pause_look(&rest, &refusals, 3, &view));
    view.now_ns = rest.look_ns;
    ck_assert(!rl_pause_look(&rest, &refusals, 1, &view));
    view.waking = NULL; /* nobody would tell it */
    view.now_ns = rest.look_ns;
    ck_assert(!rl_pause_look(&rest, &refusals, 3, &view));
    view.waking = &waking;
    rl_refusals_begin(&refusals, view.now_ns); /* another holder: it begins anew */
    for (unsigned i = 0; i < view.n; i++)
        rl_refusals_next(&refusals, 6);
    refusals.place = 0;
    rest.until_ns = rl_pause_end_ns(&rest, &refusals, &held, &view);
    ck_assert_int_lt(rest.until_ns, view.now_ns + RL_UNPROMPTED_MAX_MS * MS);
}

/* Which holder is next is a majority's word: the first master's counts no more than another's. */
TEST(waking, holder_whom_most_name_is_followed)
{
    static const uint64_t named[] = {5, 6, 6};
    rl_refusals_begin(&refusals, NOW);
    for (unsigned i = 0; i < 3; i++)
        rl_refusals_next(&refusals, named[i]);
    rl_refusals_begin(&refusals, NOW);
    ck_assert_uint_eq(refusals.behind, 6);
}

/* A subscription that is confirmed: what was released before was said to nobody. */
TEST(waking, confirmed_subscription_is_worth_round)
{
    view.listening = 4;
    ck_assert_int_eq(rl_pause_turn(&rest, RL_TURN_LISTENS, &view), RL_ROUND_AS_PLANNED);
    view.listening = 5;
    view.more = true;
    ck_assert_int_eq(rl_pause_turn(&rest, RL_TURN_LISTENS, &view), RL_ROUND_SOONER);
    ck_assert_int_eq(rest.until_ns, NOW + MS);
    view.more = false;
    rest.can_hear = true;
    queue_at(ALL);
    ck_assert_int_eq(end_after(held), MS); /* the node has yet to enter it into its queue */
    rl_waking_init(&waking, false);
    ck_assert_int_eq(end_after(held), 0);
}

/* If enough others will wake it, that round is one for a minority's word. */
TEST(waking, round_for_last_subscription_may_be_put_off)
{
    queue_at(ALL);
    waking.hint_ns = NOW + 20 * MS;
    end_after(held);
    ck_assert_int_eq(rl_pause_turn(&rest, RL_TURN_LISTENS, &view), RL_ROUND_SOONER);
    ck_assert_int_eq(rest.until_ns, waking.hint_ns);
    ck_assert(rest.hinted);
    rest.can_hear = true;
    ck_assert_int_eq(end_after(held), 20 * MS);
    ck_assert(rest.hinted);
    waking.hint_ns = NOW + 3600 * RL_NS_PER_S; /* it probes before that */
    ck_assert_int_lt(end_after(held), 3600 * RL_NS_PER_S);
    ck_assert(!rest.hinted);
}

TEST(waking, node_that_has_not_queued_it_ends_reliance)
{
    queue_at(3);
    ck_assert_int_eq(rl_pause_turn(&rest, RL_TURN_MISSED, &view), RL_ROUND_AS_PLANNED);
    end_after(held);
    ck_assert_int_eq(rl_pause_turn(&rest, RL_TURN_MISSED, &view), RL_ROUND_AS_PLANNED);
    rl_waking_unheard(&waking, 1);
    ck_assert_int_eq(rl_pause_turn(&rest, RL_TURN_MISSED, &view), RL_ROUND_SOONER);
    ck_assert_int_le(rest.until_ns, NOW + RL_RETRY_MIN_MS * MS);
}

TEST(waking, turn_of_its_own_client_begins_round)
{
    ck_assert_int_eq(rl_pause_turn(&rest, RL_TURN_FREED, &view), RL_ROUND_NOW);
    ck_assert_int_eq(rl_pause_turn(&rest, RL_TURN_FIRST, &view), RL_ROUND_SOONER);
    ck_assert_int_eq(rest.until_ns, NOW);
}

/* Who was woken by name hands on what is reserved, unless it has the lock. */
TEST(waking, nodes_to_leave)
{
    queue_at(3);
    rl_waking_message(&waking, 1, NOW);
    rl_waking_message(&waking, 2, NOW);
    ck_assert_uint_eq(rl_waking_leaves(&waking, false, false), ALL);
    ck_assert_uint_eq(rl_waking_leaves(&waking, true, false), 1);
    ck_assert_uint_eq(rl_waking_leaves(&waking, true, true), 3);
    waking.named = false;
    ck_assert_uint_eq(rl_waking_leaves(&waking, false, false), 3);
}

TEST(waking, queue_that_others_subscribed_is_heard_from_start)
{
    rl_pause_join(&rest, &view);
    ck_assert(!rest.can_hear);
    waking.named = false;
    view.listening = 1;
    rl_pause_join(&rest, &view);
    ck_assert(!rest.can_hear);
    view.listening = 3;
    rl_pause_join(&rest, &view);
    ck_assert(rest.can_hear);
}

/* Those far back ask seldom; of fair locks often enough to be kept. */
TEST(waking, probes_get_rarer_with_place)
{
    queue_at(ALL);
    refusals.place = 8;
    ck_assert_int_ge(end_after(held), 3 * RL_UNPROMPTED_MS * MS);
    refusals.place = 1000;
    ck_assert_int_ge(end_after(held), RL_UNPROMPTED_MAX_MS * MS);
    view.fair = true;
    ck_assert_int_lt(end_after(held), RL_FAIR_WAITER_MS * MS / 3);
}

CASE(waking, .set_up = set_up)
