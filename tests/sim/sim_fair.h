/* sim_fair.h - between the files that play the scripts of fair locks: their queue, as
 * fair_queue.lua keeps it. */
#ifndef SIM_FAIR_H
#define SIM_FAIR_H

#include "sim_script_parts.h"

/* What fair_queue.lua begins with. */
struct sim_fair {
    struct sim_run *run;
    const struct sim_word *queue, *times, *seen; /* KEYS[3] to [5] */
    double now_ms, life_ms;
    bool lost; /* the queue has an end, and no `seen` */
};

#define SIM_FAIR_SHARE_MS 300000.0
#define SIM_FAIR_MOST 128 /* a queue with more is not read as a whole */

/* False, of all of these: the script has failed, and that has been answered. */
bool sim_fair_begin(struct sim_fair *fair, struct sim_run *run);

/* Who is the first; `len` 0 and bytes NULL: nobody. */
struct sim_fair_first {
    struct sim_word head;
    char text[SIM_MEMBER_MAX + 1];
    char foreign[160]; /* not "": what stands in the queue's place */
};
bool sim_fair_first(struct sim_fair *fair, struct sim_fair_first *ret);

int64_t sim_fair_left_ms(const struct sim_fair *fair, const struct sim_word *head);
/* `who` NULL: all move. */
bool sim_fair_move(const struct sim_fair *fair, const struct sim_word *who, double ms,
                   bool itself);
bool sim_fair_drop(const struct sim_fair *fair, const struct sim_word *who);
bool sim_fair_set_end(const struct sim_fair *fair);

/* The score of who is in a sorted set. False: it is not in it. */
bool sim_fair_score(const struct sim_fair *fair, const struct sim_word *set,
                    const struct sim_word *who, double *ret);

/* May it call a command with such flags? Else the script fails where that stands. */
bool sim_fair_may(const struct sim_fair *fair, unsigned flags, const char *where);

#endif
