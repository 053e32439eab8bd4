/* status_checks.c - see status_checks.h. */
#include "config_auto.h"

#include "redlock/status_checks.h"

#include "base/limits.h"
#include "core/server_info.h"
#include "redlock/cli.h"

#include <string.h>

#define FULL "max number of clients" /* what a master says before it closes */

/* Words in a reason, and what helps then. The first row that fits is taken. */
static const struct {
    const char *words;
    const char *remedy;
} remedies[] = {
    {CLI_NO_UPTIME, "restart that server, with its clock right"},
    {"WRONGPASS", "give the user and the password of this master in the node list"},
    {"NOAUTH", "this master wants a password: add password-file=FILE to its line"},
    {"without any password", "this master wants no password: take it out of its line"},
    {"authentication", "check the user and the password of this master in the node list"},
    {"INFO was refused", "allow the user INFO; it may be renamed or disabled there"},
    {"unknown command", "EVAL is renamed or disabled there: allow EVAL and EVALSHA"},
    {"access a key",
     "allow the user these keys, or name a beginning that it may use: --prefix"},
    {"access one of the keys",
     "allow the user these keys, or name a beginning that it may use: --prefix"},
    {"channels redlock:wake", "allow the user the channels redlock:wake:*"},
    {"access a channel", "allow the user the channels redlock:wake:*"},
    {"ACL failure in script", "allow the user what redlock(7) lists under permissions"},
    {"user executing the script", "allow the user what redlock(7) lists under permissions"},
    {"NOPERM", "allow the user what redlock(7) lists under permissions"},
    {"PUBLISH", "allow the user PUBLISH and the channels redlock:wake:*"},
    {"ZADD", "allow the user these commands; redlock(7) lists all"},
    {FULL, "raise maxclients there, or have clients close connections that idle"},
    {"OOM", "free memory there, or raise maxmemory"},
    {"MISCONF", "its disk is full or can't be written: see its log, and mend persistence"},
    {"NOREPLICAS", "bring its replicas back, or set min-replicas-to-write 0"},
    {"CROSSSLOT", "use independent masters; a cluster's members are not"},
    {"MOVED", "use independent masters; a cluster's members are not"},
    {"CLUSTERDOWN", "use independent masters; a cluster's members are not"},
    {"names no run_id", "name the masters themselves, each independent of the others"},
    {"BUSY", "a script blocks this master: see SCRIPT KILL"},
    {"no answer to the script", "is it in CLIENT PAUSE, in a slow script, or overloaded?"},
    {"does not answer", "is its process stopped, or the network cut?"},
    {"connected, but no answer", "is its process stopped, paused or overloaded?"},
    {"backlog is full", "is its process stopped, paused or overloaded?"},
    {"TLS handshake", "is its process stopped or overloaded, or is that no TLS port?"},
    {"timed out while connecting", "is the address right, and does a firewall let us through?"},
    {"no answer within", "is the address right, and does a firewall let us through?"},
    {"refused", "is the server running, and is the address right?"},
    {"No such file", "is the server running, and is the path of its socket right?"},
    {"reset by peer", "is it a Redis server, and TLS on both sides or on neither?"},
    {"No route to host", "is the address right, and is its network there?"},
    {"unreachable", "is the address right, and is its network there?"},
    {"Name or service not known", "is the host's name right?"},
    {"name resolution", "is the host's name right, and does a name server answer?"},
    {"look-up takes too long", "does a name server answer?"},
    {"same server", "name each master once"},
    {"ertificate", "see ca-file, cert-file and server-name in redlock.conf(5)"},
};

static const char *remedy_of(const char *reason)
{
    for (size_t i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++) {
        if (strstr(reason, remedies[i].words))
            return remedies[i].remedy;
    }
    return NULL;
}

/* What the library itself says often ends in what helps: "...: set that to 0". It is cut off
 * there. NULL: it does not. */
static const char *own_remedy(char *reason)
{
    static const char *const begins[] = {": name ", ": set ", ": free "};
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
        char *at = strstr(reason, begins[i]);
        if (at) {
            *at = '\0';
            return at + 2;
        }
    }
    return NULL;
}

static void set(struct status_check *check, const char *name, enum status_result result,
                const char *reason, size_t size)
{
    *check = (struct status_check){.name = name, .result = result};
    if (result == STATUS_OK || result == STATUS_NONE)
        return;
    struct cli_text shown = cli_text(reason, strnlen(reason, size));
    _Static_assert(sizeof(shown.text) <= sizeof(check->reason), "reason");
    memcpy(check->reason, shown.text, sizeof(shown.text));
    check->remedy = own_remedy(check->reason);
    if (!check->remedy)
        check->remedy = remedy_of(check->reason);
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

static void check_server(const redlock_node_status *node, struct status_check *check)
{
    enum status_result result =
        node->state == REDLOCK_NODE_REFUSED                                        ? STATUS_FAIL
        : node->state != REDLOCK_NODE_READY && node->state != REDLOCK_NODE_GUARDED ? STATUS_NONE
        : node->state == REDLOCK_NODE_READY && *node->text                         ? STATUS_WARN
                                                                                   : STATUS_OK;
    set(check, "server", result, node->text, sizeof(node->text));
}

static void check_guard(const redlock_node_status *node, struct status_check *check)
{
    bool guarded = node->state == REDLOCK_NODE_GUARDED;
    set(check, "guard",
        guarded                             ? STATUS_WARN
        : node->state == REDLOCK_NODE_READY ? STATUS_OK
                                            : STATUS_NONE,
        node->text, sizeof(node->text));
    if (!guarded || strstr(node->text, CLI_NO_UPTIME)) /* this does not pass */
        return;
    snprintf(check->reason, sizeof(check->reason), "votes in %.20s: %.190s",
             cli_time_text(node->guard_ms).text,
             cli_text(node->text, strnlen(node->text, sizeof(node->text))).text);
    check->remedy = NULL; /* it passes */
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

/* A master that passed the probe does not vote where something that a lock rests on fails. */
static bool votes(const struct status_master *master)
{
    const redlock_node_status *node = master->node;
    for (unsigned i = STATUS_PROOFS; i < STATUS_CHECKS; i++) {
        if (master->check[i].result == STATUS_FAIL)
            return false;
    }
    return node->state == REDLOCK_NODE_READY && node->acquire.result == REDLOCK_PROOF_OK &&
           node->extend.result == REDLOCK_PROOF_OK && node->release.result == REDLOCK_PROOF_OK;
}

void status_judge(const redlock_status_report *report, const struct status_ask *ask,
                  struct status_found *ret_found)
{
    struct status_found *found = ret_found;
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
            status_checks_assume(master->node, i, &master->facts, status_ask_setup(ask),
                                 &master->check[STATUS_PROOFS]);
            found->uncertified += status_ask_setup(ask)->certificates &&
                                  !rl_is_certified(&master->facts.certificate);
        }
        master->votes = votes(master);
        master->full = is_full(master->node);
        found->votes += master->votes;
    }
    note_blindness(found);
    found->verdict = found->votes < report->needed  ? STATUS_NOT_FIT
                     : found->votes < report->nodes ? STATUS_DEGRADED
                                                    : STATUS_FIT;
}
