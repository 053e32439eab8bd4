/* cli_outcome.c - --json promises one object on every way out. A verb with details prints its
 * own. If none was printed, this file makes one of the exit status and the last line on stderr.
 */
#include "config_auto.h"

#include "redlock/cli.h"

#include <string.h>

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
    if (*cli_nodes_used()) {
        fputc(',', out);
        cli_json_text(out, "node_list", cli_nodes_used());
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
    if (!cli->json || outcome.printed)
        return;
    FILE *out = cli_json_out(cli);
    cli_json_begin(out);
    if (cli->name_count > 0)
        cli_json_asked_names(out, cli);
    else
        cli_json_text(out, "verb", cli_verb_word(cli->verb));
    cli_json_result(out, result_of(cli, status), status);
}
