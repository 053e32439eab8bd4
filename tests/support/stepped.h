/* stepped.h - masters whose time of day can be set off: they load bin/server_clock.so. */
#ifndef TEST_STEPPED_H
#define TEST_STEPPED_H

#include "masters.h"

#include <stdint.h>

/* Their time of day is *ret_step_ns off from now on, all of them alike. */
struct masters *masters_start_stepped(unsigned n, volatile int64_t **ret_step_ns);

/* master_restart() for one of them. */
void master_restart_stepped(struct masters *masters, unsigned node, bool empty);

#endif
