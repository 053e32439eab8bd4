/* run_reap.c - ends orphans, the second line: the guard was killed, or did not do its work in
 * time. The kernel has killed COMMAND with it; what COMMAND had started has come to us, as the
 * next subreaper above, and is killed here. */
#include "config_auto.h"

#include "redlock/proc_tree.h"
#include "redlock/run.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#define AGAIN_MIN_MS 2
#define AGAIN_MAX_MS 100

bool run_has_children(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

void run_strangers_note(struct run *run)
{
    if (!run->had_children) /* almost always */
        return;
    struct proc_tree tree;
    if (!proc_tree_read(&tree, &run->guard, 1))
        return;
    run->strangers = calloc(tree.count + 1, sizeof(*run->strangers));
    for (size_t i = 0; i < tree.count && run->strangers; i++)
        run->strangers[run->stranger_count++] = tree.procs[i].pid;
    proc_tree_free(&tree);
}

/* KILL to all that descends from us. False: there was nobody. */
static bool kill_pass(const struct run *run)
{
    struct proc_tree tree;
    if (!proc_tree_read(&tree, run->strangers, run->stranger_count)) {
        /* Its number is still COMMAND's: only we could wait for it, and we do not. */
        return run->command > 0 && kill(-run->command, SIGKILL) == 0;
    }
    bool anyone = proc_tree_signal(&tree, 0, 0, SIGKILL);
    proc_tree_free(&tree);
    return anyone;
}

void run_reap_orphans(struct run *run)
{
    /* It may be stopped, or hang. Whether it is dead yet makes no difference to those below. */
    kill(run->guard, SIGKILL);
    run->guard_died = true;

    bool said = false;
    long pause_ms = AGAIN_MIN_MS;
    /* Twice nobody: /proc is read process by process, and somebody may have been handed from
     * a dying parent to us between two looks. */
    for (int empty = 0; empty < 2;) {
        empty = kill_pass(run) ? 0 : empty + 1;
        if (empty == 0 && pause_ms == AGAIN_MAX_MS && !said &&
            redlock_validity_ms(run->lock) == 0) {
            said = true;
            cli_say(run->cli, "the lock has run out, and some of the command does not end on "
                              "KILL; waiting for it");
        }
        struct timespec pause = {.tv_sec = 0, .tv_nsec = pause_ms * 1000000L};
        (void)nanosleep(&pause, NULL);
        pause_ms = pause_ms * 2 > AGAIN_MAX_MS ? AGAIN_MAX_MS : pause_ms * 2;
    }
    (void)waitpid(run->guard, NULL, WNOHANG);
    run->guard = 0; /* where it hangs nobody waits for it */
}
