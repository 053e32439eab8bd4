/* cmd_inspect.c - inspect: who holds a name on each master, and has anyone a majority. */
#include "config_auto.h"

#include "cli.h"

#include <string.h>

/* A lock that is kept for a waiter who was woken is held by nobody. On how many masters. */
static unsigned kept_is_free(redlock_report *report)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < report->nodes; i++) {
        redlock_node_vote *vote = &report->node[i];
        if (vote->vote != REDLOCK_VOTE_HELD || !cli_is_kept(vote))
            continue;
        vote->vote = REDLOCK_VOTE_FREE;
        report->held--;
        kept++;
        if (report->majority == (int)i)
            report->majority = -1; /* the others of it have the same value */
    }
    return kept;
}

static const char *verdict_of(const redlock_report *report, int code)
{
    if (code != REDLOCK_OK)
        return "unknown";
    if (report->majority >= 0)
        return "held";
    return report->held > 0 ? "split" : "free";
}

/* The majority's holder has its key on at least `needed` masters for so long. */
static int64_t majority_ttl_ms(const redlock_report *report)
{
    const redlock_node_vote *major = &report->node[report->majority];
    int64_t longest_ms = 0;
    for (unsigned i = 0; i < report->nodes; i++) {
        const redlock_node_vote *vote = &report->node[i];
        if (vote->vote != REDLOCK_VOTE_HELD || vote->holder_len != major->holder_len ||
            memcmp(vote->holder, major->holder, major->holder_len) != 0)
            continue;
        if (vote->ttl_ms < 0)
            return -1;
        longest_ms = vote->ttl_ms > longest_ms ? vote->ttl_ms : longest_ms;
    }
    return longest_ms;
}

static void print_json(const struct cli *cli, const redlock_report *report, const char *verdict,
                       unsigned kept)
{
    putchar('{');
    cli_json_bytes(stdout, "name", cli->operand, strlen(cli->operand));
    putchar(',');
    cli_json_votes(stdout, report);
    printf(",\"needed\":%u,", report->needed);
    cli_json_text(stdout, "verdict", verdict);
    if (kept > 0 && strcmp(verdict, "free") == 0)
        printf(",\"kept\":true");
    if (report->majority >= 0) {
        const redlock_node_vote *major = &report->node[report->majority];
        putchar(',');
        cli_json_bytes(stdout, "holder", major->holder, major->holder_len);
    }
    printf("}\n");
}

static void print_vote(const redlock_node_vote *vote)
{
    switch (vote->vote) {
    case REDLOCK_VOTE_HELD:
        printf("%s  held by %s, %s%s\n", vote->node,
               cli_text(vote->holder, vote->holder_len).text,
               vote->ttl_ms < 0 ? "for ever" : cli_time_text(vote->ttl_ms).text,
               vote->ttl_ms < 0 ? "" : " left");
        break;
    case REDLOCK_VOTE_FREE:
        if (cli_is_kept(vote))
            printf("%s  free, kept for a waiter, %s left\n", vote->node,
                   cli_time_text(vote->ttl_ms).text);
        else
            printf("%s  free\n", vote->node);
        break;
    case REDLOCK_VOTE_FAILED:
        printf("%s  failed: %s\n", vote->node, vote->text);
        break;
    default:
        printf("%s  no answer\n", vote->node);
        break;
    }
}

static void print_text(const struct cli *cli, const redlock_report *report, int code,
                       unsigned kept)
{
    for (unsigned i = 0; i < report->nodes; i++)
        print_vote(&report->node[i]);
    struct cli_text name = cli_text(cli->operand, strlen(cli->operand));
    if (code != REDLOCK_OK) {
        printf("'%s': unknown, too few masters answered (%u of %u needed)\n", name.text,
               report->needed, report->nodes);
    } else if (report->majority >= 0) {
        const redlock_node_vote *major = &report->node[report->majority];
        int64_t left_ms = majority_ttl_ms(report);
        printf("'%s': held by %s, %s%s\n", name.text,
               cli_text(major->holder, major->holder_len).text,
               left_ms < 0 ? "for ever" : cli_time_text(left_ms).text,
               left_ms < 0 ? "" : " left at most");
    } else if (report->held > 0) {
        printf("'%s': nobody has a majority (%u of %u masters hold a key)\n", name.text,
               report->held, report->nodes);
    } else if (kept > 0) {
        printf("'%s': free, kept for a waiter (on %u of %u masters)\n", name.text, kept,
               report->nodes);
    } else {
        printf("'%s': free\n", name.text);
    }
}

int cmd_inspect(const struct cli *cli)
{
    redlock *client = NULL;
    int status = cli_open(cli, NULL, &client);
    if (status != CLI_OK)
        return status;
    redlock_report report = {.size = sizeof(report)};
    int code = redlock_inspect(client, cli->operand, strlen(cli->operand), &report);
    if (code != REDLOCK_OK && code != REDLOCK_ENOQUORUM) {
        cli_say(cli, "'%s': %s", cli_text(cli->operand, strlen(cli->operand)).text,
                redlock_strerror(code));
        redlock_close(client);
        return cli_exit_of(code);
    }
    unsigned kept = kept_is_free(&report);
    if (cli->json)
        print_json(cli, &report, verdict_of(&report, code), kept);
    else
        print_text(cli, &report, code, kept);
    int written = cli_flush(cli);
    if (code != REDLOCK_OK)
        cli_say(cli, "no quorum: %u of %u masters did not answer", report.failed, report.nodes);
    redlock_close(client);
    return code != REDLOCK_OK ? cli_exit_of(code) : written;
}
