/* cli_take.c - taking the lock that was asked for, and the one line that says why not. */
#include "config_auto.h"

#include "cli.h"
#include "clock.h"

#include <string.h>

/* The first node's own words, for the line that says why there is no quorum. */
static const char *first_failure(const redlock_report *report, const char **ret_node)
{
    for (unsigned i = 0; i < report->nodes; i++) {
        if (report->node[i].vote == REDLOCK_VOTE_FAILED) {
            *ret_node = report->node[i].node;
            return report->node[i].text;
        }
    }
    return NULL;
}

static const redlock_node_vote *first_holder(const redlock_report *report)
{
    for (unsigned i = 0; i < report->nodes; i++) {
        if (report->node[i].vote == REDLOCK_VOTE_HELD)
            return &report->node[i];
    }
    return NULL;
}

static void say_held(const struct cli *cli, const char *name, const redlock_report *report,
                     const char *then)
{
    const redlock_node_vote *holder = first_holder(report);
    if (!holder || (report->granted > 0 && report->held < report->needed))
        cli_say(cli,
                "'%s' was not acquired: the votes were split (%u granted, %u held by "
                "another, %u failed; %u of %u needed)%s",
                name, report->granted, report->held, report->failed, report->needed,
                report->nodes, then);
    else
        cli_say(cli, "'%s' is held by another (%u of %u masters say so: %s, %s%s)%s", name,
                report->held, report->nodes, cli_text(holder->holder, holder->holder_len).text,
                holder->ttl_ms < 0 ? "for ever" : cli_time_text(holder->ttl_ms).text,
                holder->ttl_ms < 0 ? "" : " left", then);
}

static void say_no_quorum(const struct cli *cli, const char *name, const redlock_report *report,
                          const char *then)
{
    const char *node = NULL;
    const char *why = first_failure(report, &node);
    cli_say(cli,
            "'%s' was not acquired: no quorum, %u of %u masters failed and %u are needed%s"
            "%s%s%s%s%s",
            name, report->failed, report->nodes, report->needed, why ? " (" : "",
            why ? node : "", why ? ": " : "", why ? why : "", why ? ")" : "", then);
}

static void say_why(const struct cli *cli, int code, const redlock_report *report,
                    const char *then)
{
    struct cli_text name = cli_text(cli->operand, strlen(cli->operand));
    if (code == REDLOCK_EHELD)
        say_held(cli, name.text, report, then);
    else if (code == REDLOCK_ENOQUORUM)
        say_no_quorum(cli, name.text, report, then);
    else if (code != REDLOCK_EINVAL) /* then the library has said what, as an error */
        cli_say(cli, "'%s' was not acquired: %s", name.text, redlock_strerror(code));
    cli_say_votes(cli, report);
}

/* What is left of the wait: -1 for ever. */
static int64_t wait_left_ms(const struct cli *cli, int64_t began_ns)
{
    if (cli->wait_ms < 0)
        return -1;
    int64_t gone_ms = (rl_clock_now_ns() - began_ns) / RL_NS_PER_MS;
    return gone_ms < cli->wait_ms ? cli->wait_ms - gone_ms : 0;
}

/* One try, and where it fails and there is time to wait, a word on what is waited for: no
 * quorum is worth it always, another holder with -v. */
static int try_and_wait(const struct cli *cli, redlock *client, redlock_options *how,
                        redlock_lock **ret_lock)
{
    int64_t began_ns = rl_clock_now_ns();
    how->wait_ms = 0;
    int code = redlock_try(client, cli->operand, how, ret_lock);
    if (code != REDLOCK_EHELD && code != REDLOCK_ENOQUORUM)
        return code;
    how->wait_ms = wait_left_ms(cli, began_ns);
    if (how->wait_ms == 0)
        return code;
    if (code == REDLOCK_ENOQUORUM || cli->verbose)
        say_why(cli, code, how->report,
                code == REDLOCK_EHELD ? "; waiting in the queue" : "; waiting");
    return redlock_try(client, cli->operand, how, ret_lock);
}

int cli_take(const struct cli *cli, redlock *client, redlock_options *how,
             redlock_lock **ret_lock)
{
    how->ttl_ms = cli->ttl_ms;
    *ret_lock = NULL;
    int code = try_and_wait(cli, client, how, ret_lock);

    /* A signal that came with the grant counts as having come before it. */
    int signal_number = cli_canceled_by();
    if (signal_number != 0) {
        if (code == REDLOCK_OK)
            redlock_release(*ret_lock);
        *ret_lock = NULL;
        cli_say(cli, "canceled by signal %d (%s)", signal_number, strsignal(signal_number));
        return CLI_SIGNALED + signal_number;
    }
    if (code == REDLOCK_OK) {
        cli_say_votes(cli, how->report);
        return CLI_OK;
    }
    say_why(cli, code, how->report, "");
    return code == REDLOCK_EHELD ? cli->not_acquired : cli_exit_of(code);
}
