/* cmd_inspect.c - inspect: the state of a name on each master, and the one that a majority
 * shows. */
#include "config_auto.h"

#include "redlock/cli.h"

#include <stdlib.h>
#include <string.h>

/* The number of masters with a key, and the number of those that reserve it for a waiter. */
static unsigned count_held(const struct cli_info *info, unsigned *ret_reserved)
{
    unsigned held = 0;
    *ret_reserved = 0;
    for (unsigned i = 0; i < info->all.nodes; i++) {
        const redlock_node_info *node = &info->node[i];
        held += node->answered && !cli_is_free(node->state);
        *ret_reserved += node->answered && node->state == REDLOCK_STATE_RESERVED;
    }
    return held;
}

static const char *verdict_of(const struct cli_info *info, int code)
{
    unsigned kept;
    if (code != REDLOCK_OK)
        return "unknown";
    if (info->all.state == REDLOCK_STATE_DATA)
        return "data";
    if (cli_view_of_majority(info).shown > 0)
        return "held";
    return count_held(info, &kept) > 0 ? "split" : "free";
}

static void print_json_node(const struct cli_info *info, unsigned i,
                            const struct holder_clients *clients)
{
    const redlock_node_info *node = &info->node[i];
    struct cli_view view = cli_view_of(info, i);
    putchar('{');
    cli_json_text(stdout, "node", node->node);
    if (!node->answered) {
        fputs(",\"vote\":\"failed\",", stdout);
        cli_json_text(stdout, "text", node->text);
    } else {
        printf(",\"vote\":\"%s\"", cli_is_free(node->state) ? "free" : "held");
        cli_json_view(stdout, &view, clients);
    }
    putchar('}');
}

static void print_json(const struct cli *cli, const struct cli_info *info, int code,
                       const struct holder_clients *clients)
{
    unsigned kept;
    struct cli_view majority = cli_view_of_majority(info);
    const char *verdict = verdict_of(info, code);
    (void)count_held(info, &kept);
    cli_json_begin(stdout);
    cli_json_bytes(stdout, "name", cli->operand, strlen(cli->operand));
    fputs(",\"nodes\":[", stdout);
    for (unsigned i = 0; i < info->all.nodes; i++) {
        fputs(i > 0 ? "," : "", stdout);
        print_json_node(info, i, clients);
    }
    printf("],\"needed\":%u,\"verdict\":\"%s\"", info->all.needed, verdict);
    if (strcmp(verdict, "held") == 0 || strcmp(verdict, "data") == 0)
        cli_json_view(stdout, &majority, clients);
    else if (strcmp(verdict, "free") == 0)
        printf("%s,\"waiting\":%u", kept > 0 ? ",\"kept\":true" : "", majority.waiting);
    cli_json_end();
}

static void print_verdict(const struct cli *cli, const struct cli_info *info, int code,
                          const struct holder_clients *clients)
{
    unsigned kept;
    const redlock_lock_info *all = &info->all;
    struct cli_view majority = cli_view_of_majority(info);
    unsigned held = count_held(info, &kept);
    struct cli_text name = cli_text(cli->operand, strlen(cli->operand));
    if (code != REDLOCK_OK) {
        printf("'%s': unknown, too few masters answered (%u of %u needed)\n", name.text,
               all->needed, all->nodes);
    } else if (majority.state == REDLOCK_STATE_DATA) {
        printf("'%s': %s\n", name.text, cli_format_view(&majority).text);
    } else if (majority.shown > 0) {
        printf("'%s': %s%s%s\n", name.text,
               majority.state == REDLOCK_STATE_PLAIN ? "" : cli_state_word(majority.state),
               majority.state == REDLOCK_STATE_PLAIN ? "" : " lock, ",
               cli_format_view(&majority).text);
        cli_print_holders(&majority, clients);
    } else if (held > 0) {
        printf("'%s': nobody has a majority (%u of %u masters hold a key)\n", name.text, held,
               all->nodes);
    } else if (kept > 0) {
        printf("'%s': free, kept for a waiter (on %u of %u masters)\n", name.text, kept,
               all->nodes);
    } else {
        printf("'%s': %s\n", name.text, cli_format_view(&majority).text);
    }
}

static void print_text(const struct cli *cli, const struct cli_info *info, int code,
                       const struct holder_clients *clients)
{
    for (unsigned i = 0; i < info->all.nodes; i++) {
        const redlock_node_info *node = &info->node[i];
        struct cli_view view = cli_view_of(info, i);
        if (node->answered)
            printf("%s  %s\n", node->node, cli_format_view(&view).text);
        else
            printf("%s  failed: %s\n", node->node, node->text);
    }
    print_verdict(cli, info, code, clients);
}

static int show(const struct cli *cli, const struct cli_info *info, int code)
{
    if (code != REDLOCK_OK && code != REDLOCK_ENOQUORUM) {
        cli_say(cli, "'%s': %s", cli_text(cli->operand, strlen(cli->operand)).text,
                redlock_strerror(code));
        return cli_exit_of(code);
    }
    struct holder_clients *clients = cli_holder_clients(cli, info);
    if (cli->json)
        print_json(cli, info, code, clients);
    else
        print_text(cli, info, code, clients);
    free(clients);
    int written = cli_flush(cli);
    if (code == REDLOCK_OK)
        return written == CLI_OK && info->all.held && cli->not_acquired >= 0
                   ? cli->not_acquired
                   : written;
    cli_say(cli, "no quorum: %u of %u masters did not answer",
            info->all.nodes - info->all.answered, info->all.nodes);
    return cli_exit_of(code);
}

int cmd_inspect(const struct cli *cli)
{
    redlock *client = NULL;
    int status = cli_open(cli, &client);
    if (status != CLI_OK)
        return status;
    struct cli_info *info = calloc(1, sizeof(*info));
    status = show(cli, info, info ? cli_inspect(cli, client, info) : REDLOCK_ENOMEM);
    free(info);
    redlock_close(client);
    return status;
}
