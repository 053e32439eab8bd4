/* sim_sentinel_parts.h - between the files of the model Sentinels. */
#ifndef SIM_SENTINEL_PARTS_H
#define SIM_SENTINEL_PARTS_H

#include "sim_master_parts.h"

/* Of a failover that a Sentinel leads, as its failover-state tells them. */
enum sim_step {
    SIM_STEP_NONE,
    SIM_STEP_WAIT_START, /* maybe others elect it */
    SIM_STEP_SELECT,
    SIM_STEP_TELL, /* send_slaveof_noone */
    SIM_STEP_TOLD, /* wait_promotion */
    SIM_STEP_SEEN, /* reconf_slaves: it has the new term, and is named */
    SIM_STEP_DONE  /* update_config */
};

struct sim_register {
    unsigned master;
    uint64_t term;
    char run_id[41]; /* of that master's process, as INFO told it; empty: not yet */
    enum sim_step step;
    bool forced;        /* by hand */
    unsigned promoted;  /* to whom */
    uint64_t next_term; /* which it will be */
    int64_t changed_ns; /* when it was given another master, or term */
};

struct sim_sentinel {
    struct sim_event tick; /* first */
    struct sim_server *server;
    char id[41];
    uint64_t term; /* the newest that it knows of: any service's */
    bool deaf, forgets;
    struct sim_register of[SIM_SERVICES_MAX];
};

bool sim_sentinel_watches(const struct sim_sentinel *sentinel, unsigned service);
unsigned sim_register_named(const struct sim_register *reg);

#endif
