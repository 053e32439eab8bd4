/* native_reply.c - see native_reply.h. */
#include "config_auto.h"

#include "node/native_reply.h"

#include <assert.h>

bool rl_native_read_set(const struct rl_reply *reply, enum rl_set_reply *ret_set)
{
    switch (reply->type) {
    case RL_REPLY_STATUS:
        *ret_set = RL_SET_OK;
        return rl_part_is(reply, 0, "OK", 2);
    case RL_REPLY_NIL:
        *ret_set = RL_SET_REFUSED;
        return true;
    case RL_REPLY_ERROR:
        *ret_set = rl_error_is(reply, "OOM") ? RL_SET_NO_MEMORY : RL_SET_FAILED;
        return true;
    case RL_REPLY_INTEGER:
    case RL_REPLY_BULK:
    case RL_REPLY_ARRAY:
        break;
    }
    return false;
}

/* Another token has the key. The pair does not show its TTL. */
static void refuse(struct rl_vote_reply *vote, enum rl_code code, const struct rl_reply *holder)
{
    assert(code != RL_GRANTED && (!holder || holder->type == RL_REPLY_BULK));
    vote->vote = RL_VOTE_NO;
    vote->answer = (struct rl_answer){.code = code, .ttl_ms = RL_TTL_UNKNOWN, .place = -1};
    if (!holder)
        return;
    vote->answer.with_holder = true;
    vote->holder = holder->text + holder->part[0].start;
    vote->holder_len = holder->part[0].kept;
}

/* GET shows a value. */
static bool judge_value(enum rl_set_reply set, const struct rl_reply *get, bool ours,
                        struct rl_vote_reply *vote, const char **ret_why)
{
    switch (set) {
    case RL_SET_OK:
        if (ours) {
            vote->vote = RL_VOTE_YES;
            vote->answer = (struct rl_answer){.granted = true, .code = RL_GRANTED, .place = -1};
        } else {
            *ret_why = "SET was granted, but GET shows another value: is it sent to a replica?";
        }
        return true;
    case RL_SET_REFUSED:
    case RL_SET_NO_MEMORY:
        refuse(vote, RL_REFUSED, get);
        return !ours; /* a token is requested only once */
    case RL_SET_FAILED:
        return !ours;
    case RL_SET_AWAITED:
        break;
    }
    assert(false && "a pair's second reply follows its first");
}

/* GET shows nothing. SET's refusal stands: the key expired between the two. */
static void judge_nothing(enum rl_set_reply set, struct rl_vote_reply *vote,
                          const char **ret_why)
{
    if (set == RL_SET_REFUSED)
        refuse(vote, RL_REFUSED, NULL);
    else if (set == RL_SET_OK)
        *ret_why = "SET was granted, but GET shows nothing: is it sent to a replica?";
}

/* R5: A grant is +OK together with our own token. */
bool rl_native_vote(enum rl_set_reply set, const struct rl_reply *get, const char *token,
                    size_t token_len, struct rl_vote_reply *ret_vote, const char **ret_why)
{
    assert(set != RL_SET_AWAITED && token_len > 0);
    *ret_vote = (struct rl_vote_reply){.vote = RL_VOTE_FAILED};
    *ret_why = NULL;
    switch (get->type) {
    case RL_REPLY_BULK:
        return judge_value(set, get, rl_part_is(get, 0, token, token_len), ret_vote, ret_why);
    case RL_REPLY_NIL:
        judge_nothing(set, ret_vote, ret_why);
        return true;
    case RL_REPLY_ERROR:
        if (set == RL_SET_REFUSED && rl_error_is(get, "WRONGTYPE"))
            refuse(ret_vote, RL_REPLY_WRONGTYPE, NULL);
        return true;
    case RL_REPLY_STATUS:
    case RL_REPLY_INTEGER:
    case RL_REPLY_ARRAY:
        break;
    }
    return false;
}
