/* test_cli_fenced.c - redlock run and lock with --fenced: which token a command and a handle
 * have, that tokens grow, and what is refused. */
#include "config_auto.h"

#include "cli_rig.h"
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAY "echo \"${REDLOCK_FENCING_TOKEN-none}\""

/* A decimal number that stands alone, and is exact in JSON. */
static unsigned long long token_in(const char *text)
{
    char *end = NULL;
    char again[32];
    unsigned long long token = strtoull(text, &end, 10);
    snprintf(again, sizeof(again), "%llu", token);
    ck_assert_msg(token > 0 && token < 1ULL << 53 && strncmp(again, text, strlen(again)) == 0,
                  "%s", text);
    ck_assert_msg(*end == '\0' || strcmp(end, "\n") == 0, "%s", text);
    return token;
}

static unsigned long long run_token(const char *const argv[])
{
    struct program *program = NULL;
    int status = program_run(NULL, argv, &program);
    ck_assert_msg(status == 0, "%d: %s", status, program_err(program));
    unsigned long long token = token_in(program_out(program));
    return token;
}

/* What stands at `path` of the one object, which is all of `text`. False: nothing. */
static bool json_has(const char *text, const char *path, char *ret_value, size_t size)
{
    ck_assert_msg(json_valid(text, strlen(text)), "no JSON: %s", text);
    return json_get(text, strlen(text), path, ret_value, size) >= 0;
}

static unsigned long long json_token(const char *text)
{
    char number[32];
    ck_assert_msg(json_has(text, "fencing_token", number, sizeof(number)), "%s", text);
    ck_assert_ptr_null(strstr(text, "\"fencing_token\":\""));
    return token_in(number);
}

static void expect_no_token(const char *text)
{
    char none[32];
    ck_assert_msg(!json_has(text, "fencing_token", none, sizeof(none)), "%s", text);
}

/* ---- run -------------------------------------------------------------------------------- */

static const struct {
    const char *option, *second; /* NULL: none */
    bool one_only;
} kinds[] = {
    {NULL, NULL, false},          {NULL, "grows:2", false}, {"--exclusive", NULL, false},
    {"--reentrant", NULL, false}, {"--fair", NULL, true},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

TEST(fenced, tokens_of_commands_grow, .rows = 2 * KINDS)
{
    const char *option = kinds[_i / 2].option, *second = kinds[_i / 2].second;
    unsigned long long before = 0;
    if (_i % 2 && kinds[_i / 2].one_only)
        return;
    cli_choose(_i % 2 == 0, CLI_PATIENT);
    for (int i = 0; i < 4; i++) {
        const char *argv[16] = {program_redlock(), "run", "--fenced", "grows"};
        size_t at = 4;
        if (option)
            argv[at++] = option;
        if (second)
            argv[at++] = second;
        memcpy(argv + at, ((const char *const[]){"--", "sh", "-c", SAY}), 4 * sizeof(*argv));
        unsigned long long token = run_token(argv);
        ck_assert_uint_gt(token, before);
        before = token;
    }
}

/* Of several names it is above those of each. */
TEST(fenced, token_of_several_names_is_above_that_of_each, .rows = 2)
{
    cli_choose(_i == 0, CLI_PATIENT);
    unsigned long long one =
        run_token(REDLOCK("run", "--fenced", "each:1", "--", "sh", "-c", SAY));
    unsigned long long two =
        run_token(REDLOCK("run", "--fenced", "each:2", "--", "sh", "-c", SAY));
    unsigned long long both =
        run_token(REDLOCK("run", "--fenced", "each:2", "each:1", "--", "sh", "-c", SAY));
    ck_assert_uint_gt(both, one);
    ck_assert_uint_gt(both, two);
    ck_assert_uint_gt(run_token(REDLOCK("run", "--fenced", "each:1", "--", "sh", "-c", SAY)),
                      both);
}

/* A variable of the caller's is replaced, or taken away. */
TEST(fenced, command_never_has_token_of_another_lock)
{
    static const char *const environment[] = {"REDLOCK_FENCING_TOKEN=stale", NULL};
    struct program_how how = {.environment = environment};
    struct program *program = NULL;
    ck_assert_int_eq(program_run(&how, REDLOCK("run", "stale:1", "--", "env"), &program), 0);
    ck_assert(!program_printed(program, "REDLOCK_FENCING_TOKEN"));
    ck_assert(program_printed(program, "REDLOCK_NAME=stale:1"));
    ck_assert_int_eq(
        program_run(&how, REDLOCK("run", "--fenced", "stale:1", "--", "env"), &program), 0);
    const char *line = strstr(program_out(program), "REDLOCK_FENCING_TOKEN=");
    ck_assert_ptr_nonnull(line);
    ck_assert_ptr_null(strstr(line + 1, "REDLOCK_FENCING_TOKEN="));
    ck_assert_ptr_null(strstr(program_out(program), "stale\n"));
}

/* Each run under a run tells the token of its own lock, or none. */
TEST(fenced, nested_run_has_token_of_its_own, .rows = 3)
{
    static const struct {
        const char *outer, *inner;
        bool has_outer, has_inner;
    } nests[] = {
        {"--fenced", "-q", true, false},
        {"-q", "--fenced", false, true},
        {"--fenced", "--fenced", true, true},
    };
    struct program *program = NULL;
    char script[1024], outer[64] = "", inner[64] = "";
    snprintf(script, sizeof(script),
             SAY "; exec \"$0\" run %s nest:2 -- sh -c '" SAY "; echo \"$REDLOCK_NAME\"'",
             nests[_i].inner);
    ck_assert_int_eq(program_run(NULL,
                                 REDLOCK("run", nests[_i].outer, "nest:1", "--", "sh", "-c",
                                         script, program_redlock()),
                                 &program),
                     0);
    ck_assert_int_eq(sscanf(program_out(program), "%63s %63s", outer, inner), 2);
    ck_assert(program_printed(program, "\nnest:2\n"));
    ck_assert_str_ne(outer, inner);
    ck_assert_int_eq(strcmp(outer, "none") != 0, nests[_i].has_outer);
    ck_assert_int_eq(strcmp(inner, "none") != 0, nests[_i].has_inner);
    (void)(nests[_i].has_outer && token_in(outer));
    (void)(nests[_i].has_inner && token_in(inner));
}

/* ---- what is refused -------------------------------------------------------------------- */

static const char *const refused[][8] = {
    {"run", "--fenced", "--shared", "x", "--", "echo", "ran"},
    {"run", "--shared", "x", "--fenced", "--", "echo", "ran"},
    {"lock", "--shared", "--fenced", "x"},
};
enum { REFUSED = sizeof(refused) / sizeof(refused[0]) };

/* Before anything is asked: not even the node list is looked for. */
TEST(fenced, reader_has_no_token_and_is_told_at_once, .rows = REFUSED)
{
    const char *argv[12] = {program_redlock(), "-n", "/nonexistent"};
    struct program *program = NULL;
    memcpy(argv + 3, refused[_i], sizeof(refused[_i]));
    ck_assert_int_eq(program_run(NULL, argv, &program), 64);
    ck_assert(cli_one_line(program_err(program)));
    ck_assert_ptr_nonnull(strstr(program_err(program), "--fenced is not for --shared"));
    ck_assert_ptr_nonnull(strstr(program_err(program), "--exclusive"));
    ck_assert_str_eq(program_out(program), "");
}

TEST(fenced, only_what_takes_locks_is_fenced, .rows = 4)
{
    static const char *const verbs[] = {"extend", "release", "inspect", "break"};
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, REDLOCK(verbs[_i], "x", "--fenced"), &program), 64);
    ck_assert_ptr_nonnull(strstr(program_err(program), "has no option --fenced"));
}

/* ---- JSON ------------------------------------------------------------------------------- */

/* Run it, and give its object. */
static struct program *object(const char *const argv[], int status)
{
    struct program *program = NULL;
    int got = program_run(NULL, argv, &program);
    ck_assert_msg(got == status, "%d: %s%s", got, program_out(program), program_err(program));
    return program;
}

/* The handle keeps the token, whatever becomes of an extension. */
TEST(fenced, handle_keeps_token, .rows = 2)
{
    char handle[REDLOCK_HANDLE_MAX], longer[REDLOCK_HANDLE_MAX];
    cli_choose(_i == 0, CLI_PATIENT);
    struct program *program =
        object(REDLOCK("lock", "--fenced", "--json", "--ttl", "20s", "kept"), 0);
    unsigned long long token = json_token(program_out(program));
    ck_assert(json_has(program_out(program), "handle", handle, sizeof(handle)));
    program = object(REDLOCK("lock", "--fenced", "--json", "kept"), 75);
    expect_no_token(program_out(program));
    program = object(REDLOCK("extend", "--json", "--ttl", "25s", handle), 0);
    ck_assert_uint_eq(json_token(program_out(program)), token);
    ck_assert(json_has(program_out(program), "handle", longer, sizeof(longer)));
    program = object(REDLOCK("extend", "--json", "--ttl", "10h", longer), 64);
    ck_assert_uint_eq(json_token(program_out(program)), token); /* it lives */
    program = object(REDLOCK("extend", "--json", "--ttl", "25s", longer), 0);
    ck_assert_uint_eq(json_token(program_out(program)), token);
    ck_assert_int_eq(program_run(NULL, REDLOCK("release", longer), NULL), 0);
    program = object(REDLOCK("extend", "--json", "--ttl", "25s", longer), 1);
    expect_no_token(program_out(program)); /* it is not ours any more */
    program = object(REDLOCK("lock", "--json", "kept"), 0);
    expect_no_token(program_out(program));
}

/* Whatever becomes of the command: its lock was had. */
TEST(fenced, run_tells_token_however_it_ended, .rows = 3)
{
    static const struct {
        const char *script;
        int status;
        const char *result;
    } rows[] = {
        {SAY, 0, "\"result\":\"ended\""},
        {SAY "; exit 3", 3, "\"result\":\"ended\""},
        {SAY "; \"$0\" release", 74, "\"result\":\"lost\""},
    };
    struct program *program = object(REDLOCK("run", "-q", "--fenced", "--json", "told", "--",
                                             "sh", "-c", rows[_i].script, program_redlock()),
                                     rows[_i].status);
    ck_assert_msg(strstr(program_err(program), rows[_i].result), "%s", program_err(program));
    unsigned long long token = token_in(program_out(program));
    ck_assert_uint_eq(json_token(program_err(program)), token);
    program =
        object(REDLOCK("run", "-q", "--fenced", "--json", "told", "--", "/nonexistent"), 127);
    ck_assert_ptr_nonnull(strstr(program_err(program), "\"result\":\"not run\""));
    ck_assert_uint_gt(json_token(program_err(program)), token);
    program = object(REDLOCK("run", "-q", "--json", "told", "--", "true"), 0);
    expect_no_token(program_err(program));
}

TEST(fenced, reader_that_is_refused_is_object_too)
{
    struct program *program =
        object(REDLOCK("lock", "--fenced", "--shared", "--json", "x"), 64);
    cli_expect_json(program, "result", "usage");
    expect_no_token(program_out(program));
}

/* The last, for it kills masters. */
TEST(fenced, token_is_told_where_extension_has_no_quorum)
{
    char handle[REDLOCK_HANDLE_MAX];
    struct program *program =
        object(REDLOCK("lock", "--fenced", "--json", "--ttl", "25s", "alone"), 0);
    unsigned long long token = json_token(program_out(program));
    ck_assert(json_has(program_out(program), "handle", handle, sizeof(handle)));
    for (unsigned i = 0; i < 3; i++)
        master_kill(cli_masters, i);
    program = object(REDLOCK("extend", "--json", handle), 69);
    ck_assert_uint_eq(json_token(program_out(program)), token);
}

CASE(fenced,
     .timeout_s = 60, .set_up_once = cli_rig_start_with_lone, .tear_down_once = cli_rig_stop)
