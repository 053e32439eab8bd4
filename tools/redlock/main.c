/* main.c - redlock(1): takes locks on a majority of Redis masters, from the shell. This
 * file is the way in: it makes the three standard descriptors safe, notes the signals, reads
 * the command line and calls the verb. */
#include "config_auto.h"

#include "redlock/cli.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A caller may have closed 0, 1 or 2; a connection to a master must not get that number. */
static int open_standard_descriptors(bool *ret_no_stdout)
{
    int fd = 0;
    *ret_no_stdout = fcntl(STDOUT_FILENO, F_GETFD) < 0;
    do {
        fd = open("/dev/null", O_RDWR); /* not close-on-exec: it stands in for 0, 1 or 2 */
        if (fd < 0)
            return -1;
    } while (fd <= STDERR_FILENO);
    return close(fd);
}

/* Before a lock is taken whose handle nobody could get, or one is broken that nobody is shown.
 * `run` leaves stdout to its command, and `release` must not leave the lock held for that. */
static bool output_is_there(const struct cli *cli)
{
    bool handle = cli->verb == CLI_LOCK || cli->verb == CLI_EXTEND;
    if (!cli->no_stdout || cli->verb == CLI_RUN || cli->verb == CLI_RELEASE)
        return true;
    cli_say(cli, "standard output is closed: nobody would get the %s",
            handle ? "handle" : "result");
    return false;
}

static int verb_call(const struct cli *cli)
{
    switch (cli->verb) {
    case CLI_RUN:
        return cmd_run(cli);
    case CLI_LOCK:
        return cmd_lock(cli);
    case CLI_EXTEND:
        return cmd_extend(cli);
    case CLI_RELEASE:
        return cmd_release(cli);
    case CLI_INSPECT:
        return cmd_inspect(cli);
    case CLI_STATUS:
        return cmd_status(cli);
    case CLI_BREAK:
        return cmd_break(cli);
    case CLI_INIT:
        return cmd_init(cli);
    case CLI_NONE:
        break;
    }
    return CLI_USAGE;
}

int main(int argc, char **argv)
{
    bool no_stdout;
    if (open_standard_descriptors(&no_stdout) < 0)
        return CLI_SYSTEM;

    struct cli cli;
    memset(&cli, 0, sizeof(cli));
    cli.argv = argv;
    cli.no_stdout = no_stdout;
    cli_signals_note(&cli.signals);
    int status = cli_options_parse(&cli, argc, argv);
    bool asked = status < 0; /* and not for help */
    if (asked)
        status = output_is_there(&cli) ? verb_call(&cli) : CLI_SYSTEM;
    if (asked || status != CLI_OK)
        cli_outcome_end(&cli, status);
    return status;
}
