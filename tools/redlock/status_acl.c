/* status_acl.c - the least rights of a user that takes locks of some kinds, as a command for
 * each master. */
#include "config_auto.h"

#include "redlock/rights.h"
#include "redlock/status_ask.h"
#include "redlock/status_print.h"

#include "config/config.h"
#include "kinds/fencing.h"
#include "kinds/lists.h"
#include "kinds/marker.h"

#include <stdio.h>
#include <string.h>

/* A prefix as it stands in a pattern of keys. */
static void print_prefix(const char *prefix)
{
    for (; *prefix; prefix++) {
        if (strchr("*?[]^\\", *prefix))
            putchar('\\');
        putchar(*prefix);
    }
}

/* Is a right of this sort needed, whose text begins so? */
static bool any_needed(const struct rights_use *use, const char *begin)
{
    for (unsigned i = 0; i < rights_count(); i++) {
        if (rights_needed(i, use) && strncmp(rights_text(i).text, begin, strlen(begin)) == 0)
            return true;
    }
    return false;
}

/* Names that begin so, and the keys beside them, which have the name in braces. */
static void print_keys(const char *prefix, const struct rights_use *use)
{
    fputs(" ~", stdout);
    print_prefix(prefix);
    putchar('*');
    if (*prefix && any_needed(use, "~{")) {
        fputs(" ~{", stdout);
        print_prefix(prefix);
        putchar('*');
    }
    if (*prefix && any_needed(use, "~redisson_"))
        fputs(" ~redisson_*", stdout);
    if (*prefix && any_needed(use, "~" RL_MARKER_KEY))
        fputs(" ~" RL_MARKER_KEY " ~" RL_QUARANTINE_KEY, stdout);
    if (*prefix && any_needed(use, "~" RL_LISTS_KEY))
        fputs(" ~" RL_LISTS_KEY, stdout);
    if (*prefix && any_needed(use, "~" RL_FENCING_KEY))
        fputs(" ~" RL_FENCING_KEY, stdout);
}

/* Several uses may need the same command. */
static bool is_printed(unsigned right, const struct rights_use *use)
{
    for (unsigned i = 0; i < right; i++) {
        if (rights_needed(i, use) && strcmp(rights_text(i).text, rights_text(right).text) == 0)
            return true;
    }
    return false;
}

static void print_commands(const struct rights_use *use)
{
    for (unsigned i = 0; i < rights_count(); i++) {
        struct rights_text right = rights_text(i);
        if (right.text[0] == '+' && rights_needed(i, use) && !is_printed(i, use))
            printf(" %s", right.text);
    }
}

/* What stands between the words of a command can't be in one. */
static bool prefix_allowed(const struct cli *cli)
{
    for (const char *c = cli->prefix ? cli->prefix : ""; *c; c++) {
        if (*c > ' ' && *c < 0x7f && *c != '"' && *c != '\'')
            continue;
        cli_say(cli,
                "the prefix has a space, a quote, or a byte that is not ASCII: it can't stand "
                "in the command that --acl prints");
        return false;
    }
    return true;
}

static int print_acl(const struct cli *cli, const struct rights_use *use)
{
    if (!prefix_allowed(cli) || !status_rights_possible(cli, use->masters))
        return CLI_USAGE;
    fputs("ACL SETUSER locks on >PASSWORD resetkeys resetchannels", stdout);
    print_keys(cli->prefix ? cli->prefix : "", use);
    fputs(" &redlock:wake:*", stdout);
    if (any_needed(use, "&redisson_"))
        fputs(" &redisson_*", stdout);
    fputs(" -@all", stdout);
    print_commands(use);
    putchar('\n');
    if (use->sentinels) /* for them alone: what is on standard output is for masters */
        cli_say(cli, "and at each Sentinel: ACL SETUSER locks on >PASSWORD resetkeys resetchannels "
                     "-@all +info +client|setname +sentinel|master "
                     "+sentinel|get-master-addr-by-name +sentinel|myid");
    if (!(use->uses & RIGHTS_STATUS))
        cli_say(cli, "status --wait asks for +client|list besides, to see who has another node "
                     "list: --kinds plain,status prints it");
    return cli_flush(cli);
}

int status_print_acl(const struct cli *cli)
{
    struct cli with = *cli;
    struct rl_config config;
    struct rights_use use;
    int status = cli_nodes_read(cli, &config);
    if (status == CLI_OK)
        status = status_by_list(&with, &config);
    if (status == CLI_OK) {
        status_rights_use(&with, &config, &use);
        status = print_acl(&with, &use);
    }
    rl_config_free(&config);
    return status;
}
