/* tags: long unsanitized */
/* test_run_at_least.c - redlock run and lock --at-least: others are kept out until then, whatever
 * becomes of the command and of redlock; and nobody is for a command that never began. */
#include "config_auto.h"

#include "run_scene.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEAST "--at-least", "3s"
enum { LEAST_MS = 3000, LATER_MS = 60000 };

#define TRY(name, ...) REDLOCK("run", "--try", name, "--", __VA_ARGS__)

/* A second one waits: it runs when the time is over, and no sooner. */
static void expect_kept(const char *name, int64_t since_ms)
{
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, TRY(name, "true"), NULL), 75);
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("run", "--wait", "60s", name, "--", "true"), &program), 0);
    ck_assert_int_ge(boot_ms() - since_ms, LEAST_MS);
}

/* ---- kept ------------------------------------------------------------------------------- */

TEST(kept, r21_command_that_ends_at_once_keeps_others_out)
{
    struct program *program = NULL;
    int64_t since_ms = boot_ms();
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("run", LEAST, "kept", "--", "sh", "-c", "exit 7"), &program),
        7);
    ck_assert_str_eq(program_err(program), "");
    expect_kept("kept", since_ms);
}

/* At the latest while COMMAND runs; and it ends with redlock. */
TEST(kept, r21_killed_run_keeps_others_out)
{
    int64_t since_ms = boot_ms();
    struct program *run = program_start(
        NULL, REDLOCK("run", LEAST, "--ttl", "1s", "killed", "--", "sh", "-c",
                      "echo ready; exec sleep 77"));
    ck_assert(wait_until(program_printed(run, "ready"), CLI_MOMENT_MS));
    kill(run->pid, SIGKILL);
    ck_assert_int_eq(program_wait(run, CLI_MOMENT_MS), 128 + SIGKILL);
    expect_kept("killed", since_ms);
}

/* The usual grace and the usual times of TERM and KILL are of the lease that it has. */
TEST(kept, r21_guard_killed_while_command_runs)
{
    int64_t since_ms = boot_ms();
    struct program *run = program_start(
        NULL, REDLOCK("run", LEAST, "guarded", "--", "sh", "-c",
                      "echo guard=$PPID; echo ready; exec sleep 77"));
    ck_assert(wait_until(program_printed(run, "ready"), CLI_MOMENT_MS));
    const char *at = program_out(run);
    kill(scene_number(&at, "guard="), SIGKILL);
    ck_assert_int_eq(program_wait(run, CLI_MOMENT_MS), 74);
    expect_kept("guarded", since_ms);
}

TEST(kept, r21_handle_of_lock_keeps_others_out)
{
    struct program *program = NULL;
    char handle[REDLOCK_HANDLE_MAX];
    int64_t since_ms = boot_ms();
    ck_assert_int_eq(program_run(NULL, REDLOCK("lock", LEAST, "handle"), &program), 0);
    snprintf(handle, sizeof(handle), "%.*s", (int)strcspn(program_out(program), "\n"),
             program_out(program));
    ck_assert_int_eq(program_run(NULL, REDLOCK("release", handle), NULL), 0);
    expect_kept("handle", since_ms);
}

/* What another had is as good as having run, where -E 0 says so. */
TEST(kept, held_with_status_0_says_nothing)
{
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, REDLOCK("run", "--at-least", "20s", "cron", "--", "true"),
                                 NULL),
                     0);
    ck_assert_int_eq(program_run(NULL,
                                 REDLOCK("run", "--at-least", "20s", "--try", "-E", "0", "cron",
                                         "--", "echo", "ran"),
                                 &program),
                     0);
    ck_assert_str_eq(program_out(program), "");
    ck_assert_str_eq(program_err(program), "");
    ck_assert_int_eq(program_run(NULL,
                                 REDLOCK("run", "-E", "9", "--try", "cron", "--", "true"),
                                 &program),
                     9);
    ck_assert(cli_one_line(program_err(program)));
}

/* ---- never began ------------------------------------------------------------------------ */

static void expect_undone(const char *name)
{
    cli_expect_free(name);
    ck_assert_int_eq(program_run(NULL, REDLOCK("run", "--wait", "10s", name, "--", "true"), NULL),
                     0);
}

#define LONG "--at-least", "25s"

TEST(unused, r21_command_that_is_not_found_keeps_nobody_out)
{
    ck_assert_int_eq(program_run(NULL, REDLOCK("run", LONG, "nf", "--", "no-such-program"), NULL),
                     127);
    expect_undone("nf");
    ck_assert_int_eq(program_run(NULL, REDLOCK("run", LONG, "nx", "--", "/etc/passwd"), NULL),
                     126);
    expect_undone("nx");
}

TEST(unused, r21_grace_that_is_too_long_keeps_nobody_out)
{
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("run", LONG, "--grace", "20s", "gr", "--", "true"), NULL), 64);
    expect_undone("gr");
}

/* The guard is the child of `redlock run`, which waits for a lock that another has. */
static pid_t child_of(pid_t pid)
{
    char path[64], text[64];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
    file_text(path, text, sizeof(text));
    return (pid_t)strtol(text, NULL, 10);
}

TEST(unused, r21_guard_killed_while_it_waited_keeps_nobody_out)
{
    struct program *holder = cli_hold("", "gw");
    struct program *run =
        program_start(NULL, REDLOCK("run", LONG, "gw", "--", "echo", "ran"));
    ck_assert(wait_until(child_of(run->pid) > 0, CLI_MOMENT_MS));
    kill(child_of(run->pid), SIGKILL);
    kill(holder->pid, SIGTERM);
    ck_assert_int_eq(program_wait(run, LATER_MS), 74);
    ck_assert_str_eq(program_out(run), "");
    expect_undone("gw");
}

/* A signal that comes with the grant: as often as it takes to have one that does. */
TEST(unused, r21_signal_while_it_takes_the_lock_keeps_nobody_out)
{
    unsigned undone = 0;
    for (int i = 0; i < 60; i++) {
        char name[32];
        snprintf(name, sizeof(name), "sig:%d", i);
        struct program *run =
            program_start(NULL, REDLOCK("run", LONG, name, "--", "sh", "-c", "echo ran"));
        usleep((useconds_t)(1000 + 300 * i));
        kill(run->pid, SIGTERM);
        (void)program_wait(run, CLI_MOMENT_MS);
        /* Else it was COMMAND's: it had begun. */
        if (!strstr(program_err(run), "canceled") && !strstr(program_err(run), "Terminated"))
            continue;
        ck_assert(!program_printed(run, "ran"));
        cli_expect_free(name);
        undone++;
    }
    ck_assert_uint_gt(undone, 0);
}

static int run_with_preloaded(const char *library, const char *name,
                              struct program **ret_program)
{
    static char preload[PATH_MAX + 64];
    const char *const environment[] = {preload, NULL};
    const struct program_how how = {.environment = environment};
    char path[PATH_MAX + 32];
    suite_find_built(library, path, sizeof(path));
    snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", path);
    return program_run(&how, REDLOCK("run", LONG, name, "--", "echo", "ran"), ret_program);
}

TEST(unused, r21_signal_that_comes_with_the_lock_keeps_nobody_out)
{
    struct program *program = NULL;
    ck_assert_int_eq(run_with_preloaded("tests/support/signal_with_lock.so", "with", &program),
                     128 + SIGTERM);
    ck_assert_str_eq(program_out(program), "");
    ck_assert_ptr_nonnull(strstr(program_err(program), "Terminated"));
    expect_undone("with");
}

TEST(unused, r21_signal_that_comes_before_exec_keeps_nobody_out)
{
    struct program *program = NULL;
    ck_assert_int_eq(run_with_preloaded("tests/support/signal_before_exec.so", "before", &program),
                     128 + SIGTERM);
    ck_assert_str_eq(program_out(program), "");
    expect_undone("before");
}

static void full_stdout(void)
{
    int full = open("/dev/full", O_WRONLY);
    if (full < 0 || dup2(full, STDOUT_FILENO) < 0)
        _exit(99);
}

TEST(unused, r21_handle_that_can_not_be_printed_keeps_nobody_out)
{
    const struct program_how how = {.before_exec = full_stdout};
    ck_assert_int_eq(program_run(&how, REDLOCK("lock", LONG, "full"), NULL), 71);
    expect_undone("full");
}

/* ---- longer than a lease ---------------------------------------------------------------- */

#define SHORT_LEASE "max-ttl 2s\n" CLI_PATIENT

static void begin_stay(void)
{
    cli_choose(false, SHORT_LEASE);
}

TEST(stays, r21_run_stays_for_what_a_lease_can_not_keep)
{
    begin_stay();
    int64_t since_ms = boot_ms();
    struct program *run = program_start(NULL, REDLOCK("run", "--ttl", "1s", "--at-least", "5s",
                                                      "st", "--", "sh", "-c", "exit 7"));
    ck_assert(wait_until(strstr(program_err(run), "redlock stays for the 5"),
                         CLI_MOMENT_MS));
    pause_ms(2500);
    ck_assert(process_lives(run->pid));
    ck_assert_int_eq(program_run(NULL, TRY("st", "true"), NULL), 75);
    ck_assert_int_eq(program_wait(run, LATER_MS), 7);
    ck_assert_int_ge(boot_ms() - since_ms, 5000);
    ck_assert(cli_one_line(program_err(run)));
    cli_expect_free("st");
}

/* It is told, and the keys stay for their lease. */
TEST(stays, signal_ends_it_and_leaves_the_lease)
{
    begin_stay();
    struct program *run = program_start(NULL, REDLOCK("run", "--ttl", "2s", "--at-least", "60s",
                                                      "sg", "--", "echo", "ran"));
    ck_assert(wait_until(program_printed(run, "ran"), CLI_MOMENT_MS));
    pause_ms(2500); /* longer than what a lease keeps by itself */
    ck_assert_int_eq(kill(run->pid, SIGTERM), 0);
    ck_assert_int_eq(program_wait(run, CLI_MOMENT_MS), 128 + SIGTERM);
    ck_assert_ptr_nonnull(strstr(program_err(run), "before --at-least was over"));
    ck_assert(cli_majority_has("sg"));
}

TEST(stays, r21_loss_while_it_stays_is_status_74)
{
    begin_stay();
    struct program *run = program_start(NULL, REDLOCK("run", "--ttl", "1s", "--at-least", "60s",
                                                      "ls", "--", "echo", "ran"));
    ck_assert(wait_until(program_printed(run, "ran"), CLI_MOMENT_MS));
    pause_ms(300);
    for (unsigned i = 0; i < 5; i++)
        (void)master_do(cli_masters, i, "DEL", "ls", NULL);
    ck_assert_int_eq(program_wait(run, LATER_MS), 74);
    ck_assert_ptr_nonnull(strstr(program_err(run), "after the command had ended"));
}

TEST(stays, lock_can_not_stay_and_is_told_the_greatest)
{
    struct program *program = NULL;
    begin_stay();
    ck_assert_int_eq(program_run(NULL, REDLOCK("lock", "--at-least", "5s", "x"), &program), 64);
    ck_assert_ptr_nonnull(strstr(program_err(program), "at most 1977 ms"));
    ck_assert(!cli_majority_has("x"));
}

/* ---- what does not go together ---------------------------------------------------------- */

TEST(usage, owner_is_not_kept_out)
{
    static const char *const environment[] = {"REDLOCK_OWNER=me", NULL};
    const struct program_how how = {.environment = environment};
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL,
                                 REDLOCK("run", "--reentrant", "--owner", "me", LEAST, "o",
                                         "--", "true"),
                                 &program),
                     64);
    ck_assert_ptr_nonnull(strstr(program_err(program), "--at-least keeps out others"));
    ck_assert_int_eq(
        program_run(&how, REDLOCK("run", "--reentrant", LEAST, "o", "--", "true"), NULL), 64);
    ck_assert_int_eq(program_run(&how, REDLOCK("run", LEAST, "o", "--", "true"), NULL), 0);
}

TEST(usage, readers_on_one_master_can_not_stay)
{
    struct program *program = NULL;
    cli_choose(true, "max-ttl 1h\n" CLI_PATIENT);
    ck_assert_int_eq(program_run(NULL,
                                 REDLOCK("run", "--shared", "--at-least", "1m", "r", "--",
                                         "true"),
                                 &program),
                     64);
    ck_assert_ptr_nonnull(strstr(program_err(program), "at most 29697 ms"));
}

CASE(kept, .timeout_s = 120, .set_up_once = cli_rig_start, .tear_down_once = cli_rig_stop)
CASE(unused, .timeout_s = 120, .set_up_once = cli_rig_start, .tear_down_once = cli_rig_stop)
CASE(stays, .timeout_s = 120, .set_up_once = cli_rig_start, .tear_down_once = cli_rig_stop)
CASE(usage, .timeout_s = 120, .set_up_once = cli_rig_start_with_lone,
     .tear_down_once = cli_rig_stop)
