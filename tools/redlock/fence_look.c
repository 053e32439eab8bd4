/* fence_look.c - see fence_look.h. */
#include "config_auto.h"

#include "redlock/fence_look.h"

#include "base/entropy.h"
#include "kinds/server_keys.h"
#include "net/fence_certificate.h"

bool fence_look_nonce(char ret_nonce[RL_NONCE_LEN + 1])
{
    uint64_t nonce = 0;
    bool drawn = rl_entropy_bytes(&nonce, sizeof(nonce)) == 0;
    rl_nonce_text(nonce, ret_nonce);
    ret_nonce[RL_NONCE_LEN] = '\0';
    return drawn;
}

void fence_look_request(const char nonce[RL_NONCE_LEN], const char *what,
                        char ret_request[FENCE_LOOK_MAX])
{
    struct rl_out out;
    rl_out_init(&out, ret_request, FENCE_LOOK_MAX - 1);
    rl_certificate_request(&out, RL_FENCING_KEY, nonce, what, "", 0);
    ret_request[out.len] = '\0';
}

const char *fence_look_heard(const char nonce[RL_NONCE_LEN], const struct rl_reply *reply,
                             struct rl_certificate *ret_certificate)
{
    struct rl_certificate told;
    if (!rl_certificate_read(reply, nonce, &told))
        return "it answered something that was not asked for";
    *ret_certificate = told;
    return NULL;
}
