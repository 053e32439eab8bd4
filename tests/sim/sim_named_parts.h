/* sim_named_parts.h - between sim_named.c and sim_named_cast.c. */
#ifndef SIM_NAMED_PARTS_H
#define SIM_NAMED_PARTS_H

#include "sim_named.h"

/* Everybody closes its client. */
void sim_all_leave(void);

/* What was taken so far is not counted. */
void sim_forget_takes(void);

void sim_act_open(struct sim_player *player);

#endif
