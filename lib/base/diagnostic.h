/* diagnostic.h - errors of an input: what is wrong, where, and what would be right. Core.
 *
 * The parsers of single values know an offset into their text, not a file: they fill in a problem.
 * A parser's caller knows the place of that text, and makes a redlock_error of the problem.
 */
#ifndef RL_DIAGNOSTIC_H
#define RL_DIAGNOSTIC_H

#include <redlock.h>

#define RL_PROBLEM_TEXT_MAX 448

struct rl_problem {
    size_t offset; /* into the text that was parsed */
    char text[RL_PROBLEM_TEXT_MAX];
};

/* Returns REDLOCK_ECONFIG, for `return rl_problem_set(...)`. */
int rl_problem_set(struct rl_problem *problem, size_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns REDLOCK_ENOMEM. */
int rl_problem_no_memory(struct rl_problem *problem);

/* Fill in `error` with `file:line:column: ` (as much of it as there is: NULL, 0, 0 leave
 * parts out) and the text. Returns `code`. */
int rl_error_set(redlock_error *error, int code, const char *file, int line, int column,
                 const char *format, ...) __attribute__((format(printf, 6, 7)));

#endif
