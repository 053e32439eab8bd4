/* sim_fault.h - what goes wrong in a world.
 *
 *   sim_faults.c      which kinds there are, and when
 *   sim_fault_aim.c   to whom they are done
 *   sim_fault_do.c    done, undone, counted
 *   sim_fault_master.c, sim_fault_path.c, sim_fault_proc.c: what is done
 *   sim_fault_felt.c  has anybody met it?
 */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include "sim_oracle.h"

#include <stdint.h>

/* name, word, the assumption that it breaks */
#define SIM_FAULTS(X)                                                                        \
    X(RESTART_EMPTY, "restart empty", SIM_ASSUMPTIONS)                                       \
    X(RESTART_WHOLE, "restart whole", SIM_ASSUMPTIONS)                                       \
    X(RESTART_LATE, "restart less a second", SIM_ASSUMPTIONS)                                \
    X(KILL_AT, "killed at a script", SIM_ASSUMPTIONS)                                        \
    X(PAUSE, "master paused", SIM_ASSUMPTIONS)                                               \
    X(SLOW, "master slow", SIM_ASSUMPTIONS)                                                  \
    X(TROUBLE, "error replies", SIM_ASSUMPTIONS)                                             \
    X(LIES, "garbage, stray and wrong replies", SIM_ASSUMPTIONS)                             \
    X(SCRIPT_FLUSH, "scripts forgotten", SIM_ASSUMPTIONS)                                    \
    X(CLOCK_BACK, "master's clock set back", SIM_ASSUMPTIONS)                                \
    X(CLOCK_RATE, "master's clock rate changed", SIM_ASSUMPTIONS)                            \
    X(HOLE, "black hole", SIM_ASSUMPTIONS)                                                   \
    X(HOLE_THERE, "requests vanish", SIM_ASSUMPTIONS)                                        \
    X(HOLE_BACK, "replies vanish", SIM_ASSUMPTIONS)                                          \
    X(CUT_OFF, "master cut off", SIM_ASSUMPTIONS)                                            \
    X(HALVES, "partition in halves", SIM_ASSUMPTIONS)                                        \
    X(RING, "ring of majorities", SIM_ASSUMPTIONS)                                           \
    X(RESET, "connections reset", SIM_ASSUMPTIONS)                                           \
    X(HALF_OPEN, "half-open connections", SIM_ASSUMPTIONS)                                   \
    X(CUT_AFTER, "cut after some bytes", SIM_ASSUMPTIONS)                                    \
    X(DELAY, "delays", SIM_ASSUMPTIONS)                                                      \
    X(PROC_PAUSE, "process paused", SIM_ASSUMPTIONS)                                         \
    X(PROC_SUSPEND, "process suspended", SIM_ASSUMPTIONS)                                    \
    X(PROC_STUTTER, "process stutters", SIM_ASSUMPTIONS)                                     \
    X(PROC_CRASH, "process killed", SIM_ASSUMPTIONS)                                         \
    X(ALLOC, "allocations fail", SIM_ASSUMPTIONS)                                            \
    X(NO_FDS, "no descriptors", SIM_ASSUMPTIONS)                                             \
    X(LOOKUP, "look-ups fail", SIM_ASSUMPTIONS)                                              \
    X(OWN_BACK, "client's clock set back", SIM_ASSUMPTIONS)                                  \
    X(FLUSHALL, "FLUSHALL", SIM_KEYS_STAY)                                                   \
    X(EVICT, "eviction", SIM_KEYS_STAY)                                                      \
    X(UNGUARDED, "restart empty, no guard", SIM_GUARD_ON)                                    \
    X(STEP, "master's clock steps forward", SIM_NO_STEP)                                     \
    X(FAST, "master's clock too fast", SIM_RATES)                                            \
    X(FREEZE, "snapshot of a process", SIM_TIME_COUNTS)                                      \
    X(OWN_UNSEEN, "client's clock set back unseen", SIM_STEADY)                              \
    X(OWN_FORWARD, "client's clock steps forward", SIM_STEADY)                               \
    X(REPLACE, "another server in a node's place", SIM_ONE_SERVER)                           \
    X(EMPTY, "emptied, its connections cut", SIM_ASSUMPTIONS)                                \
    X(WARM, "a warm server behind the name", SIM_ASSUMPTIONS)                                \
    X(GONE, "emptied on live connections", SIM_ASSUMPTIONS)                                  \
    X(COPY, "a copy behind live connections", SIM_ASSUMPTIONS)                               \
    X(WALL, "client's wall clock set", SIM_ASSUMPTIONS)                                      \
    X(RESTART_SOME, "restart with some keys", SIM_ASSUMPTIONS)                               \
    X(NUMBER, "a token's number set", SIM_ASSUMPTIONS)                                       \
    X(FAILOVER, "failover", SIM_ASSUMPTIONS)                                                 \
    X(FAILOVER_BY_HAND, "failover by hand", SIM_ASSUMPTIONS)                                 \
    X(PROMOTED, "replica promoted by hand", SIM_ASSUMPTIONS)                                 \
    X(DEAF, "Sentinel hears nothing", SIM_ASSUMPTIONS)                                       \
    X(FORGETS, "Sentinel forgets", SIM_ASSUMPTIONS)                                          \
    X(ALL_FORGET, "all Sentinels forget", SIM_REMEMBER)                                      \
    X(DEMOTED, "demoted, connections stand", SIM_CUT)

enum sim_fault {
#define SIM_FAULT_ENUM(name, word, breaks) SIM_FAULT_##name,
    SIM_FAULTS(SIM_FAULT_ENUM)
#undef SIM_FAULT_ENUM
    SIM_FAULT_KINDS
};

const char *sim_fault_word(enum sim_fault fault);

/* Draw which there are and how often, and schedule them, up to `until_ns`. */
void sim_faults_begin(int64_t until_ns);
/* Everything is undone that does not end by itself. */
void sim_faults_end(void);
/* Those that are still to be met when all else is over are counted: met, or not. */
void sim_fault_count_all(void);

/* sim_fault_aim.c: in such a world as this one. */
bool sim_fault_means_something(enum sim_fault fault);

/* sim_fault_do.c: do it once, for so long. True: there was something to do it to. */
bool sim_fault_do(enum sim_fault fault, int64_t for_ns);
void sim_fault_undo_all(void);
int64_t sim_fault_over_ns(void); /* when the last effect of those done so far will be over */
void sim_fault_do_begin(void);

#endif
