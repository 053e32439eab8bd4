/* parking.c - see parking.h. */
#include "config_auto.h"

#include "engine/client/parking.h"

#include "base/futex.h"

#include <assert.h>
#include <stdlib.h>

struct rl_parked *rl_parking_take(struct rl_parking *parking)
{
    struct rl_entry *spare = rl_list_pop(&parking->spare);
    if (spare)
        return RL_ITEM(spare, struct rl_parked, entry);
    struct rl_park *park = calloc(1, sizeof(*park));
    if (!park)
        return NULL;
    rl_list_push(&parking->parks, &park->entry);
    for (unsigned i = 0; i < RL_PARK_PLACES; i++) {
        park->places[i].park = park;
        park->places[i].bit = (uint32_t)1 << i;
        rl_list_append(&parking->spare, &park->places[i].entry);
    }
    return RL_ITEM(rl_list_pop(&parking->spare), struct rl_parked, entry);
}

void rl_parking_give(struct rl_parking *parking, struct rl_parked *parked)
{
    parked->park->to_wake &= ~parked->bit; /* its time was over before it was woken */
    rl_list_push(&parking->spare, &parked->entry);
}

void rl_parking_done(struct rl_parking *parking)
{
    RL_EACH_FREED (struct rl_park, park, &parking->parks, entry)
        free(park);
}

void rl_parked_prepare(struct rl_parked *parked)
{
    assert(!(parked->park->to_wake & parked->bit));
    atomic_store(&parked->woken, false);
}

bool rl_parked_sleep(struct rl_parked *parked, const struct timespec *until)
{
    atomic_uint *word = &parked->park->wakings;
    for (bool in_time = true; in_time;) {
        unsigned seen = atomic_load(word); /* before the flag, which is set before it changes */
        if (atomic_load(&parked->woken))
            return true;
        in_time = rl_futex_wait(word, seen, parked->bit, until);
    }
    return false;
}

void rl_parked_to_wake(struct rl_parking *parking, struct rl_parked *parked)
{
    atomic_store(&parked->woken, true);
    parked->park->to_wake |= parked->bit;
    parking->to_wake = true;
}

bool rl_parking_wakings(struct rl_parking *parking, struct rl_wakings *ret_wakings)
{
    ret_wakings->count = 0;
    if (!parking->to_wake)
        return false;
    RL_EACH (struct rl_park, park, &parking->parks, entry) {
        if (!park->to_wake)
            continue;
        if (ret_wakings->count == RL_PARKS_AT_ONCE)
            return true;
        atomic_fetch_add(&park->wakings, 1);
        ret_wakings->of[ret_wakings->count].word = &park->wakings;
        ret_wakings->of[ret_wakings->count++].bits = park->to_wake;
        park->to_wake = 0;
    }
    parking->to_wake = false;
    return false;
}

void rl_wakings_ring(const struct rl_wakings *wakings)
{
    assert(wakings->count <= RL_PARKS_AT_ONCE);
    for (unsigned i = 0; i < wakings->count; i++)
        rl_futex_wake(wakings->of[i].word, wakings->of[i].bits);
}
