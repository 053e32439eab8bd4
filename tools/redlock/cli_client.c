/* cli_client.c - opens a client for the command line: reports errors of the node list, and
 * turns the library's codes into exit statuses. */
#include "config_auto.h"

#include "redlock/cli.h"

#include <stdatomic.h>
#include <string.h>

int cli_exit_of(int code)
{
    switch (code) {
    case REDLOCK_OK:
        return CLI_OK;
    case REDLOCK_EINVAL:
    case REDLOCK_EHANDLE:
    case REDLOCK_ENOTSUP:
        return CLI_USAGE;
    case REDLOCK_EWRONGTYPE:
    case REDLOCK_EUPGRADE:
        return CLI_KIND;
    case REDLOCK_ECONFIG:
        return CLI_CONFIG;
    case REDLOCK_EHELD:
    case REDLOCK_EUNDECIDED: /* for now, as far as anybody knows */
        return CLI_NOT_ACQUIRED;
    case REDLOCK_ENOQUORUM:
    case REDLOCK_EUNCONFIRMED:
        return CLI_NO_QUORUM;
    case REDLOCK_EEXPIRED:
    case REDLOCK_ENOTHELD:
        return CLI_NOT_OURS;
    default:
        return CLI_SYSTEM;
    }
}

/* COMMAND runs: warnings are for those who will ask one day what happened at that time. */
static atomic_bool runs;

void cli_warn(bool command_runs)
{
    atomic_store(&runs, command_runs);
}

static void log_line(void *context, int level, const char *text)
{
    const struct cli *cli = context;
    bool timed = atomic_load(&runs);
    if (level <= REDLOCK_LOG_ERROR && !timed)
        cli_say(cli, "%s", text);
    else if (timed && (cli->verbose || !strstr(text, " was lost: "))) /* the last line says it */
        cli_note(cli, "%s %s", cli_clock_text().text, text);
    else if (cli->verbose)
        cli_note(cli, "%s", text);
}

int cli_open(const struct cli *cli, redlock **ret_client)
{
    const char *file;
    int status = cli_nodes_find(cli, &file);
    if (status != CLI_OK)
        return status;
    redlock_config config = REDLOCK_CONFIG_INIT;
    config.file = file;
    config.log = log_line;
    config.log_context = (void *)(uintptr_t)cli; /* handed back to log_line, which only reads */
    config.log_level = cli->verbose           ? REDLOCK_LOG_INFO
                       : cli->verb == CLI_RUN ? REDLOCK_LOG_WARNING
                                              : REDLOCK_LOG_ERROR;
    /* No call is in progress while COMMAND runs, but renewing must go on, whatever the file
     * says. */
    if (cli->verb == CLI_RUN)
        config.background = REDLOCK_BACKGROUND_AUTO;
    redlock_error error = REDLOCK_ERROR_INIT;
    int code = redlock_open_config(&config, &error, ret_client);
    if (code != REDLOCK_OK) {
        cli_say(cli, "%s", *error.text ? error.text : redlock_strerror(code));
        /* The file is the only argument, so EINVAL means an error in the file. */
        return code == REDLOCK_EINVAL ? CLI_CONFIG : cli_exit_of(code);
    }
    status = cli_nodes_use(cli, file);
    if (status != CLI_OK)
        redlock_close(*ret_client);
    return status;
}
