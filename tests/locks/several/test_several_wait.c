/* tags: long */
/* test_several_wait.c - waiting for several names: in the queues of those that others have,
 * woken by their releases, and nobody else's wait for one of the names is held up by it. Sets
 * in opposite orders, and plain locks on their names, by threads and by processes. */
#include "config_auto.h"

#include "child.h"
#include "script_talk.h"
#include "stall.h"
#include "kinds/name_set.h"
#include "wait_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const unsigned sizes[] = {1, 3, 5};
static const char *const ab[] = {"a", "b"};
static const char *const abc[] = {"a", "b", "c"};
static struct waiter plain;

/* ---- woken ------------------------------------------------------------------------------ */

TEST(waiting, release_of_blocking_lock_wakes_and_nothing_else_is_asked, .rows = 3)
{
    unsigned n = sizes[_i];
    OPEN_MASTERS(n);
    for (int i = 0; i < 3; i++) {
        redlock_stats before = client_stats(two);
        redlock_lock *held = take_everywhere(masters, one, "b");
        waiter_start_all(&waiter, two, abc, 3, 30000);
        queue_becomes(masters, "b", 1);
        pause_ms(100); /* in which it is to do nothing */
        ck_assert(queue_is(masters, "a", 0) && queue_is(masters, "c", 0));
        waiter_mark(&waiter);
        ck_assert_int_eq(redlock_release(held), 0);
        waiter_expect_woken(&waiter, n / 2 + 1);
        ck_assert_uint_le(client_stats(two).commands - before.commands, (2 + n) * 2 * n);
    }
}

TEST(waiting, waiter_for_several_asks_nothing)
{
    OPEN_MASTERS(3);
    redlock_lock *held = client_take_all(one, abc, 3);
    waiter_start_all(&waiter, two, abc, 3, 30000);
    for (int i = 0; i < 3; i++)
        queue_becomes(masters, abc[i], 1);
    expect_quiet(two);
    waiter_mark(&waiter);
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_woken(&waiter, 2);
}

/* Those who wait for one name each, and one who waits for another set. */
TEST(waiting, release_of_several_wakes_waiters_of_each)
{
    static struct waiter for_a, for_b, for_cd;
    static const char *const cd[] = {"d", "c"};
    OPEN_MASTERS(3);
    redlock_lock *held = client_take_all(one, abc, 3);
    waiter_start(&for_a, two, "a", 30000);
    waiter_start(&for_b, two, "b", 30000);
    waiter_start_all(&for_cd, two, cd, 2, 30000);
    for (int i = 0; i < 3; i++)
        queue_becomes(masters, abc[i], 1);
    waiter_mark(&for_a);
    waiter_mark(&for_b);
    waiter_mark(&for_cd);
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_woken(&for_a, 2);
    waiter_expect_woken(&for_b, 2);
    waiter_expect_woken(&for_cd, 2);
}

/* As of its threads: whoever releases all of it makes its own next one ask at once. */
TEST(waiting, threads_of_one_client_hand_it_on)
{
    enum { LINED = 6 };
    static struct waiter waiters[LINED];
    OPEN_MASTERS(3);
    redlock_lock *held = client_take_all(two, ab, 2);
    for (int i = 0; i < LINED; i++)
        waiter_start_all(&waiters[i], two, ab, 2, 60000);
    ck_assert_uint_eq(client_stats(two).waiting, LINED);
    ck_assert_int_eq(redlock_release(held), 0);
    waiters_expect_in_turn(waiters, LINED, 20000);
}

/* ---- free names are not held up --------------------------------------------------------- */

/* While it waits for b, a is to be had by others; and when they have it, it waits for both. */
TEST(waiting, waiter_for_rest_blocks_nothing)
{
    OPEN_MASTERS(3);
    redlock_lock *held = take_everywhere(masters, one, "b");
    waiter_start_all(&waiter, two, ab, 2, 30000);
    queue_becomes(masters, "b", 1);
    for (int i = 0; i < 20; i++)
        ck_assert(client_can_take(one, "a"));
    redlock_lock *other = take_everywhere(masters, one, "a");
    ck_assert_int_eq(redlock_release(held), 0);
    queue_becomes(masters, "a", 1); /* woken for b, and refused for a */
    ck_assert(!waiter_is_back(&waiter, 50));
    ck_assert_int_eq(redlock_release(other), 0);
    waiter_expect_lock(&waiter, 10000);
}

/* Three masters; the first client has a and b, each by itself, and the second waits for both.
 * Returns the third. */
static redlock *open_and_wait_for(redlock_lock **ret_a, redlock_lock **ret_b)
{
    open_masters(3);
    redlock *three = open_third();
    *ret_a = take_everywhere(masters, one, "a");
    *ret_b = take_everywhere(masters, one, "b");
    waiter_start_all(&waiter, two, ab, 2, 30000);
    queue_becomes(masters, "a", 1);
    return three;
}

/* It was woken for a, and can't use it: the next one in a's queue is not left to look by itself
 * (a second later, at the earliest). */
TEST(waiting, unusable_reservation_goes_to_next_waiter)
{
    redlock_lock *a, *b;
    redlock *three = open_and_wait_for(&a, &b);
    waiter_start(&plain, three, "a", 30000);
    queue_becomes(masters, "a", 2);
    waiter_mark(&plain);
    ck_assert_int_eq(redlock_release(a), 0);
    waiter_expect_woken(&plain, 2);
    ck_assert(!atomic_load(&waiter.back));
    ck_assert_int_eq(redlock_release(b), 0);
    waiter_expect_lock(&waiter, 10000);
    redlock_close(three);
    close_all();
}

/* One of three has b free, and grants all of it: what it takes there and gives back is not left
 * lying, though another's lock refused the rest. Elsewhere a is kept for it for half a second.
 */
TEST(waiting, lock_taken_in_vain_goes_to_next_at_once)
{
    redlock_lock *a, *b;
    redlock *three = open_and_wait_for(&a, &b);
    pause_ms(2100);
    waiter_start(&plain, three, "a", 30000);
    queue_becomes(masters, "a", 2);
    ck_assert_int_eq(master_do(masters, 2, "DEL", "b", NULL).number, 1);
    uint64_t before = client_stats(three).wakes;
    ck_assert_int_eq(redlock_release(a), 0);
    ck_assert(wait_until(client_stats(three).wakes > before, 350));
    waiter_expect_lock(&plain, 10000);
    ck_assert_int_eq(redlock_release(b), 0);
    waiter_expect_lock(&waiter, 10000);
    redlock_close(three);
    close_all();
}

static long long queued(unsigned node, const char *queue)
{
    return master_do(masters, node, "ZCARD", queue, NULL).number;
}

/* Woken on a master for one name, it may be in the queue of another there, and it wins without.
 */
TEST(waiting, winner_is_in_no_queue_even_where_it_was_woken)
{
    char member[RL_WAITER_MAX], channel[64];
    OPEN_MASTERS(3);
    redlock_lock *held = client_take_all(one, ab, 2);
    ck_assert(wait_until(masters_with(masters, "b") == 3, 10000));
    waiter_start_all(&waiter, two, ab, 2, 30000);
    for (unsigned i = 0; i < 3; i++)
        ck_assert(wait_until(queued(i, "{a}:redlock:queue") == 1, 10000));
    snprintf(member, sizeof(member), "%.63s",
             master_do(masters, 2, "ZRANGE", "{a}:redlock:queue", "0", "0", NULL).text);
    snprintf(channel, sizeof(channel), RL_WAKE_PREFIX "%.36s", member);
    /* The last one goes on refusing b, and the second one is silent until the end. */
    master_do(masters, 2, "SET", "b", "peer", "PX", "60000", NULL);
    master_pause(masters, 1);
    ck_assert_int_eq(redlock_release_async(held, NULL, NULL), 0);
    ck_assert(
        wait_until(strlen(master_do(masters, 0, "GET", "a", NULL).text) > 32 &&
                       !strstr(master_do(masters, 0, "GET", "a", NULL).text, "redlock:") &&
                       queued(0, "{a}:redlock:queue") == 0,
                   10000));
    uint64_t before = client_stats(two).wakes;
    ck_assert_int_eq(master_do(masters, 2, "PUBLISH", channel, member, NULL).number, 1);
    ck_assert(wait_until(client_stats(two).wakes > before, 10000));
    master_resume(masters, 1);
    waiter_expect_lock(&waiter, 10000);
    ck_assert(wait_until(queued(2, "{b}:redlock:queue") == 0, 2000));
    master_do(masters, 2, "DEL", "b", NULL);
}

/* Its time is over, or it is cancelled, while a is kept for it: out of all queues. */
TEST(waiting, waiter_that_gives_up_leaves_all_queues_and_hands_on, .rows = 2)
{
    OPEN_MASTERS(3);
    CLIENT three = open_third();
    redlock_lock *held = client_take_all(one, abc, 3);
    waiter_start_all(&waiter, two, abc, 3, _i == 0 ? 400 : 30000);
    for (int i = 0; i < 3; i++)
        queue_becomes(masters, abc[i], 1);
    if (_i > 0)
        redlock_shutdown(two);
    waiter_expect_code(&waiter, _i == 0 ? REDLOCK_EHELD : REDLOCK_ECANCELED, 10000);
    for (int i = 0; i < 3; i++)
        queue_becomes(masters, abc[i], 0);
    waiter_start(&plain, three, "c", 30000);
    queue_becomes(masters, "c", 1);
    waiter_mark(&plain);
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_woken(&plain, 2);
}

/* How long after the end of what is held it has both. */
static int64_t outwait_both(void)
{
    redlock_lock *a, *b;
    ck_assert_int_eq(client_try(one, "a", 1300, 0, NULL, &a), 0);
    ck_assert_int_eq(client_try(one, "b", 1700, 0, NULL, &b), 0);
    waiter_start_all(&waiter, two, ab, 2, 30000);
    int64_t set_ms = now_ms();
    for (unsigned i = 0; i < 3; i++) { /* their holder is dead */
        master_do(masters, i, "SET", "a", redlock_token(a), "PX", "1300", NULL);
        master_do(masters, i, "SET", "b", redlock_token(b), "PX", "1700", NULL);
    }
    int64_t end = now_ms() + 1700;
    bool before = atomic_load(&waiter.back); /* their leases were over before that */
    waiter_expect_lock(&waiter, 10000);
    redlock_release(a);
    redlock_release(b);
    if (before)
        return INT64_MAX;
    ck_assert_int_ge(waiter.back_ms, set_ms + 1700 - 50);
    return waiter.back_ms - end;
}

/* Nobody tells of that. */
TEST(waiting, keys_that_run_out_are_not_overslept)
{
    OPEN_MASTERS(3);
    int64_t late = 0;
    bool in_time = met_unless_stalled((late = outwait_both()) < 400, STALL_MS, 2);
    ck_assert_msg(in_time, "%d ms after it", (int)late);
}

TEST(waiting, master_dies_while_it_waits, .rows = 3)
{
    OPEN_MASTERS(3);
    redlock_lock *held = client_take_all(one, ab, 2);
    waiter_start_all(&waiter, two, ab, 2, 30000);
    queue_becomes(masters, "a", 1);
    queue_becomes(masters, "b", 1);
    master_kill(masters, (unsigned)_i);
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_lock(&waiter, 10000);
}

/* ---- what is kept for it ---------------------------------------------------------------- */

static struct script_told wait_for(struct talk *talk, const char *const names[], size_t count,
                                   unsigned client, int64_t age_ms)
{
    char packed[RL_NAMES_BYTES_MAX], why[160], waiter_name[RL_WAITER_MAX];
    redlock_bytes bytes[8];
    for (size_t i = 0; i < count; i++)
        bytes[i] = (redlock_bytes){.bytes = names[i], .len = strlen(names[i])};
    struct script_call call = {
        .row = RL_ROW_SEVERAL,
        .name = packed,
        .name_len = rl_names_pack(bytes, count, packed, why, sizeof(why)),
        .token = "token",
        .ttl_ms = 60000,
        .waiter = talk_waiter(client, 1, waiter_name),
        .age_us = age_ms * 1000,
        .queue_ms = 30000,
        .reserve_ms = 20000,
    };
    return script_run(talk, RL_ACQUIRE_OR_QUEUE, &call);
}

static int64_t left_ms(struct talk *talk, const char *name)
{
    return talk_do(talk, "PTTL", name, (char *)NULL).number;
}

/* For a quarter of the time it has waited, half a second at most, and never for less than whom
 * a release wakes: and it is told to come back then. */
TEST(waiting, reservation_stays_while_it_waits_for_rest)
{
    char waiter_name[RL_WAITER_MAX], kept[128];
    struct talk talk;
    masters = masters_start(1, NULL);
    talk_open(&talk, masters, 0);
    snprintf(kept, sizeof(kept), "%s%s", RL_RESERVED_PREFIX, talk_waiter(1, 1, waiter_name));
    talk_do(&talk, "SET", "b", "another", "PX", "50000", (char *)NULL);
    talk_do(&talk, "SET", "a", kept, "PX", "20", (char *)NULL);
    struct script_told told = wait_for(&talk, ab, 2, 1, 1200);
    ck_assert_int_eq(told.yes, 0);
    ck_assert_str_eq(told.holder, "another");
    ck_assert_msg(told.left_ms > 200 && told.left_ms <= 300, "%d ms", (int)told.left_ms);
    ck_assert(left_ms(&talk, "a") <= 300);
    talk_do(&talk, "SET", "a", kept, "PX", "20", (char *)NULL);
    told = wait_for(&talk, ab, 2, 1, 3600000);
    ck_assert_msg(told.left_ms > 400 && told.left_ms <= 500, "%d ms", (int)told.left_ms);
    talk_do(&talk, "SET", "a", kept, "PX", "5000", (char *)NULL);
    told = wait_for(&talk, ab, 2, 1, 1200);
    ck_assert_int_gt(left_ms(&talk, "a"), 4000);
    ck_assert_int_gt(told.left_ms, 4000);
    /* What is kept for another waiter is another's. */
    told = wait_for(&talk, ab, 2, 2, 1200);
    ck_assert_str_eq(told.holder, kept);
    ck_assert_int_eq(talk_do(&talk, "ZCARD", "{a}:redlock:queue", (char *)NULL).number, 1);
    ck_assert_int_eq(talk_do(&talk, "ZCARD", "{b}:redlock:queue", (char *)NULL).number, 2);
    talk_do(&talk, "DEL", "b", (char *)NULL);
    ck_assert_int_eq(wait_for(&talk, ab, 2, 1, 1200).yes, 1);
    talk_close(&talk);
}

/* Each has what the other needs, and each round would make that last: whoever came later has to
 * give way. */
TEST(waiting, two_holders_of_each_others_locks_do_not_wait_for_ever)
{
    enum { SOONER = 1, LATER };
    char waiter_name[RL_WAITER_MAX], kept[128];
    struct talk talk, ear;
    masters = masters_start(1, NULL);
    talk_open(&talk, masters, 0);
    talk_open(&ear, masters, 0);
    talk_listen(&ear, talk_waiter(SOONER, 1, waiter_name));
    snprintf(kept, sizeof(kept), "%s%s", RL_RESERVED_PREFIX, waiter_name);
    talk_do(&talk, "SET", "a", kept, "PX", "20000", (char *)NULL);
    talk_listen(&ear, talk_waiter(LATER, 1, waiter_name));
    snprintf(kept, sizeof(kept), "%s%s", RL_RESERVED_PREFIX, waiter_name);
    talk_do(&talk, "SET", "b", kept, "PX", "20000", (char *)NULL);
    ck_assert_int_eq(wait_for(&talk, ab, 2, LATER, 60000).yes, 0);
    ck_assert_int_eq(wait_for(&talk, ab, 2, SOONER, 120000).yes, 0);
    ck_assert_int_eq(wait_for(&talk, ab, 2, LATER, 60000).yes, 0);
    ck_assert_int_eq(wait_for(&talk, ab, 2, SOONER, 120000).yes, 1);
    talk_close(&ear);
    talk_close(&talk);
}

/* Foreign data where a queue should be: it waits without, and asks from time to time. */
TEST(waiting, queue_that_is_none_is_done_without)
{
    OPEN_MASTERS(1);
    redlock_lock *held = take_everywhere(masters, one, "a");
    master_do(masters, 0, "SET", "{a}:redlock:queue", "text", NULL);
    waiter_start_all(&waiter, two, ab, 2, 30000);
    pause_ms(100);
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_lock(&waiter, 10000);
    ck_assert_str_eq(master_do(masters, 0, "GET", "{a}:redlock:queue", NULL).text, "text");
    master_do(masters, 0, "DEL", "{a}:redlock:queue", NULL);
}

/* ---- contention ------------------------------------------------------------------------- */

enum { NAMES = 3, SETS = 8, TURNS = 60, CREW = 8 };

static const struct {
    const char *names[NAMES];
    size_t count;
} wants[SETS] = {
    {{"x", "y"}, 2}, {{"y", "x"}, 2}, {{"z", "y", "x"}, 3}, {{"x", "z"}, 2},
    {{"x"}, 1},      {{"y"}, 1},      {{"z"}, 1},           {{"y", "z"}, 2},
};

/* Not atomic, and with time enough to go wrong in between. */
struct counters {
    volatile unsigned long of[NAMES];
};
static struct counters *counters;

static void add_one(const char *name)
{
    volatile unsigned long *counter = &counters->of[name[0] - 'x'];
    unsigned long seen = *counter;
    pause_ms(seen % 4 == 0);
    *counter = seen + 1;
}

/* Takes its set, or its name alone, so many times: the line where it went wrong, or 0. */
static int contend(redlock *client, unsigned which)
{
    for (int i = 0; i < TURNS; i++) {
        redlock_lock *lock = NULL;
        const char *const *names = wants[which].names;
        size_t count = wants[which].count;
        int code = count == 1 ? client_try(client, names[0], 0, 60000, NULL, &lock)
                              : client_try_all(client, names, count, 60000, NULL, &lock);
        child_expect(code == 0);
        for (size_t k = 0; k < count; k++)
            add_one(names[k]);
        child_expect(redlock_validity_ms(lock) > 0);
        child_expect(redlock_release(lock) == 0);
    }
    return 0;
}

static void expect_no_lost_update(unsigned crew)
{
    unsigned long expected[NAMES] = {0};
    for (unsigned i = 0; i < crew; i++) {
        for (size_t k = 0; k < wants[i % SETS].count; k++)
            expected[wants[i % SETS].names[k][0] - 'x'] += TURNS;
    }
    for (int i = 0; i < NAMES; i++)
        ck_assert_uint_eq(counters->of[i], expected[i]);
}

static const char *file;

static int contending_process(void *argument)
{
    redlock *client = client_open(file);
    int line = contend(client, *(unsigned *)argument);
    redlock_close(client);
    return line;
}

static void share_counters(void)
{
    counters = mmap(NULL, sizeof(*counters), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                    -1, 0);
    ck_assert(counters != MAP_FAILED);
}

TEST(crowds, h91_processes_with_sets_in_any_order, .rows = 3)
{
    struct child child[CREW];
    unsigned which[CREW];
    share_counters();
    masters = masters_start(sizes[_i], NULL);
    file = masters_file(masters, NULL);
    for (unsigned i = 0; i < CREW; i++) {
        which[i] = i % SETS;
        child[i] = child_start(contending_process, &which[i]);
    }
    for (unsigned i = 0; i < CREW; i++)
        ck_assert_int_eq(child_wait(&child[i], 90000), 0);
    expect_no_lost_update(CREW);
    nothing_is_left(masters);
}

static void *contending_thread(void *argument)
{
    unsigned which = *(unsigned *)argument;
    return (void *)(intptr_t)contend(which % 2 ? one : two, which % SETS);
}

TEST(crowds, h91_threads_with_sets_in_any_order, .rows = 2)
{
    pthread_t thread[CREW];
    unsigned which[CREW];
    void *line = NULL;
    share_counters();
    OPEN_MASTERS(sizes[_i]);
    for (unsigned i = 0; i < CREW; i++) {
        which[i] = i;
        ck_assert_int_eq(pthread_create(&thread[i], NULL, contending_thread, &which[i]), 0);
    }
    for (unsigned i = 0; i < CREW; i++) {
        ck_assert_int_eq(pthread_join(thread[i], &line), 0);
        ck_assert_msg(line == NULL, "line %d", (int)(intptr_t)line);
    }
    expect_no_lost_update(CREW);
}

CASE(waiting, .timeout_s = 60)
CASE(crowds, .timeout_s = 120)
