/* record.h - the memory that contenders, proxies and the parent share. It has the records that
 * the contenders write to under their locks, and their logs, which outlive them. A seat is one
 * contender's part of it; after a kill another contender takes the same seat. */
#ifndef CHAOS_RECORD_H
#define CHAOS_RECORD_H

#include "chaos/check/stall.h"
#include "chaos/check/store.h"

#include <stdatomic.h>
#include <sys/types.h>

#define CHAOS_PATH_MAX 256

/* One contender, as the others see it. */
struct chaos_seat {
    /* Written by the parent before there is a contender. */
    char nodes_file[CHAOS_PATH_MAX]; /* its own node list: proxies in place of masters */
    uint16_t client;

    /* The contender writes it, and the parent reads it to aim faults at holders. */
    _Atomic int64_t believes_until_ns; /* 0: it holds nothing */
    _Atomic uint32_t holds_name;
    _Atomic bool holds_shared;
    _Atomic uint32_t lives; /* how often a contender began here */
    _Atomic uint64_t holds; /* locks that were had */
    bool shared;            /* its events now are a reader's */
    bool joint;             /* or are of several names at once */
    uint64_t key;           /* of its hold, chaos_key_of(); for its own use */
    uint64_t token;         /* its fencing token; 0: none */
    uint8_t asked;          /* the number of masters asked for it */

    /* Its log. */
    size_t room;
    struct chaos_event *event;
    _Atomic size_t count;
    _Atomic uint64_t lost; /* events for which there was no room */
};

struct chaos_record {
    /* Written by the parent before there is a contender. */
    int64_t begun_ns; /* CLOCK_BOOTTIME: where all times of the run count from */
    pid_t parent;
    char prefix[48]; /* of the locks' names, so that runs do not meet */
    unsigned seats;
    _Atomic bool ending; /* contenders let go and exit */

    /* Set by a contender that can't go on when no other could either: chaos_fails(). */
    _Atomic uint32_t failed; /* 2: `failure` is there to be read */
    char failure[256];

    struct chaos_store store;
    struct chaos_seat seat[CHAOS_CLIENTS_MAX];

    /* Written by heartbeats, with times of the clock itself. */
    struct chaos_stall_log proxies_stalls;
    struct chaos_stall_log stalls[CHAOS_CLIENTS_MAX];
};

/* Memory for all of it, zeroed and shared with children. NULL: errno. */
struct chaos_record *chaos_record_new(const struct chaos_options *options);
void chaos_record_free(struct chaos_record *record);

/* Nanoseconds since the run's beginning. */
int64_t chaos_record_now_ns(const struct chaos_record *record);

/* The name of lock `name`: bytes that need no quoting. */
#define CHAOS_LOCK_NAME_MAX 64
void chaos_record_lock_name(const struct chaos_record *record, unsigned name,
                            char ret_text[CHAOS_LOCK_NAME_MAX]);

/* A contender's events, in the order in which they happen. Each is logged at once. */
void chaos_asks(struct chaos_record *record, struct chaos_seat *seat, unsigned name);
void chaos_refused(struct chaos_record *record, struct chaos_seat *seat, unsigned name,
                   int result);
/* The contender believes to hold the lock from now until `until_ns`. Repeated during a hold:
 * the hold is prolonged. */
void chaos_holds(struct chaos_record *record, struct chaos_seat *seat, unsigned name,
                 int64_t until_ns, uint64_t token);
/* Both only if the contender has just checked that it believes to hold the lock, or if the
 * store checks its fencing token. `until_ns`: as believed. False: the store has refused it. */
bool chaos_reads(struct chaos_record *record, struct chaos_seat *seat, unsigned name,
                 uint64_t *ret_value);
/* A reader, once more in the same hold: it must read the same. */
void chaos_reads_again(struct chaos_record *record, struct chaos_seat *seat, unsigned name,
                       int64_t until_ns);
bool chaos_writes(struct chaos_record *record, struct chaos_seat *seat, unsigned name,
                  uint64_t value, int64_t until_ns);
void chaos_loses(struct chaos_record *record, struct chaos_seat *seat, unsigned name);
void chaos_lets_go(struct chaos_record *record, struct chaos_seat *seat, unsigned name);
void chaos_released(struct chaos_record *record, struct chaos_seat *seat, unsigned name,
                    int result);

/* A foreign client died, or broke the protocol: the run ends with that sentence. The first
 * sentence counts. The contender returns right after. */
void chaos_fails(struct chaos_record *record, const struct chaos_seat *seat, const char *text);

/* All logs as one, sorted by time, in new memory. The contenders have ended. NULL: errno. */
struct chaos_event *chaos_record_events(const struct chaos_record *record, size_t *ret_count,
                                        uint64_t *ret_lost);

#endif
