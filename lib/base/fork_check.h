/* fork_check.h - was this made here, or is this a child that fork() copied it into? Told by a
 * page of memory that the kernel wipes in children, where there is such a thing, because
 * getpid() is a system call, and redlock_validity_ms() is asked before every effect. */
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
