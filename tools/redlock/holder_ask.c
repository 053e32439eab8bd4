/* holder_ask.c - see holder_ask.h.
 *
 * It uses connections of its own: the contents and the length of CLIENT LIST, which foreign
 * clients decide, can't harm the lock's connections.
 *
 *   CONNECTING --> LOGIN --> COUNT (INFO clients) --> LIST (CLIENT LIST) --> DONE
 *       +------------+---------+-- refused, too many, failed, too late ------^
 */
#include "config_auto.h"

#include "redlock/holder_ask.h"

#include "base/clock.h"
#include "base/eventfd.h"
#include "config/config_load.h"
#include "core/server_info.h"
#include "net/session.h"
#include "net/tls.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#define LINE_BYTES 512 /* a line of CLIENT LIST has some 350, with a long name 500 */
#define CLIENTS_MAX (RL_REPLY_INFO_MAX / LINE_BYTES)
#define EVENTS_MAX 16

enum step { CONNECTING, LOGIN, COUNT, LIST, DONE };

struct master {
    struct rl_tag tag; /* first: the event tag of the link */
    struct asking *asking;
    const struct rl_node_config *config;
    struct rl_tls_context *tls;
    struct rl_connection connection;
    enum step step;
    struct rl_info info;
};

struct asking {
    struct rl_tag wake_tag; /* a host name is known */
    const struct cli *cli;
    struct holder_clients *clients;
    struct rl_clock clock;
    struct rl_config config;
    int epoll_fd, wake_fd;
    unsigned under_way;
    unsigned count;
    struct master master[REDLOCK_NODES_MAX];
};

static void end(struct master *master)
{
    assert(master->step != DONE && master->asking->under_way > 0);
    master->step = DONE;
    master->asking->under_way--;
    if (master->connection.link)
        rl_link_close(master->connection.link);
}

static void give_up(struct master *master, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void give_up(struct master *master, const char *format, ...)
{
    char why[192];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof(why), format, arguments);
    va_end(arguments);
    if (master->asking->cli->verbose)
        cli_say(master->asking->cli, "%s: does not tell hosts and processes: %s",
                master->config->label, cli_text(why, strlen(why)).text);
    end(master);
}

/* ---- what is asked ---------------------------------------------------------------------- */

static void ask(struct master *master, enum step step)
{
    static const char count[] = "*2\r\n$4\r\nINFO\r\n$7\r\nclients\r\n";
    static const char list[] =
        "*4\r\n$6\r\nCLIENT\r\n$4\r\nLIST\r\n$4\r\nTYPE\r\n$6\r\nnormal\r\n";
    /* Replies may be as long as INFO's. */
    struct rl_inflight inflight = {.type = RL_REQUEST_INFO, .deadline_ns = INT64_MAX};
    assert(step == COUNT || step == LIST);
    master->step = step;
    if (step == COUNT)
        rl_connection_put(&master->connection, count, sizeof(count) - 1, &inflight);
    else
        rl_connection_put(&master->connection, list, sizeof(list) - 1, &inflight);
}

static void log_in(struct master *master, int64_t now_ns)
{
    char why[160];
    assert(master->step == CONNECTING);
    int queued = rl_session_login(&master->connection, now_ns, INT64_MAX, why, sizeof(why));
    if (queued < 0)
        give_up(master, "%s", why);
    else if (queued == 0)
        ask(master, COUNT);
    else
        master->step = LOGIN;
}

/* ---- what is answered ------------------------------------------------------------------- */

static void on_bulk(void *context, const char *bytes, size_t len)
{
    struct master *master = context;
    if (master->step == COUNT)
        rl_info_parse(bytes, len, &master->info);
    else if (master->step == LIST)
        holder_clients_heard(master->asking->clients, bytes, len, &master->connection.mask);
}

static void counted(struct master *master)
{
    if (master->info.clients < 0)
        give_up(master, "INFO clients does not tell how many there are");
    else if (master->info.clients > CLIENTS_MAX)
        give_up(master, "it has more than %d clients", CLIENTS_MAX);
    else
        ask(master, LIST);
}

/* A whole reply. False: the connection is closed. */
static bool take(void *context, const struct rl_reply *reply, int64_t now_ns)
{
    struct master *master = context;
    char text[160];
    (void)now_ns;
    if (!rl_connection_oldest(&master->connection)) {
        rl_unasked_text(reply, &master->connection.mask, text, sizeof(text));
        give_up(master, "%s", text);
        return false;
    }
    rl_connection_drop_oldest(&master->connection);
    if (reply->type == RL_REPLY_ERROR) {
        rl_error_text(reply, &master->connection.mask, text, sizeof(text));
        give_up(master, "%s", text);
    } else if (master->step == LOGIN && rl_login_accepted(reply)) {
        ask(master, COUNT);
    } else if (master->step == COUNT) {
        counted(master);
    } else if (master->step == LIST) {
        end(master);
    } else {
        give_up(master, "answered something that was not asked for");
    }
    return master->step != DONE;
}

/* ---- connections ------------------------------------------------------------------------ */

static void move(struct master *master, unsigned events, int64_t now_ns)
{
    struct rl_connection *connection = &master->connection;
    if (master->step == DONE)
        return;
    rl_link_step(connection->link, events, now_ns);
    if (rl_link_state(connection->link) == RL_LINK_OPEN) {
        if (master->step == CONNECTING)
            log_in(master, now_ns);
        if (master->step != DONE && (events & ~(unsigned)EPOLLOUT) &&
            !rl_connection_read(connection, &master->asking->clock, take, master))
            give_up(master, "%s", rl_reader_text(connection->reader));
        if (master->step != DONE && rl_link_state(connection->link) == RL_LINK_OPEN)
            (void)rl_connection_flush(connection);
    }
    if (master->step != DONE && rl_link_state(connection->link) == RL_LINK_FAILED)
        give_up(master, "%s", rl_link_text(connection->link));
}

static void on_ready(struct rl_tag *tag, unsigned events, int64_t now_ns)
{
    move((struct master *)tag, events, now_ns);
}

static void on_wake(struct rl_tag *tag, unsigned events, int64_t now_ns)
{
    (void)events, (void)now_ns;
    rl_eventfd_drain(((struct asking *)tag)->wake_fd);
}

static void connect_to(struct master *master, int64_t now_ns, int64_t deadline_ns)
{
    struct asking *asking = master->asking;
    char why[160] = "";
    master->tag.ready = on_ready;
    rl_info_parse("", 0, &master->info); /* nothing is known */
    asking->under_way++;
    if (master->config->transport == RL_TLS) {
        master->tls = rl_tls_context_new(master->config, why, sizeof(why));
        if (!master->tls) {
            give_up(master, "%s", why);
            return;
        }
    }
    if (rl_connection_init(&master->connection, master->config, master->tls, asking->epoll_fd,
                           asking->wake_fd, &master->tag, on_bulk, master)) {
        give_up(master, "out of memory");
        return;
    }
    rl_link_open(master->connection.link, now_ns, deadline_ns);
    move(master, 0, now_ns);
}

static void disconnect(struct master *master)
{
    rl_connection_done(&master->connection, false);
    rl_tls_context_free(master->tls);
}

/* ---- all of them ------------------------------------------------------------------------ */

/* Masters that connect also have deadlines, and host names that may have been resolved. */
static int64_t due_ns(const struct asking *asking, int64_t deadline_ns)
{
    int64_t due = deadline_ns;
    for (unsigned i = 0; i < asking->count; i++) {
        if (asking->master[i].step == CONNECTING)
            due = rl_earlier_ns(due, rl_link_due_ns(asking->master[i].connection.link));
    }
    return due;
}

static void turn(struct asking *asking, int64_t now_ns, int64_t deadline_ns)
{
    struct epoll_event events[EVENTS_MAX];
    int64_t wait_ns = due_ns(asking, deadline_ns) - now_ns;
    int wait_ms = wait_ns > 0 ? (int)((wait_ns + RL_NS_PER_MS - 1) / RL_NS_PER_MS) : 0;
    int count = epoll_wait(asking->epoll_fd, events, EVENTS_MAX, wait_ms);
    now_ns = rl_clock_steady_ns(&asking->clock);
    for (int i = 0; i < count; i++) {
        struct rl_tag *tag = events[i].data.ptr;
        tag->ready(tag, events[i].events, now_ns);
    }
    for (unsigned i = 0; i < asking->count; i++) {
        if (asking->master[i].step == CONNECTING)
            move(&asking->master[i], 0, now_ns);
    }
}

static void ask_all(struct asking *asking, const redlock_lock_info *all)
{
    int64_t now_ns = rl_clock_steady_ns(&asking->clock);
    int64_t deadline_ns = now_ns + asking->config.connect_timeout_ms * RL_NS_PER_MS;
    for (unsigned i = 0; i < asking->config.node_count; i++) {
        if (!all->node[i].answered)
            continue;
        struct master *master = &asking->master[asking->count++];
        master->asking = asking;
        master->config = &asking->config.nodes[i];
        connect_to(master, now_ns, deadline_ns);
    }
    while (asking->under_way > 0 && now_ns < deadline_ns) {
        turn(asking, now_ns, deadline_ns);
        now_ns = rl_clock_steady_ns(&asking->clock);
    }
    for (unsigned i = 0; i < asking->count; i++) {
        if (asking->master[i].step != DONE)
            give_up(&asking->master[i], "no answer within connect-timeout");
        disconnect(&asking->master[i]);
    }
}

/* The client has read this list; one that was written since is another. */
static bool load(struct asking *asking, const redlock_lock_info *all)
{
    redlock_config from = REDLOCK_CONFIG_INIT;
    redlock_error error = REDLOCK_ERROR_INIT;
    from.file = cli_nodes_used();
    if (rl_config_load(&asking->config, &from, NULL, NULL, &error) != 0)
        return false;
    return asking->config.node_count == all->nodes;
}

static bool open_descriptors(struct asking *asking)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &asking->wake_tag};
    asking->wake_tag.ready = on_wake;
    asking->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    asking->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return asking->epoll_fd >= 0 && asking->wake_fd >= 0 &&
           epoll_ctl(asking->epoll_fd, EPOLL_CTL_ADD, asking->wake_fd, &event) == 0;
}

void holder_ask(const struct cli *cli, const redlock_lock_info *all,
                struct holder_clients *clients)
{
    struct asking *asking = calloc(1, sizeof(*asking));
    if (!asking)
        return;
    asking->cli = cli;
    asking->clients = clients;
    if (open_descriptors(asking) && load(asking, all))
        ask_all(asking, all);
    rl_config_free(&asking->config);
    if (asking->wake_fd >= 0)
        close(asking->wake_fd);
    if (asking->epoll_fd >= 0)
        close(asking->epoll_fd);
    free(asking);
}
