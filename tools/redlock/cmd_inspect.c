/* cmd_inspect.c - inspect: what each master knows of a name, and what a majority agrees on. */
#include "config_auto.h"

#include "redlock/cli.h"

#include <stdlib.h>
#include <string.h>

static bool is_free(const redlock_view *view)
{
    return view->form == REDLOCK_FORM_FREE || view->form == REDLOCK_FORM_KEPT;
}

/* On how many masters something stands there, and on how many it is kept for a waiter. */
static unsigned count_held(const redlock_description *all, unsigned *ret_kept)
{
    unsigned held = 0;
    *ret_kept = 0;
    for (unsigned i = 0; i < all->nodes; i++) {
        const redlock_node_view *node = &all->node[i];
        held += node->answered && !is_free(&node->view);
        *ret_kept += node->answered && node->view.form == REDLOCK_FORM_KEPT;
    }
    return held;
}

static const char *verdict_of(const redlock_description *all, int code)
{
    unsigned kept;
    if (code != REDLOCK_OK)
        return "unknown";
    if (all->majority.form == REDLOCK_FORM_DATA)
        return "data";
    if (all->majority.shown > 0)
        return "held";
    return count_held(all, &kept) > 0 ? "split" : "free";
}

static void print_json_node(const redlock_node_view *node, const struct holder_clients *clients)
{
    putchar('{');
    cli_json_text(stdout, "node", node->node);
    if (!node->answered) {
        fputs(",\"vote\":\"failed\",", stdout);
        cli_json_text(stdout, "text", node->text);
    } else {
        printf(",\"vote\":\"%s\"", is_free(&node->view) ? "free" : "held");
        cli_json_view(stdout, &node->view, clients);
    }
    putchar('}');
}

static void print_json(const struct cli *cli, const redlock_description *all, int code,
                       const struct holder_clients *clients)
{
    unsigned kept;
    const char *verdict = verdict_of(all, code);
    (void)count_held(all, &kept);
    cli_json_begin(stdout);
    cli_json_bytes(stdout, "name", cli->operand, strlen(cli->operand));
    fputs(",\"nodes\":[", stdout);
    for (unsigned i = 0; i < all->nodes; i++) {
        fputs(i > 0 ? "," : "", stdout);
        print_json_node(&all->node[i], clients);
    }
    printf("],\"needed\":%u,\"verdict\":\"%s\"", all->needed, verdict);
    if (strcmp(verdict, "held") == 0 || strcmp(verdict, "data") == 0)
        cli_json_view(stdout, &all->majority, clients);
    else if (strcmp(verdict, "free") == 0)
        printf("%s,\"waiting\":%u", kept > 0 ? ",\"kept\":true" : "", all->majority.waiting);
    cli_json_end();
}

static void print_verdict(const struct cli *cli, const redlock_description *all, int code,
                          const struct holder_clients *clients)
{
    unsigned kept;
    const redlock_view *majority = &all->majority;
    unsigned held = count_held(all, &kept);
    struct cli_text name = cli_text(cli->operand, strlen(cli->operand));
    if (code != REDLOCK_OK) {
        printf("'%s': unknown, too few masters answered (%u of %u needed)\n", name.text,
               all->needed, all->nodes);
    } else if (majority->form == REDLOCK_FORM_DATA) {
        printf("'%s': %s\n", name.text, cli_view_text(majority).text);
    } else if (majority->shown > 0) {
        printf("'%s': %s%s%s\n", name.text,
               majority->form == REDLOCK_FORM_PLAIN ? "" : cli_form_word(majority),
               majority->form == REDLOCK_FORM_PLAIN ? "" : " lock, ",
               cli_view_text(majority).text);
        cli_print_holders(majority, clients);
    } else if (held > 0) {
        printf("'%s': nobody has a majority (%u of %u masters hold a key)\n", name.text, held,
               all->nodes);
    } else if (kept > 0) {
        printf("'%s': free, kept for a waiter (on %u of %u masters)\n", name.text, kept,
               all->nodes);
    } else {
        printf("'%s': %s\n", name.text, cli_view_text(majority).text);
    }
}

static void print_text(const struct cli *cli, const redlock_description *all, int code,
                       const struct holder_clients *clients)
{
    for (unsigned i = 0; i < all->nodes; i++) {
        const redlock_node_view *node = &all->node[i];
        if (node->answered)
            printf("%s  %s\n", node->node, cli_view_text(&node->view).text);
        else
            printf("%s  failed: %s\n", node->node, node->text);
    }
    print_verdict(cli, all, code, clients);
}

static int show(const struct cli *cli, const redlock_description *all, int code)
{
    if (code != REDLOCK_OK && code != REDLOCK_ENOQUORUM) {
        cli_say(cli, "'%s': %s", cli_text(cli->operand, strlen(cli->operand)).text,
                redlock_strerror(code));
        return cli_exit_of(code);
    }
    struct holder_clients *clients = cli_holder_clients(cli, all);
    if (cli->json)
        print_json(cli, all, code, clients);
    else
        print_text(cli, all, code, clients);
    free(clients);
    int written = cli_flush(cli);
    if (code == REDLOCK_OK)
        return written;
    cli_say(cli, "no quorum: %u of %u masters did not answer", all->nodes - all->answered,
            all->nodes);
    return cli_exit_of(code);
}

int cmd_inspect(const struct cli *cli)
{
    redlock *client = NULL;
    int status = cli_open(cli, &client);
    if (status != CLI_OK)
        return status;
    redlock_description *all = calloc(1, sizeof(*all));
    int code = REDLOCK_ENOMEM;
    if (all) {
        all->size = sizeof(*all);
        code = redlock_describe(client, cli->operand, strlen(cli->operand), cli->owner, all);
    }
    status = show(cli, all, code);
    free(all);
    redlock_close(client);
    return status;
}
