/* cli_outcome.c - --json promises one object on every way out. A verb with details prints its
 * own. If none was printed, this file makes one of the exit status and the last line on stderr.
 */
#include "config_auto.h"

#include "redlock/cli.h"

#include <string.h>
#include <time.h>

/* Of docs/status.schema.json: it goes up where a reader of the former one would be misled. */
#define SCHEMA 1

static struct {
    bool printed;
    char why[2048]; /* the last line, without "redlock: " */
} outcome;

void cli_outcome_said(const char *why)
{
    snprintf(outcome.why, sizeof(outcome.why), "%s", why);
}

void cli_json_begin(FILE *out)
{
    outcome.printed = true;
    fputc('{', out);
}

void cli_json_status(FILE *out)
{
    struct timespec now;
    struct tm utc;
    char date[32] = "";
    clock_gettime(CLOCK_REALTIME, &now);
    if (gmtime_r(&now.tv_sec, &utc))
        strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &utc);
    fprintf(out, "\"schema\":%d,\"version\":\"%s\",\"time\":\"%s.%03ldZ\",", SCHEMA,
            redlock_version(), date, now.tv_nsec / 1000000);
}

void cli_metric_fit(bool fit)
{
    outcome.printed = true;
    printf("# HELP redlock_fit Can a lock be acquired: do so many masters vote as are needed?\n"
           "# TYPE redlock_fit gauge\n"
           "redlock_fit %d\n",
           fit);
}

void cli_json_asked_names(FILE *out, const struct cli *cli)
{
    if (cli->name_count == 1)
        cli_json_bytes(out, "name", cli->names[0], strlen(cli->names[0]));
    else
        fputs("\"names\":[", out);
    for (unsigned i = 0; i < cli->name_count && cli->name_count > 1; i++) {
        fputs(i > 0 ? ",{" : "{", out);
        cli_json_bytes(out, "name", cli->names[i], strlen(cli->names[i]));
        fputc('}', out);
    }
    if (cli->name_count != 1)
        fputc(']', out);
}

void cli_json_result(FILE *out, const char *result, int status)
{
    fprintf(out, ",\"result\":\"%s\",\"exit_status\":%d", result, status);
    if (status != CLI_OK && *outcome.why) {
        fputc(',', out);
        cli_json_text(out, "error", outcome.why);
    }
    if (*cli_nodes_shown()) {
        fputc(',', out);
        cli_json_text(out, "node_list", cli_nodes_shown());
    }
    fputs("}\n", out);
    fflush(out);
}

/* COMMAND has the standard output of `run`. */
FILE *cli_json_out(const struct cli *cli)
{
    return cli->verb == CLI_RUN ? stderr : stdout;
}

static const char *result_of(const struct cli *cli, int status)
{
    if (status == CLI_USAGE)
        return "usage";
    if (status == CLI_CONFIG)
        return "config";
    if (status > CLI_SIGNALED && cli->verb != CLI_RUN)
        return "canceled";
    return status == CLI_OK ? "done" : "error";
}

void cli_outcome_end(const struct cli *cli, int status)
{
    bool is_status = cli->verb == CLI_STATUS;
    if (!cli->json && cli->prometheus && is_status && !outcome.printed) {
        cli_metric_fit(false);
        fflush(stdout);
    }
    if (!cli->json || outcome.printed)
        return;
    FILE *out = cli_json_out(cli);
    cli_json_begin(out);
    if (is_status) {
        cli_json_status(out);
        fputs("\"fit\":false,", out);
    }
    if (cli->name_count > 0)
        cli_json_asked_names(out, cli);
    else
        cli_json_text(out, "verb", cli_verb_word(cli->verb));
    cli_json_result(out, result_of(cli, status), status);
}
