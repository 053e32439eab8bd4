/* node_ask.c - see node_ask.h.
 *
 *   CONNECTING --> LOGIN --> ASKED <--> IDLE (no request is left)
 *       +------------+---------+-- refused, failed, too late --> FAILED
 */
#include "config_auto.h"

#include "redlock/node_ask.h"

#include "redlock/client_list.h"

#include "base/clock.h"
#include "base/eventfd.h"
#include "config/config_load.h"
#include "net/resolve.h"
#include "net/session.h"
#include "net/tls.h"

#include <assert.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#define EVENTS_MAX 16
enum step { NOT_ADDED, CONNECTING, LOGIN, ASKED, IDLE, FAILED };

struct master {
    struct rl_tag tag; /* first: the event tag of the link */
    struct node_ask *asking;
    const struct rl_node_config *config;
    struct rl_tls_context *tls;
    struct rl_connection connection;
    enum step step;
};

struct node_ask {
    struct rl_tag wake_tag; /* a host name is known */
    const struct node_questions *questions;
    void *context;
    struct rl_clock clock;
    struct rl_config config;
    int epoll_fd, wake_fd;
    int64_t deadline_ns; /* of this run */
    atomic_bool stopped;
    struct master master[REDLOCK_NODES_MAX];
};

static unsigned node_of(const struct master *master)
{
    return (unsigned)(master - master->asking->master);
}

/* The only place that changes the step. */
static void set_step(struct master *master, enum step step)
{
    static const unsigned allowed[] = {
        [NOT_ADDED] = 1U << CONNECTING,
        [CONNECTING] = 1U << LOGIN | 1U << ASKED | 1U << IDLE | 1U << FAILED,
        [LOGIN] = 1U << ASKED | 1U << IDLE | 1U << FAILED,
        [ASKED] = 1U << ASKED | 1U << IDLE | 1U << FAILED,
        [IDLE] = 1U << ASKED | 1U << IDLE | 1U << FAILED,
        [FAILED] = 0,
    };
    assert(allowed[master->step] & 1U << step);
    master->step = step;
}

__attribute__((format(printf, 2, 3))) static void fail(struct master *master,
                                                       const char *format, ...)
{
    char why[192];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof(why), format, arguments);
    va_end(arguments);
    set_step(master, FAILED);
    if (master->connection.link)
        rl_link_close(master->connection.link);
    master->asking->questions->on_failure(master->asking->context, node_of(master),
                                          cli_text(why, strlen(why)).text);
}

/* ---- what is asked ---------------------------------------------------------------------- */

/* It is logged in, or has answered: send its next request, if there is one. */
static void ask_next(struct master *master)
{
    /* Replies may be as long as INFO's. */
    struct rl_inflight inflight = {.type = RL_REQUEST_INFO, .deadline_ns = INT64_MAX};
    struct node_ask *asking = master->asking;
    const char *request = asking->questions->next(asking->context, node_of(master));
    if (!request) {
        set_step(master, IDLE);
        return;
    }
    set_step(master, ASKED);
    rl_connection_put(&master->connection, request, strlen(request), &inflight);
}

static void log_in(struct master *master, int64_t now_ns)
{
    char why[160];
    int queued = rl_session_login(&master->connection, now_ns, INT64_MAX, why, sizeof(why));
    if (queued < 0)
        fail(master, "%s", why);
    else if (queued == 0)
        ask_next(master);
    else
        set_step(master, LOGIN);
}

/* ---- what is answered ------------------------------------------------------------------- */

static void on_bulk(void *context, const char *bytes, size_t len)
{
    struct master *master = context;
    struct node_ask *asking = master->asking;
    if (master->step == ASKED && asking->questions->on_bulk)
        asking->questions->on_bulk(asking->context, node_of(master), bytes, len,
                                   &master->connection.mask);
}

static void answered(struct master *master, const struct rl_reply *reply)
{
    struct node_ask *asking = master->asking;
    const char *enough = asking->questions->on_reply(asking->context, node_of(master), reply);
    if (enough)
        fail(master, "%s", enough);
    else
        ask_next(master);
}

static void refused(struct master *master, const struct rl_reply *reply)
{
    struct node_ask *asking = master->asking;
    char text[160];
    rl_error_text(reply, &master->connection.mask, text, sizeof(text));
    if (master->step == ASKED && asking->questions->on_error &&
        asking->questions->on_error(asking->context, node_of(master),
                                    cli_text(text, strlen(text)).text))
        ask_next(master);
    else
        fail(master, "%s", text);
}

/* A whole reply. False: the connection is closed. */
static bool take(void *context, const struct rl_reply *reply, int64_t now_ns)
{
    struct master *master = context;
    char text[160];
    (void)now_ns;
    if (!rl_connection_oldest(&master->connection)) {
        rl_unasked_text(reply, &master->connection.mask, text, sizeof(text));
        fail(master, "%s", text);
        return false;
    }
    rl_connection_drop_oldest(&master->connection);
    if (reply->type == RL_REPLY_ERROR) {
        refused(master, reply);
    } else if (master->step == LOGIN && rl_login_accepted(reply)) {
        ask_next(master);
    } else if (master->step == ASKED) {
        answered(master, reply);
    } else {
        fail(master, "answered something that was not asked for");
    }
    return master->step != FAILED;
}

/* ---- connections ------------------------------------------------------------------------ */

static void move(struct rl_tag *tag, unsigned events, int64_t now_ns)
{
    struct master *master = (struct master *)tag;
    struct rl_connection *connection = &master->connection;
    if (master->step == FAILED)
        return;
    rl_link_step(connection->link, events, now_ns);
    if (rl_link_state(connection->link) == RL_LINK_OPEN) {
        if (master->step == CONNECTING)
            log_in(master, now_ns);
        if (master->step != FAILED && (events & ~(unsigned)EPOLLOUT) &&
            !rl_connection_read(connection, &master->asking->clock, take, NULL, master))
            fail(master, "%s", rl_reader_text(connection->reader));
        if (master->step != FAILED && rl_link_state(connection->link) == RL_LINK_OPEN)
            (void)rl_connection_flush(connection);
    }
    if (master->step != FAILED && rl_link_state(connection->link) == RL_LINK_FAILED)
        fail(master, "%s", rl_link_text(connection->link));
}

static void on_wake(struct rl_tag *tag, unsigned events, int64_t now_ns)
{
    struct node_ask *asking = (struct node_ask *)tag;
    (void)events;
    rl_eventfd_drain(asking->wake_fd);
    if (atomic_load(&asking->stopped))
        asking->deadline_ns = now_ns;
}

void node_ask_add(struct node_ask *asking, unsigned node)
{
    struct master *master = &asking->master[node];
    int64_t now_ns = rl_clock_steady_ns(&asking->clock);
    char why[160] = "";
    assert(node < asking->config.node_count && master->step == NOT_ADDED);
    *master = (struct master){
        .tag.ready = move, .asking = asking, .config = &asking->config.nodes[node]};
    set_step(master, CONNECTING);
    if (master->config->service)
        snprintf(why, sizeof(why), "its Sentinels name its server, and only locks ask them");
    else if (master->config->transport == RL_TLS)
        master->tls = rl_tls_context_new(master->config, why, sizeof(why));
    if (why[0]) {
        fail(master, "%s", why);
        return;
    }
    if (rl_connection_init(&master->connection, master->config, master->tls, asking->epoll_fd,
                           asking->wake_fd, &master->tag, on_bulk, master)) {
        fail(master, "out of memory");
        return;
    }
    master->connection.info_max = CLIENT_LIST_BYTES_MAX;
    if (asking->questions->backwards)
        rl_link_set_order(master->connection.link, rl_addresses_turn, NULL);
    rl_link_open(master->connection.link, now_ns,
                 now_ns + asking->config.connect_timeout_ms * RL_NS_PER_MS);
    move(&master->tag, 0, now_ns);
}

/* ---- all of them ------------------------------------------------------------------------ */

/* The first master that is to answer; NULL: none is. */
static struct master *under_way(struct node_ask *asking)
{
    for (unsigned i = 0; i < asking->config.node_count; i++) {
        enum step step = asking->master[i].step;
        if (step > NOT_ADDED && step < IDLE)
            return &asking->master[i];
    }
    return NULL;
}

/* Masters that connect also have deadlines, and host names that may have been resolved. */
static void turn(struct node_ask *asking, int64_t now_ns)
{
    struct epoll_event events[EVENTS_MAX];
    int64_t due_ns = asking->deadline_ns;
    for (unsigned i = 0; i < asking->config.node_count; i++) {
        if (asking->master[i].step == CONNECTING)
            due_ns = rl_earlier_ns(due_ns, rl_link_due_ns(asking->master[i].connection.link));
    }
    int64_t wait_ns = due_ns - now_ns;
    int wait_ms = wait_ns > 0 ? (int)((wait_ns + RL_NS_PER_MS - 1) / RL_NS_PER_MS) : 0;
    int count = epoll_wait(asking->epoll_fd, events, EVENTS_MAX, wait_ms);
    now_ns = rl_clock_steady_ns(&asking->clock);
    for (int i = 0; i < count; i++) {
        struct rl_tag *tag = events[i].data.ptr;
        tag->ready(tag, events[i].events, now_ns);
    }
    for (unsigned i = 0; i < asking->config.node_count; i++) {
        if (asking->master[i].step == CONNECTING)
            move(&asking->master[i].tag, 0, now_ns);
    }
}

void node_ask_run(struct node_ask *asking)
{
    int64_t now_ns = rl_clock_steady_ns(&asking->clock);
    asking->deadline_ns = now_ns + asking->config.connect_timeout_ms * RL_NS_PER_MS;
    for (unsigned i = 0; i < asking->config.node_count; i++) {
        if (asking->master[i].step != IDLE)
            continue;
        ask_next(&asking->master[i]);
        move(&asking->master[i].tag, 0, now_ns);
    }
    while (under_way(asking) && now_ns < asking->deadline_ns) {
        turn(asking, now_ns);
        now_ns = rl_clock_steady_ns(&asking->clock);
    }
    for (struct master *late; (late = under_way(asking));)
        fail(late, "no answer within connect-timeout");
}

static bool load(struct node_ask *asking)
{
    redlock_config from = REDLOCK_CONFIG_INIT;
    redlock_error error = REDLOCK_ERROR_INIT;
    from.file = cli_nodes_used();
    return rl_config_load(&asking->config, &from, NULL, NULL, &error) == 0;
}

static bool open_descriptors(struct node_ask *asking)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &asking->wake_tag};
    asking->wake_tag.ready = on_wake;
    asking->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    asking->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return asking->epoll_fd >= 0 && asking->wake_fd >= 0 &&
           epoll_ctl(asking->epoll_fd, EPOLL_CTL_ADD, asking->wake_fd, &event) == 0;
}

void node_ask_stop(struct node_ask *asking)
{
    atomic_store(&asking->stopped, true);
    rl_eventfd_signal(asking->wake_fd);
}

struct node_ask *node_ask_open(const struct node_questions *questions, void *context)
{
    struct node_ask *asking = calloc(1, sizeof(*asking));
    if (!asking)
        return NULL;
    asking->questions = questions;
    asking->context = context;
    if (open_descriptors(asking) && load(asking))
        return asking;
    node_ask_close(asking);
    return NULL;
}

const struct rl_config *node_ask_config(const struct node_ask *asking)
{
    return &asking->config;
}

int64_t node_ask_tls_left_s(const struct node_ask *asking, unsigned node)
{
    const struct rl_link *link = asking->master[node].connection.link;
    return link ? rl_link_tls_left_s(link) : -1;
}

void node_ask_close(struct node_ask *asking)
{
    if (!asking)
        return;
    for (unsigned i = 0; i < asking->config.node_count; i++) {
        rl_connection_done(&asking->master[i].connection, false);
        rl_tls_context_free(asking->master[i].tls);
    }
    rl_config_free(&asking->config);
    if (asking->wake_fd >= 0)
        close(asking->wake_fd);
    if (asking->epoll_fd >= 0)
        close(asking->epoll_fd);
    free(asking);
}
