/* test_cli_lock.c - redlock lock, extend and release: handles, exit statuses, and names that
 * are bytes. */
#include "config_auto.h"

#include "cli_rig.h"
#include "fake.h"
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- lock, extend, release ---- */

TEST(lock, lock_excludes_until_it_is_released)
{
    char handle[REDLOCK_HANDLE_MAX];
    snprintf(handle, sizeof(handle), "%s", cli_acquire("excluded", "20s"));
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, REDLOCK("lock", "excluded"), &program), 75);
    ck_assert_str_eq(program_out(program), "");
    ck_assert(cli_one_line(program_err(program)));
    ck_assert_ptr_nonnull(strstr(program_err(program), "'excluded' is held by another"));
    ck_assert_int_eq(program_run(NULL, REDLOCK("lock", "-E", "9", "excluded"), NULL), 9);
    ck_assert_int_eq(program_run(NULL, REDLOCK("run", "--try", "excluded", "--", "true"), NULL),
                     75);
    ck_assert_int_eq(
        program_run(NULL,
                    REDLOCK("run", "--wait", "500ms", "-E", "0", "excluded", "--", "false"),
                    NULL),
        0);
    ck_assert_int_eq(program_run(NULL, REDLOCK("release", handle), NULL), 0);
    ck_assert_int_eq(program_run(NULL, REDLOCK("release", handle), &program), 1);
    ck_assert_ptr_nonnull(strstr(program_err(program), "gone already: it was released before"));
    ck_assert_int_eq(program_run(NULL, REDLOCK("extend", handle), NULL), 1);
    ck_assert_int_eq(program_run(NULL, REDLOCK("run", "--try", "excluded", "--", "true"), NULL),
                     0);
}

/* The restart guard withholds their votes: none of them has failed. */
TEST(lock, masters_just_started_are_said_to_vote_soon)
{
    static struct node_list list;
    struct program *program = NULL;
    struct masters *fresh = masters_start(3, NULL);
    list.len = 0;
    node_list_line(&list, "max-ttl 1h");
    for (unsigned i = 0; i < 3; i++)
        node_list_add(&list, &fresh->node[i].unix_at);
    const char *file = node_list_write(&list);
    ck_assert_int_ne(program_run(NULL, REDLOCK("lock", "-n", file, "soon"), &program), 0);
    const char *said = program_err(program);
    ck_assert_msg(strstr(said, "no quorum yet, 3 of 3 masters were started, or lost keys, less "
                               "than max-ttl ago; 2 vote in "),
                  "%s", said);
    ck_assert_ptr_null(strstr(said, "failed"));
}

/* The third need not be waited for. */
TEST(lock, time_is_told_at_which_majority_votes)
{
    static const long up_s[] = {3000, 600, 1800};
    struct fake *fakes[3];
    struct program *program = NULL;
    fakes_start(fakes, 3);
    for (unsigned i = 0; i < 3; i++)
        fake_says(fakes[i], NULL, up_s[i], NULL);
    const char *file = fakes_file(fakes, 3, "max-ttl 1h\n");
    ck_assert_int_ne(program_run(NULL, REDLOCK("lock", "-n", file, "soon"), &program), 0);
    ck_assert_msg(strstr(program_err(program), "2 vote in 30"), "%s", program_err(program));
}

/* INFO's uptime is negative where a clock was set back behind the start. 0: of all masters; 1:
 * of one, and the others vote for all soon. */
TEST(lock, guard_that_does_not_pass_is_no_recent_start, .rows = 2)
{
    struct fake *fakes[3];
    struct program *program = NULL;
    fakes_start(fakes, 3);
    for (int i = 0; i < 3; i++) {
        fake_says(fakes[i], NULL, 600, NULL);
        if (_i == 0 || i == 1)
            fake_says_also(fakes[i], "uptime_in_seconds:-86352\r\n");
    }
    const char *file = fakes_file(fakes, 3, "max-ttl 1h\n");
    ck_assert_int_ne(program_run(NULL, REDLOCK("lock", "-n", file, "soon"), &program), 0);
    const char *said = program_err(program);
    ck_assert_msg(cli_one_line(said), "%s", said);
    const char *expected =
        _i == 0 ? "3 of 3 masters are guarded, and no uptime is known of 3 of these (was a clock "
                  "set back behind their start?): each new client waits for max-ttl, this one "
                : "less than max-ttl ago; 2 vote in 50m";
    ck_assert_msg(strstr(said, expected), "%s", said);
    ck_assert_int_eq(_i == 0, strstr(said, "less than max-ttl ago") == NULL);
}

TEST(lock, lock_waits_as_long_as_it_is_told)
{
    (void)cli_acquire("waited:for", "3s");
    int64_t begin = now_ms();
    ck_assert_int_eq(program_run(NULL, REDLOCK("lock", "--wait", "500ms", "waited:for"), NULL),
                     75);
    ck_assert_int_ge(now_ms() - begin, 490);
    ck_assert_int_eq(program_run(NULL, REDLOCK("lock", "--wait", "10s", "waited:for"), NULL),
                     0);
}

/* A master that does not answer costs the first round 2 s. */
TEST(lock, time_of_first_round_is_part_of_wait)
{
    struct fake *fakes[1];
    fakes_start(fakes, 1);
    fake_rule(fakes[0],
              &(struct fake_rule){.match = "acquire *", .reply = "", .then = FAKE_SILENT});
    const char *file = fakes_file(fakes, 1, "node-timeout 2s\n");
    int64_t begin = now_ms();
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("lock", "-n", file, "--wait", "2500ms", "waited:for"), NULL),
        69);
    int64_t took_ms = now_ms() - begin;
    ck_assert_int_ge(took_ms, 2490);
    ck_assert_int_lt(took_ms, 4000);
}

/* A master that does not answer leaves the states of the others unknown for 4 s. The guarded
 * ones would vote in time, so that they are asked for these. */
TEST(lock, time_to_find_reason_is_part_of_wait)
{
    struct fake *fakes[3];
    fakes_start(fakes, 3);
    fake_says(fakes[0], NULL, 1, NULL);
    fake_says(fakes[1], NULL, 1, NULL);
    fake_door(fakes[2], FAKE_DEAF);
    const char *file = fakes_file(fakes, 3, "connect-timeout 4s\nmax-ttl 1h\n");
    int64_t begin = now_ms();
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("lock", "-n", file, "--wait", "4s", "waited:for"), NULL), 69);
    ck_assert_int_lt(now_ms() - begin, 7000); /* and not 8 s */
}

TEST(lock, handle_comes_by_argument_stdin_or_environment)
{
    char handle[REDLOCK_HANDLE_MAX];
    snprintf(handle, sizeof(handle), "%s", cli_acquire("handed", "20s"));
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, REDLOCK("extend", "--ttl", "25s", handle), &program), 0);
    snprintf(handle, sizeof(handle), "%s", program_out(program));

    struct program_how from_stdin = {.input = handle};
    ck_assert_int_eq(program_run(&from_stdin, REDLOCK("extend", "-"), &program), 0);
    snprintf(handle, sizeof(handle), "REDLOCK_HANDLE=%s", program_out(program));
    handle[strlen(handle) - 1] = '\0';

    const char *const environment[] = {handle, NULL};
    struct program_how from_environment = {.environment = environment};
    ck_assert_int_eq(program_run(&from_environment, REDLOCK("release"), NULL), 0);
    cli_expect_free("handed");
}

/* With what an editor or another system puts behind it; but with no byte of anything else. */
TEST(lock, stdin_is_one_handle_and_nothing_more)
{
    static char text[REDLOCK_HANDLE_MAX + 64];
    size_t len = (size_t)snprintf(text, REDLOCK_HANDLE_MAX, "%s", cli_acquire("piped", "20s"));
    text[len] = '\0';
    memcpy(text + len + 1, "more", 4);
    struct program *program = NULL;
    struct program_how nul = {.input = text, .input_len = len + 5};
    ck_assert_int_eq(program_run(&nul, REDLOCK("release", "-"), &program), 64);
    ck_assert_ptr_nonnull(strstr(program_err(program), "stdin holds no handle"));
    memset(text + len, 'A', sizeof(text) - len);
    struct program_how too_long = {.input = text, .input_len = sizeof(text)};
    ck_assert_int_eq(program_run(&too_long, REDLOCK("release", "-"), &program), 64);
    ck_assert_ptr_nonnull(strstr(program_err(program), "stdin holds no handle"));
    memcpy(text + len, "\r\n\r\n", 4);
    struct program_how returned = {.input = text, .input_len = len + 4};
    ck_assert_int_eq(program_run(&returned, REDLOCK("release", "-"), NULL), 0);
    cli_expect_free("piped");
}

TEST(lock, extend_lengthens_lease_and_keeps_it_for_next)
{
    const char *handle = cli_acquire("longer", "5s");
    struct program *program = NULL;
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("extend", handle, "--ttl", "20s", "--json"), &program), 0);
    cli_expect_json(program, "name", "longer");
    cli_expect_json(program, "handle", NULL);
    char validity[32];
    const char *text = program_out(program);
    ck_assert_int_gt(json_get(text, strlen(text), "validity_ms", validity, sizeof(validity)),
                     0);
    ck_assert_int_gt(strtol(validity, NULL, 10), 15000);
    ck_assert(cli_majority_has("longer"));
}

TEST(lock, extend_refuses_passed_deadline_and_handle_cut_short)
{
    char handle[REDLOCK_HANDLE_MAX];
    snprintf(handle, sizeof(handle), "%s", cli_acquire("short:lived", "300ms"));
    struct program *program = NULL;
    ck_assert(wait_until(masters_with(cli_masters, "short:lived") == 0, CLI_MOMENT_MS));
    ck_assert_int_eq(program_run(NULL, REDLOCK("extend", handle), &program), 1);
    ck_assert(cli_one_line(program_err(program)));
    ck_assert_str_eq(program_out(program), "");
    ck_assert_int_eq(program_run(NULL, REDLOCK("release", handle), NULL), 1);
    handle[strlen(handle) - 3] = '\0';
    ck_assert_int_eq(program_run(NULL, REDLOCK("release", handle), &program), 64);
    ck_assert_ptr_nonnull(strstr(program_err(program), "no handle, or not all of one"));
    ck_assert(cli_one_line(program_err(program)) && !strstr(program_err(program), "rl5"));
    struct program_how nul = {.input = "rl5\0A", .input_len = 5};
    ck_assert_int_eq(program_run(&nul, REDLOCK("release", "-"), NULL), 64);
    char *big = malloc(100001);
    memset(big, 'A', 100000);
    big[100000] = '\0';
    struct program_how endless = {.input = big};
    ck_assert_int_eq(program_run(&endless, REDLOCK("release", "-"), NULL), 64);
    free(big);
}

/* Time namespaces have clocks of their own, set off by what they are told. */
static const char *const offsets[] = {"--boottime=-20", "--boottime=20"};

#define THERE(...) ((const char *const[]){"unshare", "-T", "--fork", __VA_ARGS__, NULL})

TEST(lock, handle_that_another_clock_has_timed_is_refused, .rows = ROWS(offsets))
{
    char handle[REDLOCK_HANDLE_MAX];
    const char *program_path = program_redlock();
    struct program *program = NULL;
    if (program_run(NULL, THERE(offsets[_i], "true"), NULL) != 0)
        return; /* no right to have one, or a kernel without */
    snprintf(handle, sizeof(handle), "%s", cli_acquire("timed", "1s"));
    ck_assert_int_eq(
        program_run(NULL, THERE(offsets[_i], program_path, "extend", handle), &program), 64);
    ck_assert(cli_one_line(program_err(program)));

    /* It is over, and another has it. */
    ck_assert(wait_until(masters_with(cli_masters, "timed") == 0, CLI_MOMENT_MS));
    char next[REDLOCK_HANDLE_MAX];
    snprintf(next, sizeof(next), "%s", cli_acquire("timed", "20s"));
    unsigned had = masters_with(cli_masters, "timed");
    ck_assert_int_eq(
        program_run(NULL, THERE(offsets[_i], program_path, "extend", handle), NULL), 64);
    ck_assert_int_eq(
        program_run(NULL, THERE(offsets[_i], program_path, "release", handle), NULL), 64);
    ck_assert_uint_ge(masters_with(cli_masters, "timed"), had);
    ck_assert_int_eq(program_run(NULL, REDLOCK("release", next), NULL), 0);

    /* Within one all is as anywhere. */
    ck_assert_int_eq(
        program_run(NULL,
                    THERE(offsets[_i], "sh", "-c",
                          "handle=$(\"$0\" lock there --ttl 20s) && "
                          "handle=$(\"$0\" extend $handle) && exec \"$0\" release $handle",
                          program_path),
                    NULL),
        0);
}

TEST(lock, extend_that_is_refused_leaves_lock_alone)
{
    const char *handle = cli_acquire("refused", "20s");
    unsigned had = masters_with(cli_masters, "refused");
    ck_assert_int_eq(program_run(NULL, REDLOCK("extend", handle, "--ttl", "3000d"), NULL), 64);
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, REDLOCK("extend", handle, "--ttl", "31s"), &program),
                     64);
    ck_assert_ptr_nonnull(strstr(program_err(program), "at most 30000 ms (max-ttl)\n"));
    ck_assert_ptr_nonnull(strstr(program_err(program), "not extended (by its handle the lock"));
    ck_assert_uint_ge(masters_with(cli_masters, "refused"), had);
    ck_assert_int_eq(program_run(NULL, REDLOCK("release", handle), NULL), 0);
}

static void close_stdout(void)
{
    (void)close(STDOUT_FILENO);
}

TEST(lock, handle_that_nobody_gets_is_given_up)
{
    const char *const argv[] = {"sh", "-c", "exec \"$0\" lock unheard > /dev/full",
                                program_redlock(), NULL};
    ck_assert_int_eq(program_run(NULL, argv, NULL), 71);
    ck_assert(wait_until(masters_with(cli_masters, "unheard") == 0, 2000));
    struct program_how closed = {.before_exec = close_stdout};
    ck_assert_int_eq(program_run(&closed, REDLOCK("lock", "unheard"), NULL), 71);
    ck_assert_uint_eq(masters_with(cli_masters, "unheard"), 0);
}

/* There is no descriptor 1 at all. */
TEST(lock, result_that_nobody_gets_is_71)
{
    char handle[REDLOCK_HANDLE_MAX];
    struct program_how closed = {.before_exec = close_stdout};
    static const char *const lines[][3] = {
        {"status"},         {"status", "--json"}, {"status", "--acl"}, {"inspect", "unseen"},
        {"break", "--yes"}, {"init", "--yes"},    {"--help"},          {"--version"},
    };
    snprintf(handle, sizeof(handle), "%s", cli_acquire("unseen", "20s"));
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        const char *argv[] = {program_redlock(), lines[i][0], lines[i][1], NULL, NULL};
        if (strcmp(lines[i][0], "break") == 0)
            argv[3] = "unseen";
        struct program *program = NULL;
        int status = program_run(&closed, argv, &program);
        ck_assert_msg(status == 71, "%s: %d", lines[i][0], status);
        ck_assert_msg(cli_one_line(program_err(program)), "%s", program_err(program));
    }
    ck_assert(cli_majority_has("unseen"));
    /* What prints nothing lacks nothing; and a lock is given up all the same. */
    ck_assert_int_eq(program_run(&closed, REDLOCK("release", handle, "--json"), NULL), 71);
    cli_expect_free("unseen");
    snprintf(handle, sizeof(handle), "%s", cli_acquire("unseen", "20s"));
    ck_assert_int_eq(program_run(&closed, REDLOCK("release", handle), NULL), 0);
    ck_assert_int_eq(program_run(&closed, REDLOCK("run", "unseen", "--", "true"), NULL), 0);
}

/* Nothing but the log can tell: the lock was given up, and may last. */
TEST(lock, release_that_right_is_missing_for_says_which)
{
    char handle[REDLOCK_HANDLE_MAX];
    struct program *program = NULL;
    snprintf(handle, sizeof(handle), "%s", cli_acquire("kept", "5s"));
    for (unsigned i = 0; i < cli_masters->n; i++)
        master_do(cli_masters, i, "ACL", "SETUSER", "default", "-del", NULL);
    int status = program_run(NULL, REDLOCK("release", handle), &program);
    for (unsigned i = 0; i < cli_masters->n; i++)
        master_do(cli_masters, i, "ACL", "SETUSER", "default", "+@all", NULL);
    ck_assert_int_eq(status, 69);
    ck_assert_msg(strstr(program_err(program), "(DEL in plain_release)") != NULL, "%s",
                  program_err(program));
    ck_assert_int_eq(program_run(NULL, REDLOCK("release", handle), NULL), 0);
}

/* ---- names are bytes ---- */

TEST(lock, names_are_bytes_and_printed_safely)
{
    static const char name[] = "a b\"c\\\n\x1b[31m\xff{x}";
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, REDLOCK("lock", "--json", name), &program), 0);
    cli_expect_json(program, "name", "a b\"c\\\n\x1b[31m\xef\xbf\xbd{x}");
    cli_expect_json(program, "name_hex", "61206222635c0a1b5b33316dff7b787d");
    ck_assert(cli_majority_has(name));
    ck_assert_int_eq(program_run(NULL, REDLOCK("lock", name), &program), 75);
    ck_assert(cli_one_line(program_err(program)));
    ck_assert_ptr_null(strchr(program_err(program), '\x1b'));
    ck_assert_ptr_nonnull(strstr(program_err(program), "\\x0a\\x1b[31m\\xff{x}"));
}

/* Every byte there is, and UTF-8 that is not quite right: JSON comes out, and the bytes with
 * it. */
static const char *const odd_names[] = {
    "\xc3\xa4\xe2\x82\xac\xf0\x9f\x94\x92", /* three characters: exact, no hex */
    "\xc0\xaf",
    "\xe0\x80\xaf",
    "\xed\xa0\x80",
    "\xf4\x90\x80\x80",
    "\xf0\x80\x80\xaf",
    "\xe2\x82",
    "\x80",
    ("a\xfe"
     "b"),
    "\x7f\x01\x1f",
    "\xc3",
    "\xf0\x9f\x94\"",
};
#define ODD_NAME_COUNT (int)(sizeof(odd_names) / sizeof(odd_names[0]))

static void expect_name(const char *name, bool exact)
{
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, REDLOCK("inspect", "--json", name), &program), 0);
    char hex[1024] = "";
    const char *text = program_out(program);
    ck_assert_msg(json_valid(text, strlen(text)), "%s", text);
    long hex_len = json_get(text, strlen(text), "name_hex", hex, sizeof(hex));
    if (exact) {
        ck_assert_int_eq(hex_len, -1);
        cli_expect_json(program, "name", name);
    } else {
        ck_assert_int_eq(hex_len, (long)(2 * strlen(name)));
        for (size_t i = 0; i < strlen(name); i++) {
            char byte[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
            ck_assert_int_eq(strtol(byte, NULL, 16), (unsigned char)name[i]);
        }
    }
}

TEST(lock, json_is_json_for_names_of_any_bytes)
{
    for (int i = 0; i < ODD_NAME_COUNT; i++)
        expect_name(odd_names[i], i == 0 || i == 9);
    char all[256];
    for (int i = 0; i < 255; i++)
        all[i] = (char)(i + 1);
    all[255] = '\0';
    expect_name(all, false);
}

CASE(lock, .timeout_s = 60, .set_up_once = cli_rig_start, .tear_down_once = cli_rig_stop)
