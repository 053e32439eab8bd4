/* tally.h - many locks that meet with the same share a line of the log. The first one is told
 * at once. The events of the next second are counted, and told with one of them for example.
 * The mutex must be held. */
#ifndef RL_TALLY_H
#define RL_TALLY_H

#include <redlock.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rl_target;

enum rl_told { RL_TOLD_NOT_RENEWED, RL_TOLD_LOST, RL_TOLD_UNCONFIRMED, RL_TOLD };

#define RL_TALLY_TEXT_MAX 1152 /* of the log */

struct rl_tally {
    uint64_t turn;    /* how often it was told */
    unsigned count;   /* untold */
    int64_t again_ns; /* no line sooner */
    char name[160];   /* of the first one of them */
    char text[RL_TALLY_TEXT_MAX];
};

struct rl_tallies {
    struct rl_tally of[RL_TOLD];
};

/* A lock has met with that. True: the caller must give its text, by rl_tally_text(). */
bool rl_tally_count(struct rl_tallies *tallies, enum rl_told what, int64_t now_ns);
void rl_tally_text(redlock *client, enum rl_told what, const struct rl_target *target,
                   const char *text, int64_t now_ns);

/* Tell what is due by now, or with `all` what is left. */
void rl_tallies_tell(redlock *client, bool all, int64_t now_ns);
int64_t rl_tallies_due_ns(const struct rl_tallies *tallies);

/* The names of a lock, for a text: "'a'", "'a' and 2 others". */
void rl_target_text(const struct rl_target *target, char *ret_text, size_t size);

#endif
