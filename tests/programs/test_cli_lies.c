/* test_cli_lies.c - whatever a master answers to what redlock(1) asks by itself, the program ends
 * with a status of its own. */
#include "config_auto.h"

#include "cli_rig.h"
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const lies[] = {
    "*2\r\n$1\r\nx\r\n$1\r\n0\r\n",
    "*2\r\n$2\r\n-1\r\n$1\r\n0\r\n",
    "*2\r\n$19\r\n9223372036854775807\r\n$1\r\n0\r\n",
    "*2\r\n$10\r\n1700000000\r\n$7\r\n1000000\r\n",
    "*2\r\n:1700000000\r\n:0\r\n",
    "*1\r\n$10\r\n1700000000\r\n",
    "*0\r\n",
    "*-1\r\n",
    "$-1\r\n",
    "$0\r\n\r\n",
    ":1\r\n",
    "+OK\r\n",
    "-UNCERTIFIED x\r\n",
    "-NOSCRIPT x\r\n",
    "-\r\n",
};
enum { LIES = sizeof(lies) / sizeof(lies[0]) };

/* What it asks, and how often before it is lied to. */
static const struct {
    const char *verb, *asked;
    int skip;
} asked[] = {
    {"status", "TIME", 0},
    {"status", "TIME", 1},
    {"status", "INFO", 1},
    {"status", "CLIENT LIST*", 0},
    {"inspect", "inspect *", 0},
    {"run", "acquire *", 0},
};
enum { ASKED = sizeof(asked) / sizeof(asked[0]) };

/* As many masters, each with a lie of its own. */
TEST(cli_lies, lie_ends_no_program, .rows = ASKED)
{
    struct fake *fakes[LIES];
    struct node_list list;
    struct program *program;
    const char *verb = asked[_i].verb;
    memset(&list, 0, sizeof(list));
    for (int i = 0; i < LIES; i++) {
        fakes[i] = fake_start(false);
        fake_says_also(fakes[i], "connected_clients:1\r\n");
        node_list_line(&list, "node redis://127.0.0.1:%d", fake_endpoint(fakes[i])->port);
        fake_rule(fakes[i], &(struct fake_rule){
                                .match = "TIME",
                                .reply = "*2\r\n$10\r\n1700000000\r\n$1\r\n0\r\n"});
        fake_rule(fakes[i], &(struct fake_rule){.match = asked[_i].asked,
                                                .skip = asked[_i].skip,
                                                .reply = lies[i]});
    }
    node_list_line(&list, "guard off\nlinger 0ms\nconnect-timeout 2s");
    setenv("REDLOCK_NODES", node_list_write(&list), 1);
    int status = strcmp(verb, "status") == 0 ? program_run(NULL, REDLOCK("status"), &program)
                 : strcmp(verb, "run") == 0
                     ? program_run(NULL, REDLOCK("run", "--try", "x", "--", "true"), &program)
                     : program_run(NULL, REDLOCK("inspect", "x"), &program);
    ck_assert_msg(status >= 0 && status < 128, "%s, lied to at %s: status %d: %s", verb,
                  asked[_i].asked, status, program_err(program));
    for (int i = 0; i < LIES; i++) {
        int times = (int)fake_count(fakes[i], asked[_i].asked);
        ck_assert_int_gt(times, asked[_i].skip);
        fake_stop(fakes[i]);
    }
}

CASE(cli_lies, .timeout_s = 120)
