/* compose_faults.c - faults done to containers, and undone: killed, paused, out of their
 * networks. */
#include "config_auto.h"

#include "chaos/place/compose.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

#define STOPPED_LIMIT_MS 10000

const char *chaos_compose_never(enum chaos_fault_kind kind)
{
    switch (kind) {
    case CHAOS_FAULT_KILL_RDB:
        return "the containers are started as their file says";
    case CHAOS_FAULT_CLOCK:
    case CHAOS_FAULT_CLOCK_BACK:
        return "containers have no clock of their own";
    case CHAOS_FAULT_WARM:
        return "there are no spare containers; --local has spare masters";
    default:
        return NULL;
    }
}

const char *chaos_compose_cannot(const struct chaos_place *place, enum chaos_fault_kind kind)
{
    if (kind == CHAOS_FAULT_KILL && !place->ours)
        return "the containers' volumes are not ours to delete";
    return chaos_compose_never(kind);
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
    if (!chaos_docker_compose(chaos_compose_of(place), up, 0, false, NULL, 0, why, why_size) ||
        !chaos_docker_look(chaos_compose_of(place), container->service, &found, 1, &count, why,
                           why_size))
        return false;
    if (count != 1) {
        snprintf(why, why_size, "%s has no container any more", container->service);
        return false;
    }
    found.on = container->on;
    *container = found;
    return true;
}

bool chaos_compose_inflict(struct chaos_place *place, const struct chaos_fault *fault,
                           unsigned node, char *why, size_t why_size)
{
    struct chaos_container *container = &chaos_compose_of(place)->container[node];
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
    if (!chaos_docker_look(chaos_compose_of(place), container->service, &found, 1, &count, why,
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

bool chaos_compose_undo_kind(struct chaos_place *place, enum chaos_fault_kind kind,
                             unsigned node, char *why, size_t why_size)
{
    struct chaos_container *container = &chaos_compose_of(place)->container[node];
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

bool chaos_compose_undo(struct chaos_place *place, const struct chaos_fault *fault,
                        unsigned node, char *why, size_t why_size)
{
    return chaos_compose_undo_kind(place, fault->kind, node, why, why_size);
}
