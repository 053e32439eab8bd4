/* hold_space.c - see hold_space.h. */
#include "config_auto.h"

#include "hold_space.h"

#include <string.h>

/* A move under way: choices are numbered as they are met, and one of them is made. */
struct move {
    const struct space *space;
    struct space_state *state;
    unsigned left; /* choices to pass over */
    unsigned did;
};

#define CHOSEN UINT32_MAX /* `left` when the choice has been made */

static bool chosen(struct move *move)
{
    return move->left-- == 0;
}

void space_begin(const struct space *space, struct space_state *state)
{
    memset(state, 0, sizeof(*state));
    state->now_ns = 1000 * STEP;
    for (unsigned h = 0; h < space->holds; h++)
        rl_hold_init(&state->hold[h], space->n, space->ttl_ns, 0.0);
}

/* ---- masters --------------------------------------------------------------------------- */

static enum rl_vote run(const struct space *space, struct space_state *state, unsigned h,
                        unsigned i, enum rl_verb verb)
{
    struct space_node *node = &state->node[i];
    bool mine = node->owner == 1 + h;
    bool free = node->owner == 0;
    if (verb == RL_RELEASE) {
        if (mine)
            node->owner = 0;
        return mine ? RL_VOTE_YES : RL_VOTE_NO;
    }
    if (verb == RL_ACQUIRE ? !free : verb == RL_EXTEND ? !mine : !mine && !free)
        return RL_VOTE_NO;
    node->owner = (uint8_t)(1 + h);
    node->expires_ns = state->now_ns + space->ttl_ns;
    return RL_VOTE_YES;
}

/* ---- what a client does with its hold (lib/claim.c) ------------------------------------ */

static bool put(struct space_state *state, unsigned h, unsigned i, unsigned slot,
                enum rl_verb verb, bool again)
{
    struct space_link *link = &state->link[h][i][slot];
    if (link->down || link->count == SPACE_QUEUE)
        return false;
    link->queue[link->count++] = (struct space_request){.verb = (uint8_t)verb, .again = again};
    return true;
}

static unsigned send_taking(struct space_state *state, unsigned h, enum rl_verb verb,
                            uint64_t nodes, bool again)
{
    unsigned did = 0;
    for (; nodes; nodes &= nodes - 1) {
        unsigned i = rl_first(nodes);
        if (state->hold[h].phase == RL_HOLD_ENDING)
            break;
        if (put(state, h, i, state->active[h][i], verb, again))
            rl_hold_sent(&state->hold[h], i, state->active[h][i], verb, true);
        else
            did |= rl_hold_unsent(&state->hold[h], i, verb, state->now_ns);
    }
    return did;
}

static void send_release(struct space_state *state, unsigned h, unsigned i, unsigned slot)
{
    bool active = slot == state->active[h][i];
    if (rl_hold_wants_release(&state->hold[h], i, slot, active) &&
        put(state, h, i, slot, RL_RELEASE, true))
        rl_hold_sent(&state->hold[h], i, slot, RL_RELEASE, active);
}

static uint64_t able(const struct space *space, const struct space_state *state, unsigned h)
{
    uint64_t nodes = 0;
    for (unsigned i = 0; i < space->n; i++) {
        if (!state->link[h][i][state->active[h][i]].down)
            nodes |= rl_bit(i);
    }
    return nodes;
}

static uint64_t carried_in_use(const struct space *space, const struct space_state *state,
                               unsigned h)
{
    uint64_t nodes = 0;
    for (unsigned i = 0; i < space->n; i++)
        nodes |= state->hold[h].carry[state->active[h][i]] & rl_bit(i);
    return nodes;
}

static void react(struct move *move, unsigned h, unsigned did)
{
    const struct space *space = move->space;
    struct space_state *state = move->state;
    struct rl_hold *hold = &state->hold[h];
    move->did |= did;
    if (did & RL_WANTS_REST) {
        uint64_t rest = rl_hold_ask_rest(hold, able(space, state, h),
                                         state->now_ns + space->node_ns);
        unsigned more = send_taking(state, h, RL_ACQUIRE, rest, false);
        more |= rl_hold_tick(hold, state->now_ns);
        react(move, h, more);
    }
    if (did & RL_WANTS_RETAKE)
        send_taking(state, h, RL_RETAKE,
                    hold->retake & able(space, state, h) & ~carried_in_use(space, state, h),
                    true);
    for (unsigned i = 0; i < space->n; i++) {
        for (unsigned slot = 0; slot < RL_SLOTS; slot++) {
            if (!(space->lazy & rl_bit(i)))
                send_release(state, h, i, slot);
        }
    }
    if (rl_hold_settled(hold, state->now_ns) && !space_wrong(space, state))
        rl_hold_init(hold, space->n, space->ttl_ns, 0.0); /* the next token, and its life */
}

/* ---- moves ----------------------------------------------------------------------------- */

static void begin(struct move *move, unsigned h)
{
    const struct space *space = move->space;
    struct space_state *state = move->state;
    struct rl_hold *hold = &state->hold[h];
    uint64_t nodes = able(space, state, h);
    int first = -1;
    for (int i = -1; i < (space->ordered ? (int)space->n : 0); i++) {
        if (i >= 0 && !(nodes & rl_bit((unsigned)i)))
            continue;
        if (!chosen(move))
            continue;
        first = i;
        unsigned did = rl_hold_ask(hold, state->now_ns, state->now_ns + space->node_ns, nodes,
                                   first);
        did |= send_taking(state, h, RL_ACQUIRE, rl_hold_to_ask(hold), false);
        react(move, h, did);
        return;
    }
}

static void act(struct move *move, unsigned h)
{
    const struct space *space = move->space;
    struct space_state *state = move->state;
    struct rl_hold *hold = &state->hold[h];
    if (hold->phase == RL_HOLD_NEW) {
        begin(move, h);
        return;
    }
    if (hold->phase == RL_HOLD_HELD && !hold->extending && space->extends && chosen(move)) {
        unsigned did = rl_hold_extend(hold, state->now_ns, space->ttl_ns,
                                      state->now_ns + space->node_ns,
                                      able(space, state, h) & ~carried_in_use(space, state, h));
        did |= send_taking(state, h, RL_EXTEND, rl_hold_to_extend(hold), false);
        react(move, h, did);
        return;
    }
    if (hold->phase == RL_HOLD_ENDING)
        return;
    for (int waits = 0; waits <= (space->waits && hold->phase == RL_HOLD_HELD); waits++) {
        if (chosen(move)) {
            react(move, h,
                  rl_hold_release(hold, state->now_ns,
                                  waits ? state->now_ns + space->node_ns : 0));
            return;
        }
    }
}

/* Not executed: is the question still open? */
static bool still_wanted(const struct space_state *state, const struct rl_hold *hold,
                         unsigned i, enum rl_verb verb)
{
    if (verb == RL_ACQUIRE && (rl_hold_to_ask(hold) & rl_bit(i)))
        return true;
    if (verb == RL_EXTEND)
        return rl_hold_to_extend(hold) & rl_bit(i);
    return verb == RL_ACQUIRE && hold->phase == RL_HOLD_HELD &&
           !rl_hold_over(hold, state->now_ns);
}

static void deliver(struct move *move, unsigned h, unsigned i, unsigned slot)
{
    struct space_state *state = move->state;
    struct rl_hold *hold = &state->hold[h];
    struct space_link *link = &state->link[h][i][slot];
    struct space_request request = link->queue[0];
    link->count--;
    memmove(link->queue, link->queue + 1, link->count * sizeof(request));
    link->queue[link->count] = (struct space_request){0};
    enum rl_verb verb = (enum rl_verb)request.verb;
    unsigned did;
    if (request.vote == UNEXECUTED) {
        rl_hold_unexecuted(hold, i, slot, verb);
        did = rl_hold_tick(hold, state->now_ns);
        if (slot == state->active[h][i] && still_wanted(state, hold, i, verb))
            did |= send_taking(state, h, verb, rl_bit(i), true);
    } else {
        did = rl_hold_answer(hold, i, slot, verb, (enum rl_vote)request.vote, state->now_ns);
    }
    react(move, h, did);
}

/* The master gets the first `kept` of what it has not executed; the rest is gone. */
static void lose(struct move *move, unsigned h, unsigned i, unsigned slot, unsigned kept)
{
    struct space_state *state = move->state;
    struct space_link *link = &state->link[h][i][slot];
    unsigned lost = link->count;
    for (unsigned k = 0; k < link->count; k++) {
        if (!link->queue[k].answered && kept-- > 0)
            run(move->space, state, h, i, (enum rl_verb)link->queue[k].verb);
        else if (!link->queue[k].answered)
            break;
    }
    memset(link, 0, sizeof(*link));
    link->down = true;
    for (unsigned k = 0; k < lost; k++)
        react(move, h, rl_hold_link_lost(&state->hold[h], i, slot, state->now_ns));
    link->down = (move->space->downs & rl_bit(i)) && slot == state->active[h][i];
    react(move, h, 0);
}

static void on_link(struct move *move, unsigned h, unsigned i, unsigned slot)
{
    const struct space *space = move->space;
    struct space_state *state = move->state;
    struct space_link *link = &state->link[h][i][slot];
    unsigned next = 0;
    while (next < link->count && link->queue[next].answered)
        next++;
    if (next < link->count) {
        struct space_request *request = &link->queue[next];
        unsigned vote = 0;
        if (chosen(move))
            vote = run(space, state, h, i, (enum rl_verb)request->verb);
        else if (space->errors && chosen(move))
            vote = RL_VOTE_FAILED;
        else if (space->scripts && !request->again && chosen(move))
            vote = UNEXECUTED;
        if (move->left == CHOSEN) {
            request->answered = true;
            request->vote = (uint8_t)vote;
            return;
        }
    }
    if (next > 0 && chosen(move)) {
        deliver(move, h, i, slot);
        return;
    }
    if ((space->breaks & rl_bit(i)) && link->count > 0) {
        for (unsigned kept = 0; kept <= link->count - next; kept++) {
            if (chosen(move)) {
                lose(move, h, i, slot, kept);
                return;
            }
        }
    }
    if (link->down && chosen(move)) {
        link->down = false;
        react(move, h, 0);
        return;
    }
    if ((space->lazy & rl_bit(i)) && !link->down &&
        rl_hold_wants_release(&state->hold[h], i, slot, slot == state->active[h][i]) &&
        chosen(move)) {
        send_release(state, h, i, slot);
        return;
    }
    if ((space->drains & rl_bit(i)) && slot == state->active[h][i] && link->count > 0 &&
        state->link[h][i][1 - slot].count == 0 && chosen(move)) {
        state->active[h][i] = (uint8_t)(1 - slot);
        rl_hold_link_drains(&state->hold[h], i, slot);
        react(move, h, 0);
    }
}

static void others(struct move *move, unsigned i)
{
    struct space_node *node = &move->state->node[i];
    if (move->space->strangers && (node->owner == 0 || node->owner == STRANGER) && chosen(move))
        node->owner = node->owner ? 0 : STRANGER;
    else if (move->space->amnesia && node->owner && chosen(move))
        node->owner = 0;
}

static void pass(struct move *move)
{
    struct space_state *state = move->state;
    state->now_ns += STEP;
    for (unsigned i = 0; i < move->space->n; i++) {
        struct space_node *node = &state->node[i];
        if (node->owner && node->owner != STRANGER && state->now_ns >= node->expires_ns)
            node->owner = 0; /* not a moment later than any master would */
    }
}

/* Look at the clock: may come long after the time has passed, or never. */
static void look(struct move *move, unsigned h)
{
    struct space_state *state = move->state;
    react(move, h, rl_hold_tick(&state->hold[h], state->now_ns));
}

bool space_move(const struct space *space, struct space_state *state, unsigned number,
                unsigned *ret_did)
{
    struct move move = {.space = space, .state = state, .left = number};
    if (chosen(&move))
        pass(&move);
    for (unsigned i = 0; i < space->n && move.left != CHOSEN; i++)
        others(&move, i);
    for (unsigned h = 0; h < space->holds && move.left != CHOSEN; h++) {
        if (state->now_ns >= rl_hold_next_ns(&state->hold[h]) || state->hold[h].due) {
            if (chosen(&move))
                look(&move, h);
        }
        if (move.left != CHOSEN)
            act(&move, h);
        for (unsigned i = 0; i < space->n * RL_SLOTS && move.left != CHOSEN; i++)
            on_link(&move, h, i / RL_SLOTS, i % RL_SLOTS);
    }
    for (unsigned k = 0; k < space->holds * space->n * RL_SLOTS && space->prompt; k++) {
        unsigned h = k / RL_SLOTS / space->n, i = k / RL_SLOTS % space->n, slot = k % RL_SLOTS;
        const struct space_link *link = &state->link[h][i][slot];
        while (state->hold[h].phase == RL_HOLD_ENDING && link->count > 0 &&
               link->queue[0].answered)
            deliver(&move, h, i, slot);
    }
    *ret_did = move.did;
    return move.left == CHOSEN;
}

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
        hash = mix(hash, from_now(space, state, hold->due_until_ns));
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
        round->yes,     round->no,     round->failed,  hold->held_back, hold->retake,
        hold->reached,  hold->unsure, hold->due,     hold->carry[0], hold->carry[1],  hold->undo[0],
        hold->undo[1],  hold->fresh[0] & hold->carry[0], hold->fresh[1] & hold->carry[1],
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
    hash = mix(hash, state->active[h][i]);
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
