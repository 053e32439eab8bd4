/* cmd_status.c - status: a line a master, and the verdict: can a quorum vote? */
#include "config_auto.h"

#include "cli.h"

#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *state_name(int state)
{
    switch (state) {
    case REDLOCK_NODE_CONNECTING:
        return "connecting";
    case REDLOCK_NODE_GUARDED:
        return "guarded";
    case REDLOCK_NODE_REFUSED:
        return "refused";
    case REDLOCK_NODE_STALLED:
        return "stalled";
    case REDLOCK_NODE_READY:
        return "ready";
    default:
        return "down";
    }
}

static void print_node_json(const redlock_node_status *node)
{
    putchar('{');
    cli_json_text(stdout, "node", node->node);
    putchar(',');
    cli_json_text(stdout, "state", state_name(node->state));
    if (node->round_trip_us >= 0)
        printf(",\"round_trip_us\":%lld", (long long)node->round_trip_us);
    if (node->uptime_s >= 0)
        printf(",\"uptime_s\":%lld", (long long)node->uptime_s);
    if (node->state == REDLOCK_NODE_GUARDED)
        printf(",\"guard_ms\":%lld", (long long)node->guard_ms);
    putchar(',');
    cli_json_bytes(stdout, "role", node->role, strnlen(node->role, sizeof(node->role)));
    putchar(',');
    cli_json_bytes(stdout, "version", node->version,
                   strnlen(node->version, sizeof(node->version)));
    putchar(',');
    cli_json_bytes(stdout, "run_id", node->run_id, strnlen(node->run_id, sizeof(node->run_id)));
    putchar(',');
    cli_json_bytes(stdout, "text", node->text, strnlen(node->text, sizeof(node->text)));
    putchar('}');
}

static void print_json(const redlock_status_report *report, bool fit)
{
    printf("{\"nodes\":[");
    for (unsigned i = 0; i < report->nodes; i++) {
        if (i > 0)
            putchar(',');
        print_node_json(&report->node[i]);
    }
    printf("],\"ready\":%u,\"needed\":%u,\"fit\":%s", report->ready, report->needed,
           fit ? "true" : "false");
    cli_json_end();
}

static struct cli_text shown(const char *text, size_t size)
{
    return cli_text(*text ? text : "-", *text ? strnlen(text, size) : 1);
}

static void print_node(const redlock_node_status *node, int width)
{
    char round_trip[32] = "-";
    if (node->round_trip_us >= 0)
        snprintf(round_trip, sizeof(round_trip), "%lld.%02lldms",
                 (long long)node->round_trip_us / 1000,
                 (long long)node->round_trip_us % 1000 / 10);
    struct cli_text up = {"-"};
    if (node->uptime_s > 0)
        up = cli_time_text(node->uptime_s * 1000);
    else if (node->uptime_s == 0)
        up = (struct cli_text){"0s"};
    printf("%-*s  %-10s  rtt %-8s  %-6s  %-8s  up %-7s  %s", width, node->node,
           state_name(node->state), round_trip, shown(node->role, sizeof(node->role)).text,
           shown(node->version, sizeof(node->version)).text, up.text,
           shown(node->run_id, sizeof(node->run_id)).text);
    if (node->state == REDLOCK_NODE_GUARDED)
        printf("  its vote is withheld for another %s", cli_time_text(node->guard_ms).text);
    if (*node->text)
        printf("  %s", cli_text(node->text, strnlen(node->text, sizeof(node->text))).text);
    putchar('\n');
}

static void print_text(const redlock_status_report *report, bool fit)
{
    int width = 0;
    for (unsigned i = 0; i < report->nodes; i++) {
        int len = (int)strlen(report->node[i].node);
        width = len > width ? len : width;
    }
    for (unsigned i = 0; i < report->nodes; i++)
        print_node(&report->node[i], width);
    printf("%s: %u of %u masters vote, %u are needed\n", fit ? "fit" : "NOT FIT", report->ready,
           report->nodes, report->needed);
}

static int look_once(const struct cli *cli, redlock *client)
{
    redlock_status_report report = {.size = sizeof(report)};
    int code = redlock_status(client, &report);
    if (code != REDLOCK_OK && code != REDLOCK_ENOQUORUM) {
        cli_say(cli, "no status: %s", redlock_strerror(code));
        return cli_exit_of(code);
    }
    bool redraw = cli->watch && !cli->json && isatty(STDOUT_FILENO);
    if (redraw)
        printf("\033[H\033[2J");
    if (cli->json)
        print_json(&report, code == REDLOCK_OK);
    else
        print_text(&report, code == REDLOCK_OK);
    int written = cli_flush(cli);
    if (code != REDLOCK_OK && !cli->watch)
        cli_say(cli, "no quorum: %u of %u masters vote and %u are needed", report.ready,
                report.nodes, report.needed);
    return code != REDLOCK_OK ? cli_exit_of(code) : written;
}

/* Sleep, or return at once where a signal came (even just before: it is blocked till here). */
static void sleep_unless_signaled(int64_t ms)
{
    sigset_t none;
    sigemptyset(&none);
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000L};
    (void)ppoll(NULL, 0, &pause, &none);
}

/* INT (and the others of its kind) ends the watch, with the status of what was seen last. */
static int watch(const struct cli *cli, redlock *client)
{
    sigset_t blocked;
    cli_signals_to_forward(&blocked);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    cli_cancel_on_signals(cli, NULL);
    int status = CLI_OK;
    while (cli_canceled_by() == 0) {
        status = look_once(cli, client);
        if (status == CLI_SYSTEM)
            break;
        if (!isatty(STDOUT_FILENO) && !cli->json) {
            putchar('\n');
            status = cli_flush(cli) == CLI_OK ? status : CLI_SYSTEM;
        }
        sleep_unless_signaled(1000);
    }
    return status;
}

int cmd_status(const struct cli *cli)
{
    redlock *client = NULL;
    int status = cli_open(cli, &client);
    if (status != CLI_OK)
        return status;
    status = cli->watch ? watch(cli, client) : look_once(cli, client);
    redlock_close(client);
    return status;
}
