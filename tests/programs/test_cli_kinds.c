/* test_cli_kinds.c - redlock lock, extend, release and inspect with every kind of lock, on one
 * master and on five. */
#include "config_auto.h"

#include "cli_rig.h"
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int run(const char *const argv[], struct program **ret_program)
{
    return program_run(NULL, argv, ret_program);
}

#define RUN(...) run(REDLOCK(__VA_ARGS__), NULL)

/* The handle that a lock prints. */
static const char *take(const char *const argv[])
{
    static char handles[4][REDLOCK_HANDLE_MAX];
    static unsigned last;
    char *handle = handles[++last % 4];
    struct program *program = NULL;
    int status = run(argv, &program);
    ck_assert_msg(status == 0, "%d: %s", status, program_err(program));
    snprintf(handle, REDLOCK_HANDLE_MAX, "%s", program_out(program));
    handle[strcspn(handle, "\n")] = '\0';
    return handle;
}

#define TAKE(...) take(REDLOCK("lock", "--ttl", "20s", __VA_ARGS__))

/* What the last look has printed. */
static char inspected[65536];

static bool inspect(const char *const argv[])
{
    struct program *program = NULL;
    int status = run(argv, &program);
    snprintf(inspected, sizeof(inspected), "%s", program_out(program));
    return status == 0;
}

static bool inspect_has(const char *name, const char *path, const char *value)
{
    char got[1024] = "";
    return inspect(REDLOCK("inspect", "--json", name)) &&
           json_get(inspected, strlen(inspected), path, got, sizeof(got)) >= 0 &&
           strcmp(got, value) == 0;
}

/* A look ends when a majority has answered. Of five masters it may have missed one without
 * which no majority names a holder; the next one does not. */
static void expect_inspect(const char *name, const char *path, const char *value)
{
    ck_assert_msg(wait_until(inspect_has(name, path, value), CLI_MOMENT_MS),
                  "%s is not %s in %s", path, value, inspected);
}

static void expect_inspect_text(const char *name, const char *text)
{
    ck_assert_msg(
        wait_until(inspect(REDLOCK("inspect", name)) && strstr(inspected, text), CLI_MOMENT_MS),
        "no '%s' in %s", text, inspected);
}

static void expect_error(const char *const argv[], int status, const char *text)
{
    struct program *program = NULL;
    int got = run(argv, &program);
    ck_assert_msg(got == status, "%d: %s", got, program_err(program));
    ck_assert_msg(strstr(program_err(program), text) != NULL, "%s", program_err(program));
    ck_assert_msg(cli_one_line(program_err(program)), "%s", program_err(program));
    ck_assert_str_eq(program_out(program), "");
}

/* ---- each kind -------------------------------------------------------------------------- */

static const struct {
    const char *option;
    const char *kind, *mode; /* as inspect has them */
    bool one_only;
} kinds[] = {
    {"--reentrant", "reentrant", "alone", false},
    {"--fair", "reentrant", "alone", true}, /* that nobody waits for */
    {"--shared", "read-write", "read", false},
    {"--exclusive", "read-write", "write", false},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* Taken, seen, extended and released by handles, which know what they stand for. */
TEST(kinds, lock_of_each_kind_has_life_by_handles, .rows = 2 * KINDS)
{
    const char *option = kinds[_i / 2].option;
    if (_i % 2 && kinds[_i / 2].one_only)
        return;
    cli_choose(_i % 2 == 0, CLI_PATIENT);
    const char *handle = TAKE(option, "--owner", "job 7", "lived");
    expect_inspect("lived", "verdict", "held");
    expect_inspect("lived", "kind", kinds[_i / 2].kind);
    expect_inspect("lived", "holder", "job 7");
    expect_inspect("lived", "holders.0.mode", kinds[_i / 2].mode);
    expect_inspect("lived", "holders.0.count", "1");
    if (_i % 2 == 0) /* a master that connects late is never asked for the lock */
        expect_inspect("lived", "nodes.0.vote", "held");
    struct program *program = NULL;
    ck_assert_int_eq(run(REDLOCK("extend", "--json", "--ttl", "25s", handle), &program), 0);
    cli_expect_json(program, "name", "lived");
    char extended[REDLOCK_HANDLE_MAX];
    ck_assert_int_ge(json_get(program_out(program), strlen(program_out(program)), "handle",
                              extended, sizeof(extended)),
                     0);
    ck_assert_int_eq(run(REDLOCK("release", "--json", extended), &program), 0);
    cli_expect_json(program, "result", "released");
    ck_assert_int_eq(RUN("release", handle), 1);
    expect_inspect("lived", "verdict", "free");
}

/* The same owner has it as often as it takes it, from any process; nobody else has it. */
TEST(kinds, owner_takes_it_again_and_others_do_not, .rows = 2)
{
    cli_choose(_i == 0, CLI_PATIENT);
    const char *first = TAKE("--reentrant", "--owner", "me", "again");
    const char *second = TAKE("--reentrant", "--owner", "me", "again");
    expect_inspect("again", "holders.0.count", "2");
    expect_error(REDLOCK("lock", "--reentrant", "--owner", "you", "again"), 75,
                 "'again' is held by another");
    expect_error(REDLOCK("lock", "--reentrant", "again"), 75, "say so: me, ");
    ck_assert_int_eq(RUN("release", first), 0);
    expect_inspect("again", "holders.0.count", "1");
    ck_assert_int_eq(RUN("lock", "--reentrant", "--owner", "you", "again"), 75);
    ck_assert_int_eq(RUN("release", second), 0);
    ck_assert_int_eq(RUN("release", TAKE("--reentrant", "again")), 0);
}

TEST(kinds, readers_share_and_writer_does_not, .rows = 2)
{
    cli_choose(_i == 0, CLI_PATIENT);
    const char *one = TAKE("--shared", "--owner", "a", "both");
    const char *two = TAKE("--shared", "--owner", "b", "both");
    expect_inspect("both", "holder_count", "2");
    expect_inspect("both", "holders.1.owner", "b");
    expect_error(REDLOCK("lock", "--exclusive", "-E", "9", "both"), 9, "is held by another");
    if (_i == 0)
        expect_inspect_text("both", "  read by a, b, ");
    expect_inspect_text("both", "'both': read-write lock, read by a, b, ");
    expect_inspect_text("both", "\n  read   b, 1 hold, ");
    ck_assert_int_eq(RUN("release", one), 0);
    ck_assert_int_eq(RUN("lock", "--exclusive", "both"), 75);
    ck_assert_int_eq(RUN("release", two), 0);
    const char *writer = TAKE("--exclusive", "--owner", "a", "both");
    ck_assert_int_eq(RUN("lock", "--shared", "--owner", "b", "both"), 75);
    ck_assert_int_eq(RUN("lock", "--exclusive", "--owner", "b", "both"), 75);
    const char *reads = TAKE("--shared", "--owner", "a", "both"); /* the writer may */
    expect_inspect_text("both", "written by a, read by a, ");
    ck_assert_int_eq(RUN("release", writer), 0);
    ck_assert_int_eq(RUN("release", TAKE("--shared", "--owner", "b", "both")), 0);
    ck_assert_int_eq(RUN("release", reads), 0);
}

/* ---- what can't be ---------------------------------------------------------------------- */

TEST(kinds, reader_is_told_at_once_that_it_cant_become_writer, .rows = 2)
{
    cli_choose(_i == 0, CLI_PATIENT);
    const char *handle = TAKE("--shared", "--owner", "me", "upgraded");
    expect_error(REDLOCK("run", "--exclusive", "--owner", "me", "--wait", "1h", "upgraded",
                         "--", "true"),
                 65, "a reader can't become the writer");
    ck_assert_int_eq(RUN("release", handle), 0);
}

/* Both kinds are named, and nothing is touched. */
TEST(kinds, another_kind_is_told_at_once, .rows = 2)
{
    struct masters *all = cli_choose(_i == 0, CLI_PATIENT);
    const char *handle = TAKE("--reentrant", "--owner", "me", "kind");
    expect_error(REDLOCK("lock", "--shared", "--wait", "1h", "kind"), 65,
                 "a read lock was asked for");
    expect_error(REDLOCK("run", "kind", "--wait", "1h", "--", "true"), 65,
                 "a plain lock was asked for");
    ck_assert_int_eq(RUN("release", handle), 0);
    for (unsigned i = 0; i < all->n; i++)
        (void)master_do(all, i, "RPUSH", "kind", "some", "data", NULL);
    expect_error(REDLOCK("lock", "--exclusive", "kind"), 65, "list");
    expect_error(REDLOCK("lock", "--reentrant", "kind"), 65, "list");
    expect_inspect("kind", "verdict", "data");
    expect_inspect("kind", "type", "list");
    struct program *program = NULL;
    ck_assert_int_eq(run(REDLOCK("inspect", "kind"), &program), 0);
    ck_assert(program_printed(program, "'kind': no lock but data: a list, for ever\n"));
    for (unsigned i = 0; i < all->n; i++)
        ck_assert_int_eq(master_do(all, i, "DEL", "kind", NULL).number, 1);
}

TEST(kinds, fair_lock_of_five_masters_is_wrong_usage)
{
    cli_choose(false, CLI_PATIENT);
    expect_error(REDLOCK("lock", "--fair", "unfair"), 64, "a fair lock is not possible on 5");
}

/* ---- several names ---------------------------------------------------------------------- */

TEST(kinds, several_names_are_taken_all_or_none, .rows = 2)
{
    struct masters *all = cli_choose(_i == 0, CLI_PATIENT);
    struct program *program = NULL;
    ck_assert_int_eq(run(REDLOCK("lock", "--json", "--ttl", "20s", "b", "a", "b"), &program),
                     0);
    cli_expect_json(program, "names.0.name", "a"); /* in order, and once */
    cli_expect_json(program, "names.1.name", "b");
    char handle[REDLOCK_HANDLE_MAX];
    ck_assert_int_ge(json_get(program_out(program), strlen(program_out(program)), "handle",
                              handle, sizeof(handle)),
                     0);
    expect_error(REDLOCK("lock", "b", "c"), 75, "'b', 'c' are not all free, one is held by");
    ck_assert_uint_eq(masters_with(all, "c"), 0);
    ck_assert_int_eq(RUN("lock", "a"), 75); /* it is a plain lock to everybody else */
    ck_assert_int_eq(run(REDLOCK("extend", "--ttl", "25s", handle), &program), 0);
    snprintf(handle, sizeof(handle), "%s", program_out(program));
    handle[strcspn(handle, "\n")] = '\0';
    ck_assert_int_eq(run(REDLOCK("release", "--json", handle), &program), 0);
    cli_expect_json(program, "names.1.name", "b");
    expect_error(REDLOCK("release", handle), 1, "'a' and the others: ");
    ck_assert_int_eq(RUN("release", TAKE("b", "c")), 0);
}

/* ---- looking ---------------------------------------------------------------------------- */

/* By all five masters: what is merely a majority's is given up and tried again. */
static const char *take_everywhere(const char *owner, long long members)
{
    for (int tries = 0; tries < 50; tries++) {
        unsigned there = 0;
        const char *handle = TAKE("--shared", "--owner", owner, "apart");
        for (unsigned i = 0; i < cli_masters->n; i++)
            there += master_do(cli_masters, i, "ZCARD", "apart", NULL).number == members;
        if (there == cli_masters->n)
            return handle;
        (void)RUN("release", handle);
    }
    ck_abort_msg("a master never grants");
}

/* What masters do not agree on is told master by master. */
TEST(kinds, masters_that_differ_are_told_apart)
{
    cli_choose(false, CLI_PATIENT);
    const char *one = take_everywhere("a", 1);
    const char *two = take_everywhere("b", 2);
    (void)master_do(cli_masters, 0, "DEL", "apart", NULL);
    (void)master_do(cli_masters, 1, "RPUSH", "x:apart", "data", NULL);
    (void)master_do(cli_masters, 1, "RENAME", "x:apart", "apart", NULL);
    struct program *program = NULL;
    ck_assert_int_eq(run(REDLOCK("inspect", "apart", "--json"), &program), 0);
    cli_expect_json(program, "nodes.0.vote", "free");
    cli_expect_json(program, "nodes.1.kind", "data");
    cli_expect_json(program, "nodes.2.holder_count", "2");
    cli_expect_json(program, "verdict", "held");
    cli_expect_json(program, "holders.1.owner", "b");
    (void)master_do(cli_masters, 2, "DEL", "apart", NULL);
    expect_inspect("apart", "verdict", "split");
    (void)master_do(cli_masters, 1, "DEL", "apart", NULL);
    (void)RUN("release", one);
    (void)RUN("release", two);
}

TEST(kinds, owner_that_is_asked_for_is_first)
{
    struct masters *all = cli_choose(true, CLI_PATIENT);
    char owner[16], lease[64];
    for (int i = 10; i < 40; i++) {
        snprintf(owner, sizeof(owner), "o%d", i);
        (void)master_do(all, 0, "HSET", "crowd", "mode", "read", owner, "1", NULL);
        snprintf(lease, sizeof(lease), "{crowd}:%s:rwlock_timeout:1", owner);
        if (i != 11) /* whose lease has run out */
            (void)master_do(all, 0, "SET", lease, "1", "PX", "20000", NULL);
    }
    (void)master_do(all, 0, "PEXPIRE", "crowd", "20000", NULL);
    struct program *program = NULL;
    ck_assert_int_eq(run(REDLOCK("inspect", "--owner", "o39", "--json", "crowd"), &program), 0);
    cli_expect_json(program, "holders.0.owner", "o39");
    cli_expect_json(program, "holder_count", "30");
    ck_assert_int_eq(run(REDLOCK("inspect", "crowd"), &program), 0);
    ck_assert(program_printed(program, "read by o10, o11 (lapsed), o12 and 27 more, "));
    ck_assert(program_printed(program, "\n  and 14 more\n"));
    (void)master_do(all, 0, "DEL", "crowd", NULL);
}

TEST(kinds, hostile_owners_are_printed_safely)
{
    struct masters *all = cli_choose(true, CLI_PATIENT);
    (void)master_do(all, 0, "HSET", "evil", "e\x1b]0;x\x07\n\"\xfe", "1", NULL);
    (void)master_do(all, 0, "PEXPIRE", "evil", "20000", NULL);
    struct program *program = NULL;
    ck_assert_int_eq(run(REDLOCK("inspect", "evil"), &program), 0);
    ck_assert(program_printed(program, "held by e\\x1b]0;x\\x07\\x0a\"\\xfe, "));
    ck_assert_ptr_null(strchr(program_out(program), '\x1b'));
    expect_inspect("evil", "holders.0.owner_hex", "651b5d303b78070a22fe");
    (void)master_do(all, 0, "DEL", "evil", NULL);
}

CASE(kinds,
     .timeout_s = 60, .set_up_once = cli_rig_start_with_lone, .tear_down_once = cli_rig_stop)
