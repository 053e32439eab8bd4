/* test_cli_look.c - redlock inspect and status, and every verb where no quorum is to be had. */
#include "config_auto.h"

#include "base/limits.h"
#include "cli_rig.h"
#include "fake.h"
#include "json.h"
#include "masters.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TEST(look, holder_of_bytes_is_printed_safely)
{
    static const char holder[] = "evil\x1b]0;x\x07\xfe";
    for (unsigned i = 0; i < 5; i++)
        (void)master_do(cli_masters, i, "SET", "foreign", holder, NULL);
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, REDLOCK("inspect", "foreign", "--json"), &program), 0);
    cli_expect_json(program, "verdict", "held");
    cli_expect_json(program, "holder_hex", "6576696c1b5d303b7807fe");
    cli_expect_json(program, "nodes.4.ttl_ms", "null");
    ck_assert_int_eq(program_run(NULL, REDLOCK("inspect", "foreign"), &program), 0);
    ck_assert(program_printed(program, "evil\\x1b]0;x\\x07\\xfe, for ever"));
    ck_assert_ptr_null(strchr(program_out(program), '\x1b'));
    for (unsigned i = 0; i < 5; i++)
        (void)master_do(cli_masters, i, "DEL", "foreign", NULL);
}

/* ---- inspect and status ---- */

static void set_all(const char *value, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        (void)master_do(cli_masters, i, "SET", "kept:free", value, "PX", "20000", NULL);
}

TEST(look, lock_reserved_for_waiter_is_free)
{
    static const char waiter[] = "redlock:next:0b7a2c5e-0000-4000-8000-000000000001:7";
    struct program *program = NULL;
    set_all(waiter, 4);
    ck_assert_int_eq(program_run(NULL, REDLOCK("inspect", "kept:free", "--json"), &program), 0);
    cli_expect_json(program, "verdict", "free");
    cli_expect_json(program, "kept", "true");
    cli_expect_json(program, "nodes.0.vote", "free");
    cli_expect_json(program, "nodes.0.kept", "true");
    cli_expect_json(program, "nodes.0.ttl_ms", NULL);
    ck_assert_ptr_null(strstr(program_out(program), "holder"));
    ck_assert_int_eq(program_run(NULL, REDLOCK("inspect", "kept:free"), &program), 0);
    ck_assert(program_printed(program, "  free, kept for a waiter, "));
    ck_assert(
        program_printed(program, "'kept:free': free, kept for a waiter (on 4 of 5 masters)\n"));

    set_all("a holder", 3); /* one is kept still */
    ck_assert_int_eq(program_run(NULL, REDLOCK("inspect", "kept:free", "--json"), &program), 0);
    cli_expect_json(program, "verdict", "held");
    cli_expect_json(program, "holder", "a holder");
    cli_expect_json(program, "nodes.3.kept", "true");
    ck_assert_ptr_null(strstr(program_out(program), "\"verdict\":\"held\",\"kept\""));
    for (unsigned i = 0; i < 4; i++)
        (void)master_do(cli_masters, i, "DEL", "kept:free", NULL);
}

TEST(look, inspect_tells_free_from_held_from_split)
{
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, REDLOCK("inspect", "looked:at"), &program), 0);
    ck_assert(program_printed(program, "'looked:at': free\n"));
    for (unsigned i = 0; i < 4; i++)
        (void)master_do(cli_masters, i, "SET", "looked:at", i % 2 == 0 ? "one" : "two", NULL);
    ck_assert_int_eq(program_run(NULL, REDLOCK("inspect", "looked:at", "--json"), &program), 0);
    cli_expect_json(program, "verdict", "split");
    cli_expect_json(program, "nodes.4.vote", "free");
    for (unsigned i = 0; i < 4; i++)
        (void)master_do(cli_masters, i, "DEL", "looked:at", NULL);
    (void)cli_acquire("looked:at", "20s");
    ck_assert_int_eq(program_run(NULL, REDLOCK("inspect", "looked:at", "--json"), &program), 0);
    cli_expect_json(program, "verdict", "held");
    cli_expect_json(program, "needed", "3");
}

TEST(look, inspect_answers_scripts_by_its_exit_status)
{
    ck_assert_int_eq(program_run(NULL, REDLOCK("inspect", "-E", "3", "asked"), NULL), 0);
    (void)cli_acquire("asked", "20s");
    ck_assert_int_eq(program_run(NULL, REDLOCK("inspect", "asked"), NULL), 0);
    ck_assert_int_eq(program_run(NULL, REDLOCK("inspect", "-E", "3", "asked"), NULL), 3);
    ck_assert_int_eq(program_run(NULL, REDLOCK("inspect", "-E", "3", "--json", "asked"), NULL), 3);
}

TEST(look, status_has_line_per_node_and_verdict)
{
    struct program *program = NULL;
    for (unsigned i = 0; i < cli_masters->n; i++) /* nothing guards, so they must not forget */
        ck_assert_int_eq(master_do(cli_masters, i, "CONFIG", "SET", "appendonly", "yes",
                                   "appendfsync", "always", NULL)
                             .type,
                         '+');
    ck_assert_int_eq(program_run(NULL, REDLOCK("status"), &program), 0);
    for (int node = 1; node <= 5; node++) { /* a long address has a line to itself */
        char line[32];
        snprintf(line, sizeof(line), " %d  unix:///", node);
        ck_assert(program_printed(program, line));
    }
    ck_assert(!program_printed(program, "WARN"));
    ck_assert(!program_printed(program, "FAIL"));
    ck_assert(program_printed(program, "fit: 5 of 5 masters vote, 3 are needed\n"));
    ck_assert_int_eq(program_run(NULL, REDLOCK("--json", "status"), &program), 0);
    cli_expect_json(program, "fit", "true");
    cli_expect_json(program, "nodes.0.state", "ready");
    cli_expect_json(program, "nodes.4.role", "master");
}

TEST(look, status_watch_looks_each_second_and_ends_on_interrupt)
{
    struct program *program = program_start(NULL, REDLOCK("status", "--watch", "--json"));
    ck_assert(wait_until(strchr(program_out(program), '\n') &&
                             strchr(strchr(program_out(program), '\n') + 1, '\n'),
                         5000));
    kill(program->pid, SIGINT);
    ck_assert_int_eq(program_wait(program, CLI_MOMENT_MS), 0);
    const char *line = program_out(program);
    for (const char *end = strchr(line, '\n'); end; line = end + 1, end = strchr(line, '\n'))
        ck_assert(json_valid(line, (size_t)(end - line)));
    ck_assert_str_eq(line, "");
    ck_assert_str_eq(program_err(program), "");
}

/* ---- no quorum: 69 ---- */

TEST(no_quorum, no_quorum_is_69_and_says_so)
{
    const char *handle = cli_acquire("kept", "20s");
    for (unsigned i = 0; i < 3; i++)
        master_kill(cli_masters, i);
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, REDLOCK("lock", "quorum:less"), &program), 69);
    ck_assert(cli_one_line(program_err(program)));
    ck_assert_ptr_nonnull(strstr(program_err(program), "no quorum, 3 of 5 masters failed and"));
    ck_assert_int_eq(program_run(NULL, REDLOCK("lock", "-v", "quorum:less"), &program), 69);
    ck_assert_ptr_nonnull(strstr(program_err(program), "failed: "));
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("run", "--try", "-E", "9", "quorum:less", "--", "true"),
                    NULL),
        69);
    ck_assert_int_eq(program_run(NULL, REDLOCK("extend", handle), NULL), 69);
    ck_assert_int_eq(program_run(NULL, REDLOCK("release", handle), NULL), 69);
    ck_assert_int_eq(program_run(NULL, REDLOCK("inspect", "kept"), NULL), 69);
    ck_assert_int_eq(program_run(NULL, REDLOCK("inspect", "kept", "--json"), &program), 69);
    cli_expect_json(program, "verdict", "unknown");
    cli_expect_json(program, "nodes.0.vote", "failed");
    ck_assert_int_eq(program_run(NULL, REDLOCK("status"), &program), 69);
    ck_assert(program_printed(program, "NOT FIT: 2 of 5 masters vote, 3 are needed"));
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "--json"), &program), 69);
    cli_expect_json(program, "fit", "false");
    cli_expect_json(program, "nodes.0.state", "down");
    ck_assert_int_eq(program_run(NULL, REDLOCK("lock", "-q", "quorum:less"), &program), 69);
    ck_assert_str_eq(program_err(program), "");
}

/* A stopped master takes the connection and says nothing: it counts as missing all the same. */
TEST(no_quorum, masters_that_are_not_connected_yet_are_counted)
{
    master_kill(cli_masters, 0);
    master_kill(cli_masters, 1);
    master_pause(cli_masters, 2);
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, REDLOCK("lock", "quorum:less"), &program), 69);
    ck_assert_msg(strstr(program_err(program),
                         "3 of 5 masters failed or are not connected yet, and 3 are needed"),
                  "%s", program_err(program));
}

/* All that is known is that they are silent; and no master is asked for its state to find more,
 * for that would take as long again. */
TEST(no_quorum, silent_masters_are_named_and_not_waited_for_twice)
{
    struct fake *fakes[3];
    struct program *program = NULL;
    fakes_start(fakes, 3);
    fake_door(fakes[1], FAKE_DEAF);
    fake_door(fakes[2], FAKE_DEAF);
    const char *file = fakes_file(fakes, 3, NULL);
    const char *why = "was not asked, as it was still connecting";
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("lock", "-n", file, "--json", "quorum:less"), &program), 69);
    cli_expect_json(program, "nodes.1.vote", "none");
    cli_expect_json(program, "nodes.1.text", why);
    char named[SUITE_PATH_MAX + 128];
    snprintf(named, sizeof(named), " and 2 are needed (unix://%s: %s)\n",
             fake_endpoint(fakes[1])->path, why);
    ck_assert_msg(strstr(program_err(program), named), "%s", program_err(program));
    ck_assert_uint_eq(fake_count(fakes[0], "PING*"), 0);
}

/* The first connect was over before anybody polled, and that is excused. */
TEST(no_quorum, silent_master_is_down_for_status_and_not_on_its_way)
{
    struct fake *fakes[3];
    struct program *program = NULL;
    fakes_start(fakes, 3);
    fake_door(fakes[1], FAKE_DEAF);
    setenv("REDLOCK_NODES", fakes_file(fakes, 3, NULL), 1);
    (void)program_run(NULL, REDLOCK("status", "--json"), &program);
    cli_expect_json(program, "nodes.1.state", "down");
    cli_expect_check(program, 1, "connection", "fail", "no answer within connect-timeout", NULL);
    fakes_stop(fakes, 3);
}

static const struct {
    const char *version, *result;
} versions[] = {
    {"redis_version:6.0.16\r\n", "warn"}, {"redis_version:5.0.6\r\n", "warn"},
    {"redis_version:6.2.0\r\n", "ok"},    {"redis_version:10.0.1\r\n", "ok"},
    {"valkey_version:5.9.9\r\n", "ok"}, /* another count */
};

TEST(no_quorum, server_older_than_any_that_is_tested_is_told, .rows = ROWS(versions))
{
    struct fake *fakes[3];
    struct program *program = NULL;
    fakes_start(fakes, 3);
    fake_says_also(fakes[1], versions[_i].version);
    setenv("REDLOCK_NODES", fakes_file(fakes, 3, NULL), 1);
    (void)program_run(NULL, REDLOCK("status", "--json"), &program);
    bool old = strcmp(versions[_i].result, "warn") == 0;
    cli_expect_check(program, 1, "server", versions[_i].result,
                     old ? "is older than 6.2" : NULL, old ? "upgrade it" : NULL);
    fakes_stop(fakes, 3);
}

/* ---- what only a person can mend ---- */

static struct masters *masters;

static void want_password(unsigned node)
{
    (void)master_do(masters, node, "ACL", "SETUSER", "default", "resetpass", ">secret", NULL);
}

static void deny_scripts(unsigned node)
{
    (void)master_do(masters, node, "ACL", "SETUSER", "default", "-eval", "-set", NULL);
}

static const struct {
    void (*refuse)(unsigned node);
    const char *reason, *remedy;
} refusals[] = {
    {want_password, "NOAUTH", "add password-file=FILE to its line"},
    {deny_scripts, "NOPERM", "allow the user what redlock(7) lists"},
};

TEST(refused, run_that_only_a_person_can_help_ends_with_reason_and_remedy,
     .rows = ROWS(refusals))
{
    struct program *program = NULL;
    masters = masters_start(3, NULL);
    const char *file = masters_file(masters, NULL);
    for (unsigned i = 0; i < 3; i++)
        refusals[_i].refuse(i);
    int64_t began_ms = now_ms();
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("run", "-n", file, "refused", "--", "true"), &program), 69);
    ck_assert_int_le(now_ms() - began_ms, RL_HOPELESS_MS + 5000);
    const char *err = program_err(program);
    ck_assert_msg(strstr(err, "waiting up to 5 s for somebody to mend that"), "%s", err);
    ck_assert_msg(strstr(err, refusals[_i].reason), "%s", err);
    ck_assert_msg(strstr(err, refusals[_i].remedy), "%s", err);
}

CASE(look, .timeout_s = 60, .set_up_once = cli_rig_start, .tear_down_once = cli_rig_stop)
CASE(no_quorum, .timeout_s = 60, .set_up = cli_rig_start, .tear_down = cli_rig_stop)
CASE(refused, .timeout_s = 60)
