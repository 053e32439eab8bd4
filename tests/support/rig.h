/* rig.h - one link with an epoll set, a wake descriptor and a small loop around it. */
#ifndef TEST_RIG_H
#define TEST_RIG_H

#include "net/link.h"
#include "net/link_internal.h"
#include "net.h"

#include <stdbool.h>
#include <stddef.h>

struct rig {
    int epoll_fd;
    int wake_fd;
    struct rl_node_config node;
    struct rl_tls_context *tls;
    struct rl_link *link;
    unsigned wakes;   /* times the wake descriptor fired */
    unsigned events;  /* epoll events of the link so far */
    unsigned last;    /* and the last one's */
};

void rig_begin_unix(struct rig *rig, const char *path);
void rig_begin_tcp(struct rig *rig, const char *host, int port);
void rig_begin_tls(struct rig *rig, const char *host, int port, const char *ca_file,
                   const char *cert_file, const char *key_file);
void rig_end(struct rig *rig);

/* Begin to connect, with this budget. */
void rig_open(struct rig *rig, int64_t budget_ms);

/* One turn: wait for events, the link's own due time or `limit_ms`, and step the link. False:
 * nothing but the limit came. */
bool rig_turn(struct rig *rig, int64_t limit_ms);

/* Turn until the link is OPEN or FAILED: the state; what it is at the limit otherwise. */
enum rl_link_state rig_settle(struct rig *rig, int64_t limit_ms);

/* Open, settle and expect OPEN; FAILED and the text. */
void rig_expect_open(struct rig *rig);
void rig_expect_failed(struct rig *rig, const char *text);

/* Turn until `len` bytes have come. False: the link failed or 5 s have passed. */
bool rig_read(struct rig *rig, void *ret_bytes, size_t len);

/* Descriptors this process has open. */
unsigned rig_descriptors(void);

#endif
