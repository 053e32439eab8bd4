/* net.h - blocking sockets for the tests' own servers and clients. */
#ifndef TEST_NET_H
#define TEST_NET_H

#include <stdbool.h>
#include <stddef.h>

/* A unix socket where `path` is set, else 127.0.0.1:port. */
struct endpoint {
    char path[108];
    int port;
};

void endpoint_unix(struct endpoint *ret, const char *dir, const char *file);

/* As a node list file writes it; `ret_url` has ENDPOINT_URL_MAX bytes. */
#define ENDPOINT_URL_MAX 128
void endpoint_url(const struct endpoint *endpoint, char *ret_url);

/* Port 0 is replaced by the port that was given. Never fails but by ending the program. */
int net_listen(struct endpoint *at, int backlog);

/* A port that was free a moment ago. */
int net_free_port(void);

/* A blocking descriptor, or -1. */
int net_connect(const struct endpoint *to);

/* A descriptor that does not block and is not connected yet, or -1. */
int net_connect_begin(const struct endpoint *to);

/* False: the peer is gone. */
bool net_send(int fd, const void *bytes, size_t len);

/* Close; with `reset` the peer gets RST (TCP) and unsent bytes are dropped. */
void net_close(int fd, bool reset);

#endif
