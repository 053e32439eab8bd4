/* test_standing.c - what a node is good for, by all that may be known of it. */
#include "config_auto.h"

#include "net/link_internal.h"
#include "node/node.h"
#include "suite.h"

#include <stdio.h>

#define MS RL_NS_PER_MS
#define NOW (100 * RL_NS_PER_S)
#define CONNECT_NS RL_NS_PER_S
#define OWN_WORDS "its own words"

static const struct rl_node_settings settings = {.connect_timeout_ns = CONNECT_NS};

static const struct {
    enum rl_mode mode;
    unsigned failures;
    int64_t tried_ago;
    enum rl_fitness fitness;
    bool duplicate, proven;
    unsigned unanswered;
    int64_t sent_ago, deadline_in; /* of the oldest of them */
    bool blocked;
    enum rl_standing standing;
    const char *why;
} rows[] = {
    {.mode = RL_DOWN, .standing = RL_STANDING_CONNECTING, .why = OWN_WORDS},
    {.mode = RL_GREETING, .standing = RL_STANDING_CONNECTING, .why = OWN_WORDS},
    {.mode = RL_DOWN, .failures = 1, .standing = RL_STANDING_DOWN, .why = OWN_WORDS},
    {.mode = RL_AUTH, .failures = 1, .standing = RL_STANDING_DOWN, .why = OWN_WORDS},
    /* What failed may be excused, but not for longer than a connect may take. */
    {.mode = RL_CONNECTING,
     .tried_ago = CONNECT_NS - 1,
     .standing = RL_STANDING_CONNECTING,
     .why = OWN_WORDS},
    {.mode = RL_CONNECTING,
     .tried_ago = CONNECT_NS,
     .standing = RL_STANDING_DOWN,
     .why = OWN_WORDS},
    {.mode = RL_DOWN, .tried_ago = CONNECT_NS, .standing = RL_STANDING_DOWN, .why = OWN_WORDS},
    /* What was true of it while it was UP does not make it more than that. */
    {.mode = RL_CONNECTING,
     .fitness = RL_UNFIT,
     .duplicate = true,
     .standing = RL_STANDING_CONNECTING,
     .why = OWN_WORDS},
    {.mode = RL_UP, .standing = RL_STANDING_READY, .why = OWN_WORDS},
    {.mode = RL_UP, .failures = 3, .standing = RL_STANDING_READY, .why = OWN_WORDS},
    {.mode = RL_UP,
     .duplicate = true,
     .fitness = RL_UNFIT,
     .standing = RL_STANDING_DUPLICATE,
     .why = "has another node's run_id, and may be the same server"},
    {.mode = RL_UP,
     .duplicate = true,
     .proven = true,
     .standing = RL_STANDING_DUPLICATE,
     .why = "the same server as an earlier node of the list"},
    {.mode = RL_UP, .fitness = RL_UNFIT, .standing = RL_STANDING_UNFIT, .why = OWN_WORDS},
    {.mode = RL_UP, .fitness = RL_GUARDED, .standing = RL_STANDING_GUARDED, .why = OWN_WORDS},
    {.mode = RL_UP,
     .fitness = RL_GUARDED,
     .unanswered = 1,
     .deadline_in = 0,
     .standing = RL_STANDING_GUARDED,
     .why = OWN_WORDS},
    /* Past a deadline, to the nanosecond. */
    {.mode = RL_UP,
     .unanswered = 1,
     .deadline_in = 1,
     .standing = RL_STANDING_READY,
     .why = OWN_WORDS},
    {.mode = RL_UP,
     .unanswered = 1,
     .deadline_in = 0,
     .standing = RL_STANDING_STALLED,
     .why = "does not answer"},
    {.mode = RL_UP,
     .unanswered = 8192,
     .sent_ago = 1000 * MS,
     .deadline_in = -1,
     .blocked = true,
     .standing = RL_STANDING_STALLED,
     .why = "does not answer"},
    /* Too much unanswered, or not taken. */
    {.mode = RL_UP,
     .unanswered = 8191,
     .deadline_in = MS,
     .standing = RL_STANDING_READY,
     .why = OWN_WORDS},
    {.mode = RL_UP,
     .unanswered = 8192,
     .deadline_in = MS,
     .standing = RL_STANDING_SATURATED,
     .why = "takes no more requests"},
    {.mode = RL_UP,
     .blocked = true,
     .standing = RL_STANDING_SATURATED,
     .why = "takes no more requests"},
    {.mode = RL_UP,
     .unanswered = 64,
     .sent_ago = 1000 * MS,
     .deadline_in = MS,
     .blocked = true,
     .standing = RL_STANDING_SATURATED,
     .why = "takes no more requests"},
    /* 8 round trips of 5 ms. */
    {.mode = RL_UP,
     .unanswered = 64,
     .sent_ago = 40 * MS,
     .deadline_in = MS,
     .standing = RL_STANDING_READY,
     .why = OWN_WORDS},
    {.mode = RL_UP,
     .unanswered = 63,
     .sent_ago = 1000 * MS,
     .deadline_in = MS,
     .standing = RL_STANDING_READY,
     .why = OWN_WORDS},
    {.mode = RL_UP,
     .unanswered = 64,
     .sent_ago = 40 * MS + 1,
     .deadline_in = MS,
     .standing = RL_STANDING_SLOW,
     .why = "lags behind: not asked, since enough others answer at once"},
};

TEST(all, standing_and_its_reason, .rows = ROWS(rows))
{
    struct rl_inflight oldest = {.sent_ns = NOW - rows[_i].sent_ago,
                                 .deadline_ns = NOW + rows[_i].deadline_in};
    struct rl_link link = {.blocked = rows[_i].blocked};
    struct rl_node node = {
        .mode = rows[_i].mode,
        .retry.failures = rows[_i].failures,
        .tried_ns = rows[_i].tried_ago > 0 ? NOW - rows[_i].tried_ago : 0,
        .settings = &settings,
        .fitness = rows[_i].fitness,
        .duplicate_of = rows[_i].duplicate ? 0 : -1,
        .duplicate_proven = rows[_i].proven,
        .round_trip_ns = 5 * MS,
    };
    struct rl_connection *wire = rl_node_connection(&node);
    wire->link = &link;
    wire->fifo = &oldest;
    wire->fifo_count = rows[_i].unanswered;
    snprintf(node.why, sizeof(node.why), "%s", OWN_WORDS);
    ck_assert_int_eq(rl_node_standing(&node, NOW), rows[_i].standing);
    ck_assert_str_eq(rl_node_why(&node, NOW), rows[_i].why);
    ck_assert_int_eq(rl_node_is_fit(&node), rows[_i].fitness == RL_FIT && !rows[_i].duplicate);
}

static const struct {
    int64_t left_ns;
    const char *why;
    bool looked; /* and nobody has set it */
} quarantines[] = {
    {12 * RL_NS_PER_S, "quarantined, votes in 12 s, because of this", false},
    {11 * RL_NS_PER_S + 1, "quarantined, votes in 12 s, because of this", false},
    {1, "quarantined, votes in 1 s, because of this", false},
    {INT64_MAX - NOW, "quarantined until somebody deletes libredlock:quarantine, because of this",
     false},
    {12 * RL_NS_PER_S, "votes 12 s after the first client that wants a lock, because of this",
     true},
    {0, OWN_WORDS, false}, /* it is being asked again */
};

TEST(all, quarantine_tells_its_time, .rows = ROWS(quarantines))
{
    struct rl_node node = {
        .mode = RL_UP,
        .fitness = RL_GUARDED,
        .duplicate_of = -1,
        .keys = &rl_server_keys,
        .marker_says = RL_MARKER_QUARANTINED,
        .marker.why = "of this",
        .marker.text = {quarantines[_i].looked ? '\0' : 'm'},
        .guard_until_ns = NOW + quarantines[_i].left_ns,
        .why = OWN_WORDS,
    };
    ck_assert_str_eq(rl_node_why(&node, NOW), quarantines[_i].why);
}

TEST(all, first_attempt_has_no_reason_yet)
{
    struct rl_node node = {.mode = RL_CONNECTING, .duplicate_of = -1};
    ck_assert_str_eq(rl_node_why(&node, NOW), "connecting");
}
