/* names.c - loaded before all else: host names are looked up in the file $LAB_HOSTS, as in
 * /etc/hosts, anew each time. A host of the lab that has no address is not known. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int look_up(const char *, const char *, const struct addrinfo *, struct addrinfo **);

static int is_of_lab(const char *name)
{
    size_t len = name ? strlen(name) : 0;
    return len > 4 && strcmp(name + len - 4, ".lab") == 0;
}

static int find(const char *name, char address[64])
{
    const char *path = getenv("LAB_HOSTS");
    FILE *file = path ? fopen(path, "re") : NULL;
    char line[256], known[128];
    int found = 0;
    while (file && !found && fgets(line, sizeof(line), file))
        found = sscanf(line, "%63s %127s", address, known) == 2 && strcmp(known, name) == 0;
    if (file)
        fclose(file);
    return found;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **ret_list)
{
    look_up *next;
    char address[64];
    void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");
    memcpy(&next, &symbol, sizeof(next));
    if (!is_of_lab(name) || (hints && (hints->ai_flags & AI_NUMERICHOST)))
        return next(name, service, hints, ret_list);
    return find(name, address) ? next(address, service, hints, ret_list) : EAI_NONAME;
}
