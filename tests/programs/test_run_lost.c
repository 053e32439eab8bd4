/* tags: long unsanitized */
/* test_run_lost.c - COMMAND never outlives the lock: what the masters may do to it. */
#include "config_auto.h"

#include "run_scene.h"

#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(deleted, lock_deleted_command_gone_and_74)
{
    struct scene scene;
    scene_begin(&scene, "6s", "500ms", scene_stubborn, 3);
    int64_t begin_ms = boot_ms();
    for (unsigned i = 0; i < cli_masters->n; i++)
        (void)master_do(cli_masters, i, "SET", SCENE_NAME, "another", NULL);
    ck_assert_int_eq(program_wait(scene.run, CLI_MOMENT_MS), 74);
    ck_assert(scene_all_gone(&scene));
    /* By the next extension, 2 s and a grace later, and not when the lease is over. */
    ck_assert_int_lt(boot_ms() - begin_ms, 4000);
    ck_assert(cli_one_line(program_err(scene.run)));
    ck_assert_ptr_null(strstr(program_err(scene.run), "guard process")); /* it was told */
    for (unsigned i = 0; i < cli_masters->n; i++) {
        ck_assert_str_eq(master_do(cli_masters, i, "GET", SCENE_NAME, NULL).text, "another");
        (void)master_do(cli_masters, i, "DEL", SCENE_NAME, NULL);
    }
}

TEST(deleted, with_v_lost_lock_is_explained)
{
    struct program *program =
        program_start(NULL, REDLOCK("run", "-v", "--ttl", "1s", SCENE_NAME, "--", "sh", "-c",
                                    "echo ready; exec sleep 79"));
    ck_assert(wait_until(program_printed(program, "ready"), CLI_MOMENT_MS));
    for (unsigned i = 0; i < cli_masters->n; i++)
        (void)master_do(cli_masters, i, "DEL", SCENE_NAME, NULL);
    ck_assert_int_eq(program_wait(program, CLI_MOMENT_MS), 74);
    ck_assert_ptr_nonnull(strstr(program_err(program), "'" SCENE_NAME "' was lost: its key "));
    ck_assert_ptr_nonnull(strstr(program_err(program), "'" SCENE_NAME "' was lost at 20"));
}

TEST(deleted, lock_deleted_just_before_command_ends_is_74_too)
{
    struct scene scene;
    scene_begin(&scene, "20s", "5000ms", scene_polite, 1);
    for (unsigned i = 0; i < cli_masters->n; i++)
        (void)master_do(cli_masters, i, "DEL", SCENE_NAME, NULL);
    kill(scene.run->pid, SIGTERM);
    ck_assert_int_eq(program_wait(scene.run, CLI_MOMENT_MS), 74);
    ck_assert_ptr_nonnull(strstr(program_err(scene.run), "lost before the command ended"));
}

/* Held by a debugger it neither runs nor can be continued; it can be killed. */
static void hang(pid_t guard)
{
    ck_assert_int_eq(ptrace(PTRACE_SEIZE, guard, NULL, NULL), 0);
    ck_assert_int_eq(ptrace(PTRACE_INTERRUPT, guard, NULL, NULL), 0);
    ck_assert_int_eq(waitpid(guard, NULL, __WALL), guard);
}

TEST(deleted, lock_deleted_and_guard_hangs)
{
    struct scene scene;
    scene_begin(&scene, "6s", "1500ms", scene_stubborn, 3);
    hang(scene.guard);
    int64_t begin_ms = boot_ms();
    for (unsigned i = 0; i < cli_masters->n; i++)
        (void)master_do(cli_masters, i, "DEL", SCENE_NAME, NULL);
    ck_assert_int_eq(program_wait(scene.run, CLI_MOMENT_MS), 74);
    ck_assert(scene_all_gone(&scene));
    ck_assert_int_lt(boot_ms() - begin_ms, 4000); /* by the next extension, and not much more */
    ck_assert_ptr_nonnull(strstr(program_err(scene.run), "guard"));
}

TEST(outages, no_quorum_command_gone_before_validity_ends_and_74)
{
    struct scene scene;
    scene_begin(&scene, "2s", "500ms", scene_stubborn, 3);
    int64_t end_ms = scene_validity_end_ms(2000) + 2000 / 3 + 200; /* one more may be out */
    for (unsigned i = 0; i < 3; i++)
        master_kill(cli_masters, i);
    scene_expect_gone_by(&scene, end_ms);
    ck_assert_int_eq(program_wait(scene.run, CLI_MOMENT_MS), 74);
    ck_assert(cli_one_line(program_err(scene.run)));
}

TEST(outages, masters_silent_polite_command_gets_term_in_time)
{
    struct scene scene;
    scene_begin(&scene, "2s", "500ms", scene_polite, 1);
    int64_t end_ms =
        scene_validity_end_ms(2000) + 2000 / 3 + 200; /* one more extension may be out */
    for (unsigned i = 0; i < cli_masters->n; i++)
        master_pause(cli_masters, i);
    scene_expect_gone_by(&scene, end_ms);
    ck_assert(program_printed(scene.run, "got TERM"));
    ck_assert_int_eq(program_wait(scene.run, CLI_MOMENT_MS), 74);
}

TEST(outages, short_loss_of_quorum_is_survived)
{
    struct scene scene;
    scene_begin(&scene, "3s", "750ms", scene_polite, 1);
    for (unsigned i = 0; i < 3; i++)
        master_pause(cli_masters, i);
    pause_ms(1400); /* an extension fails; there is time for others */
    for (unsigned i = 0; i < 3; i++)
        master_resume(cli_masters, i);
    pause_ms(3000);
    ck_assert(process_lives(scene.pids[0]));
    kill(scene.run->pid, SIGTERM);
    ck_assert_int_eq(program_wait(scene.run, CLI_MOMENT_MS), 3);
}

TEST(outages, guard_hangs_run_acts_before_validity_ends)
{
    struct scene scene;
    scene_begin(&scene, "2s", "500ms", scene_stubborn, 3);
    hang(scene.guard);
    int64_t end_ms = scene_validity_end_ms(2000) + 2000 / 3 + 200; /* one more may be out */
    for (unsigned i = 0; i < cli_masters->n; i++)
        master_pause(cli_masters, i);
    scene_expect_gone_by(&scene, end_ms);
    ck_assert_int_eq(program_wait(scene.run, CLI_MOMENT_MS), 74);
    ck_assert_ptr_nonnull(strstr(program_err(scene.run), "guard"));
}

/* Its inbox is full of signals for COMMAND: it can't be told that the lock was extended. */
TEST(outages, guard_hangs_and_extension_it_was_not_told_of_does_not_count)
{
    struct scene scene;
    scene_begin(&scene, "2s", "500ms", scene_stubborn, 3);
    hang(scene.guard);
    for (int i = 0; i < 3000; i++) {
        kill(scene.run->pid, i % 2 == 0 ? SIGUSR1 : SIGUSR2);
        usleep(200);
    }
    ck_assert_int_eq(program_wait(scene.run, CLI_MOMENT_MS), 74);
    ck_assert(scene_all_gone(&scene));
    ck_assert_ptr_nonnull(strstr(program_err(scene.run), "guard"));
}

/* It goes on when the guard has asked COMMAND to end, and long before the lock's end. */
TEST(outages, holder_that_goes_on_late_says_that_lock_was_held)
{
    enum { TTL_MS = 6000, GRACE_MS = 2000, LATE_MS = 300 };
    struct scene scene;
    scene_begin(&scene, "6s", "2s", scene_stubborn, 3);
    kill(scene.run->pid, SIGSTOP);
    int64_t end_ms = scene_validity_end_ms(TTL_MS);
    pause_ms((int)(end_ms - GRACE_MS + LATE_MS - boot_ms()));
    kill(scene.run->pid, SIGCONT);
    ck_assert_int_eq(program_wait(scene.run, CLI_MOMENT_MS), 74);
    const char *line = program_err(scene.run);
    ck_assert_msg(strstr(line, "'" SCENE_NAME "' was given up at 20"), "%s", line);
    ck_assert_msg(strstr(line, "too late to tell its guard of an extension"), "%s", line);
    ck_assert_msg(strstr(line, "; held for "), "%s", line);
    ck_assert_ptr_null(strstr(line, "lost"));
    ck_assert_ptr_null(strstr(line, "all is well"));
    ck_assert(cli_one_line(line));
}

CASE(deleted, .timeout_s = 60, .set_up_once = cli_rig_start, .tear_down_once = cli_rig_stop)
CASE(outages, .timeout_s = 60, .set_up = cli_rig_start, .tear_down = cli_rig_stop)
