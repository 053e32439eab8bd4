/* wait_signals.c - what lines (wait_queue.h) hear of releases: from masters, to each by its
 * number or to all that listen on a channel, and from this client itself. */
#include "config_auto.h"

#include "engine/lease.h"
#include "base/text.h"

#define PARTING_MAX_NS (5 * RL_NS_PER_MS)

/* ---- what happens --------------------------------------------------------------------- */

static void wake(struct rl_line *line, unsigned node, int64_t now_ns)
{
    if (!line->wakes)
        line->woken_ns = now_ns;
    line->wakes |= rl_bit(node);
    line->first->turn(line->first, RL_TURN_WOKEN, now_ns);
}

void rl_line_woken(redlock *client, unsigned node, uint64_t number, int64_t now_ns)
{
    struct rl_line *line = rl_line_by_number(client, number);
    client->stats.wakes++;
    if (!line || line->ear) /* of those that hear elsewhere no master knows the number */
        return;
    line->queued &= ~rl_bit(node); /* it was taken out to be woken */
    wake(line, node, now_ns);
}

void rl_lines_changed(redlock *client, unsigned node, bool listens, int64_t now_ns)
{
    const struct rl_lines *lines = &client->lines;
    for (size_t i = 0; i < lines->places; i++) {
        struct rl_line *line = lines->place[i];
        if (!line || line->ear)
            continue;
        line->queued &= ~rl_bit(node);
        if (listens)
            line->first->turn(line->first, RL_TURN_LISTENS, now_ns);
    }
}

/* For all that hear there; each of them may leave when it is told, and others with it. */
static void tell_all(redlock *client, unsigned node, struct rl_ear *ear, int64_t now_ns,
                     void (*tell)(struct rl_line *line, unsigned node, int64_t now_ns))
{
    ear->users++; /* it stays for so long */
    for (struct rl_line *line = ear->lines; line; line = ear->told) {
        ear->told = line->ear_next;
        tell(line, node, now_ns);
    }
    rl_line_let_ear_go(client, ear, now_ns);
}

/* Everybody is told, and nobody is out of a queue for that: the next release is told as well.
 */
void rl_line_heard(redlock *client, unsigned node, struct rl_ear *ear, int64_t now_ns)
{
    client->stats.wakes++;
    tell_all(client, node, ear, now_ns, wake);
}

/* What was said until now was missed. */
static void listen(struct rl_line *line, unsigned node, int64_t now_ns)
{
    line->queued &= ~rl_bit(node);
    line->first->turn(line->first, RL_TURN_LISTENS, now_ns);
}

void rl_line_hears(redlock *client, unsigned node, struct rl_ear *ear, int64_t now_ns)
{
    tell_all(client, node, ear, now_ns, listen);
}

void rl_line_asks(redlock *client, struct rl_line *line, bool hinted, int64_t now_ns)
{
    line->rounds++;
    if (rl_count(line->wakes) >= rl_quorum_needed(client->nodes.n)) {
        rl_backoff_reset(&line->heed);
        line->heed_ns = 0;
    } else if (hinted || line->wakes) {
        line->heed_ns = now_ns + rl_backoff_calm_ns(&line->heed, &client->prng);
    }
    line->wakes = 0;
}

int64_t rl_line_heed_ns(const struct rl_line *line, int64_t soon_ns)
{
    return soon_ns > line->heed_ns ? soon_ns : line->heed_ns;
}

void rl_line_freed(redlock *client, const struct rl_target *target, int64_t now_ns)
{
    struct rl_line *line = rl_line_find(client, target);
    if (line && !line->ear)
        line->first->turn(line->first, RL_TURN_FREED, now_ns);
}

/* ---- parting -------------------------------------------------------------------------- */

void rl_line_part(redlock *client, const struct rl_target *target, int64_t now_ns)
{
    struct rl_lines *lines = &client->lines;
    if (!rl_kind_queues(target->kind))
        return;
    /* What a hand-off takes: the release, the wake-up, the acquire and its answer. */
    int64_t pause_ns = 4 * rl_nodes_round_trip_ns(&client->nodes, rl_all(client->nodes.n));
    if (pause_ns > PARTING_MAX_NS)
        pause_ns = PARTING_MAX_NS;
    uint64_t hash = rl_hash(target->name, target->name_len);
    lines->parting[lines->partings++ % RL_PARTINGS] =
        (struct rl_parting){.hash = hash, .until_ns = now_ns + pause_ns};
}

int64_t rl_line_parted_until_ns(const redlock *client, const struct rl_target *target)
{
    const struct rl_lines *lines = &client->lines;
    if (lines->partings == 0 || !rl_kind_queues(target->kind))
        return 0;
    uint64_t hash = rl_hash(target->name, target->name_len);
    int64_t until_ns = 0;
    for (unsigned i = 0; i < RL_PARTINGS && i < lines->partings; i++) {
        if (lines->parting[i].hash == hash && lines->parting[i].until_ns > until_ns)
            until_ns = lines->parting[i].until_ns;
    }
    return until_ns;
}
