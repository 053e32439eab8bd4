/* fork_check.c - see fork_check.h. */
#include "config_auto.h"

#include "base/fork_check.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

void rl_born_here(struct rl_born *ret_born)
{
    size_t size = sizeof(*ret_born->page); /* that is: a page */
    ret_born->pid = getpid();
    ret_born->page = NULL;
#ifdef MADV_WIPEONFORK
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return;
    if (madvise(page, size, MADV_WIPEONFORK) != 0) { /* before Linux 4.14 */
        munmap(page, size);
        return;
    }
    ret_born->page = page;
    *ret_born->page = ret_born->pid;
#endif
}

void rl_born_done(struct rl_born *born)
{
    if (born->page)
        munmap((void *)born->page, sizeof(*born->page));
    born->page = NULL;
}

bool rl_born_elsewhere(const struct rl_born *born)
{
    return born->page ? *born->page != born->pid : getpid() != born->pid;
}
