/* nodes.h - node lists in which proxies stand for masters: one a contender. */
#ifndef CHAOS_NODES_H
#define CHAOS_NODES_H

#include "chaos/check/record.h"
#include "chaos/place/proxy.h"

/* Write `dir`/contender-N for every seat, with the masters' options, and settings, of
 * `config`, and note it there. False: `why`. */
bool chaos_nodes_write(const struct rl_config *config, const char *dir,
                       struct chaos_proxies *proxies, struct chaos_record *record, char *why,
                       size_t why_size);

/* Write that of one seat again, without these masters (a bit each). */
bool chaos_nodes_write_one(const struct rl_config *config, struct chaos_proxies *proxies,
                           const struct chaos_seat *seat, unsigned client, uint64_t without,
                           char *why, size_t why_size);

/* The same list without proxies, as `dir`/direct. The run itself looks at locks through it. */
bool chaos_nodes_write_direct(const struct rl_config *config, const char *dir,
                              char ret_path[CHAOS_PATH_MAX], char *why, size_t why_size);

#endif
