/* fork_check.h - was this object made in this process, or did fork() copy it into a child? If
 * possible, the answer is in a page of memory that the kernel wipes in children. getpid() would
 * cost a system call at each redlock_validity_ms(), which users call before every effect. */
#ifndef RL_FORK_CHECK_H
#define RL_FORK_CHECK_H

#include <stdbool.h>
#include <sys/types.h>

struct rl_fork_check {
    pid_t pid;
    volatile pid_t *page; /* holds the pid; 0 in a child; NULL: there is no such page */
};

void rl_fork_check_init(struct rl_fork_check *ret_fork_check);
void rl_fork_check_done(struct rl_fork_check *fork_check);
bool rl_forked(const struct rl_fork_check *fork_check);

#endif
