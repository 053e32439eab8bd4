/* wait_channel.c - the channel of a line (wait_queue.h) whose kind tells of releases there. */
#include "config_auto.h"

#include "engine/client.h"
#include "kinds/keys.h"

/* Hear where releases of its kind are told of. False: no memory. */
bool rl_line_give_ear(redlock *client, struct rl_line *line)
{
    char channel[RL_KEY_MAX];
    line->ear = NULL;
    if (rl_kind_queues(line->target.kind))
        return true;
    size_t len = rl_key_channel(&line->target, channel);
    struct rl_ear *ear = rl_ear_take(&client->subs.ears, channel, len);
    if (!ear)
        return false;
    line->ear = ear;
    line->ear_prev = NULL;
    line->ear_next = ear->lines;
    if (ear->lines)
        ear->lines->ear_prev = line;
    ear->lines = line;
    return true;
}

void rl_line_let_ear_go(redlock *client, struct rl_ear *ear, int64_t now_ns)
{
    rl_ear_drop(&client->subs.ears, ear);
    if (ear->users == 0)
        rl_subs_tune(client, ear, now_ns);
}

void rl_line_take_ear(redlock *client, struct rl_line *line, int64_t now_ns)
{
    struct rl_ear *ear = line->ear;
    if (!ear)
        return;
    if (ear->told == line)
        ear->told = line->ear_next;
    if (line->ear_next)
        line->ear_next->ear_prev = line->ear_prev;
    if (line->ear_prev)
        line->ear_prev->ear_next = line->ear_next;
    else
        ear->lines = line->ear_next;
    line->ear = NULL;
    rl_line_let_ear_go(client, ear, now_ns);
}
