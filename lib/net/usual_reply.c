/* usual_reply.c - see usual_reply.h. */
#include "config_auto.h"

#include "net/usual_reply.h"

#include "core/fence.h"

#include <assert.h>
#include <string.h>

#define NUMBER_DIGITS 16 /* of RL_FENCE_MAX */

struct piece {
    const char *at, *end;
    bool part; /* the bytes end too early, and were right so far */
};

/* Pass these bytes. False: others stand there, or too few. Inline: mostly `len` is known. */
static inline bool pass(struct piece *piece, const char *bytes, size_t len)
{
    size_t left = (size_t)(piece->end - piece->at);
    if (left < len) {
        piece->part = memcmp(piece->at, bytes, left) == 0;
        return false;
    }
    if (memcmp(piece->at, bytes, len) != 0)
        return false;
    piece->at += len;
    return true;
}

static bool pass_pair(struct piece *piece, const char *token, size_t len)
{
    _Static_assert(RL_TOKEN_MAX < 100, "a token's length has two digits");
    const char digits[] = {(char)('0' + len / 10), (char)('0' + len % 10)};
    assert(len >= 10 && len <= RL_TOKEN_MAX);
    return pass(piece, "+OK\r\n$", 6) && pass(piece, digits, sizeof(digits)) &&
           pass(piece, "\r\n", 2) && pass(piece, token, len) && pass(piece, "\r\n", 2);
}

/* A fencing token, as masters write it: without a 0 in front. */
static bool pass_number(struct piece *piece, uint64_t *ret_number)
{
    uint64_t number = 0;
    unsigned digits = 0;
    if (!pass(piece, ":", 1))
        return false;
    for (; piece->at < piece->end && *piece->at >= '0' && *piece->at <= '9'; piece->at++) {
        number = 10 * number + (uint64_t)(*piece->at - '0');
        if (number == 0 || ++digits > NUMBER_DIGITS)
            return false;
    }
    if (piece->at == piece->end) {
        piece->part = true;
        return false;
    }
    *ret_number = number;
    return number > 0 && number < RL_FENCE_MAX && pass(piece, "\r\n", 2);
}

static bool pass_script(struct piece *piece, const struct rl_inflight *inflight,
                        uint64_t *ret_number)
{
    bool names = inflight->number >= RL_SCRIPTS_UNFENCED && inflight->verb == RL_ACQUIRE;
    return (!names || pass(piece, "*3\r\n", 4)) && pass(piece, "$16\r\n", 5) &&
           pass(piece, inflight->nonce, RL_NONCE_LEN) && pass(piece, "\r\n", 2) &&
           (!names || (pass(piece, ":1\r\n", 4) && pass_number(piece, ret_number)));
}

size_t rl_usual_reply(const struct rl_inflight *inflight, const char *bytes, size_t len,
                      uint64_t *ret_number)
{
    struct piece piece = {.at = bytes, .end = bytes + len};
    bool whole;
    assert(len > 0 && inflight->script < RL_VERBS);
    *ret_number = 0;
    if (inflight->type != RL_REQUEST_VERB || inflight->script == RL_INSPECT)
        return 0; /* an inspection tells more */
    if (inflight->native)
        whole = inflight->set_reply == RL_SET_AWAITED &&
                pass_pair(&piece, inflight->token.bytes, inflight->token.len);
    else
        whole = pass_script(&piece, inflight, ret_number);
    if (whole)
        return (size_t)(piece.at - bytes);
    return piece.part ? RL_USUAL_PART : 0;
}
