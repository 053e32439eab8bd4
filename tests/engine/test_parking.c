/* tags: threads */
/* test_parking.c - threads that sleep in a park: who is woken, and by how many system calls. */
#include "config_auto.h"

#include "base/clock.h"
#include "base/limits.h"
#include "engine/client/parking.h"
#include "suite.h"

#include <pthread.h>

enum { SLEEPERS = 2 * RL_PARK_PLACES };

static struct rl_parking parking;
static struct rl_parked *places[SLEEPERS];
static pthread_t threads[SLEEPERS];
static bool woken[SLEEPERS];

static void *sleep_there(void *argument)
{
    size_t i = (size_t)argument;
    struct timespec until = rl_clock_limit(CLOCK_MONOTONIC, 60 * RL_NS_PER_S);
    woken[i] = rl_parked_sleep(places[i], &until);
    return NULL;
}

static void begin(unsigned sleepers)
{
    for (size_t i = 0; i < sleepers; i++) {
        places[i] = rl_parking_take(&parking);
        rl_parked_prepare(places[i]);
        ck_assert_int_eq(pthread_create(&threads[i], NULL, sleep_there, (void *)i), 0);
    }
}

/* Those from `first` on, each `step`-th: returns the number of system calls. */
static unsigned wake(unsigned first, unsigned step, unsigned sleepers)
{
    struct rl_wakings wakings;
    for (unsigned i = first; i < sleepers; i += step)
        rl_parked_to_wake(&parking, places[i]);
    ck_assert(!rl_parking_wakings(&parking, &wakings));
    rl_wakings_ring(&wakings);
    for (unsigned i = first; i < sleepers; i += step) {
        pthread_join(threads[i], NULL);
        ck_assert(woken[i]);
    }
    return wakings.count;
}

TEST(parking, one_call_wakes_all_that_are_done)
{
    begin(RL_PARK_PLACES);
    ck_assert_uint_eq(wake(0, 2, RL_PARK_PLACES), 1);
    for (unsigned i = 1; i < RL_PARK_PLACES; i += 2)
        ck_assert(!woken[i] && !atomic_load(&places[i]->woken));
    ck_assert_uint_eq(wake(1, 2, RL_PARK_PLACES), 1);
    rl_parking_done(&parking);
}

TEST(parking, each_park_costs_one_call)
{
    begin(SLEEPERS);
    ck_assert_uint_eq(wake(0, 1, SLEEPERS), SLEEPERS / RL_PARK_PLACES);
    rl_parking_done(&parking);
}

/* The word may change before its thread sleeps on it, and it may go on before it is rung for.
 */
TEST(parking, no_waking_is_lost_nor_kept)
{
    struct rl_wakings wakings;
    struct timespec soon = rl_clock_limit(CLOCK_MONOTONIC, RL_NS_PER_MS);
    struct rl_parked *place = rl_parking_take(&parking);
    rl_parked_prepare(place);
    rl_parked_to_wake(&parking, place);
    ck_assert(!rl_parking_wakings(&parking, &wakings));
    ck_assert(rl_parked_sleep(place, &soon)); /* and nobody has rung */
    rl_parked_prepare(place);
    rl_wakings_ring(&wakings);
    ck_assert(!rl_parked_sleep(place, &soon));
    rl_parked_to_wake(&parking, place);
    rl_parking_give(&parking, place); /* its time was over before */
    ck_assert(!rl_parking_wakings(&parking, &wakings));
    ck_assert_uint_eq(wakings.count, 0);
    rl_parking_done(&parking);
}

TEST(parking, more_parks_than_are_woken_at_once)
{
    struct rl_wakings wakings;
    struct rl_parked *place;
    for (unsigned i = 0; i <= RL_PARKS_AT_ONCE * RL_PARK_PLACES; i++) {
        place = rl_parking_take(&parking);
        rl_parked_prepare(place);
        rl_parked_to_wake(&parking, place);
    }
    ck_assert(rl_parking_wakings(&parking, &wakings));
    ck_assert_uint_eq(wakings.count, RL_PARKS_AT_ONCE);
    ck_assert(!rl_parking_wakings(&parking, &wakings));
    ck_assert_uint_eq(wakings.count, 1);
    rl_parking_done(&parking);
}

CASE(parking, .timeout_s = 120)
