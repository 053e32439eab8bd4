/* stepped.c - see stepped.h. */
#include "config_auto.h"

#include "stepped.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct masters *masters_start_stepped(unsigned n, volatile int64_t **ret_step_ns)
{
    char dir[SUITE_PATH_MAX], path[SUITE_PATH_MAX + 8], self[512], preload[600];
    suite_new_dir(dir);
    snprintf(path, sizeof(path), "%s/step", dir);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (fd < 0 || ftruncate(fd, sizeof(int64_t)) != 0 || len < 0)
        suite_die("no clock: %s", strerror(errno));
    self[len] = '\0';
    *strrchr(self, '/') = '\0';
    snprintf(preload, sizeof(preload), "%s/../../bin/server_clock.so", self);
    if (access(preload, R_OK) != 0)
        suite_die("%s is not built", preload);
    *ret_step_ns = mmap(NULL, sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    setenv("SERVER_CLOCK", path, 1);
    setenv("LD_PRELOAD", preload, 1);
    struct masters *stepped = masters_start(n, NULL);
    unsetenv("LD_PRELOAD");
    return stepped;
}
