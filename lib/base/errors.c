/* errors.c - names and texts of the error codes, from the one list in redlock.h. Core. */
#include "config_auto.h"

#include <redlock.h>

const char *redlock_strerror(int code)
{
    switch (code) {
    case REDLOCK_OK:
        return "success";
#define TEXT(name, value, text)                                                                \
    case value:                                                                                \
        return text;
        REDLOCK_ERRORS(TEXT)
#undef TEXT
    default:
        return "unknown error code";
    }
}

const char *redlock_err_name(int code)
{
    switch (code) {
    case REDLOCK_OK:
        return "REDLOCK_OK";
#define NAME(name, value, text)                                                                \
    case value:                                                                                \
        return "REDLOCK_" #name;
        REDLOCK_ERRORS(NAME)
#undef NAME
    default:
        return "REDLOCK_?";
    }
}
