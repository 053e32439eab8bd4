/* server_info.h - INFO's reply, and whether the master may vote by it. Core: pure.
 *
 * The restart guard: a master that came back without its keys casts no vote until max-ttl has
 * passed since its restart. By then every lease that could rest on a lost key has expired. It
 * votes iff it has been up for long enough, or if this client has seen the same process
 * (run_id) for long enough. The process must not have been a replica in that time, which has its master's keys,
 * nor loading other keys. A second less would be unsafe, and INFO may report up to a second too
 * much uptime, hence the - 1.
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
    char valkey[17];      /* Valkey's own version; it tells a Redis version, too, which it is
                             compatible with */
    char redict[17];      /* Redict's, likewise */
    char policy[32];      /* maxmemory_policy */
    int64_t uptime_s;     /* -1: not told */
    int64_t time_us;      /* its time of day (Redis 6.0 and later); -1: not told */
    int64_t maxmemory;    /* bytes; 0: no limit, or not told */
    int64_t used_memory;
    int64_t uncounted_memory; /* the part of used memory that the limit does not count */
    int64_t good_replicas;    /* -1: the server requires none */
    int64_t clients;          /* connected clients; -1: not told */
    int64_t second_offset;    /* end of the second replication id; -1: there is none */
    bool sentinel;
    bool cluster;
    bool loading;
    bool rdb_failed; /* the last RDB save or AOF write failed */
    bool aof_failed;
};

/* Parse the text of INFO. Unknown and malformed lines are ignored. */
void rl_info_parse(const char *text, size_t len, struct rl_info *ret_info);

bool rl_info_is_replica(const struct rl_info *info);

/* Why this server must never vote; NULL: no reason is known. A static text. */
const char *rl_info_unfit(const struct rl_info *info);

/* Why the server refuses locks now, or may do so: its error, and what would be right. NULL: it
 * does not. A static text. */
const char *rl_info_refusal(const struct rl_info *info);

/* How long a vote is withheld after a restart: max_ttl * (1 + drift_factor). */
int64_t rl_guard_window_ns(int64_t max_ttl_ns, double drift_factor);

/* 0: it may vote. Else the time from now after which it is worth asking again.
 * `seen_ns` is how long this client has known the run_id (0: from now on). */
int64_t rl_guard_wait_ns(int64_t window_ns, int64_t uptime_s, int64_t seen_ns);

#endif
