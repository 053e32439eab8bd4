/* test_end_of_wait.c - forty threads that wait for one name, too briefly to get it: what are
 * they told? Beside busy loops with all masters well, and with three of five stopped.
 *
 * END_OF_WAIT_FAILED=1000 goes on until so many waits have failed; each test tells how. */
#include "config_auto.h"

#include "clients.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { WAITERS = 40, LOOPS = 4, WAIT_MS = 200, HOLD_MS = 10, FAILED = 240, CODES = 32 };

static atomic_int told[CODES]; /* waits that ended so, by the code's number */
static atomic_int late;        /* of ENOQUORUM: a majority granted, too late */
static atomic_int failed;
static atomic_bool over;

static void *wait_and_hold(void *unused)
{
    while (!atomic_load(&over)) {
        redlock_node_vote votes[5];
        redlock_report why = REDLOCK_REPORT_INIT(votes, 5);
        redlock_lock *lock;
        int code = client_try(one, "hot", 10000, WAIT_MS, &why, &lock);
        told[-code]++;
        failed += code != 0;
        late += code == REDLOCK_ENOQUORUM && why.granted >= why.needed;
        if (code != 0)
            continue;
        pause_ms(HOLD_MS);
        redlock_release(lock);
    }
    return unused;
}

static void *compute(void *unused)
{
    for (volatile unsigned long turns = 0; !atomic_load(&over); turns++)
        continue;
    return unused;
}

/* Until enough waits have failed. */
static void wait_in_vain(unsigned loops)
{
    pthread_t thread[WAITERS + LOOPS];
    const char *asked = getenv("END_OF_WAIT_FAILED");
    int enough = asked ? atoi(asked) : FAILED;
    for (unsigned i = 0; i < WAITERS + loops; i++)
        ck_assert_int_eq(
            pthread_create(&thread[i], NULL, i < WAITERS ? wait_and_hold : compute, NULL), 0);
    while (atomic_load(&failed) < enough)
        pause_ms(20);
    over = true;
    for (unsigned i = 0; i < WAITERS + loops; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < CODES; i++)
        if (told[i] > 0)
            printf("%s %d; ", redlock_err_name(-i), told[i]);
    printf("of ENOQUORUM %d came too late\n", late);
}

TEST(end_of_wait, busy_machine_is_no_lack_of_masters)
{
    OPEN_CLIENTS(5, NULL);
    wait_in_vain(LOOPS);
    ck_assert_int_eq(told[-REDLOCK_ENOQUORUM], late);
    ck_assert_int_gt(told[0], 0);
    ck_assert_int_eq(failed, told[-REDLOCK_EHELD] + told[-REDLOCK_EUNDECIDED] + late);
}

TEST(end_of_wait, stopped_masters_are_no_holder)
{
    OPEN_CLIENTS(5, NULL);
    for (unsigned i = 0; i < 3; i++)
        master_pause(masters, i);
    wait_in_vain(0);
    ck_assert_int_eq(told[-REDLOCK_EHELD], 0);
    ck_assert_int_gt(told[-REDLOCK_ENOQUORUM], 0);
    ck_assert_int_eq(failed, told[-REDLOCK_ENOQUORUM] + told[-REDLOCK_EUNDECIDED]);
    for (unsigned i = 0; i < 3; i++)
        master_resume(masters, i);
}

CASE(end_of_wait, .timeout_s = 60)
