/* server_info.h - INFO's reply, read. What follows for the master's vote: trust.h. Core: pure. */
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
    int64_t replicas;         /* that are attached; -1: not told */
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

#endif
