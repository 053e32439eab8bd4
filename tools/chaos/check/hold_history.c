/* hold_history.c - from events to holds and tries.
 *
 * A hold begins at HOLDS and ends at the first of LETS_GO, LOSES and until_ns. A second HOLDS
 * without ASKS before it prolongs the same hold. ASKS during a hold of the same seat and name
 * means that the contender was killed and replaced. Nobody released that hold, so it counts
 * until its time is over. */
#include "config_auto.h"

#include "chaos/check/hold_history.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A seat's current hold and try of one name; indices + 1, 0: none. */
struct seat {
    size_t hold, try;
    bool asks; /* the try is under way, else it was refused and may go on */
};

/* A contender that is refused and asks again so soon has never stopped wanting the lock. */
#define ASKS_AGAIN_NS (1 * CHAOS_S)

void *chaos_room(size_t count, size_t size)
{
    if (count == 0)
        return NULL;
    void *room = calloc(count, size);
    if (room == NULL) {
        fputs("redlock-chaos: no memory left\n", stderr);
        abort();
    }
    return room;
}

static void ask(struct chaos_hold_history *hold_history, struct seat *seat,
                const struct chaos_event *event)
{
    seat->hold = 0;
    if (seat->try != 0 && !seat->asks) {
        struct chaos_try *last = &hold_history->try[seat->try - 1];
        seat->asks =
            event->at_ns - last->to_ns <= ASKS_AGAIN_NS && last->joint == (event->joint != 0);
        if (seat->asks) {
            last->to_ns = INT64_MAX;
            return;
        }
    } else if (seat->try != 0) {
        hold_history->try[seat->try - 1].to_ns =
            event->at_ns; /* of a contender that was killed */
    }
    hold_history->try[hold_history->try_count++] = (struct chaos_try){
        .from_ns = event->at_ns,
        .to_ns = INT64_MAX,
        .client = event->client,
        .name = event->name,
        .joint = event->joint,
    };
    seat->try = hold_history->try_count;
    seat->asks = true;
}

static void hold(struct chaos_hold_history *hold_history, struct seat *seat,
                 const struct chaos_event *event)
{
    if (seat->hold != 0) {
        struct chaos_hold *mine = &hold_history->hold[seat->hold - 1];
        mine->until_ns = mine->end_ns = event->until_ns;
        return;
    }
    int64_t asked_ns = event->at_ns;
    if (seat->asks) {
        hold_history->try[seat->try - 1].to_ns = event->at_ns;
        asked_ns = hold_history->try[seat->try - 1].from_ns;
    }
    seat->try = 0;
    seat->asks = false;
    hold_history->hold[hold_history->hold_count++] = (struct chaos_hold){
        .asked_ns = asked_ns,
        .at_ns = event->at_ns,
        .until_ns = event->until_ns,
        .end_ns = event->until_ns > event->at_ns ? event->until_ns : event->at_ns,
        .token = event->token,
        .asked = event->asked,
        .key = event->value,
        .client = event->client,
        .name = event->name,
        .ending = CHAOS_RAN_OUT,
        .shared = event->shared,
    };
    seat->hold = hold_history->hold_count;
}

static void end(struct chaos_hold_history *hold_history, struct seat *seat,
                const struct chaos_event *event, enum chaos_ending ending)
{
    if (seat->hold == 0)
        return;
    struct chaos_hold *mine = &hold_history->hold[seat->hold - 1];
    seat->hold = 0;
    if (event->at_ns > mine->end_ns)
        return;
    mine->end_ns = event->at_ns;
    mine->ending = (uint8_t)ending;
}

static void take(struct chaos_hold_history *hold_history, struct seat *seat,
                 const struct chaos_event *event)
{
    switch ((enum chaos_what)event->what) {
    case CHAOS_ASKS:
        ask(hold_history, seat, event);
        break;
    case CHAOS_HOLDS:
        hold(hold_history, seat, event);
        break;
    case CHAOS_REFUSED:
        hold_history->refusals++;
        if (seat->asks)
            hold_history->try[seat->try - 1].to_ns = event->at_ns;
        seat->asks = false;
        break;
    case CHAOS_LETS_GO:
        end(hold_history, seat, event, CHAOS_LET_GO);
        break;
    case CHAOS_LOSES:
        hold_history->losses++;
        end(hold_history, seat, event, CHAOS_LOST);
        break;
    case CHAOS_WRITES:
        hold_history->writes++;
        break;
    case CHAOS_READS:
    case CHAOS_STALE:
    case CHAOS_RELEASED:
        break;
    }
}

/* Sort by name. Within a name the order of time stays. */
static void sort_holds(struct chaos_hold_history *hold_history)
{
    struct chaos_hold *sorted = chaos_room(hold_history->hold_count, sizeof(*sorted));
    size_t place[CHAOS_NAMES_MAX];
    for (size_t i = 0; i < hold_history->hold_count; i++)
        hold_history->first_hold[hold_history->hold[i].name + 1]++;
    for (size_t n = 0; n < CHAOS_NAMES_MAX; n++)
        hold_history->first_hold[n + 1] += hold_history->first_hold[n];
    memcpy(place, hold_history->first_hold, sizeof(place));
    for (size_t i = 0; i < hold_history->hold_count; i++)
        sorted[place[hold_history->hold[i].name]++] = hold_history->hold[i];
    free(hold_history->hold);
    hold_history->hold = sorted;
}

static void sort_tries(struct chaos_hold_history *hold_history)
{
    struct chaos_try *sorted = chaos_room(hold_history->try_count, sizeof(*sorted));
    size_t place[CHAOS_NAMES_MAX];
    for (size_t i = 0; i < hold_history->try_count; i++)
        hold_history->first_try[hold_history->try[i].name + 1]++;
    for (size_t n = 0; n < CHAOS_NAMES_MAX; n++)
        hold_history->first_try[n + 1] += hold_history->first_try[n];
    memcpy(place, hold_history->first_try, sizeof(place));
    for (size_t i = 0; i < hold_history->try_count; i++)
        sorted[place[hold_history->try[i].name]++] = hold_history->try[i];
    free(hold_history->try);
    hold_history->try = sorted;
}

void chaos_hold_history_read(const struct chaos_history *history,
                             struct chaos_hold_history *ret_history)
{
    size_t holds = 0, tries = 0;
    for (size_t i = 0; i < history->event_count; i++) {
        assert(history->events[i].client < CHAOS_CLIENTS_MAX);
        assert(history->events[i].name < CHAOS_NAMES_MAX);
        assert(i == 0 || history->events[i - 1].at_ns <= history->events[i].at_ns);
        holds += history->events[i].what == CHAOS_HOLDS;
        tries += history->events[i].what == CHAOS_ASKS;
    }
    *ret_history = (struct chaos_hold_history){
        .hold = chaos_room(holds, sizeof(struct chaos_hold)),
        .try = chaos_room(tries, sizeof(struct chaos_try)),
    };
    struct seat *seats =
        chaos_room((size_t)CHAOS_CLIENTS_MAX * CHAOS_NAMES_MAX, sizeof(struct seat));
    for (size_t i = 0; i < history->event_count; i++) {
        const struct chaos_event *event = &history->events[i];
        take(ret_history, &seats[event->client * CHAOS_NAMES_MAX + event->name], event);
    }
    free(seats);
    for (size_t i = 0; i < ret_history->try_count; i++)
        if (ret_history->try[i].to_ns > history->duration_ns)
            ret_history->try[i].to_ns = history->duration_ns;
    sort_holds(ret_history);
    sort_tries(ret_history);
}

void chaos_hold_history_free(struct chaos_hold_history *hold_history)
{
    free(hold_history->hold);
    free(hold_history->try);
    *hold_history = (struct chaos_hold_history){0};
}

const struct chaos_hold *chaos_hold_history_at(const struct chaos_hold_history *hold_history,
                                               unsigned name, unsigned client, int64_t at_ns)
{
    size_t low = hold_history->first_hold[name], high = hold_history->first_hold[name + 1];
    while (low < high) { /* to the first that began later */
        size_t middle = low + (high - low) / 2;
        if (hold_history->hold[middle].at_ns <= at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    while (low > hold_history->first_hold[name])
        if (hold_history->hold[--low].client == client)
            return &hold_history->hold[low];
    return NULL;
}
