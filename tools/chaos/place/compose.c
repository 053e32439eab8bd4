/* compose.c - the place made of containers: the services of a compose file that publish port
 * 6379. If no container exists, they are started, and removed at the end. Running containers
 * are left as they were found. Faults are done to them in compose_faults.c. */
#include "config_auto.h"

#include "chaos/place/compose.h"
#include "chaos/place/dir.h"

#include "base/clock.h"
#include "config/config_load.h"

#include <stdlib.h>
#include <string.h>

#define UP_LIMIT_MS (10 * 60 * INT64_C(1000)) /* images may have to be pulled */
#define ANSWER_LIMIT_MS 30000                 /* until a master that was started answers */

/* ---- to have masters -------------------------------------------------------------------- */

/* The containers as they are; no service twice. */
static bool look_at_all(struct chaos_compose *compose, char *why, size_t why_size)
{
    if (!chaos_docker_look(compose, NULL, compose->container, REDLOCK_NODES_MAX,
                           &compose->count, why, why_size))
        return false;
    for (unsigned i = 1; i < compose->count; i++)
        if (strcmp(compose->container[i - 1].service, compose->container[i].service) == 0) {
            snprintf(why, why_size,
                     "service %s has several containers; a master is one, so scale it to 1",
                     compose->container[i].service);
            return false;
        }
    return true;
}

/* Containers that are no masters are ignored. */
static bool keep_masters(struct chaos_compose *compose, char *why, size_t why_size)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < compose->count; i++) {
        const struct chaos_container *container = &compose->container[i];
        if (container->running && !container->paused && container->port == 0)
            continue;
        if (!container->running || container->paused) {
            snprintf(why, why_size,
                     "the container of service %s is there but does not run; start it (or "
                     "\"down\" the project, to have it started here)",
                     container->service);
            return false;
        }
        compose->container[kept++] = *container;
    }
    compose->count = kept;
    if (kept == 0)
        snprintf(why, why_size, "no service of the compose file publishes its port 6379");
    return kept > 0;
}

static bool await_answers(const struct chaos_compose *compose, char *why, size_t why_size)
{
    int64_t limit_ns = rl_clock_now_ns() + ANSWER_LIMIT_MS * RL_NS_PER_MS;
    for (unsigned i = 0; i < compose->count; i++) {
        const struct chaos_container *container = &compose->container[i];
        while (!chaos_docker_answers(container, 200)) {
            if (chaos_pause_ms(50) && rl_clock_now_ns() < limit_ns)
                continue;
            snprintf(why, why_size, "%s does not answer PING at %s:%d", container->service,
                     container->host, container->port);
            return false;
        }
    }
    return true;
}

static bool down(const struct chaos_compose *compose)
{
    static const char *const words[] = {"down", "-v", "-t", "1", NULL};
    char why[200];
    if (chaos_docker_compose(compose, words, 0, false, NULL, 0, why, sizeof(why)))
        return true;
    fprintf(stderr, "redlock-chaos: the containers could not be removed: %s\n", why);
    return false;
}

/* The node list, as a user's would be read. */
static bool fill_in(struct chaos_place *place, char *why, size_t why_size)
{
    const struct chaos_compose *compose = chaos_compose_of(place);
    redlock_node node[REDLOCK_NODES_MAX];
    char url[REDLOCK_NODES_MAX][128];
    redlock_config from = REDLOCK_CONFIG_INIT;
    redlock_error error = REDLOCK_ERROR_INIT;
    for (unsigned i = 0; i < compose->count; i++) {
        const struct chaos_container *container = &compose->container[i];
        bool v6 = strchr(container->host, ':') != NULL;
        snprintf(url[i], sizeof(url[i]), "redis://%s%s%s:%d", v6 ? "[" : "", container->host,
                 v6 ? "]" : "", container->port);
        node[i] = (redlock_node)REDLOCK_NODE_INIT;
        node[i].url = url[i];
    }
    from.nodes = node;
    from.node_count = compose->count;
    from.max_ttl_ms = from.ttl_ms = place->options->ttl_ms;
    if (rl_config_load(&place->config, &from, NULL, NULL, &error) == 0)
        return true;
    snprintf(why, why_size, "%s", error.text);
    return false;
}

static bool have_masters(struct chaos_place *place, char *why, size_t why_size)
{
    static const char *const up[] = {"up", "-d", NULL};
    struct chaos_compose *compose = chaos_compose_of(place);
    if (!chaos_docker_find(compose, why, why_size) || !look_at_all(compose, why, why_size))
        return false;
    if (compose->count == 0) {
        fputs("redlock-chaos: starting the containers of the compose file\n", stderr);
        place->ours = true;
        if (!chaos_docker_compose(compose, up, UP_LIMIT_MS, true, NULL, 0, why, why_size) ||
            !look_at_all(compose, why, why_size))
            return false;
    }
    return keep_masters(compose, why, why_size) && await_answers(compose, why, why_size) &&
           fill_in(place, why, why_size) && chaos_dir_make(place, why, why_size);
}

static bool start(struct chaos_place *place, char *why, size_t why_size)
{
    struct chaos_compose *compose = calloc(1, sizeof(*compose));
    if (compose == NULL) {
        snprintf(why, why_size, "out of memory");
        return false;
    }
    compose->file = place->options->nodes_file;
    place->self = compose;
    if (have_masters(place, why, why_size))
        return true;
    if (place->ours)
        down(compose);
    rl_config_free(&place->config);
    free(compose);
    place->self = NULL;
    return false;
}

/* ---- the end ---------------------------------------------------------------------------- */

/* Faults that could not be undone are named, because the owner of such a master must learn of
 * it. */
static void end(struct chaos_place *place)
{
    struct chaos_compose *compose = chaos_compose_of(place);
    char why[200];
    for (unsigned i = 0; i < compose->count; i++)
        for (int kind = 0; kind < CHAOS_FAULT_KINDS; kind++)
            /* A container that is removed anyway must only be able to end. */
            if ((!place->ours || kind == CHAOS_FAULT_PAUSE) &&
                !chaos_compose_undo_kind(place, (enum chaos_fault_kind)kind, i, why,
                                         sizeof(why)))
                fprintf(stderr, "redlock-chaos: %s: %s could not be undone: %s\n",
                        compose->container[i].service,
                        chaos_fault_word((enum chaos_fault_kind)kind), why);
    if (place->ours)
        down(compose);
    chaos_dir_remove(place);
    rl_config_free(&place->config);
    free(compose);
    place->self = NULL;
}

const struct chaos_place_type chaos_place_compose = {
    .name = "compose",
    .start = start,
    .end = end,
    .never = chaos_compose_never,
    .cannot = chaos_compose_cannot,
    .inflict = chaos_compose_inflict,
    .undo = chaos_compose_undo,
};
