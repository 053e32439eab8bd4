/* cli_client.c - from the command line to a client: which node list file, what went wrong
 * with it, and what the library's codes mean as exit statuses. */
#include "config_auto.h"

#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const default_files[] = {"./redlock.conf", "/etc/redlock.conf"};
#define DEFAULT_FILE_COUNT (sizeof(default_files) / sizeof(default_files[0]))

/* NULL: nowhere. A file that is there but can't be read is found: the error names it then. */
static const char *find_file(const struct cli *cli)
{
    if (cli->nodes_file)
        return cli->nodes_file;
    const char *named = getenv("REDLOCK_NODES");
    if (named && *named)
        return named;
    for (size_t i = 0; i < DEFAULT_FILE_COUNT; i++) {
        if (access(default_files[i], F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR))
            return default_files[i];
    }
    return NULL;
}

int cli_exit_of(int code)
{
    switch (code) {
    case REDLOCK_OK:
        return CLI_OK;
    case REDLOCK_EINVAL:
    case REDLOCK_EHANDLE:
    case REDLOCK_ENOTSUP:
        return CLI_USAGE;
    case REDLOCK_EKIND:
    case REDLOCK_EUPGRADE:
        return CLI_KIND;
    case REDLOCK_ECONFIG:
        return CLI_CONFIG;
    case REDLOCK_EHELD:
        return CLI_NOT_ACQUIRED;
    case REDLOCK_ENOQUORUM:
    case REDLOCK_EUNKNOWN:
        return CLI_NO_QUORUM;
    case REDLOCK_EEXPIRED:
    case REDLOCK_ENOTHELD:
        return CLI_NOT_OURS;
    default:
        return CLI_SYSTEM;
    }
}

static void log_line(void *context, int level, const char *text)
{
    const struct cli *cli = context;
    (void)level;
    cli_say(cli, "%s", text);
}

int cli_open(const struct cli *cli, char **ret_path, redlock **ret_client)
{
    const char *file = find_file(cli);
    if (!file) {
        cli_say(cli, "no node list file: looked at -n, $REDLOCK_NODES, %s and %s",
                default_files[0], default_files[1]);
        return CLI_CONFIG;
    }
    redlock_config config = REDLOCK_CONFIG_INIT;
    config.file = file;
    config.log = log_line;
    config.log_context = (void *)(uintptr_t)cli; /* handed back to log_line, which only reads */
    config.log_level = cli->verbose ? REDLOCK_LOG_INFO : REDLOCK_LOG_ERROR;
    /* No call of ours goes on while COMMAND runs; renewing does, whatever the file says. */
    if (cli->verb == CLI_RUN)
        config.background = REDLOCK_BACKGROUND_AUTO;
    redlock_error error = REDLOCK_ERROR_INIT;
    int code = redlock_open_config(&config, &error, ret_client);
    if (code != REDLOCK_OK) {
        cli_say(cli, "%s", *error.text ? error.text : redlock_strerror(code));
        /* All that was given is the file: whatever is invalid is invalid in there. */
        return code == REDLOCK_EINVAL ? CLI_CONFIG : cli_exit_of(code);
    }
    char *path = ret_path ? realpath(file, NULL) : NULL;
    if (ret_path && !path) {
        cli_say(cli, "%s: %s", cli_text(file, strlen(file)).text, strerror(errno));
        redlock_close(*ret_client);
        return CLI_CONFIG;
    }
    if (ret_path)
        *ret_path = path;
    return CLI_OK;
}
