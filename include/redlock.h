/* redlock.h - distributed locks on a majority of independent Redis masters.
 *
 * A lock is a LEASE: it is yours while redlock_validity_ms() is above zero and not a
 * moment longer. A process that is stopped for longer than that can't know until it looks.
 * Nothing here keeps a late write of a stopped holder from landing. Check the validity right
 * before each effect; redlock(7) says what is not guaranteed.
 *
 * Conventions
 *   - Calls return 0 or a negative REDLOCK_E* code; redlock_strerror() has the text.
 *   - Outputs come last, are named ret_*, and are written on success only. Error and report
 *     structs explain failures, so they are always written.
 *   - Durations are int64_t milliseconds. No wall-clock time appears anywhere.
 *   - Structs that the caller provides start with their own size; use the _INIT macros. These
 *     structs grow at their end: a program that was built with an older redlock.h runs with a
 *     newer library of the same soname. A program that was built with a newer redlock.h runs
 *     with an older library too. If it sets a member that this library does not know, it gets
 *     EINVAL, and the log says so. Members that such a library can't fill in are 0.
 *   - Output structs have counts and sums. The details go into arrays that the caller provides,
 *     as many entries as there is room for. *_count says how many were written.
 *   - Names are C strings. redlock_X_n() is redlock_X() for names that are bytes with a length.
 *   - Destructors take NULL.
 *   - Every call may be made from any thread unless its comment says otherwise. Calls
 *     restart on EINTR and are no cancellation points.
 *   - A call that can wait for the network says "Blocks". Such a call fails with REDLOCK_EDEADLK
 *     inside a callback and on the thread that drives the client with redlock_process().
 *   - In a fork()ed child every call on an inherited client fails with REDLOCK_EFORK, and
 *     validity is 0. redlock_close() frees the memory and sends nothing. Open anew there.
 *
 * Calls
 *   a client      redlock_open, redlock_open_config, redlock_last_error, redlock_close,
 *                 redlock_shutdown
 *   one lock      redlock_try, redlock_try_n
 *   several       redlock_try_names, redlock_try_names_n, redlock_name_count, redlock_name_at;
 *                 on several clients redlock_try_multi, redlock_validity_multi,
 *                 redlock_release_multi
 *   a held one    redlock_validity_ms, redlock_token, redlock_fencing_token, redlock_get_hold,
 *                 redlock_extend, redlock_release; redlock_detach, redlock_handle,
 *                 redlock_attach
 *   asynchronous  redlock_try_async, redlock_try_async_n, redlock_try_names_async,
 *                 redlock_try_names_async_n, redlock_cancel, redlock_extend_async,
 *                 redlock_release_async; redlock_fd, redlock_timeout_ms, redlock_process
 *   looking       redlock_inspect, redlock_inspect_n, redlock_force_release,
 *                 redlock_force_release_n, redlock_get_status, redlock_probe,
 *                 redlock_get_stats
 *   texts         redlock_strerror, redlock_err_name, redlock_version
 */
#ifndef REDLOCK_H
#define REDLOCK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define REDLOCK_API __attribute__((visibility("default")))
#else
#define REDLOCK_API
#endif

/* No call throws. Callbacks must not throw either: std::terminate() would follow. */
#if defined(__cplusplus) && __cplusplus >= 201103L
#define REDLOCK_NOEXCEPT noexcept
#else
#define REDLOCK_NOEXCEPT
#endif

#define REDLOCK_VERSION_MAJOR 0
#define REDLOCK_VERSION_MINOR 1
#define REDLOCK_VERSION_PATCH 0
#define REDLOCK_VERSION "0.1.0"

/* The version of the library that is linked, as "MAJOR.MINOR.PATCH". Static storage. */
REDLOCK_API const char *redlock_version(void) REDLOCK_NOEXCEPT;

/* ---- errors --------------------------------------------------------------------------- */

/* name, value, text. Appended only, never renumbered. */
#define REDLOCK_ERRORS(X)                                                                      \
    X(EINVAL, -1, "an argument is not valid")                                                  \
    X(ENOMEM, -2, "out of memory")                                                             \
    X(ECONFIG, -3, "the node list is not valid")                                               \
    X(ESYSTEM, -4, "the system refused a resource (descriptors, threads, clock)")              \
    X(ERANDOM, -5, "no random bytes to be had")                                                \
    X(EHELD, -6, "held by another")                                                            \
    X(ENOQUORUM, -7, "too few masters could be asked")                                         \
    X(EEXPIRED, -8, "the lock was lost or had run out")                                        \
    X(ENOTHELD, -9, "not held (released or detached already)")                                 \
    X(EUNCONFIRMED, -10, "too few masters answered to know whether the lock was released")     \
    X(ECANCELED, -11, "canceled")                                                              \
    X(EFORK, -12, "this client belongs to the parent process")                                 \
    X(EDEADLK, -13, "a blocking call is not allowed here")                                     \
    X(EHANDLE, -14, "not a handle of this host, this boot and these masters")                  \
    X(EBUSY, -15, "another call is at work on this lock, or too much is pending")              \
    X(EUPGRADE, -16, "a reader can't become the writer: release the read lock first")          \
    X(EWRONGTYPE, -17, "another kind of lock, or other data, has that name")                   \
    X(ENOTSUP, -18,                                                                            \
      "not with this kind of lock: several names need plain, fair needs one master, a reader " \
      "has no fencing token")                                                                  \
    X(EUNDECIDED, -19, "undecided: the masters had less time than an answer may take")

enum redlock_error_code {
    REDLOCK_OK = 0
/* The comma is in front: C89 and C++98 allow none behind the last one. */
#define REDLOCK_ERROR_ENUM(name, value, text) , REDLOCK_##name = (value)
    REDLOCK_ERRORS(REDLOCK_ERROR_ENUM)
#undef REDLOCK_ERROR_ENUM
};

/* The text of a code, and its name ("REDLOCK_EHELD"). Static storage, never NULL. */
REDLOCK_API const char *redlock_strerror(int code) REDLOCK_NOEXCEPT;
REDLOCK_API const char *redlock_err_name(int code) REDLOCK_NOEXCEPT;

/* Why opening failed: file:line:column where a node list file is at fault (0 where not). */
typedef struct redlock_error {
    size_t size;
    int code;
    int line;
    int column;
    char text[512]; /* a whole sentence, with the place in front and the remedy in it */
} redlock_error;
#define REDLOCK_ERROR_INIT                                                                     \
    {                                                                                          \
        sizeof(redlock_error), 0, 0, 0, ""                                                     \
    }

/* ---- limits --------------------------------------------------------------------------- */

#define REDLOCK_NODES_MAX 64    /* masters in one node list */
#define REDLOCK_NAME_MAX 4096   /* bytes in a lock's name */
#define REDLOCK_NAMES_MAX 64    /* names that one call takes at once */
#define REDLOCK_FOREVER (-1)    /* as a wait: no limit; as a time that is left: no end */
#define REDLOCK_HANDLE_MAX 6656 /* bytes of a detached handle's text, with its NUL */

/* ---- a client ------------------------------------------------------------------------- */

typedef struct redlock redlock;           /* a client: its masters, connections, locks */
typedef struct redlock_lock redlock_lock; /* a lock that its user has, or had */

enum redlock_log_level {
    REDLOCK_LOG_DEFAULT = 0, /* as an option: warnings and errors */
    REDLOCK_LOG_ERROR = 1,
    REDLOCK_LOG_WARNING = 2,
    REDLOCK_LOG_INFO = 3,
    REDLOCK_LOG_DEBUG = 4
};

/* What is on or off, or as it is where nothing is said. */
enum redlock_switch { REDLOCK_DEFAULT = 0, REDLOCK_ON = 1, REDLOCK_OFF = 2 };

/* More values of redlock_config.guard: see `guard` in redlock.conf(5). */
enum redlock_guard { REDLOCK_GUARD_MARKER = 3, REDLOCK_GUARD_STRICT = 4 };

/* What is done about clients of the same masters with another node list: see
 * `config-agreement` in redlock.conf(5). */
enum redlock_agreement {
    REDLOCK_AGREEMENT_DEFAULT = 0, /* as the file says, else off */
    REDLOCK_AGREEMENT_OFF = 1,     /* nobody looks, and nothing is shown to them */
    REDLOCK_AGREEMENT_WARN = 2,    /* the log, the statistics and the status tell of them */
    REDLOCK_AGREEMENT_REFUSE = 3   /* and a master that has met them does not vote */
};

/* What fencing tokens rest on where masters lose their counters: see `fencing` in
 * redlock.conf(5). */
enum redlock_fencing {
    REDLOCK_FENCING_DEFAULT = 0, /* as the file says, else clock */
    REDLOCK_FENCING_CLOCK = 1,   /* on the masters' clocks */
    REDLOCK_FENCING_STRICT = 2   /* on the counters of the other masters */
};

/* One line of text, no newline, no secrets. Called from within other calls, on their thread
 * and while the client is locked. A call on the same client from here returns EDEADLK, and
 * redlock_close() does nothing. Be quick. */
typedef void redlock_log_fn(void *context, int level, const char *text);

/* One master. NULL or 0 leaves a setting at its default; see redlock.conf(5). */
typedef struct redlock_node {
    size_t size;
    const char
        *url; /* redis://[user[:password]@]host[:port][/db], rediss://, unix:///path[?db=N],
                 redis+sentinel://[user[:password]@]host[:port],host,host/SERVICE[/db] */
    const char *password_file; /* read again at each reconnect */
    const char *password_env;  /* the name of an environment variable, likewise */
    const char *ca_file; /* rediss: trust these certificates (PEM) instead of the system's */
    const char *ca_dir;
    const char *cert_file; /* rediss: our own certificate and key (PEM) */
    const char *key_file;
    const char *server_name; /* rediss: expect this name instead of the URL's host */
    const char *failover;    /* "yes": a replica may take its place; "no": none ever does */
    /* redis+sentinel:// and rediss+sentinel:// only. They have no other password. */
    const char *sentinel_user;
    const char *sentinel_password_file;
    const char *sentinel_password_env;
    const char *sentinel_tls; /* "off": they have none, though the master has */
} redlock_node;
#define REDLOCK_NODE_INIT                                                                      \
    {                                                                                          \
        sizeof(redlock_node), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,      \
            NULL, NULL, NULL                                                                   \
    }

/* How the client is driven while you make no call. The driver reads replies to releases, renews
 * locks, reports losses and runs the callbacks of asynchronous calls. */
enum redlock_background {
    REDLOCK_BACKGROUND_DEFAULT = 0, /* as the file says, else auto */
    REDLOCK_BACKGROUND_AUTO = 1,    /* a thread, from the first work that outlives a call on */
    REDLOCK_BACKGROUND_ALWAYS = 2,  /* a thread, from the beginning: redlock_open() starts it */
    REDLOCK_BACKGROUND_NEVER = 3    /* nobody: such work waits for your next call, callbacks for
                                       redlock_process() or redlock_close() */
};

/* A configuration built in code. `file` is read first if it is set, and nodes are added to its
 * nodes. Any other field that is not 0 (or negative, where that is said) overrides the file. */
typedef struct redlock_config {
    size_t size;
    const char *file;          /* a node list: a file's path, or words, as REDLOCK_NODES */
    const redlock_node *nodes; /* node_count of them */
    size_t node_count;
    int64_t max_ttl_ms;         /* max-ttl; must be the same in every client */
    int64_t ttl_ms;             /* ttl: for locks that name none */
    int64_t node_timeout_ms;    /* node-timeout: caps remaining/N */
    int64_t connect_timeout_ms; /* connect-timeout */
    int64_t stall_limit_ms;     /* stall-limit */
    int64_t linger_ms;          /* linger; -1: do not linger */
    double drift_factor;        /* drift-factor */
    int guard;               /* restart guard: enum redlock_switch, or redlock_guard */
    const char *client_name; /* client-name: shown to others as the holder */
    redlock_log_fn *log;
    void *log_context;
    int log_level;         /* enum redlock_log_level: the most talkative one that is wanted */
    int background;        /* enum redlock_background */
    int64_t lock_delay_ms; /* lock-delay: keys outlive a lock that was not released by this */
    int64_t config_agreement; /* enum redlock_agreement */
    int64_t watch_wall_clock; /* watch-wall-clock: enum redlock_switch */
    int64_t fencing;          /* enum redlock_fencing; must be the same in every client */
} redlock_config;
#define REDLOCK_CONFIG_INIT                                                                    \
    {                                                                                          \
        sizeof(redlock_config), NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0.0, 0, NULL, NULL, NULL, 0,  \
            0, 0, 0, 0, 0                                                                      \
    }

/* Open a client on the node list `file`, or on a configuration. `file` is a path, or the list
 * in words ("redis://a redis://b max-ttl=10s"), see redlock.conf(5). `error` may be NULL.
 * Neither waits for the network: connections are begun here and awaited by the first call
 * that needs them. A client uses at most 3N + S + 4 descriptors. Each master takes two connections
 * (the second only while the first does not answer), and one more from the first wait for a
 * lock on. Each of S Sentinels takes one, however many lines name it. The client has two of its
 * own, and two from the first redlock_fd() on. A connection that is being made to a silent address
 * takes up to three more, so 9N + 4S + 4 in all.
 * ECONFIG, EINVAL, ENOMEM, ESYSTEM, ERANDOM. */
REDLOCK_API int redlock_open(const char *file, redlock_error *error, redlock **ret_client)
    REDLOCK_NOEXCEPT;
REDLOCK_API int redlock_open_config(const redlock_config *config, redlock_error *error,
                                    redlock **ret_client) REDLOCK_NOEXCEPT;

/* The sentence with which this thread's last call on the client was refused (EINVAL, ENOTSUP,
 * EHANDLE): what is wrong, and what would be right. It is copied into `ret_error`, which starts
 * from REDLOCK_ERROR_INIT; its code is EINVAL. An empty text and 0: there was none, or eight
 * other errors came since. The log has it, too. EINVAL, EFORK, EDEADLK (in the log's
 * callback). */
REDLOCK_API int redlock_last_error(redlock *client, redlock_error *ret_error) REDLOCK_NOEXCEPT;

/* End the client. Calls that are blocked in other threads return ECANCELED first. Callbacks
 * of asynchronous calls that are not done run with ECANCELED on this thread. Locks still held
 * are released, but detached ones are not; the masters have at most `linger` to confirm. Then
 * everything is freed. Locks of this client are invalid afterwards, and no call may begin any
 * more. NULL is allowed. Blocks. Inside a callback it does nothing but log an error. */
REDLOCK_API void redlock_close(redlock *client) REDLOCK_NOEXCEPT;

/* End every try that is waiting on this client, and every later one, with ECANCELED, for
 * good, as a service that stops does. Locks that are held stay held; extend and release
 * work on. From any thread, a callback, or a signal handler: async-signal-safe. */
REDLOCK_API void redlock_shutdown(redlock *client) REDLOCK_NOEXCEPT;

/* ---- votes: what each master said ----------------------------------------------------- */

enum redlock_vote {
    REDLOCK_VOTE_NONE = 0,    /* not asked, or nothing heard before it was decided */
    REDLOCK_VOTE_GRANTED = 1, /* acquire, extend: granted; release: it was ours and is gone */
    REDLOCK_VOTE_HELD = 2,    /* another holds it there (see holder and ttl_ms) */
    REDLOCK_VOTE_FREE = 3,    /* inspect: nobody holds it there; release: it was gone already */
    REDLOCK_VOTE_FAILED = 4   /* no vote from this master; text says why */
};

typedef struct redlock_node_vote {
    const char *node; /* the master's URL without secrets; valid until redlock_close() */
    int vote;         /* enum redlock_vote */
    int64_t ttl_ms;   /* HELD: how long the holder's key has left there; -1 for ever */
    size_t holder_len;
    char holder[128]; /* HELD: the value under the key, cut to fit; bytes, NUL added. Of kinds
                         that are not plain the owner, or words: "2 readers", "a list" */
    char text[192];   /* FAILED: why; NONE: why it was not asked, or empty; printable */
} redlock_node_vote;

/* What the last round of a call was told. `node` has room for `node_max` entries and may be
 * NULL: then there are sums only. REDLOCK_NODES_MAX entries are always enough. */
typedef struct redlock_report {
    size_t size;
    size_t node_size;        /* sizeof(redlock_node_vote) */
    redlock_node_vote *node; /* what each master said, in the order of the node list */
    unsigned node_max;
    unsigned node_count; /* written: the lesser of node_max and `nodes` */
    unsigned nodes;      /* N */
    unsigned needed;     /* N/2 + 1 */
    unsigned granted;
    unsigned held;
    unsigned failed;
    unsigned rounds;    /* rounds that were begun; 0: it never came to be its turn */
    int64_t elapsed_ms; /* of the last round */
} redlock_report;
#define REDLOCK_REPORT_INIT(votes, count)                                                      \
    {                                                                                          \
        sizeof(redlock_report), sizeof(redlock_node_vote), (votes), (count), 0, 0, 0, 0, 0, 0, \
            0, 0                                                                               \
    }

/* ---- locks ---------------------------------------------------------------------------- */

enum redlock_kind {
    REDLOCK_PLAIN = 0,     /* one holder; as redsync, node-redlock and others write it */
    REDLOCK_REENTRANT = 1, /* its owner may take it again; Redisson's RLock */
    REDLOCK_FAIR = 2,      /* the same, in the order they asked; RFairLock; one master only */
    REDLOCK_READ = 3,      /* shared with other readers of the name; RReadWriteLock's */
    REDLOCK_WRITE = 4      /* excludes readers and writers of the name */
};

/* The lock was lost, or is about to be: it could not be renewed, was taken away, or reached
 * max_hold_ms. Called once a lock, a margin before the lock would run out, if our thread ran in
 * time. The margin is a twentieth of the ttl, 3 to 100 ms. redlock_validity_ms() is 0 from
 * before then on. The lock is still yours to release: inside of this by redlock_release_async(),
 * as redlock_release() is EDEADLK here. Runs on the background thread, in redlock_process() or in
 * redlock_close(), never in another call of yours. redlock_get_hold() says why. redlock_release()
 * keeps it from running, or waits for its end. */
typedef void redlock_lost_fn(void *context, redlock_lock *lock);

/* How redlock_release() gives the lock up. */
enum redlock_release_mode {
    REDLOCK_RELEASE_CONFIRMED = 0, /* it returns when a majority of the masters has answered */
    REDLOCK_RELEASE_LAZY = 1       /* it returns at once: see redlock_release() */
};

typedef struct redlock_options {
    size_t size;
    int kind;                 /* enum redlock_kind */
    int64_t ttl_ms;           /* the lease; 0: the client's default */
    int64_t wait_ms;          /* 0: try once; else wait at most so long, or REDLOCK_FOREVER */
    redlock_report *report;   /* NULL, or filled in with the last round's votes; an
                                 asynchronous call writes it until its callback runs */
    int auto_renew;           /* 1: extend it at every third of the ttl until it is released */
    int64_t max_hold_ms;      /* auto_renew: give it up as lost after so long; 0: no cap */
    redlock_lost_fn *on_lost; /* NULL, or told when it is lost */
    void *lost_context;
    const char *owner; /* all kinds but plain, which has none (EINVAL, and of several names):
                          NULL for the calling thread of this client. Else
                          the owner's name, so that several threads or processes may act as
                          one. 1 to 128 bytes, not "mode", not ending in ":write". To read or
                          write on one master: one colon at most and no '}', and exactly one
                          colon if the lock's name has a '{'. Copied */
    int release;       /* enum redlock_release_mode */
    int fenced;        /* 1: with a fencing token, see redlock_fencing_token() */
    int64_t at_least_ms; /* 0, or others are kept out for so long: see redlock_try() */
} redlock_options;
#define REDLOCK_OPTIONS_INIT                                                                   \
    {                                                                                          \
        sizeof(redlock_options), REDLOCK_PLAIN, 0, 0, NULL, 0, 0, NULL, NULL, NULL,            \
            REDLOCK_RELEASE_CONFIRMED, 0, 0                                                    \
    }

/* Take the lock `name`: once, unless options->wait_ms says to wait. `options` may be NULL. On 0
 * the caller owns *ret_lock and gives it to redlock_release() or redlock_detach() once. Blocks.
 *
 * Waiting: the masters queue the waiters of a plain or a fair lock, and a release wakes the one
 * that has waited longest. For other kinds a release wakes all. Threads of one client that wait
 * for one name are served in the order they came.
 *
 * options->at_least_ms: others are kept out for so long from the beginning of the round that got
 * the lock, also when it is released or lost sooner, when the client is closed, or when the
 * process is killed. So
 * of several callers that come within that time one gets the lock, however short its work is.
 * The first lease lasts as long as that takes, by any clocks: so redlock_validity_ms() may begin
 * above ttl_ms. Extensions last for ttl_ms, as ever. A release before that time sends nothing to
 * the masters that keep the lock, and is 0: their keys end by themselves, at most a lease and
 * lock-delay later than that time. A release after it is as ever. The text of a handle carries the time. The lock
 * keeps out others, not its owner (options->owner): an owner with several holds keeps others out
 * for the longest. redlock_force_release() ends it. Of redlock_try_multi() none keeps anybody out
 * unless all were had. EINVAL where one lease can't last so long; the log tells the greatest
 * value, which is max-ttl less its drift and lock-delay.
 *
 * EHELD: another holds it, or the votes were split, in the last round that could be held.
 * ENOQUORUM: in the last round errors alone made a majority impossible, or a majority granted
 * and no time was left. A wait ends with it early where for 5 s so many masters have refused what
 * only a person can mend that the others are no majority. EUNDECIDED: the time was over before
 * the masters had as long as an answer may take, no round during the wait told more, and no
 * holder is known. Silence that was cut short like that is never counted as a failure.
 * EINVAL: a name that is empty, too long or a key of another lock (redlock(7) lists these). Also
 * a ttl not within the drift and max-ttl, or above 30 s for REDLOCK_READ on one master. The log
 * tells which. ECANCELED, EFORK, ENOMEM, ERANDOM, EDEADLK,
 * EBUSY (too many unconfirmed releases), ESYSTEM (no background thread to be had for
 * auto_renew or on_lost). EUPGRADE, EWRONGTYPE: at once, whatever wait_ms is. ENOTSUP: a fair
 * lock on more than one master, or a read lock with a fencing token. */
REDLOCK_API int redlock_try(redlock *client, const char *name, const redlock_options *options,
                            redlock_lock **ret_lock) REDLOCK_NOEXCEPT;

/* The same for a name that is bytes with a length. */
REDLOCK_API int redlock_try_n(redlock *client, const void *name, size_t name_len,
                              const redlock_options *options, redlock_lock **ret_lock)
    REDLOCK_NOEXCEPT;

/* ---- several names at once ------------------------------------------------------------ */

/* Bytes with a length: these two fields, for good. */
typedef struct redlock_bytes {
    const void *bytes;
    size_t len;
} redlock_bytes;

/* Take the locks of all these names, or of none. One script a master takes all of them, so two
 * callers that give the same names in any order can't block each other. A name that is given
 * twice is one name. The lock stands for all of them together: its validity, extending,
 * renewing and releasing are theirs. Each name is a plain lock, to everybody else too. At most
 * REDLOCK_NAMES_MAX names of REDLOCK_NAME_MAX bytes together. Blocks.
 *
 * As redlock_try(); of those names that others have, the report tells about the first one, in
 * the order of their bytes. EINVAL also: no name, or too many. ENOTSUP: of a kind that is not
 * plain. */
REDLOCK_API int redlock_try_names(redlock *client, const char *const names[], size_t count,
                                  const redlock_options *options, redlock_lock **ret_lock)
    REDLOCK_NOEXCEPT;

/* The same for names that are bytes with a length. */
REDLOCK_API int redlock_try_names_n(redlock *client, const redlock_bytes *names, size_t count,
                                    const redlock_options *options, redlock_lock **ret_lock)
    REDLOCK_NOEXCEPT;

/* ---- locks of several clients --------------------------------------------------------- */

#define REDLOCK_ITEMS_MAX 64 /* items of one redlock_try_multi() */

/* One of the locks that are taken together: a name on the masters of a client. All items of an
 * array have one size. */
typedef struct redlock_item {
    size_t size;
    redlock *client;
    const void *name;
    const redlock_options *options; /* or NULL; its wait_ms is 0, for they wait together */
    redlock_lock *lock;             /* filled in: yours, or NULL */
    int result;                     /* filled in: what its last call came to */
    size_t name_len;                /* 0: the name is a C string */
} redlock_item;
#define REDLOCK_ITEM(client, name, options)                                                    \
    {                                                                                          \
        sizeof(redlock_item), (client), (name), (options), NULL, 0, 0                          \
    }

/* Take the locks of all items, or of none. They may be on different masters, of different
 * kinds, and in any order. Callers that wait for each other's locks never block each other for
 * good. wait_ms: 0: try once; REDLOCK_FOREVER; else at most so long. Blocks.
 *
 * 0: every item has its lock, and all of them were valid when the last one was taken. Else none
 * has one, and the locks taken so far are being released. The code is then also the result of
 * an item, unless nothing was tried.
 *
 * Codes are those of redlock_try() for the item that failed. ECANCELED: one of the clients was
 * cancelled, or is being closed. EEXPIRED: the lock taken first ran out before the last one was
 * taken. EINVAL also: no item, too many, or one of another size, where nothing is filled in.
 * And two items of a client that name one lock and could not both be had, whichever is taken
 * first. They can as readers, and for one owner with any one kind but plain. */
REDLOCK_API int redlock_try_multi(redlock_item *items, size_t count, int64_t wait_ms)
    REDLOCK_NOEXCEPT;

/* The least validity of all their locks; 0 where one has none. */
REDLOCK_API int64_t redlock_validity_multi(const redlock_item *items, size_t count)
    REDLOCK_NOEXCEPT;

/* Release them all, whatever comes of each (see its result). The first code that is not 0.
 * Blocks. */
REDLOCK_API int redlock_release_multi(redlock_item *items, size_t count) REDLOCK_NOEXCEPT;

/* ---- a lock that is held -------------------------------------------------------------- */

/* How long the lock is certainly ours, from now on; 0: stop. Never blocks, sends nothing,
 * counts down even if nothing of ours runs, and never comes back from 0. If the lock is
 * renewed or has on_lost, this ends when the lock would be given up. The value is a promise:
 * even if the lock is lost early, its keys are not deleted before that time, unless you release
 * it. NULL: 0. */
REDLOCK_API int64_t redlock_validity_ms(const redlock_lock *lock) REDLOCK_NOEXCEPT;

/* The value that stands for this hold on the masters. The memory is the lock's and is good
 * until it is released or detached; that of its names is, too. */
REDLOCK_API const char *redlock_token(const redlock_lock *lock) REDLOCK_NOEXCEPT;

/* The fencing token of a lock that was taken with options.fenced: a number from 1 to 2^53 - 1.
 * It is above the fencing tokens of all earlier holders of its name. Send it along with each
 * write. Let the storage refuse a write whose token is below the highest that it has seen. A
 * holder that was stopped for too long then can't harm, whatever the clocks did. Of several
 * names, it is above the earlier tokens of each. An extension, a detached text and a re-entry
 * on this client keep it. Holds without fencing tokens do not raise it, so all users of a name
 * should have them. 0: released, detached, or taken without. Takes no mutex; sends nothing. */
REDLOCK_API uint64_t redlock_fencing_token(const redlock_lock *lock) REDLOCK_NOEXCEPT;

/* How many names it has, and each of them, in the order of their bytes. 0 is the name of a
 * lock that has one; "" past the last. `ret_len` may be NULL. */
REDLOCK_API size_t redlock_name_count(const redlock_lock *lock) REDLOCK_NOEXCEPT;
REDLOCK_API const char *redlock_name_at(const redlock_lock *lock, size_t index,
                                        size_t *ret_len) REDLOCK_NOEXCEPT;

/* Why a lock was lost. */
enum redlock_loss {
    REDLOCK_LOSS_NONE = 0,      /* it is held, and nothing speaks against it */
    REDLOCK_LOSS_MASTERS = 1,   /* too few masters confirmed it in time: each has its reason */
    REDLOCK_LOSS_GONE = 2,      /* a majority no longer has its key: deleted, flushed, evicted */
    REDLOCK_LOSS_VOID = 3,      /* too many masters may have lost it: each has its reason */
    REDLOCK_LOSS_STOPPED = 4,   /* this process did not run, or did not drive the client */
    REDLOCK_LOSS_SUSPENDED = 5, /* the machine was suspended */
    REDLOCK_LOSS_CLOCK = 6,     /* its clock was set back, or lost time (watch-wall-clock) */
    REDLOCK_LOSS_MAX_HOLD = 7,  /* max_hold_ms was over */
    REDLOCK_LOSS_RAN_OUT = 8,   /* its lease was over, and nobody had extended it */
    REDLOCK_LOSS_BROKEN = 9     /* it was broken by hand (redlock_force_release()) */
};

/* What one master said when the lock was last confirmed, or was to be. */
typedef struct redlock_node_hold {
    const char *node; /* the master's URL without secrets; valid until redlock_close() */
    int vote;         /* enum redlock_vote. GRANTED: it confirmed it. FREE: it has its key no
                         more. FAILED: no answer that counts. NONE: it was not asked */
    int64_t since_ms; /* FAILED: it had been away for so long; -1: it had not, or not known */
    char text[192];   /* FREE, FAILED: why; printable */
} redlock_node_hold;

/* How a lock is, or was lost. `node` as in a redlock_report. All times are those of the loss, if
 * it is lost. */
typedef struct redlock_hold_report {
    size_t size;
    size_t node_size;        /* sizeof(redlock_node_hold) */
    redlock_node_hold *node; /* each master, in the order of the node list */
    unsigned node_max;
    unsigned node_count; /* written */
    unsigned nodes;
    unsigned needed;
    int loss;             /* enum redlock_loss; of a lock that is held: what threatens it */
    unsigned confirmed;   /* masters that had confirmed it when it was confirmed last */
    int64_t held_ms;      /* since it was taken, or attached */
    int64_t confirmed_ms; /* since a majority confirmed it last; -1: not to this client */
    int64_t absent_ms;    /* in which this process did not run since then, or right before */
    int64_t lost_ago_ms;  /* -1: it is held */
    char text[1024];      /* all of that in one line, without the name; printable */
} redlock_hold_report;
#define REDLOCK_HOLD_REPORT_INIT(array, count)                                                 \
    {                                                                                          \
        sizeof(redlock_hold_report), sizeof(redlock_node_hold), (array), (count), 0, 0, 0, 0,  \
            0, 0, 0, 0, 0, ""                                                                  \
    }

/* Why was it lost, or what threatens it? For on_lost, and any time until the lock is released or
 * detached. Sends nothing, and does not block. `ret_report` starts from
 * REDLOCK_HOLD_REPORT_INIT. EINVAL, ENOTHELD, EFORK, EDEADLK (in the log's callback). */
REDLOCK_API int redlock_get_hold(redlock_lock *lock, redlock_hold_report *ret_report)
    REDLOCK_NOEXCEPT;

/* Make the lease at least `ttl_ms` (0: what it was taken with) from now on. Upwards only:
 * asking for less than is left succeeds and sends nothing. `report` may be NULL. Blocks.
 * EEXPIRED: it had run out, or a majority has lost it: it is dead and has been given up.
 * ENOQUORUM: not extended, but still valid for redlock_validity_ms(): try again. EINVAL,
 * ENOTHELD, EBUSY (another call is extending it), ECANCELED, ENOMEM, EFORK, EDEADLK. */
REDLOCK_API int redlock_extend(redlock_lock *lock, int64_t ttl_ms, redlock_report *report)
    REDLOCK_NOEXCEPT;

/* Give the lock up; others may be kept out longer (options.at_least_ms). Returns at the quorum
 * of answers; the rest is finished behind the caller's back, bounded by the TTL. Consumes the
 * lock whatever it returns, but for EFORK and EDEADLK, which do nothing. NULL: 0. Blocks;
 * redlock_release_async() does not.
 * 0: released. EEXPIRED: it was not ours any more. EUNCONFIRMED: too few masters answered.
 * ENOTHELD: another thread released or detached it first.
 *
 * Taken with REDLOCK_RELEASE_LAZY it does not block, and 0 means: queued, not yet released.
 * The release leaves with the client's next request. If none comes, the event loop or the
 * background thread sends it after 300 us. It leaves at once if other threads of the client
 * wait, or if this lock had to be waited for. It leaves when the client is closed, and when
 * the process calls exit(), which waits for answers as closing does. So the lock may stay taken
 * that much longer. If the process is killed in that time, it stays taken until its TTL.
 * redlock_stats and the log have the outcome. */
REDLOCK_API int redlock_release(redlock_lock *lock) REDLOCK_NOEXCEPT;

/* Turn the lock into a text that another process of this host and boot can attach. Consumes
 * the lock on success: it is then not released by this client any more, and lives
 * until its TTL. A request that a slow master has yet to answer may be carried out after the
 * other process has released. The key then stays there until its TTL, and is nobody's lock.
 * `ret_text` has room for `size` bytes; REDLOCK_HANDLE_MAX is always enough.
 * EINVAL (too small), EEXPIRED, ENOTHELD, EBUSY, EFORK. */
REDLOCK_API int redlock_detach(redlock_lock *lock, char *ret_text, size_t size)
    REDLOCK_NOEXCEPT;

/* The same text without giving the lock up: for showing, or for a child that may extend or
 * release it. It is of the moment: a later extension does not reach its deadline. */
REDLOCK_API int redlock_handle(const redlock_lock *lock, char *ret_text, size_t size)
    REDLOCK_NOEXCEPT;

/* Take a detached lock up again. The client must be on the same masters.
 * EHANDLE: not a handle, cut short, of another boot, of other masters, or with a lease or a
 * deadline beyond max_ttl_ms. EINVAL: of a name or owner that no lock can have.
 * EEXPIRED: its deadline has passed. ENOMEM, EFORK. */
REDLOCK_API int redlock_attach(redlock *client, const char *text, redlock_lock **ret_lock)
    REDLOCK_NOEXCEPT;

/* ---- asynchronous calls, and event loops ---------------------------------------------- */

/* An asynchronous call is done. `result` is what the blocking call would have returned. `lock`
 * is the lock that was taken or extended, or NULL. Callbacks of one client run one at a time,
 * in the order in which the calls became done. They run on the thread that is in
 * redlock_process(), else on the background thread. With `background never` and no
 * redlock_process() they run in redlock_close() only. Inside one, only calls that do not block
 * are allowed. A call that could be begun calls back exactly once, redlock_close() included. */
typedef void redlock_done_fn(void *context, int result, redlock_lock *lock);

/* As redlock_try(); what `options` points to is copied but for the report. `ret_id`, where
 * not NULL, is for redlock_cancel(). On the thread of an event loop (redlock_fd), the first
 * try since redlock_process() is sent at once. Further ones leave together, with the next
 * redlock_process(), for which the descriptor is readable, or with a call that sends anything
 * else. 0: begun. EINVAL, ENOTSUP, ECANCELED
 * (redlock_shutdown() was called), EFORK, ENOMEM, ESYSTEM (no background thread to be had). */
REDLOCK_API int redlock_try_async(redlock *client, const char *name,
                                  const redlock_options *options, redlock_done_fn *done,
                                  void *context, uint64_t *ret_id) REDLOCK_NOEXCEPT;
REDLOCK_API int redlock_try_async_n(redlock *client, const void *name, size_t name_len,
                                    const redlock_options *options, redlock_done_fn *done,
                                    void *context, uint64_t *ret_id) REDLOCK_NOEXCEPT;

/* As redlock_try_names(), likewise. */
REDLOCK_API int redlock_try_names_async(redlock *client, const char *const names[],
                                        size_t count, const redlock_options *options,
                                        redlock_done_fn *done, void *context, uint64_t *ret_id)
    REDLOCK_NOEXCEPT;
REDLOCK_API int redlock_try_names_async_n(redlock *client, const redlock_bytes *names,
                                          size_t count, const redlock_options *options,
                                          redlock_done_fn *done, void *context,
                                          uint64_t *ret_id) REDLOCK_NOEXCEPT;

/* End one asynchronous try with ECANCELED. ENOTHELD: it is done already (its callback has run
 * or is about to, with whatever it came to). Does not block. EFORK. */
REDLOCK_API int redlock_cancel(redlock *client, uint64_t id) REDLOCK_NOEXCEPT;

/* As redlock_extend(). 0: begun. EINVAL, ENOTHELD, EBUSY, EEXPIRED, EFORK, ENOMEM, ESYSTEM. */
REDLOCK_API int redlock_extend_async(redlock_lock *lock, int64_t ttl_ms, redlock_report *report,
                                     redlock_done_fn *done, void *context) REDLOCK_NOEXCEPT;

/* As redlock_release(): returns once the release is on its way to every master that can be
 * reached, and consumes the lock. `done` may be NULL: what came of it is then in
 * redlock_stats and the log. 0: begun. EINVAL (NULL), ENOTHELD, ENOMEM (released all the
 * same; `done` does not run), ESYSTEM (likewise), EFORK. */
REDLOCK_API int redlock_release_async(redlock_lock *lock, redlock_done_fn *done, void *context)
    REDLOCK_NOEXCEPT;

/* A descriptor for poll(), epoll, libuv, libevent: readable when redlock_process() has
 * something to do. From the first call on, the calling thread's loop drives the client, and
 * the thread that last called redlock_process() does. No background thread runs then.
 * Other threads may still make blocking calls. It is the client's: do not read or close it.
 * ESYSTEM (no descriptors), EDEADLK (the first call, inside a callback), EFORK. */
REDLOCK_API int redlock_fd(redlock *client) REDLOCK_NOEXCEPT;

/* When redlock_process() must be called at the latest even if the descriptor is not readable:
 * ms from now, rounded up; -1: no need. Ask again after each redlock_process() and after each
 * asynchronous call made outside of callbacks. */
REDLOCK_API int redlock_timeout_ms(redlock *client) REDLOCK_NOEXCEPT;

/* Do what there is to do without waiting, and run the callbacks that are due. Not inside a
 * callback (EDEADLK). EFORK. */
REDLOCK_API int redlock_process(redlock *client) REDLOCK_NOEXCEPT;

/* ---- looking, and acting without a lock ----------------------------------------------- */

/* What stands under a name. */
enum redlock_lock_state {
    REDLOCK_STATE_UNKNOWN = 0,  /* no answer; or masters that do not agree */
    REDLOCK_STATE_FREE = 1,     /* nothing */
    REDLOCK_STATE_RESERVED = 2, /* nobody has the lock: it is kept for a waiter just woken */
    REDLOCK_STATE_PLAIN = 3,
    REDLOCK_STATE_REENTRANT = 4, /* a fair lock that nobody waits for looks the same */
    REDLOCK_STATE_FAIR = 5,      /* one that has a queue of waiters */
    REDLOCK_STATE_READ_WRITE = 6,
    REDLOCK_STATE_DATA = 7 /* somebody's data, no lock */
};

enum redlock_mode {
    REDLOCK_MODE_EXCLUSIVE = 0, /* of a lock that is not read-write */
    REDLOCK_MODE_READ = 1,
    REDLOCK_MODE_WRITE = 2
};

/* What one master says of a name. */
typedef struct redlock_node_info {
    const char *node;  /* the master's URL without secrets; valid until redlock_close() */
    int answered;      /* 0: `text` says why not, and the others are 0 */
    int state;         /* enum redlock_lock_state */
    int64_t ttl_ms;    /* what is under the name goes away by itself; -1: never */
    int64_t writer_ms; /* a waiting writer keeps new readers out for so long; 0: none does */
    unsigned waiting;  /* in queues, and connections that listen for a release */
    unsigned holders;  /* also those that it does not name; of more than 256, their holds */
    char data[16];     /* DATA: its type, "list" */
    char text[192];    /* printable */
} redlock_node_info;

/* So many holders are named by a master, and by a majority; the others are counted. */
#define REDLOCK_HOLDERS_SHOWN 16

typedef struct redlock_holder {
    int node; /* the master that names it, from 0 on; -1: a majority does */
    int mode; /* enum redlock_mode */
    size_t owner_len;
    char owner[136]; /* an owner or a token, at most 128 bytes of it; bytes, NUL added */
    unsigned count;  /* how often it has it; 0: a reader whose lease has run out */
    int64_t ttl_ms;  /* its lease; -1: for ever */
} redlock_holder;

/* The holders of a lock, and its waiters. `node` has room for `node_max` entries, `holder` for
 * `holder_max`; both may be NULL: then there are sums only. REDLOCK_NODES_MAX nodes are always
 * enough. REDLOCK_HOLDERS_SHOWN holders are enough for those that a majority names, and
 * (N + 1) * REDLOCK_HOLDERS_SHOWN also for those of each of N masters. Counts and times are
 * those that a majority of all masters reaches. */
typedef struct redlock_lock_info {
    size_t size;
    size_t node_size;        /* sizeof(redlock_node_info) */
    redlock_node_info *node; /* what each master says, in the order of the node list */
    size_t holder_size;      /* sizeof(redlock_holder) */
    redlock_holder *holder;  /* those of a majority, then each master's */
    unsigned node_max;
    unsigned holder_max;
    unsigned node_count;   /* written: the lesser of node_max and `nodes` */
    unsigned holder_count; /* written */
    unsigned holder_left;  /* named, and not written: there was no room */
    unsigned nodes;        /* N */
    unsigned needed;       /* N/2 + 1 */
    unsigned answered;
    int state;        /* enum redlock_lock_state */
    unsigned waiting; /* this and the next four as in redlock_node_info */
    unsigned holders; /* 0 where the state is a lock's: none has a majority */
    int64_t ttl_ms;
    int64_t writer_ms;
    char data[16];
    unsigned own_exclusive; /* how often `owner` has it, by mode; 0: not at all */
    unsigned own_read;
    unsigned own_write;
    int held;        /* 1: somebody has it, the owner or another: nobody else can take it now */
    int64_t own_ms;  /* the owner's longest lease, of any mode; -1: for ever */
    int64_t held_ms; /* held: for so long, if nobody makes it longer; -1: for ever */
} redlock_lock_info;
#define REDLOCK_LOCK_INFO_INIT(nodes, nodes_max, holders, holders_max)                         \
    {                                                                                          \
        sizeof(redlock_lock_info), sizeof(redlock_node_info), (nodes), sizeof(redlock_holder), \
            (holders), (nodes_max), (holders_max), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "", 0, 0,  \
            0, 0, 0, 0                                                                         \
    }

/* Ask every master about the lock `name`: its holders, their leases, its waiters. Nothing is
 * changed. `ret_info` starts from REDLOCK_LOCK_INFO_INIT. The holds of `owner` are counted, and
 * it is named first. NULL: the calling thread of this client; else as in redlock_options, or a
 * plain lock's token. The masters tell of the holds of any process, also of one that is gone.
 * They prove no hold valid: redlock_validity_ms() does. Blocks.
 * 0 when a majority answered, else ENOQUORUM; `ret_info` is filled in either way, with what is
 * certain. EINVAL (also: an owner that none can have), EFORK, ENOMEM, EBUSY, EDEADLK. */
REDLOCK_API int redlock_inspect(redlock *client, const char *name, const char *owner,
                                redlock_lock_info *ret_info) REDLOCK_NOEXCEPT;
REDLOCK_API int redlock_inspect_n(redlock *client, const void *name, size_t name_len,
                                  const char *owner, redlock_lock_info *ret_info)
    REDLOCK_NOEXCEPT;

/* Delete the lock `name` of any holder on every master, with its holders' other keys. For
 * operators: the holder is not asked. Its waiters are woken. A key without the shape of a lock
 * is other data and stays. So does a key without TTL, unless `endless` is REDLOCK_ON: a lock
 * that was set by hand has none. Look at it first. Blocks. 0: a majority is certain to be
 * free of it now. Else ENOQUORUM, or EWRONGTYPE if a master has other data under that name.
 * `endless` is of enum redlock_switch, off by default; `report` may be NULL. EINVAL, EFORK,
 * ENOMEM, EBUSY, EDEADLK. */
REDLOCK_API int redlock_force_release(redlock *client, const char *name, int endless,
                                      redlock_report *report) REDLOCK_NOEXCEPT;
REDLOCK_API int redlock_force_release_n(redlock *client, const void *name, size_t name_len,
                                        int endless, redlock_report *report) REDLOCK_NOEXCEPT;

enum redlock_node_state {
    REDLOCK_NODE_DOWN = 0,       /* not connected; text says why */
    REDLOCK_NODE_CONNECTING = 1, /* on its way, in its time */
    REDLOCK_NODE_GUARDED = 2,    /* answers, but the restart guard withholds its vote */
    REDLOCK_NODE_REFUSED = 3,    /* answers, but can't vote (replica, same server, ...) */
    REDLOCK_NODE_STALLED = 4,    /* does not answer what it was asked */
    REDLOCK_NODE_READY = 5       /* votes */
};

/* What redlock_probe() has seen to work at a master, or not. */
enum redlock_proof_result {
    REDLOCK_PROOF_NONE = 0, /* not tried, or what comes before it failed */
    REDLOCK_PROOF_OK = 1,
    REDLOCK_PROOF_FAILED = 2 /* text says why */
};

/* These two members, for good. */
typedef struct redlock_proof {
    int result;     /* enum redlock_proof_result */
    char text[192]; /* FAILED: the master's own words, or ours; printable */
} redlock_proof;

/* `refusal` is the error of the last request about a lock that the server itself refused. It
 * may also be an error that INFO lets expect (OOM, MISCONF, NOREPLICAS). It is kept even if
 * enough others granted the lock, or if the answer came too late to count. */
typedef struct redlock_node_status {
    const char *node;      /* the URL without secrets; valid until redlock_close() */
    int state;             /* enum redlock_node_state */
    int64_t guard_ms;      /* GUARDED: the vote is withheld for so long */
    int64_t round_trip_us; /* of a PING made for this call; -1: none answered */
    int64_t uptime_s;      /* as the server says; -1: unknown */
    char run_id[48];
    char role[16];          /* "master", "slave", ... */
    char version[24];       /* the server's */
    char text[192];         /* why it is in this state, or a warning; empty where all is well */
    char refusal[160];      /* its own last error, see above; empty: none */
    int64_t refused_ago_ms; /* so long ago; -1: never */
    redlock_proof acquire;  /* redlock_probe() only, as are the next three */
    redlock_proof extend;
    redlock_proof release;
    redlock_proof wake; /* a release wakes a waiter; without it waiters ask from time to time */
    int64_t clock_offset_us;       /* its time of day less ours, as this client has measured it */
    int64_t clock_offset_bound_us; /* by so much that may be wrong; 0: not known */
    int64_t clock_rate_ppm;        /* its clock gains so many us on ours in a second */
    int64_t clock_rate_bound_ppm;  /* as for the offset; 0 until it was looked at twice */
} redlock_node_status;

/* `node` as in a redlock_report. */
typedef struct redlock_status_report {
    size_t size;
    size_t node_size;          /* sizeof(redlock_node_status) */
    redlock_node_status *node; /* each master, in the order of the node list */
    unsigned node_max;
    unsigned node_count; /* written */
    unsigned nodes;
    unsigned needed;
    unsigned ready;     /* nodes that vote */
    unsigned proven;    /* redlock_probe(): and took, extended and released a lock */
    int64_t max_ttl_ms; /* as configured: it must be the same in every client */
} redlock_status_report;
#define REDLOCK_STATUS_INIT(array, count)                                                      \
    {                                                                                          \
        sizeof(redlock_status_report), sizeof(redlock_node_status), (array), (count), 0, 0, 0, \
            0, 0, 0                                                                            \
    }

/* Is this quorum fit? Waits at most connect-timeout for every master to be known.
 * 0 where a quorum can vote, else ENOQUORUM; `ret_status` is filled in either way. Blocks.
 * EINVAL, ECANCELED, ENOMEM, EFORK, EDEADLK. */
REDLOCK_API int redlock_get_status(redlock *client, redlock_status_report *ret_status)
    REDLOCK_NOEXCEPT;

/* Could a lock be taken now? As redlock_get_status(); then it takes a plain lock with a random
 * name, waits for it, extends and releases it on each master that votes. It uses the scripts of
 * every lock. The name is `prefix` and 36 characters; NULL: "redlock:probe:". Give a prefix
 * where the user has rights to some names only. The key lives for 5 s at most. Seven scripts a
 * master, and the connections of waiters. 0 where a quorum votes and has proven it, else
 * ENOQUORUM; `ret_status` is filled in either way. Blocks: at most connect-timeout for each
 * step. As redlock_get_status(); EINVAL also: the prefix; EBUSY, ERANDOM. */
REDLOCK_API int redlock_probe(redlock *client, const char *prefix,
                              redlock_status_report *ret_status) REDLOCK_NOEXCEPT;

/* Counters since redlock_open(). */
typedef struct redlock_stats {
    size_t size;
    uint64_t rounds;             /* acquire rounds begun */
    uint64_t acquired;           /* and won */
    uint64_t extended;           /* extension rounds won */
    uint64_t lost;               /* holds that were found lost or ran out */
    uint64_t released;           /* releases that a quorum confirmed */
    uint64_t pending_releases;   /* now: attempts that some master has yet to be rid of */
    uint64_t abandoned_releases; /* given up because every key had run out by itself */
    uint64_t commands;           /* sent to masters */
    uint64_t reconnects;
    uint64_t held;        /* now: locks that are held */
    uint64_t unconfirmed; /* releases that too few masters answered */
    uint64_t waiting;     /* now: tries that wait for another's release */
    uint64_t wakes;       /* messages of masters that a lock was released */
    uint64_t probes;      /* rounds begun without one, in case it was lost */
    uint64_t renewing;    /* now: locks that are renewed by themselves */
    uint64_t other_lists; /* node lists that differ from this client's, of clients that were met
                             (config-agreement) */
    uint64_t filled_in;   /* keys that masters which lacked them got while their lock was held */
} redlock_stats;
#define REDLOCK_STATS_INIT                                                                     \
    {                                                                                          \
        sizeof(redlock_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0               \
    }

REDLOCK_API int redlock_get_stats(redlock *client, redlock_stats *ret_stats) REDLOCK_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif /* REDLOCK_H */
