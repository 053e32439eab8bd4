/* statement.h - what one Sentinel's answer says: which server is the master of a service, in
 * which term? Core: pure.
 *
 * A term is the config-epoch, a number that each failover makes greater. A server is X@e: an
 * address and a term. While a Sentinel leads a failover, its two answers are of two servers, and
 * `failover-state` decides which of them is its word:
 *
 *   no failover_in_progress            ip, port and config-epoch of SENTINEL MASTER
 *   wait_start, select_slave,          the same: the failover may yet be given up
 *   send_slaveof_noone, wait_promotion
 *   reconf_slaves, update_config       the address of GET-MASTER-ADDR-BY-NAME, which is asked
 *                                      behind it in one write, and that config-epoch. If it is
 *                                      still the former address: nothing.
 *   any other                          nothing
 *
 * The run id in SENTINEL MASTER is that of its own address. A host name may lead to another
 * process than it did, so for a name nothing is said without the run id.
 */
#ifndef RL_STATEMENT_H
#define RL_STATEMENT_H

#include "core/sightings.h"
#include "core/unheard.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RL_TERM_MAX (UINT64_C(1) << 63)

/* A server: X@e. */
struct rl_master_at {
    char host[256]; /* in small letters */
    int port;       /* 0: no server */
    uint64_t term;
    char run_id[RL_RUN_ID_SIZE]; /* empty: not told */
};

/* The same address and term? */
bool rl_master_same(const struct rl_master_at *a, const struct rl_master_at *b);

/* Decimal digits, no sign, no 0 before others, RL_TERM_MAX at most. */
bool rl_term_parse(const char *text, uint64_t *ret_term);

/* The fields of one answer, as texts. Empty: absent, or longer than the field. */
struct rl_sentinel_told {
    char ip[256], port[8], run_id[RL_RUN_ID_SIZE]; /* SENTINEL MASTER, as the next line */
    char config_epoch[24], flags[128], failover_state[32];
    char addr_host[256], addr_port[8];   /* GET-MASTER-ADDR-BY-NAME */
    char replica_run_id[RL_RUN_ID_SIZE]; /* of that address, in SENTINEL REPLICAS */
};

/* Take the value of this field of SENTINEL MASTER, where it is one of those. */
void rl_told_field(struct rl_sentinel_told *told, const char *field, const char *bytes,
                   size_t len);

/* A text as it was sent. What does not fit, or has a NUL, is as absent. */
void rl_told_text(const char *bytes, size_t len, char *ret_text, size_t size);

struct rl_statement {
    bool told;
    struct rl_master_at at; /* if it is told */
    const char *why;        /* else what is wrong: static words, as "no address"; NULL: */
    enum rl_unheard unheard; /* it gave no answer but an error, and this one */
};
void rl_statement_read(const struct rl_sentinel_told *told, struct rl_statement *ret);

#endif
