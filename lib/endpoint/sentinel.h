/* sentinel.h - the connection to one Sentinel, on which it is asked who is master. Each address has
 * one in a client, shared by all lines that name it.
 *
 *   DOWN --retry--> CONNECTING --open--> AUTH --> GREETING --> UP
 *    ^                  +------------------+----------+---------+  any failure
 *
 * GREETING asks for its uptime and its id, which must be known before the first question. That is
 * SENTINEL MASTER and SENTINEL GET-MASTER-ADDR-BY-NAME for each of the lines, in one write. One
 * is under way at a time.
 */
#ifndef RL_SENTINEL_H
#define RL_SENTINEL_H

#include "core/statement.h"
#include "node/node.h"

enum rl_sentinel_mode {
    RL_SENTINEL_DOWN,
    RL_SENTINEL_CONNECTING,
    RL_SENTINEL_AUTH,
    RL_SENTINEL_GREETING,
    RL_SENTINEL_UP
};

struct rl_endpoints;

/* A line that names it. */
struct rl_sentinel_line {
    struct rl_node *node;
    unsigned witness; /* its place among those of the line */
};

struct rl_sentinel {
    struct rl_tag tag; /* the event tag of the link; must be first */
    struct rl_endpoints *all;
    struct rl_node_config config;
    char label[RL_HOST_MAX + 48];
    struct rl_tls_context *tls;
    struct rl_connection connection;
    struct rl_sentinel_line line[REDLOCK_NODES_MAX];
    unsigned lines;

    enum rl_sentinel_mode mode;
    int64_t since_ns;    /* of the mode */
    int64_t deadline_ns; /* CONNECTING, AUTH, GREETING */
    struct rl_retry retry;
    bool tried, heard; /* it was connected to; and has answered, or failed to */
    int64_t asked_ns; /* when it was asked last, on this connection; 0: not yet */
    int64_t epoch;    /* of the clock, then */
    int64_t uptime_s; /* of its process, as of greeting; -1: not told */
    bool is_server;   /* INFO says that it is no Sentinel */
    struct rl_sentinel_told told; /* the answer that is being read */
    char field[32];               /* whose value comes next */
    unsigned texts;               /* of this array, so far */
    enum rl_unheard refused; /* what this answer is instead; SILENT: it is one */
    char why[192];           /* DOWN: the reason */
};

/* 0, ENOMEM, or ECONFIG with `why` filled in (TLS certificates). `at` is one of the line's. */
int rl_sentinel_init(struct rl_sentinel *sentinel, struct rl_endpoints *all,
                     const struct rl_node_config *line, unsigned at, int epoll_fd, int wake_fd,
                     char *why, size_t why_size);
void rl_sentinel_done(struct rl_sentinel *sentinel, bool in_child);

void rl_sentinel_absent(struct rl_sentinel *sentinel, int64_t absent_ns);

/* Time passed. `used`: somebody wants to know who is master. */
void rl_sentinel_tick(struct rl_sentinel *sentinel, bool used, int64_t now_ns);
int64_t rl_sentinel_due_ns(struct rl_sentinel *sentinel, bool used); /* INT64_MAX: no need */

/* Is its answer awaited, or will it be asked at once? */
bool rl_sentinel_awaited(struct rl_sentinel *sentinel, int64_t now_ns);

/* ---- between sentinel*.c only ------------------------------------------------------------- */

void rl_sentinel_set_mode(struct rl_sentinel *sentinel, enum rl_sentinel_mode mode,
                          int64_t now_ns);
void rl_sentinel_disconnect(struct rl_sentinel *sentinel, int64_t now_ns, const char *format,
                            ...) __attribute__((format(printf, 3, 4)));
void rl_sentinel_flush(struct rl_sentinel *sentinel, int64_t now_ns);

/* sentinel_talk.c: the link has opened; ask; read what has come. Each may disconnect. */
void rl_sentinel_greet(struct rl_sentinel *sentinel, int64_t now_ns);
void rl_sentinel_ask(struct rl_sentinel *sentinel, int64_t now_ns);
void rl_sentinel_read(struct rl_sentinel *sentinel);
void rl_sentinel_on_bulk(void *sentinel, const char *bytes, size_t len);

#endif
