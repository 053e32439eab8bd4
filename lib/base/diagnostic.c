/* diagnostic.c - see diagnostic.h. Core. */
#include "config_auto.h"

#include "base/text_escape.h"
#include "base/diagnostic.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a file's name that a message shows, so that the rest of it has room. */
#define FILE_SHOWN 160

int rl_problem_set(struct rl_problem *problem, size_t offset, const char *format, ...)
{
    problem->offset = offset;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem->text, sizeof(problem->text), format, arguments);
    va_end(arguments);
    assert(problem->text[0]);
    return REDLOCK_ECONFIG;
}

int rl_problem_no_memory(struct rl_problem *problem)
{
    rl_problem_set(problem, 0, "%s", redlock_strerror(REDLOCK_ENOMEM));
    return REDLOCK_ENOMEM;
}

/* The end of a long path says more than its beginning. */
static void show_file(const char *file, char ret_shown[FILE_SHOWN + 4])
{
    size_t len = strlen(file);
    size_t start = len > FILE_SHOWN ? len - FILE_SHOWN : 0;
    size_t dots = start > 0 ? 3 : 0;
    memcpy(ret_shown, "...", dots);
    rl_text_escape(ret_shown + dots, FILE_SHOWN + 4 - dots, file + start, len - start);
}

int rl_error_set(redlock_error *error, int code, const char *file, int line, int column,
                 const char *format, ...)
{
    assert(code < 0 && line >= 0 && column >= 0);
    error->code = code;
    error->line = line;
    error->column = column;
    char *text = error->text;
    size_t room = sizeof(error->text);
    if (file) {
        char shown[FILE_SHOWN + 4];
        show_file(file, shown);
        int len = line > 0 ? snprintf(text, room, "%s:%d:%d: ", shown, line, column)
                           : snprintf(text, room, "%s: ", shown);
        assert(len > 0 && (size_t)len < room);
        text += len;
        room -= (size_t)len;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, room, format, arguments);
    va_end(arguments);
    return code;
}
