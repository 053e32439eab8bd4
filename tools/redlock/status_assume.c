/* status_assume.c - checks of what a lock rests on and no probe can prove: the master's clock,
 * its memory, its connections, its host, its clients' node lists, Sentinels, its fencing
 * counters, and the user's rights. */
#include "config_auto.h"

#include "core/quorum.h"
#include "core/refusal.h"
#include "redlock/cli.h"
#include "redlock/status_checks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define OFFSET_MAX_US (5 * 1000000LL)
#define NEARLY_FULL 0.9
/* Set forward under a running server, a clock ends keys before their leases. */
#define CLOCK                                                                                  \
    "mend its machine's clock: slew it, or stop that server before a step, and start it after"

static void begin(struct status_check *check, const char *name, enum status_result result)
{
    *check = (struct status_check){.name = name, .result = result};
}

/* A check of what the master tells. What it does not tell is neither well nor amiss. */
static void begin_told(struct status_check *check, const char *name, bool told,
                       enum status_question by, const struct status_facts *facts)
{
    const char *why = facts->why[by];
    bool tried = facts->asked || *why;
    begin(check, name, told ? STATUS_OK : tried ? STATUS_UNKNOWN : STATUS_NONE);
    if (!told && tried)
        snprintf(check->reason, sizeof(check->reason), "%s", *why ? why : "it does not tell");
}

/* Leases are over after a time of this machine, keys after one of the master's. */
static void check_rate(const struct status_clock *clock, double drift,
                       struct status_check *check)
{
    if (!clock->rate.known)
        return;
    if (clock->rate.most < 0.5) {
        check->result = STATUS_FAIL;
        snprintf(check->reason, sizeof(check->reason),
                 "its clock stands still or goes back: keys do not run out there");
        check->remedy = CLOCK;
    } else if (clock->rate.least > 1 + drift) {
        check->result = STATUS_FAIL;
        snprintf(check->reason, sizeof(check->reason),
                 "its clock runs ahead by %.1f %% or more: keys run out before their leases",
                 (clock->rate.least - 1) * 100);
        check->remedy = CLOCK ". Or raise drift-factor in all clients";
    } else if (clock->rate.most < 1 - drift) {
        check->result = STATUS_WARN;
        snprintf(check->reason, sizeof(check->reason),
                 "its clock lags by %.1f %% or more: keys outlive their leases",
                 (1 - clock->rate.most) * 100);
        check->remedy = CLOCK;
    }
}

/* From a quarter of max-ttl on, a master may not take the fencing token of another. */
static void check_offset(const struct status_clock *clock, int64_t max_ttl_ms,
                         struct status_check *check)
{
    int64_t most_us =
        max_ttl_ms * 1000 / 4 < OFFSET_MAX_US ? max_ttl_ms * 1000 / 4 : OFFSET_MAX_US;
    const struct status_bounds *offset_us = &clock->offset_us;
    bool ahead = offset_us->least > (double)most_us;
    if (check->result >= STATUS_WARN || !offset_us->known ||
        (!ahead && offset_us->most >= -(double)most_us))
        return;
    check->result = STATUS_WARN;
    snprintf(check->reason, sizeof(check->reason), "its time of day is %.40s %s ours",
             cli_time_text((int64_t)(ahead ? offset_us->least : -offset_us->most) / 1000).text,
             ahead ? "ahead of" : "behind");
    check->remedy = CLOCK ": fencing tokens begin with the time";
}

/* Where it may not be asked for its time, INFO tells how far it is off, and no rate. */
static void check_clock(const struct status_facts *facts, const struct status_setup *setup,
                        struct status_check *check)
{
    begin_told(check, "clock", facts->clock.rate.known, STATUS_ASKED_TIME, facts);
    check_rate(&facts->clock, setup->drift_factor, check);
    check_offset(&facts->clock, setup->max_ttl_ms, check);
}

static void check_clients(const struct status_facts *facts, struct status_check *check)
{
    bool known = facts->clients >= 0 && facts->clients_max > 0;
    begin_told(check, "clients", known, STATUS_ASKED_INFO, facts);
    if (!known || (double)facts->clients < NEARLY_FULL * (double)facts->clients_max)
        return;
    check->result = STATUS_WARN;
    snprintf(check->reason, sizeof(check->reason),
             "%" PRId64 " of %" PRId64 " connections are in use", facts->clients,
             facts->clients_max);
    check->remedy = "raise maxclients: more are refused, a lock's too";
}

static void check_memory(const struct status_facts *facts, struct status_check *check)
{
    begin_told(check, "memory", facts->evicted >= 0, STATUS_ASKED_INFO, facts);
    if (facts->evicted <= 0)
        return;
    check->result = STATUS_WARN;
    snprintf(check->reason, sizeof(check->reason),
             "it has evicted %" PRId64 " keys since its start, perhaps locks", facts->evicted);
    check->remedy =
        "set maxmemory-policy noeviction there, and restart it: the guard waits for "
        "the locks that it may have evicted";
}

/* What a restart may lose although the append-only file is whole. */
static void warn_replay(const struct status_facts *facts, struct status_check *check)
{
    check->result = STATUS_WARN;
    if (facts->refused > 0)
        snprintf(check->reason, sizeof(check->reason),
                 "it refused commands when it read its append-only file, and dropped what "
                 "scripts wrote (unexpected_error_replies is %" PRId64 ")",
                 facts->refused);
    else
        snprintf(check->reason, sizeof(check->reason),
                 "the restart guard is off, and its default user may not run %s: some servers "
                 "drop what scripts wrote when they read their append-only file",
                 facts->unreplayed);
    check->remedy = "set guard on in all clients, if it is off; switch the default user off, "
                    "and let it keep "
                    "its rights: ACL SETUSER default off ~* &* +@all, in its ACL file too";
}

static void check_restart(const struct status_facts *facts, const struct status_setup *setup,
                          struct status_check *check)
{
    bool file = !setup->guard && facts->aof == 1;
    bool known = facts->asked && (!file || facts->fsync == 0 || facts->replays >= 0);
    bool dropped = facts->asked && facts->aof == 1 && facts->refused > 0;
    begin_told(check, "restart", known || dropped,
               facts->asked ? STATUS_ASKED_FSYNC : STATUS_ASKED_INFO, facts);
    if (dropped || (known && file && facts->replays == 0)) {
        warn_replay(facts, check);
        return;
    }
    if (!known || setup->guard || facts->aof < 0 || facts->fsync == 1)
        return;
    check->result = STATUS_WARN;
    snprintf(check->reason, sizeof(check->reason), "the restart guard is off, and it %s",
             facts->aof == 0 ? "has no append-only file: a restart forgets locks"
                             : "answers before its append-only file is on the disk: a crash of "
                               "its machine forgets the last locks");
    check->remedy = "set guard on in all clients; or on the master, by CONFIG SET and with no "
                    "restart, appendonly yes and appendfsync always";
}

static void check_latency(const redlock_node_status *node, const struct status_setup *setup,
                          struct status_check *check)
{
    bool known = node->round_trip_us >= 0;
    begin(check, "latency", known ? STATUS_OK : STATUS_NONE);
    if (!known || node->round_trip_us * 2 < setup->answer_ms * 1000)
        return;
    check->result = STATUS_WARN;
    snprintf(check->reason, sizeof(check->reason),
             "a round trip takes %.40s, and a master has %.40s to answer",
             cli_time_text(node->round_trip_us / 1000).text,
             cli_time_text(setup->answer_ms).text);
    check->remedy = "raise node-timeout or the TTL: late answers are no votes";
}

static void check_lists(const struct status_facts *facts, struct status_check *check)
{
    begin_told(check, "lists", facts->listed, STATUS_ASKED_CLIENTS, facts);
    if (facts->odd_clients == 0)
        return;
    check->result = STATUS_WARN;
    snprintf(check->reason, sizeof(check->reason), "%u of its clients %s another node list: %s",
             facts->odd_clients, facts->odd_clients == 1 ? "has" : "have", facts->odd);
    check->remedy = status_lists_remedy(facts->odd_by_step, facts->odd_former);
}

/* Of replicas that are attached the library warns. */
static void check_failover(const struct status_facts *facts, bool fails_over,
                           struct status_check *check)
{
    begin_told(check, "failover", facts->listed, STATUS_ASKED_CLIENTS, facts);
    if (!facts->watched || fails_over)
        return;
    check->result = STATUS_WARN;
    snprintf(check->reason, sizeof(check->reason),
             "a Sentinel watches it, and may put a replica in its place");
    check->remedy = "write failover=yes on its line, or let Sentinel watch no master of locks";
}

/* It votes for locks without tokens. */
static void check_fencing(const struct status_facts *facts, const struct status_setup *setup,
                          struct status_check *check)
{
    const struct rl_certificate *certificate = &facts->certificate;
    bool refused = *facts->uncertified != '\0';
    bool known = setup->certificates && (*certificate->word || refused);
    if (setup->certificates)
        begin_told(check, "fencing", known, STATUS_ASKED_CLIENTS, facts);
    else
        begin(check, "fencing", STATUS_NONE);
    if (!known || rl_is_certified(certificate))
        return;
    check->result = STATUS_WARN;
    snprintf(check->reason, sizeof(check->reason), "%s%s",
             refused ? "its certificate can't be read: " : "",
             refused ? facts->uncertified : rl_uncertified_why(certificate));
    check->remedy =
        refused ? "allow the user what redlock(7) lists under permissions"
        : strcmp(certificate->word, "foreign") == 0 ? rl_refusal_of(check->reason)->remedy
        : facts->others_certified
            ? "clients certify it within seconds; status --wait waits for that"
            : "redlock init --tokens-above N, with the greatest token that any store has seen; "
              "redlock init where all masters are new";
}

/* Said at the first of these nodes. */
static void warn_shared(unsigned node, uint64_t shared, struct status_check *check)
{
    int len = snprintf(check->reason, sizeof(check->reason), "node %u", node + 1);
    for (unsigned i = 0; i < REDLOCK_NODES_MAX; i++) {
        if (shared & rl_bit(i))
            len += snprintf(check->reason + len, sizeof(check->reason) - (size_t)len, ", %u",
                            i + 1);
    }
    check->result = STATUS_WARN;
    snprintf(check->reason + len, sizeof(check->reason) - (size_t)len,
             " of the list have the same Sentinels: they stop together when a majority of "
             "these is down");
    check->remedy = "give each service Sentinels of its own; or have these on machines that fail "
                    "apart, and restart one at a time";
}

static void check_host(unsigned node, const struct status_setup *setup,
                       struct status_check *check)
{
    begin(check, "host", STATUS_OK);
    if (setup->shared[node])
        warn_shared(node, setup->shared[node], check);
    if (setup->same_host[node] < 0)
        return;
    check->result = STATUS_WARN;
    snprintf(check->reason, sizeof(check->reason),
             "on the same host as node %d of the list: both end with it",
             setup->same_host[node] + 1);
    check->remedy =
        "give each master a host of its own, by the steps of redlock(7), \"Changing the "
        "list\"";
}

static void check_rights(const redlock_node_status *node, const struct status_facts *facts,
                         const struct status_setup *setup, struct status_check *check)
{
    begin(check, "rights", STATUS_OK);
    status_rights_check(&facts->rights, &setup->rights, setup->named,
                        node->acquire.result == REDLOCK_PROOF_OK, check);
}

static void check_sentinels(const redlock_node_status *node, const struct status_facts *facts,
                            struct status_check *check)
{
    begin(check, "sentinels", STATUS_NONE);
    if (facts->sentinels.count > 0)
        status_sentinels_check(&facts->sentinels, node->acquire.result == REDLOCK_PROOF_OK,
                               check);
}

void status_checks_assume(const redlock_node_status *node, unsigned number,
                          const struct status_facts *facts, const struct status_setup *setup,
                          struct status_check *ret_check)
{
    check_clock(facts, setup, &ret_check[0]);
    check_latency(node, setup, &ret_check[1]);
    check_memory(facts, &ret_check[2]);
    check_clients(facts, &ret_check[3]);
    check_restart(facts, setup, &ret_check[4]);
    check_host(number, setup, &ret_check[5]);
    check_lists(facts, &ret_check[6]);
    check_failover(facts, setup->fails_over[number], &ret_check[7]);
    check_fencing(facts, setup, &ret_check[8]);
    check_rights(node, facts, setup, &ret_check[9]);
    check_sentinels(node, facts, &ret_check[10]);
}
