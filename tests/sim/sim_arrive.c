/* sim_arrive.c - what the kernels of the two machines do with what arrives: the first word of a
 * connection, bytes, its end, a reset.
 */
#include "config_auto.h"

#include "sim_net_parts.h"

#include <errno.h>

/* ---- at the master -------------------------------------------------------------------- */

static void begin_there(struct sim_conn *conn)
{
    if (!sim_master_listens(conn->route->master)) {
        conn->route->felt.refused++;
        sim_pipe_put_reset(&conn->pipe[SIM_BACK]);
        return;
    }
    conn->served = true;
    sim_pipe_put_mark(&conn->pipe[SIM_BACK], SIM_SYN);
    void *session = sim_master_accept(conn->route->master, conn);
    if (conn->served)
        conn->session = session;
}

static void bytes_there(struct sim_conn *conn, size_t len, int64_t sent_ns)
{
    struct sim_pipe *pipe = &conn->pipe[SIM_THERE];
    const uint8_t *bytes = pipe->bytes + pipe->come;
    pipe->come += len;
    pipe->start = pipe->come;
    conn->asked_ns = sent_ns;
    if (!conn->route->path.hole[SIM_BACK])
        sim_conn_acked(conn);
    sim_conn_tell(conn, SIM_THERE, "bytes arrive", len);
    if (conn->served)
        sim_master_hear(conn->session, bytes, len);
    else
        sim_pipe_put_reset(&conn->pipe[SIM_BACK]);
}

static void arrive_there(struct sim_conn *conn, const struct sim_segment *segment)
{
    switch (segment->kind) {
    case SIM_SYN:
        begin_there(conn);
        break;
    case SIM_DATA:
        bytes_there(conn, segment->len, segment->asked_ns);
        break;
    case SIM_FIN:
        sim_conn_tell(conn, SIM_THERE, "has closed", 0);
        if (conn->served && conn->socket)
            sim_pipe_put_mark(&conn->pipe[SIM_BACK], SIM_FIN); /* as redis-server does */
        sim_conn_leave(conn);
        break;
    case SIM_RST:
        sim_conn_tell(conn, SIM_THERE, "reset", 0);
        sim_conn_leave(conn);
        sim_pipe_clear(&conn->pipe[SIM_BACK]);
        break;
    }
}

/* ---- at the client -------------------------------------------------------------------- */

/* The client's end is there and wants what comes? Who sends in vain is told so. */
static bool is_wanted(struct sim_conn *conn)
{
    if (conn->socket && conn->socket->as.socket.state != SIM_OVER &&
        !conn->socket->as.socket.no_more_in)
        return true;
    sim_pipe_put_reset(&conn->pipe[SIM_THERE]);
    return false;
}

static void arrive_back(struct sim_conn *conn, const struct sim_segment *segment)
{
    struct sim_pipe *pipe = &conn->pipe[SIM_BACK];
    struct sim_socket *socket = conn->socket ? &conn->socket->as.socket : NULL;
    conn->heard_ns = sim_now_ns();
    switch (segment->kind) {
    case SIM_SYN:
        if (!is_wanted(conn))
            return;
        sim_conn_tell(conn, SIM_BACK, "connected", 0);
        socket->state = SIM_CONNECTED;
        break;
    case SIM_DATA:
        sim_conn_tell(conn, SIM_BACK, "bytes arrive", segment->len);
        pipe->come += segment->len;
        if (is_wanted(conn))
            break;
        pipe->start = pipe->come;
        return;
    case SIM_FIN:
        sim_conn_tell(conn, SIM_BACK, "has closed", 0);
        if (!socket)
            return;
        socket->ended = true;
        break;
    case SIM_RST:
        if (!socket)
            return;
        sim_conn_tell(conn, SIM_BACK, socket->state == SIM_CONNECTING ? "refused" : "reset", 0);
        sim_conn_break(conn, socket->state == SIM_CONNECTING ? ECONNREFUSED
                             : socket->ended                 ? EPIPE
                                                             : ECONNRESET);
        return;
    }
    sim_socket_update(conn->socket);
}

void sim_conn_arrive(struct sim_pipe *pipe, struct sim_segment segment)
{
    if (pipe->way == SIM_THERE)
        arrive_there(pipe->conn, &segment);
    else
        arrive_back(pipe->conn, &segment);
}
