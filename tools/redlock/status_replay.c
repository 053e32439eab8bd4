/* status_replay.c - see status_replay.h. */
#include "config_auto.h"

#include "redlock/status_replay.h"

#include <stdio.h>

/* One of each type that the scripts of all kinds write. */
static const struct {
    const char *command, *more[2]; /* behind the key */
} writes[STATUS_REPLAYS] = {
    {"SET", {"x"}}, {"HINCRBY", {"x", "1"}}, {"SADD", {"x"}}, {"ZADD", {"1", "x"}},
    {"DEL", {0}},
};

const char *status_replay_request(const struct status_facts *facts, unsigned number,
                                  const char *prefix, char *request, size_t size)
{
    struct rl_out out;
    if (facts->fsync != 1 || facts->replays >= 0 || number >= STATUS_REPLAYS)
        return NULL;
    const char *const *more = writes[number].more;
    rl_out_init(&out, request, size - 1);
    rl_put_array(&out, 5u + (more[0] != NULL) + (more[1] != NULL));
    rl_put_text(&out, "ACL");
    rl_put_text(&out, "DRYRUN");
    rl_put_text(&out, "default");
    rl_put_text(&out, writes[number].command);
    rl_put_texts(&out, prefix ? prefix : "", (const char *const[]){"redlock", NULL});
    for (unsigned i = 0; i < 2 && more[i]; i++)
        rl_put_text(&out, more[i]);
    request[out.len] = '\0';
    return out.overflow ? NULL : request;
}

/* OK, or a text that says what it may not. */
const char *status_replay_heard(struct status_facts *facts, unsigned number,
                                const struct rl_reply *reply)
{
    if (reply->type == RL_REPLY_BULK) {
        facts->replays = 0;
        snprintf(facts->unreplayed, sizeof(facts->unreplayed), "%s", writes[number].command);
    } else if (!rl_part_is(reply, 0, "OK", 2)) {
        return "its answer to ACL DRYRUN is none";
    } else if (number == STATUS_REPLAYS - 1) {
        facts->replays = 1;
    }
    return NULL;
}
