/* cli_check.c - checks the command line as a whole: do names, kind and owner fit together? */
#include "config_auto.h"

#include "redlock/cli_options.h"
#include "kinds/key_rules.h"
#include "engine/client/owner.h"

#include <string.h>

int cli_check_names(struct cli *cli, const char *const names[], unsigned count)
{
    size_t all = 0;
    if (cli->verb != CLI_RUN && cli->verb != CLI_LOCK && cli->verb != CLI_INSPECT &&
        cli->verb != CLI_BREAK)
        return -1;
    if (count > REDLOCK_NAMES_MAX) {
        cli_say(cli, "%u names are too many: %d can be taken at once", count,
                REDLOCK_NAMES_MAX);
        return CLI_USAGE;
    }
    for (unsigned i = 0; i < count; i++) {
        size_t len = strlen(names[i]);
        const char *clash = rl_key_name_clash(names[i], len);
        all += len;
        if (clash) {
            cli_say(cli, "'%s': %s", cli_text(names[i], len).text, clash);
            return CLI_USAGE;
        }
        if (len > 0 && all <= REDLOCK_NAME_MAX)
            continue;
        cli_say(cli, "the lock's name has %zu bytes: give it 1 to %d%s", len, REDLOCK_NAME_MAX,
                i > 0 ? ", all of them together" : "");
        return CLI_USAGE;
    }
    cli->name_count = count;
    memcpy(cli->names, names, count * sizeof(*cli->names));
    return -1;
}

int cli_check_kind(const struct cli *cli, const char *option, unsigned names)
{
    const char *why = NULL;
    if (option && names > 1) {
        cli_say(cli, "--%s is for one NAME: several are taken as plain locks, all or none",
                option);
        return CLI_USAGE;
    }
    if (cli->owner && cli->verb != CLI_INSPECT && !option) {
        cli_say(cli, "--owner is for --shared, --exclusive, --reentrant and --fair: each plain "
                     "lock is its holder's alone");
        return CLI_USAGE;
    }
    if (cli->owner && cli->verb == CLI_RUN && cli->at_least_ms > 0) {
        cli_say(cli, "--at-least keeps out others, not the owner: give it without --owner and "
                     "$REDLOCK_OWNER");
        return CLI_USAGE;
    }
    if (cli->fenced && cli->kind == REDLOCK_READ) {
        cli_say(cli,
                "--fenced is not for --shared: readers have the lock together, so no order "
                "of their writes is right; take it with --exclusive to write");
        return CLI_USAGE;
    }
    if (cli->owner && !rl_owner_allowed(cli->owner, &why)) {
        cli_say(cli, "--owner '%s': %s", cli_text(cli->owner, strlen(cli->owner)).text, why);
        return CLI_USAGE;
    }
    return -1;
}

/* What is printed, and of what. */
int cli_check_form(const struct cli *cli)
{
    bool status_waits = cli->verb == CLI_STATUS && cli->wait_ms != 0;
    if (cli->acl && (cli->prometheus || cli->json || cli->watch || status_waits)) {
        cli_say(cli,
                "--acl goes with none of --json, --prometheus, --watch and --wait: it asks no "
                "master, and prints one command");
        return CLI_USAGE;
    }
    if (cli->probe && (cli->acl || cli->uses || cli->prometheus || cli->watch || status_waits)) {
        cli_say(cli, "--probe goes with none of --acl, --kinds, --prometheus, --watch and "
                     "--wait: it proves once that locks can be had, and asks nothing else");
        return CLI_USAGE;
    }
    if (cli->prometheus && (cli->json || cli->watch)) {
        cli_say(cli, "--prometheus goes with neither --json nor --watch: it prints one look in "
                     "a form of its own");
        return CLI_USAGE;
    }
    if (cli->allow_unknown && !status_waits) {
        cli_say(cli, "--allow-unknown is for status --wait");
        return CLI_USAGE;
    }
    if (cli->watch && status_waits) {
        cli_say(cli, "--watch and --wait are two ways to look again: choose one");
        return CLI_USAGE;
    }
    return -1;
}
