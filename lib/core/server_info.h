/* server_info.h - what a master says of itself (INFO), and whether it may vote. Core: pure.
 *
 * The restart guard: a master that came back without its keys must not vote until every
 * lease that could rest on a lost key has run out, for a lease of max-ttl. It votes iff it
 * has been up for long enough, or this client has itself seen this very process (run_id)
 * for long enough, and neither as a replica, which has its master's keys, nor loading others. A
 * second less is a proven hole, and INFO over-reports the uptime by up to a second, hence
 * the - 1.
 */
#ifndef RL_SERVER_INFO_H
#define RL_SERVER_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rl_info {
    char run_id[48];      /* empty: not told */
    char replication[48]; /* master_replid; empty: not told */
    char role[16];        /* empty: not told */
    char version[24];     /* "7.2.4", "valkey 8.1.0" */
    char valkey[17];      /* its own version, where it is one: the other is what it is like */
    char policy[32];      /* maxmemory_policy */
    int64_t uptime_s;     /* -1: not told */
    int64_t maxmemory;    /* bytes; 0: no limit, or not told */
    int64_t used_memory;
    int64_t uncounted_memory; /* the part of it that the limit is not about */
    int64_t good_replicas;    /* -1: it does not ask for any */
    int64_t clients;          /* that are connected; -1: not told */
    int64_t second_offset;    /* up to which it has another's replication id; -1: it has none */
    bool sentinel;
    bool cluster;
    bool loading;
    bool rdb_failed; /* its last attempt to save, or to write its log */
    bool aof_failed;
};

/* Parse the text of INFO. Unknown and malformed lines are passed over. */
void rl_info_parse(const char *text, size_t len, struct rl_info *ret_info);

bool rl_info_is_replica(const struct rl_info *info);

/* Why this server can't be a master of locks, whatever else is true; NULL: nothing is known
 * against it. A static text. */
const char *rl_info_unfit(const struct rl_info *info);

/* Why it refuses locks now, or may: the error that it answers, and what would be right. NULL:
 * it does not. A static text. */
const char *rl_info_refusal(const struct rl_info *info);

/* How long a vote is withheld after a restart: max_ttl * (1 + drift_factor). */
int64_t rl_guard_window_ns(int64_t max_ttl_ns, double drift_factor);

/* 0: it may vote. Else the time from now after which it is worth asking again.
 * `seen_ns` is how long this client has known the run_id (0: from now on). */
int64_t rl_guard_wait_ns(int64_t window_ns, int64_t uptime_s, int64_t seen_ns);

#endif
