/* sim_named_parts.h - between the files of the named scenarios. */
#ifndef SIM_NAMED_PARTS_H
#define SIM_NAMED_PARTS_H

#include "sim_named.h"

/* ---- sim_named_cast.c, for sim_named.c -------------------------------------------------- */

/* Everybody closes its client. */
void sim_all_leave(void);

/* What was taken so far is not counted. */
void sim_forget_takes(void);

void sim_act_open(struct sim_player *player);

/* ---- sim_named_shared.c: readers and writers, on so many masters ------------------------ */

struct sim_player *sim_reader(const char *name);
struct sim_player *sim_writer(const char *name);

/* The steps of a scenario. `beside`: what a master has for the lock when it is taken, but for
 * the holds. */
void sim_plays_together(unsigned masters, size_t beside);
void sim_plays_downgrade(unsigned masters);
void sim_plays_upgrade(unsigned masters);
void sim_plays_writer_waits(unsigned masters);
void sim_plays_writer_crashes(unsigned masters);
void sim_plays_turns(unsigned masters);

#endif
