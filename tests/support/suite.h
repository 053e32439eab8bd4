/* suite.h - what every test program does: run a Check suite inside one private directory, and
 * wait for conditions. The runner removes the directory even where a test crashed. */
#ifndef TEST_SUITE_H
#define TEST_SUITE_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The whole of a test program's main(): its exit status. */
int suite_run(Suite *suite);

/* A new directory (mode 0700) inside the program's own; `ret_path` has SUITE_PATH_MAX bytes. */
#define SUITE_PATH_MAX 80
void suite_new_dir(char *ret_path);

/* Delete a directory and all that is in it. */
void suite_remove_dir(const char *path);

/* End the program: the test's own surroundings failed, not what it tests. */
_Noreturn void suite_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

int64_t now_ms(void); /* monotonic */
void pause_ms(int64_t ms);

/* Poll `condition` until it is true or `limit_ms` have passed: its last value. */
#define wait_until(condition, limit_ms)                                                        \
    ({                                                                                         \
        int64_t wait_end_ = now_ms() + (limit_ms);                                             \
        bool wait_met_;                                                                        \
        while (!(wait_met_ = (condition)) && now_ms() < wait_end_)                             \
            pause_ms(2);                                                                       \
        wait_met_;                                                                             \
    })

#endif
