/* test_peer_cases_a.c - what went wrong for the users of other quorum locks when taking one;
 * each test is named after its case. The cases that need several kinds, or a lock of several
 * names, are not here. */
#include "config_auto.h"

#include "clients.h"
#include "fake.h"
#include "proxy.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fake *fakes[5];
static redlock_node_vote report_votes[REDLOCK_NODES_MAX];
static redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
static redlock_lock *lock;

static void open_fakes(unsigned n, const char *settings)
{
    fakes_start(fakes, n);
    one = client_open(fakes_file(fakes, n, settings));
    ck_assert(wait_until(client_ready(one) == n, 10000));
}

/* An acquire of `name` is answered so by the first nodes. */
static void rule_for(unsigned first, unsigned count, struct fake_rule rule)
{
    rule.match = "acquire *";
    for (unsigned i = first; i < first + count; i++)
        fake_rule(fakes[i], &rule);
}

static void held_by_rival(unsigned first, unsigned count)
{
    for (unsigned i = first; i < first + count; i++)
        master_do(masters, i, "SET", "name", "rival", NULL);
}

/* The share of one of three in a ttl of 10 s would be 3.3 s. */
TEST(peer_cases_a, a01_one_black_holed_node_is_not_waited_for, .rows = 3)
{
    OPEN_CLIENTS(3, NULL);
    master_pause(masters, (unsigned)_i);
    int64_t begun = now_ms();
    lock = client_take(one, "name");
    ck_assert_int_lt(now_ms() - begun, 1500);
    begun = now_ms();
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_int_lt(now_ms() - begun, 1500);
    master_resume(masters, (unsigned)_i);
}

TEST(peer_cases_a, a02_one_node_that_was_never_there_is_no_harm, .rows = 3)
{
    masters = masters_start(3, NULL);
    master_kill(masters, (unsigned)_i);
    one = client_open(masters_file(masters, NULL));
    two = NULL;
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(redlock_release(client_take(one, "name")), 0);
    ck_assert(client_state(one, (unsigned)_i, NULL) != REDLOCK_NODE_READY);
    close_clients();
}

/* The other two are silent: nobody waits for them once it is decided. */
TEST(peer_cases_a, a04_third_error_of_five_decides_and_says_no_quorum)
{
    open_fakes(5, NULL);
    rule_for(0, 3, (struct fake_rule){.reply = "-ERR broken\r\n", .delay_ms = 50});
    rule_for(3, 2, (struct fake_rule){.then = FAKE_SILENT, .cut = true});
    int64_t begun = now_ms();
    ck_assert_int_eq(client_try(one, "name", 0, 0, &report, &lock), REDLOCK_ENOQUORUM);
    ck_assert_int_lt(now_ms() - begun, 1000);
    ck_assert_uint_eq(report.failed, 3);
    ck_assert_uint_eq(report.held, 0);
    ck_assert_str_eq(report.node[0].text, "ERR broken");
    redlock_close(one);
}

TEST(peer_cases_a, a05_even_split_fails_and_never_hangs, .rows = 2)
{
    unsigned n = _i == 0 ? 2 : 4;
    OPEN_CLIENTS(n, NULL);
    held_by_rival(0, n / 2);
    int64_t begun = now_ms();
    ck_assert_int_eq(client_try(one, "name", 0, 0, &report, &lock), REDLOCK_EHELD);
    ck_assert_int_lt(now_ms() - begun, 1000);
    ck_assert_uint_eq(report.held, n / 2);
    begun = now_ms();
    ck_assert_int_eq(client_try(one, "name", 0, 400, &report, &lock), REDLOCK_EHELD);
    ck_assert_int_ge(now_ms() - begun, 250);
    ck_assert_int_lt(now_ms() - begun, 1000);
    ck_assert_ptr_null(lock);
    ck_assert(wait_until(masters_with(masters, "name") == n / 2, 2000));
}

TEST(peer_cases_a, a06_held_and_no_quorum_are_told_apart, .rows = 7)
{
    static const struct {
        unsigned held, broken;
        int code;
    } cases[] = {{3, 0, REDLOCK_EHELD},     {3, 2, REDLOCK_EHELD},
                 {2, 1, REDLOCK_EHELD},     {1, 3, REDLOCK_ENOQUORUM},
                 {0, 3, REDLOCK_ENOQUORUM}, {2, 3, REDLOCK_ENOQUORUM},
                 {1, 2, REDLOCK_EHELD}};
    open_fakes(5, NULL);
    static char refusal[] = "*4\r\n{nonce-}:0\r\n:4321\r\n$5\r\nrival\r\n";
    /* The errors come first: what is told depends on what was heard when it was decided. */
    rule_for(0, cases[_i].held, (struct fake_rule){.reply = refusal, .delay_ms = 60});
    rule_for(cases[_i].held, cases[_i].broken, (struct fake_rule){.reply = "-ERR broken\r\n"});
    /* Only what was heard before it was decided is told: let the rest grant late. */
    rule_for(cases[_i].held + cases[_i].broken, 5 - cases[_i].held - cases[_i].broken,
             (struct fake_rule){.delay_ms = 150});
    int code = client_try(one, "name", 0, 0, &report, &lock);
    ck_assert_msg(code == cases[_i].code, "%d: %s", code, client_told(&report));
    unsigned holders = 0;
    for (unsigned i = 0; i < 5; i++) {
        if (report.node[i].vote != REDLOCK_VOTE_HELD)
            continue;
        holders++;
        ck_assert_uint_lt(i, cases[_i].held);
        ck_assert_str_eq(report.node[i].holder, "rival");
        ck_assert_int_eq(report.node[i].ttl_ms, 4321);
    }
    ck_assert_uint_eq(holders, report.held);
    redlock_close(one);
}

/* Every grant comes within the node's share of the ttl, but little or nothing is left then:
 * with this drift, 798 ms less the round. */
TEST(peer_cases_a, a07_majority_that_comes_too_late_is_loss)
{
    open_fakes(3, "drift-factor 0.8\n");
    rule_for(0, 3, (struct fake_rule){.delay_ms = 100});
    ck_assert_int_eq(client_try(one, "name", 4000, 0, &report, &lock), 0);
    ck_assert_int_le(redlock_validity_ms(lock), 698);
    ck_assert_int_eq(redlock_release(lock), 0);

    rule_for(0, 3, (struct fake_rule){.delay_ms = 900});
    lock = NULL;
    int64_t begun = now_ms();
    int code = client_try(one, "late", 4000, 0, &report, &lock);
    ck_assert_msg(code < 0, "%s", client_told(&report));
    ck_assert_int_ge(now_ms() - begun, 790); /* it waited for them */
    ck_assert_ptr_null(lock);
    for (unsigned i = 0; i < 3; i++)
        ck_assert(wait_until((client_ready(one), !fake_has(fakes[i], "late")), 3000));
    redlock_close(one);
}

TEST(peer_cases_a, a08_validity_counts_from_last_attempt)
{
    OPEN_CLIENTS(3, NULL);
    for (unsigned i = 0; i < 3; i++)
        master_do(masters, i, "SET", "name", "rival", "PX", "1500", NULL);
    int64_t begun = now_ms();
    ck_assert_int_eq(client_try(one, "name", 3000, 10000, &report, &lock), 0);
    int64_t validity = redlock_validity_ms(lock);
    ck_assert_int_ge(now_ms() - begun, 1400);
    ck_assert_uint_gt(report.rounds, 1);
    ck_assert_int_gt(validity, 3000 - 30 - 2 - 1000);
    ck_assert_int_le(validity, 3000 - 30 - 2);
    ck_assert_int_eq(redlock_release(lock), 0);
}

TEST(peer_cases_a, a10_ttl_below_round_trip_fails_cleanly)
{
    open_fakes(1, NULL);
    ck_assert_int_eq(client_try(one, "name", 1, 0, &report, &lock), REDLOCK_EINVAL);
    rule_for(0, 1, (struct fake_rule){.delay_ms = 30});
    for (int64_t ttl = 10; ttl <= 30; ttl += 5) {
        int code = client_try(one, "name", ttl, 0, &report, &lock);
        ck_assert_msg(code < 0, "ttl %d: %s", (int)ttl, client_told(&report));
        ck_assert_ptr_null(lock);
    }
    for (int i = 0; i < 20; i++) {
        lock = NULL;
        if (client_try(one, "name", 40, 0, &report, &lock) != 0)
            continue;
        ck_assert_int_ge(redlock_validity_ms(lock), 0);
        ck_assert_int_le(redlock_validity_ms(lock), 40 - 30);
        redlock_release(lock);
    }
    redlock_close(one);
}

TEST(peer_cases_a, a11_quorum_is_of_configured_nodes)
{
    OPEN_CLIENTS(5, NULL);
    for (unsigned i = 0; i < 3; i++)
        master_kill(masters, i);
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(client_try(one, "name", 0, 0, &report, &lock), REDLOCK_ENOQUORUM);
    ck_assert_int_eq(client_try(one, "name", 0, 1200, &report, &lock), REDLOCK_ENOQUORUM);
    ck_assert_uint_eq(report.needed, 3);
    ck_assert_uint_eq(masters_with(masters, "name"), 0);
}

/* ---- contenders ------------------------------------------------------------------------- */

struct contender {
    pthread_t thread;
    const char *file;
    int takes;
    int hold_ms;
    uint64_t commands;
    int64_t worst_ms;
};

static atomic_int holders, overlaps, taken;

static void *contend(void *argument)
{
    struct contender *contender = argument;
    redlock *client = client_open(contender->file);
    for (int i = 0; i < contender->takes; i++) {
        redlock_lock *mine = NULL;
        int64_t begun = now_ms();
        if (client_try(client, "name", 0, 40000, NULL, &mine) != 0)
            continue;
        int64_t waited = now_ms() - begun;
        contender->worst_ms = waited > contender->worst_ms ? waited : contender->worst_ms;
        if (atomic_fetch_add(&holders, 1) != 0)
            atomic_fetch_add(&overlaps, 1);
        pause_ms(contender->hold_ms);
        atomic_fetch_sub(&holders, 1);
        atomic_fetch_add(&taken, 1);
        redlock_release(mine);
    }
    contender->commands = client_stats(client).commands;
    redlock_close(client);
    return NULL;
}

static void run_contenders(struct contender *contenders, int count)
{
    for (int i = 0; i < count; i++)
        ck_assert_int_eq(pthread_create(&contenders[i].thread, NULL, contend, &contenders[i]),
                         0);
    for (int i = 0; i < count; i++)
        pthread_join(contenders[i].thread, NULL);
    ck_assert_int_eq(overlaps, 0);
}

TEST(peer_cases_a, a13_two_contenders_on_two_of_three_nodes_both_get_on)
{
    masters = masters_start(3, NULL);
    master_kill(masters, 2);
    const char *file = masters_file(masters, NULL);
    struct contender contenders[2] = {{.file = file, .takes = 50}, {.file = file, .takes = 50}};
    int64_t begun = now_ms();
    run_contenders(contenders, 2);
    ck_assert_int_eq(taken, 100);
    ck_assert_int_lt(now_ms() - begun, 15000);
}

TEST(peer_cases_a, a14_fifty_contenders_make_progress_without_storm)
{
    enum { CONTENDERS = 50, TAKES = 2 };
    static struct contender contenders[CONTENDERS];
    uint64_t commands = 0;
    masters = masters_start(3, NULL);
    for (int i = 0; i < CONTENDERS; i++)
        contenders[i] = (struct contender){
            .file = masters_file(masters, NULL), .takes = TAKES, .hold_ms = 20};
    int64_t begun = now_ms();
    run_contenders(contenders, CONTENDERS);
    int64_t took = now_ms() - begun;
    for (int i = 0; i < CONTENDERS; i++)
        commands += contenders[i].commands;
    ck_assert_int_eq(taken, CONTENDERS * TAKES);
    ck_assert_msg(took < 20000, "%d ms for 100 holds of 20 ms", (int)took);
    ck_assert_msg(commands / (CONTENDERS * TAKES) < 600, "%d commands a lock",
                  (int)(commands / (CONTENDERS * TAKES)));
}

TEST(peer_cases_a, a15_wait_ends_in_time_beside_slow_node)
{
    OPEN_CLIENTS(3, NULL);
    held_by_rival(0, 2);
    master_pause(masters, 2);
    for (int64_t wait = 100; wait <= 900; wait += 400) {
        int64_t begun = now_ms();
        int code = client_try(one, "name", 0, wait, &report, &lock);
        /* Two that hold it, and had too little time to say so, are no lack of masters. */
        ck_assert(code == REDLOCK_EHELD || (code == REDLOCK_EUNDECIDED && report.held < report.needed));
        int64_t took = now_ms() - begun;
        /* The slow one's share of the ttl would be 3.3 s. */
        ck_assert_msg(took < wait + 1000, "%d of %d ms", (int)took, (int)wait);
    }
    master_resume(masters, 2);
}

TEST(peer_cases_a, a16_without_wait_there_is_one_round)
{
    OPEN_CLIENTS(3, NULL);
    held_by_rival(0, 3);
    uint64_t rounds = client_stats(one).rounds;
    ck_assert_int_eq(client_try(one, "name", 0, 0, &report, &lock), REDLOCK_EHELD);
    ck_assert_uint_eq(report.rounds, 1);
    ck_assert_uint_eq(client_stats(one).rounds, rounds + 1);
}

/* ---- leaks ------------------------------------------------------------------------------ */

static void *cancel_soon(void *argument)
{
    struct timespec rest = {.tv_nsec = *(int *)argument * 1000};
    nanosleep(&rest, NULL);
    redlock_shutdown(one);
    return NULL;
}

/* Round trips take 4 ms here; the cancel comes at all times around them. */
TEST(peer_cases_a, a18_canceled_as_quorum_arrives_is_held_or_gone)
{
    struct proxy *proxies[3];
    int canceled = 0, held = 0;
    masters = masters_start(3, NULL);
    const char *file = proxies_start(masters, proxies, true, NULL);
    for (unsigned i = 0; i < 3; i++)
        proxy_delay(proxies[i], PROXY_ALL, PROXY_BACK, 4);
    for (int us = 0; us < 10000; us += 250) {
        pthread_t thread;
        one = client_open(file);
        ck_assert(wait_until(client_ready(one) == 3, 5000));
        ck_assert_int_eq(pthread_create(&thread, NULL, cancel_soon, &us), 0);
        lock = NULL;
        int code = client_try(one, "name", 0, 5000, &report, &lock);
        pthread_join(thread, NULL);
        ck_assert_msg(code == 0 || code == REDLOCK_ECANCELED, "%d", code);
        held += code == 0;
        canceled += code != 0;
        if (code == 0)
            ck_assert_int_gt(redlock_validity_ms(lock), 0);
        if (code == 0)
            ck_assert_int_eq(redlock_release(lock), 0);
        ck_assert(wait_until((client_ready(one), masters_with(masters, "name") == 0), 2000));
        ck_assert_int_eq(client_try(one, "name", 0, 0, &report, &lock), REDLOCK_ECANCELED);
        redlock_close(one);
    }
    ck_assert_msg(held > 0 && canceled > 0, "%d held, %d canceled", held, canceled);
}

/* The third node's acquire is still on its way when the round is lost. */
TEST(peer_cases_a, a20_no_release_overtakes_its_acquire)
{
    struct node_list list = {.len = 0};
    masters = masters_start(3, NULL);
    struct proxy *slow = proxy_start(&masters->node[2].unix_at, true);
    node_list_line(&list, "guard off");
    node_list_add(&list, &masters->node[0].unix_at);
    node_list_add(&list, &masters->node[1].unix_at);
    node_list_add(&list, proxy_endpoint(slow));
    one = client_open(node_list_write(&list));
    ck_assert(wait_until(client_ready(one) == 3, 5000));
    held_by_rival(0, 2);
    proxy_limit(slow, PROXY_ALL, PROXY_THERE, 0);
    long before = proxy_passed(slow, PROXY_BACK);
    ck_assert_int_eq(client_try(one, "name", 0, 0, &report, &lock), REDLOCK_EHELD);
    proxy_limit(slow, PROXY_ALL, PROXY_THERE, -1);
    /* Both were answered: then no key. */
    ck_assert(wait_until(proxy_passed(slow, PROXY_BACK) - before >= 2 * 24, 5000));
    ck_assert(wait_until(!master_has(masters, 2, "name"), 100));
    ck_assert(wait_until((client_ready(one), client_stats(one).pending_releases == 0), 5000));
    ck_assert(!master_has(masters, 2, "name"));
    redlock_close(one);
}

TEST(peer_cases_a, a21_majority_beside_error_is_success, .rows = 3)
{
    open_fakes(3, NULL);
    rule_for((unsigned)_i, 1, (struct fake_rule){.reply = "-ERR broken\r\n"});
    for (unsigned i = 0; i < 3; i++) { /* the error comes first */
        if (i != (unsigned)_i)
            rule_for(i, 1, (struct fake_rule){.delay_ms = 50});
    }
    ck_assert_int_eq(client_try(one, "name", 0, 0, &report, &lock), 0);
    ck_assert_uint_eq(report.granted, 2);
    ck_assert_uint_eq(report.failed, 1);
    ck_assert_int_eq(redlock_release(lock), 0);
    redlock_close(one);
}

/* The greeting takes longer than the whole ttl: it is not part of the round. */
TEST(peer_cases_a, a22_connecting_has_its_own_budget)
{
    fakes_start(fakes, 3);
    for (unsigned i = 0; i < 3; i++)
        fake_rule(fakes[i], &(struct fake_rule){.match = "INFO*", .delay_ms = 1200});
    one = client_open(fakes_file(fakes, 3, "connect-timeout 3s\n"));
    ck_assert_int_eq(client_try(one, "name", 1000, 0, &report, &lock), 0);
    ck_assert_int_gt(redlock_validity_ms(lock), 150);
    ck_assert_int_eq(redlock_release(lock), 0);
    redlock_close(one);
}

/* They began to evict after they had been asked for their votes. */
TEST(peer_cases_a, a23_evicted_locks_are_told_as_lost)
{
    masters = masters_start(3, NULL);
    one = client_open(masters_file(masters, NULL));
    two = NULL;
    lock = client_take(one, "name");
    ck_assert(wait_until(masters_with(masters, "name") == 3, 5000));
    for (unsigned i = 0; i < 2; i++) {
        master_do(masters, i, "CONFIG", "SET", "maxmemory-policy", "allkeys-random",
                  "maxmemory", "1", NULL);
        master_do(masters, i, "SET", "other", "x", NULL); /* makes room for itself */
        ck_assert(wait_until(!master_has(masters, i, "name"), 5000));
        master_do(masters, i, "CONFIG", "SET", "maxmemory", "0", NULL);
    }
    client_ready(one);
    ck_assert_int_eq(redlock_extend(lock, 20000, NULL), REDLOCK_EEXPIRED);
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    close_clients();
}

CASE(peer_cases_a, .timeout_s = 120)
