/* limits.h - bounds and defaults that users or several files see. The bounds of one file alone
 * are at its top. */
#ifndef RL_LIMITS_H
#define RL_LIMITS_H

#include <redlock.h>

#include <stddef.h>

#define RL_NS_PER_MS INT64_C(1000000)
#define RL_NS_PER_S INT64_C(1000000000)

/* Defaults of the node list file's settings (redlock.conf(5) repeats them; a test compares). */
#define RL_DEFAULT_MAX_TTL_MS 30000
#define RL_DEFAULT_TTL_MS 10000 /* or max-ttl, where that is less */
#define RL_DEFAULT_CONNECT_TIMEOUT_MS 1000
#define RL_DEFAULT_STALL_LIMIT_MS 1000
#define RL_DEFAULT_LINGER_MS 500
#define RL_DEFAULT_DRIFT_FACTOR 0.01

/* The part of the drift that does not grow with the TTL: rounding on both sides. */
#define RL_DRIFT_FIXED_NS (2 * RL_NS_PER_MS)

/* A smaller difference between clocks of processors is no step back: it is part of the
 * drift. */
#define RL_CLOCK_JITTER_NS RL_NS_PER_MS

/* The unit of redlock_validity_ms(). A lock with less than this left is over: a user that saw 0
 * has stopped, and an extension must not revive the lock. */
#define RL_VALIDITY_GRAIN_NS RL_NS_PER_MS

#define RL_TTL_MIN_MS 10                 /* below it no round trip fits beside the drift */
#define RL_TTL_LIMIT_MS (86400000 * 7LL) /* the largest max-ttl: a week */
#define RL_TIMEOUT_LIMIT_MS 3600000LL    /* the largest of the other settings: an hour */
#define RL_DURATION_MAX_MS (86400000LL * 36500)

#define RL_FILE_MAX 65536     /* bytes in a node list file */
#define RL_LINE_MAX 8192      /* bytes in one of its lines */
#define RL_STATUS_TEXT_MAX 256 /* bytes of a status-prefix, and of status-kinds */
#define RL_PASSWORD_MAX 512     /* bytes in a password */
#define RL_HOST_MAX 255       /* bytes in a host name */
#define RL_UNIX_PATH_MAX 107  /* sun_path less its NUL */
#define RL_PATH_LIMIT 4095    /* bytes in a file's path */
#define RL_USER_MAX 128       /* bytes in a user name */
#define RL_CLIENT_NAME_MAX 63 /* bytes in client-name */
#define RL_URL_MAX 1024       /* bytes in a node's URL */
#define RL_SENTINELS_MIN 3    /* that a line names: one may be away */
#define RL_SENTINELS_MAX 6
#define RL_SERVICE_MAX 127    /* bytes in what they call a master */

#define RL_ADDRESSES_MAX 8 /* addresses of one name that are tried */

/* Bytes in INFO's reply: in Redis 6.2 to 7 each kind of error ever seen may add a line. */
#define RL_REPLY_INFO_MAX (1024 * 1024)
#define RL_REPLY_MAX 65536      /* and in any other reply of a master */
#define RL_REPLY_ELEMENTS_MAX 8 /* elements in one reply */
#define RL_REPLY_TEXTS_MAX 256  /* in one of a Sentinel, which are all texts */
#define RL_REPLY_TEXT_MAX (REDLOCK_NAME_MAX + 512) /* bytes kept of its strings: a channel */
#define RL_READ_CHUNK 16384     /* bytes a read */
#define RL_READ_BUDGET 65536    /* bytes read from one link a turn */

#define RL_REQUEST_MAX 57344         /* bytes in one request: nine long keys and a script */
#define RL_OUT_MIN 65536             /* bytes a link can always queue */
#define RL_OUT_MAX (4 * 1024 * 1024) /* and at most */
#define RL_FIFO_MIN 256              /* unanswered requests a link can always hold */
#define RL_FIFO_MAX 65536

#define RL_PENDING_RELEASES_MAX 65536 /* ended leases that some master may still have */

#define RL_HANDLES_RESTING 64 /* released locks before one is used again */

/* A voting master gets INFO again after this time, before further votes. */
#define RL_ASK_INFO_MS 10000

/* The mark of a node list stays at a master for its max-ttl and this. A client shows it each
 * RL_ASK_INFO_MS while it holds or takes locks, so two of these may fail. */
#define RL_LISTS_MARGIN_MS (3 * RL_ASK_INFO_MS)

#define RL_RECONNECT_MIN_MS 10
#define RL_RECONNECT_MAX_MS 330 /* the longest backoff: about four tries a second */
/* A server that refuses what only a person can mend gets a connect after RL_REFUSED_MIN_MS, then
 * less often. Where a call needs it, it gets one in RL_REFUSED_NEEDED_MS. */
#define RL_REFUSED_MIN_MS 500
#define RL_REFUSED_MAX_MS 30000
#define RL_REFUSED_NEEDED_MS 2000
/* A wait ends where for so long no majority is to be had before a person mends something. */
#define RL_HOPELESS_MS 5000
#define RL_HOPELESS_TEXT "5 s" /* the same in words */
#define RL_CORK_NS (300 * INT64_C(1000)) /* a lazy release waits so long for company */
#define RL_SILENT_NS (500 * RL_NS_PER_MS) /* a reply missing for so long is more likely lost: */
#define RL_SILENT_ROUND_TRIPS 8           /* or for so many round trips, if that is longer */
#define RL_PING_AFTER_MS 1000    /* a subscriber that hears nothing asks for a PONG */
#define RL_CHANNEL_ASKS_MAX 240  /* channels that one server is asked for at once */
#define RL_UNLEFT_MAX 1000       /* subscriptions that it does not end */
#define RL_DENIED_AGAIN_MS 30000 /* how often a denied subscription is tried again */
#define RL_REFUSAL_AGAIN_MS 10000 /* how often refusals of a master are logged */
#define RL_AWAY_TOLD_NS RL_NS_PER_S /* a master that is away for so long is told of */
#define RL_AWAY_AGAIN_NS (60 * RL_NS_PER_S) /* and once in this time, as is its return */
#define RL_TOLD_AGAIN_NS RL_NS_PER_S /* locks that were lost, say, share one line in this time */
#define RL_RETRY_MIN_MS 5        /* the first backoff after a lost round */
#define RL_RETRY_MAX_MS 250      /* and the longest */
#define RL_UNPROMPTED_MS 1000 /* a queued waiter asks unprompted then; later if far or next */
#define RL_UNPROMPTED_MAX_MS 8000
#define RL_QUEUE_TTL_MS 30000 /* a queue expires so long after the last request */
#define RL_FAIR_WAITER_MS 15000 /* a silent waiter of a fair lock is dropped after this time */
/* A reentrant lock that ends so long before its tokens was shortened by a peer. It must be
 * longer than a server may pause between the two. */
#define RL_SHORTENED_MS 500
/* A Redisson reader renews the lock of all readers for this time, whatever their leases are. */
#define RL_SHARED_TTL_MAX_MS 30000
/* How long masters take a writer for waiting: until its first renewal, which it sends once it
 * listens, and after each renewal. A writer that gives up before the first one leaves its mark
 * for that time. */
#define RL_WRITER_FIRST_WAITING_MS 200
#define RL_WRITER_WAITING_MS 4000
/* A counter of fencing tokens stays for this time and the guard's window after its lock was
 * taken or extended. When the counter has gone, the master's clock is above all tokens that it
 * had, unless that clock went back so far. */
#define RL_FENCE_LIFE_MS 86400000
/* A client proposes tokens so far ahead of its clock, or an eighth of the guard's window. */
#define RL_FENCE_LEAD_MS 10000
#define RL_RESERVE_MIN_MS 20 /* how long a release reserves the lock for the waiter it wakes */
#define RL_RESERVE_MAX_MS 500
#define RL_ROUND_MIN_NS (2 * RL_NS_PER_MS) /* no round starts with less a node */

#define RL_LOST_MARGIN_MIN_NS (3 * RL_NS_PER_MS)
#define RL_LOST_MARGIN_MAX_NS (100 * RL_NS_PER_MS)

/* Bounds that few programs meet. The simulator has its own (sim_limits.c), so that its worlds
 * meet them. */
struct rl_limits {
    /* Extension rounds in flight at once for auto_renew: so many a millisecond of round trip. */
    unsigned renewals_a_ms, renewals_min, renewals_max;
    unsigned backlog;       /* unanswered requests: with more a node is not asked for votes */
    unsigned slow_requests; /* with fewer it does not count as slow */
    unsigned fifo_min, fifo_max; /* of a link, both powers of 2 */
    size_t out_max;              /* bytes that a link queues */
    size_t read_a_turn;          /* bytes read from one link a turn */
    unsigned releases;           /* ended leases that some master may still have */
    unsigned fill_in_a_turn;     /* leases that are filled in between two pauses */
    unsigned channel_asks;       /* channels that one server is asked for at once */
};
#define RL_LIMITS                                                                              \
    {                                                                                          \
        .renewals_a_ms = 16, .renewals_min = 512, .renewals_max = 4096, .backlog = 8192,       \
        .slow_requests = 64, .fifo_min = RL_FIFO_MIN, .fifo_max = RL_FIFO_MAX,                 \
        .out_max = RL_OUT_MAX, .read_a_turn = RL_READ_BUDGET,                                  \
        .releases = RL_PENDING_RELEASES_MAX, .fill_in_a_turn = 32,                             \
        .channel_asks = RL_CHANNEL_ASKS_MAX,                                                   \
    }
#ifndef RL_LIMITS_ARE
#define RL_LIMITS_ARE const /* for all but the simulator */
#endif
extern RL_LIMITS_ARE struct rl_limits rl_limits;

#define RL_OWNER_MAX 128 /* bytes in an owner: a thread, or a name that the caller gives */

#define RL_UUID_LEN 36   /* bytes in a client's id */
#define RL_WAITER_MAX 64 /* a client's id, a colon and a number */

#define RL_TOKEN_RANDOM_BYTES 16
#define RL_TOKEN_MAX (2 * RL_TOKEN_RANDOM_BYTES + 1 + RL_CLIENT_NAME_MAX)

#endif
