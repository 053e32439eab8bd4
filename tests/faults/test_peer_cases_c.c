/* test_peer_cases_c.c - what went wrong for the users of other quorum locks when giving one
 * back; each test is named after its case. */
#include "config_auto.h"

#include "clients.h"
#include "proxy.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static redlock_node_vote report_votes[REDLOCK_NODES_MAX];
static redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
static redlock_lock *lock;

/* Taken, and granted by all three. */
static redlock_lock *take_on_all(const char *name)
{
    redlock_lock *taken = client_take(one, name);
    ck_assert(wait_until(masters_with(masters, name) == 3, 5000));
    client_ready(one);
    return taken;
}

TEST(peer_cases_c, c47_release_leaves_anothers_lock_alone)
{
    OPEN_CLIENTS(3, NULL);
    lock = take_on_all("name");
    for (unsigned i = 0; i < 3; i++)
        master_do(masters, i, "DEL", "name", NULL);
    redlock_lock *rival = client_take(two, "name");
    ck_assert(wait_until(masters_with(masters, "name") == 3, 5000));
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_str_eq(master_do(masters, i, "GET", "name", NULL).text, redlock_token(rival));
    ck_assert_int_gt(redlock_validity_ms(rival), 0);
    ck_assert_int_eq(redlock_release(rival), 0);
}

TEST(peer_cases_c, c48_release_after_end_says_expired_at_once)
{
    OPEN_CLIENTS(3, NULL);
    ck_assert_int_eq(client_try(one, "name", 600, 0, NULL, &lock), 0);
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    int64_t begun = now_ms();
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    ck_assert_int_lt(now_ms() - begun, 1000);
}

/* Expired is what it is, too, where nobody can be asked any more. */
TEST(peer_cases_c, c48_b_and_is_not_taken_for_failure_of_masters)
{
    OPEN_CLIENTS(3, NULL);
    ck_assert_int_eq(client_try(one, "name", 600, 0, NULL, &lock), 0);
    ck_assert(wait_until(redlock_validity_ms(lock) == 0, 5000));
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
    master_kill(masters, 0);
    int64_t begun = now_ms();
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    ck_assert_int_lt(now_ms() - begun, 1500);
}

TEST(peer_cases_c, c50_after_unknown_release_next_lock_is_fresh_one)
{
    char token[200];
    OPEN_CLIENTS(3, "node-timeout 100ms\n");
    lock = take_on_all("name");
    snprintf(token, sizeof(token), "%s", redlock_token(lock));
    for (unsigned i = 0; i < 3; i++)
        master_pause(masters, i);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EUNCONFIRMED);
    lock = NULL;
    ck_assert_int_eq(client_try(one, "name", 0, 0, &report, &lock), REDLOCK_ENOQUORUM);
    ck_assert_ptr_null(lock);
    for (unsigned i = 0; i < 3; i++)
        master_resume(masters, i);
    int code = client_try(one, "name", 0, 5000, &report, &lock);
    ck_assert_msg(code == 0, "%d: %s", code, client_told(&report));
    ck_assert_str_ne(redlock_token(lock), token);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert(wait_until((client_ready(one), masters_with(masters, "name") == 0), 5000));
}

static unsigned threads(void)
{
    unsigned count = 0;
    DIR *dir = opendir("/proc/self/task");
    while (dir && readdir(dir))
        count++;
    closedir(dir);
    return count;
}

TEST(peer_cases_c, c51_release_returns_at_quorum_and_is_finished_later, .rows = 3)
{
    struct node_list list = {.len = 0};
    masters = masters_start(3, NULL);
    struct proxy *proxy = proxy_start(&masters->node[_i].unix_at, true);
    node_list_line(&list, "guard off");
    for (unsigned i = 0; i < 3; i++)
        node_list_add(&list,
                      i == (unsigned)_i ? proxy_endpoint(proxy) : &masters->node[i].unix_at);
    one = client_open(node_list_write(&list));
    two = NULL;
    ck_assert(wait_until(client_ready(one) == 3, 5000));
    lock = take_on_all("name");
    unsigned before = threads();
    proxy_limit(proxy, PROXY_ALL, PROXY_THERE, 0);
    int64_t begun = now_ms();
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_int_lt(now_ms() - begun, 1500); /* a node's share of the ttl would be 3.3 s */
    ck_assert(wait_until(masters_with(masters, "name") == 1, 5000));
    ck_assert_uint_eq(client_stats(one).pending_releases, 1);
    ck_assert_uint_le(threads(), before + 1); /* the client's own, however many are pending */

    proxy_limit(proxy, PROXY_ALL, PROXY_THERE, -1);
    ck_assert(wait_until(masters_with(masters, "name") == 0, 1000)); /* it was sent long ago */
    ck_assert(wait_until((client_ready(one), client_stats(one).pending_releases == 0), 5000));
    redlock_close(one);
}

TEST(peer_cases_c, c53_all_nodes_are_released_though_early_one_fails, .rows = 3)
{
    OPEN_CLIENTS(3, NULL);
    lock = take_on_all("name");
    master_kill(masters, (unsigned)_i);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
}

TEST(peer_cases_c, c54_cleaning_up_never_crashes)
{
    OPEN_CLIENTS(3, NULL);
    redlock_lock *locks[3] = {take_on_all("a"), take_on_all("b"), take_on_all("c")};
    for (unsigned i = 0; i < 3; i++)
        master_kill(masters, i);
    ck_assert_int_eq(redlock_release(NULL), 0);
    ck_assert_int_eq(redlock_release(locks[0]), REDLOCK_EUNCONFIRMED);
    ck_assert_int_eq(redlock_release(locks[1]), REDLOCK_EUNCONFIRMED);
    redlock_close(one); /* with one still held */
    one = NULL;
    redlock_close(NULL);
    redlock_shutdown(NULL);
}

TEST(peer_cases_c, c55_second_release_says_not_held)
{
    OPEN_CLIENTS(3, NULL);
    lock = take_on_all("name");
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_ENOTHELD);
    ck_assert_int_eq(redlock_extend(lock, 0, NULL), REDLOCK_ENOTHELD);
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    char text[REDLOCK_HANDLE_MAX];
    ck_assert_int_eq(redlock_detach(lock, text, sizeof(text)), REDLOCK_ENOTHELD);
    /* Nor does the stale handle give away what was taken next. */
    redlock_lock *next = client_take(one, "name");
    ck_assert_int_eq(redlock_release(lock), REDLOCK_ENOTHELD);
    ck_assert_int_gt(redlock_validity_ms(next), 0);
    ck_assert_int_eq(redlock_release(next), 0);
}

static void *wait_for_name(void *ret_code)
{
    redlock_lock *mine = NULL;
    *(int *)ret_code = client_try(two, "name", 0, 10000, NULL, &mine);
    redlock_release(mine);
    return NULL;
}

TEST(peer_cases_c, c56_forced_release_lets_waiters_in)
{
    int code = -100;
    pthread_t thread;
    OPEN_CLIENTS(3, NULL);
    lock = take_on_all("name");
    uint64_t before = client_stats(two).rounds;
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_name, &code), 0);
    ck_assert(wait_until(client_stats(two).rounds > before + 2, 5000));
    ck_assert_int_eq(redlock_force_release_n(one, "name", 4, REDLOCK_OFF, NULL), 0);
    int64_t begun = now_ms();
    pthread_join(thread, NULL);
    ck_assert_int_eq(code, 0);
    ck_assert_int_lt(now_ms() - begun, 2000); /* of the 10 s that the holder had left */
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
}

CASE(peer_cases_c, .timeout_s = 60)
