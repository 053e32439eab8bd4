/* node.h - one master: its connections, its handshake, its right to vote, and the requests in
 * flight.
 *
 * A node's modes are drawn in docs/ARCHITECTURE.md.
 *
 * AUTH is sent alone and answered before anything follows. GREETING selects the database, names
 * the connection and sends INFO: without INFO's reply the node casts no vote (trust.h).
 *
 * A node has two link slots. One of them has the current link. The oldest request there may
 * stay unanswered for much longer than a reply takes. The current link then drains, and the
 * other slot connects anew. A link drains again after stall-limit at the earliest. The draining
 * link stays for the order: its requests may still be executed, and their releases must come
 * behind them. A node whose oldest request is past its deadline is stalled. A stalled node gets
 * no new acquires, so a dead node costs nothing and gathers no memory.
 */
#ifndef RL_NODE_H
#define RL_NODE_H

#include "base/client_name.h"
#include "core/clock_watch.h"
#include "core/driven.h"
#include "core/hold.h"
#include "core/identity.h"
#include "core/marker.h"
#include "core/presence.h"
#include "core/reconnect.h"
#include "core/sightings.h"
#include "core/trust.h"
#include "kinds/server_keys.h"
#include "net/tls.h"
#include "net/connection.h"
#include "node/node_addresses.h"
#include "node/node_fence.h"
#include "node/node_lists.h"
#include "node/node_marker.h"
#include "node/node_named.h"

enum rl_mode { RL_DOWN, RL_CONNECTING, RL_AUTH, RL_GREETING, RL_UP };

struct rl_node;

/* A script's reply, turned into a vote. */
struct rl_vote_reply {
    enum rl_vote vote;
    struct rl_answer answer; /* YES, NO */
    const char *holder;      /* with_holder */
    size_t holder_len;
    const char *details; /* with_details */
    size_t details_len;
    const char *why; /* FAILED: the master's error text */
    bool stale; /* FAILED: with a newer certificate, or word of Sentinels, it may do better */
};

/* The callbacks of a node's owner. */
struct rl_node_events {
    void (*answered)(void *owner, struct rl_node *node, unsigned slot,
                     const struct rl_inflight *inflight, const struct rl_vote_reply *vote_reply,
                     int64_t now_ns);
    void (*name)(const struct rl_inflight *inflight, char *ret_text, size_t size); /* its lock's */
    /* The next reply is for this request: time to fetch what that needs from memory. */
    void (*next)(const struct rl_inflight *inflight);
    /* NOSCRIPT to a digest: certainly not executed. */
    void (*unexecuted)(void *owner, struct rl_node *node, unsigned slot,
                       const struct rl_inflight *inflight, int64_t now_ns);
    /* The link drains. Called for each request in flight on it. */
    void (*drains)(void *owner, struct rl_node *node, unsigned slot,
                   const struct rl_inflight *inflight, int64_t now_ns);
    /* The link is gone before the reply came. */
    void (*lost)(void *owner, struct rl_node *node, unsigned slot,
                 const struct rl_inflight *inflight, int64_t now_ns);
    void (*pinged)(void *owner, struct rl_node *node, int64_t round_trip_ns);
    /* The reply to a TEACH or RECALL (duplicates.c). */
    void (*proved)(void *owner, struct rl_node *node, const struct rl_inflight *inflight,
                   const struct rl_reply *reply, int64_t now_ns);
    /* What it granted before may be lost there, while others may not know yet. */
    void (*voided)(void *owner, struct rl_node *node, int64_t now_ns);
    /* Another client of this master uses another node list. */
    void (*disagrees)(void *owner, struct rl_node *node, const struct rl_list_mark *other);
    /* It told its fencing certificate (certify.h); an empty one: it could not. */
    void (*certified)(void *owner, struct rl_node *node, const struct rl_certificate *told,
                      int64_t now_ns);
    /* It is UP or lost, or more is known of its server: look at duplicates, releases, calls. */
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
    int64_t node_timeout_ns; /* the most for one request of a round; 0: no such bound */
    int64_t stall_limit_ns;
    int64_t drain_limit_ns; /* a draining link is closed after this time */
    int64_t guard_window_ns;
    int64_t witness_window_ns; /* of those that can fail over */
    double drift_factor;
    int64_t check_ns; /* how often a node that votes is asked again whether it may */
    int guard;        /* enum rl_guard */
    bool fencing_strict;
    struct rl_lists_settings lists;
    bool wanted;  /* somebody has wanted a vote: until then markers are looked at only */
    bool watched; /* somebody holds a lock: ask even if no other request is sent */
    const struct rl_driven *driven; /* when somebody polled their connections */
    char connection_name[RL_CONNECTION_NAME_MAX + 1]; /* CLIENT SETNAME */
};

struct rl_slot {
    struct rl_tag tag; /* first: the event tag of the slot's link */
    struct rl_node *node;
    unsigned index;
    struct rl_connection connection;
};

struct rl_node {
    unsigned index; /* its place in the list of masters, and its bit in sets of nodes */
    const struct rl_node_config *config;
    struct rl_named *named; /* by Sentinels; NULL: its line names its server */
    const struct rl_node_settings *settings;
    const struct rl_server_keys *keys; /* its server's own */
    struct rl_tls_context *tls;
    struct rl_slot slot[RL_SLOTS];
    unsigned current;
    bool draining;      /* the link of the other slot drains */
    int64_t drained_ns; /* when a link last began to drain */
    int64_t drain_until_ns;

    enum rl_mode mode;
    int64_t since_ns;    /* of the mode */
    int64_t deadline_ns; /* CONNECTING, AUTH, GREETING */
    int64_t tried_ns;    /* of the first connect since it was UP; 0: none */
    bool cut;            /* DOWN: it was UP, and the peer ended the connection */
    struct rl_retry retry;

    struct rl_info info;         /* of the last INFO; empty where it was denied */
    char run_id_shown[48];       /* its run id without the password, for people */
    int64_t info_ns;             /* when it came */
    struct rl_identity identity; /* the server that answered here last, and since when */
    bool info_told;              /* INFO was answered; the marker's reply comes next */
    struct rl_sightings sightings; /* who answers at this address, on any connection */
    char met[RL_RUN_ID_SIZE];      /* by the INFO on this one; never shown */
    struct rl_node_addresses *addresses; /* of its name; NULL: it has one */
    bool goes_on;   /* this connection ends, so that the next one shows who answers */
    bool unsettled; /* another connection met another process: who lives is asked */
    bool forgot; /* it may have lost keys since the locks that are held were last filled in */
    struct rl_marker marker;
    enum rl_marker_says marker_says;
    struct rl_node_term term;
    struct rl_node_lists lists;
    struct rl_node_fence fence;
    enum rl_fitness fitness;
    struct rl_clock_watch clock_watch;
    int64_t info_epoch;    /* of our clock, when INFO was sent last */
    int64_t clock_void_ns; /* when its clock was last found to be set forward; 0: never */
    /* duplicates.c, by the connection in use: */
    int duplicate_of;      /* the node that votes for the same server; -1: none */
    bool duplicate_proven; /* false: it has the same run_id, and the proof is open */
    bool proving;          /* the proof is under way */
    bool unteachable;
    uint64_t apart, same; /* nodes that are other servers, or this one */
    int64_t replaced_ns;  /* when this client last saw the keys replaced; 0: never */
    enum rl_cause replaced; /* how: WAS_REPLICA, TOOK_PLACE */
    int64_t ask_info_ns; /* when to send INFO again; INT64_MAX: in flight, or no need */
    int64_t judged_ns;   /* when its fitness was judged last */
    bool asked_late;     /* INFO was sent late, because nobody polled: await its reply */
    int64_t guard_until_ns;
    int64_t round_trip_ns; /* smoothed; 0: unknown */
    struct rl_sub *sub;    /* of its owner; NULL until a call waits */
    bool unflushed;
    uint64_t connects;
    char why[192];       /* DOWN, UNFIT: the reason; UP: a warning or empty */
    char waits[192];     /* GUARDED by a quarantine: the reason, with the time that is left */
    char clock_why[192]; /* what was last found of its clock */
    /* The last refusal of the server itself, as its error or INFO says. */
    char refusal[160]; /* empty: nothing so far */
    int64_t refused_ns;
    int64_t refusal_again_ns[2]; /* no log line sooner: of requests; of releases */
    int64_t refuses_since_ns;    /* its last answer to a taking request was one; 0: it was not */
    struct rl_presence presence;
    char away_why[192]; /* why it is, or was last, away */
};

/* 0, ENOMEM, or ECONFIG with `why` filled in (TLS certificates). */
int rl_node_init(struct rl_node *node, unsigned index, const struct rl_node_config *config,
                 const struct rl_node_settings *settings, int epoll_fd, int wake_fd, char *why,
                 size_t why_size);
void rl_node_done(struct rl_node *node, bool in_child);

/* The slot's link has news (epoll), or may have (the wake descriptor fired: events 0). */
void rl_node_step(struct rl_slot *slot, unsigned epoll_events, int64_t now_ns);

/* Nobody polled for so long (driven.h). */
void rl_node_absent(struct rl_node *node, int64_t absent_ns);

/* Time passed: reconnect, give up, begin to drain, send INFO again. */
void rl_node_tick(struct rl_node *node, int64_t now_ns);
int64_t rl_node_due_ns(struct rl_node *node);

/* How a node stands now, from worst to best: the first one that applies. */
enum rl_standing {
    RL_STANDING_DOWN,       /* not UP, and the last attempt has failed */
    RL_STANDING_CONNECTING, /* not UP, but nothing has failed since it was, or not for long */
    RL_STANDING_DUPLICATE,  /* UP, as are all below: another node votes for its server */
    RL_STANDING_UNFIT,      /* its server may not vote: no master, or not fit */
    RL_STANDING_GUARDED,    /* it may have forgotten what it granted */
    RL_STANDING_UNNAMED,    /* fit, as those below: a majority of its Sentinels must name it anew */
    RL_STANDING_STALLED,    /* fit, as those below, but not asked: a request is overdue */
    RL_STANDING_SATURATED,  /* too many requests wait to be sent or answered; passes */
    RL_STANDING_SLOW,       /* asked, unless a majority and one more answer sooner */
    RL_STANDING_READY
};
enum rl_standing rl_node_standing(struct rl_node *node, int64_t now_ns);

/* Why it is not READY: a static text or the node's own. */
const char *rl_node_why(struct rl_node *node, int64_t now_ns);

/* May its server vote, by what is known of it, whether the node is UP or not? */
bool rl_node_is_fit(const struct rl_node *node);

/* Is the first attempt to connect, or to learn whether it may vote, still under way? */
bool rl_node_pending(const struct rl_node *node);

/* How it is reached: by its line, or where its Sentinels say. */
static inline const struct rl_node_config *rl_node_place(const struct rl_node *node)
{
    return node->named ? &node->named->config : node->config;
}

/* Is it DOWN because the peer ended the connection, maybe long before we noticed? */
static inline bool rl_node_was_cut(const struct rl_node *node)
{
    return node->mode == RL_DOWN && node->cut;
}

/* Something urgent waits for the node. If it was UP when its connection ended, reconnect at
 * once, even if that has happened often lately. */
void rl_node_hasten(struct rl_node *node, int64_t now_ns);

/* A call or a held lock has no majority without this node. If it refused what a person must mend,
 * try again whether that was done: once in RL_REFUSED_NEEDED_MS, however many need it. */
void rl_node_need(struct rl_node *node, int64_t now_ns);

/* Does its server refuse what a person must mend? Then waiting for its vote is in vain. */
bool rl_node_refuses_for_good(const struct rl_node *node);

/* Is its oldest request past its deadline, whether it votes or not? Its age; 0: there is none. */
bool rl_node_stalled(struct rl_node *node, int64_t now_ns);
int64_t rl_node_silent_ns(struct rl_node *node, int64_t now_ns);

/* The uptime that INFO gave, plus the time since; -1: INFO gave none. */
int64_t rl_node_uptime_s(const struct rl_node *node, int64_t now_ns);

/* Queue a request of a lease on the current slot or the draining one. False: it takes none now.
 * Releases may be queued where acquires may not, but not grow. The lease gets exactly one
 * callback: answered, unexecuted or lost. */
bool rl_node_ask(struct rl_node *node, unsigned slot, const void *bytes, size_t len,
                 bool may_grow, const struct rl_inflight *inflight);

void rl_node_flush(struct rl_node *node, int64_t now_ns); /* send what is queued */

/* Mask the node's password in what it sent. Returns the new length, at most `len`. */
size_t rl_node_mask(struct rl_node *node, char *bytes, size_t len);

/* Queue a PING (for status) on the slot in use, where the node is UP and not stalled. */
bool rl_node_ping(struct rl_node *node, int64_t now_ns, int64_t deadline_ns);

/* Queue a request whose reply is ignored. False: the node is not UP, or there is no room. */
bool rl_node_send_oneway(struct rl_node *node, const void *bytes, size_t len, int64_t now_ns);
bool rl_node_has_oneway_pending(struct rl_node *node); /* is one in flight? */

/* Queue a request of duplicates.c. False: as above. The reply comes with the nonce. */
bool rl_node_prove(struct rl_node *node, enum rl_request_type what, const struct rl_out *out,
                   const char nonce[RL_NONCE_LEN], int64_t now_ns);
/* node_presence.c: does it vote now? Note since when it does not, and why; log what is due. */
void rl_node_look(struct rl_node *node, int64_t now_ns);

/* Is anything queued that the kernel has not taken yet? */
bool rl_node_unsent(const struct rl_node *node);

/* ---- between node*.c only ------------------------------------------------------------- */

static inline struct rl_connection *rl_node_connection(struct rl_node *node)
{
    return &node->slot[node->current].connection;
}

void rl_node_set_mode(struct rl_node *node, enum rl_mode mode, int64_t now_ns);

/* Does the current slot take a request of the node's own? Queue one: its link must be OPEN, and
 * have room. */
bool rl_node_takes(struct rl_node *node, size_t len, bool may_grow);
void rl_node_put(struct rl_node *node, const void *bytes, size_t len,
                 const struct rl_inflight *inflight);

/* node_standing.c: a request was answered. */
void rl_node_measure(struct rl_node *node, const struct rl_inflight *inflight, int64_t now_ns);

/* The slot's link is of no use: report its requests lost, close it, and plan the next
 * connect. */
void rl_node_disconnect(struct rl_node *node, unsigned slot, int64_t now_ns, const char *format,
                        ...) __attribute__((format(printf, 4, 5)));

/* Report each request of a link that is gone as lost, oldest first. */
void rl_node_report_lost(struct rl_slot *slot, int64_t now_ns);

/* Another connection, or another server: forget what was proved. */
void rl_node_forget_duplicates(struct rl_node *node);

/* node_handshake.c: the link has opened (only while CONNECTING); and a reply to one of the
 * node's own requests (never while DOWN or CONNECTING). */
void rl_node_greet(struct rl_node *node, int64_t now_ns);
void rl_node_greeted(struct rl_node *node, const struct rl_inflight *inflight,
                     const struct rl_reply *reply, int64_t now_ns);
void rl_node_ask_info(struct rl_node *node, int64_t now_ns);
/* A request of the node's own; `nonce` may be NULL. False: there is no room. */
bool rl_node_ask_own(struct rl_node *node, enum rl_request_type type, const char *nonce,
                     const struct rl_out *out, int64_t now_ns, int64_t deadline_ns);

/* node_fitness.c: a piece of INFO's text; and the end of it, or an error instead: decide anew
 * whether this master may vote. The node must be GREETING or UP. */
void rl_node_on_bulk(void *slot, const char *bytes, size_t len);
void rl_node_take_info(struct rl_node *node, const struct rl_reply *reply, const char *error,
                       int64_t now_ns);
void rl_node_take_marker(struct rl_node *node, const struct rl_inflight *inflight,
                         const struct rl_reply *reply, const char *error, int64_t now_ns);

/* node_clock.c: INFO was answered. Does its clock keep time? If it was set forward, what it
 * granted is void. */
void rl_node_watch_clock(struct rl_node *node, int64_t sent_ns, int64_t now_ns);

/* What was measured of its clock, and found of it lately (empty: nothing). */
void rl_node_clock_figures(const struct rl_node *node, struct rl_clock_figures *ret_figures);
const char *rl_node_clock_why(const struct rl_node *node, int64_t now_ns);

/* The server refuses requests: it casts no vote, whatever INFO said. */
void rl_node_refuses(struct rl_node *node, const char *why, int64_t now_ns);

/* The node is GREETING or UP, and has no vote for that reason, until INFO is told again. */
void rl_node_found(struct rl_node *node, enum rl_cause cause, int64_t now_ns);

/* Its keys were replaced: earlier grants are lost, or elsewhere, and no uptime shows that. */
void rl_node_replaced(struct rl_node *node, enum rl_cause how, int64_t now_ns);

/* node_replies.c: read replies and deliver them. */
void rl_node_read(struct rl_slot *slot);

#endif
