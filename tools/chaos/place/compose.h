/* compose.h - between the files of the place that is made of containers. */
#ifndef CHAOS_COMPOSE_H
#define CHAOS_COMPOSE_H

#include "chaos/place/place.h"

/* The known facts about one master's container. */
struct chaos_container {
    char service[64];
    char id[72];
    char host[64];      /* where 6379 is published */
    int port;           /* 0: it is not */
    char volumes[256];  /* names, parted by spaces */
    char networks[256]; /* NAME or NAME=ALIAS=ALIAS..., parted by spaces */
    bool running, paused;
    uint64_t on; /* kinds of faults that we have done to it, a bit each */
};

struct chaos_compose {
    const char *file; /* NULL: the one that compose finds */
    bool plugin;      /* "docker compose", else "docker-compose" */
    unsigned count;
    struct chaos_container container[REDLOCK_NODES_MAX];
};

static inline struct chaos_compose *chaos_compose_of(const struct chaos_place *place)
{
    return place->self;
}

/* ---- compose_faults.c: as place.h has them ---- */

const char *chaos_compose_never(enum chaos_fault_kind kind);
const char *chaos_compose_cannot(const struct chaos_place *place, enum chaos_fault_kind kind);
bool chaos_compose_inflict(struct chaos_place *place, const struct chaos_fault *fault,
                           unsigned node, char *why, size_t why_size);
bool chaos_compose_undo(struct chaos_place *place, const struct chaos_fault *fault,
                        unsigned node, char *why, size_t why_size);

/* Undo a fault of this kind. True also if the master has none. */
bool chaos_compose_undo_kind(struct chaos_place *place, enum chaos_fault_kind kind,
                             unsigned node, char *why, size_t why_size);

/* ---- docker.c: the two programs, and their output ---- */

/* Which of them is there? */
bool chaos_docker_find(struct chaos_compose *compose, char *why, size_t why_size);

/* `compose VERB WORD...` with at most six words, up to a NULL. */
bool chaos_docker_compose(const struct chaos_compose *compose, const char *const *words,
                          int64_t limit_ms, bool may_stop, char *out, size_t out_size,
                          char *why, size_t why_size);
bool chaos_docker(const char *const *words, char *out, size_t out_size, char *why,
                  size_t why_size);

/* Look again at the project's containers, or at those of one service, running or not. Fills in
 * all of the struct but `on`. Sorted by service. */
bool chaos_docker_look(const struct chaos_compose *compose, const char *service,
                       struct chaos_container *ret_containers, unsigned max,
                       unsigned *ret_count, char *why, size_t why_size);

/* Does the server at that address answer a PING in time? */
bool chaos_docker_answers(const struct chaos_container *container, int limit_ms);

#endif
