/* test_voters.c - how long a client waits for its nodes: for a majority at all, and a client
 * that has never asked for the others too. Nodes are made up, and so is the time. */
#include "config_auto.h"

#include "engine/masters/voters.h"
#include "net/link_internal.h"
#include "suite.h"

#define US (RL_NS_PER_MS / 1000)
#define MS RL_NS_PER_MS
#define OPENED (100 * RL_NS_PER_S)

enum { NODES = 3, MAJORITY = 3 /* nodes 0 and 1, as bits */, FIRST = 1 };

static struct rl_node all[NODES];
static struct rl_voters voters;
static struct rl_link links[NODES];
static int64_t until_ns;

/* The last one connects still, and so do the others that cannot vote yet. */
static void set_up(void)
{
    for (unsigned i = 0; i < NODES; i++) {
        all[i] = (struct rl_node){.mode = RL_CONNECTING, .duplicate_of = -1};
        rl_node_connection(&all[i])->link = &links[i];
    }
    static struct rl_node_settings settings;
    voters = (struct rl_voters){.n = NODES, .settings = &settings, .opened_ns = OPENED};
    for (unsigned i = 0; i < NODES; i++)
        voters.node[i] = &all[i];
}

static bool ready(uint64_t voting, int64_t after_ns)
{
    for (unsigned i = 0; i < NODES; i++)
        if (voting & rl_bit(i))
            all[i].mode = RL_UP;
    return rl_voters_ready(&voters, voting, OPENED + after_ns, &until_ns);
}

/* A cold client with a majority waits about as long again: 1 ms at least, 100 ms at most. */
static const struct {
    int64_t majority_ns, grace_ns;
} graces[] = {
    {1, MS},
    {999 * US, MS},
    {MS, MS},
    {1001 * US, 1001 * US},
    {30 * MS, 30 * MS},
    {99 * MS, 99 * MS},
    {101 * MS, 100 * MS},
    {5000 * MS, 100 * MS},
};

TEST(ready, cold_client_waits_for_last_node_as_long_again, .rows = ROWS(graces))
{
    int64_t majority_ns = graces[_i].majority_ns, grace_ns = graces[_i].grace_ns;
    ck_assert(!ready(MAJORITY, majority_ns));
    ck_assert_int_eq(until_ns, OPENED + majority_ns + grace_ns);
    ck_assert(!ready(MAJORITY, majority_ns + grace_ns - 1)); /* asked again, it is no longer */
    ck_assert_int_eq(until_ns, OPENED + majority_ns + grace_ns);
    ck_assert(ready(MAJORITY, majority_ns + grace_ns));
}

TEST(ready, last_node_ends_grace)
{
    ck_assert(!ready(MAJORITY, MS));
    ck_assert(ready(rl_all(NODES), MS));
    ck_assert_int_eq(until_ns, INT64_MAX);
}

/* A node that has failed is no reason to wait. */
TEST(ready, failure_of_last_node_ends_grace)
{
    ck_assert(!ready(MAJORITY, MS));
    all[NODES - 1].retry.failures = 1;
    ck_assert(ready(MAJORITY, MS));
}

TEST(ready, warm_client_needs_no_more_than_majority)
{
    voters.warm = true;
    ck_assert(!ready(FIRST, MS));
    ck_assert(ready(MAJORITY, MS));
}

TEST(ready, without_majority_wait_lasts_while_nodes_could_make_one)
{
    ck_assert(!ready(FIRST, 3600 * RL_NS_PER_S));
    ck_assert_int_eq(until_ns, INT64_MAX); /* an event tells of them */
    all[1].retry.failures = 1;
    ck_assert(!ready(FIRST, 3600 * RL_NS_PER_S));
    all[2].retry.failures = 1;
    ck_assert(ready(FIRST, 3600 * RL_NS_PER_S)); /* in vain: the round is lost at once */
}

/* Two masters of three have more requests than a client sends tries to. */
TEST(ready, masters_full_of_tries_are_asked_for_renewals)
{
    static struct rl_inflight fifo = {.deadline_ns = INT64_MAX, .sent_ns = OPENED};
    for (unsigned i = 0; i < NODES; i++)
        all[i].mode = RL_UP;
    for (unsigned i = 0; i < MAJORITY - 1; i++) {
        struct rl_connection *connection = rl_node_connection(&all[i]);
        connection->fifo = &fifo;
        connection->fifo_count = 10000;
    }
    ck_assert_uint_eq(rl_voters_to_ask(&voters, OPENED), rl_bit(NODES - 1));
    ck_assert_uint_eq(rl_voters_to_renew(&voters, OPENED), rl_all(NODES));
    all[NODES - 1].mode = RL_CONNECTING;
    ck_assert_uint_eq(rl_voters_to_renew(&voters, OPENED), MAJORITY);
}

TEST(ready, masters_full_of_tries_are_left_alone_where_others_are_enough)
{
    static struct rl_inflight fifo = {.deadline_ns = INT64_MAX, .sent_ns = OPENED};
    for (unsigned i = 0; i < NODES; i++)
        all[i].mode = RL_UP;
    rl_node_connection(&all[2])->fifo = &fifo;
    rl_node_connection(&all[2])->fifo_count = 10000;
    ck_assert_uint_eq(rl_voters_to_renew(&voters, OPENED), MAJORITY);
}

CASE(ready, .set_up = set_up)
