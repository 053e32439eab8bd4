/* run_terminate.c - see run_terminate.h. */
#include "config_auto.h"

#include "redlock/run_terminate.h"

#include "redlock/cli.h"
#include "redlock/proc_tree.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define KILL_AGAIN_MIN_NS (5 * RL_NS_PER_MS)
#define KILL_AGAIN_MAX_NS (200 * RL_NS_PER_MS)

void guard_tell(const struct guard *guard, enum guard_news_kind kind, int value)
{
    if (guard->control_fd < 0)
        return;
    struct guard_news news;
    memset(&news, 0, sizeof(news));
    news.kind = (int)kind;
    news.value = value;
    news.why = (int)guard->why;
    news.pid = guard->command;
    news.at_ns = guard->ended_at_ns;
    snprintf(news.call, sizeof(news.call), "%s", guard->refused ? guard->refused : "");
    /* Never wait for run: it may be stopped. Lost news cost it words, and the deadline none. */
    (void)send(guard->control_fd, &news, sizeof(news), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Where COMMAND ended by itself only its group is our business, else everything below us. */
static pid_t scope_of(const struct guard *guard)
{
    bool by_itself = guard->why == GUARD_WHY_NOTHING || guard->why == GUARD_WHY_LEFTOVERS;
    return by_itself && !guard->descendants ? guard->command : 0;
}

/* Where the tree can't be read there may be somebody. */
static bool seen(const struct guard *guard)
{
    struct proc_tree tree;
    if (!proc_tree_read(&tree, NULL, 0))
        return true;
    bool anyone = proc_tree_signal(&tree, scope_of(guard), 0, 0);
    proc_tree_free(&tree);
    return anyone;
}

/* Without a child there is no descendant, because orphans come to us. Which group they are in
 * only /proc can tell; it is read process by process, and one that is handed from a dying
 * parent to us meanwhile may be missed: twice nobody is nobody. */
static bool has_child(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

void guard_tell_left(const struct guard *guard)
{
    struct proc_tree tree;
    if (!has_child() || !proc_tree_read(&tree, NULL, 0))
        return;
    for (size_t i = 0; i < tree.count; i++)
        guard_tell(guard, GUARD_LEFT, tree.procs[i].pid);
    proc_tree_free(&tree);
}

bool guard_anyone_left(const struct guard *guard)
{
    if (!has_child())
        return false;
    return scope_of(guard) == 0 || seen(guard) || seen(guard);
}

/* Signal the group `scope`, 0: everything below us. COMMAND's group is signaled as one, so
 * that nothing it forks meanwhile is missed, for as long as its number is certain to be its
 * own: until COMMAND was waited for. */
void guard_signal(const struct guard *guard, pid_t scope, int number)
{
    pid_t done = 0;
    if (!guard->ended) {
        kill(-guard->command, number);
        done = guard->command;
    }
    struct proc_tree tree;
    if ((done != 0 && done == scope) || !proc_tree_read(&tree, NULL, 0))
        return;
    (void)proc_tree_signal(&tree, scope, done, number);
    proc_tree_free(&tree);
}

/* KILL, and again in a while: something may have been forked past us, or hang in the kernel. */
void guard_kill(struct guard *guard)
{
    guard->again_ns =
        guard->phase == GUARD_PHASE_KILLING ? guard->again_ns * 2 : KILL_AGAIN_MIN_NS;
    if (guard->again_ns > KILL_AGAIN_MAX_NS)
        guard->again_ns = KILL_AGAIN_MAX_NS;
    guard->phase = GUARD_PHASE_KILLING;
    guard->again_at_ns = rl_clock_steady_ns(&guard->clock) + guard->again_ns;
    guard_signal(guard, scope_of(guard), SIGKILL);
}

/* TERM now and KILL later; with no time for that, KILL. A stopped COMMAND is continued so
 * that it can act on its TERM. */
void guard_terminate(struct guard *guard, enum guard_why why)
{
    assert(guard->phase == GUARD_PHASE_RUNNING);
    int64_t now_ns = rl_clock_steady_ns(&guard->clock);
    int64_t latest_ns = guard->deadline_ns - guard->start.times.margin_ns;
    guard->why = why;
    guard->kill_at_ns = now_ns + guard->start.times.grace_ns;
    if (guard->kill_at_ns > latest_ns)
        guard->kill_at_ns = latest_ns;
    guard_tell(guard, GUARD_TERMINATING, (int)why);
    if (why == GUARD_WHY_LOST || guard->kill_at_ns <= now_ns) {
        guard_kill(guard);
        return;
    }
    guard->phase = GUARD_PHASE_TERMINATING;
    guard_signal(guard, scope_of(guard), SIGTERM);
    guard_signal(guard, scope_of(guard), SIGCONT);
}

int64_t guard_terminate_at_ns(const struct guard *guard)
{
    const struct guard_times *times = &guard->start.times;
    return guard->deadline_ns -
           (times->grace_ns > times->margin_ns ? times->grace_ns : times->margin_ns);
}
