/* tags: long unsanitized */
/* test_run_guard.c - COMMAND never outlives the lock: every order in which `redlock run`, its
 * guard and COMMAND may die or stop. */
#include "config_auto.h"

#include "child.h"
#include "fake.h"
#include "run_scene.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- redlock run dies or stops ---- */

TEST(kills, run_killed_command_gone_before_validity_ends_and_lock_free_after)
{
    struct scene scene;
    scene_begin(&scene, "2s", "500ms", scene_stubborn, 3);
    kill(scene.run->pid, SIGKILL);
    ck_assert_int_eq(program_wait(scene.run, CLI_MOMENT_MS), 128 + SIGKILL);
    scene_expect_gone_by(&scene, scene_validity_end_ms(2000));
    ck_assert_uint_ge(masters_with(cli_masters, SCENE_NAME), 3);
    ck_assert(wait_until(!process_lives(scene.guard), CLI_MOMENT_MS));
    scene_expect_free_soon();
}

/* What /proc says of a process has its name in it, which may look like what follows it. */
TEST(kills, run_killed_no_name_hides_daemon)
{
    struct scene scene;
    scene_begin(
        &scene, "2s", "500ms",
        "echo guard=$PPID; echo pid=$$; cp \"$(command -v sleep)\" ') Z 1 1 ('; "
        "setsid sh -c 'trap \"\" TERM; echo pid=$$; echo ready; exec \"./) Z 1 1 (\" 78' & "
        "wait",
        2);
    kill(scene.run->pid, SIGKILL);
    ck_assert_int_eq(program_wait(scene.run, CLI_MOMENT_MS), 128 + SIGKILL);
    scene_expect_gone_by(&scene, scene_validity_end_ms(2000));
    scene_expect_free_soon();
}

/* Run that is continued gives up, a margin before the end, what it had no time to renew: all
 * must be gone by then. */
TEST(kills, run_stopped_command_gone_before_validity_ends)
{
    struct scene scene;
    scene_begin(&scene, "2s", "500ms", scene_stubborn, 3);
    child_signal(scene.run->pid, SIGSTOP, WUNTRACED);
    scene_expect_gone_by(&scene, scene_validity_end_ms(2000) - 100);
    scene_expect_free_soon();
    kill(scene.run->pid, SIGCONT);
    ck_assert_int_eq(program_wait(scene.run, CLI_MOMENT_MS), 74);
    ck_assert(cli_one_line(program_err(scene.run)));
}

TEST(kills, run_stopped_for_moment_goes_on)
{
    struct scene scene;
    scene_begin(&scene, "3s", "750ms", scene_polite, 1);
    child_signal(scene.run->pid, SIGSTOP, WUNTRACED);
    pause_ms(700); /* TERM is due after 2220 ms of a lease, of which 1000 may be gone */
    kill(scene.run->pid, SIGCONT);
    pause_ms(4000);
    ck_assert(process_lives(scene.pids[0]));
    kill(scene.run->pid, SIGTERM);
    ck_assert_int_eq(program_wait(scene.run, CLI_MOMENT_MS), 3);
}

TEST(kills, run_killed_polite_command_gets_term_and_time)
{
    struct scene scene;
    scene_begin(&scene, "5s", "750ms", scene_polite, 1);
    kill(scene.run->pid, SIGKILL);
    int64_t begin_ms = boot_ms();
    ck_assert(wait_until(scene_all_gone(&scene), CLI_MOMENT_MS));
    ck_assert_int_lt(boot_ms() - begin_ms, 2000); /* at once, not when the lease is over */
    ck_assert(program_printed(scene.run, "got TERM"));
    scene_expect_free_soon();
}

/* COMMAND lives on at first, so that the daemon is not the guard's own child. */
TEST(kills, run_killed_daemon_of_command_gets_term_and_time_too)
{
    struct scene scene;
    scene_begin(
        &scene, "3s", "750ms",
        "echo guard=$PPID; echo pid=$$; setsid sh -c \"trap 'echo daemon got TERM; exit' "
        "TERM; echo pid=\\$\\$; echo ready; while :; do sleep 0.01; done\" & trap '' TERM; "
        "wait",
        2);
    kill(scene.run->pid, SIGKILL);
    ck_assert(wait_until(scene_all_gone(&scene), CLI_MOMENT_MS));
    ck_assert(program_printed(scene.run, "daemon got TERM"));
    scene_expect_free_soon();
}

/* How many descriptors the guard may have. */
static void limit_files(pid_t guard, rlim_t most, struct rlimit *ret_before)
{
    ck_assert_int_eq(prlimit(guard, RLIMIT_NOFILE, NULL, ret_before), 0);
    struct rlimit limit = {.rlim_cur = most, .rlim_max = ret_before->rlim_max};
    ck_assert_int_eq(prlimit(guard, RLIMIT_NOFILE, &limit, NULL), 0);
}

/* The guard can't read who there is, and kills COMMAND's group only. That round is over when
 * COMMAND was waited for. A later round finds what the first one did not see. */
TEST(kills, run_killed_processes_that_first_kill_missed_are_killed_too)
{
    struct rlimit before;
    struct scene scene;
    scene_begin(&scene, "3s", "0",
                "echo guard=$PPID; echo pid=$$;"
                "setsid sh -c 'echo pid=$$; echo ready; exec sleep 82' & wait",
                2);
    limit_files(scene.guard, 4, &before); /* as many as it polls, and none more */
    kill(scene.run->pid, SIGKILL);
    ck_assert(wait_until(kill(scene.pids[0], 0) != 0, CLI_MOMENT_MS));
    bool missed = process_lives(scene.pids[1]);
    limit_files(scene.guard, before.rlim_cur, &before);
    bool over = wait_until(!process_lives(scene.guard), 5000);
    bool gone = !process_lives(scene.pids[1]);
    kill(scene.pids[1], SIGKILL);
    ck_assert_msg(missed, "the first KILL has reached all");
    ck_assert_msg(over && gone, "the guard has left some of them");
    scene_expect_free_soon();
}

TEST(kills, run_stopped_polite_command_gets_term_grace_before_end)
{
    struct scene scene;
    scene_begin(&scene, "4s", "2s", scene_polite, 1);
    child_signal(scene.run->pid, SIGSTOP, WUNTRACED);
    int64_t end_ms = scene_validity_end_ms(4000);
    ck_assert(wait_until(scene_all_gone(&scene), 15000));
    ck_assert(program_printed(scene.run, "got TERM"));
    ck_assert_int_lt(boot_ms(), end_ms - 1000);
    ck_assert_int_gt(boot_ms(), end_ms - 2500);
    kill(scene.run->pid, SIGCONT);
    ck_assert_int_eq(program_wait(scene.run, CLI_MOMENT_MS), 74);
}

TEST(kills, run_stopped_and_command_stopped_too)
{
    struct scene scene;
    scene_begin(&scene, "2s", "500ms", scene_polite, 1);
    child_signal(scene.run->pid, SIGSTOP, WUNTRACED);
    kill(scene.pids[0], SIGSTOP);
    int64_t end_ms = scene_validity_end_ms(2000);
    scene_expect_gone_by(&scene, end_ms);
    ck_assert(program_printed(scene.run, "got TERM")); /* it was continued */
    kill(scene.run->pid, SIGCONT);
    ck_assert_int_eq(program_wait(scene.run, CLI_MOMENT_MS), 74);
}

TEST(kills, without_grace_there_is_no_term)
{
    struct scene scene;
    scene_begin(&scene, "10s", "0", scene_polite, 1);
    kill(scene.run->pid, SIGKILL);
    ck_assert(wait_until(scene_all_gone(&scene), 5000));
    ck_assert(!program_printed(scene.run, "got TERM"));
    for (unsigned i = 0; i < cli_masters->n; i++)
        (void)master_do(cli_masters, i, "DEL", SCENE_NAME, NULL);
}

static void own_group(void)
{
    setpgid(0, 0);
}

/* As a shell does it with a job: the guard is no part of that. */
TEST(kills, run_s_group_killed_and_daemon_of_command_is_ended)
{
    static const struct program_how how = {.before_exec = own_group};
    struct program *program =
        program_start(&how, REDLOCK("run", "--ttl", "3s", SCENE_NAME, "--", "sh", "-c",
                                    "setsid sh -c 'echo pid=$$; exec sleep 79' & wait"));
    ck_assert(wait_until(program_printed(program, "pid="), CLI_MOMENT_MS));
    const char *at = program_out(program);
    pid_t daemon = scene_number(&at, "pid=");
    kill(-program->pid, SIGKILL);
    ck_assert_int_eq(program_wait(program, CLI_MOMENT_MS), 128 + SIGKILL);
    bool gone = wait_until(!process_lives(daemon), CLI_MOMENT_MS);
    kill(daemon, SIGKILL);
    ck_assert(gone);
    scene_expect_free_soon();
}

TEST(kills, processes_left_in_commands_group_are_ended_and_told)
{
    struct program *program = program_start(
        NULL, REDLOCK("run", SCENE_NAME, "--", "sh", "-c", "sleep 81 & echo pid=$!; exit 9"));
    ck_assert_int_eq(program_wait(program, CLI_MOMENT_MS), 9);
    const char *at = program_out(program);
    ck_assert(!process_lives(scene_number(&at, "pid=")));
    ck_assert_ptr_nonnull(
        strstr(program_err(program), "left others in its process group, which are ended now"));
    cli_expect_free(SCENE_NAME);
}

/* The lease is all but over when it is granted: nothing is started. */
TEST(kills, command_is_not_started_where_its_grace_has_begun)
{
    struct fake *fakes[1];
    fakes_start(fakes, 1);
    fake_rule(fakes[0], &(struct fake_rule){.match = "acquire *", .delay_ms = 440});
    fake_rule(fakes[0], &(struct fake_rule){.match = "extend *", .delay_ms = 440});
    struct program *program = program_start(
        NULL, REDLOCK("run", "-n", fakes_file(fakes, 1, NULL), "--ttl", "800ms", "--grace",
                      "400ms", SCENE_NAME, "--", "sh", "-c", "echo started"));
    ck_assert_int_eq(program_wait(program, CLI_MOMENT_MS), 74);
    ck_assert_str_eq(program_out(program), "");
    ck_assert_ptr_nonnull(strstr(program_err(program), "ran out before sh could be started"));
}

/* COMMAND's own status, and a word on the lock. */
TEST(kills, release_that_no_majority_confirmed_is_told)
{
    struct scene scene;
    scene_begin(&scene, "10s", "1s", scene_polite, 1);
    /* A master that a busy machine left out has nothing to release: a renewal brings it in. */
    for (unsigned i = 0; i < 3; i++)
        ck_assert(wait_until(master_do(cli_masters, i, "EXISTS", SCENE_NAME, NULL).number == 1,
                             CLI_MOMENT_MS));
    for (unsigned i = 0; i < 3; i++)
        master_pause(cli_masters, i);
    kill(scene.run->pid, SIGTERM);
    int status = program_wait(scene.run, CLI_MOMENT_MS);
    for (unsigned i = 0; i < 3; i++)
        master_resume(cli_masters, i);
    ck_assert_int_eq(status, 3);
    ck_assert_msg(strstr(program_err(scene.run), "was not released on a majority"), "%s",
                  program_err(scene.run));
    scene_expect_free_soon();
}

/* ---- the guard dies or stops ---- */

TEST(kills, guard_killed_everything_gone_at_once_and_74)
{
    struct scene scene;
    scene_begin(&scene, "5s", "1250ms", scene_stubborn, 3);
    int64_t begin_ms = boot_ms();
    kill(scene.guard, SIGKILL);
    ck_assert_int_eq(program_wait(scene.run, CLI_MOMENT_MS), 74);
    ck_assert(scene_all_gone(&scene));
    ck_assert_int_lt(boot_ms() - begin_ms, 3500); /* a grace, and not the lease */
    ck_assert(cli_one_line(program_err(scene.run)));
    cli_expect_free(SCENE_NAME);
}

TEST(kills, command_kills_its_parent)
{
    ck_assert_int_eq(
        program_run(NULL,
                    REDLOCK("run", SCENE_NAME, "--", "sh", "-c", "kill -9 $PPID; sleep 75"),
                    NULL),
        74);
    cli_expect_free(SCENE_NAME);
}

TEST(kills, guard_stopped_is_continued)
{
    struct scene scene;
    scene_begin(&scene, "1s", "250ms", scene_polite, 1);
    for (int i = 0; i < 20; i++) {
        kill(scene.guard, SIGSTOP);
        pause_ms(20);
    }
    pause_ms(1500); /* more than a lease: run extends, and the guard hears of it */
    ck_assert(process_lives(scene.pids[0]));
    kill(scene.run->pid, SIGTERM);
    ck_assert_int_eq(program_wait(scene.run, CLI_MOMENT_MS), 3);
}

TEST(kills, guard_and_run_killed_at_once_command_itself_dies)
{
    struct scene scene;
    scene_begin(&scene, "1s", "250ms", scene_stubborn, 3);
    child_signal(scene.run->pid, SIGSTOP, WUNTRACED); /* so that it can't help */
    kill(scene.guard, SIGKILL);
    kill(scene.run->pid, SIGKILL);
    ck_assert(wait_until(!process_lives(scene.pids[0]), CLI_MOMENT_MS));
    kill(-scene.pids[0], SIGKILL); /* redlock(1) says that these escape */
    for (int i = 1; i < scene.pid_count; i++)
        kill(scene.pids[i], SIGKILL);
    scene_expect_free_soon();
}

TEST(kills, children_that_were_there_before_are_left_alone)
{
    static const char script[] = "sleep 76 & echo before=$!; exec \"$REDLOCK\" run " SCENE_NAME
                                 " -- sh -c 'kill -9 $PPID; sleep 77'";
    const char *const argv[] = {"sh", "-c", script, NULL};
    setenv("REDLOCK", program_redlock(), 1);
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, argv, &program), 74);
    const char *at = program_out(program);
    pid_t before = scene_number(&at, "before=");
    ck_assert_int_gt(before, 0);
    ck_assert(process_lives(before));
    kill(before, SIGKILL);
}

TEST(kills, command_signals_its_own_group_only)
{
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("run", SCENE_NAME, "--", "sh", "-c", "kill -KILL 0"), NULL),
        128 + SIGKILL);
    cli_expect_free(SCENE_NAME);
}

/* ---- while run waits for the lock: the guard is there, and has no COMMAND yet ---- */

struct wait_scene {
    const char *handle; /* of the lock that is waited for */
    struct program *run;
    pid_t guard;
};

static void wait_scene_begin(struct wait_scene *scene)
{
    char path[64], children[64];
    scene->handle = cli_acquire(SCENE_NAME, "20s");
    scene->run = program_start(NULL, REDLOCK("run", "-v", SCENE_NAME, "--", "echo", "started"));
    ck_assert(wait_until(strstr(program_err(scene->run), "; waiting in the queue\n") != NULL,
                         CLI_MOMENT_MS));
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", scene->run->pid, scene->run->pid);
    file_text(path, children, sizeof(children));
    scene->guard = (pid_t)strtol(children, NULL, 10);
    ck_assert_int_gt(scene->guard, 0);
}

/* The lock is let go; then run's exit status. */
static int wait_scene_end(struct wait_scene *scene)
{
    ck_assert_int_eq(program_run(NULL, REDLOCK("release", scene->handle), NULL), 0);
    return program_wait(scene->run, CLI_MOMENT_MS);
}

TEST(kills, run_killed_while_it_waits_leaves_no_guard)
{
    struct wait_scene scene;
    wait_scene_begin(&scene);
    kill(scene.run->pid, SIGKILL);
    bool gone = wait_until(!process_lives(scene.guard), CLI_MOMENT_MS);
    kill(scene.guard, SIGKILL);
    ck_assert(gone);
    ck_assert_int_eq(wait_scene_end(&scene), 128 + SIGKILL);
    scene_expect_free_soon();
}

TEST(kills, guard_killed_while_run_waits_command_never_starts_and_74)
{
    struct wait_scene scene;
    wait_scene_begin(&scene);
    kill(scene.guard, SIGKILL);
    ck_assert_int_eq(wait_scene_end(&scene), 74);
    ck_assert_str_eq(program_out(scene.run), "");
    ck_assert_ptr_nonnull(strstr(program_err(scene.run), "the guard process was killed"));
    cli_expect_free(SCENE_NAME);
}

TEST(kills, guard_stopped_while_run_waits_is_continued)
{
    struct wait_scene scene;
    wait_scene_begin(&scene);
    kill(scene.guard, SIGSTOP);
    ck_assert_int_eq(wait_scene_end(&scene), 0);
    ck_assert_str_eq(program_out(scene.run), "started\n");
}

CASE(kills, .timeout_s = 60, .set_up_once = cli_rig_start, .tear_down_once = cli_rig_stop)
