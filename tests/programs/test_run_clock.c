/* tags: unsanitized */
/* test_run_clock.c - COMMAND never outlives the lock where the machine's clock goes back: then
 * nobody can tell for how long the lock is ours. And the cause of such a loss is named. */
#include "config_auto.h"

#include "base/limits.h"
#include "run_loss.h"
#include "run_scene.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { DAY_S = 86400 };

static volatile int64_t *step_ns;

/* What is started from here on has a clock that the test sets. */
static void clock_begin(void)
{
    char dir[SUITE_PATH_MAX], path[SUITE_PATH_MAX + 16], preload[PATH_MAX + 32];
    suite_new_dir(dir);
    snprintf(path, sizeof(path), "%s/step", dir);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(int64_t)) != 0)
        suite_die("no clock: %s", strerror(errno));
    suite_find_built("tests/support/boot_clock.so", preload, sizeof(preload));
    step_ns = mmap(NULL, sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    *step_ns = DAY_S * RL_NS_PER_S; /* it may be set back by more than this machine is up */
    setenv("BOOT_CLOCK", path, 1);
    setenv("LD_PRELOAD", preload, 1);
}

static void clock_end(void)
{
    unsetenv("LD_PRELOAD");
    unsetenv("BOOT_CLOCK");
}

static const int64_t steps_s[] = {-5, -3600};
enum { STEPS = sizeof(steps_s) / sizeof(steps_s[0]) };

static void begin(struct scene *scene, const char *ttl, const char *grace, const char *script,
                  int pid_count)
{
    clock_begin();
    scene_begin(scene, ttl, grace, script, pid_count);
    clock_end();
}

TEST(back, clock_back_command_gone_and_74, .rows = STEPS)
{
    struct scene scene;
    begin(&scene, "30s", "500ms", scene_stubborn, 3);
    int64_t begin_ms = boot_ms();
    *step_ns += steps_s[_i] * RL_NS_PER_S;
    ck_assert_int_eq(program_wait(scene.run, CLI_MOMENT_MS), 74);
    ck_assert(scene_all_gone(&scene));
    ck_assert_int_lt(boot_ms() - begin_ms, 8000); /* and no renewal was due for ten */
    ck_assert(cli_one_line(program_err(scene.run)));
    for (unsigned i = 0; i < cli_masters->n; i++)
        (void)master_do(cli_masters, i, "DEL", SCENE_NAME, NULL);
}

/* There is nobody but the guard to see it. */
TEST(back, clock_back_while_run_is_stopped_command_gone, .rows = STEPS)
{
    struct scene scene;
    begin(&scene, "30s", "500ms", scene_stubborn, 3);
    kill(scene.run->pid, SIGSTOP);
    ck_assert(wait_until(process_stands(scene.run->pid), CLI_MOMENT_MS));
    *step_ns += steps_s[_i] * RL_NS_PER_S;
    ck_assert(wait_until(scene_all_gone(&scene), 8000));
    kill(scene.run->pid, SIGCONT);
    ck_assert_int_eq(program_wait(scene.run, CLI_MOMENT_MS), 74);
    for (unsigned i = 0; i < cli_masters->n; i++)
        (void)master_do(cli_masters, i, "DEL", SCENE_NAME, NULL);
}

/* TERM was sent, and KILL must not come when the clock is there again. */
TEST(back, clock_back_while_command_has_grace_it_is_killed, .rows = STEPS)
{
    struct scene scene;
    begin(&scene, "30s", "10s", scene_stubborn, 3);
    kill(scene.run->pid, SIGKILL);
    pause_ms(300);
    *step_ns += steps_s[_i] * RL_NS_PER_S;
    ck_assert(wait_until(scene_all_gone(&scene), 8000));
    for (unsigned i = 0; i < cli_masters->n; i++)
        (void)master_do(cli_masters, i, "DEL", SCENE_NAME, NULL);
}

/* Hold as loss_hold() does, with a clock that the test sets. */
static struct program *hold(const char *ttl)
{
    clock_begin();
    struct program *run = loss_hold(ttl);
    clock_end();
    return run;
}

TEST(back, clock_back_is_the_cause_that_is_named, .rows = STEPS)
{
    struct program *run = hold("2s");
    *step_ns += steps_s[_i] * RL_NS_PER_S;
    loss_expect(run, "clock", "the clock of this machine was set back");
    for (unsigned i = 0; i < cli_masters->n; i++)
        (void)master_do(cli_masters, i, "DEL", LOSS_NAME, NULL);
}

/* The clock of leases goes on while a machine is suspended, and its MONOTONIC does not. */
TEST(back, machine_that_was_suspended_is_told_apart_from_process_that_was_stopped)
{
    struct program *run = hold("10s");
    kill(run->pid, SIGSTOP); /* nothing runs meanwhile */
    *step_ns += 60 * RL_NS_PER_S;
    kill(run->pid, SIGCONT);
    loss_expect(run, "suspended", "this machine was suspended for 1m0s");
    for (unsigned i = 0; i < cli_masters->n; i++)
        (void)master_do(cli_masters, i, "DEL", LOSS_NAME, NULL);
}

TEST(back, clock_back_while_it_waits_it_has_waited, .rows = STEPS)
{
    char wait[] = "1500ms";
    (void)cli_acquire(SCENE_NAME, "30s");
    clock_begin();
    int64_t begin_ms = now_ms();
    struct program *program =
        program_start(NULL, REDLOCK("run", "--wait", wait, SCENE_NAME, "--", "true"));
    clock_end();
    pause_ms(500);
    *step_ns += steps_s[_i] * RL_NS_PER_S;
    ck_assert_int_eq(program_wait(program, CLI_MOMENT_MS), 75);
    ck_assert_int_ge(now_ms() - begin_ms, 1400);
    ck_assert_int_le(now_ms() - begin_ms, 10000);
    for (unsigned i = 0; i < cli_masters->n; i++)
        (void)master_do(cli_masters, i, "DEL", SCENE_NAME, NULL);
}

CASE(back, .timeout_s = 120, .set_up_once = cli_rig_start, .tear_down_once = cli_rig_stop)
