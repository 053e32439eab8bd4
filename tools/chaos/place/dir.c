/* dir.c - makes and removes the directory in which a run keeps node lists. */
#include "config_auto.h"

#include "chaos/place/dir.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPEN_MAX_AT_ONCE 8

bool chaos_dir_make(struct chaos_place *place, char *why, size_t why_size)
{
    const char *base = getenv("TMPDIR");
    if (base == NULL || *base == '\0')
        base = "/tmp";
    int len = snprintf(place->dir, sizeof(place->dir), "%s/redlock-chaos.XXXXXX", base);
    if (len > 0 && (size_t)len < sizeof(place->dir) && mkdtemp(place->dir) != NULL)
        return true;
    snprintf(why, why_size, "cannot make a directory below %.60s: %s", base,
             (size_t)len >= sizeof(place->dir) ? "its name is too long" : strerror(errno));
    place->dir[0] = '\0';
    return false;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    (void)type;
    (void)at;
    (void)remove(path);
    return 0;
}

void chaos_dir_remove(struct chaos_place *place)
{
    if (place->dir[0] != '\0')
        (void)nftw(place->dir, remove_entry, OPEN_MAX_AT_ONCE, FTW_DEPTH | FTW_PHYS);
    place->dir[0] = '\0';
}
