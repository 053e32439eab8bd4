/* sim_path.c - what lies between a process and a master, and what goes wrong there: holes,
 * resets, connections that one side has forgotten, cuts.
 */
#include "config_auto.h"

#include "sim_net_parts.h"

#include <assert.h>
#include <errno.h>

static struct sim_route *route_of(const struct sim_proc *proc, unsigned master)
{
    assert(master < SIM_MASTERS_MAX);
    return &sim_fds(proc)->routes[master];
}

/* Whatever is done to a connection may end it, and others by what its master then does. */
typedef void each_fn(struct sim_conn *conn, void *argument);

static void for_each(struct sim_route *route, each_fn *each, void *argument)
{
    struct sim_conn *conn, *next;
    for (conn = LIST_FIRST(&route->conns); conn; conn = LIST_NEXT(conn, of_route))
        conn->busy++;
    for (conn = LIST_FIRST(&route->conns); conn; conn = LIST_NEXT(conn, of_route))
        each(conn, argument);
    for (conn = LIST_FIRST(&route->conns); conn; conn = next) {
        next = LIST_NEXT(conn, of_route);
        conn->busy--;
        sim_conn_tidy(conn);
    }
}

static void tell(const struct sim_route *route, enum sim_way way, const char *what)
{
    sim_mark(SIM_MARK_PATH + (unsigned char)what[0], route->proc->index,
             route->master << 1 | (unsigned)way);
    if (sim_tells())
        sim_tell("%s %s n%u  %s", route->proc->name, way == SIM_THERE ? "->" : "<-",
                 route->master + 1, what);
}

struct sim_path *sim_path(const struct sim_proc *proc, unsigned master)
{
    return &route_of(proc, master)->path;
}

void sim_path_lead(const struct sim_proc *proc, unsigned master, unsigned server)
{
    assert(server < SIM_MASTERS_MAX);
    route_of(proc, master)->path.leads_to = server + 1;
    sim_mark(SIM_MARK_PATH, proc->index, master << 8 | server);
    sim_tell("%s: n%u's name leads to n%u now", proc->name, master + 1, server + 1);
}

/* ---- holes ---------------------------------------------------------------------------- */

/* Probes had answers until now. */
static void begin_silence(struct sim_conn *conn)
{
    if (!conn->socket)
        return;
    int64_t probed_ns = sim_now_ns() - conn->socket->as.socket.idle_ns;
    if (conn->heard_ns < probed_ns)
        conn->heard_ns = probed_ns;
    sim_conn_watch(conn);
}

static void fall_in(struct sim_conn *conn, void *argument)
{
    (void)argument;
    begin_silence(conn);
}

static void climb_out(struct sim_conn *conn, void *argument)
{
    enum sim_way way = *(enum sim_way *)argument;
    if (conn->forgotten)
        return;
    sim_pipe_lift(&conn->pipe[way]);
    if (way == SIM_BACK)
        sim_conn_acked(conn);
}

void sim_path_hole(const struct sim_proc *proc, unsigned master, enum sim_way way, bool on)
{
    struct sim_route *route = route_of(proc, master);
    if (route->path.hole[way] == on)
        return;
    route->path.hole[way] = on;
    tell(route, way, on ? "nothing gets through" : "goes through again");
    for_each(route, on ? fall_in : climb_out, &way);
}

/* ---- resets --------------------------------------------------------------------------- */

static void end_both(struct sim_conn *conn, bool reset)
{
    struct sim_socket *socket = conn->socket ? &conn->socket->as.socket : NULL;
    bool connecting = socket && socket->state == SIM_CONNECTING;
    sim_pipe_clear(&conn->pipe[SIM_THERE]);
    sim_pipe_clear(&conn->pipe[SIM_BACK]);
    if (reset || connecting) {
        sim_conn_break(conn, connecting ? ECONNREFUSED : ECONNRESET);
    } else if (socket) {
        socket->ended = true;
        conn->acked = conn->sent;
        sim_socket_update(conn->socket);
    }
    sim_conn_leave(conn);
}

static void reset_one(struct sim_conn *conn, void *argument)
{
    (void)argument;
    if (conn->forgotten)
        return;
    conn->route->felt.reset++;
    end_both(conn, true);
}

void sim_path_reset(const struct sim_proc *proc, unsigned master)
{
    struct sim_route *route = route_of(proc, master);
    tell(route, SIM_THERE, "connections are reset");
    for_each(route, reset_one, NULL);
}

/* ---- half-open connections ------------------------------------------------------------ */

static void forget_one(struct sim_conn *conn, void *argument)
{
    if (conn->forgotten || !conn->served)
        return; /* those that have just begun begin again */
    conn->forgotten = true;
    conn->route->felt.lost += conn->pipe[SIM_THERE].count + conn->pipe[SIM_BACK].count;
    conn->rst_after_ns = *(const int64_t *)argument;
    sim_pipe_clear(&conn->pipe[SIM_THERE]);
    sim_pipe_clear(&conn->pipe[SIM_BACK]);
    begin_silence(conn);
    sim_conn_leave_at(conn, sim_now_ns() + SIM_ORPHAN_S * SIM_S);
}

void sim_path_forget(const struct sim_proc *proc, unsigned master, int64_t rst_after_ns)
{
    struct sim_route *route = route_of(proc, master);
    tell(route, SIM_THERE, "connections are forgotten");
    for_each(route, forget_one, &rst_after_ns);
}

/* ---- cuts ----------------------------------------------------------------------------- */

struct cut {
    enum sim_way way;
    uint64_t bytes;
    bool reset;
};

void sim_path_cut(struct sim_conn *conn, bool reset)
{
    sim_conn_tell(conn, SIM_THERE, "is cut", 0);
    conn->route->felt.cut++;
    conn->pipe[SIM_THERE].cut = conn->pipe[SIM_BACK].cut = false;
    end_both(conn, reset);
}

static void cut_one(struct sim_conn *conn, void *argument)
{
    const struct cut *cut = argument;
    struct sim_pipe *pipe = &conn->pipe[cut->way];
    if (conn->forgotten)
        return;
    pipe->cut = true;
    pipe->cut_left = cut->bytes;
    pipe->cut_reset = cut->reset;
    if (cut->bytes == 0)
        sim_path_cut(conn, cut->reset);
}

void sim_path_cut_after(const struct sim_proc *proc, unsigned master, enum sim_way way,
                        uint64_t bytes, bool reset)
{
    struct cut cut = {way, bytes, reset};
    for_each(route_of(proc, master), cut_one, &cut);
}

/* ---- looking -------------------------------------------------------------------------- */

unsigned sim_path_open(const struct sim_proc *proc, unsigned master)
{
    const struct sim_conn *conn = LIST_FIRST(&route_of(proc, master)->conns);
    unsigned count = 0;
    for (; conn; conn = LIST_NEXT(conn, of_route))
        count += conn->served && !conn->forgotten;
    return count;
}

bool sim_path_owes(const struct sim_proc *proc, unsigned master, int64_t from_ns, int64_t to_ns)
{
    const struct sim_conn *conn = LIST_FIRST(&route_of(proc, master)->conns);
    for (; conn; conn = LIST_NEXT(conn, of_route)) {
        if (sim_pipe_owes(&conn->pipe[SIM_THERE], from_ns, to_ns) ||
            sim_pipe_owes(&conn->pipe[SIM_BACK], from_ns, to_ns))
            return true;
    }
    return false;
}

const struct sim_path_felt *sim_path_felt(const struct sim_proc *proc, unsigned master)
{
    return &route_of(proc, master)->felt;
}

size_t sim_queued_bytes(const struct sim_proc *proc)
{
    const struct sim_conn *conn;
    size_t bytes = 0;
    for (unsigned i = 0; proc->fds && i < SIM_MASTERS_MAX; i++) {
        for (conn = LIST_FIRST(&proc->fds->routes[i].conns); conn;
             conn = LIST_NEXT(conn, of_route)) {
            const struct sim_pipe *back = &conn->pipe[SIM_BACK];
            if (conn->socket)
                bytes += (size_t)(conn->sent - conn->acked) + (back->end - back->start);
        }
    }
    return bytes;
}
