/* test_wait_idle.c - waiting for long: who is next, and will be told, asks seldom; and soon all
 * the same where the one who should tell can't be heard. */
#include "config_auto.h"

#include "wait_scene.h"

#include <stdio.h>

enum { NAMES = 60, SETTLED_MS = 3000, IDLE_MS = 4000 };

static struct waiter waiters[NAMES];
static redlock_lock *held[NAMES];

/* Each asked once in 1.25 s at least while it did not rely on being told, and asks once in 8 s
 * at most while it does: 0.8 and 0.125 a second. */
START_TEST(waiter_behind_holder_that_will_tell_asks_seldom)
{
    static char name[NAMES][16];
    open_masters(3);
    for (int i = 0; i < NAMES; i++) {
        snprintf(name[i], sizeof(name[i]), "name-%d", i);
        ck_assert_int_eq(client_try(one, name[i], 30000, 0, NULL, &held[i]), 0);
        waiter_start(&waiters[i], two, name[i], 60000);
    }
    pause_ms(SETTLED_MS);
    uint64_t rounds = client_stats(two).rounds;
    int64_t begun = now_ms();
    pause_ms(IDLE_MS);
    rounds = client_stats(two).rounds - rounds;
    double seconds = (double)(now_ms() - begun) / 1000;
    ck_assert_msg((double)rounds < 0.4 * seconds * (double)NAMES, "%d rounds in %.1f s", (int)rounds,
                  seconds);
    for (int i = 0; i < NAMES; i++) {
        ck_assert_int_eq(redlock_release(held[i]), 0);
        waiter_expect_lock(&waiters[i], 5000);
    }
    close_all();
}
END_TEST

START_TEST(deaf_waiter_asks_as_ever)
{
    struct proxy *proxy = open_with_proxy();
    int known = (int)proxy_connections(proxy);
    redlock_lock *lock = NULL;
    ck_assert_int_eq(client_try(one, "name", 30000, 0, NULL, &lock), 0);
    waiter_start(&waiter, two, "name", 60000);
    queue_becomes(masters, "name", 1);
    pause_ms(SETTLED_MS);
    proxy_limit(proxy, known, PROXY_BACK, 0); /* the one for wake-ups */
    ck_assert_int_eq(redlock_release(lock), 0);
    waiter_expect_lock(&waiter, 4500);
    close_all();
    proxy_stop(proxy);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wait_idle");
    TCase *tests = tcase_create("wait_idle");
    tcase_set_timeout(tests, 90);
    tcase_add_test(tests, waiter_behind_holder_that_will_tell_asks_seldom);
    tcase_add_test(tests, deaf_waiter_asks_as_ever);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
