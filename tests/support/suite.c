/* suite.c - see suite.h. */
#include "config_auto.h"

#include "suite.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
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

void suite_find_built(const char *file, char *ret_path, size_t size)
{
    char self[PATH_MAX];
    if (realpath(file, self)) {
        snprintf(ret_path, size, "%s", self);
        return;
    }
    ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (len < 0)
        suite_die("no path of this program: %s", strerror(errno));
    self[len] = '\0';
    *strrchr(self, '/') = '\0';
    snprintf(ret_path, size, "%s/../../%s", self, file);
    if (access(ret_path, R_OK) != 0)
        suite_die("%s is not built", ret_path);
}

void suite_new_dir(char *ret_path)
{
    snprintf(ret_path, SUITE_PATH_MAX, "%s/XXXXXX", root);
    if (!mkdtemp(ret_path))
        suite_die("mkdtemp %s: %s", ret_path, strerror(errno));
}

/* ---- what ends with the test ------------------------------------------------------------- */

struct at_end {
    void (*stop)(void *what);
    void *what;
    struct at_end *before;
};

static struct at_end *last, *last_of_group; /* what is there when a test begins is its group's */

void suite_at_end(void (*stop)(void *what), void *what)
{
    struct at_end *new = malloc(sizeof(*new));
    if (!new)
        suite_die("out of memory");
    *new = (struct at_end){.stop = stop, .what = what, .before = last};
    last = new;
}

void suite_forget(const void *what)
{
    struct at_end **link = &last;
    while (*link && (*link)->what != what)
        link = &(*link)->before;
    struct at_end *found = *link;
    if (found)
        *link = found->before;
    free(found);
}

static void begin_test(void)
{
    last_of_group = last;
}

static void end_test(void)
{
    while (last != last_of_group) {
        struct at_end *ended = last;
        last = ended->before;
        ended->stop(ended->what);
        free(ended);
    }
}

void suite_call(void (*const *function)(void))
{
    (*function)();
}

/* ---- what was registered ---------------------------------------------------------------- */

static struct suite_test *tests, **tests_end = &tests;
static struct suite_case *cases, **cases_end = &cases;

void suite_add_test(struct suite_test *test)
{
    *tests_end = test;
    tests_end = &test->next;
}

void suite_add_case(struct suite_case *group)
{
    *cases_end = group;
    cases_end = &group->next;
}

static const struct suite_case *case_of(const char *group)
{
    const struct suite_case *found = cases;
    while (found && strcmp(found->group, group) != 0)
        found = found->next;
    return found;
}

static void add_tests(TCase *tcase, const char *group)
{
    for (const struct suite_test *test = tests; test; test = test->next)
        if (strcmp(test->group, group) == 0)
            tcase_add_loop_test_raise_signal(tcase, *test->test, test->signal, test->first,
                                             test->rows ? test->rows : 1);
}

static TCase *new_tcase(const char *group)
{
    TCase *tcase = tcase_create(group);
    add_tests(tcase, group);
    tcase_add_checked_fixture(tcase, begin_test, end_test);
    const struct suite_case *common = case_of(group);
    if (!common)
        return tcase;
    if (common->timeout_s > 0)
        tcase_set_timeout(tcase, common->timeout_s);
    if (common->set_up_once || common->tear_down_once)
        tcase_add_unchecked_fixture(tcase, common->set_up_once, common->tear_down_once);
    if (common->set_up || common->tear_down)
        tcase_add_checked_fixture(tcase, common->set_up, common->tear_down);
    if (common->again)
        add_tests(tcase, common->again);
    return tcase;
}

static const struct suite_test *first_of(const char *group)
{
    const struct suite_test *first = tests;
    while (first && strcmp(first->group, group) != 0)
        first = first->next;
    return first;
}

static Suite *make_suite(void)
{
    Suite *suite = suite_create(program_invocation_short_name);
    if (!tests)
        suite_die("no test has registered itself: is this main() the program's?");
    for (const struct suite_test *test = tests; test; test = test->next)
        if (test == first_of(test->group))
            suite_add_tcase(suite, new_tcase(test->group));
    for (const struct suite_case *group = cases; group; group = group->next) {
        if (!first_of(group->again ? group->again : group->group))
            suite_die("no test is of the group %s", group->group);
        if (!first_of(group->group))
            suite_add_tcase(suite, new_tcase(group->group));
    }
    return suite;
}

int suite_main(void)
{
    make_root();
    SRunner *runner = srunner_create(make_suite());
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    suite_remove_dir(root);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
