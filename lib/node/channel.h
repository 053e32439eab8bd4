/* channel.h - the channels on which lines (wait_queue.h) hear of releases, beside the one that
 * each client has for itself: which there are, who needs them, and what each master has said of
 * them.
 *
 * Of one channel at one master there is never more than one question under way: who comes and
 * goes meanwhile is seen to when it has been answered. Lives on as long as anybody needs it, or
 * a master still has it.
 */
#ifndef RL_CHANNEL_H
#define RL_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rl_line;

struct rl_ear {
    struct rl_ear *next;   /* in its bucket */
    size_t place;          /* in ears->all */
    struct rl_line *lines; /* who is told */
    struct rl_line *told;  /* while they are: the next one; it may be the last to leave */
    unsigned users;        /* lines, and who tells them */
    uint64_t asked;        /* nodes that owe an answer about it */
    uint64_t heard;        /* nodes that have confirmed it, and not its end */
    uint64_t denied;       /* nodes that have refused to begin it, or to end it */
    uint64_t hash;
    size_t len;
    char text[];
};

struct rl_ears {
    struct rl_ear **bucket; /* by text; a power of 2 */
    struct rl_ear **all;
    size_t size, count;
    size_t used; /* how many have users */
};

struct rl_ear *rl_ear_find(const struct rl_ears *ears, const void *text, size_t len);

/* One more user, one less. NULL: no memory. Who has dropped it settles it afterwards. */
struct rl_ear *rl_ear_take(struct rl_ears *ears, const void *text, size_t len);
void rl_ear_drop(struct rl_ears *ears, struct rl_ear *ear);

/* If nobody needs it and no master has it, it is gone. */
void rl_ear_settle(struct rl_ears *ears, struct rl_ear *ear);

/* What is to be said to a node about it now. */
enum rl_ear_wish { RL_EAR_NONE, RL_EAR_BEGIN, RL_EAR_END };
enum rl_ear_wish rl_ear_wish(const struct rl_ear *ear, uint64_t node_bit);

/* Nodes at which what is published there now will be heard. */
static inline uint64_t rl_ear_listening(const struct rl_ear *ear)
{
    return ear->heard & ~ear->asked;
}

/* The connection to a node is gone, and all that was said on it. */
void rl_ears_forget(struct rl_ears *ears, uint64_t node_bit);

void rl_ears_free(struct rl_ears *ears);

#endif
