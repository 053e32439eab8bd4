/* status_checks.c - see status_checks.h. */
#include "config_auto.h"

#include "redlock/status_checks.h"

#include "base/limits.h"
#include "core/refusal.h"
#include "core/trust.h"
#include "redlock/cli.h"

#include <stdio.h>
#include <string.h>

#define SOON_S (INT64_C(30) * 86400)
#define FULL "max number of clients" /* what a master says before it closes */

static void set(struct status_check *check, const char *name, enum status_result result,
                const char *reason, size_t size)
{
    *check = (struct status_check){.name = name, .result = result};
    if (result == STATUS_OK || result == STATUS_NONE)
        return;
    struct cli_text shown = cli_text(reason, strnlen(reason, size));
    _Static_assert(sizeof(shown.text) <= sizeof(check->reason), "reason");
    memcpy(check->reason, shown.text, sizeof(shown.text));
    const char *own = rl_refusal_own_remedy(check->reason);
    check->remedy = own ? own + 2 : rl_refusal_remedy(check->reason);
    if (own)
        check->reason[own - check->reason] = '\0';
}

static void check_connection(const redlock_node_status *node, struct status_check *check)
{
    bool good = node->state == REDLOCK_NODE_READY || node->state == REDLOCK_NODE_REFUSED ||
                node->state == REDLOCK_NODE_GUARDED;
    const char *why = *node->text                           ? node->text
                      : node->state == REDLOCK_NODE_STALLED ? "does not answer"
                                                            : "not connected yet";
    set(check, "connection", good ? STATUS_OK : STATUS_FAIL, why, sizeof(node->text));
}

/* From that day on it would have no vote. */
static void warn_of_end(int64_t left_s, struct status_check *check)
{
    if (check->result != STATUS_OK || left_s < 0 || left_s >= SOON_S)
        return;
    check->result = STATUS_WARN;
    snprintf(check->reason, sizeof(check->reason),
             "its TLS certificate, or one that vouches for it, ends in %.40s",
             cli_time_text(left_s * 1000).text);
    check->remedy = "renew it, and let the server read it: CONFIG SET tls-cert-file";
}

/* Locks work on older ones too, for all that is known, but nothing here is tested on them. */
static void warn_of_age(const redlock_node_status *node, struct status_check *check)
{
    unsigned major, minor;
    if (check->result != STATUS_OK || sscanf(node->version, "%u.%u", &major, &minor) != 2 ||
        major > 6 || (major == 6 && minor >= 2))
        return;
    check->result = STATUS_WARN;
    snprintf(check->reason, sizeof(check->reason),
             "Redis %u.%u is older than 6.2, the oldest that libredlock is tested with", major,
             minor);
    check->remedy = "upgrade it, one master at a time";
}

static void check_server(const redlock_node_status *node, struct status_check *check)
{
    enum status_result result =
        node->state == REDLOCK_NODE_REFUSED                                        ? STATUS_FAIL
        : node->state != REDLOCK_NODE_READY && node->state != REDLOCK_NODE_GUARDED ? STATUS_NONE
        : node->state == REDLOCK_NODE_READY && *node->text                         ? STATUS_WARN
                                                                                   : STATUS_OK;
    set(check, "server", result, node->text, sizeof(node->text));
    warn_of_age(node, check);
}

static bool is_unmarked(const redlock_node_status *node)
{
    return strncmp(node->text, CLI_UNMARKED, strlen(CLI_UNMARKED)) == 0;
}

static void check_guard(const redlock_node_status *node, struct status_check *check)
{
    bool guarded = node->state == REDLOCK_NODE_GUARDED;
    set(check, "guard",
        guarded                             ? STATUS_WARN
        : node->state == REDLOCK_NODE_READY ? STATUS_OK
                                            : STATUS_NONE,
        node->text, sizeof(node->text));
    if (!guarded || node->guard_ms <= 0 || strstr(node->text, CLI_NO_UPTIME))
        return; /* this does not pass by itself */
    const char *text = node->text;
    bool to_be = strncmp(text, CLI_TO_BE, strlen(CLI_TO_BE)) == 0;
    text += to_be ? strlen(CLI_TO_BE) : 0;
    snprintf(check->reason, sizeof(check->reason), "votes %s%.20s%s: %.190s",
             to_be ? "" : "in ", cli_time_text(node->guard_ms).text,
             to_be ? " after the first client that wants a lock" : "",
             cli_text(text, strnlen(text, sizeof(node->text))).text);
    /* Else it passes. */
    check->remedy = is_unmarked(node)
                        ? "if all masters were just made, run redlock init; else it passes"
                        : NULL;
}

static void check_proof(const char *name, const redlock_proof *proof, enum status_result bad,
                        struct status_check *check)
{
    set(check, name,
        proof->result == REDLOCK_PROOF_FAILED ? bad
        : proof->result == REDLOCK_PROOF_OK   ? STATUS_OK
                                              : STATUS_NONE,
        proof->text, sizeof(proof->text));
}

static void check_proofs(const redlock_node_status *node, struct status_check *check)
{
    check_connection(node, &check[0]);
    check_server(node, &check[1]);
    check_guard(node, &check[2]);
    check_proof("acquire", &node->acquire, STATUS_FAIL, &check[3]);
    check_proof("extend", &node->extend, STATUS_FAIL, &check[4]);
    check_proof("release", &node->release, STATUS_FAIL, &check[5]);
    /* Without wake-ups locks are had all the same, only later. */
    check_proof("wake", &node->wake, STATUS_WARN, &check[6]);
}

/* Where looking again is in vain. */
static void note_blindness(struct status_found *found)
{
    const struct status_lists *lists = &found->lists;
    if (lists->unknown_for_good)
        snprintf(found->blind, sizeof(found->blind),
                 "whether clients have another node list (%s)", lists->why);
    for (unsigned i = 0; i < found->report->node_count && !*found->blind; i++) {
        const char *why = found->master[i].facts.uncertified;
        if (status_is_refusal(why))
            snprintf(found->blind, sizeof(found->blind),
                     "whether masters are certified for fencing tokens (%s)", why);
    }
}

static bool is_full(const redlock_node_status *node)
{
    return node->state == REDLOCK_NODE_DOWN && strstr(node->text, FULL) != NULL;
}

/* One of its connections leads to another server than this program's own: which of the two has
 * granted what, and whether a release is heard, is a matter of chance. */
static void second_server(struct status_check check[STATUS_CHECKS])
{
    static const char why[] = "two servers answer at this address";
    set(&check[1], "server", STATUS_FAIL, why, sizeof(why));
}

/* The library may have found that in the midst of the probe. A wake that is not heard was then
 * published at the other one. */
static void see_to_two_servers(struct status_master *master)
{
    struct status_check *check = master->check;
    bool two = master->facts.second_server;
    for (unsigned i = 0; i < STATUS_PROOFS; i++)
        two = two || strstr(check[i].reason, "two servers");
    if (!two)
        return;
    second_server(check);
    if (check[6].result == STATUS_WARN)
        check[6].remedy = check[1].remedy;
}

/* Where all masters' times of day differ alike, it is this machine's that is wrong. */
static void see_to_own_clock(struct status_found *found)
{
    unsigned told = 0, ahead = 0, behind = 0;
    for (unsigned i = 0; i < found->report->node_count; i++) {
        const struct status_master *master = &found->master[i];
        told += master->facts.clock.offset_us.known;
        ahead += strstr(master->check[STATUS_PROOFS].reason, "ahead of ours") != NULL;
        behind += strstr(master->check[STATUS_PROOFS].reason, "behind ours") != NULL;
    }
    if (told < 2 || (ahead < told && behind < told))
        return;
    for (unsigned i = 0; i < found->report->node_count; i++) {
        if (found->master[i].check[STATUS_PROOFS].result == STATUS_WARN)
            found->master[i].check[STATUS_PROOFS].remedy =
                "all masters say so: set this machine's clock right, not theirs";
    }
}

/* A master that passed the probe does not vote where something that a lock rests on fails. */
static bool votes(const struct status_master *master)
{
    const redlock_node_status *node = master->node;
    for (unsigned i = 0; i < STATUS_CHECKS; i++) {
        if (master->check[i].result == STATUS_FAIL)
            return false;
    }
    return node->state == REDLOCK_NODE_READY && node->acquire.result == REDLOCK_PROOF_OK &&
           node->extend.result == REDLOCK_PROOF_OK && node->release.result == REDLOCK_PROOF_OK;
}

/* Two names that lead to one server are one, as for clients that certify others. */
static bool counts_anew(const struct status_ask *ask, unsigned node)
{
    const struct status_facts *facts = status_ask_facts(ask, node);
    for (unsigned i = 0; i < node; i++) {
        const struct status_facts *earlier = status_ask_facts(ask, i);
        if (*facts->run_id && rl_is_certified(&earlier->certificate) &&
            strcmp(facts->run_id, earlier->run_id) == 0)
            return false;
    }
    return rl_is_certified(&facts->certificate);
}

/* Are enough servers certified to certify another one? */
static bool certifies(const struct status_ask *ask, const redlock_status_report *report)
{
    unsigned certified = 0;
    for (unsigned i = 0; ask && i < report->node_count; i++)
        certified += counts_anew(ask, i);
    return certified >= report->needed;
}

void status_judge(const redlock_status_report *report, const struct status_ask *ask,
                  struct status_found *ret_found)
{
    struct status_found *found = ret_found;
    bool others_certified = certifies(ask, report);
    *found = (struct status_found){.report = report};
    if (ask) {
        const struct status_setup *setup = status_ask_setup(ask);
        found->rights = setup->rights;
        found->lists = status_ask_lists(ask);
        found->lease_ms =
            rl_guard_window_ns(setup->max_ttl_ms * RL_NS_PER_MS, setup->drift_factor) /
                RL_NS_PER_MS +
            1;
    }
    for (unsigned i = 0; i < report->node_count; i++) {
        struct status_master *master = &found->master[i];
        master->node = &report->node[i];
        check_proofs(master->node, master->check);
        status_facts_init(&master->facts);
        if (ask) {
            master->facts = *status_ask_facts(ask, i);
            master->facts.others_certified = others_certified;
            if (master->facts.sentinels.term > 0 && is_unmarked(master->node))
                master->check[2].remedy = NULL; /* init takes no such master */
            warn_of_end(master->facts.tls_left_s, &master->check[0]);
            status_checks_assume(master->node, i, &master->facts, status_ask_setup(ask),
                                 &master->check[STATUS_PROOFS]);
            found->uncertified += status_ask_setup(ask)->certificates &&
                                  !rl_is_certified(&master->facts.certificate);
        }
        see_to_two_servers(master);
        master->votes = votes(master);
        master->full = is_full(master->node);
        found->votes += master->votes;
    }
    see_to_own_clock(found);
    note_blindness(found);
    found->verdict = found->votes < report->needed  ? STATUS_NOT_FIT
                     : found->votes < report->nodes ? STATUS_DEGRADED
                                                    : STATUS_FIT;
}
