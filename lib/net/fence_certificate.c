/* fence_certificate.c - see fence_certificate.h. */
#include "config_auto.h"

#include "net/fence_certificate.h"

#include "core/fence.h"
#include "kinds/fencing.h"

#include <assert.h>
#include <string.h>

_Static_assert(RL_CERTIFICATE_ROOM > RL_CERTIFICATE_MAX, "an id and its NUL");

void rl_certificate_request(struct rl_out *out, const char *key, const char nonce[RL_NONCE_LEN],
                            const char *what, const char *loss, uint64_t number)
{
    rl_put_array(out, 8);
    rl_put_text(out, "EVAL");
    rl_put_text(out, rl_fence_join);
    rl_put_text(out, "1");
    rl_put_text(out, key);
    rl_put_bulk(out, nonce, RL_NONCE_LEN);
    rl_put_text(out, what);
    rl_put_text(out, loss);
    rl_put_number(out, (int64_t)number);
    assert(!out->overflow);
}

/* Nonce, word, id, greatest token. */
bool rl_certificate_read(const struct rl_reply *reply, const char nonce[RL_NONCE_LEN],
                         struct rl_certificate *ret_certificate)
{
    *ret_certificate = (struct rl_certificate){.change = 0};
    if (reply->type != RL_REPLY_ARRAY || reply->count != 4 ||
        !rl_part_is(reply, 0, nonce, RL_NONCE_LEN) ||
        !rl_part_copy(reply, 1, ret_certificate->word, sizeof(ret_certificate->word)) ||
        !rl_part_copy(reply, 2, ret_certificate->id, sizeof(ret_certificate->id)) ||
        reply->part[3].type != RL_REPLY_INTEGER || reply->part[3].integer < 0 ||
        (uint64_t)reply->part[3].integer >= RL_FENCE_MAX)
        return false;
    size_t len = strlen(ret_certificate->id);
    ret_certificate->greatest = (uint64_t)reply->part[3].integer;
    return len == 0 ? !rl_is_certified(ret_certificate)
                    : strspn(ret_certificate->id, "0123456789abcdef") == len &&
                          len == (rl_is_certified(ret_certificate) ? RL_CERTIFICATE_MAX
                                                                   : RL_LOSS_LEN);
}
