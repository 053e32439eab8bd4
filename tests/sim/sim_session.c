/* sim_session.c - connections of model masters. A server is one thread: it executes one
 * command at a time, each takes it a while, and while it is at one, or stopped, the others
 * wait in their connections. Which connection is next is drawn; within one, order is kept. */
#include "config_auto.h"

#include "sim_master_parts.h"

#define NOT_READY SIZE_MAX

static struct sim_session *free_sessions;

/* ---- who has something to be executed --------------------------------------------------- */

static void make_ready(struct sim_session *session)
{
    struct sim_server *server = session->server;
    if (session->ready_place != NOT_READY)
        return;
    session->ready_place = server->readies;
    server->ready[server->readies++] = session;
}

static void make_unready(struct sim_session *session)
{
    struct sim_server *server = session->server;
    if (session->ready_place == NOT_READY)
        return;
    struct sim_session *last = server->ready[--server->readies];
    server->ready[session->ready_place] = last;
    last->ready_place = session->ready_place;
    session->ready_place = NOT_READY;
}

void sim_session_work(struct sim_server *server)
{
    if (!server->up || server->readies == 0 || server->work.place)
        return;
    int64_t at_ns = sim_now_ns();
    if (at_ns < server->paused_until_ns) {
        at_ns = server->paused_until_ns;
        server->felt.stood++;
    }
    server->felt.slow += server->high_ns > SIM_QUICK_NS;
    sim_at(&server->work, at_ns + sim_between(server->low_ns, server->high_ns));
}

/* ---- their lives ------------------------------------------------------------------------ */

static struct sim_session *new_session(struct sim_server *server)
{
    struct sim_session *session = free_sessions;
    if (session)
        free_sessions = session->next_free;
    else
        session = memset(sim_grown(NULL, sizeof(*session)), 0, sizeof(*session));
    struct sim_text in = session->in;
    in.len = 0;
    size_t head = offsetof(struct sim_session, channel);
    memset(session, 0, head);
    session->in = in;
    session->start = session->at = 0;
    session->words_left = 0;
    session->words = 0;
    session->error[0] = '\0';
    session->server = server;
    session->ready_place = NOT_READY;
    if (server->sessions == server->sessions_size) {
        server->sessions_size = 2 * server->sessions_size + 16;
        size_t bytes = server->sessions_size * sizeof(struct sim_session *);
        server->session = sim_grown(server->session, bytes);
        server->ready = sim_grown(server->ready, bytes);
    }
    session->place = server->sessions;
    server->session[server->sessions++] = session;
    return session;
}

static void put_away(struct sim_session *session)
{
    struct sim_server *server = session->server;
    make_unready(session);
    struct sim_session *last = server->session[--server->sessions];
    server->session[session->place] = last;
    last->place = session->place;
    server->channels -= session->channels;
    session->channels = 0;
    session->server = NULL; /* what the network still tells of it is of no interest */
    session->conn = NULL;
    session->next_free = free_sessions;
    free_sessions = session;
}

bool sim_master_listens(unsigned master)
{
    return master < sim_servers() && sim_server(master)->up;
}

void *sim_master_accept(unsigned master, struct sim_conn *conn)
{
    struct sim_server *server = sim_server(master);
    assert(server->up);
    struct sim_session *session = new_session(server);
    session->conn = conn;
    session->by = sim_conn_proc(conn);
    session->number = ++server->accepted;
    session->authenticated = !sim_server_password(server);
    sim_mark(SIM_MARK_MASTER, master, session->number);
    return session;
}

void sim_master_hear(void *context, const void *bytes, size_t len)
{
    struct sim_session *session = context;
    if (!session->server || !session->conn || session->ends)
        return;
    struct sim_text *in = &session->in;
    if (session->start > 0 && in->len + len + 1 > in->size) {
        in->len -= session->start;
        memmove(in->bytes, in->bytes + session->start, in->len);
        session->start = 0;
    }
    sim_text_add(in, bytes, len);
    if (session->ready_place != NOT_READY || session->running)
        return;
    if (sim_request_parse(session)) {
        make_ready(session);
        sim_session_work(session->server);
    }
}

/* What it had sent may have been read before its end was seen, or not. */
void sim_master_left(void *context)
{
    struct sim_session *session = context;
    if (!session->server)
        return;
    session->conn = NULL;
    session->server->channels -= session->channels;
    session->channels = 0;
    if (session->running || (session->ready_place != NOT_READY && sim_chance(500000)))
        return;
    put_away(session);
}

void sim_sessions_kill(struct sim_server *server)
{
    while (server->sessions > 0) {
        struct sim_session *session = server->session[server->sessions - 1];
        struct sim_conn *conn = session->conn;
        put_away(session);
        if (conn)
            sim_conn_end(conn, sim_chance(500000));
    }
}

void sim_sessions_drop(struct sim_server *server)
{
    while (server->sessions > 0)
        put_away(server->session[server->sessions - 1]);
}

/* ---- work ------------------------------------------------------------------------------- */

static struct sim_text out;
static struct sim_call call;

static void run(struct sim_session *session)
{
    struct sim_server *server = session->server;
    out.len = 0;
    if (session->error[0]) {
        sim_put_error(&out, session->error);
        session->ends = true;
        return;
    }
    call.server = server;
    call.session = session;
    call.command = NULL;
    call.dirty = false;
    call.db = session->db;
    call.words = session->words;
    call.name = call.argument = NULL;
    call.out = &out;
    sim_request_words(session, call.word);
    call.now_ms = sim_wall_ms(server);
    call.trouble = sim_trouble_draw(server);
    if (server->follows && call.trouble == SIM_NO_TROUBLE)
        call.trouble = SIM_READONLY;
    server->commands++;
    sim_command_run(&call);
    sim_trouble_twist(&call);
    sim_lie(&call);
    sim_mark(SIM_MARK_COMMAND, (uint64_t)server->index << 32 | session->number, out.len);
}

static void work(struct sim_event *event)
{
    struct sim_server *server =
        (struct sim_server *)((char *)event - offsetof(struct sim_server, work));
    if (sim_now_ns() < server->paused_until_ns || server->readies == 0) {
        sim_session_work(server);
        return;
    }
    size_t which = server->readies > 1 ? (size_t)sim_below(server->readies) : 0;
    struct sim_session *session = server->ready[which];
    session->running = true;
    run(session);
    if (server->dying) {
        sim_server_kill(server);
        return;
    }
    if (session->conn && out.len > 0)
        sim_conn_say(session->conn, out.bytes, out.len);
    session->running = false;
    sim_request_done(session);
    if (session->ends) {
        struct sim_conn *conn = session->conn;
        put_away(session);
        if (conn)
            sim_conn_end(conn, false);
    } else if (!sim_request_parse(session)) {
        make_unready(session);
        if (!session->conn)
            put_away(session);
    }
    sim_session_work(server);
}

void sim_session_ready(struct sim_server *server)
{
    server->work.fire = work;
}

/* ---- publish and subscribe -------------------------------------------------------------- */

struct sim_channel *sim_session_listens(struct sim_session *session,
                                        const struct sim_word *channel)
{
    for (size_t i = 0; i < session->channels; i++) {
        struct sim_channel *other = &session->channel[i];
        if (other->len == channel->len && memcmp(other->name, channel->bytes, other->len) == 0)
            return other;
    }
    return NULL;
}

int64_t sim_publish(struct sim_server *server, const struct sim_word *channel,
                    const struct sim_word *message)
{
    static struct sim_text text;
    int64_t heard = 0;
    if (server->channels == 0)
        return 0;
    text.len = 0;
    sim_put_array(&text, 3);
    sim_put_bulk(&text, "message", 7);
    sim_put_bulk(&text, channel->bytes, channel->len);
    sim_put_bulk(&text, message->bytes, message->len);
    /* Backwards: one that breaks when it is spoken to is put away. */
    for (size_t i = server->sessions; i-- > 0;) {
        struct sim_session *session = server->session[i];
        if (!session->conn || !sim_session_listens(session, channel))
            continue;
        heard++;
        sim_conn_say(session->conn, text.bytes, text.len);
    }
    sim_mark(SIM_MARK_COMMAND, server->index, (uint64_t)heard);
    return heard;
}
