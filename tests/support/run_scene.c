/* run_scene.c - see run_scene.h. */
#include "config_auto.h"

#include "run_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* COMMAND, a child in its group, and a grandchild that left the group and the session and was
 * orphaned (a daemon); all ignore TERM. */
const char scene_stubborn[] =
    "trap '' TERM; echo guard=$PPID; echo pid=$$; sleep 71 & echo pid=$!;"
    "setsid sh -c '(sh -c \"echo pid=\\$\\$; exec sleep 72\" &)' & wait $!;"
    "echo ready; sleep 73; sleep 74; exit 0";

/* Ends on TERM, and says so. */
const char scene_polite[] = "trap 'echo got TERM; exit 3' TERM; echo guard=$PPID; echo pid=$$;"
                            "echo ready; while :; do sleep 0.01; done";

pid_t scene_number(const char **at, const char *word)
{
    const char *found = strstr(*at, word);
    if (!found)
        return 0;
    *at = found + strlen(word);
    return (pid_t)strtol(*at, NULL, 10);
}

/* It is ready, and all that it starts has said so. */
static bool has_begun(struct program *run, int pid_count)
{
    const char *at = program_out(run);
    int known = 0;
    while (scene_number(&at, "pid=") > 0)
        known++;
    return known == pid_count && program_printed(run, "ready");
}

/* `redlock run ... -- sh -c SCRIPT`, until all it starts is known. */
void scene_begin(struct scene *scene, const char *ttl, const char *grace, const char *script,
                 int pid_count)
{
    memset(scene, 0, sizeof(*scene));
    struct program_how how = {.in_its_directory = true};
    scene->run = program_start(&how, REDLOCK("run", "--ttl", ttl, "--grace", grace, SCENE_NAME,
                                             "--", "sh", "-c", script));
    ck_assert(wait_until(has_begun(scene->run, pid_count), CLI_MOMENT_MS));
    const char *at = program_out(scene->run);
    scene->guard = scene_number(&at, "guard=");
    at = program_out(scene->run);
    while (scene->pid_count < SCENE_PIDS_MAX &&
           (scene->pids[scene->pid_count] = scene_number(&at, "pid=")) > 0)
        scene->pid_count++;
    ck_assert_int_gt(scene->guard, 0);
    ck_assert_int_eq(scene->pid_count, pid_count);
    for (int i = 0; i < scene->pid_count; i++)
        ck_assert(process_lives(scene->pids[i]));
}

bool scene_all_gone(const struct scene *scene)
{
    for (int i = 0; i < scene->pid_count; i++) {
        if (process_lives(scene->pids[i]))
            return false;
    }
    return true;
}

static int later_first(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return (a < b) - (a > b);
}

int64_t scene_validity_end_ms(int64_t ttl_ms)
{
    int64_t ends_ms[MASTERS_MAX] = {0}; /* of the key on each master; 0: it has none */
    for (unsigned i = 0; i < cli_masters->n; i++) {
        int64_t now = boot_ms();
        long long left = master_do(cli_masters, i, "PTTL", SCENE_NAME, NULL).number;
        ends_ms[i] = left > 0 ? now + left : 0;
    }
    qsort(ends_ms, cli_masters->n, sizeof(ends_ms[0]), later_first);
    int64_t end_ms = ends_ms[cli_masters->n / 2];
    ck_assert_int_gt(end_ms, 0);
    return end_ms - ttl_ms / 100 - 2;
}

void scene_expect_gone_by(const struct scene *scene, int64_t end_ms)
{
    ck_assert_msg(wait_until(scene_all_gone(scene), CLI_MOMENT_MS), "COMMAND lives on");
    ck_assert_int_lt(boot_ms(), end_ms);
}

void scene_expect_free_soon(void)
{
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("lock", "--wait", "20s", SCENE_NAME, "--ttl", "100ms"), NULL),
        0);
    ck_assert(wait_until(masters_with(cli_masters, SCENE_NAME) == 0, CLI_MOMENT_MS));
}
