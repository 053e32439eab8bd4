/* signal_with_lock.c - a TERM that comes with the lock, for `redlock run`. LD_PRELOAD loads it into
 * the program: the first call that it makes once it has the lock is signalfd(2). The guard has all
 * signals blocked when it makes that call. */
#include "config_auto.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/signalfd.h>

typedef int signalfd_fn(int, const sigset_t *, int);

__attribute__((visibility("default"))) int signalfd(int fd, const sigset_t *mask, int flags)
{
    signalfd_fn *real;
    *(void **)&real = dlsym(RTLD_NEXT, "signalfd");
    (void)raise(SIGTERM);
    return real(fd, mask, flags);
}
