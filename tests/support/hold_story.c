/* hold_story.c - see hold_story.h. */
#include "config_auto.h"

#include "hold_story.h"

#include <string.h>

void story_begin(struct story *story, unsigned n)
{
    memset(story, 0, sizeof(*story));
    rl_hold_init(&story->hold, n, TTL_MS * MS, DRIFT_FACTOR);
    story->now_ns = 5000 * MS;
    story->able = rl_all(n);
}

static void send_all(struct story *story, enum rl_verb verb, uint64_t nodes)
{
    for (; nodes; nodes &= nodes - 1) {
        unsigned node = rl_first(nodes);
        rl_hold_sent(&story->hold, node, story->current[node], verb, true);
    }
}

unsigned ask(struct story *story)
{
    unsigned did = rl_hold_ask(&story->hold, story->now_ns, story->now_ns + NODE_MS * MS,
                               story->able, -1);
    send_all(story, RL_ACQUIRE, rl_hold_to_ask(&story->hold));
    return did;
}

unsigned ask_first(struct story *story, unsigned first)
{
    unsigned did = rl_hold_ask(&story->hold, story->now_ns, story->now_ns + NODE_MS * MS,
                               story->able, (int)first);
    send_all(story, RL_ACQUIRE, rl_hold_to_ask(&story->hold));
    return did;
}

unsigned ask_rest(struct story *story)
{
    uint64_t rest = rl_hold_ask_rest(&story->hold, story->able, story->now_ns + NODE_MS * MS);
    send_all(story, RL_ACQUIRE, rest);
    return rl_hold_tick(&story->hold, story->now_ns);
}

void story_hold(struct story *story, unsigned n)
{
    story_begin(story, n);
    ck_assert_int_eq(ask(story), 0);
    unsigned needed = rl_quorum_needed(n), did = 0;
    for (unsigned node = 0; node < needed; node++)
        did |= answer(story, node, RL_ACQUIRE, YES);
    ck_assert_int_eq(did, RL_EV_ACQUIRED);
}

void story_hold_all(struct story *story, unsigned n)
{
    story_hold(story, n);
    for (unsigned node = rl_quorum_needed(n); node < n; node++)
        ck_assert_int_eq(answer(story, node, RL_ACQUIRE, YES), 0);
}

unsigned answer_on(struct story *story, unsigned node, unsigned slot, enum rl_verb verb,
                   enum rl_vote vote)
{
    return rl_hold_answer(&story->hold, node, slot, verb, vote, 0, story->now_ns);
}

unsigned answer(struct story *story, unsigned node, enum rl_verb verb, enum rl_vote vote)
{
    return answer_on(story, node, story->current[node], verb, vote);
}

unsigned pass_ns(struct story *story, int64_t ns)
{
    story->now_ns += ns;
    return rl_hold_tick(&story->hold, story->now_ns);
}

unsigned pass(struct story *story, int64_t ms)
{
    return pass_ns(story, ms * MS);
}

unsigned lose(struct story *story, unsigned node)
{
    return rl_hold_link_lost(&story->hold, node, story->current[node], story->now_ns);
}

void drain(struct story *story, unsigned node)
{
    story->current[node] = 1 - story->current[node];
    rl_hold_link_drains(&story->hold, node, 1 - story->current[node]);
}

unsigned extend(struct story *story, int64_t ttl_ms)
{
    uint64_t able = story->able;
    for (unsigned node = 0; node < story->hold.n; node++) {
        if (story->hold.acquire_inflight[story->current[node]] & rl_bit(node))
            able &= ~rl_bit(node); /* it owes an answer on that link */
    }
    unsigned did = rl_hold_extend(&story->hold, story->now_ns, ttl_ms * MS,
                                  story->now_ns + NODE_MS * MS, able);
    send_all(story, RL_EXTEND, rl_hold_to_extend(&story->hold));
    return did;
}

void retake(struct story *story, unsigned node)
{
    ck_assert(story->hold.retake & rl_bit(node));
    send_all(story, RL_RETAKE, rl_bit(node));
    ck_assert(!(story->hold.retake & rl_bit(node)));
}

unsigned release(struct story *story, bool wait)
{
    return rl_hold_release(&story->hold, story->now_ns,
                           wait ? story->now_ns + NODE_MS * MS : 0);
}

uint64_t send_releases_but(struct story *story, uint64_t down, uint64_t *ret_other)
{
    struct rl_hold *hold = &story->hold;
    uint64_t in_use = 0, other = 0;
    for (unsigned node = 0; node < hold->n; node++) {
        for (unsigned slot = 0; slot < RL_SLOTS; slot++) {
            bool current = slot == story->current[node];
            if (current && (down & rl_bit(node)))
                continue;
            if (!rl_hold_wants_release(hold, node, slot, current))
                continue;
            rl_hold_sent(hold, node, slot, RL_RELEASE, current);
            *(current ? &in_use : &other) |= rl_bit(node);
            ck_assert(!rl_hold_wants_release(hold, node, slot, current)); /* once */
        }
    }
    if (ret_other)
        *ret_other = other;
    return in_use;
}

uint64_t send_releases(struct story *story, uint64_t *ret_other)
{
    return send_releases_but(story, 0, ret_other);
}

int64_t over_ns(const struct story *story)
{
    return story->hold.deadline_ns - RL_VALIDITY_GRAIN_NS + 1;
}

bool settled(const struct story *story)
{
    return rl_hold_settled(&story->hold, story->now_ns);
}

uint64_t nodes_of(const int *nodes)
{
    uint64_t set = 0;
    for (; *nodes >= 0; nodes++)
        set |= rl_bit((unsigned)*nodes);
    return set;
}
