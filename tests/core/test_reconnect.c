/* test_reconnect.c - when a connection is made anew: at once where it was good, later and later
 * where it is not, and never in a storm. */
#include "config_auto.h"

#include "base/limits.h"
#include "core/reconnect.h"
#include "suite.h"

#define MS RL_NS_PER_MS
#define MIN_NS (RL_RECONNECT_MIN_MS * MS)
#define MAX_NS (RL_RECONNECT_MAX_MS * MS)

static struct rl_retry retry;
static struct rl_prng prng;
static int64_t now_ns;

static void set_up(void)
{
    rl_prng_seed(&prng, 42);
    rl_retry_init(&retry);
    now_ns = 1000 * RL_NS_PER_S;
}

/* Begin when it is time, and fail. How long it is put off. */
static int64_t fail_in_time(void)
{
    now_ns = retry.at_ns;
    rl_retry_begin(&retry, now_ns);
    rl_retry_failed(&retry, &prng, now_ns);
    return retry.at_ns - now_ns;
}

static void fail_often(unsigned times)
{
    retry.at_ns = now_ns;
    for (unsigned i = 0; i < times; i++)
        fail_in_time();
}

TEST(retry, at_first_it_is_tried_at_once)
{
    ck_assert_int_eq(retry.at_ns, 0);
    ck_assert_uint_eq(retry.failures, 0);
    rl_retry_begin(&retry, now_ns);
    ck_assert_uint_eq(retry.failures, 0);
}

TEST(retry, failures_put_it_off_for_longer_and_longer)
{
    int64_t longest_ns = MIN_NS;
    retry.at_ns = now_ns;
    for (unsigned k = 1; k <= 100; k++) {
        int64_t wait_ns = fail_in_time();
        ck_assert_int_ge(wait_ns, longest_ns / 2);
        ck_assert_int_le(wait_ns, longest_ns);
        ck_assert_uint_eq(retry.failures, k);
        longest_ns = 2 * longest_ns < MAX_NS ? 2 * longest_ns : MAX_NS;
    }
}

/* Nobody was there to try: what made it fail is history. A little late is in time. */
TEST(retry, long_past_its_time_it_begins_anew)
{
    fail_often(20);
    rl_retry_begin(&retry, retry.at_ns + 100 * MS);
    ck_assert_uint_eq(retry.failures, 20);
    rl_retry_begin(&retry, retry.at_ns + 100 * MS + 1);
    ck_assert_uint_eq(retry.failures, 0);
    rl_retry_failed(&retry, &prng, now_ns);
    ck_assert_uint_eq(retry.failures, 1);
    ck_assert_int_le(retry.at_ns, now_ns + MIN_NS);
}

TEST(retry, lasting_connection_is_made_anew_at_once)
{
    fail_often(20);
    rl_retry_lost(&retry, &prng, now_ns - RL_NS_PER_S, now_ns);
    ck_assert_int_eq(retry.at_ns, now_ns);
    ck_assert_uint_eq(retry.failures, 0);
    ck_assert_int_le(fail_in_time(), MIN_NS);
}

/* Up and gone: once, it is worth a try at once; then later and later. But it did get up. */
TEST(retry, server_that_hangs_up_again_and_again_is_not_raced)
{
    int64_t short_ns = RL_NS_PER_S - 1;
    rl_retry_lost(&retry, &prng, now_ns - short_ns, now_ns);
    ck_assert_int_eq(retry.at_ns, now_ns);
    ck_assert_uint_eq(retry.flaws, 1);
    for (unsigned k = 2; k < 20; k++) {
        rl_retry_begin(&retry, now_ns);
        rl_retry_lost(&retry, &prng, now_ns - short_ns, now_ns);
        ck_assert_uint_eq(retry.flaws, k);
        ck_assert_uint_eq(retry.failures, 0);
        ck_assert_int_ge(retry.at_ns, now_ns + MIN_NS / 2);
        ck_assert_int_le(retry.at_ns, now_ns + MAX_NS);
        now_ns = retry.at_ns;
    }
    ck_assert_int_ge(fail_in_time(), MAX_NS / 2);
}

/* However often it failed before it was up, the first attempt after that may be waited for. */
TEST(retry, thread_that_was_up_has_not_failed)
{
    fail_often(20);
    rl_retry_lost(&retry, &prng, now_ns - 1, now_ns);
    ck_assert_uint_eq(retry.failures, 0);
    ck_assert_uint_eq(retry.flaws, 21);
    ck_assert_int_ge(retry.at_ns, now_ns + MAX_NS / 2);
    fail_in_time();
    ck_assert_uint_eq(retry.failures, 1);
}

TEST(retry, unread_socket_is_no_failure)
{
    fail_often(20);
    rl_retry_excuse(&retry, now_ns);
    ck_assert_int_eq(retry.at_ns, now_ns);
    ck_assert_uint_eq(retry.failures, 0);
    ck_assert_uint_eq(retry.flaws, 0);
    ck_assert_int_le(fail_in_time(), MIN_NS);
}

TEST(retry, postponed_node_counts_as_failed)
{
    rl_retry_put_off(&retry, now_ns + 30 * RL_NS_PER_S);
    ck_assert_int_eq(retry.at_ns, now_ns + 30 * RL_NS_PER_S);
    ck_assert_uint_eq(retry.failures, 1);
}

/* Not sooner than the shortest wait after the last try, and never later than planned. */
TEST(retry, haste_has_end)
{
    rl_retry_begin(&retry, now_ns);
    rl_retry_put_off(&retry, now_ns + RL_NS_PER_S);
    rl_retry_hasten(&retry, now_ns + 1);
    ck_assert_int_eq(retry.at_ns, now_ns + MIN_NS);
    rl_retry_hasten(&retry, now_ns + 5 * RL_NS_PER_S);
    ck_assert_int_eq(retry.at_ns, now_ns + MIN_NS);
    rl_retry_put_off(&retry, now_ns + RL_NS_PER_S);
    rl_retry_hasten(&retry, now_ns + RL_NS_PER_S / 2);
    ck_assert_int_eq(retry.at_ns, now_ns + RL_NS_PER_S / 2);
    ck_assert_uint_eq(retry.failures, 2);
}

/* ---- refusals that last until a person mends them ---- */

static int64_t refused_in_time(void)
{
    now_ns = retry.at_ns;
    rl_retry_begin(&retry, now_ns);
    rl_retry_refused(&retry, &prng, now_ns);
    return retry.at_ns - now_ns;
}

TEST(retry, server_that_needs_a_person_is_tried_seldom)
{
    int64_t longest_ns = RL_REFUSED_MIN_MS * MS, most_ns = RL_REFUSED_MAX_MS * MS;
    retry.at_ns = now_ns;
    for (unsigned k = 1; k <= 100; k++) {
        int64_t wait_ns = refused_in_time();
        ck_assert_int_ge(wait_ns, longest_ns / 2);
        ck_assert_int_le(wait_ns, longest_ns);
        ck_assert(retry.refused);
        longest_ns = 2 * longest_ns < most_ns ? 2 * longest_ns : most_ns;
    }
    ck_assert_int_ge(longest_ns / 2, 10 * RL_NS_PER_S);
}

TEST(retry, seldom_stays_seldom_where_nobody_polls)
{
    retry.at_ns = now_ns;
    for (unsigned k = 0; k < 20; k++)
        refused_in_time();
    rl_retry_begin(&retry, retry.at_ns + RL_NS_PER_S);
    ck_assert_uint_eq(retry.failures, 0); /* a call waits for it as at first */
    rl_retry_refused(&retry, &prng, now_ns);
    ck_assert_int_ge(retry.at_ns - now_ns, 10 * RL_NS_PER_S);
}

TEST(retry, refused_server_that_is_needed_gets_a_try_in_two_seconds_whoever_asks)
{
    retry.at_ns = now_ns;
    for (unsigned k = 0; k < 20; k++)
        refused_in_time();
    for (int64_t later_ns = 0; later_ns < 3 * RL_NS_PER_S; later_ns += 100 * MS) {
        rl_retry_hasten(&retry, now_ns + later_ns);
        ck_assert_int_eq(retry.at_ns, now_ns + 2 * RL_NS_PER_S);
    }
}

/* What came of it since is another matter. */
TEST(retry, after_another_failure_or_success_refusals_begin_anew)
{
    for (int with_success = 0; with_success < 2; with_success++) {
        rl_retry_init(&retry);
        retry.at_ns = now_ns;
        for (unsigned k = 0; k < 20; k++)
            refused_in_time();
        now_ns = retry.at_ns;
        rl_retry_begin(&retry, now_ns);
        if (with_success)
            rl_retry_lost(&retry, &prng, now_ns, now_ns + RL_NS_PER_S);
        else
            rl_retry_failed(&retry, &prng, now_ns);
        ck_assert(!retry.refused);
        ck_assert_int_le(retry.at_ns - now_ns, RL_NS_PER_S + MAX_NS);
        ck_assert_int_le(refused_in_time(), RL_REFUSED_MIN_MS * MS);
    }
}

CASE(retry, .set_up = set_up)
