/* fork_check.c - see fork_check.h. */
#include "config_auto.h"

#include "base/fork_check.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

void rl_fork_check_init(struct rl_fork_check *ret_fork_check)
{
    size_t size = sizeof(*ret_fork_check->page); /* that is: a page */
    ret_fork_check->pid = getpid();
    ret_fork_check->page = NULL;
#ifdef MADV_WIPEONFORK
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return;
    if (madvise(page, size, MADV_WIPEONFORK) != 0) { /* before Linux 4.14 */
        munmap(page, size);
        return;
    }
    ret_fork_check->page = page;
    *ret_fork_check->page = ret_fork_check->pid;
#endif
}

void rl_fork_check_done(struct rl_fork_check *fork_check)
{
    if (fork_check->page)
        munmap((void *)fork_check->page, sizeof(*fork_check->page));
    fork_check->page = NULL;
}

bool rl_forked(const struct rl_fork_check *fork_check)
{
    return fork_check->page ? *fork_check->page != fork_check->pid
                            : getpid() != fork_check->pid;
}
