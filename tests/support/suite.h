/* suite.h - what every test program does: name its tests, run them inside one private directory,
 * and wait for conditions. The runner removes the directory even where a test crashed. */
#ifndef TEST_SUITE_H
#define TEST_SUITE_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* TEST(group, name) { ... }: a test, which registers itself before main() begins. What differs
 * from a plain one follows: TEST(group, name, .rows = ROWS(table)). `_i` is the number of the
 * row. ALSO(group, name, ...) plays a test once more, in another group or with other rows. */
struct suite_test {
    const char *group;
    const TTest *const *test;
    int first, rows; /* the rows from `first` until `rows`; 0: one */
    int signal;      /* that ends the test, as it must; 0: none does */
    struct suite_test *next;
};
void suite_add_test(struct suite_test *test);

#define ROWS(table) ((int)(sizeof(table) / sizeof((table)[0])))

#define TEST(group, name, ...)                                                                 \
    static const TTest *name;                                                                  \
    SUITE_TEST_(#group, name, name##_registered, __VA_ARGS__)                                  \
    START_TEST(name)
#define ALSO(group, name, ...) ALSO_AT_(__LINE__, #group, name, __VA_ARGS__)
#define ALSO_AT_(line, group, name, ...) ALSO_NAMED_(line, group, name, __VA_ARGS__)
#define ALSO_NAMED_(line, group, name, ...)                                                    \
    SUITE_TEST_(group, name, also_##line##_##name, __VA_ARGS__)
#define SUITE_TEST_(group_, name_, registered_, ...)                                           \
    __attribute__((constructor)) static void registered_(void)                                 \
    {                                                                                          \
        static struct suite_test test;                                                         \
        test = (struct suite_test){.group = group_, .test = &name_, __VA_ARGS__};              \
        suite_add_test(&test);                                                                 \
    }

/* CASE(group, .timeout_s = 60, ...): what the tests of a group have in common. A group needs one
 * only for that. */
struct suite_case {
    const char *group;
    double timeout_s;                                   /* of each test; 0: Check's */
    void (*set_up)(void), (*tear_down)(void);           /* around each test, in its process */
    void (*set_up_once)(void), (*tear_down_once)(void); /* around the group, in the runner */
    const char *again; /* the tests of that group are played in this one, too */
    struct suite_case *next;
};
void suite_add_case(struct suite_case *group);

#define CASE(group_, ...)                                                                      \
    static struct suite_case group_##_case = {.group = #group_, __VA_ARGS__};                  \
    __attribute__((constructor)) static void group_##_case_registered(void)                    \
    {                                                                                          \
        suite_add_case(&group_##_case);                                                        \
    }

/* Play what was registered: the exit status of a test program. Only a program that has to do
 * something before has a main() of its own. */
int suite_main(void);

/* Have `stop(what)` called when the test has ended and its group's tear_down() is over, the last
 * one first. What is set up once for a group is not stopped by this. */
void suite_at_end(void (*stop)(void *what), void *what);
void suite_forget(const void *what); /* it is stopped already */

/* Have `close()` called at the end of the block. A macro in capitals does that with what it opens,
 * OPEN_CLIENTS(3, NULL): so where the test ends is where it is closed. */
#define AT_BLOCK_END(close)                                                                    \
    __attribute__((cleanup(suite_call), unused)) void (*const at_end_of_block)(void) = close
void suite_call(void (*const *function)(void));

/* A new directory (mode 0700) inside the program's own; `ret_path` has SUITE_PATH_MAX bytes. */
#define SUITE_PATH_MAX 80
void suite_new_dir(char *ret_path);

/* Delete a directory and all that is in it. */
void suite_remove_dir(const char *path);

/* The path of a file of the build tree, such as "bin/server_clock.so". Tests are run in its top, or
 * are two folders below it. */
void suite_find_built(const char *file, char *ret_path, size_t size);

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
