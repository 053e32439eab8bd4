/* cli_acquire.c - acquires the lock. */
#include "config_auto.h"

#include "redlock/cli.h"
#include "redlock/cli_patience.h"
#include "api/lock.h"
#include "api/try.h"
#include "base/clock.h"
#include "base/limits.h"

#include <string.h>

struct wait {
    struct rl_clock clock;
    int64_t began_ns;
    cli_waits_fn *waits; /* NULL: nobody is told */
    bool over; /* nothing more may be asked */
};

/* The rest of the wait; -1 for ever. */
static int64_t wait_left_ms(const struct cli *cli, struct wait *wait)
{
    if (cli->wait_ms < 0)
        return -1;
    int64_t gone_ms = (rl_clock_steady_ns(&wait->clock) - wait->began_ns) / RL_NS_PER_MS;
    return gone_ms < cli->wait_ms ? cli->wait_ms - gone_ms : 0;
}

static int try_once(const struct cli *cli, redlock *client, const redlock_options *how,
                    redlock_lock **ret_lock)
{
    if (cli->name_count > 1)
        return redlock_try_names(client, cli->names, cli->name_count, how, ret_lock);
    return redlock_try(client, cli->operand, how, ret_lock);
}

/* Say what the wait is for: always for missing votes; for another holder with -v, or at a
 * terminal if it lasts. To find that out may take a part of the wait. */
static int wait_on(const struct cli *cli, redlock *client, redlock_options *how,
                   struct wait *wait, int code, redlock_lock **ret_lock)
{
    bool queues = cli->kind == REDLOCK_PLAIN || cli->kind == REDLOCK_FAIR;
    const char *then = code == REDLOCK_EHELD && queues ? "; waiting in the queue" : "; waiting";
    if (code == REDLOCK_ENOQUORUM && cli_is_hopeless(how->report))
        then = "; waiting up to " RL_HOPELESS_TEXT " for somebody to mend that";
    struct cli_patience patience = {.runs = false};
    if (code != REDLOCK_EHELD || cli->verbose)
        cli_explain(cli, client, code, how->report, then);
    else
        cli_patience_begin(&patience, cli, client, code, how->report, then);
    how->wait_ms = wait_left_ms(cli, wait);
    wait->over = how->wait_ms == 0;
    if (!wait->over) {
        if (wait->waits)
            wait->waits(cli, code, how->report);
        /* If the rest of the wait is too short to tell, what the first round told stands. */
        int last = try_once(cli, client, how, ret_lock);
        code = last == REDLOCK_EUNDECIDED ? code : last;
    }
    cli_patience_end(&patience);
    return code;
}

/* `may_wait`: for another holder, but never for ourselves. */
static int try_and_wait(const struct cli *cli, redlock *client, redlock_options *how,
                        struct wait *wait, bool may_wait, redlock_lock **ret_lock)
{
    wait->began_ns = rl_clock_steady_ns(&wait->clock);
    how->wait_ms = 0;
    int code = try_once(cli, client, how, ret_lock);
    if ((code != REDLOCK_EHELD || !may_wait) && code != REDLOCK_ENOQUORUM &&
        code != REDLOCK_EUNDECIDED)
        return code;
    return wait_left_ms(cli, wait) == 0 ? code
                                        : wait_on(cli, client, how, wait, code, ret_lock);
}

int cli_undo(redlock_lock *lock)
{
    return rl_lock_undo(lock);
}

/* Only run can stay for longer than a lease, but a kind that has a shorter one is refused. */
static int64_t at_least_ms(const struct cli *cli, const redlock *client)
{
    int64_t max_ms = rl_at_least_max_ms(client, cli->kind);
    bool stays = cli->verb == CLI_RUN && max_ms == rl_at_least_max_ms(client, REDLOCK_PLAIN);
    return stays && cli->at_least_ms > max_ms ? max_ms : cli->at_least_ms;
}

int cli_acquire(const struct cli *cli, redlock *client, redlock_options *how,
                cli_waits_fn *waits, redlock_lock **ret_lock)
{
    how->ttl_ms = cli->ttl_ms;
    how->at_least_ms = at_least_ms(cli, client);
    how->kind = cli->kind;
    how->owner = cli->owner;
    how->fenced = cli->fenced;
    *ret_lock = NULL;
    const char *nested = cli_nested_in(cli);
    struct wait wait = {.waits = waits};
    int code = try_and_wait(cli, client, how, &wait, nested == NULL, ret_lock);

    /* A signal that came with the grant counts as having come before it. */
    int signal_number = cli_canceled_by();
    if (signal_number != 0) {
        if (code == REDLOCK_OK)
            cli_undo(*ret_lock);
        *ret_lock = NULL;
        cli_say(cli, "canceled by signal %d (%s)", signal_number, strsignal(signal_number));
        return CLI_SIGNALED + signal_number;
    }
    if (code == REDLOCK_OK) {
        cli_say_votes(cli, how->report);
        return CLI_OK;
    }
    /* With -E 0 that another has it is as good as having run. */
    if (code != REDLOCK_EHELD || cli->not_acquired != 0 || cli->verbose)
        cli_explain(cli, wait.over ? NULL : client, code, how->report,
                    nested && code == REDLOCK_EHELD
                        ? ": behind the redlock run that this runs under, which would wait "
                          "for itself (the same --owner is for that, but for a plain lock)"
                        : "");
    int status = cli_exit_of(code);
    if (status == CLI_NOT_ACQUIRED && cli->not_acquired >= 0)
        status = cli->not_acquired;
    else if (code == REDLOCK_ENOQUORUM)
        status = cli_exit_without_quorum(how->report);
    cli_json_explain(cli, code, how->report, status);
    return status;
}
