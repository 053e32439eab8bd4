/* sim_conn.c - a connection: what its two ends, the kernel of the client's machine and that of
 * the master's, do with it.
 *
 * It lives for as long as one of the ends knows of it: the client's socket, or the session
 * of the master.
 */
#include "config_auto.h"

#include "sim_net_parts.h"
#include "sim_real.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static LIST_HEAD(, sim_conn) spare_conns = LIST_HEAD_INITIALIZER(spare_conns);

/* ---- the story ------------------------------------------------------------------------ */

void sim_conn_tell(const struct sim_conn *conn, enum sim_way way, const char *what,
                   uint64_t number)
{
    const struct sim_route *route = conn->route;
    sim_mark(SIM_MARK_CONN + (unsigned char)what[0],
             (uint64_t)route->proc->index << 32 | route->master << 1 | (unsigned)way,
             (uint64_t)conn->port << 48 | number);
    if (!sim_tells())
        return;
    const char *arrow = way == SIM_THERE ? "->" : "<-";
    if (number > 0)
        sim_tell("%s %s n%u  %llu %s", route->proc->name, arrow, route->master + 1,
                 (unsigned long long)number, what);
    else
        sim_tell("%s %s n%u  %s", route->proc->name, arrow, route->master + 1, what);
}

/* ---- beginning and end ---------------------------------------------------------------- */

static void on_timer(struct sim_event *event);

static void on_orphan(struct sim_event *event)
{
    struct sim_conn *conn = SIM_OF(event, struct sim_conn, orphan);
    sim_conn_tell(conn, SIM_THERE, "is found to be gone", 0);
    sim_conn_leave(conn);
    sim_conn_tidy(conn);
}

static struct sim_conn *new_conn(void)
{
    struct sim_conn *conn = LIST_FIRST(&spare_conns);
    if (conn) {
        LIST_REMOVE(conn, of_route);
    } else {
        conn = sim_more(NULL, sizeof(*conn));
        memset(conn, 0, sizeof(*conn));
    }
    conn->timer.fire = on_timer;
    conn->orphan.fire = on_orphan;
    conn->session = NULL;
    conn->served = conn->forgotten = false;
    conn->busy = 0;
    conn->rst_after_ns = conn->rst_ns = SIM_NEVER;
    conn->heard_ns = conn->asked_ns = sim_now_ns();
    conn->sent = conn->acked = 0;
    return conn;
}

void sim_conn_connect(struct sim_file *socket, unsigned master)
{
    struct sim_conn *conn = new_conn();
    const struct sim_path *path = &socket->proc->fds->routes[master].path;
    unsigned server = path->leads_to ? path->leads_to - 1 : master;
    struct sim_route *route = &socket->proc->fds->routes[server];
    conn->route = route;
    conn->socket = socket;
    conn->port = socket->as.socket.port;
    conn->since_ns = sim_now_ns();
    LIST_INSERT_HEAD(&route->conns, conn, of_route);
    sim_pipe_init(&conn->pipe[SIM_THERE], conn, SIM_THERE);
    sim_pipe_init(&conn->pipe[SIM_BACK], conn, SIM_BACK);
    socket->as.socket.conn = conn;
    socket->as.socket.state = SIM_CONNECTING;
    sim_pipe_put_mark(&conn->pipe[SIM_THERE], SIM_SYN);
    sim_conn_tell(conn, SIM_THERE, "connects", 0);
    sim_conn_watch(conn);
}

void sim_conn_free(struct sim_conn *conn)
{
    assert(conn->busy == 0);
    sim_not(&conn->timer);
    sim_not(&conn->orphan);
    sim_pipe_empty(&conn->pipe[SIM_THERE]);
    sim_pipe_empty(&conn->pipe[SIM_BACK]);
    LIST_REMOVE(conn, of_route);
    LIST_INSERT_HEAD(&spare_conns, conn, of_route);
}

void sim_conn_tidy(struct sim_conn *conn)
{
    if (conn->busy == 0 && !conn->socket && !conn->served)
        sim_conn_free(conn);
}

/* ---- the client's kernel -------------------------------------------------------------- */

/* When it gives up on a peer that is silent, or hears that this one knows nothing of it. */
static int64_t fate_ns(const struct sim_conn *conn)
{
    const struct sim_socket *socket = &conn->socket->as.socket;
    const bool *hole = conn->route->path.hole;
    int64_t fate_ns = conn->rst_ns;
    int64_t patience_ns =
        socket->user_timeout_ns > 0 ? socket->user_timeout_ns : SIM_GIVE_UP_S * SIM_S;
    int64_t end_ns = SIM_NEVER;
    if (conn->sent != conn->acked || socket->state == SIM_CONNECTING) {
        end_ns = conn->since_ns + patience_ns;
    } else if (socket->keepalive && (conn->forgotten || hole[SIM_THERE] || hole[SIM_BACK])) {
        /* At the first probe that goes out after its patience has ended. */
        end_ns = socket->idle_ns;
        while (end_ns < patience_ns)
            end_ns += socket->every_ns;
        end_ns += conn->heard_ns;
    }
    return end_ns < fate_ns ? end_ns : fate_ns;
}

void sim_conn_watch(struct sim_conn *conn)
{
    int64_t at_ns;
    if (!conn->socket || conn->socket->as.socket.state == SIM_OVER)
        return;
    at_ns = fate_ns(conn);
    if (at_ns < SIM_NEVER)
        sim_at(&conn->timer, at_ns);
}

static void on_timer(struct sim_event *event)
{
    struct sim_conn *conn = SIM_OF(event, struct sim_conn, timer);
    if (fate_ns(conn) > sim_now_ns()) {
        sim_conn_watch(conn);
        return;
    }
    bool reset = conn->rst_ns <= sim_now_ns();
    sim_conn_tell(conn, SIM_BACK, reset ? "reset: it knows nothing of this" : "timed out", 0);
    sim_conn_break(conn, reset ? ECONNRESET : ETIMEDOUT);
    sim_conn_leave_at(conn, sim_now_ns() + SIM_ORPHAN_S * SIM_S);
}

void sim_conn_break(struct sim_conn *conn, int error)
{
    struct sim_file *socket = conn->socket;
    sim_pipe_clear(&conn->pipe[SIM_THERE]);
    sim_not(&conn->timer);
    if (!socket || socket->as.socket.state == SIM_OVER)
        return;
    socket->as.socket.state = SIM_OVER;
    socket->as.socket.error = error;
    sim_socket_update(socket);
}

void sim_conn_acked(struct sim_conn *conn)
{
    const struct sim_pipe *pipe = &conn->pipe[SIM_THERE];
    conn->acked = conn->sent - (pipe->end - pipe->come);
    conn->heard_ns = sim_now_ns();
    if (conn->acked != conn->sent)
        conn->since_ns = pipe->segments[pipe->first].sent_ns;
    if (conn->socket)
        sim_socket_update(conn->socket);
}

/* So slow that patience may end? */
static bool is_slow(const struct sim_conn *conn)
{
    const struct sim_path *path = &conn->route->path;
    return conn->forgotten || path->hole[SIM_THERE] || path->hole[SIM_BACK] ||
           path->delay_high_ns[SIM_THERE] >= SIM_S;
}

size_t sim_conn_room(const struct sim_conn *conn)
{
    size_t limit = conn->route->path.send_buffer, used = (size_t)(conn->sent - conn->acked);
    return used < limit ? limit - used : 0;
}

size_t sim_conn_send(struct sim_conn *conn, const void *bytes, size_t len)
{
    size_t room = sim_conn_room(conn);
    if (len > room)
        len = room;
    if (len == 0)
        return 0;
    if (conn->sent == conn->acked)
        conn->since_ns = sim_now_ns();
    conn->sent += len;
    conn->route->felt.lost += conn->forgotten;
    if (!conn->forgotten)
        sim_pipe_put(&conn->pipe[SIM_THERE], bytes, len);
    else if (conn->rst_after_ns != SIM_NEVER && conn->rst_ns == SIM_NEVER)
        conn->rst_ns = sim_now_ns() + conn->rst_after_ns;
    if (is_slow(conn))
        sim_conn_watch(conn);
    return len;
}

void sim_conn_finish(struct sim_conn *conn)
{
    if (!conn->forgotten)
        sim_pipe_put_mark(&conn->pipe[SIM_THERE], SIM_FIN);
}

void sim_conn_reset(struct sim_conn *conn)
{
    struct sim_file *socket = conn->socket;
    if (!conn->forgotten)
        sim_pipe_put_reset(&conn->pipe[SIM_THERE]);
    sim_not(&conn->timer);
    socket->as.socket.state = SIM_OVER;
    sim_socket_update(socket);
}

void sim_conn_close(struct sim_conn *conn)
{
    struct sim_socket *socket = &conn->socket->as.socket;
    const struct sim_pipe *back = &conn->pipe[SIM_BACK];
    socket->conn = NULL;
    conn->socket = NULL;
    sim_not(&conn->timer);
    sim_conn_tell(conn, SIM_THERE, "closes", 0);
    if (conn->forgotten || socket->state == SIM_OVER || socket->state == SIM_CONNECTING) {
        /* Where a connect was under way, the answer to it brings an RST. */
        sim_conn_leave_at(conn, sim_now_ns() + SIM_ORPHAN_S * SIM_S);
    } else if (back->come > back->start) {
        sim_pipe_put_reset(&conn->pipe[SIM_THERE]); /* what came was not read */
        sim_conn_leave_at(conn, sim_now_ns() + SIM_ORPHAN_S * SIM_S);
    } else if (!socket->no_more_out) {
        sim_conn_finish(conn);
    }
    sim_conn_tidy(conn);
}

/* ---- the master's kernel -------------------------------------------------------------- */

void sim_conn_leave(struct sim_conn *conn)
{
    sim_not(&conn->orphan);
    if (!conn->served)
        return;
    conn->served = false;
    sim_master_left(conn->session);
    conn->session = NULL;
}

void sim_conn_leave_at(struct sim_conn *conn, int64_t at_ns)
{
    if (conn->served && (conn->orphan.place == 0 || conn->orphan.at_ns > at_ns))
        sim_at(&conn->orphan, at_ns);
}

const struct sim_proc *sim_conn_proc(const struct sim_conn *conn)
{
    return conn->route->proc;
}

void sim_conn_say(struct sim_conn *conn, const void *bytes, size_t len)
{
    assert(conn->served);
    if (len == 0)
        return;
    conn->route->felt.lost += conn->forgotten;
    if (!conn->forgotten)
        sim_pipe_put(&conn->pipe[SIM_BACK], bytes, len);
    else if (conn->rst_after_ns != SIM_NEVER)
        sim_conn_leave_at(conn, sim_now_ns() + conn->rst_after_ns);
}

void sim_conn_end(struct sim_conn *conn, bool reset)
{
    struct sim_pipe *back = &conn->pipe[SIM_BACK];
    assert(conn->served);
    conn->served = false;
    conn->session = NULL;
    sim_not(&conn->orphan);
    if (!conn->forgotten && reset) {
        sim_pipe_clear(back);
        sim_pipe_put_reset(back);
    } else if (!conn->forgotten) {
        sim_pipe_put_mark(back, SIM_FIN);
    }
    sim_conn_tidy(conn);
}
