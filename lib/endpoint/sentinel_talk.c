/* sentinel_talk.c - what a Sentinel is asked, and its replies. Whatever comes, only an answer of
 * the known shape tells anything. See sentinel.h. */
#include "config_auto.h"

#include "endpoint/endpoints.h"

#include "base/clock.h"
#include "net/session.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define REQUEST_MAX (RL_SERVICE_MAX + 96)

static const char not_asked_for[] = "answered something that was not asked for";

/* ---- what is asked ---------------------------------------------------------------------- */

/* A greeting and a question have room: a link can queue both, for all lines. */
static void put(struct rl_sentinel *sentinel, enum rl_request_type type, unsigned line,
                const struct rl_out *out, int64_t now_ns)
{
    struct rl_inflight inflight = {
        .line = line, .type = type, .sent_ns = now_ns, .deadline_ns = INT64_MAX};
    _Static_assert(RL_OUT_MIN >= 2 * REDLOCK_NODES_MAX * REQUEST_MAX + RL_LOGIN_MAX, "room");
    assert(!out->overflow);
    bool room = rl_connection_room(&sentinel->connection, out->len, true);
    if (room)
        rl_connection_put(&sentinel->connection, out->bytes, out->len, &inflight);
}

static void put_words(struct rl_sentinel *sentinel, enum rl_request_type type, unsigned line,
                      const char *const *words, int64_t now_ns)
{
    char bytes[REQUEST_MAX];
    struct rl_out out;
    unsigned count = 0;
    while (words[count])
        count++;
    rl_out_init(&out, bytes, sizeof(bytes));
    rl_put_array(&out, count);
    for (unsigned i = 0; i < count; i++)
        rl_put_text(&out, words[i]);
    put(sentinel, type, line, &out, now_ns);
}

/* The address is asked for behind the rest: statement.h says why. */
void rl_sentinel_ask(struct rl_sentinel *sentinel, int64_t now_ns)
{
    const struct rl_node_settings *settings = sentinel->all->settings;
    assert(sentinel->mode == RL_SENTINEL_UP);
    assert(!rl_connection_oldest(&sentinel->connection)); /* one question at a time */
    sentinel->deadline_ns = now_ns + settings->connect_timeout_ns;
    sentinel->epoch = rl_clock_epoch(settings->clock);
    sentinel->asked_ns = now_ns;
    for (unsigned i = 0; i < sentinel->lines; i++) {
        const char *service = sentinel->line[i].node->config->service;
        const char *const master[] = {"SENTINEL", "MASTER", service, NULL};
        const char *const address[] = {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", service, NULL};
        put_words(sentinel, RL_REQUEST_MASTER, i, master, now_ns);
        put_words(sentinel, RL_REQUEST_ADDRESS, i, address, now_ns);
    }
    rl_sentinel_flush(sentinel, now_ns);
}

static void begin_answer(struct rl_sentinel *sentinel)
{
    sentinel->told = (struct rl_sentinel_told){.ip = ""};
    sentinel->refused = RL_UNHEARD_SILENT;
    sentinel->texts = 0;
}

static void say_hello(struct rl_sentinel *sentinel, int64_t now_ns)
{
    static const char *const info[] = {"INFO", "server", NULL};
    static const char *const myid[] = {"SENTINEL", "MYID", NULL};
    char bytes[RL_CONNECTION_NAME_MAX + 64];
    struct rl_out out;
    rl_sentinel_set_mode(sentinel, RL_SENTINEL_GREETING, now_ns);
    sentinel->uptime_s = -1;
    sentinel->is_server = false;
    begin_answer(sentinel); /* the former connection may have ended in the midst of one */
    rl_out_init(&out, bytes, sizeof(bytes));
    rl_login_put_name(&out, sentinel->all->settings->connection_name);
    put(sentinel, RL_REQUEST_SETNAME, 0, &out, now_ns);
    put_words(sentinel, RL_REQUEST_INFO, 0, info, now_ns);
    put_words(sentinel, RL_REQUEST_MYID, 0, myid, now_ns);
    rl_sentinel_flush(sentinel, now_ns);
}

void rl_sentinel_greet(struct rl_sentinel *sentinel, int64_t now_ns)
{
    char why[160];
    assert(sentinel->mode == RL_SENTINEL_CONNECTING);
    int queued = rl_session_login(&sentinel->connection, now_ns, INT64_MAX, why, sizeof(why));
    if (queued < 0) {
        rl_sentinel_disconnect(sentinel, now_ns, "%s", why);
    } else if (queued == 0) {
        say_hello(sentinel, now_ns);
    } else {
        rl_sentinel_set_mode(sentinel, RL_SENTINEL_AUTH, now_ns);
        rl_sentinel_flush(sentinel, now_ns);
    }
}

/* ---- what it answers ---------------------------------------------------------------------- */

/* A piece of INFO; or of SENTINEL MASTER, whose names and values take turns. */
void rl_sentinel_on_bulk(void *context, const char *bytes, size_t len)
{
    struct rl_sentinel *sentinel = context;
    const struct rl_inflight *oldest = rl_connection_oldest(&sentinel->connection);
    if (oldest && oldest->type == RL_REQUEST_INFO) {
        struct rl_info info;
        rl_info_parse(bytes, len, &info);
        sentinel->uptime_s = info.uptime_s;
        sentinel->is_server = !info.sentinel;
    } else if (oldest && oldest->type == RL_REQUEST_MASTER) {
        if (sentinel->texts++ % 2 == 0)
            rl_told_text(bytes, len, sentinel->field, sizeof(sentinel->field));
        else
            rl_told_field(&sentinel->told, sentinel->field, bytes, len);
    }
}

/* Of such a line: the server's words are told when they are news. */
static void take_refusal(struct rl_sentinel *sentinel, unsigned number, const char *text)
{
    const struct rl_node_settings *settings = sentinel->all->settings;
    const struct rl_sentinel_line *line = &sentinel->line[number];
    const struct rl_witness *witness = &line->node->named->witnesses.of[line->witness];
    if (sentinel->refused) /* by the answer before */
        return;
    sentinel->refused = rl_unheard_of(text);
    if (witness->last.unheard != sentinel->refused)
        settings->events->log(settings->owner, REDLOCK_LOG_WARNING, "%s: %s", sentinel->label,
                              text);
}

/* An error in the place of an answer. Without its id it is no witness. */
static void take_error(struct rl_sentinel *sentinel, const struct rl_inflight *inflight,
                       const struct rl_reply *reply, int64_t now_ns)
{
    const struct rl_node_settings *settings = sentinel->all->settings;
    static const char *const asked[] = {
        [RL_REQUEST_INFO] = "INFO",
        [RL_REQUEST_MYID] = "SENTINEL MYID",
        [RL_REQUEST_MASTER] = "SENTINEL MASTER",
        [RL_REQUEST_ADDRESS] = "SENTINEL GET-MASTER-ADDR-BY-NAME",
    };
    char error[160], text[256];
    rl_error_text(reply, &sentinel->connection.mask, error, sizeof(error));
    snprintf(text, sizeof(text), "refused %s (%s)", asked[inflight->type], error);
    if (inflight->type == RL_REQUEST_MYID)
        rl_sentinel_disconnect(sentinel, now_ns, "%s", text);
    else if (inflight->type == RL_REQUEST_INFO) /* the uptime is unknown then */
        settings->events->log(settings->owner,
                              sentinel->retry.flaws == 0 ? REDLOCK_LOG_WARNING
                                                         : REDLOCK_LOG_DEBUG,
                              "%s: %s", sentinel->label, text);
    else
        take_refusal(sentinel, inflight->line, text);
}

static bool takes_id(struct rl_sentinel *sentinel, const struct rl_reply *reply, int64_t now_ns)
{
    char id[RL_RUN_ID_SIZE];
    if (reply->type != RL_REPLY_BULK || !rl_part_copy(reply, 0, id, sizeof(id)) || !id[0])
        return false;
    rl_sentinel_set_mode(sentinel, RL_SENTINEL_UP, now_ns);
    for (unsigned i = 0; i < sentinel->lines; i++) {
        const struct rl_sentinel_line *line = &sentinel->line[i];
        rl_witness_met(&line->node->named->witnesses, line->witness, id, sentinel->uptime_s,
                       sentinel->all->settings->witness_window_ns, now_ns);
    }
    return true;
}

/* The whole of SENTINEL MASTER: its texts have been read. */
static bool takes_master(struct rl_sentinel *sentinel, const struct rl_reply *reply)
{
    unsigned texts = sentinel->texts;
    sentinel->texts = 0;
    return reply->type == RL_REPLY_ARRAY && texts == reply->count + reply->more &&
           texts % 2 == 0;
}

static bool takes_address(struct rl_sentinel *sentinel, const struct rl_reply *reply)
{
    struct rl_sentinel_told *told = &sentinel->told;
    if (reply->type == RL_REPLY_NIL) {
        sentinel->refused = sentinel->refused ? sentinel->refused : RL_UNHEARD_NO_SERVICE;
        return true;
    }
    return reply->type == RL_REPLY_ARRAY && reply->count == 2 &&
           rl_part_copy(reply, 0, told->addr_host, sizeof(told->addr_host)) &&
           rl_part_copy(reply, 1, told->addr_port, sizeof(told->addr_port));
}

static void conclude(struct rl_sentinel *sentinel, unsigned number, int64_t now_ns)
{
    const struct rl_sentinel_line *line = &sentinel->line[number];
    struct rl_statement statement = {.told = false, .unheard = sentinel->refused};
    if (!sentinel->refused)
        rl_statement_read(&sentinel->told, &statement);
    begin_answer(sentinel);
    sentinel->heard = true;
    bool vouched = rl_node_vouched(line->node, now_ns);
    rl_witness_answered(&line->node->named->witnesses, line->witness, &statement,
                        sentinel->asked_ns, sentinel->epoch, now_ns);
    rl_endpoints_heard(sentinel->all, line->node, vouched, now_ns);
}

/* False: it is no answer to that. */
static bool takes(struct rl_sentinel *sentinel, const struct rl_inflight *inflight,
                  const struct rl_reply *reply, int64_t now_ns)
{
    switch (inflight->type) {
    case RL_REQUEST_SETNAME: /* a courtesy; or it has too many clients, and hangs up */
        if (reply->type == RL_REPLY_ERROR)
            rl_error_text(reply, &sentinel->connection.mask, sentinel->connection.why,
                          sizeof(sentinel->connection.why));
        if (rl_unheard_of(sentinel->connection.why) != RL_UNHEARD_FULL)
            sentinel->connection.why[0] = '\0';
        return true;
    case RL_REQUEST_INFO:
        return reply->type == RL_REPLY_BULK;
    case RL_REQUEST_MYID:
        return takes_id(sentinel, reply, now_ns);
    case RL_REQUEST_MASTER:
        return takes_master(sentinel, reply);
    default:
        assert(inflight->type == RL_REQUEST_ADDRESS);
        return takes_address(sentinel, reply);
    }
}

static void take_login(struct rl_sentinel *sentinel, const struct rl_reply *reply,
                       int64_t now_ns)
{
    char text[160];
    if (rl_login_accepted(reply)) {
        say_hello(sentinel, now_ns);
        return;
    }
    snprintf(text, sizeof(text), "answered with %s", rl_reply_kind(reply));
    if (reply->type == RL_REPLY_ERROR)
        rl_error_text(reply, &sentinel->connection.mask, text, sizeof(text));
    rl_sentinel_disconnect(sentinel, now_ns, "authentication failed: %s", text);
}

/* Whoever waits for a majority has hope again. */
static void ask_first(struct rl_sentinel *sentinel, int64_t now_ns)
{
    rl_sentinel_ask(sentinel, now_ns);
    for (unsigned i = 0; i < sentinel->lines && sentinel->mode == RL_SENTINEL_UP; i++) {
        struct rl_node *node = sentinel->line[i].node;
        rl_endpoints_heard(sentinel->all, node, rl_node_vouched(node, now_ns), now_ns);
    }
}

static bool take(void *context, const struct rl_reply *reply, int64_t now_ns)
{
    struct rl_sentinel *sentinel = context;
    struct rl_connection *connection = &sentinel->connection;
    const struct rl_inflight *oldest = rl_connection_oldest(connection);
    char text[160];
    if (!oldest) {
        rl_unasked_text(reply, &connection->mask, text, sizeof(text));
        rl_sentinel_disconnect(sentinel, now_ns, "%s", text);
        return false;
    }
    const struct rl_inflight inflight = *oldest;
    rl_connection_drop_oldest(connection);
    if (inflight.type == RL_REQUEST_AUTH)
        take_login(sentinel, reply, now_ns);
    else if (reply->type == RL_REPLY_ERROR && inflight.type != RL_REQUEST_SETNAME)
        take_error(sentinel, &inflight, reply, now_ns);
    else if (!takes(sentinel, &inflight, reply, now_ns))
        rl_sentinel_disconnect(sentinel, now_ns, "%s", not_asked_for);
    else if (sentinel->is_server)
        rl_sentinel_disconnect(sentinel, now_ns, "is a Redis server and no Sentinel");
    bool open = rl_link_state(connection->link) == RL_LINK_OPEN;
    if (open && inflight.type == RL_REQUEST_MYID) /* what was asked before counts for nothing */
        ask_first(sentinel, now_ns);
    else if (open && inflight.type == RL_REQUEST_ADDRESS)
        conclude(sentinel, inflight.line, now_ns);
    return rl_link_state(connection->link) == RL_LINK_OPEN;
}

void rl_sentinel_read(struct rl_sentinel *sentinel)
{
    struct rl_connection *connection = &sentinel->connection;
    if (!rl_connection_read(connection, sentinel->all->settings->clock, take, NULL, sentinel))
        rl_sentinel_disconnect(sentinel, connection->heard_ns, "%s",
                               rl_reader_text(connection->reader));
}
