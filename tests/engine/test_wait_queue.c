/* test_wait_queue.c - the lines of those who wait in one client: their order, their turns, and
 * the numbers that the masters know them by. */
#include "config_auto.h"

#include "suite.h"

#include "base/text.h"
#include "engine/lease/lease.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAITERS = 8, NAMES = 5000 };

/* A waiter first, and what it was told. */
struct told {
    struct rl_waiter waiter;
    unsigned turns[8];
};

static redlock *client; /* of masters that are not there: nothing is sent */
static struct told told[WAITERS];

static void turn(struct rl_waiter *waiter, enum rl_turn why, int64_t now_ns)
{
    struct told *one = (struct told *)waiter;
    (void)now_ns;
    ck_assert(rl_wait_queue_is_first(waiter));
    one->turns[why]++;
}

static unsigned turns(const struct told *one)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < 8; i++)
        sum += one->turns[i];
    return sum;
}

static void set_up(void)
{
    static const redlock_node nodes[3] = {
        {.size = sizeof(redlock_node), .url = "unix:///nowhere/1"},
        {.size = sizeof(redlock_node), .url = "unix:///nowhere/2"},
        {.size = sizeof(redlock_node), .url = "unix:///nowhere/3"},
    };
    redlock_config config = REDLOCK_CONFIG_INIT;
    config.nodes = nodes;
    config.node_count = 3;
    config.background = REDLOCK_BACKGROUND_NEVER;
    ck_assert_int_eq(redlock_open_config(&config, NULL, &client), 0);
    memset(told, 0, sizeof(told));
    for (int i = 0; i < WAITERS; i++)
        told[i].waiter.turn = turn;
}

static void tear_down(void)
{
    ck_assert_uint_eq(client->wait_queues.waiting, 0);
    ck_assert_uint_eq(client->wait_queues.by_name.count, 0);
    redlock_close(client);
}

static struct rl_target plain(const char *name)
{
    return (struct rl_target){
        .kind = rl_kind(REDLOCK_PLAIN),
        .name = name,
        .name_len = strlen(name),
    };
}

static struct rl_wait_queue *find(const char *name)
{
    struct rl_target target = plain(name);
    return rl_wait_queue_find(&client->wait_queues, &target);
}

static void join(int i, const char *name)
{
    struct rl_target target = plain(name);
    ck_assert_int_eq(rl_wait_queue_join(&client->wait_queues, &told[i].waiter, &target, 1), 0);
}

static void freed(const char *name)
{
    struct rl_target target = plain(name);
    rl_wait_queue_on_release(&client->wait_queues, &target, 3);
}

static void leave(int i, bool won)
{
    rl_wait_queue_leave(&client->wait_queues, &told[i].waiter, won, 2);
}

static uint64_t number(const char *name)
{
    struct rl_wait_queue *queue = find(name);
    ck_assert_ptr_nonnull(queue);
    return queue->number;
}

TEST(line, first_come_is_first)
{
    set_up();
    for (int i = 0; i < WAITERS; i++)
        join(i, "name");
    ck_assert_uint_eq(client->wait_queues.waiting, WAITERS);
    for (int i = 0; i < WAITERS; i++) {
        ck_assert(rl_wait_queue_is_first(&told[i].waiter));
        for (int k = i + 1; k < WAITERS; k++) {
            ck_assert(!rl_wait_queue_is_first(&told[k].waiter));
            ck_assert_uint_eq(turns(&told[k]), 0);
        }
        leave(i, true);
        ck_assert(!rl_wait_queue_is_first(&told[i].waiter));
        if (i + 1 < WAITERS)
            ck_assert_uint_eq(told[i + 1].turns[RL_TURN_FIRST], 1);
    }
    ck_assert_ptr_null(find("name"));
    tear_down();
}

TEST(line, waiter_that_leaves_from_within_changes_nothing_for_first)
{
    set_up();
    for (int i = 0; i < 4; i++)
        join(i, "name");
    leave(1, false);
    leave(3, false);
    leave(3, false); /* in no line: nothing */
    ck_assert_uint_eq(turns(&told[0]) + turns(&told[2]), 0);
    ck_assert_uint_eq(client->wait_queues.waiting, 2);
    join(3, "name");
    leave(0, false);
    ck_assert_uint_eq(told[2].turns[RL_TURN_FIRST], 1);
    leave(2, false);
    ck_assert_uint_eq(told[3].turns[RL_TURN_FIRST], 1);
    leave(3, false);
    tear_down();
}

/* A place in the masters' queues is the line's as long as nobody of it has had the lock: who
 * gives up leaves it to the next, who wins has used it up. */
TEST(line, number_is_good_for_one_lock)
{
    set_up();
    for (int i = 0; i < 3; i++)
        join(i, "name");
    uint64_t before = number("name");
    leave(0, false);
    ck_assert_uint_eq(number("name"), before);
    ck_assert(rl_wait_queue_exists(&client->wait_queues, before));
    leave(1, true);
    ck_assert_uint_ne(number("name"), before);
    ck_assert(!rl_wait_queue_exists(&client->wait_queues, before));
    client->subs.events->woken(client, &client->nodes.all[0], before, 3); /* for nobody */
    ck_assert_uint_eq(told[2].turns[RL_TURN_WOKEN], 0);
    ck_assert_uint_eq(client->stats.wakes, 1);
    before = number("name");
    leave(2, true);
    ck_assert(!rl_wait_queue_exists(&client->wait_queues, before));
    join(0, "name");
    ck_assert_uint_ne(number("name"), before);
    leave(0, true);
    tear_down();
}

TEST(line, only_first_of_right_line_is_called)
{
    set_up();
    join(0, "name");
    join(1, "name");
    join(2, "other");
    rl_wait_queue_on_wakeup(&client->wait_queues, 0, number("name"), 3);
    freed("name");
    freed("nam");
    ck_assert_uint_eq(told[0].turns[RL_TURN_WOKEN], 1);
    ck_assert_uint_eq(told[0].turns[RL_TURN_FREED], 1);
    ck_assert_uint_eq(turns(&told[1]) + turns(&told[2]), 0);
    rl_wait_queues_on_listening(&client->wait_queues, 1, true, 3);
    ck_assert_uint_eq(told[0].turns[RL_TURN_LISTENS], 1);
    ck_assert_uint_eq(told[1].turns[RL_TURN_LISTENS], 0);
    ck_assert_uint_eq(told[2].turns[RL_TURN_LISTENS], 1);
    rl_wait_queues_on_listening(&client->wait_queues, 1, false, 3);
    ck_assert_uint_eq(told[0].turns[RL_TURN_LISTENS], 1);
    leave(0, true);
    leave(1, true);
    leave(2, true);
    tear_down();
}

/* Which masters woke it is counted once each, and they have it in the queue no more; nor can
 * one be relied on that was not listened to. */
TEST(line, wakes_and_places_are_kept_by_node)
{
    set_up();
    join(0, "name");
    struct rl_wait_queue *queue = find("name");
    for (unsigned i = 0; i < 3; i++)
        rl_wait_queue_on_reply(&client->wait_queues, queue->number, i, RL_QUEUED, 1);
    ck_assert_uint_eq(queue->waking.queued, 7);
    rl_wait_queue_on_wakeup(&client->wait_queues, 1, queue->number, 30);
    rl_wait_queue_on_wakeup(&client->wait_queues, 1, queue->number, 40);
    ck_assert_uint_eq(queue->waking.wakes, 2);
    ck_assert_int_eq(queue->waking.woken_ns, 30);
    ck_assert_uint_eq(queue->waking.queued, 5);
    rl_wait_queue_on_reply(&client->wait_queues, queue->number, 0, RL_NOT_QUEUED, 1);
    ck_assert_uint_eq(queue->waking.queued, 4);
    rl_wait_queues_on_listening(&client->wait_queues, 2, false, 50);
    ck_assert_uint_eq(queue->waking.queued, 0);
    ck_assert_uint_ne(queue->waking.entered & 4, 0); /* it is to be told when we leave */
    rl_wait_queue_on_reply(&client->wait_queues, queue->number, 2, RL_QUEUED, 1);
    rl_wait_queue_on_reply(&client->wait_queues, queue->number, 2, RL_NOT_QUEUED, 1);
    ck_assert_uint_eq(queue->waking.queued, 0);
    rl_wait_queue_on_reply(&client->wait_queues, queue->number + 1, 1, RL_QUEUED,
                           1); /* of a line that is not */
    ck_assert_uint_eq(queue->waking.queued, 0);
    leave(0, true);
    tear_down();
}

/* Answers and wake-ups come on connections of their own: whichever is read first, who was woken
 * by name is in no queue any more. */
TEST(line, wake_up_may_be_quicker_than_answer_before_it)
{
    set_up();
    join(0, "name");
    struct rl_wait_queue *queue = find("name");
    queue->waking.rounds = 5;
    ck_assert_uint_eq(rl_wait_queue_rounds(&client->wait_queues, queue->number), 5);
    ck_assert_uint_eq(rl_wait_queue_rounds(&client->wait_queues, queue->number + 1), 0);
    rl_wait_queue_on_wakeup(&client->wait_queues, 1, queue->number, 30);
    rl_wait_queue_on_reply(&client->wait_queues, queue->number, 1, RL_QUEUED, 31);
    ck_assert_uint_eq(queue->waking.queued, 0);
    ck_assert_uint_eq(queue->waking.entered, 2); /* it is left all the same, to be sure */
    /* The next round has begun by the time that it is read. */
    queue->waking.wakes = 0;
    rl_wait_queue_on_reply(&client->wait_queues, queue->number, 1, RL_WAS_QUEUED, 32);
    ck_assert_uint_eq(queue->waking.queued, 0);
    rl_wait_queue_on_reply(&client->wait_queues, queue->number, 1, RL_QUEUED, 33);
    rl_wait_queue_on_reply(&client->wait_queues, queue->number, 1, RL_WAS_QUEUED, 34);
    ck_assert_uint_eq(queue->waking.queued, 2);
    ck_assert_uint_eq(told[0].turns[RL_TURN_MISSED], 0);
    leave(0, true);
    tear_down();
}

/* Names come and go; each finds its own line, by name and by number. */
TEST(line, many_lines_are_told_apart)
{
    static struct told many[NAMES];
    static uint64_t numbers[NAMES];
    char name[32];
    set_up();
    memset(many, 0, sizeof(many));
    for (int round = 0; round < 2; round++) {
        for (int i = round; i < NAMES; i += 1 + round) {
            snprintf(name, sizeof(name), "name-%d", i);
            struct rl_target target = plain(name);
            many[i].waiter.turn = turn;
            ck_assert_int_eq(
                rl_wait_queue_join(&client->wait_queues, &many[i].waiter, &target, 1), 0);
            numbers[i] = number(name);
        }
        for (int i = 0; i < NAMES; i += 2)
            rl_wait_queue_leave(&client->wait_queues, &many[i].waiter, i % 4 == 0, 2);
        for (int i = 0; i < NAMES; i++) {
            snprintf(name, sizeof(name), "name-%d", i);
            ck_assert_int_eq(rl_wait_queue_exists(&client->wait_queues, numbers[i]), i % 2);
            struct rl_wait_queue *queue = find(name);
            ck_assert_int_eq(queue != NULL, i % 2);
            ck_assert(!queue || (queue->number == numbers[i] &&
                                 queue->waiters.first == &many[i].waiter.entry));
        }
        for (int i = 1; i < NAMES; i += 2)
            rl_wait_queue_leave(&client->wait_queues, &many[i].waiter, true, 2);
    }
    tear_down();
}

static void expect_short_buckets(const struct rl_hash_table *table)
{
    for (size_t i = 0; i < table->size; i++) {
        unsigned passed = 0;
        for (const struct rl_hashed *at = table->bucket[i]; at; at = at->next)
            passed++;
        ck_assert_uint_le(passed, 16);
    }
}

/* Their names share a bucket in each table whose hash has no key: who looks for one of them
 * passes few others nevertheless. Each client has a key of its own. */
TEST(line, names_that_were_chosen_to_collide_make_nothing_slow)
{
    enum { CHOSEN = 512 };
    static struct told many[CHOSEN];
    static struct rl_lease *leases[CHOSEN];
    char name[24];
    set_up();
    redlock *other = client;
    set_up();
    ck_assert_uint_ne(client->leases.named.key.half[0], other->leases.named.key.half[0]);
    ck_assert_uint_ne(client->leases.named.key.half[1], other->leases.named.key.half[1]);
    ck_assert_mem_eq(&client->subs.channels.by_text.key, &client->leases.named.key,
                     sizeof(struct rl_sip_key));
    redlock_close(other);
    for (unsigned number = 0, i = 0; i < CHOSEN; number++) {
        int len = snprintf(name, sizeof(name), "order:%u", number);
        if (rl_hash(name, (size_t)len) & (CHOSEN - 1))
            continue;
        struct rl_target target = plain(name);
        many[i].waiter.turn = turn;
        ck_assert_int_eq(rl_wait_queue_join(&client->wait_queues, &many[i].waiter, &target, 1),
                         0);
        target.kind = rl_kind(REDLOCK_REENTRANT);
        target.owner = "me";
        target.owner_len = 2;
        ck_assert_int_eq(rl_lease_new(client, &target, NULL, &leases[i++]), 0);
    }
    ck_assert_uint_eq(client->leases.named.count, CHOSEN);
    expect_short_buckets(&client->leases.named);
    expect_short_buckets(&client->wait_queues.by_name);
    for (int i = 0; i < CHOSEN; i++) {
        rl_lease_free_if_settled(leases[i], 2);
        rl_wait_queue_leave(&client->wait_queues, &many[i].waiter, true, 2);
    }
    tear_down();
}

/* ---- lines that hear on channels -------------------------------------------------------- */

static const struct rl_kind lock_kind = {.name = "lock", .wakeup = RL_WAKEUP_LOCK};
static const struct rl_kind read_kind = {.name = "read", .wakeup = RL_WAKEUP_RW};
static const struct rl_kind write_kind = {.name = "write", .wakeup = RL_WAKEUP_RW};
static const struct rl_kind fair_kind = {
    .name = "fair", .wakeup = RL_WAKEUP_FAIR, .queues_at_once = true};

static struct rl_target target_of(const struct rl_kind *kind, const char *owner)
{
    struct rl_target target = plain("name");
    target.kind = kind;
    target.owner = owner;
    target.owner_len = strlen(owner);
    return target;
}

static struct rl_wait_queue *stand(int i, const struct rl_kind *kind, const char *owner)
{
    struct rl_target target = target_of(kind, owner);
    ck_assert_int_eq(rl_wait_queue_join(&client->wait_queues, &told[i].waiter, &target, 1), 0);
    ck_assert_ptr_eq(rl_wait_queue_find(&client->wait_queues, &target), told[i].waiter.queue);
    return told[i].waiter.queue;
}

static struct rl_channel *ear_of(const char *name)
{
    return rl_channel_find(&client->subs.channels, name, strlen(name));
}

TEST(line, line_is_of_one_kind_and_where_owners_queue_of_one_owner)
{
    set_up();
    join(0, "name");
    ck_assert_ptr_null(told[0].waiter.queue->channel);
    ck_assert_ptr_ne(stand(1, &lock_kind, "ann"), told[0].waiter.queue);
    ck_assert_ptr_eq(stand(2, &lock_kind, "bob"), told[1].waiter.queue);
    ck_assert_ptr_ne(stand(3, &fair_kind, "ann"), told[1].waiter.queue);
    ck_assert_ptr_ne(stand(4, &fair_kind, "bob"), told[3].waiter.queue);
    ck_assert_ptr_eq(stand(5, &fair_kind, "ann"), told[3].waiter.queue);
    stand(6, &read_kind, "ann");
    ck_assert_ptr_ne(stand(7, &write_kind, "ann"), told[6].waiter.queue);
    ck_assert_ptr_eq(told[6].waiter.queue->channel, told[7].waiter.queue->channel);
    ck_assert_ptr_eq(told[1].waiter.queue->channel, ear_of("redisson_lock__channel:{name}"));
    ck_assert_ptr_eq(told[4].waiter.queue->channel,
                     ear_of("redisson_lock__channel:{name}:bob"));
    ck_assert_ptr_eq(told[7].waiter.queue->channel, ear_of("redisson_rwlock:{name}"));
    ck_assert_uint_eq(client->subs.channels.used, 4);
    leave(6, false);
    ck_assert_ptr_nonnull(ear_of("redisson_rwlock:{name}"));
    leave(7, true);
    ck_assert_ptr_null(ear_of("redisson_rwlock:{name}"));
    for (int i = 0; i < 6; i++)
        leave(i, i % 2 == 0);
    ck_assert_uint_eq(client->subs.channels.count, 0);
    tear_down();
}

/* As a subscriber does. */
static void hears(struct rl_channel *channel, unsigned node)
{
    channel->confirmed |= rl_bit(node);
    rl_wait_queue_on_subscribed(&client->subs, node, channel, 3);
}

TEST(line, all_that_hear_channel_are_told_and_stay_queued)
{
    set_up();
    struct rl_wait_queue *reads = stand(0, &read_kind, "ann");
    stand(1, &read_kind, "bob");
    struct rl_wait_queue *writes = stand(2, &write_kind, "cyd");
    struct rl_wait_queue *other = stand(3, &lock_kind, "dan");
    hears(reads->channel, 1);
    ck_assert_uint_eq(rl_wait_queue_listening(&client->wait_queues, reads), 2);
    ck_assert_uint_eq(rl_wait_queue_listening(&client->wait_queues, writes), 2);
    ck_assert_uint_eq(rl_wait_queue_listening(&client->wait_queues, other), 0);
    ck_assert_uint_eq(told[0].turns[RL_TURN_LISTENS], 1);
    ck_assert_uint_eq(told[2].turns[RL_TURN_LISTENS], 1);
    rl_wait_queue_on_reply(&client->wait_queues, reads->number, 1, RL_QUEUED, 4);
    rl_wait_queue_on_message(&client->subs, 1, reads->channel, 5);
    rl_wait_queue_on_message(&client->subs, 1, reads->channel, 6);
    ck_assert_uint_eq(reads->waking.wakes, 2);
    ck_assert_int_eq(reads->waking.woken_ns, 5);
    ck_assert_uint_eq(reads->waking.queued, 2);
    ck_assert_uint_eq(told[0].turns[RL_TURN_WOKEN], 2);
    ck_assert_uint_eq(told[2].turns[RL_TURN_WOKEN], 2);
    ck_assert_uint_eq(turns(&told[1]) + turns(&told[3]), 0);
    /* What was said while it was not heard is lost. */
    reads->channel->confirmed = 0;
    hears(reads->channel, 1);
    ck_assert_uint_eq(reads->waking.queued, 0);
    reads->channel->pending = 2; /* its end is on its way */
    ck_assert_uint_eq(rl_wait_queue_listening(&client->wait_queues, reads), 0);
    ck_assert(rl_wait_queue_pending(&client->wait_queues, reads));
    reads->channel->pending = reads->channel->confirmed = 0;
    for (int i = 0; i < 4; i++)
        leave(i, true);
    ck_assert_uint_eq(client->subs.channels.count, 0);
    tear_down();
}

/* The client's own channel, its numbers and its releases are not theirs. */
TEST(line, rules_of_plain_locks_do_not_concern_them)
{
    set_up();
    struct rl_wait_queue *queue = stand(0, &lock_kind, "ann");
    struct rl_target target = target_of(&lock_kind, "ann");
    queue->waking.queued = queue->waking.entered = 2;
    client->subs.listening = 7;
    rl_wait_queues_on_listening(&client->wait_queues, 1, false, 3);
    rl_wait_queues_on_listening(&client->wait_queues, 1, true, 3);
    rl_wait_queue_on_wakeup(&client->wait_queues, 1, queue->number, 3);
    rl_wait_queue_on_release(&client->wait_queues, &target, 3);
    rl_wait_queue_yield(&client->wait_queues, &target, 3);
    ck_assert_uint_eq(turns(&told[0]), 0);
    ck_assert_uint_eq(queue->waking.queued, 2);
    ck_assert_uint_eq(queue->waking.wakes, 0);
    ck_assert_int_eq(rl_wait_queue_yields_until_ns(&client->wait_queues, &target), 0);
    ck_assert_uint_eq(rl_wait_queue_listening(&client->wait_queues, queue), 0);
    ck_assert_uint_eq(rl_wait_queue_nodes(&client->wait_queues, &lock_kind, queue->number), 0);
    queue->channel->confirmed = 4;
    ck_assert_uint_eq(rl_wait_queue_nodes(&client->wait_queues, &lock_kind, queue->number), 4);
    ck_assert_uint_eq(rl_wait_queue_nodes(&client->wait_queues, &lock_kind, queue->number + 1),
                      0);
    ck_assert_uint_eq(rl_wait_queue_nodes(&client->wait_queues, rl_kind(REDLOCK_PLAIN), 1), 7);
    ck_assert_uint_eq(rl_wait_queue_nodes(&client->wait_queues, &fair_kind, 1),
                      7); /* all there are */
    queue->channel->confirmed = 0;
    client->subs.listening = 0;
    leave(0, false);
    tear_down();
}

static int goes[WAITERS]; /* who leaves when this one is woken; -1: nobody */

static void turn_and_go(struct rl_waiter *waiter, enum rl_turn why, int64_t now_ns)
{
    struct told *one = (struct told *)waiter;
    one->turns[why]++;
    int who = goes[one - told];
    if (why == RL_TURN_WOKEN && who >= 0)
        rl_wait_queue_leave(&client->wait_queues, &told[who].waiter, false, now_ns);
}

/* Who is told may leave, and take others along: all that are left are told, once. */
TEST(line, told_waiter_may_leave, .rows = WAITERS)
{
    set_up();
    const char *const owners[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    static const struct rl_kind kinds[WAITERS] = {
        {.wakeup = RL_WAKEUP_RW}, {.wakeup = RL_WAKEUP_RW}, {.wakeup = RL_WAKEUP_RW},
        {.wakeup = RL_WAKEUP_RW}, {.wakeup = RL_WAKEUP_RW}, {.wakeup = RL_WAKEUP_RW},
        {.wakeup = RL_WAKEUP_RW}, {.wakeup = RL_WAKEUP_RW},
    };
    for (int i = 0; i < WAITERS; i++) {
        told[i].waiter.turn = turn_and_go;
        stand(i, &kinds[i], owners[i]);
        goes[i] = (i + _i) % WAITERS;
    }
    struct rl_channel *channel = told[0].waiter.queue->channel;
    channel->confirmed = 1; /* it is not gone with the last of them */
    rl_wait_queue_on_message(&client->subs, 0, channel, 3);
    for (int i = 0; i < WAITERS; i++) {
        bool there = told[i].waiter.queue != NULL;
        ck_assert_uint_le(told[i].turns[RL_TURN_WOKEN], 1);
        ck_assert(!there || told[i].turns[RL_TURN_WOKEN] == 1);
        rl_wait_queue_leave(&client->wait_queues, &told[i].waiter, false, 4);
    }
    ck_assert_ptr_eq(ear_of("redisson_rwlock:{name}"), channel);
    rl_channels_forget(&client->subs.channels, 1);
    ck_assert_uint_eq(client->subs.channels.count, 0);
    tear_down();
}

/* ---- leaving masters that can't be reached ---------------------------------------------- */

/* What is left there ends by itself: nobody stays awake for longer, or tells later. */
TEST(line, master_that_is_back_late_is_not_told)
{
    enum { NOW = 1000, NUMBER = 7 };
    const int64_t end_ns = NOW + RL_QUEUE_TTL_MS * RL_NS_PER_MS;
    struct rl_target target = plain("name");
    set_up();
    ck_assert(!rl_wait_queues_leaving(&client->wait_queues, NOW));
    rl_wait_queue_leave_nodes(&client->wait_queues, &target, NUMBER, rl_all(3), NOW);
    const struct rl_pending_leave *leave = &client->wait_queues.pending_leave[0];
    ck_assert_uint_eq(leave->nodes, rl_all(3));
    ck_assert(rl_wait_queues_leaving(&client->wait_queues, end_ns - 1));
    rl_wait_queues_node_up(&client->wait_queues, 0,
                           end_ns - 1); /* it can't be sent anything yet */
    ck_assert_uint_eq(leave->nodes, rl_all(3));
    ck_assert(!rl_wait_queues_leaving(&client->wait_queues, end_ns));
    rl_wait_queues_node_up(&client->wait_queues, 0, end_ns);
    ck_assert_uint_eq(leave->nodes, 0);
    tear_down();
}
