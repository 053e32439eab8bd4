/* node.h - one master: its connections, its greeting, whether it may vote, who awaits what.
 *
 * Its modes are drawn in docs/ARCHITECTURE.md.
 *
 * AUTH is sent alone and answered before anything follows. GREETING selects the database,
 * names the connection and asks INFO: without it there is no vote (server_info.h).
 *
 * A node has two slots. One is in use. When the oldest request on it has been unanswered for
 * much longer than an answer takes, the link drains: it stays for order (what was sent on it
 * may still be executed, and the release must come behind it) while the other slot connects
 * anew; again after stall-limit at the earliest. A node whose oldest request is past its
 * deadline is stalled: it gets no new acquires, so a dead node costs nothing and gathers no
 * memory.
 */
#ifndef RL_NODE_H
#define RL_NODE_H

#include "core/driven.h"
#include "core/hold.h"
#include "core/identity.h"
#include "core/reconnect.h"
#include "net/tls.h"
#include "net/connection.h"

enum rl_mode { RL_DOWN, RL_CONNECTING, RL_AUTH, RL_GREETING, RL_UP };

/* Why a node that is UP does not vote. */
enum rl_fitness { RL_FIT, RL_GUARDED, RL_UNFIT };

struct rl_node;

/* A script's answer, judged. */
struct rl_vote_reply {
    enum rl_vote vote;
    struct rl_answer answer; /* YES, NO */
    const char *holder;      /* with_holder */
    size_t holder_len;
    const char *details; /* with_details */
    size_t details_len;
    const char *why; /* FAILED: the master's own words */
};

/* What a node tells its owner. */
struct rl_node_events {
    void (*answered)(void *owner, struct rl_node *node, unsigned slot,
                     const struct rl_inflight *inflight, const struct rl_vote_reply *vote_reply,
                     int64_t now_ns);
    /* NOSCRIPT to a digest: certainly not executed. */
    void (*unexecuted)(void *owner, struct rl_node *node, unsigned slot,
                       const struct rl_inflight *inflight, int64_t now_ns);
    /* The link that should bring the answer drains: told of each request that it owes. */
    void (*drains)(void *owner, struct rl_node *node, unsigned slot,
                   const struct rl_inflight *inflight, int64_t now_ns);
    /* The link that should have brought the answer is gone. */
    void (*lost)(void *owner, struct rl_node *node, unsigned slot,
                 const struct rl_inflight *inflight, int64_t now_ns);
    void (*pinged)(void *owner, struct rl_node *node, int64_t round_trip_ns);
    /* It was taught something, or asked for it (duplicates.c). */
    void (*proved)(void *owner, struct rl_node *node, const struct rl_inflight *inflight,
                   const struct rl_reply *reply, int64_t now_ns);
    /* UP or lost, or what is known of the server has changed: look at duplicates and due
     * releases, and whether to wait for it. */
    void (*changed)(void *owner, struct rl_node *node, int64_t now_ns);
    void (*log)(void *owner, int level, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
};

/* What all nodes of a client share. */
struct rl_node_settings {
    void *owner;
    const struct rl_node_events *events;
    struct rl_clock *clock;
    struct rl_prng *prng;
    int64_t connect_timeout_ns;
    int64_t
        node_timeout_ns; /* of one request in a round, at the most; 0: no bound of its own */
    int64_t stall_limit_ns;
    int64_t drain_limit_ns; /* a link that drains is closed after so long */
    int64_t guard_window_ns;
    bool guard;
    struct rl_driven driven;
    char connection_name[128]; /* CLIENT SETNAME */
};

struct rl_slot {
    struct rl_tag tag; /* first: the event tag of the slot's link */
    struct rl_node *node;
    unsigned index;
    struct rl_connection connection;
};

struct rl_node {
    unsigned index;
    const struct rl_node_config *config;
    const struct rl_node_settings *settings;
    struct rl_tls_context *tls;
    struct rl_slot slot[RL_SLOTS];
    unsigned current;
    bool draining;      /* the other slot's link */
    int64_t drained_ns; /* when a link last began to drain */
    int64_t drain_until_ns;

    enum rl_mode mode;
    int64_t since_ns;    /* of the mode */
    int64_t deadline_ns; /* CONNECTING, AUTH, GREETING */
    bool cut;            /* DOWN: it was UP, and the connection was ended by others */
    struct rl_retry retry;

    struct rl_info info;         /* of the last INFO; empty where it was denied */
    int64_t info_ns;             /* when it came */
    struct rl_identity identity; /* who answered here last, and since when */
    enum rl_fitness fitness;
    /* duplicates.c, by the connection in use: */
    int duplicate_of;      /* a node that votes for the same server; -1: none */
    bool duplicate_proven; /* or it has the same run_id, and nobody knows yet */
    bool proving;          /* which is about to be known */
    bool unteachable;
    uint64_t apart, same; /* nodes that are other servers, or this one */
    int64_t replaced_ns;  /* when this client last saw other keys come here; 0: never */
    const char *replaced_how;
    int64_t ask_info_ns; /* when to ask again; INT64_MAX: it was, or there is no need */
    bool asked_late;     /* nobody was there to ask when it was due: the answer is awaited */
    int64_t guard_until_ns;
    int64_t round_trip_ns; /* smoothed; 0: unknown */
    bool unflushed;
    uint64_t commands;
    uint64_t connects;
    char why[192]; /* DOWN, UNFIT: the reason; UP: a warning or empty */

    /* What it refused last of its own accord, as its error or INFO says. */
    char refusal[160]; /* empty: nothing so far */
    int64_t refused_ns;
    int64_t refusal_again_ns[2]; /* the log is told no sooner: of requests; of releases */
};

/* 0, ENOMEM, or ECONFIG with `why` filled in (certificates). */
int rl_node_init(struct rl_node *node, unsigned index, const struct rl_node_config *config,
                 const struct rl_node_settings *settings, int epoll_fd, int wake_fd, char *why,
                 size_t why_size);
void rl_node_done(struct rl_node *node);
void rl_node_done_in_child(struct rl_node *node);

/* The slot's link has news (epoll), or may have (the wake descriptor fired: events 0). */
void rl_node_step(struct rl_slot *slot, unsigned epoll_events, int64_t now_ns);

/* Nobody looked for so long (driven.h). */
void rl_node_absent(struct rl_node *node, int64_t absent_ns);

/* Time passed: reconnect, give up, begin to drain, ask again. */
void rl_node_tick(struct rl_node *node, int64_t now_ns);
int64_t rl_node_due_ns(struct rl_node *node);

/* What a node is good for now, from worst to best: the first one that applies. */
enum rl_standing {
    RL_STANDING_DOWN,       /* not UP, and the last attempt has failed */
    RL_STANDING_CONNECTING, /* not UP, and nothing has failed since it was */
    RL_STANDING_DUPLICATE,  /* UP, as are all below: another node votes for its server */
    RL_STANDING_UNFIT,      /* it is no master of the kind that may vote */
    RL_STANDING_GUARDED,    /* it may have forgotten what it granted */
    RL_STANDING_STALLED,    /* its vote counts, as below; past the deadline of a request */
    RL_STANDING_SATURATED,  /* it has yet to take or to answer too much; that will pass */
    RL_STANDING_SLOW,       /* it can be asked, as below; but enough others answer sooner */
    RL_STANDING_READY
};
enum rl_standing rl_node_standing(struct rl_node *node, int64_t now_ns);

/* Why it is not READY: a static text or the node's own. */
const char *rl_node_why(struct rl_node *node, int64_t now_ns);

/* Does its yes count, by all that is known of it, whether it is UP or not? */
bool rl_node_votes(const struct rl_node *node);

/* Is the first attempt to reach it, or to learn whether it may vote by now, still under way
 * (so that waiting may be worth it)? */
bool rl_node_pending(const struct rl_node *node);

/* Is it DOWN because others ended its connection? That may have happened long before it was
 * noticed, and says nothing of the master. */
static inline bool rl_node_was_cut(const struct rl_node *node)
{
    return node->mode == RL_DOWN && node->cut;
}

/* Something urgent waits for it: where it was UP when its connection ended, it is connected to
 * as soon as may be, even if that has happened often of late. */
void rl_node_hasten(struct rl_node *node, int64_t now_ns);

/* Is it past the deadline of its oldest request, whether it votes or not? */
bool rl_node_stalled(struct rl_node *node, int64_t now_ns);

/* As INFO said, and what has passed since; -1: it did not say. */
int64_t rl_node_uptime_s(const struct rl_node *node, int64_t now_ns);

/* Can a request be queued on this slot? Releases may where acquires may not. */
bool rl_node_takes(struct rl_node *node, unsigned slot, size_t len, bool may_grow);

/* Queue it. The lease in `inflight` hears of it exactly once: answered, unexecuted or lost. */
void rl_node_put(struct rl_node *node, unsigned slot, const void *bytes, size_t len,
                 const struct rl_inflight *inflight);

/* Send what is queued. */
void rl_node_flush(struct rl_node *node, int64_t now_ns);

/* What it said of a lock may be shown, but for its password. Returns the length, never more. */
size_t rl_node_mask(struct rl_node *node, char *bytes, size_t len);

/* Queue a PING (for status) on the slot in use, where the node is UP and not stalled. */
bool rl_node_ping(struct rl_node *node, int64_t now_ns, int64_t deadline_ns);

/* Queue a request whose answer is of no interest. False: it is not UP, or there is no room. */
bool rl_node_send_oneway(struct rl_node *node, const void *bytes, size_t len, int64_t now_ns);

/* Is such a request unanswered? */
bool rl_node_has_oneway_pending(struct rl_node *node);

/* Queue a question of duplicates.c. False: likewise. The answer is told with the nonce. */
bool rl_node_prove(struct rl_node *node, enum rl_request_type what, const struct rl_out *out,
                   const char nonce[RL_NONCE_LEN], int64_t now_ns);

/* Is anything queued that the kernel has not taken yet? */
bool rl_node_unsent(const struct rl_node *node);

/* ---- between node*.c only ------------------------------------------------------------- */

/* How often a node that answers but can't vote is asked whether that has changed. */
#define RL_ASK_AGAIN_NS RL_NS_PER_S

static inline struct rl_connection *rl_node_connection(struct rl_node *node)
{
    return &node->slot[node->current].connection;
}

void rl_node_set_mode(struct rl_node *node, enum rl_mode mode, int64_t now_ns);

/* The slot's link is of no use: tell everybody who waits on it, close it, plan the next. */
void rl_node_disconnect(struct rl_node *node, unsigned slot, int64_t now_ns, const char *format,
                        ...) __attribute__((format(printf, 4, 5)));

/* Everybody who waits on a link that is gone hears so, oldest first. */
void rl_node_report_lost(struct rl_slot *slot, int64_t now_ns);

/* Another connection, or another server. */
void rl_node_forget_duplicates(struct rl_node *node);

/* node_handshake.c: the link has opened; and an answer to one of the node's own questions. */
void rl_node_greet(struct rl_node *node, int64_t now_ns);
void rl_node_greeted(struct rl_node *node, const struct rl_inflight *inflight,
                     const struct rl_reply *reply, int64_t now_ns);
void rl_node_ask_info(struct rl_node *node, int64_t now_ns);

/* node_fitness.c: a piece of INFO's text; and all of it, or the error in its place: whether
 * this master may vote is decided anew. */
void rl_node_on_bulk(void *slot, const char *bytes, size_t len);
void rl_node_take_info(struct rl_node *node, const struct rl_reply *reply, const char *error,
                       int64_t now_ns);

/* It refuses what it is asked, whatever has been decided without it. */
void rl_node_refuses(struct rl_node *node, const char *why, int64_t now_ns);

/* Other keys have come here: what was there before is lost, or elsewhere, and the uptime says
 * nothing of that. `how`: "was a replica", a static text. */
void rl_node_replaced(struct rl_node *node, const char *how, int64_t now_ns);
extern const char rl_was_replica[];

/* node_replies.c: read what there is and hand it out. */
void rl_node_read(struct rl_slot *slot);

#endif
