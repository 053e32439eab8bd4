/* local.c - private masters: processes of our own, with their files, signals and clocks
 * in our hands. */
#include "config_auto.h"

#include "chaos/place/mark.h"
#include "chaos/place/place.h"

#include "base/clock.h"
#include "config/config_load.h"
#include "base/limits.h"
#include "cluster/servers.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define READY_LIMIT_MS 10000
#define CLOCK_LIB "server_clock.so"
#define CLOCK_KINDS (CHAOS_BIT_OF(CLOCK) | CHAOS_BIT_OF(CLOCK_BACK))

struct local {
    struct servers *servers;
    char clock_lib[512];
    const char *no_clock; /* why clocks can't be stepped; NULL: they can be */
    uint64_t launching;   /* masters that may end at once and be started again */
};

static struct servers *servers_of(const struct chaos_place *place)
{
    return ((const struct local *)place->self)->servers;
}

/* ---- the clock ------------------------------------------------------------------------ */

/* Beside this program in the build tree, else where it was installed. */
static bool find_clock_lib(struct local *local)
{
    ssize_t len = readlink("/proc/self/exe", local->clock_lib, sizeof(local->clock_lib) - 1);
    local->clock_lib[len > 0 ? len : 0] = '\0';
    char *slash = strrchr(local->clock_lib, '/');
    size_t at = slash != NULL ? (size_t)(slash + 1 - local->clock_lib) : 0;
    snprintf(local->clock_lib + at, sizeof(local->clock_lib) - at, "%s", CLOCK_LIB);
    if (access(local->clock_lib, R_OK) == 0)
        return true;
    snprintf(local->clock_lib, sizeof(local->clock_lib), "%s/%s", CHAOS_LIB_DIR, CLOCK_LIB);
    return access(local->clock_lib, R_OK) == 0;
}

static void step_clock(struct servers *servers, unsigned node, int64_t step_ms)
{
    *servers->master[node].clock_ns = step_ms * RL_NS_PER_MS;
}

/* Does it have an effect to step the clock of a master? A loader may ignore LD_PRELOAD. */
static bool clock_follows(struct servers *servers)
{
    struct server_talk talk;
    char text[256];
    struct server_at at = servers_at(servers, 0);
    bool follows = false;
    step_clock(servers, 0, 3600000);
    if (server_talk_open(&talk, &at)) {
        if (server_talk_say(&talk, "TIME", text, sizeof(text)) == '*') {
            const char *line = strchr(text, '\n'); /* the count, the length, the seconds */
            line = line != NULL ? strchr(line + 1, '\n') : NULL;
            follows = line != NULL && strtoll(line + 1, NULL, 10) > time(NULL) + 1800;
        }
        server_talk_close(&talk);
    }
    step_clock(servers, 0, 0);
    return follows;
}

/* ---- beginning and end ---------------------------------------------------------------- */

/* The node list, as a user's would be read. */
static bool make_config(struct chaos_place *place, char *why, size_t why_size)
{
    struct servers *servers = servers_of(place);
    redlock_node node[REDLOCK_NODES_MAX];
    char url[REDLOCK_NODES_MAX][48];
    redlock_config from = REDLOCK_CONFIG_INIT;
    redlock_error error = REDLOCK_ERROR_INIT;
    for (unsigned i = 0; i < place->options->local; i++) {
        snprintf(url[i], sizeof(url[i]), "redis://127.0.0.1:%d", servers->master[i].port);
        node[i] = (redlock_node)REDLOCK_NODE_INIT;
        node[i].url = url[i];
    }
    from.nodes = node;
    from.node_count = place->options->local;
    from.guard = place->options->strict    ? REDLOCK_GUARD_STRICT
                 : place->options->markers ? REDLOCK_GUARD_MARKER
                                           : REDLOCK_ON;
    from.fencing =
        place->options->certified ? REDLOCK_FENCING_STRICT : REDLOCK_FENCING_DEFAULT;
    from.max_ttl_ms = from.ttl_ms = place->options->ttl_ms;
    if (rl_config_load(&place->config, &from, NULL, NULL, &error) == 0)
        return true;
    snprintf(why, why_size, "%s", error.text);
    return false;
}

/* The second half of the servers. */
static void find_spares(struct chaos_place *place)
{
    const struct servers *servers = servers_of(place);
    unsigned masters = place->options->local;
    for (unsigned i = 0; masters + i < servers->count; i++)
        place->spare_port[i] = servers->master[masters + i].port;
}

/* They have just been made, so nothing is lost. Those that are restarted get no marker here. */
static bool mark_masters(const struct chaos_place *place, char *why, size_t why_size)
{
    const struct chaos_options *options = place->options;
    for (unsigned i = 0; i < options->local; i++) {
        struct server_at at = servers_at(servers_of(place), i);
        if ((options->markers && !chaos_mark(&at, why, why_size)) ||
            (options->certified && !chaos_certify(&at, why, why_size)))
            return false;
    }
    return true;
}

static bool start_local(struct chaos_place *place, char *why, size_t why_size)
{
    static struct local local;
    bool clock = (place->options->faults & CLOCK_KINDS) != 0;
    unsigned masters = place->options->local;
    bool spares =
        (place->options->faults & CHAOS_OF_SPARES) != 0 && 2 * masters <= REDLOCK_NODES_MAX;
    local = (struct local){.no_clock = NULL};
    if (clock && !find_clock_lib(&local)) {
        local.no_clock = CLOCK_LIB " is neither beside this program nor in " CHAOS_LIB_DIR;
        clock = false;
    }
    struct servers_want want = {
        .count = masters + (spares ? masters : 0),
        .prefix = "redlock-chaos",
        .keep = true,
        .clock_lib = clock ? local.clock_lib : NULL,
    };
    local.servers = servers_start(&want, why, why_size);
    if (local.servers == NULL)
        return false;
    place->self = &local;
    place->ours = true;
    snprintf(place->dir, sizeof(place->dir), "%s", local.servers->dir);
    if (clock && !clock_follows(local.servers))
        local.no_clock = "redis-server does not take its time from a preloaded library here";
    find_spares(place);
    if (mark_masters(place, why, why_size) && make_config(place, why, why_size))
        return true;
    servers_end(local.servers);
    return false;
}

static void end_local(struct chaos_place *place)
{
    servers_end(servers_of(place));
    rl_config_free(&place->config);
}

static const char *never_local(enum chaos_fault_kind kind)
{
    return kind == CHAOS_FAULT_DISCONNECT
               ? "private masters are on no network that they could leave; --compose has one"
               : NULL;
}

static const char *cannot_local(const struct chaos_place *place, enum chaos_fault_kind kind)
{
    const struct local *local = place->self;
    if (never_local(kind) != NULL)
        return never_local(kind);
    return (CLOCK_KINDS & CHAOS_BIT(kind)) != 0 ? local->no_clock : NULL;
}

/* ---- faults --------------------------------------------------------------------------- */

static bool say(struct servers *servers, unsigned node, const char *words)
{
    struct server_talk talk;
    char text[256];
    struct server_at at = servers_at(servers, node);
    if (!server_talk_open(&talk, &at))
        return false;
    bool fine = server_talk_say(&talk, words, text, sizeof(text)) == '+';
    server_talk_close(&talk);
    return fine;
}

static bool inflict_local(struct chaos_place *place, const struct chaos_fault *fault,
                          unsigned node, char *why, size_t why_size)
{
    struct servers *servers = servers_of(place);
    bool done = false;
    snprintf(why, why_size, "the system refused it");
    if (servers->master[node].pid == 0) {
        snprintf(why, why_size, "its process has ended");
        return false;
    }
    switch (fault->kind) {
    case CHAOS_FAULT_KILL:
    case CHAOS_FAULT_KILL_AOF:
    case CHAOS_FAULT_KILL_RDB:
        done = server_kill(servers, node);
        break;
    case CHAOS_FAULT_PAUSE:
        done = server_stop(servers, node);
        break;
    case CHAOS_FAULT_CLOCK:
        step_clock(servers, node, fault->step_ms);
        done = true;
        break;
    case CHAOS_FAULT_CLOCK_BACK:
        step_clock(servers, node, -fault->step_ms);
        done = true;
        break;
    default: /* refused before the run */
        break;
    }
    return done;
}

static bool launch(struct chaos_place *place, unsigned node, enum server_from from, char *why,
                   size_t why_size)
{
    struct local *local = place->self;
    struct servers *servers = local->servers;
    bool ended = false;
    int64_t limit_ns = rl_clock_now_ns() + READY_LIMIT_MS * RL_NS_PER_MS;
    if (servers->master[node].pid > 0) /* it was never killed: the fault was done by half */
        return true;
    if (!server_launch(servers, node, from)) {
        snprintf(why, why_size, "no process could be started");
        return false;
    }
    local->launching |= UINT64_C(1) << node;
    while (!server_is_ready(servers, node, &ended)) {
        /* Its port may have been an outgoing connection's for a moment. */
        if (ended && !server_launch(servers, node, from))
            break;
        if (rl_clock_now_ns() > limit_ns || !chaos_pause_ms(5))
            break;
    }
    local->launching &= ~(UINT64_C(1) << node);
    /* From now on the master keeps its data again. */
    if (from == SERVER_FROM_RDB && !say(servers, node, "CONFIG SET appendonly yes"))
        snprintf(why, why_size, "it does not begin an append-only file");
    else if (servers->master[node].pid > 0)
        return true;
    else
        snprintf(why, why_size, "it does not start again");
    return false;
}

static bool undo_local(struct chaos_place *place, const struct chaos_fault *fault,
                       unsigned node, char *why, size_t why_size)
{
    struct servers *servers = servers_of(place);
    switch (fault->kind) {
    case CHAOS_FAULT_PAUSE:
        snprintf(why, why_size, "it can't be continued");
        if (!servers->master[node].stopped) /* it never stood, or has ended */
            return servers->master[node].pid > 0;
        return server_resume(servers, node);
    case CHAOS_FAULT_KILL_AOF:
        return launch(place, node, SERVER_FROM_AOF, why, why_size);
    case CHAOS_FAULT_KILL_RDB:
        return launch(place, node, SERVER_FROM_RDB, why, why_size);
    case CHAOS_FAULT_CLOCK:
    case CHAOS_FAULT_CLOCK_BACK:
        if (servers->master[node].pid > 0)
            server_kill(servers, node);
        step_clock(servers, node, 0);
        return launch(place, node, SERVER_EMPTY, why, why_size);
    default:
        assert(fault->kind == CHAOS_FAULT_KILL);
        return launch(place, node, SERVER_EMPTY, why, why_size);
    }
}

/* If another process ends a master of ours, the report would name the wrong faults. */
static bool fine_local(struct chaos_place *place, char *why, size_t why_size)
{
    const struct local *local = place->self;
    for (unsigned i = 0; i < local->servers->count; i++) {
        int status;
        if ((local->launching >> i & 1) != 0 || !server_has_ended(local->servers, i, &status))
            continue;
        if (WIFSIGNALED(status))
            snprintf(why, why_size, "node %u was ended by signal %d (%s), by no fault", i + 1,
                     WTERMSIG(status), strsignal(WTERMSIG(status)));
        else
            snprintf(why, why_size, "node %u ended with status %d, by no fault", i + 1,
                     WEXITSTATUS(status));
        return false;
    }
    return true;
}

const struct chaos_place_type chaos_place_local = {
    "local",      start_local,   end_local,  never_local,
    cannot_local, inflict_local, undo_local, fine_local,
};
