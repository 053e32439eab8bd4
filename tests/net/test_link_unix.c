/* test_link_unix.c - unix sockets that are missing, dead or full, and a real name look-up. */
#include "config_auto.h"

#include "base/clock.h"
#include "base/limits.h"
#include "rig.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { LIMIT_MS = 5000 };

static struct rig rig;
static struct endpoint at;
static char text[256];

static void set_up(void)
{
    char dir[SUITE_PATH_MAX];
    suite_new_dir(dir);
    endpoint_unix(&at, dir, "socket");
    rig_begin_unix(&rig, at.path);
}

static void tear_down(void)
{
    rig_end(&rig);
}

static const char *with_path(const char *reason)
{
    snprintf(text, sizeof(text), "%s: %s", at.path, reason);
    return text;
}

TEST(unix, missing_socket_is_told)
{
    rig_open(&rig, LIMIT_MS);
    rig_expect_failed(&rig, with_path(strerror(ENOENT)));
}

TEST(unix, socket_that_nobody_listens_on_is_told)
{
    close(net_listen(&at, 8));
    rig_open(&rig, LIMIT_MS);
    rig_expect_failed(&rig, with_path(strerror(ECONNREFUSED)));
}

TEST(unix, file_that_is_no_socket_is_told)
{
    close(open(at.path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    rig_open(&rig, LIMIT_MS);
    rig_expect_failed(&rig, with_path(strerror(ECONNREFUSED)));
}

TEST(unix, longest_path_works)
{
    char path[RL_UNIX_PATH_MAX + 1];
    size_t len = strlen(at.path);
    ck_assert_uint_lt(len, sizeof(path));
    memset(path, 's', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    memcpy(path, at.path, len);
    rig_end(&rig);
    snprintf(at.path, sizeof(at.path), "%s", path);
    net_listen(&at, 8);
    rig_begin_unix(&rig, path);
    rig_expect_open(&rig);
}

/* Connections until the backlog takes no more: how many. */
static unsigned fill_backlog(int *fds, unsigned size)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof(name.sun_path), "%s", at.path);
    for (unsigned i = 0; i < size; i++) {
        fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (connect(fds[i], (struct sockaddr *)&name, sizeof(name)) != 0) {
            ck_assert_int_eq(errno, EAGAIN);
            close(fds[i]);
            return i;
        }
    }
    suite_die("the backlog is never full");
}

TEST(unix, full_backlog_is_waited_for)
{
    int fds[16];
    int listener = net_listen(&at, 1);
    ck_assert_uint_gt(fill_backlog(fds, 16), 0);
    rig_open(&rig, LIMIT_MS);
    for (int i = 0; i < 5; i++) {
        rig_turn(&rig, LIMIT_MS);
        ck_assert_int_eq(rl_link_state(rig.link), RL_LINK_CONNECTING);
    }
    ck_assert_uint_eq(rig.events, 0); /* it has not been spinning on its descriptor */
    close(accept(listener, NULL, NULL));
    ck_assert_int_eq(rig_settle(&rig, LIMIT_MS), RL_LINK_OPEN);
}

TEST(unix, backlog_that_stays_full_costs_budget)
{
    int fds[16];
    net_listen(&at, 1);
    fill_backlog(fds, 16);
    unsigned before = rig_descriptors();
    int64_t begun = now_ms();
    rig_open(&rig, 100);
    unsigned turns = 0;
    while (rl_link_state(rig.link) == RL_LINK_CONNECTING) {
        ck_assert_int_le(rl_link_due_ns(rig.link), rig.link->deadline_ns);
        rig_turn(&rig, LIMIT_MS);
        turns++;
    }
    rig_expect_failed(&rig, with_path("timed out: its backlog is full"));
    ck_assert_int_ge(now_ms() - begun, 99);
    ck_assert_uint_le(turns, 100);
    ck_assert_uint_eq(rig_descriptors(), before);
}

TEST(unix, unprintable_path_is_shown_safely)
{
    size_t len = strlen(at.path);
    memcpy(at.path + len - 6, "s\nk\033t\177", 6);
    rig_open(&rig, LIMIT_MS);
    ck_assert_int_eq(rl_link_state(rig.link), RL_LINK_FAILED);
    for (const char *c = rl_link_text(rig.link); *c; c++)
        ck_assert(*c >= ' ' && *c != '\177');
}

/* No stand-in for the resolver in this program: the system's own is asked. */
TEST(unix, localhost_is_found)
{
    struct endpoint tcp = {.port = 0};
    int listener = net_listen(&tcp, 8);
    rig_end(&rig);
    rig_begin_tcp(&rig, "localhost", tcp.port);
    rig_expect_open(&rig);
    close(listener);
}

TEST(unix, name_that_can_not_exist_is_told)
{
    rig_end(&rig);
    rig_begin_tcp(&rig, "no such host", 6379);
    rig_open(&rig, LIMIT_MS);
    ck_assert_int_eq(rig_settle(&rig, LIMIT_MS), RL_LINK_FAILED);
    ck_assert_int_eq(strncmp(rl_link_text(rig.link), "no such host: ", 14), 0);
}

CASE(unix, .timeout_s = 30, .set_up = set_up, .tear_down = tear_down)
