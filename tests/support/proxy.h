/* proxy.h - a byte proxy before a master, in one thread of the test's own. It delays, holds
 * back, cuts and resets, each direction and each connection apart. Tests change that while it
 * runs. */
#ifndef TEST_PROXY_H
#define TEST_PROXY_H

#include "masters.h"
#include "net.h"
#include "suite.h"

enum proxy_way { PROXY_THERE, PROXY_BACK }; /* to the master, from it */
enum { PROXY_ALL = -1 };                    /* every connection there is, and those to come */

struct proxy;

/* It listens on 127.0.0.1, or where `on_unix_socket` says so. */
struct proxy *proxy_start(const struct endpoint *master, bool on_unix_socket);
void proxy_stop(struct proxy *proxy);
const struct endpoint *proxy_endpoint(const struct proxy *proxy);

/* One before each master, and a node list file of them all: "guard off", and `settings` as for
 * masters_file(). The path is good until the next call. */
const char *proxies_start(const struct masters *masters, struct proxy *ret_proxies[],
                          bool on_unix_socket, const char *settings);
void proxies_stop(struct proxy *const proxies[], unsigned count);

/* `connection` counts from 0 in the order in which they came. */
void proxy_delay(struct proxy *proxy, int connection, enum proxy_way way, int ms);

/* Let only `bytes` more pass, keep the rest back (0: a black hole); -1: let all pass. */
void proxy_limit(struct proxy *proxy, int connection, enum proxy_way way, long bytes);

/* End connections; what is held back is lost. */
void proxy_cut(struct proxy *proxy, int connection, bool reset);

/* From now on it leads to another master, its connections too. Nothing may be under way. */
void proxy_lead(struct proxy *proxy, const struct endpoint *master);

/* New connections lead there; those that stand stay where they are. */
void proxy_lead_next(struct proxy *proxy, const struct endpoint *master);

/* As a balancer: each second one of the connections to come leads to that one. */
void proxy_take_turns(struct proxy *proxy, const struct endpoint *other);

/* That connection, and all behind it, lead there. */
void proxy_lead_from(struct proxy *proxy, unsigned connection, const struct endpoint *other);

/* New connections are closed at once. */
void proxy_shut(struct proxy *proxy, bool shut);

unsigned proxy_connections(struct proxy *proxy);            /* so far */
long proxy_passed(struct proxy *proxy, enum proxy_way way); /* bytes handed on, of all */

#endif
