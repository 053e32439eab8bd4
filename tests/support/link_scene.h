/* link_scene.h - a link and who is at its other end: what the tests of links share. The rig's
 * link is open when a test begins (peers), or has a name to look up (names).
 *
 * No part of the support library: it has an epoll_ctl() of its own, which counts. */
#ifndef TEST_LINK_SCENE_H
#define TEST_LINK_SCENE_H

#include "rig.h"
#include "suite.h"

extern struct rig link_rig;
extern unsigned epoll_ctls; /* calls so far, the library's among them */

/* Fixtures of the tests with a peer, on a unix socket or on a port of 127.0.0.1. */
void set_up_unix(void);
void set_up_tcp(void);
extern struct endpoint at;
extern int listen_fd, peer_fd;

/* Connect (once more), with a new peer_fd. */
void accept_peer(void);

void tear_down_peer(void);
#define PEER_CASE .timeout_s = 30, .tear_down = tear_down_peer

/* Fixtures of the tests in which fake_dns.h tells where "redis.example" is, and `port` is one
 * that was free a moment ago. */
void set_up_name(void);
void tear_down_name(void);
extern int port;

/* `format` with the port in place of each %d; good until the next call. */
const char *with_port(const char *format);

#endif
