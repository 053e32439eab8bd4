/* hiredis_reader.c - whose functions the process has bound to hiredis's names. */
#include "net/hiredis_reader.h"
#include "net/resp.h"

#ifdef HIDDEN_HIREDIS

bool rl_reader_is_ours(char *why, size_t size)
{
    (void)why, (void)size; /* it is a part of this object */
    return true;
}

#else

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* A later libhiredis.so.1.2.0 of the soname libhiredis.so.1.2 is the same library. */
static bool is_named_so(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t len = sizeof(SHARED_HIREDIS) - 1;
    return strncmp(name, SHARED_HIREDIS, len) == 0 && (!name[len] || name[len] == '.');
}

/* ISO C has no conversion from a function to void *. */
#define ADDRESS_OF(function) (*(void *const *)&(__typeof__(&(function))){&(function)})

bool rl_reader_is_ours(char *why, size_t size)
{
    const void *const used[] = {
        ADDRESS_OF(redisReaderCreateWithFunctions), ADDRESS_OF(redisReaderFree),
        ADDRESS_OF(redisReaderFeed), ADDRESS_OF(redisReaderGetReply)};
    for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++) {
        Dl_info info;
        const char *path = dladdr(used[i], &info) && info.dli_fname ? info.dli_fname : "?";
        if (!is_named_so(path)) {
            snprintf(why, size,
                     "this process has bound another hiredis, of %s, than the %s that libredlock "
                     "was built for; use a libredlock that was built without "
                     "--with-shared-hiredis",
                     path, SHARED_HIREDIS);
            return false;
        }
    }
    return true;
}

#endif
