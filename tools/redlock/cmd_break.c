/* cmd_break.c - break: delete a lock that is stuck, of any holder. It shows the holder first,
 * and asks. It deletes the lock only if that holder still has it. */
#include "config_auto.h"

#include "core/refusal.h"
#include "redlock/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The results, as --json shows them. */
static const char broken[] = "broken", was_free[] = "free", declined[] = "declined",
                  changed[] = "changed", no_lock[] = "no lock", unknown[] = "unknown";

struct breaking {
    const struct cli *cli;
    redlock *client;
    struct cli_info *shown;
    struct holder_clients *clients; /* of its holders; NULL: nothing is known */
    redlock_node_vote votes[REDLOCK_NODES_MAX];
    redlock_report report; /* rounds 0: nothing was to be deleted */
    struct cli_text name;
};

/* No master has a key, or only a reservation for a waiter. */
static bool is_free(const struct cli_info *info)
{
    for (unsigned i = 0; i < info->all.nodes; i++) {
        if (info->node[i].answered && !cli_is_free(info->node[i].state))
            return false;
    }
    return true;
}

/* The holder that a majority shows, else that of any master. */
static struct cli_view what_stands(const struct cli_info *info)
{
    struct cli_view majority = cli_view_of_majority(info), first = majority;
    for (unsigned i = 0; i < info->all.nodes && first.shown == 0; i++)
        first = cli_view_of(info, i);
    return first.shown > 0 ? first : majority;
}

static bool any_endless(const struct cli_info *info)
{
    for (unsigned i = 0; i < info->all.nodes; i++) {
        struct cli_view view = cli_view_of(info, i);
        if (view.shown > 0 && view.ttl_ms < 0)
            return true;
    }
    return false;
}

/* Is it the lock that was shown? State and first holder must be the same on each master that
 * has it. A shorter TTL is no change, nor is a master that has lost it. */
static bool same(const struct cli_info *one, const struct cli_info *other)
{
    for (unsigned i = 0; i < one->all.nodes && i < other->all.nodes; i++) {
        struct cli_view a = cli_view_of(one, i), b = cli_view_of(other, i);
        if (b.shown == 0)
            continue;
        if (a.shown == 0 || a.state != b.state ||
            a.holder[0].owner_len != b.holder[0].owner_len ||
            memcmp(a.holder[0].owner, b.holder[0].owner, a.holder[0].owner_len) != 0)
            return false;
    }
    return true;
}

/* ---- what is said ----------------------------------------------------------------------- */

struct reason {
    char text[768]; /* " (NODE: WHY): REMEDY"; empty: no master told why */
};

/* What needs a person stands where the first reason was. */
static void take_reason(struct reason *reason, const char *node, const char *why)
{
    const char *remedy = rl_refusal_remedy(why);
    if (*why && (!*reason->text || (remedy && rl_refusal_lasts(why))))
        snprintf(reason->text, sizeof(reason->text), " (%.240s: %s)%s%s", node, why,
                 remedy ? ": " : "", remedy ? remedy : "");
}

static struct reason why_unread(const struct cli_info *info)
{
    struct reason reason = {""};
    for (unsigned i = 0; i < info->all.nodes; i++) {
        if (!info->node[i].answered)
            take_reason(&reason, info->node[i].node, info->node[i].text);
    }
    return reason;
}

static struct reason why_undone(const redlock_report *report)
{
    struct reason reason = {""};
    for (unsigned i = 0; i < report->node_count; i++) {
        if (report->node[i].vote == REDLOCK_VOTE_FAILED)
            take_reason(&reason, report->node[i].node, report->node[i].text);
    }
    return reason;
}

static void show(const struct breaking *breaking)
{
    struct cli_view view = what_stands(breaking->shown);
    if (breaking->cli->json)
        return;
    printf("'%s': %s lock, %s\n", breaking->name.text, cli_state_word(view.state),
           cli_format_view(&view).text);
    cli_print_holders(&view, breaking->clients);
    fflush(stdout);
}

static int end(const struct breaking *breaking, const char *result, int status)
{
    const struct cli *cli = breaking->cli;
    struct cli_view view = what_stands(breaking->shown);
    if (cli->json) {
        cli_json_begin(stdout);
        cli_json_bytes(stdout, "name", cli->operand, strlen(cli->operand));
        if (breaking->shown->all.nodes > 0)
            cli_json_view(stdout, &view, breaking->clients);
        if (breaking->report.rounds > 0) {
            putchar(',');
            cli_json_votes(stdout, &breaking->report);
        }
        cli_json_result(stdout, result, status);
    }
    int written = cli_flush(cli);
    return status != CLI_OK ? status : written;
}

/* ---- asking ----------------------------------------------------------------------------- */

/* -1: go on. */
static int ask(struct breaking *breaking, const char **ret_result)
{
    const struct cli *cli = breaking->cli;
    if (cli->yes)
        return -1;
    fprintf(stderr,
            "redlock: its holder is not told, and goes on until it looks. Break it? [y/N] ");
    *ret_result = declined;
    if (!cli_says_yes()) {
        cli_say(cli, "'%s' was left alone", breaking->name.text);
        return CLI_NOT_OURS;
    }
    struct cli_info *now = calloc(1, sizeof(*now));
    if (!now)
        return CLI_SYSTEM;
    int code = cli_inspect(cli, breaking->client, now);
    bool is_same = code == REDLOCK_OK && same(breaking->shown, now);
    struct reason why = {""};
    if (code != REDLOCK_OK)
        why = why_unread(now);
    free(now);
    if (is_same)
        return -1;
    *ret_result = code == REDLOCK_OK ? changed : unknown;
    cli_say(cli, "'%s' was left alone: %s%s", breaking->name.text,
            code == REDLOCK_OK ? "it has another holder now" : redlock_strerror(code),
            why.text);
    return code == REDLOCK_OK ? CLI_NOT_ACQUIRED : cli_exit_of(code);
}

/* The reason to refuse before asking the user; -1: none. */
static int refuse(const struct breaking *breaking, const char **ret_result)
{
    const struct cli *cli = breaking->cli;
    struct cli_view majority = cli_view_of_majority(breaking->shown);
    const char *name = breaking->name.text;
    *ret_result = no_lock;
    if (majority.state == REDLOCK_STATE_DATA) {
        cli_say(cli, "'%s' is %s: it was left alone", name, cli_format_view(&majority).text);
        return CLI_KIND;
    }
    if (any_endless(breaking->shown) && !cli->even_without_ttl) {
        cli_say(cli,
                "'%s' has no TTL, as no lock of a client has: it was left alone. If it is a "
                "lock that was set by hand, say --even-without-ttl",
                name);
        return CLI_KIND;
    }
    if (!cli->yes && !isatty(STDIN_FILENO)) {
        cli_say(cli, "'%s' was left alone: there is no terminal to ask at; say --yes", name);
        *ret_result = declined;
        return CLI_USAGE;
    }
    return -1;
}

/* ---- doing it --------------------------------------------------------------------------- */

static int force(struct breaking *breaking, const char **ret_result)
{
    const struct cli *cli = breaking->cli;
    redlock_report *report = &breaking->report;
    *report = (redlock_report)REDLOCK_REPORT_INIT(breaking->votes, REDLOCK_NODES_MAX);
    int code = redlock_force_release_n(breaking->client, cli->operand, strlen(cli->operand),
                                       cli->even_without_ttl ? REDLOCK_ON : REDLOCK_OFF, report);
    cli_say_votes(cli, report);
    bool ended = code == REDLOCK_OK && report->granted == 0; /* while it was looked at */
    *ret_result = ended                        ? was_free
                  : code == REDLOCK_OK         ? broken
                  : code == REDLOCK_EWRONGTYPE ? no_lock
                                               : unknown;
    if (ended && !cli->json)
        printf("'%s': free by now, nothing was deleted\n", breaking->name.text);
    else if (code == REDLOCK_OK && !cli->json)
        printf("broken: deleted on %u of %u masters\n", report->granted, report->nodes);
    else if (code != REDLOCK_OK)
        cli_say(cli, "'%s' may be held still: deleted on %u of %u masters, %u are needed: %s%s",
                breaking->name.text, report->granted, report->nodes, report->needed,
                redlock_strerror(code), why_undone(report).text);
    return cli_exit_of(code);
}

static int break_it(struct breaking *breaking, const char **ret_result)
{
    const struct cli *cli = breaking->cli;
    int code = cli_inspect(cli, breaking->client, breaking->shown);
    *ret_result = unknown;
    if (code != REDLOCK_OK) {
        cli_say(cli, "'%s' was left alone: %s%s", breaking->name.text, redlock_strerror(code),
                why_unread(breaking->shown).text);
        return cli_exit_of(code);
    }
    if (is_free(breaking->shown)) {
        *ret_result = was_free;
        if (!cli->json)
            printf("'%s': free, there is nothing to break\n", breaking->name.text);
        return CLI_OK;
    }
    breaking->clients = cli_holder_clients(cli, breaking->shown);
    if (breaking->shown->all.state != REDLOCK_STATE_DATA)
        show(breaking);
    int status = refuse(breaking, ret_result);
    if (status < 0)
        status = ask(breaking, ret_result);
    return status < 0 ? force(breaking, ret_result) : status;
}

int cmd_break(const struct cli *cli)
{
    static struct breaking breaking;
    const char *result = unknown;
    breaking.cli = cli;
    breaking.name = cli_text(cli->operand, strlen(cli->operand));
    int status = cli_open(cli, &breaking.client);
    if (status != CLI_OK)
        return status;
    breaking.shown = calloc(1, sizeof(*breaking.shown));
    status = breaking.shown ? break_it(&breaking, &result) : CLI_SYSTEM;
    if (breaking.shown)
        status = end(&breaking, result, status);
    free(breaking.clients);
    free(breaking.shown);
    redlock_close(breaking.client);
    return status;
}
