/* usual_reply.c - see usual_reply.h. */
#include "config_auto.h"

#include "net/usual_reply.h"

#include "core/fence.h"

#include <assert.h>
#include <string.h>

#define NUMBER_DIGITS 16 /* of RL_FENCE_MAX */
#define PROOF_MIN 10     /* a shorter token, of a handle text, is for the reader */

static char *put(char *at, const char *bytes, size_t len)
{
    memcpy(at, bytes, len);
    return at + len;
}

/* A nonce or a token, which has two digits' length; in an array, a minus stands behind it. */
static char *put_proof(char *at, const struct rl_inflight *inflight, bool in_array)
{
    _Static_assert(RL_TOKEN_MAX < 100 && RL_NONCE_LEN >= PROOF_MIN, "a length has two digits");
    size_t len;
    const char *bytes = rl_inflight_proof(inflight, &len);
    const size_t whole = len + in_array;
    const char head[] = {'$', (char)('0' + whole / 10), (char)('0' + whole % 10), '\r', '\n'};
    assert(len >= PROOF_MIN && len <= RL_TOKEN_MAX);
    at = put(put(at, head, sizeof(head)), bytes, len);
    return in_array ? put(at, "-\r\n", 3) : put(at, "\r\n", 2);
}

/* The usual reply, up to the fencing token if it `names` one. Returns its length. */
static size_t build(const struct rl_inflight *inflight, bool names, char ret_reply[RL_USUAL_MAX])
{
    char *at = ret_reply;
    if (inflight->native)
        at = put(at, "+OK\r\n", 5);
    else if (names)
        at = put(at, "*3\r\n", 4);
    at = put_proof(at, inflight, names);
    if (names)
        at = put(at, ":1\r\n:", 5);
    return (size_t)(at - ret_reply);
}

/* A fencing token, as masters write it: without a 0 in front. As rl_usual_reply(). */
static size_t read_number(const char *bytes, size_t len, uint64_t *ret_number)
{
    uint64_t number = 0;
    size_t at = 0;
    for (; at < len && bytes[at] >= '0' && bytes[at] <= '9'; at++) {
        number = 10 * number + (uint64_t)(bytes[at] - '0');
        if (number == 0 || at == NUMBER_DIGITS)
            return 0;
    }
    if (len - at < 2)
        return memcmp(bytes + at, "\r", len - at) == 0 ? RL_USUAL_PART : 0;
    *ret_number = number;
    bool whole = number > 0 && number < RL_FENCE_MAX && memcmp(bytes + at, "\r\n", 2) == 0;
    return whole ? at + 2 : 0;
}

/* R5: A grant only if every byte is as expected. */
size_t rl_usual_reply(const struct rl_inflight *inflight, const char *bytes, size_t len,
                      uint64_t *ret_number)
{
    char usual[RL_USUAL_MAX];
    size_t proof_len;
    assert(len > 0 && inflight->script < RL_VERBS);
    *ret_number = 0;
    if (inflight->type != RL_REQUEST_VERB || inflight->script == RL_INSPECT ||
        (inflight->native && inflight->set_reply != RL_SET_AWAITED))
        return 0; /* an inspection tells more */
    rl_inflight_proof(inflight, &proof_len);
    if (proof_len < PROOF_MIN)
        return 0;
    bool names = !inflight->native && inflight->number >= RL_SCRIPTS_UNFENCED &&
                 inflight->verb == RL_ACQUIRE;
    size_t whole = build(inflight, names, usual);
    if (memcmp(bytes, usual, len < whole ? len : whole) != 0)
        return 0;
    if (len < whole)
        return RL_USUAL_PART;
    if (!names)
        return whole;
    size_t more = read_number(bytes + whole, len - whole, ret_number);
    return more == 0 || more == RL_USUAL_PART ? more : whole + more;
}
