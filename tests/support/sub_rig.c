/* sub_rig.c - see sub_rig.h. */
#include "config_auto.h"

#include "sub_rig.h"

#include "base/clock.h"
#include "net/link_internal.h"
#include "net/tls.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- what it tells -------------------------------------------------------------------- */

static void on_woken(void *owner, struct rl_node *node, uint64_t seq, int64_t now_ns)
{
    struct sub_rig *rig = owner;
    ck_assert_uint_eq(node->index, SUB_RIG_INDEX);
    ck_assert_int_gt(now_ns, 0);
    ck_assert(rl_sub_listens(&rig->sub));
    rig->woken++;
    rig->seq = seq;
    rig->sum += seq;
    if (rig->on_woken)
        rig->on_woken(rig);
}

static void on_changed(void *owner, struct rl_node *node, bool listens, int64_t now_ns)
{
    struct sub_rig *rig = owner;
    ck_assert_uint_eq(node->index, SUB_RIG_INDEX);
    ck_assert_int_gt(now_ns, 0);
    ck_assert(rl_sub_listens(&rig->sub) == listens);
    ck_assert_uint_eq(rig->came, rig->went + !listens); /* it takes turns */
    if (listens)
        rig->came++;
    else
        rig->went++;
    if (!listens && rig->on_went)
        rig->on_went(rig);
}

static void on_log(void *owner, int level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void on_log(void *owner, int level, const char *format, ...)
{
    struct sub_rig *rig = owner;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (level == REDLOCK_LOG_DEBUG) {
        rig->debugs++;
    } else {
        rig->warnings++;
        memcpy(rig->warning, text, sizeof(text));
    }
}

static void on_heard(void *owner, struct rl_node *node, struct rl_channel *channel,
                     int64_t now_ns)
{
    struct sub_rig *rig = owner;
    ck_assert_uint_eq(node->index, SUB_RIG_INDEX);
    ck_assert_int_gt(now_ns, 0);
    ck_assert_uint_ne(rl_channel_listening(channel) & rl_bit(node->index), 0);
    ck_assert_uint_gt(channel->users, 0);
    rig->heard++;
    rig->heard_on = channel;
}

static void on_hears(void *owner, struct rl_node *node, struct rl_channel *channel,
                     int64_t now_ns)
{
    struct sub_rig *rig = owner;
    ck_assert_uint_eq(node->index, SUB_RIG_INDEX);
    ck_assert_int_gt(now_ns, 0);
    ck_assert_uint_ne(rl_channel_listening(channel) & rl_bit(node->index), 0);
    ck_assert_uint_gt(channel->users, 0);
    rig->hears++;
}

static const struct rl_sub_events events = {on_woken, on_changed, on_log,
                                            on_heard, on_hears,   NULL};

/* ---- its surroundings ----------------------------------------------------------------- */

void sub_rig_node(struct sub_rig *rig, const struct endpoint *at)
{
    static const struct rl_driven always;
    *rig = (struct sub_rig){.node = {.label = (char *)"redis://node"}};
    rig->node.transport = at->path[0] ? RL_UNIX : RL_TCP;
    rig->node.path = (char *)at->path;
    rig->node.host = (char *)"127.0.0.1";
    rig->node.port = at->port;
    rig->settings = (struct rl_node_settings){
        .connect_timeout_ns = RL_NS_PER_S,
        .stall_limit_ns = RL_NS_PER_S / 5,
        .driven = &always,
        .connection_name = "redlock-rig",
    };
}

void sub_rig_begin(struct sub_rig *rig)
{
    char why[256];
    rl_prng_seed(&rig->prng, 1);
    rig->settings.owner = rig;
    rig->settings.prng = &rig->prng;
    rig->settings.clock = &rig->clock;
    rig->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    rig->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = rig};
    if (epoll_ctl(rig->epoll_fd, EPOLL_CTL_ADD, rig->wake_fd, &event) != 0)
        suite_die("no epoll set");
    if (rig->node.transport == RL_TLS &&
        !(rig->master.tls = rl_tls_context_new(&rig->node, why, sizeof(why))))
        suite_die("%s", why);
    rig->master.index = SUB_RIG_INDEX;
    rig->master.config = &rig->node;
    rig->master.settings = &rig->settings;
    ck_assert_int_eq(rl_sub_init(&rig->sub, &rig->master, &events, SUB_RIG_UUID, rig->epoll_fd,
                                 rig->wake_fd),
                     0);
    rig->sub.channels = &rig->channels;
}

void sub_rig_end(struct sub_rig *rig)
{
    rl_sub_done(&rig->sub, false);
    rl_channels_free(&rig->channels);
    rl_tls_context_free(rig->master.tls);
    close(rig->epoll_fd);
    close(rig->wake_fd);
}

void sub_rig_want(struct sub_rig *rig)
{
    rl_sub_want(&rig->sub, rl_clock_now_ns());
}

void sub_rig_turn(struct sub_rig *rig, int64_t limit_ms)
{
    struct epoll_event ready[4];
    int64_t now_ns = rl_clock_now_ns();
    int64_t left_ns = rl_sub_due_ns(&rig->sub) - now_ns;
    if (left_ns > limit_ms * RL_NS_PER_MS)
        left_ns = limit_ms * RL_NS_PER_MS;
    int wait_ms = left_ns > 0 ? (int)((left_ns + RL_NS_PER_MS - 1) / RL_NS_PER_MS) : 0;
    int count = epoll_wait(rig->epoll_fd, ready, 4, wait_ms);
    now_ns = rl_clock_now_ns();
    for (int i = 0; i < count; i++) {
        struct rl_tag *tag = ready[i].data.ptr;
        uint64_t value;
        if (ready[i].data.ptr == rig)
            ck_assert_int_eq(read(rig->wake_fd, &value, sizeof(value)), sizeof(value));
        else
            tag->ready(tag, ready[i].events, now_ns);
    }
    rl_sub_tick(&rig->sub, now_ns);
}

void sub_rig_expect_listening(struct sub_rig *rig)
{
    sub_rig_want(rig);
    ck_assert_msg(sub_rig_until(rig, rl_sub_listens(&rig->sub)), "mode %d: %s", rig->sub.mode,
                  rig->sub.why);
}

/* ---- the server's side, by hand ------------------------------------------------------- */

void sub_peer_begin(struct sub_peer *peer, struct sub_rig *rig)
{
    char dir[SUITE_PATH_MAX];
    *peer = (struct sub_peer){.fd = -1};
    suite_new_dir(dir);
    endpoint_unix(&peer->at, dir, "peer");
    peer->listener = net_listen(&peer->at, 16);
    sub_rig_node(rig, &peer->at);
}

void sub_peer_end(struct sub_peer *peer)
{
    sub_peer_hang_up(peer);
    close(peer->listener);
}

void sub_peer_hang_up(struct sub_peer *peer)
{
    if (peer->fd >= 0)
        close(peer->fd);
    peer->fd = -1;
}

void sub_peer_admit(struct sub_peer *peer, struct sub_rig *rig)
{
    sub_peer_hang_up(peer);
    peer->heard_len = 0;
    peer->heard[0] = '\0';
    ck_assert(sub_rig_until(rig, rig->sub.mode >= RL_SUB_CONNECTING));
    peer->fd = accept4(peer->listener, NULL, NULL, SOCK_CLOEXEC);
    ck_assert_int_ge(peer->fd, 0);
}

/* Has it something to read? */
static bool has_unread(const struct sub_rig *rig)
{
    int bytes = 0;
    int fd = rig->sub.connection.link->fd;
    return fd >= 0 && ioctl(fd, FIONREAD, &bytes) == 0 && bytes > 0;
}

void sub_peer_say_n(struct sub_peer *peer, struct sub_rig *rig, const char *bytes, size_t len)
{
    int64_t end = now_ms() + SUB_RIG_LIMIT_MS;
    bool there = true;
    while (there && (len > 0 || has_unread(rig)) && now_ms() < end) {
        ssize_t sent = send(peer->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
        there = sent >= 0 || errno == EAGAIN;
        if (sent > 0) {
            bytes += sent;
            len -= (size_t)sent;
        }
        sub_rig_turn(rig, 0);
    }
    ck_assert_int_lt(now_ms(), end);
}

void sub_peer_say(struct sub_peer *peer, struct sub_rig *rig, const char *text)
{
    sub_peer_say_n(peer, rig, text, strlen(text));
}

/* False: the subscriber has closed it. */
static bool hear(struct sub_peer *peer)
{
    size_t room = sizeof(peer->heard) - 1 - peer->heard_len;
    ssize_t got = recv(peer->fd, peer->heard + peer->heard_len, room, MSG_DONTWAIT);
    if (got < 0)
        return errno == EAGAIN;
    peer->heard_len += (size_t)got;
    peer->heard[peer->heard_len] = '\0';
    return got > 0;
}

bool sub_peer_hears(struct sub_peer *peer, struct sub_rig *rig, const char *text)
{
    return sub_rig_until(rig, (hear(peer), strstr(peer->heard, text) != NULL));
}

bool sub_peer_is_left(struct sub_peer *peer, struct sub_rig *rig)
{
    return sub_rig_until(rig, !hear(peer));
}

void sub_peer_expect_listening(struct sub_peer *peer, struct sub_rig *rig)
{
    sub_rig_want(rig);
    sub_peer_admit(peer, rig);
    ck_assert(sub_peer_hears(peer, rig, "SUBSCRIBE"));
    sub_peer_say(peer, rig, SUB_OK SUB_CONFIRMED);
    ck_assert_msg(rl_sub_listens(&rig->sub), "mode %d: %s", rig->sub.mode, rig->sub.why);
}
