/* two_families.c - a name with an address of IPv6 and one of IPv4, for programs. LD_PRELOAD loads
 * it into them. "two.example" leads to ::1 and then to 127.0.0.1. */
#include "config_auto.h"

#include <dlfcn.h>
#include <netdb.h>
#include <string.h>

typedef int look_up_fn(const char *, const char *, const struct addrinfo *, struct addrinfo **);

__attribute__((visibility("default"))) int getaddrinfo(const char *node, const char *service,
                                                       const struct addrinfo *hints,
                                                       struct addrinfo **ret_found)
{
    look_up_fn *real;
    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    if (!node || strcmp(node, "two.example") != 0)
        return real(node, service, hints, ret_found);
    if (hints && (hints->ai_flags & AI_NUMERICHOST))
        return EAI_NONAME;
    struct addrinfo *first = NULL, **end = &first;
    int error = real("::1", service, hints, &first);
    while (*end)
        end = &(*end)->ai_next;
    if (error == 0)
        error = real("127.0.0.1", service, hints, end);
    *ret_found = first;
    return error;
}
