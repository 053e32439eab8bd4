/* compose.c - the place made of containers: the services of a compose file that publish port
 * 6379. If no container exists, they are started, and removed at the end. Running containers
 * are left as they were found. */
#include "config_auto.h"

#include "chaos/place/compose.h"
#include "chaos/place/dir.h"

#include "base/clock.h"
#include "config/config_load.h"

#include <stdlib.h>
#include <string.h>

#define UP_LIMIT_MS (10 * 60 * INT64_C(1000)) /* images may have to be pulled */
#define ANSWER_LIMIT_MS 30000                 /* until a master that was started answers */
#define STOPPED_LIMIT_MS 10000

static struct chaos_compose *self(const struct chaos_place *place)
{
    return place->self;
}

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
    const struct chaos_compose *compose = self(place);
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
    struct chaos_compose *compose = self(place);
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

/* ---- faults ----------------------------------------------------------------------------- */

static const char *never(enum chaos_fault_kind kind)
{
    switch (kind) {
    case CHAOS_FAULT_KILL_RDB:
        return "the containers are started as their file says";
    case CHAOS_FAULT_CLOCK:
    case CHAOS_FAULT_CLOCK_BACK:
        return "containers have no clock of their own";
    default:
        return NULL;
    }
}

static const char *cannot(const struct chaos_place *place, enum chaos_fault_kind kind)
{
    if (kind == CHAOS_FAULT_KILL && !place->ours)
        return "the containers' volumes are not ours to delete";
    return never(kind);
}

/* `docker VERB ID`. Compose would do the same, but takes ten times as long to start. */
static bool tell(const struct chaos_container *container, const char *verb, char *why,
                 size_t why_size)
{
    const char *words[] = {verb, container->id, NULL};
    return chaos_docker(words, NULL, 0, why, why_size);
}

/* The container has ended, which "kill" does not wait for. */
static bool await_stopped(const struct chaos_container *container, char *why, size_t why_size)
{
    const char *words[] = {"inspect", "-f", "{{.State.Running}}", container->id, NULL};
    int64_t limit_ns = rl_clock_now_ns() + STOPPED_LIMIT_MS * RL_NS_PER_MS;
    char said[16] = "";
    for (;;) {
        if (!chaos_docker(words, said, sizeof(said), why, why_size))
            return false;
        if (strncmp(said, "false", 5) == 0)
            return true;
        if (rl_clock_now_ns() > limit_ns) {
            snprintf(why, why_size, "%s still runs", container->service);
            return false;
        }
        (void)chaos_pause_ms(10);
    }
}

/* Out of its networks, or into them again as it was. */
static bool connect_all(const struct chaos_container *container, bool connected, char *why,
                        size_t why_size)
{
    char networks[sizeof(container->networks)], *state = NULL;
    memcpy(networks, container->networks, sizeof(networks));
    char *network = strtok_r(networks, " ", &state);
    for (; network != NULL; network = strtok_r(NULL, " ", &state)) {
        const char *words[24] = {"network", connected ? "connect" : "disconnect"};
        char *alias_state = NULL, *name = strtok_r(network, "=", &alias_state), *alias;
        unsigned count = 2;
        while (connected && count < 18 && (alias = strtok_r(NULL, "=", &alias_state)) != NULL) {
            if (strncmp(alias, container->id, strlen(alias)) == 0)
                continue; /* docker gives that one by itself */
            words[count++] = "--alias";
            words[count++] = alias;
        }
        words[count++] = name;
        words[count++] = container->id;
        if (!chaos_docker(words, NULL, 0, why, why_size))
            return false;
    }
    return true;
}

/* A new container on a new volume: it has forgotten everything. */
static bool renew(struct chaos_place *place, struct chaos_container *container, char *why,
                  size_t why_size)
{
    const char *rm[] = {"rm", "-f", "-v", container->id, NULL};
    const char *up[] = {"up", "-d", "--no-deps", container->service, NULL};
    char volumes[sizeof(container->volumes)], *state = NULL;
    memcpy(volumes, container->volumes, sizeof(volumes));
    if (!chaos_docker(rm, NULL, 0, why, why_size))
        return false;
    char *volume = strtok_r(volumes, " ", &state);
    for (; volume != NULL; volume = strtok_r(NULL, " ", &state)) {
        const char *words[] = {"volume", "rm", "-f", volume, NULL};
        if (!chaos_docker(words, NULL, 0, why, why_size))
            return false;
    }
    struct chaos_container found;
    unsigned count = 0;
    if (!chaos_docker_compose(self(place), up, 0, false, NULL, 0, why, why_size) ||
        !chaos_docker_look(self(place), container->service, &found, 1, &count, why, why_size))
        return false;
    if (count != 1) {
        snprintf(why, why_size, "%s has no container any more", container->service);
        return false;
    }
    found.on = container->on;
    *container = found;
    return true;
}

static bool inflict(struct chaos_place *place, const struct chaos_fault *fault, unsigned node,
                    char *why, size_t why_size)
{
    struct chaos_container *container = &self(place)->container[node];
    container->on |= CHAOS_BIT(fault->kind); /* first: a half-done fault is undone too */
    switch (fault->kind) {
    case CHAOS_FAULT_KILL:
    case CHAOS_FAULT_KILL_AOF:
        return tell(container, "kill", why, why_size) &&
               await_stopped(container, why, why_size);
    case CHAOS_FAULT_PAUSE:
        return tell(container, "pause", why, why_size);
    case CHAOS_FAULT_DISCONNECT:
        return connect_all(container, false, why, why_size);
    default:
        snprintf(why, why_size, "that is not done to containers");
        return false;
    }
}

/* Does it run, in all the networks in which it was found? */
static bool is_well(const struct chaos_place *place, const struct chaos_container *container)
{
    struct chaos_container found;
    char why[200], networks[sizeof(container->networks)], *state = NULL;
    unsigned count = 0;
    if (!chaos_docker_look(self(place), container->service, &found, 1, &count, why,
                           sizeof(why)) ||
        count != 1 || !found.running || found.paused)
        return false;
    memcpy(networks, container->networks, sizeof(networks));
    char *network = strtok_r(networks, " ", &state);
    for (; network != NULL; network = strtok_r(NULL, " ", &state)) {
        network[strcspn(network, "=")] = '\0';
        if (strstr(found.networks, network) == NULL)
            return false;
    }
    return true;
}

static bool undo_one(struct chaos_place *place, enum chaos_fault_kind kind, unsigned node,
                     char *why, size_t why_size)
{
    struct chaos_container *container = &self(place)->container[node];
    bool fine = true;
    if ((container->on & CHAOS_BIT(kind)) == 0)
        return true;
    if (kind == CHAOS_FAULT_KILL)
        fine = renew(place, container, why, why_size);
    else if (kind == CHAOS_FAULT_KILL_AOF)
        fine = tell(container, "start", why, why_size);
    else if (kind == CHAOS_FAULT_PAUSE)
        fine = tell(container, "unpause", why, why_size);
    else if (kind == CHAOS_FAULT_DISCONNECT)
        fine = connect_all(container, true, why, why_size);
    /* If the fault was only half done, or somebody undid it, there is nothing to do. */
    if (!fine && !is_well(place, container))
        return false;
    container->on &= ~CHAOS_BIT(kind);
    return true;
}

static bool undo(struct chaos_place *place, const struct chaos_fault *fault, unsigned node,
                 char *why, size_t why_size)
{
    return undo_one(place, fault->kind, node, why, why_size);
}

/* ---- the end ---------------------------------------------------------------------------- */

/* Faults that could not be undone are named, because the owner of such a master must learn of
 * it. */
static void end(struct chaos_place *place)
{
    struct chaos_compose *compose = self(place);
    char why[200];
    for (unsigned i = 0; i < compose->count; i++)
        for (int kind = 0; kind < CHAOS_FAULT_KINDS; kind++)
            /* A container that is removed anyway must only be able to end. */
            if ((!place->ours || kind == CHAOS_FAULT_PAUSE) &&
                !undo_one(place, (enum chaos_fault_kind)kind, i, why, sizeof(why)))
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
    .never = never,
    .cannot = cannot,
    .inflict = inflict,
    .undo = undo,
};
