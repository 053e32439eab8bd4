/* stepped.c - see stepped.h. */
#include "config_auto.h"

#include "stepped.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char preload[PATH_MAX + 32];

void master_restart_stepped(struct masters *masters, unsigned node, bool empty)
{
    setenv("LD_PRELOAD", preload, 1);
    master_restart(masters, node, empty);
    unsetenv("LD_PRELOAD");
}

struct masters *masters_start_stepped(unsigned n, volatile int64_t **ret_step_ns)
{
    char dir[SUITE_PATH_MAX], path[SUITE_PATH_MAX + 8];
    suite_new_dir(dir);
    snprintf(path, sizeof(path), "%s/step", dir);
    suite_find_built("bin/server_clock.so", preload, sizeof(preload));
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(int64_t)) != 0)
        suite_die("no clock: %s", strerror(errno));
    *ret_step_ns = mmap(NULL, sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    setenv("SERVER_CLOCK", path, 1);
    setenv("LD_PRELOAD", preload, 1);
    struct masters *stepped = masters_start(n, NULL);
    unsetenv("LD_PRELOAD");
    return stepped;
}
