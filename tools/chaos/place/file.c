/* file.c - the masters of a user's node list. Only commands that the user agreed to are done to
 * the masters. All other faults hit the paths to them, and contenders. */
#include "config_auto.h"

#include "chaos/place/dir.h"

#include "config/config_load.h"

#include <stdio.h>

static bool start_file(struct chaos_place *place, char *why, size_t why_size)
{
    redlock_config from = REDLOCK_CONFIG_INIT;
    redlock_error error = REDLOCK_ERROR_INIT;
    from.file = place->options->nodes_file;
    if (rl_config_load(&place->config, &from, NULL, NULL, &error) != 0) {
        snprintf(why, why_size, "%s", error.text);
        return false;
    }
    if (place->options->ttl_ms > place->config.max_ttl_ms) {
        snprintf(why, why_size, "--ttl is longer than the max-ttl of %s; give a shorter one",
                 place->config.file);
        rl_config_free(&place->config);
        return false;
    }
    if (!chaos_dir_make(place, why, why_size)) {
        rl_config_free(&place->config);
        return false;
    }
    return true;
}

static void end_file(struct chaos_place *place)
{
    chaos_dir_remove(place);
    rl_config_free(&place->config);
}

static const char *never_file(enum chaos_fault_kind kind)
{
    (void)kind;
    return "the masters of a node list are not ours to signal; use --local or --compose";
}

static const char *cannot_file(const struct chaos_place *place, enum chaos_fault_kind kind)
{
    (void)place;
    return never_file(kind);
}

static bool not_here(struct chaos_place *place, const struct chaos_fault *fault, unsigned node,
                     char *why, size_t why_size)
{
    (void)place;
    (void)fault;
    (void)node;
    snprintf(why, why_size, "not here");
    return false;
}

const struct chaos_place_type chaos_place_file = {
    "file", start_file, end_file, never_file, cannot_file, not_here, not_here, NULL,
};
