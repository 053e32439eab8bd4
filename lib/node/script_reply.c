/* script_reply.c - see script_reply.h. */
#include "config_auto.h"

#include "node/script_reply.h"

#include "core/fence.h"

#include <assert.h>
#include <string.h>

/* An array begins with the proof and a minus. So no part of a refusal is a grant, whatever a
 * broken server says before it. */
static bool begins_with(const struct rl_reply *reply, const char *proof, size_t len)
{
    char text[RL_TOKEN_MAX + 1];
    assert(len <= RL_TOKEN_MAX);
    memcpy(text, proof, len);
    text[len] = '-';
    return reply->part[0].type == RL_REPLY_BULK && rl_part_is(reply, 0, text, len + 1);
}

/* The code of an answer. The proof alone is a grant, because an array costs a master half a
 * microsecond more. A code of RL_GRANTED has something to tell behind it. */
static bool read_code(const struct rl_inflight *inflight, const struct rl_reply *reply,
                      enum rl_code *ret_code)
{
    size_t len;
    const char *proof = rl_inflight_proof(inflight, &len);
    *ret_code = RL_GRANTED;
    if (reply->type == RL_REPLY_BULK)
        return rl_part_is(reply, 0, proof, len);
    if (reply->type != RL_REPLY_ARRAY || reply->count < 2 || reply->count > 5 ||
        !begins_with(reply, proof, len) || reply->part[1].type != RL_REPLY_INTEGER ||
        reply->part[1].integer < 0 || reply->part[1].integer > RL_REPLY_UNMARKED)
        return false;
    *ret_code = (enum rl_code)reply->part[1].integer;
    return *ret_code != RL_GRANTED || reply->count > 2;
}

/* R5, R9: Only the exact answer is a grant. Another marker is no vote. */
bool rl_script_vote(const struct rl_inflight *inflight, const struct rl_reply *reply, bool strict,
                    struct rl_vote_reply *ret_vote)
{
    if (!read_code(inflight, reply, &ret_vote->answer.code))
        return false;
    if (ret_vote->answer.code == RL_REPLY_UNMARKED) {
        ret_vote->why = rl_trust_words(RL_CAUSE_UNMARKED);
        return strict && rl_verb_takes(inflight->verb) && reply->count == 2;
    }
    ret_vote->answer.granted = ret_vote->answer.code == RL_GRANTED;
    if (reply->count == 3) {
        if (reply->part[2].type != RL_REPLY_INTEGER || reply->part[2].integer <= 0 ||
            (uint64_t)reply->part[2].integer >= RL_FENCE_MAX)
            return false;
        ret_vote->answer.with_number = true;
        ret_vote->answer.number = (uint64_t)reply->part[2].integer;
    }
    if (reply->count >= 4) {
        if (reply->part[2].type != RL_REPLY_INTEGER || reply->part[3].type != RL_REPLY_BULK)
            return false;
        ret_vote->answer.with_holder = true;
        ret_vote->answer.ttl_ms = reply->part[2].integer;
        ret_vote->holder = reply->text + reply->part[3].start;
        ret_vote->holder_len = reply->part[3].kept;
    }
    if (reply->count == 5 && reply->part[4].type == RL_REPLY_BULK) {
        ret_vote->answer.with_details = true;
        ret_vote->details = reply->text + reply->part[4].start;
        ret_vote->details_len = reply->part[4].kept;
    } else if (reply->count == 5) {
        if (reply->part[4].type != RL_REPLY_INTEGER || reply->part[4].integer < -1)
            return false;
        ret_vote->answer.with_place = true;
        ret_vote->answer.place = reply->part[4].integer;
    }
    ret_vote->vote = ret_vote->answer.granted ? RL_VOTE_YES : RL_VOTE_NO;
    return rl_kind_answer_fits(inflight->script, inflight->number >= RL_SCRIPTS_UNFENCED,
                               &ret_vote->answer);
}
