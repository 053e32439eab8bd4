/* hold_space_check.c - of a state of the small world: what must not be, and what makes two of
 * them the same. See hold_space.h. */
#include "config_auto.h"

#include "hold_space.h"

/* ---- what must not be ------------------------------------------------------------------ */

static bool valid(const struct space_state *state, unsigned h)
{
    return state->hold[h].phase == RL_HOLD_HELD && state->now_ns < state->hold[h].deadline_ns;
}

const char *space_wrong(const struct space *space, const struct space_state *state)
{
    unsigned valid_count = 0;
    for (unsigned h = 0; h < space->holds; h++) {
        const struct rl_hold *hold = &state->hold[h];
        unsigned mine = 0, queued = 0;
        for (unsigned i = 0; i < space->n; i++) {
            mine += state->node[i].owner == 1 + h;
            queued += state->link[h][i][0].count + state->link[h][i][1].count;
        }
        valid_count += valid(state, h);
        if (valid(state, h) && mine < rl_quorum_needed(space->n))
            return "valid without a majority of the keys";
        if (rl_hold_settled(hold, state->now_ns) && mine > 0)
            return "settled, and a key is left";
        if (rl_hold_settled(hold, state->now_ns) && queued > 0)
            return "settled, and something is under way";
        if ((hold->phase == RL_HOLD_HELD) != (hold->deadline_ns != 0))
            return "a deadline that is none";
    }
    return valid_count > 1 ? "two that are valid at once" : NULL;
}

/* ---- what makes states the same -------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

/* From now; all that is long past is the same. */
static uint64_t from_now(const struct space *space, const struct space_state *state,
                         int64_t at_ns)
{
    int64_t from = at_ns - state->now_ns;
    int64_t least = -(space->ttl_ns + STEP);
    return (uint64_t)(from < least ? least : from);
}

/* What all nodes share of a hold. */
static uint64_t mix_hold(const struct space *space, const struct space_state *state,
                         uint64_t hash, const struct rl_hold *hold)
{
    const struct rl_round *round = hold->phase == RL_HOLD_ASKING ? &hold->ask
                                   : hold->extending             ? &hold->extend
                                   : hold->releasing             ? &hold->release
                                                                 : NULL;
    hash = mix(hash, (uint64_t)hold->phase | (uint64_t)hold->extending << 4 |
                         (uint64_t)hold->releasing << 5);
    if (round) {
        hash = mix(hash, from_now(space, state, round->t0_ns));
        hash = mix(hash, from_now(space, state, round->node_deadline_ns));
    }
    if (hold->phase == RL_HOLD_HELD) {
        hash = mix(hash, from_now(space, state, hold->deadline_ns));
        /* Of an extension that is over, only whether it was won still matters. */
        if (!hold->extending && hold->extend.n > 0)
            hash = mix(hash, (uint64_t)rl_round_verdict(&hold->extend));
    }
    if (hold->phase == RL_HOLD_ENDING)
        hash = mix(hash, from_now(space, state, hold->release_due_until_ns));
    return hash;
}

/* What is at one node of a hold: its bit in every set. */
static uint64_t mix_bits(uint64_t hash, const struct rl_hold *hold, unsigned i)
{
    const struct rl_round none = {0};
    const struct rl_round *round = hold->phase == RL_HOLD_ASKING ? &hold->ask
                                   : hold->extending             ? &hold->extend
                                   : hold->releasing             ? &hold->release
                                                                 : &none;
    const uint64_t sets[] = {
        round->yes,
        round->no,
        round->failed,
        hold->not_asked_yet,
        hold->retake,
        hold->maybe_set,
        hold->uncertain,
        hold->release_due,
        hold->acquire_inflight[0],
        hold->acquire_inflight[1],
        hold->release_inflight[0],
        hold->release_inflight[1],
        hold->this_round[0] & hold->acquire_inflight[0],
        hold->this_round[1] & hold->acquire_inflight[1],
        hold->releasing ? hold->release_asked : 0,
    };
    uint64_t bits = 1;
    for (unsigned k = 0; k < sizeof(sets) / sizeof(sets[0]); k++)
        bits = bits << 1 | (sets[k] >> i & 1);
    return mix(hash, bits);
}

static uint64_t mix_links(uint64_t hash, const struct space_state *state, unsigned h,
                          unsigned i)
{
    hash = mix(hash, state->current[h][i]);
    for (unsigned slot = 0; slot < RL_SLOTS; slot++) {
        const struct space_link *link = &state->link[h][i][slot];
        uint64_t word = (uint64_t)link->down << 1 | 1;
        for (unsigned k = 0; k < link->count; k++)
            word = word << 8 | (uint64_t)link->queue[k].again << 7 |
                   (uint64_t)link->queue[k].verb << 4 |
                   (uint64_t)link->queue[k].answered << 3 |
                   (uint64_t)link->queue[k].vote << 1 | 1;
        hash = mix(hash, word);
    }
    return hash;
}

/* The state with its holds counted from `first`. Nodes of the same sort may change places:
 * theirs are added up, in no order. */
static uint64_t hash_from(const struct space *space, const struct space_state *state,
                          unsigned first)
{
    uint64_t hash = 1, sum = 0;
    for (unsigned k = 0; k < space->holds; k++)
        hash = mix_hold(space, state, hash, &state->hold[(first + k) % space->holds]);
    for (unsigned i = 0; i < space->n; i++) {
        const struct space_node *node = &state->node[i];
        uint64_t at = (space->breaks >> i & 1) << 1 | (space->downs >> i & 1) << 2 |
                      (space->drains >> i & 1) << 3 | (space->lazy >> i & 1) << 4 | 1;
        bool ours = node->owner && node->owner != STRANGER;
        unsigned owner = ours ? (node->owner - 1u + space->holds - first) % space->holds + 1
                              : node->owner;
        at = mix(at, owner);
        at = mix(at, ours ? from_now(space, state, node->expires_ns) : 0);
        for (unsigned k = 0; k < space->holds; k++) {
            unsigned h = (first + k) % space->holds;
            at = mix_bits(at, &state->hold[h], i);
            at = mix_links(at, state, h, i);
        }
        sum += mix(at, at >> 32);
    }
    return mix(hash, sum);
}

uint64_t space_hash(const struct space *space, const struct space_state *state)
{
    uint64_t hash = hash_from(space, state, 0);
    for (unsigned first = 1; first < space->holds; first++) {
        uint64_t other = hash_from(space, state, first);
        if (other < hash)
            hash = other;
    }
    return hash;
}
