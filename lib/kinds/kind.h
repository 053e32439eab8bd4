/* kind.h - the kinds of lock, as rows of a table: scripts, arguments, reply to vote. Core.
 *
 * The engine does not know kinds: it asks for the script of a verb, and turns a reply into a
 * vote, both here.
 *
 * The plain kind is the published one: a string key, compared and deleted. A try that waits in
 * no queue and wants no report acquires it by the native pair. The pair is SET NX PX and GET in
 * one write, which cost the server a fifth of the script. Our random token, which GET shows,
 * proves the grant as a nonce would. All other tries use the script, which shows the holder's
 * TTL.
 */
#ifndef RL_KIND_H
#define RL_KIND_H

#include "core/quorum.h"
#include "core/verb.h"

#include <redlock.h>

struct rl_script {
    const char *name;        /* "plain_acquire"; NULL: the kind needs none for this verb */
    const char *const *body; /* its parts, whole lines each, one behind the other; then NULL */
    const char *sha;         /* the body's SHA-1 in hexadecimal, by which EVALSHA names it */
    const char *const *fenced_body; /* for locks with fencing tokens; NULL: none */
    const char *fenced_sha;
    const char *strict_sha,
        *fenced_strict_sha; /* of rl_marker_strict and the text (marker.h) */
    const char *keys;       /* KEYS, a letter each: see keys.h */
    /* The arguments after ARGV[1], the nonce, a letter each. (o) is the owner, (t) the token,
     * (T) the TTL, (w) the waiter, (a) its age in us, (q) the queue's life in ms. (k) is how
     * long the lock is reserved for the waiter that a release wakes (0: it wakes nobody; K:
     * never 0). (f) is how long a silent waiter of a fair lock keeps its place, (m) how long
     * the mark of a waiting writer stands. (s): if the lock's key ends more ms than this
     * before the key of its tokens, a peer has shortened the lock. (e) says whether a key
     * without TTL is a lock, too. */
    const char *args;
    /* ARGV[1] is the token in a nonce's place. Replies have it without its first character, so
     * what the native pair's GET shows is no answer to this script. */
    bool echoes_token;
};

/* What a script with fencing tokens has behind those arguments. (c) is the count of counters,
 * (p) the proposed token, (F) the fencing token, (L) the life of a counter in ms. (A) is for
 * how many us a token may be ahead of the master's clock. (B) says whether this is a
 * write-back. */
#define RL_FENCED_GRANT_ARGS "cpAL"
#define RL_FENCED_KEEP_ARGS "cFABL"

/* What the keys of a lock end in that are this library's own (keys.h). The scripts have all of
 * these texts, too. */
#define RL_QUEUE_SUFFIX ":redlock:queue"
#define RL_HOLDS_SUFFIX ":redlock:holds"
#define RL_SEEN_SUFFIX ":redlock:seen"
#define RL_WRITER_SUFFIX ":redlock:writer"
#define RL_READERS_SUFFIX ":redlock:readers"
#define RL_FENCE_SUFFIX ":redlock:fence"
#define RL_BROKEN_SUFFIX ":redlock:broken"
#define RL_REDISSON_FENCE_PREFIX "redisson_lock_token:"
#define RL_FAIR_QUEUE_PREFIX "redisson_lock_queue:"
#define RL_FAIR_TIMES_PREFIX "redisson_lock_timeout:"
#define RL_LEASE_INFIX ":rwlock_timeout:" /* {NAME}:OWNER, this, and a number */

/* The channel that a client listens on is this and its id (36 characters); a waiter is the
 * client's id, a colon and a number. The scripts have both, too. */
#define RL_WAKE_PREFIX "redlock:wake:"
#define RL_PROBE_PREFIX "redlock:probe:" /* names that redlock_probe() takes */

/* The value of a lock that is reserved for a waiter: this, and the waiter's name. */
#define RL_RESERVED_PREFIX "redlock:next:"

/* The channel that tells of a release, and whom that wakes.
 *
 *   kind            who is woken             channel of       script
 *   plain, several  the first in the queue   its client       shared/wake_next.lua, which
 *                                                             reserves the lock for it
 *   reentrant       all clients that listen  the name         reentrant/reentrant_release.lua
 *   fair            the first in the queue   name and owner   fair/fair_queue.lua
 *   read, write     all clients that listen  the name         redisson_rw/rw_tell.lua; q* rows:
 *                                                             quorum_rw/q*_release.lua
 */
enum rl_wakeup {
    RL_WAKEUP_CLIENT, /* one a client: the master's queue says which waiter to wake */
    RL_WAKEUP_LOCK,   /* one a name */
    RL_WAKEUP_FAIR,   /* one a name and owner */
    RL_WAKEUP_RW      /* one a name, for readers and writers */
};

/* The rows of the table. The first ones are the kinds of users (enum redlock_kind), on one
 * master or on any number. The others stand in for some of these on more than one master. */
enum rl_row {
    RL_ROW_PLAIN = REDLOCK_PLAIN,
    RL_ROW_REENTRANT = REDLOCK_REENTRANT,
    RL_ROW_FAIR = REDLOCK_FAIR,
    RL_ROW_READ = REDLOCK_READ,
    RL_ROW_WRITE = REDLOCK_WRITE,
    RL_ROW_QREAD,
    RL_ROW_QWRITE,
    RL_ROW_SEVERAL, /* plain, several names at once */
    RL_ROW_ANY,     /* no kind of its own: inspects and deletes locks of all kinds */
    RL_ROWS
};

struct rl_kind {
    const char *name;
    const char *shown;  /* for people: "reentrant lock" */
    unsigned max_nodes; /* 0: any number */
    int64_t max_ttl_ms; /* 0: the client's max-ttl */
    enum rl_wakeup wakeup;
    bool queues_at_once; /* the first round queues a try that may wait, subscribed or not */
    bool several;        /* its name is several names, packed (name_set.h) */
    bool native;         /* the native pair may acquire it */
    struct rl_script script[RL_VERBS];
};

/* Do its waiters stand in a queue of this library, which wakes them by name? */
static inline bool rl_kind_queues(const struct rl_kind *kind)
{
    return kind->wakeup == RL_WAKEUP_CLIENT;
}

/* Does every release wake all waiters, which need no queue? */
static inline bool rl_kind_broadcasts(const struct rl_kind *kind)
{
    return kind->wakeup == RL_WAKEUP_LOCK || kind->wakeup == RL_WAKEUP_RW;
}

/* Does it have owners, or only tokens? */
static inline bool rl_kind_owned(const struct rl_kind *kind)
{
    return !rl_kind_queues(kind);
}

/* Does each hold have a lease under a key of its own, with the owner's name in it? */
bool rl_kind_has_leases(const struct rl_kind *kind);

/* NULL: no such row. */
const struct rl_kind *rl_kind(int row);

/* The row of a kind that users name, on n masters. NULL: there is no such kind. */
const struct rl_kind *rl_kind_on(int kind, unsigned n);

unsigned rl_kind_row(const struct rl_kind *kind);

/* A number below RL_SCRIPTS for every script, and for each one with fencing tokens. */
#define RL_SCRIPTS_UNFENCED ((unsigned)RL_ROWS * (unsigned)RL_VERBS)
#define RL_SCRIPTS (2 * RL_SCRIPTS_UNFENCED)
static inline unsigned rl_script_number(const struct rl_kind *kind, enum rl_verb verb,
                                        bool fenced)
{
    return rl_kind_row(kind) * RL_VERBS + (unsigned)verb + (fenced ? RL_SCRIPTS_UNFENCED : 0);
}

/* The kind that a script's number belongs to. */
const struct rl_kind *rl_script_kind(unsigned number);

/* Is there a script with fencing tokens for that verb? If it acquires, there can be such
 * locks. */
static inline bool rl_kind_fences(const struct rl_kind *kind, enum rl_verb verb)
{
    return kind->script[verb].fenced_body != NULL;
}

/* The letter of a kind's counter on n masters (keys.h). Redisson's locks, which one master has,
 * have Redisson's counters. */
char rl_kind_counter(const struct rl_kind *kind, unsigned n);

/* What to lock: the kind, the name and the owner. The bytes belong to others and must outlive
 * it. Only kinds with an owner in their keys or arguments have one. */
struct rl_target {
    const struct rl_kind *kind;
    const void *name;
    size_t name_len;
    const char *owner;
    size_t owner_len;
};

/* The second element of a reply. */
enum rl_code {
    RL_REFUSED = 0,
    RL_GRANTED = 1,
    RL_REPLY_UPGRADE = 2, /* refused for good: a reader asks to be the writer */
    RL_REPLY_WRONGTYPE =
        3,                /* refused for good: the "holder" shows the other data of that name */
    RL_REPLY_UNMARKED = 4 /* no vote: marker_strict.lua found another marker than it was told */
};

struct rl_answer {
    bool granted;      /* the code was RL_GRANTED */
    enum rl_code code; /* the second element */
    bool with_holder;  /* there are four elements: ttl_ms and the holder's bytes */
    bool with_place;   /* there is a fifth: the number of waiters before us */
    bool with_details; /* an inspection: there is a text for lock_view.h */
    bool with_number;  /* a grant with a fencing token: the third element */
    uint64_t number;
    int64_t ttl_ms;
    int64_t place; /* -1: in no queue */
};

#define RL_TTL_UNKNOWN INT64_C(-2) /* the native pair does not show the holder's TTL */

/* Does a verb's answer have the exact shape its script promises? Anything else is no vote. */
bool rl_kind_answer_fits(enum rl_verb verb, bool fenced, const struct rl_answer *answer);

/* Is this the value of a lock that is reserved for a waiter? */
bool rl_kind_holder_is_reserved(const char *holder, size_t len);

/* Is this the value of a lock of ours, whose release will wake a waiter? A peer's release wakes
 * nobody. */
bool rl_kind_holder_wakes(const char *holder, size_t len);

#endif
