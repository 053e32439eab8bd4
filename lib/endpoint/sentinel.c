/* sentinel.c - the life of a Sentinel's connection: see sentinel.h. */
#include "config_auto.h"

#include "endpoint/endpoints.h"

#include "base/text_escape.h"
#include "base/times.h"
#include "config/sentinels.h"
#include "core/refusal.h"
#include "net/session.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#define ASK_NS (RL_WITNESS_D_NS / 2) /* ahead of what would be too old */

static void step(struct rl_sentinel *sentinel, unsigned epoll_events, int64_t now_ns);

static void on_ready(struct rl_tag *tag, unsigned epoll_events, int64_t now_ns)
{
    step((struct rl_sentinel *)tag, epoll_events, now_ns);
}

int rl_sentinel_init(struct rl_sentinel *sentinel, struct rl_endpoints *all,
                     const struct rl_node_config *line, unsigned at, int epoll_fd, int wake_fd,
                     char *why, size_t why_size)
{
    _Static_assert(sizeof(sentinel->label) >= RL_SENTINEL_LABEL_MAX, "label");
    *sentinel = (struct rl_sentinel){
        .tag = {.ready = on_ready},
        .all = all,
        .why = "not connected yet",
    };
    sentinel->config = rl_sentinel_config(line, at, sentinel->label);
    rl_retry_init(&sentinel->retry);
    if (sentinel->config.transport == RL_TLS) {
        sentinel->tls = rl_tls_context_new(&sentinel->config, why, why_size);
        if (!sentinel->tls)
            return REDLOCK_ECONFIG;
    }
    return rl_connection_init(&sentinel->connection, &sentinel->config, sentinel->tls, epoll_fd,
                              wake_fd, &sentinel->tag, rl_sentinel_on_bulk, sentinel);
}

void rl_sentinel_done(struct rl_sentinel *sentinel, bool in_child)
{
    rl_connection_done(&sentinel->connection, in_child);
    rl_tls_context_free(sentinel->tls);
    sentinel->tls = NULL;
}

/* The one place that changes the mode. */
void rl_sentinel_set_mode(struct rl_sentinel *sentinel, enum rl_sentinel_mode mode,
                          int64_t now_ns)
{
    assert(mode == RL_SENTINEL_DOWN || mode > sentinel->mode);
    assert((mode >= RL_SENTINEL_AUTH) ==
           (rl_link_state(sentinel->connection.link) == RL_LINK_OPEN));
    sentinel->mode = mode;
    sentinel->since_ns = now_ns;
}

static void plan_retry(struct rl_sentinel *sentinel, int64_t now_ns)
{
    const struct rl_node_settings *settings = sentinel->all->settings;
    if (sentinel->mode != RL_SENTINEL_UP && rl_refusal_lasts(sentinel->why))
        rl_retry_refused(&sentinel->retry, settings->prng, now_ns);
    else
        rl_driven_plan_retry(settings->driven, &sentinel->retry, settings->prng,
                             sentinel->mode == RL_SENTINEL_UP ? sentinel->since_ns : 0, now_ns);
}

void rl_sentinel_disconnect(struct rl_sentinel *sentinel, int64_t now_ns, const char *format,
                            ...)
{
    const struct rl_node_settings *settings = sentinel->all->settings;
    char why[sizeof(sentinel->why)];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof(why), format, args); /* it may be the link's own text */
    va_end(args);
    assert(sentinel->mode != RL_SENTINEL_DOWN);
    rl_text_escape(sentinel->why, sizeof(sentinel->why), why, strlen(why));
    rl_link_close(sentinel->connection.link);
    rl_connection_forget_login(&sentinel->connection);
    plan_retry(sentinel, now_ns);
    sentinel->heard = true;
    rl_sentinel_set_mode(sentinel, RL_SENTINEL_DOWN, now_ns);
    sentinel->asked_ns = 0;
    settings->events->log(settings->owner,
                          sentinel->retry.flaws <= 1 ? REDLOCK_LOG_WARNING : REDLOCK_LOG_DEBUG,
                          "%s: %s", sentinel->label, sentinel->why);
    for (unsigned i = 0; i < sentinel->lines; i++) {
        const struct rl_sentinel_line *line = &sentinel->line[i];
        rl_witness_gone(&line->node->named->witnesses, line->witness,
                        rl_unheard_of(sentinel->why));
    }
    for (unsigned i = 0; i < sentinel->lines; i++)
        rl_endpoints_heard(sentinel->all, sentinel->line[i].node, true, now_ns);
}

static void connect_now(struct rl_sentinel *sentinel, int64_t now_ns)
{
    const struct rl_node_settings *settings = sentinel->all->settings;
    assert(sentinel->mode == RL_SENTINEL_DOWN);
    sentinel->tried = true;
    rl_retry_begin(&sentinel->retry, now_ns);
    sentinel->deadline_ns = now_ns + settings->connect_timeout_ns;
    if (rl_session_connect(&sentinel->connection, now_ns, sentinel->deadline_ns,
                           settings->events->log, settings->owner)) {
        rl_retry_failed(&sentinel->retry, settings->prng, now_ns);
        return;
    }
    rl_sentinel_set_mode(sentinel, RL_SENTINEL_CONNECTING, now_ns);
    step(sentinel, 0, now_ns);
}

static void step(struct rl_sentinel *sentinel, unsigned epoll_events, int64_t now_ns)
{
    struct rl_link *link = sentinel->connection.link;
    rl_link_step(link, epoll_events, now_ns);
    if (rl_link_state(link) == RL_LINK_OPEN && sentinel->mode == RL_SENTINEL_CONNECTING)
        rl_sentinel_greet(sentinel, now_ns);
    if (rl_link_state(link) == RL_LINK_OPEN && (epoll_events & ~(unsigned)EPOLLOUT))
        rl_sentinel_read(sentinel);
    if (rl_link_state(link) == RL_LINK_OPEN)
        rl_sentinel_flush(sentinel, now_ns);
    if (rl_link_state(link) == RL_LINK_FAILED)
        rl_sentinel_disconnect(sentinel, now_ns, "%s",
                               rl_session_failure(&sentinel->connection,
                                                  sentinel->mode == RL_SENTINEL_GREETING));
}

void rl_sentinel_flush(struct rl_sentinel *sentinel, int64_t now_ns)
{
    if (rl_connection_unsent(&sentinel->connection) &&
        !rl_connection_flush(&sentinel->connection))
        rl_sentinel_disconnect(sentinel, now_ns, "%s",
                               rl_link_text(sentinel->connection.link));
}

void rl_sentinel_absent(struct rl_sentinel *sentinel, int64_t absent_ns)
{
    assert(absent_ns > 0);
    if (sentinel->mode == RL_SENTINEL_DOWN)
        return;
    sentinel->deadline_ns += absent_ns;
    rl_link_absent(sentinel->connection.link, absent_ns);
}

/* When to stop waiting; INT64_MAX: nothing is awaited. */
static int64_t limit_ns(struct rl_sentinel *sentinel)
{
    if (sentinel->mode == RL_SENTINEL_DOWN)
        return INT64_MAX;
    return sentinel->mode < RL_SENTINEL_UP || rl_connection_oldest(&sentinel->connection)
               ? sentinel->deadline_ns
               : INT64_MAX;
}

static int64_t ask_ns(struct rl_sentinel *sentinel)
{
    bool idle = sentinel->mode == RL_SENTINEL_UP &&
                !rl_connection_oldest(&sentinel->connection);
    return idle ? sentinel->asked_ns + ASK_NS : INT64_MAX;
}

void rl_sentinel_tick(struct rl_sentinel *sentinel, bool used, int64_t now_ns)
{
    if (sentinel->mode == RL_SENTINEL_CONNECTING)
        step(sentinel, 0, now_ns);
    /* Answers may lie unread in the socket: read before judging the silence. */
    if (now_ns >= limit_ns(sentinel) && sentinel->mode != RL_SENTINEL_CONNECTING)
        step(sentinel, EPOLLIN, now_ns);
    if (now_ns >= limit_ns(sentinel))
        rl_sentinel_disconnect(sentinel, now_ns, "%s",
                               rl_session_silence(sentinel->mode != RL_SENTINEL_CONNECTING));
    if (used && now_ns >= ask_ns(sentinel))
        rl_sentinel_ask(sentinel, now_ns);
    if (sentinel->mode == RL_SENTINEL_DOWN && (used || !sentinel->tried) &&
        now_ns >= sentinel->retry.at_ns)
        connect_now(sentinel, now_ns);
}

int64_t rl_sentinel_due_ns(struct rl_sentinel *sentinel, bool used)
{
    if (sentinel->mode == RL_SENTINEL_DOWN)
        return used || !sentinel->tried ? sentinel->retry.at_ns : INT64_MAX;
    int64_t due_ns = limit_ns(sentinel);
    if (used)
        due_ns = rl_earlier_ns(due_ns, ask_ns(sentinel));
    if (sentinel->mode == RL_SENTINEL_CONNECTING)
        due_ns = rl_earlier_ns(due_ns, rl_link_due_ns(sentinel->connection.link));
    return due_ns;
}

bool rl_sentinel_awaited(struct rl_sentinel *sentinel, int64_t now_ns)
{
    if (sentinel->mode != RL_SENTINEL_UP)
        return sentinel->retry.failures == 0;
    return rl_connection_oldest(&sentinel->connection) || now_ns >= ask_ns(sentinel);
}
