/* fence_look.c - see fence_look.h. */
#include "config_auto.h"

#include "redlock/fence_look.h"

#include "base/entropy.h"
#include "kinds/fencing.h"

#include <assert.h>
#include <string.h>

bool fence_look_nonce(char ret_nonce[RL_NONCE_LEN + 1])
{
    uint64_t nonce = 0;
    bool drawn = rl_entropy_bytes(&nonce, sizeof(nonce)) == 0;
    rl_nonce_text(nonce, ret_nonce);
    ret_nonce[RL_NONCE_LEN] = '\0';
    return drawn;
}

void fence_look_request(const char nonce[RL_NONCE_LEN], char ret_request[FENCE_LOOK_MAX])
{
    struct rl_out out;
    rl_out_init(&out, ret_request, FENCE_LOOK_MAX - 1);
    rl_put_array(&out, 8);
    rl_put_text(&out, "EVAL");
    rl_put_text(&out, rl_fence_join);
    rl_put_text(&out, "1");
    rl_put_text(&out, RL_FENCING_KEY);
    rl_put_bulk(&out, nonce, RL_NONCE_LEN);
    rl_put_text(&out, "look");
    rl_put_text(&out, "");
    rl_put_text(&out, "0");
    assert(!out.overflow);
    ret_request[out.len] = '\0';
}

static bool copy(const struct rl_reply *reply, unsigned part, char *ret_text, size_t size)
{
    const struct rl_element *element = &reply->part[part];
    if (element->type != RL_REPLY_BULK || element->len >= size)
        return false;
    memcpy(ret_text, reply->text + element->start, element->len);
    ret_text[element->len] = '\0';
    return true;
}

const char *fence_look_heard(const char nonce[RL_NONCE_LEN], const struct rl_reply *reply,
                             struct rl_certificate *ret_certificate)
{
    struct rl_certificate told = {.number = 0};
    if (reply->type != RL_REPLY_ARRAY || reply->count != 4 ||
        !rl_part_is(reply, 0, nonce, RL_NONCE_LEN) ||
        !copy(reply, 1, told.word, sizeof(told.word)) ||
        !copy(reply, 2, told.id, sizeof(told.id)) ||
        reply->part[3].type != RL_REPLY_INTEGER || reply->part[3].integer < 0)
        return "answered something that was not asked for";
    told.greatest = (uint64_t)reply->part[3].integer;
    *ret_certificate = told;
    return NULL;
}
