/* rig.c - see rig.h. */
#include "config_auto.h"

#include "rig.h"

#include "base/clock.h"
#include "base/limits.h"
#include "suite.h"

#include <dirent.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { LIMIT_MS = 5000 };

static void begin(struct rig *rig)
{
    char why[256];
    if (rig->node.transport == RL_TLS) {
        rig->tls = rl_tls_context_new(&rig->node, why, sizeof(why));
        if (!rig->tls)
            suite_die("%s", why);
    }
    rig->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    rig->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &rig->wake_fd};
    if (epoll_ctl(rig->epoll_fd, EPOLL_CTL_ADD, rig->wake_fd, &event) != 0)
        suite_die("no epoll set");
    rig->link = rl_link_new(&rig->node, rig->tls, rig->epoll_fd, rig->wake_fd, rig);
    ck_assert_ptr_nonnull(rig->link);
    ck_assert_int_eq(rl_link_state(rig->link), RL_LINK_IDLE);
}

void rig_begin_unix(struct rig *rig, const char *path)
{
    *rig = (struct rig){.node = {.transport = RL_UNIX, .path = (char *)path}};
    begin(rig);
}

void rig_begin_tcp(struct rig *rig, const char *host, int port)
{
    *rig = (struct rig){.node = {.transport = RL_TCP, .host = (char *)host, .port = port}};
    begin(rig);
}

void rig_begin_tls(struct rig *rig, const char *host, int port, const char *ca_file,
                   const char *cert_file, const char *key_file)
{
    *rig = (struct rig){.node = {.transport = RL_TLS, .host = (char *)host, .port = port}};
    rig->node.ca_file = (char *)ca_file;
    rig->node.cert_file = (char *)cert_file;
    rig->node.key_file = (char *)key_file;
    begin(rig);
}

void rig_end(struct rig *rig)
{
    rl_link_free(rig->link);
    rl_tls_context_free(rig->tls);
    close(rig->epoll_fd);
    close(rig->wake_fd);
}

void rig_open(struct rig *rig, int64_t budget_ms)
{
    int64_t now_ns = rl_clock_now_ns();
    rl_link_open(rig->link, now_ns, now_ns + budget_ms * RL_NS_PER_MS);
}

bool rig_turn(struct rig *rig, int64_t limit_ms)
{
    struct epoll_event events[4];
    int64_t now_ns = rl_clock_now_ns();
    int64_t until_ns = now_ns + limit_ms * RL_NS_PER_MS;
    bool due = rl_link_due_ns(rig->link) <= until_ns;
    if (due)
        until_ns = rl_link_due_ns(rig->link);
    int64_t wait_ms = until_ns > now_ns ? (until_ns - now_ns + RL_NS_PER_MS - 1) / RL_NS_PER_MS
                                        : 0;
    int count = epoll_wait(rig->epoll_fd, events, 4, (int)wait_ms);
    for (int i = 0; i < count; i++) {
        uint64_t value;
        if (events[i].data.ptr == &rig->wake_fd) {
            rig->wakes++;
            ck_assert_int_eq(read(rig->wake_fd, &value, sizeof(value)), sizeof(value));
            rl_link_step(rig->link, 0, rl_clock_now_ns());
        } else {
            ck_assert_ptr_eq(events[i].data.ptr, rig);
            rig->events++;
            rig->last = events[i].events;
            rl_link_step(rig->link, events[i].events, rl_clock_now_ns());
        }
    }
    if (count <= 0 && due)
        rl_link_step(rig->link, 0, rl_clock_now_ns());
    return count > 0 || due;
}

enum rl_link_state rig_settle(struct rig *rig, int64_t limit_ms)
{
    int64_t end = now_ms() + limit_ms;
    for (;;) {
        enum rl_link_state state = rl_link_state(rig->link);
        int64_t left = end - now_ms();
        if (state == RL_LINK_OPEN || state == RL_LINK_FAILED || left <= 0)
            return state;
        rig_turn(rig, left);
    }
}

void rig_expect_open(struct rig *rig)
{
    rig_open(rig, LIMIT_MS);
    ck_assert_msg(rig_settle(rig, LIMIT_MS) == RL_LINK_OPEN, "state %d: %s",
                  rl_link_state(rig->link), rl_link_text(rig->link));
    ck_assert_int_eq(rl_link_due_ns(rig->link), INT64_MAX);
    ck_assert_str_eq(rl_link_text(rig->link), "");
}

void rig_expect_failed(struct rig *rig, const char *text)
{
    ck_assert_msg(rig_settle(rig, LIMIT_MS) == RL_LINK_FAILED, "state %d",
                  rl_link_state(rig->link));
    ck_assert_str_eq(rl_link_text(rig->link), text);
    ck_assert_int_eq(rl_link_due_ns(rig->link), INT64_MAX);
    ck_assert_int_eq(rig->link->fd, -1);
}

bool rig_read(struct rig *rig, void *ret_bytes, size_t len)
{
    int64_t end = now_ms() + LIMIT_MS;
    for (size_t total = 0; total < len;) {
        ssize_t got = rl_link_recv(rig->link, (char *)ret_bytes + total, len - total);
        if (got < 0 || now_ms() > end)
            return false;
        total += (size_t)got;
        if (got == 0)
            rig_turn(rig, 100);
    }
    return true;
}

unsigned rig_descriptors(void)
{
    unsigned count = 0;
    DIR *open_now = opendir("/proc/self/fd");
    ck_assert_ptr_nonnull(open_now);
    while (readdir(open_now))
        count++;
    closedir(open_now);
    return count;
}
