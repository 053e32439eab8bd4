/* cmd_status.c - status: can a lock be acquired? A probe proves it at each master: once, again
 * each second, or until all of them vote again. */
#include "config_auto.h"

#include "base/clock.h"
#include "base/limits.h"
#include "config/config.h"
#include "kinds/kind.h"
#include "redlock/status_ask.h"
#include "redlock/status_print.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct status {
    const struct cli *cli; /* `with` */
    struct cli with;       /* what the command line says, and then the list */
    struct rl_config list;
    redlock *client;
    int64_t opened_ms;
    redlock_status_report report;
    redlock_node_status nodes[REDLOCK_NODES_MAX];
    struct status_found found;
};

static int exit_of(const struct status *status)
{
    switch (status->found.verdict) {
    case STATUS_DEGRADED:
        return status->cli->probe ? CLI_OK : CLI_DEGRADED;
    case STATUS_NOT_FIT:
        return CLI_NO_QUORUM;
    default:
        return CLI_OK;
    }
}

/* -1: the masters were asked, and status->found has what was found. */
static int look(struct status *status)
{
    const struct cli *cli = status->cli;
    redlock_status_report *report = &status->report;
    *report = (redlock_status_report)REDLOCK_STATUS_INIT(status->nodes, REDLOCK_NODES_MAX);
    int code = redlock_probe(status->client, cli->prefix, report);
    if (code != REDLOCK_OK && code != REDLOCK_ENOQUORUM) {
        cli_say(cli, "no status: %s", redlock_strerror(code));
        return cli_exit_of(code);
    }
    if (!status_rights_possible(cli, report->nodes))
        return CLI_USAGE;
    struct status_ask *ask =
        cli->probe ? NULL : status_ask(cli, report, status->opened_ms);
    status_judge(report, ask, &status->found);
    status_ask_free(ask);
    status->found.stats = (redlock_stats)REDLOCK_STATS_INIT;
    (void)redlock_get_stats(status->client, &status->found.stats);
    return -1;
}

/* Prints what was found. Returns `end`, or why it could not be printed. */
static int print(const struct status *status, int end)
{
    const struct cli *cli = status->cli;
    if (cli->watch && !cli->json && isatty(STDOUT_FILENO))
        printf("\033[H\033[2J");
    if (cli->prometheus)
        status_print_metrics(&status->found);
    else if (cli->json)
        status_print_json(&status->found, end);
    else
        status_print_text(cli, &status->found);
    int written = cli_flush(cli);
    return written != CLI_OK ? written : end;
}

static int look_once(struct status *status)
{
    int result = look(status);
    return result >= 0 ? result : print(status, exit_of(status));
}

/* Signals are blocked elsewhere, so one that came before ends the sleep at once. */
static void sleep_unless_signaled(int64_t ms)
{
    sigset_t none;
    sigemptyset(&none);
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000L};
    (void)ppoll(NULL, 0, &pause, &none);
}

/* INT and similar signals end the watch, with the exit status of the last probe. */
static int watch(struct status *status)
{
    const struct cli *cli = status->cli;
    sigset_t blocked;
    cli_signals_to_forward(&blocked);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    cli_cancel_on_signals(cli, NULL);
    int result = CLI_OK;
    while (cli_canceled_by() == 0) {
        result = look_once(status);
        if (result == CLI_SYSTEM || result == CLI_USAGE) /* the next look would end alike */
            break;
        if (!isatty(STDOUT_FILENO) && !cli->json) {
            putchar('\n');
            result = cli_flush(cli) == CLI_OK ? result : CLI_SYSTEM;
        }
        sleep_unless_signaled(1000);
    }
    return result;
}

static int64_t now_ms(void)
{
    return rl_clock_now_ns() / RL_NS_PER_MS;
}

/* Look again, but no earlier than a clock tick of small leases, and each second of large ones.
 */
static void pause_between(const struct status *status)
{
    int64_t ms = status->report.max_ttl_ms / 8;
    sleep_unless_signaled(ms < 100 ? 100 : ms > 1000 ? 1000 : ms);
}

/* Clients go by a restarted master's uptime, in whole seconds, or by how long they have known
 * it: some let it vote so much later than this one. */
#define OTHERS_MS 2000

/* Since when each look has found it so; -1: the last one did not. */
struct since {
    int64_t fit_ms, alike_ms;
};

/* By a look that began then. Clients fill in masters that have come back as soon as they let
 * them vote, some later than this one, and many locks take a while. A client that is not driven
 * does so when it renews a lock, at the latest after a third of the lease. So once all masters
 * have voted for half of max-ttl another master may be restarted. With `fencing strict` they
 * must have been certified for as long: clients see that later than this one, too. A client with
 * another list may have left a lock behind, which is over max-ttl later: then no lock is held
 * by a former list, and the list may be changed again. */
static bool is_whole(const struct status *status, const struct since *since, int64_t asked_ms)
{
    return since->fit_ms >= 0 && since->alike_ms >= 0 &&
           asked_ms - since->fit_ms >= status->report.max_ttl_ms / 2 + OTHERS_MS &&
           asked_ms - since->alike_ms >= status->found.lease_ms;
}

static void note(int64_t *since_ms, bool found)
{
    *since_ms = !found ? -1 : *since_ms < 0 ? now_ms() : *since_ms;
}

/* Where --wait was too short, or can't tell. */
static void say_why(const struct status *status, const struct since *since)
{
    const struct cli *cli = status->cli;
    const struct status_lists *lists = &status->found.lists;
    if (lists->clients > 0)
        cli_say(cli, "%u client%s another node list: change nothing before all have this one",
                lists->clients, lists->clients == 1 ? " has" : "s have");
    else if (status->found.uncertified > 0)
        cli_say(cli, "%u of the masters are not certified for fencing tokens: restart no other",
                status->found.uncertified);
    else if (!lists->told && !cli->allow_unknown)
        cli_say(cli, "whether clients have another node list is not known%s%s%s: change nothing",
                *lists->why ? " (" : "", lists->why, *lists->why ? ")" : "");
    else if (since->fit_ms >= 0)
        cli_say(cli,
                "all masters vote, but not for long enough yet: locks that are held may "
                "be missing on one, or be held by a former list; use a longer --wait");
}

/* Nobody whom the masters show has another list, and they show all of their clients. */
static bool alike(const struct status *status)
{
    const struct status_lists *lists = &status->found.lists;
    return lists->clients == 0 && (lists->told || status->cli->allow_unknown);
}

/* A gate does not open for who can't see. */
static int end_blind(const struct status *status)
{
    cli_say(status->cli,
            "%s can't be known: give the user what redlock status --acl --kinds plain,status "
            "prints; --allow-unknown ends well all the same",
            status->found.blind);
    return print(status, CLI_UNKNOWN);
}

/* Did it lose its fencing tokens, where the others can certify it? */
static bool awaits_certificate(const struct status_facts *facts)
{
    return *facts->certificate.word && !rl_is_certified(&facts->certificate) &&
           facts->others_certified;
}

/* Looking begins no quarantine and no certification, and who waits for its end must see to that.
 * But masters that may all be new are left to init; one that has failed over is not. */
static void begin_quarantine(const struct status *status)
{
    bool begins = false, new = true;
    for (unsigned i = 0; i < status->report.nodes; i++) {
        const redlock_node_status *node = &status->nodes[i];
        bool to_be = node->state == REDLOCK_NODE_GUARDED &&
                     strncmp(node->text, CLI_TO_BE, strlen(CLI_TO_BE)) == 0;
        bool lost = awaits_certificate(&status->found.master[i].facts);
        begins = begins || to_be || lost;
        if (lost || node->state == REDLOCK_NODE_READY ||
            (to_be && (strncmp(node->text, CLI_UNMARKED, strlen(CLI_UNMARKED)) != 0 ||
                       status->found.master[i].facts.sentinels.term > 0)))
            new = false;
    }
    char name[REDLOCK_NAME_MAX + 1];
    redlock_lock *lock = NULL;
    const char *prefix = status->cli->prefix ? status->cli->prefix : RL_PROBE_PREFIX;
    int len = snprintf(name, sizeof(name), "%swait:%ld", prefix, (long)getpid());
    if (begins && !new && len > 0 && (size_t)len < sizeof(name) &&
        redlock_try(status->client, name, NULL, &lock) == REDLOCK_OK)
        (void)redlock_release(lock);
}

static int wait_until_whole(struct status *status)
{
    const struct cli *cli = status->cli;
    int64_t begun_ms = now_ms();
    struct since since = {-1, -1};
    for (;;) {
        int64_t asked_ms = now_ms();
        int result = look(status);
        if (result >= 0)
            return result;
        note(&since.fit_ms,
             status->found.verdict == STATUS_FIT && status->found.uncertified == 0);
        note(&since.alike_ms, alike(status));
        if (*status->found.blind && !cli->allow_unknown)
            return end_blind(status);
        if (is_whole(status, &since, asked_ms))
            return print(status, CLI_OK);
        if (cli->wait_ms >= 0 && now_ms() - begun_ms >= cli->wait_ms)
            break;
        begin_quarantine(status);
        pause_between(status);
    }
    say_why(status, &since);
    int end = exit_of(status);
    return print(status, end == CLI_OK ? CLI_DEGRADED : end);
}

static int look_with_client(struct status *status)
{
    const struct cli *cli = &status->with;
    int result = cli_nodes_read(cli, &status->list);
    if (result == CLI_OK)
        result = status_by_list(&status->with, &status->list);
    if (result != CLI_OK)
        return result;
    return cli->watch          ? watch(status)
           : cli->wait_ms != 0 ? wait_until_whole(status)
                               : look_once(status);
}

int cmd_status(const struct cli *cli)
{
    if (cli->acl)
        return status_print_acl(cli);
    struct status *status = calloc(1, sizeof(*status));
    if (!status)
        return CLI_SYSTEM;
    status->with = *cli;
    status->cli = &status->with;
    status->opened_ms = now_ms();
    int result = cli_open(cli, &status->client);
    if (result == CLI_OK) {
        result = look_with_client(status);
        redlock_close(status->client);
        rl_config_free(&status->list);
    }
    free(status);
    return result;
}
