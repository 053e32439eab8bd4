/* cli_rig.c - see cli_rig.h. */
#include "config_auto.h"

#include "cli_rig.h"

#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct masters *cli_masters;
struct masters *cli_lone;

struct masters *cli_choose(bool one, const char *settings)
{
    struct masters *chosen = one ? cli_lone : cli_masters;
    setenv("REDLOCK_NODES", masters_file(chosen, settings), 1);
    return chosen;
}

static void start(const char *const *extra)
{
    cli_masters = masters_start(5, extra);
    cli_choose(false, CLI_PATIENT);
}

void cli_rig_start(void)
{
    start(NULL);
}

void cli_rig_start_keeping(void)
{
    start(masters_keeping);
}

void cli_rig_start_with_lone(void)
{
    start(NULL);
    cli_lone = masters_start(1, NULL);
}

void cli_rig_stop(void)
{
    if (cli_lone)
        masters_stop(cli_lone);
    cli_lone = NULL;
    masters_stop(cli_masters);
}

bool cli_one_line(const char *text)
{
    while (strncmp(text, "redlock: 20", 11) == 0 && strchr(text, '\n'))
        text = strchr(text, '\n') + 1;
    return strncmp(text, "redlock: ", 9) == 0 && strchr(text, '\n') == text + strlen(text) - 1;
}

void cli_expect_json(struct program *program, const char *path, const char *expected)
{
    const char *text = program_out(program);
    char got[REDLOCK_HANDLE_MAX] = "";
    ck_assert_msg(json_valid(text, strlen(text)), "no JSON: %s", text);
    ck_assert_msg(json_get(text, strlen(text), path, got, sizeof(got)) >= 0, "no %s in %s",
                  path, text);
    ck_assert_msg(!expected || strcmp(got, expected) == 0, "%s is %s in %s", path, got, text);
}

bool cli_majority_has(const char *name)
{
    return masters_with(cli_masters, name) > cli_masters->n / 2;
}

void cli_expect_free(const char *name)
{
    ck_assert_msg(wait_until(masters_with(cli_masters, name) == 0, 5000), "%s is not free",
                  name);
}

const char *cli_acquire(const char *name, const char *ttl)
{
    static char handle[REDLOCK_HANDLE_MAX];
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, REDLOCK("lock", name, "--ttl", ttl), &program), 0);
    ck_assert_str_eq(program_err(program), "");
    snprintf(handle, sizeof(handle), "%s", program_out(program));
    ck_assert_ptr_eq(strchr(handle, '\n'), handle + strlen(handle) - 1);
    handle[strlen(handle) - 1] = '\0';
    return handle;
}

/* ---- redlock status -----------------------------------------------------------------------
 */

enum { COLUMNS = 100 };

static void expect_narrow(const char *text)
{
    for (const char *end; (end = strchr(text, '\n')); text = end + 1)
        ck_assert_msg(end - text <= COLUMNS, "%ld columns: %s", (long)(end - text), text);
}

struct program *cli_expect_status(int status)
{
    static const char *const words[] = {"fit: ", "DEGRADED: ", "NOT FIT: "};
    static const char *const json[] = {"fit", "degraded", "not fit"};
    int verdict = status == CLI_FIT ? 0 : status == CLI_DEGRADED ? 1 : 2;
    struct program *program = NULL;
    int got = program_run(NULL, REDLOCK("status"), &program);
    ck_assert_msg(got == status, "status %d: %s", got, program_out(program));
    ck_assert_msg(program_printed(program, words[verdict]), "%s", program_out(program));
    expect_narrow(program_out(program));
    got = program_run(NULL, REDLOCK("status", "--json"), &program);
    ck_assert_msg(got == status, "status %d: %s", got, program_out(program));
    cli_expect_json(program, "verdict", json[verdict]);
    return program;
}

void cli_expect_check(struct program *program, unsigned node, const char *check,
                      const char *result, const char *reason, const char *remedy)
{
    const char *text = program_out(program);
    char path[64], got[1024] = "";
    unsigned i = 0;
    for (; strcmp(got, check) != 0; i++) {
        snprintf(path, sizeof(path), "nodes.%u.checks.%u.check", node, i);
        ck_assert_msg(json_get(text, strlen(text), path, got, sizeof(got)) >= 0,
                      "no check %s of node %u in %s", check, node, text);
    }
    snprintf(path, sizeof(path), "nodes.%u.checks.%u.result", node, --i);
    cli_expect_json(program, path, result);
    snprintf(path, sizeof(path), "nodes.%u.checks.%u.reason", node, i);
    ck_assert_msg(!reason || (json_get(text, strlen(text), path, got, sizeof(got)) >= 0 &&
                              strstr(got, reason)),
                  "no '%s' is the reason of %s", reason, text);
    snprintf(path, sizeof(path), "nodes.%u.checks.%u.remedy", node, i);
    ck_assert_msg(!remedy || (json_get(text, strlen(text), path, got, sizeof(got)) >= 0 &&
                              strstr(got, remedy)),
                  "no '%s' is the remedy of %s", remedy, text);
}

struct program *cli_hold(const char *option, const char *name)
{
    const char *plain[] = {program_redlock(),           "run", name, "--", "sh", "-c",
                           "echo held; exec sleep 300", NULL};
    const char *other[] = {program_redlock(),           "run", option, name, "--", "sh", "-c",
                           "echo held; exec sleep 300", NULL};
    struct program *program = program_start(NULL, *option ? other : plain);
    ck_assert_msg(wait_until(program_printed(program, "held\n"), CLI_MOMENT_MS), "%s",
                  program_err(program));
    return program;
}
