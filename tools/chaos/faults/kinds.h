/* kinds.h - sets of kinds of faults, a bit each, and their names. */
#ifndef CHAOS_KINDS_H
#define CHAOS_KINDS_H

#include "chaos/chaos.h"

#define CHAOS_BIT(kind) (UINT64_C(1) << (kind))
#define CHAOS_BIT_OF(name) CHAOS_BIT(CHAOS_FAULT_##name)

/* The master is another process afterwards. */
#define CHAOS_RESTARTING                                                                       \
    (CHAOS_BIT_OF(KILL) | CHAOS_BIT_OF(KILL_AOF) | CHAOS_BIT_OF(KILL_RDB) |                    \
     CHAOS_BIT_OF(CLOCK) | CHAOS_BIT_OF(CLOCK_BACK))

/* Done to a contender that holds a lock then. */
#define CHAOS_OF_HOLDERS (CHAOS_BIT_OF(PAUSE_HOLDER) | CHAOS_BIT_OF(KILL_HOLDER))

/* Done by the proxies alone, to any masters. */
#define CHAOS_OF_PATHS                                                                         \
    (CHAOS_BIT_OF(PARTITION) | CHAOS_BIT_OF(PARTITION_THERE) | CHAOS_BIT_OF(PARTITION_BACK) |  \
     CHAOS_BIT_OF(HALVES) | CHAOS_BIT_OF(RING) | CHAOS_BIT_OF(DELAY) | CHAOS_BIT_OF(SPLIT) |   \
     CHAOS_BIT_OF(HALF_OPEN) | CHAOS_BIT_OF(RESET))

/* Done to the master's process, its clock or its machine: by the place where it is. */
#define CHAOS_OF_PLACES (CHAOS_RESTARTING | CHAOS_BIT_OF(PAUSE) | CHAOS_BIT_OF(DISCONNECT))

/* Done by the proxies, which lead to a spare server instead. */
#define CHAOS_OF_SPARES CHAOS_BIT_OF(WARM)

/* Done to the contenders' lists of masters. */
#define CHAOS_OF_LISTS (CHAOS_BIT_OF(MEMBERS) | CHAOS_BIT_OF(MEMBERS_AT_ONCE))

/* Done by asking the master. The first two end by themselves. */
#define CHAOS_OF_COMMANDS                                                                      \
    (CHAOS_BIT_OF(CLIENT_PAUSE) | CHAOS_BIT_OF(SLEEP) | CHAOS_BIT_OF(OOM) |                    \
     CHAOS_BIT_OF(SCRIPT_FLUSH) | CHAOS_BIT_OF(FLUSHALL))

/* Faults that would disturb other users of masters that are not ours: only if named. */
#define CHAOS_NOT_UNDONE                                                                       \
    (CHAOS_BIT_OF(OOM) | CHAOS_BIT_OF(SCRIPT_FLUSH) | CHAOS_BIT_OF(FLUSHALL) |                 \
     CHAOS_BIT_OF(CLOCK) | CHAOS_BIT_OF(CLOCK_BACK))

/* A master hit by it casts no vote meanwhile, for some contenders at least. */
#define CHAOS_SILENCING                                                                        \
    (CHAOS_RESTARTING | CHAOS_BIT_OF(PAUSE) | CHAOS_BIT_OF(PARTITION) |                        \
     CHAOS_BIT_OF(PARTITION_THERE) | CHAOS_BIT_OF(PARTITION_BACK) | CHAOS_BIT_OF(HALVES) |     \
     CHAOS_BIT_OF(RING) | CHAOS_BIT_OF(CLIENT_PAUSE) | CHAOS_BIT_OF(SLEEP) |                   \
     CHAOS_BIT_OF(OOM) | CHAOS_BIT_OF(DISCONNECT) | CHAOS_OF_LISTS)

#define CHAOS_ALL (CHAOS_BIT(CHAOS_FAULT_KINDS) - 1)

/* The default of --faults: kinds that fit into half a minute and break no assumption. */
#define CHAOS_DEFAULT                                                                          \
    (CHAOS_BIT_OF(KILL) | CHAOS_BIT_OF(PAUSE) | CHAOS_BIT_OF(PAUSE_HOLDER) |                   \
     CHAOS_BIT_OF(KILL_HOLDER) | CHAOS_BIT_OF(PARTITION) | CHAOS_BIT_OF(HALVES) |              \
     CHAOS_BIT_OF(RING) | CHAOS_BIT_OF(DELAY) | CHAOS_BIT_OF(HALF_OPEN) |                      \
     CHAOS_BIT_OF(RESET) | CHAOS_BIT_OF(SCRIPT_FLUSH))

/* The kind of that word, or -1; and the one that was probably meant, or NULL. */
int chaos_fault_find(const char *word, size_t len);
const char *chaos_fault_nearest(const char *word, size_t len);

#endif
