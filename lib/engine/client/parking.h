/* parking.h - where threads sleep while another one leads. Threads whose calls are done are
 * woken together, by one system call for the 32 at most that share a word. So no woken thread
 * interrupts the thread that wakes the next. */
#ifndef RL_PARKING_H
#define RL_PARKING_H

#include "base/list.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define RL_PARK_PLACES 32  /* the bits that the kernel tells threads apart by */
#define RL_PARKS_AT_ONCE 8 /* woken in one go */

struct rl_park;

/* A thread's place. */
struct rl_parked {
    struct rl_entry entry; /* spare, or in none */
    struct rl_park *park;
    uint32_t bit;
    atomic_bool woken;
};

struct rl_park {
    struct rl_entry entry;
    atomic_uint wakings; /* the word: changes before any of them is woken */
    uint32_t to_wake;    /* the places whose threads must be woken */
    struct rl_parked places[RL_PARK_PLACES];
};

/* The client's mutex guards it, but for the sleep itself. */
struct rl_parking {
    struct rl_list parks, spare;
    bool to_wake; /* any */
};

/* Whom to wake. The memory that it names is not looked at. */
struct rl_wakings {
    unsigned count;
    struct {
        atomic_uint *word;
        uint32_t bits;
    } of[RL_PARKS_AT_ONCE];
};

/* A place; NULL: no memory. And give it back. */
struct rl_parked *rl_parking_take(struct rl_parking *parking);
void rl_parking_give(struct rl_parking *parking, struct rl_parked *parked);
void rl_parking_done(struct rl_parking *parking);

/* Before the mutex is dropped; then sleep without it. False: the time is over. */
void rl_parked_prepare(struct rl_parked *parked);
bool rl_parked_sleep(struct rl_parked *parked, const struct timespec *until);

/* Its thread must be woken: it is by the next rl_wakings_ring(). */
void rl_parked_to_wake(struct rl_parking *parking, struct rl_parked *parked);

/* Take threads that must be woken. True: there are more. They must be rung for, with the mutex
 * or better without, because they will ask for the mutex. */
bool rl_parking_wakings(struct rl_parking *parking, struct rl_wakings *ret_wakings);
void rl_wakings_ring(const struct rl_wakings *wakings);

#endif
