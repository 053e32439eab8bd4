/* list_mark.h - what all clients of one name must have in common, in one word:
 * "n5-ttl30000-keys2-drift10000-guard-1f2e3d4c". The mark is a part of the name of each connection
 * (base/client_name.h), so that masters can show clients with another node list. Core: pure.
 *
 * Marks of all versions begin alike, and lists_join.lua looks at no more than this:
 *
 *   mark = "n" digits "-ttl" digits "-" rest     RL_LIST_MARK_MAX bytes at the most
 *   rest = letters, digits and dashes            one or more
 *
 * What has this shape, and is not what this version writes, is of another version. */
#ifndef RL_LIST_MARK_H
#define RL_LIST_MARK_H

#include "config/config.h"

#include <stddef.h>

#define RL_LIST_MARK_MAX 63 /* bytes */

/* "keys2" is the format of keys: their names, and what is in them (kinds/keys.h). Clients of the
 * former one, whose marks have no such word, wait in other queues and have other counters. */

struct rl_list_mark {
    unsigned nodes;
    int64_t max_ttl_ms;
    int64_t drift_ppm;  /* drift-factor, in millionths */
    int guard;          /* enum rl_guard */
    uint32_t addresses; /* of rl_node_mark(), in any order */
    bool strict;        /* fencing strict */
    bool former;        /* of the former format of keys */
    char other[RL_LIST_MARK_MAX + 1]; /* of another version: the whole word; the rest is 0 */
};

/* "on", "marker", ...: as in a node list. */
const char *rl_guard_word(int guard);

/* A hash of a master's address and database, without user and TLS; of what Sentinels name, of
 * the service and the format of its term, whichever Sentinels the line names. */
uint32_t rl_node_mark(const struct rl_node_config *node);

void rl_list_mark_of(const struct rl_config *config, struct rl_list_mark *ret_mark);

void rl_list_mark_write(const struct rl_list_mark *mark, char ret_text[RL_LIST_MARK_MAX + 1]);

/* In what they differ, for people: "its list has 5 masters, this one 3". */
#define RL_LIST_DIFFERENCE_MAX 80
void rl_list_mark_compare(const struct rl_list_mark *its, const struct rl_list_mark *own,
                          char ret_text[RL_LIST_DIFFERENCE_MAX]);

/* False: it is no mark of any version. */
bool rl_list_mark_read(const char *text, size_t len, struct rl_list_mark *ret_mark);

#endif
