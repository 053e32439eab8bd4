/* presence.h - since when a master is away, and when the client's user is told that
 * the master went or came back. Core.
 *
 *   votes   ------.              .--------.    .---.   .--------
 *                 '--------------'        '----'   '---'
 *   told          gone           back     (within a minute of each: not told)
 *
 * A master's short absence is not told. Once a minute at most the user is told that the master
 * went, and once a minute at most that the master came back.
 * At the end of that minute the user is told the true state, if that is not what was told last.
 */
#ifndef RL_PRESENCE_H
#define RL_PRESENCE_H

#include <stdbool.h>
#include <stdint.h>

enum rl_presence_news { RL_PRESENCE_NONE, RL_PRESENCE_GONE, RL_PRESENCE_BACK };

struct rl_presence {
    bool away;
    bool told_away;      /* what was told last */
    int64_t since_ns;    /* since when it is, or was last, away */
    int64_t seen_ns;     /* when that was noticed */
    int64_t back_ns;     /* when it came back; 0: not yet, or it was never away */
    int64_t again_ns[2]; /* gone, back: not told sooner */
};

/* It is away from now on, as at the beginning. */
void rl_presence_init(struct rl_presence *presence, int64_t now_ns);

/* It votes; or it is away, at least since `since_ns`. */
void rl_presence_votes(struct rl_presence *presence, int64_t now_ns);
void rl_presence_away(struct rl_presence *presence, int64_t since_ns, int64_t now_ns);

/* Since when was it away at that time? -1: it was not. */
int64_t rl_presence_away_since_ns(const struct rl_presence *presence, int64_t at_ns);

/* What is to be told now. It counts as told. */
enum rl_presence_news rl_presence_tell(struct rl_presence *presence, int64_t now_ns);

/* When to ask again; INT64_MAX: no need. */
int64_t rl_presence_due_ns(const struct rl_presence *presence);

#endif
