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

/* ---- what a client does with its hold (lib/engine/lease/lease.c)
 * ------------------------------------ */

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
        if (put(state, h, i, state->current[h][i], verb, again))
            rl_hold_sent(&state->hold[h], i, state->current[h][i], verb, true);
        else
            did |= rl_hold_unsent(&state->hold[h], i, verb, state->now_ns);
    }
    return did;
}

static void send_release(struct space_state *state, unsigned h, unsigned i, unsigned slot)
{
    bool current = slot == state->current[h][i];
    if (rl_hold_wants_release(&state->hold[h], i, slot, current) &&
        put(state, h, i, slot, RL_RELEASE, true))
        rl_hold_sent(&state->hold[h], i, slot, RL_RELEASE, current);
}

static uint64_t able(const struct space *space, const struct space_state *state, unsigned h)
{
    uint64_t nodes = 0;
    for (unsigned i = 0; i < space->n; i++) {
        if (!state->link[h][i][state->current[h][i]].down)
            nodes |= rl_bit(i);
    }
    return nodes;
}

static uint64_t carried_in_use(const struct space *space, const struct space_state *state,
                               unsigned h)
{
    uint64_t nodes = 0;
    for (unsigned i = 0; i < space->n; i++)
        nodes |= state->hold[h].acquire_inflight[state->current[h][i]] & rl_bit(i);
    return nodes;
}

static void react(struct move *move, unsigned h, unsigned did)
{
    const struct space *space = move->space;
    struct space_state *state = move->state;
    struct rl_hold *hold = &state->hold[h];
    move->did |= did;
    if (did & RL_DO_ASK_REST) {
        uint64_t rest = rl_hold_ask_rest(hold, able(space, state, h),
                                         state->now_ns + space->node_ns);
        unsigned more = send_taking(state, h, RL_ACQUIRE, rest, false);
        more |= rl_hold_tick(hold, state->now_ns);
        react(move, h, more);
    }
    if (did & RL_DO_RETAKE)
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
        if (slot == state->current[h][i] && still_wanted(state, hold, i, verb))
            did |= send_taking(state, h, verb, rl_bit(i), true);
    } else {
        did = rl_hold_answer(hold, i, slot, verb, (enum rl_vote)request.vote, 0,
                             state->now_ns);
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
    link->down = (move->space->downs & rl_bit(i)) && slot == state->current[h][i];
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
        rl_hold_wants_release(&state->hold[h], i, slot, slot == state->current[h][i]) &&
        chosen(move)) {
        send_release(state, h, i, slot);
        return;
    }
    if ((space->drains & rl_bit(i)) && slot == state->current[h][i] && link->count > 0 &&
        state->link[h][i][1 - slot].count == 0 && chosen(move)) {
        state->current[h][i] = (uint8_t)(1 - slot);
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
        if (state->now_ns >= rl_hold_next_ns(&state->hold[h]) || state->hold[h].release_due) {
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
