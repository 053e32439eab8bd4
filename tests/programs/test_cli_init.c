/* test_cli_init.c - redlock init: marks masters that are new, and refuses where one may not be.
 */
#include "config_auto.h"

#include "child.h"
#include "cli_rig.h"
#include "client.h"
#include "json.h"
#include "kinds/fencing.h"
#include "kinds/marker.h"
#include "terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/wait.h>

static struct masters *masters;
static struct terminal tty;
static struct program *program;

static void use_list(const char *settings)
{
    setenv("REDLOCK_NODES", masters_guarded_file(masters, settings), 1);
}

static void start(void)
{
    masters = masters_start(3, NULL);
    use_list("guard marker\nmax-ttl 20s\n");
}

static const char *run(int expected, const char *const argv[])
{
    static char err[1024];
    int status = program_run(NULL, argv, &program);
    ck_assert_msg(status == expected, "%d: %s%s", status, program_out(program),
                  program_err(program));
    snprintf(err, sizeof(err), "%s", program_err(program));
    return err;
}

#define RUN(expected, ...) run(expected, REDLOCK(__VA_ARGS__))
#define EXPECT_TEXT(text, part) ck_assert_msg(strstr((text), (part)) != NULL, "%s", (text))

static unsigned marked(void)
{
    return masters_with(masters, RL_MARKER_KEY);
}

TEST(init, new_masters_vote_at_once)
{
    RUN(69, "lock", "--try", "name"); /* no quorum: they are quarantined now */
    for (unsigned i = 0; i < 3; i++)
        master_do(masters, i, "FLUSHALL", NULL);
    ck_assert_str_eq(RUN(0, "init"), "");
    ck_assert_uint_eq(marked(), 3);
    ck_assert_uint_eq(masters_with(masters, RL_QUARANTINE_KEY), 0);
    RUN(0, "lock", "--try", "--ttl", "5s", "name");
    RUN(0, "status");
}

TEST(init, second_init_changes_nothing)
{
    RUN(0, "init");
    EXPECT_TEXT(RUN(65, "init"), "has a marker already");
}

static const char *const lists[] = {
    "guard marker\nmax-ttl 20s\n",
    "guard strict\nmax-ttl 20s\n",
    "guard marker\nfencing strict\nconfig-agreement warn\nmax-ttl 20s\n",
};

/* Whoever only looks leaves nothing that makes new masters look old. */
TEST(init, look_at_new_masters_spoils_no_init, .rows = 3)
{
    use_list(lists[_i]);
    RUN(69, "status");
    RUN(69, "status", "--wait", "1s");
    RUN(0, "inspect", "name");
    ck_assert_uint_eq(marked(), 0);
    ck_assert_uint_eq(masters_with(masters, RL_QUARANTINE_KEY), 0);
    RUN(0, "init");
    RUN(0, "lock", "--try", "--ttl", "5s", "name");
}

/* The first who wants a lock begins the quarantine, as soon as it was found to be needed. */
TEST(init, client_that_looked_first_begins_quarantine_when_it_wants_lock)
{
    redlock_lock *lock = NULL;
    CLIENT client = client_open(getenv("REDLOCK_NODES"));
    ck_assert(wait_until(client_state(client, 0, NULL) == REDLOCK_NODE_GUARDED &&
                             client_state(client, 1, NULL) == REDLOCK_NODE_GUARDED,
                         5000));
    ck_assert_uint_eq(marked(), 0);
    ck_assert_int_eq(client_try(client, "name", 1000, 0, NULL, &lock), REDLOCK_ENOQUORUM);
    ck_assert(wait_until((client_ready(client), masters_with(masters, RL_QUARANTINE_KEY) == 3),
                         5000));
    EXPECT_TEXT(RUN(65, "init"), "has a marker already");
}

enum { CROWD = 32 };

/* They set marker and quarantine of the new one as soon as it answers. */
TEST(init, replaced_master_is_marked_beside_clients_at_work)
{
    redlock *crowd[CROWD];
    RUN(0, "init");
    for (unsigned i = 0; i < CROWD; i++) {
        crowd[i] = client_open(getenv("REDLOCK_NODES"));
        ck_assert(client_can_take(crowd[i], "name"));
    }
    master_restart(masters, 2, true);
    for (unsigned i = 0; i < CROWD; i++)
        ck_assert(wait_until((client_ready(crowd[i]), master_has(masters, 2, RL_QUARANTINE_KEY)),
                             5000));
    EXPECT_TEXT(RUN(65, "init"), "has a marker already");
    RUN(0, "init", "--replace", "3", "--yes");
    ck_assert(!master_has(masters, 2, RL_QUARANTINE_KEY));
    redlock *client = client_open(getenv("REDLOCK_NODES"));
    ck_assert(wait_until(client_ready(client) == 3, 5000));
    redlock_close(client);
    EXPECT_TEXT(RUN(65, "init", "--replace", "3", "--yes"), "has a marker already");
    for (unsigned i = 0; i < CROWD; i++)
        redlock_close(crowd[i]);
}

/* One marker is enough: these masters are not new, and the others have lost theirs. */
TEST(init, marker_of_another_master_is_enough_to_refuse)
{
    RUN(0, "init");
    master_do(masters, 0, "FLUSHALL", NULL);
    master_do(masters, 1, "FLUSHALL", NULL);
    EXPECT_TEXT(RUN(65, "init"), "has a marker already");
    ck_assert_uint_eq(marked(), 1);
}

TEST(init, master_that_can_not_be_asked_is_enough_to_refuse)
{
    master_kill(masters, 2);
    EXPECT_TEXT(RUN(69, "init"), "can't be asked");
    ck_assert_uint_eq(marked(), 0);
}

static const char *const left_over[] = {RL_QUARANTINE_KEY, "orders:42"};
static const char *const told[] = {"is quarantined", "has keys in this database"};

TEST(init, what_stands_there_is_not_marked, .rows = 2)
{
    char now_ms[32];
    snprintf(now_ms, sizeof(now_ms), "%lld000", (long long)time(NULL));
    master_do(masters, 1, "SET", left_over[_i], now_ms, "PX", "60000", NULL);
    EXPECT_TEXT(RUN(65, "init"), told[_i]);
    ck_assert(!master_has(masters, 1, RL_MARKER_KEY));
    ck_assert_uint_eq(marked(), 2);
}

/* It would vote at no time by itself. */
TEST(init, quarantine_by_hand_is_told_as_such)
{
    master_do(masters, 1, "SET", RL_QUARANTINE_KEY, "maintenance", NULL);
    const char *why = RUN(65, "init");
    EXPECT_TEXT(why, "is another program's, or was set by hand");
    EXPECT_TEXT(why, "was left as it is");
    ck_assert_uint_eq(marked(), 2);
}

TEST(init, databases_are_told_apart)
{
    struct node_list list = {.len = 0};
    node_list_line(&list, "guard marker");
    node_list_line(&list, "node redis://127.0.0.1:%d/3", masters->node[0].tcp_at.port);
    setenv("REDLOCK_NODES", node_list_write(&list), 1);
    master_do(masters, 0, "SET", "in database 0", "x", NULL);
    RUN(0, "init");
    ck_assert_uint_eq(marked(), 0); /* in database 0 */
    RUN(0, "lock", "--try", "name");
}

static void expect_status(int expected, const char *part)
{
    int status = program_run(NULL, REDLOCK("status"), &program);
    ck_assert_int_eq(status, expected);
    EXPECT_TEXT(program_out(program), part);
}

TEST(init, status_tells_of_quarantine)
{
    RUN(0, "init");
    master_do(masters, 1, "FLUSHALL", NULL);
    expect_status(1, "after the first client that wants a lock: it has no marker");
    RUN(0, "lock", "--try", "name");
    expect_status(1, "guard: votes in ");
    expect_status(1, "quarantined, because");
}

/* Nobody else wants a lock of masters of which one has lost its marker. */
TEST(init, wait_of_status_begins_quarantine_beside_marked_master)
{
    use_list("guard marker\nmax-ttl 1s\n");
    RUN(0, "init");
    master_do(masters, 1, "FLUSHALL", NULL);
    RUN(0, "status", "--wait", "30s");
    ck_assert_uint_eq(marked(), 3);
}

TEST(init, new_masters_are_told_of_init)
{
    expect_status(69, "if all masters were just made, run redlock init");
    ck_assert_uint_eq(marked(), 0);
    RUN(69, "lock", "--try", "name"); /* that is one which wants a lock */
    ck_assert_uint_eq(masters_with(masters, RL_QUARANTINE_KEY), 3);
}

/* No time is named where none is known. */
TEST(init, quarantine_by_hand_votes_at_no_time)
{
    RUN(0, "init");
    master_do(masters, 1, "SET", RL_QUARANTINE_KEY, "maintenance", NULL);
    int status = program_run(NULL, REDLOCK("status"), &program);
    ck_assert_int_eq(status, 1);
    const char *out = program_out(program);
    ck_assert_msg(strstr(out, "guard: quarantined until somebody deletes") != NULL, "%s", out);
    ck_assert_ptr_null(strstr(out, "votes in"));
    master_do(masters, 2, "FLUSHALL", NULL);
    const char *why = RUN(69, "lock", "--try", "name");
    ck_assert_msg(strstr(why, "2 vote in ") != NULL, "%s", why);
    ck_assert_msg(strstr(why, "2 vote in 0") == NULL, "%s", why);
}

/* ---- fencing strict ------------------------------------------------------------------------
 */

#define FENCED_LOCK "lock", "--fenced", "--json", "--ttl", "1s", "name"

static bool certified(unsigned node)
{
    return strncmp(master_do(masters, node, "GET", RL_FENCING_KEY, NULL).text, "certified ",
                   10) == 0;
}

TEST(init, new_masters_are_certified)
{
    use_list("guard off\nfencing strict\n");
    RUN(69, FENCED_LOCK);
    for (unsigned i = 0; i < 3; i++)
        master_do(masters, i, "FLUSHALL", NULL);
    RUN(0, "init");
    ck_assert(certified(0) && certified(1) && certified(2));
    struct reply first = master_do(masters, 0, "GET", RL_FENCING_KEY, NULL);
    struct reply other = master_do(masters, 1, "GET", RL_FENCING_KEY, NULL);
    ck_assert(strncmp(first.text, other.text, sizeof("certified id")) != 0); /* of its loss */
    RUN(0, FENCED_LOCK);
}

TEST(init, tokens_go_on_above_what_operator_says)
{
    use_list("guard off\nfencing strict\n");
    RUN(0, "init");
    RUN(0, FENCED_LOCK);
    EXPECT_TEXT(RUN(64, "init", "--tokens-above", "5"), "has named tokens up to");
    for (unsigned i = 0; i < 2; i++)
        master_do(masters, i, "FLUSHALL", NULL);
    RUN(69, FENCED_LOCK);
    EXPECT_TEXT(RUN(64, "init", "--tokens-above", "5"), "Nothing was changed");
    ck_assert(!certified(0));
    RUN(0, "init", "--tokens-above", "4000000000000000");
    ck_assert(certified(0) && certified(1) && certified(2));
    redlock *client = client_open(getenv("REDLOCK_NODES"));
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock = NULL;
    options.fenced = 1;
    ck_assert_int_eq(redlock_try(client, "other", &options, &lock), 0);
    ck_assert_uint_gt(redlock_fencing_token(lock), UINT64_C(4000000000000000));
    redlock_close(client);
    EXPECT_TEXT(RUN(64, "init", "--tokens-above", "x"), "a number from 1 to 2^52 - 1");
    use_list("guard off\n");
    EXPECT_TEXT(RUN(64, "init", "--tokens-above", "5"), "\"fencing strict\"");
}

/* ---- a master in another one's place -------------------------------------------------------
 */

TEST(init, replaced_master_is_marked_alone)
{
    RUN(0, "init");
    master_restart(masters, 1, true);
    EXPECT_TEXT(RUN(64, "init", "--replace", "2"), "no terminal to ask at; say --yes");
    ck_assert_uint_eq(marked(), 2);
    RUN(0, "init", "--replace", "2", "--yes");
    ck_assert_uint_eq(marked(), 3);
    ck_assert(!master_has(masters, 1, RL_QUARANTINE_KEY));
    EXPECT_TEXT(RUN(65, "init", "--replace", "2", "--yes"), "has a marker already");
}

/* The others need not answer: the caller has been asked. */
TEST(init, others_may_be_down_when_one_is_replaced)
{
    RUN(0, "init");
    master_kill(masters, 0);
    master_restart(masters, 1, true);
    RUN(0, "init", "--replace", "2", "--yes");
    ck_assert(master_has(masters, 1, RL_MARKER_KEY));
    EXPECT_TEXT(RUN(69, "init", "--replace", "1", "--yes"), "can't be asked");
}

static int it_asks(void *unused)
{
    (void)unused;
    child_expect(terminal_open(&tty));
    pid_t job = terminal_job(&tty, REDLOCK("init", "--replace", "2"), JOB_FOREGROUND);
    child_expect(terminal_shows(&tty, "answered nobody for 20s. Is that so? [y/N]"));
    terminal_type(&tty, "\n");
    int status = terminal_wait(&tty, job);
    child_expect(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    child_expect(terminal_shows(&tty, "nothing was changed"));
    child_expect(marked() == 0);
    job = terminal_job(&tty, REDLOCK("init", "--replace", "2"), JOB_FOREGROUND);
    child_expect(terminal_shows(&tty, "Is that so? [y/N]"));
    terminal_type(&tty, "y\n");
    child_expect(terminal_wait(&tty, job) == 0);
    child_expect(marked() == 1);
    return 0;
}

TEST(init, it_asks_at_terminal)
{
    ck_assert_int_eq(child_run(it_asks, NULL, 40000), 0);
}

/* ---- the command line -----------------------------------------------------------------------
 */

TEST(init, misuse_is_told)
{
    EXPECT_TEXT(RUN(64, "init", "--replace", "4", "--yes"), "the list has 3 masters");
    EXPECT_TEXT(RUN(64, "init", "--replace", "0"), "counted from 1");
    EXPECT_TEXT(RUN(64, "init", "name"), "too many words");
    EXPECT_TEXT(RUN(64, "break", "--replace", "1", "name"), "no option --replace");
    RUN(78, "init", "-n", "/nonexistent");
    use_list("max-ttl 20s\n");
    EXPECT_TEXT(RUN(0, "init"), "does not say \"guard marker\"");
}

TEST(init, json_tells_result)
{
    int status = program_run(NULL, REDLOCK("init", "--json"), &program);
    ck_assert_int_eq(status, 0);
    cli_expect_json(program, "verb", "init");
    cli_expect_json(program, "result", "done");
    status = program_run(NULL, REDLOCK("init", "--json"), &program);
    ck_assert_int_eq(status, 65);
    cli_expect_json(program, "error", NULL);
}

CASE(init, .timeout_s = 120, .set_up = start)
