/* sim_client.h - a client of the library in a simulated process, opened on the model masters,
 * and the calls on it, told to the oracles. Used by worlds and scenarios alike. */
#ifndef SIM_CLIENT_H
#define SIM_CLIENT_H

#include "sim_oracle.h"

struct sim_client_options {
    unsigned masters; /* the first so many; 0: all */
    uint64_t members; /* these, a bit each; 0: as above */
    unsigned db;
    int64_t ttl_ms;     /* of who names none; 0: the usual one */
    bool by_name;       /* "n1.sim" in place of an address */
    int64_t max_ttl_ms; /* 0: 30 s, and likewise below: the library's default */
    int64_t linger_ms;
    int64_t lock_delay_ms; /* 0: none */
    int64_t node_timeout_ms;
    double drift_factor;
    int guard;      /* as in redlock_config */
    int background; /* likewise */
    int config_agreement;
    int watch_wall_clock;
    int fencing;
    const char *password;
};

/* From within a fiber. NULL: it could not be opened (allocations fail), told in the story. */
redlock *sim_open(const struct sim_client_options *options);

/* A line of the story: somebody asks for a lock. */
void sim_tell_try(const char *name, const redlock_options *options);

/* The library's calls; each tells the story and the oracles. */
int sim_try(redlock *client, const char *name, const redlock_options *options,
            redlock_lock **ret_lock, struct sim_hold **ret_hold);
int sim_extend(redlock_lock *lock, struct sim_hold *hold, int64_t ttl_ms);
int sim_release(redlock_lock *lock, struct sim_hold *hold);
int sim_detach(redlock_lock *lock, struct sim_hold *hold, char *ret_text, size_t size);
int sim_attach(redlock *client, const char *text, struct sim_hold *hold,
               redlock_lock **ret_lock);
void sim_close(redlock *client);

#endif
