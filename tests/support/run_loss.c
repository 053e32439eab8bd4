/* run_loss.c - see run_loss.h. */
#include "config_auto.h"

#include "run_loss.h"

#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct program *loss_hold(const char *ttl)
{
    struct program *run =
        program_start(NULL, REDLOCK("run", "--json", "--ttl", ttl, LOSS_NAME, "--", "sh", "-c",
                                    "echo ready; exec sleep 79"));
    ck_assert(wait_until(program_printed(run, "ready"), CLI_MOMENT_MS));
    return run;
}

/* The object is the last line on stderr, for COMMAND has stdout. */
static const char *json_of(struct program *run)
{
    const char *text = program_err(run), *last = strstr(text, "\n{");
    ck_assert_msg(last || *text == '{', "no JSON: %s", text);
    return last ? last + 1 : text;
}

static void expect_member(struct program *run, const char *path, const char *expected)
{
    const char *text = json_of(run);
    char got[2048] = "";
    ck_assert_msg(json_valid(text, strlen(text)), "no JSON: %s", text);
    ck_assert_msg(json_get(text, strlen(text), path, got, sizeof(got)) >= 0, "no %s in %s",
                  path, text);
    ck_assert_msg(!expected || strcmp(got, expected) == 0, "%s is %s in %s", path, got, text);
}

static const char *line_of(struct program *run)
{
    const char *all = program_err(run);
    const char *line = strstr(all, "'" LOSS_NAME "' was lost ");
    if (!line) /* what comes first after a suspension is a matter of chance */
        line = strstr(all, "'" LOSS_NAME "' was given up ");
    ck_assert_msg(line, "no line of the loss: %s", all);
    return line;
}

static void keep_line(struct program *run, const char *loss)
{
    const char *path = getenv("LOSS_LINES");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    const char *line = line_of(run);
    fprintf(file, "%s\t%.*s\n", loss, (int)strcspn(line, "\n"), line);
    fclose(file);
}

void loss_expect_text(struct program *run, const char *text)
{
    const char *all = program_err(run), *line = line_of(run);
    const char *found = strstr(line, text), *end = strchr(line, '\n');
    ck_assert_msg(found && end && found < end, "no '%s' in: %s", text, all);
}

void loss_expect(struct program *run, const char *loss, const char *text)
{
    int status = program_wait(run, 2 * CLI_MOMENT_MS);
    ck_assert_msg(status == 74, "status %d: %s", status, program_err(run));
    keep_line(run, loss);
    loss_expect_text(run, text);
    expect_member(run, "loss", loss);
    expect_member(run, "held_ms", NULL);
    expect_member(run, "confirmed_ms", NULL);
    expect_member(run, "needed", "3");
    expect_member(run, "error", NULL);
}

void loss_expect_node(struct program *run, unsigned node, const char *member,
                      const char *expected)
{
    char path[64];
    snprintf(path, sizeof(path), "nodes.%u.%s", node, member);
    expect_member(run, path, expected);
}
