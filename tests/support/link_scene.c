/* link_scene.c - see link_scene.h. */
#include "config_auto.h"

#include "link_scene.h"

#include "fake_dns.h"
#include "loopback.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

struct rig link_rig;
unsigned epoll_ctls;
struct endpoint at;
int listen_fd, peer_fd;
int port;

int epoll_ctl(int set, int operation, int fd, struct epoll_event *event)
{
    epoll_ctls++;
    return (int)syscall(SYS_epoll_ctl, set, operation, fd, event);
}

/* ---- peers ------------------------------------------------------------------------------ */

void accept_peer(void)
{
    rig_expect_open(&link_rig);
    peer_fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
    ck_assert_int_ge(peer_fd, 0);
}

void set_up_unix(void)
{
    char dir[SUITE_PATH_MAX];
    suite_new_dir(dir);
    endpoint_unix(&at, dir, "socket");
    listen_fd = net_listen(&at, 16);
    rig_begin_unix(&link_rig, at.path);
    accept_peer();
}

void set_up_tcp(void)
{
    at = (struct endpoint){.port = 0};
    listen_fd = net_listen(&at, 16);
    rig_begin_tcp(&link_rig, "127.0.0.1", at.port);
    accept_peer();
}

void tear_down_peer(void)
{
    rig_end(&link_rig);
    close(listen_fd);
    close(peer_fd);
}

/* ---- names ------------------------------------------------------------------------------ */

void set_up_name(void)
{
    port = net_free_port();
    rig_begin_tcp(&link_rig, "redis.example", port);
}

void tear_down_name(void)
{
    rig_end(&link_rig);
    fake_dns_release();
    ck_assert(wait_until(fake_dns_lent() == 0 && fake_dns_waiting() == 0, 5000));
}

const char *with_port(const char *format)
{
    return loopback_text(format, port);
}
