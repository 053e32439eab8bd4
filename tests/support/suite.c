/* suite.c - see suite.h. */
#include "config_auto.h"

#include "suite.h"

#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Where the program's directories live. Made by the runner before it forks the tests. */
static char root[SUITE_PATH_MAX - 8];

void suite_die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("test surroundings: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    abort();
}

int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void pause_ms(int64_t ms)
{
    struct timespec rest = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000};
    while (nanosleep(&rest, &rest) < 0 && errno == EINTR)
        continue;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
    (void)status;
    (void)type;
    (void)ftw;
    return remove(path);
}

void suite_remove_dir(const char *path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* A unix socket's path has 107 bytes: a long TMPDIR gives way to /tmp. */
static void make_root(void)
{
    const char *parent = getenv("TMPDIR");
    if (!parent || !*parent || strlen(parent) > 48)
        parent = "/tmp";
    snprintf(root, sizeof(root), "%s/rl-test-XXXXXX", parent);
    if (!mkdtemp(root))
        suite_die("mkdtemp %s: %s", root, strerror(errno));
}

void suite_new_dir(char *ret_path)
{
    snprintf(ret_path, SUITE_PATH_MAX, "%s/XXXXXX", root);
    if (!mkdtemp(ret_path))
        suite_die("mkdtemp %s: %s", ret_path, strerror(errno));
}

int suite_run(Suite *suite)
{
    make_root();
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    suite_remove_dir(root);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
