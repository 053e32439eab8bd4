/* tags: threads */
/* test_many.c - locks of several clients, on masters that know nothing of each other: all or
 * none, in any order, and nothing is left behind where one is not to be had. */
#include "config_auto.h"

#include "child.h"
#include "client.h"
#include "fake.h"
#include "masters.h"
#include "stall.h"
#include "waiter.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* Two node lists, of three masters and of one; a client on each, and another on each. */
static struct masters *three, *single;
static char files[2][SUITE_PATH_MAX + 16];
static redlock *on_three, *on_single, *other_three, *other_single;

static void open_both(void)
{
    three = masters_start(3, NULL);
    single = masters_start(1, NULL);
    snprintf(files[0], sizeof(files[0]), "%s", masters_file(three, NULL));
    snprintf(files[1], sizeof(files[1]), "%s", masters_file(single, NULL));
    on_three = client_open(files[0]);
    other_three = client_open(files[0]);
    on_single = client_open(files[1]);
    other_single = client_open(files[1]);
    ck_assert(wait_until(client_ready(on_three) == 3 && client_ready(other_three) == 3 &&
                             client_ready(on_single) == 1 && client_ready(other_single) == 1,
                         10000));
}

static void close_both(void)
{
    nothing_is_left(three);
    nothing_is_left(single);
    redlock_close(on_three);
    redlock_close(other_three);
    redlock_close(on_single);
    redlock_close(other_single);
}

/* None of them is held, and what was taken is gone long before it would run out. */
static void expect_none(const redlock_item *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ck_assert_ptr_null(items[i].lock);
    ck_assert_int_eq(redlock_validity_multi(items, count), 0);
    ck_assert(
        wait_until(client_stats(on_three).held + client_stats(on_single).held == 0, 1000));
    /* A master that is gone has yet to be rid of what it may have taken. */
    ck_assert(wait_until(
        client_stats(on_three).pending_releases == 0 &&
            (single->node[0].pid == 0 || client_stats(on_single).pending_releases == 0),
        CLIENT_TTL_MS / 4));
}

/* ---- all or none ------------------------------------------------------------------------ */

TEST(many, all_are_taken_and_released)
{
    open_both();
    redlock_item items[] = {
        REDLOCK_ITEM(on_three, "a", NULL),
        REDLOCK_ITEM(on_single, "a", NULL),
        REDLOCK_ITEM(on_single, "b\0c", NULL),
    };
    items[2].name_len = 3;
    ck_assert_int_eq(redlock_try_multi(items, 3, 0), 0);
    for (int i = 0; i < 3; i++)
        ck_assert(items[i].lock && items[i].result == 0);
    ck_assert(redlock_validity_multi(items, 3) > 5000);
    ck_assert(redlock_validity_multi(items, 3) <= redlock_validity_ms(items[0].lock));
    size_t len;
    ck_assert_mem_eq(redlock_name_at(items[2].lock, 0, &len), "b\0c", 3);
    ck_assert_uint_eq(len, 3);
    ck_assert(!client_can_take(other_three, "a"));
    ck_assert(!client_can_take(other_single, "a"));
    ck_assert_int_eq(redlock_release_multi(items, 3), 0);
    expect_none(items, 3);
    ck_assert(client_can_take(other_three, "a"));
    ck_assert(client_can_take(other_single, "a"));
    ck_assert_int_eq(redlock_release_multi(items, 3), 0); /* of what has none */
    close_both();
}

/* One of three is not to be had, at each place, and for each sort of reason. */
enum { IS_HELD, IS_DOWN, IS_WRONG, IS_CANCELED, REASONS };

TEST(many, h92_taken_locks_are_given_up_on_any_failure, .rows = 3 * REASONS)
{
    static const int codes[REASONS] = {REDLOCK_EHELD, REDLOCK_ENOQUORUM, REDLOCK_EINVAL,
                                       REDLOCK_ECANCELED};
    redlock_options wrong = REDLOCK_OPTIONS_INIT;
    int reason = _i / 3;
    size_t at = (size_t)(_i % 3), k = 0;
    redlock_lock *held = NULL;
    wrong.ttl_ms = 1;
    open_both();
    redlock_item items[3];
    for (size_t i = 0; i < 3; i++) {
        static const char *const names[] = {"a", "b", "b"};
        redlock_item good = REDLOCK_ITEM(on_three, names[k], NULL);
        redlock_item bad = REDLOCK_ITEM(on_single, "x", reason == IS_WRONG ? &wrong : NULL);
        items[i] = i == at ? bad : good;
        k += i != at;
    }
    if (reason == IS_HELD)
        held = client_take(other_single, "x");
    if (reason == IS_DOWN)
        master_kill(single, 0);
    if (reason == IS_CANCELED)
        redlock_shutdown(on_single);
    ck_assert_int_eq(redlock_try_multi(items, 3, 0), codes[reason]);
    ck_assert_int_eq(items[at].result, codes[reason]);
    expect_none(items, 3);
    ck_assert_uint_eq(masters_with(three, "a") + masters_with(three, "b"), 0);
    if (reason == IS_HELD)
        ck_assert_int_eq(redlock_release(held), 0);
    close_both();
}

enum { BRIEF_MS = 600, LATER_MS = 2 * BRIEF_MS };

static void *resume_later(void *argument)
{
    (void)argument;
    pause_ms(LATER_MS);
    master_resume(single, 0);
    return NULL;
}

/* The second one's master is slow to answer, and the first lock runs out meanwhile. */
TEST(many, h94_all_must_be_held_at_end, .rows = 2)
{
    redlock_options brief = REDLOCK_OPTIONS_INIT;
    pthread_t thread;
    brief.ttl_ms = BRIEF_MS;
    open_both();
    redlock_item items[] = {
        REDLOCK_ITEM(on_three, "a", &brief),
        REDLOCK_ITEM(on_single, "x", NULL),
    };
    master_pause(single, 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, resume_later, NULL), 0);
    int code = redlock_try_multi(items, 2, _i == 0 ? 0 : 20000);
    pthread_join(thread, NULL);
    if (_i == 0) {
        ck_assert_int_eq(code, REDLOCK_EEXPIRED);
        ck_assert_int_eq(items[0].result, REDLOCK_EEXPIRED);
        expect_none(items, 2);
    } else {
        ck_assert_int_eq(code, 0);
        ck_assert(redlock_validity_multi(items, 2) > 0);
        ck_assert_int_eq(redlock_release_multi(items, 2), 0);
    }
    close_both();
}

TEST(many, lock_that_is_lost_counts_for_all)
{
    open_both();
    redlock_item items[] = {
        REDLOCK_ITEM(on_three, "a", NULL),
        REDLOCK_ITEM(on_single, "x", NULL),
    };
    ck_assert_int_eq(redlock_try_multi(items, 2, 1000), 0);
    ck_assert_int_eq(master_do(single, 0, "DEL", "x", NULL).number, 1);
    ck_assert_int_eq(redlock_extend(items[1].lock, 20000, NULL), REDLOCK_EEXPIRED);
    ck_assert_int_eq(redlock_validity_multi(items, 2), 0);
    ck_assert_int_eq(redlock_release_multi(items, 2), REDLOCK_EEXPIRED);
    ck_assert_int_eq(items[0].result, 0);
    expect_none(items, 2);
    close_both();
}

/* Takes both, and has them for two leases of that one which is renewed. False: a lease ended
 * before; a longer one comes next. */
static bool has_both(redlock_item items[2], redlock_options *renewed)
{
    bool has = true;
    ck_assert_int_eq(redlock_try_multi(items, 2, 1000), 0);
    for (int64_t end = now_ms() + 2 * renewed->ttl_ms + 100; has && now_ms() < end;
         pause_ms(20))
        has = redlock_validity_multi(items, 2) > 0;
    if (!has) {
        (void)redlock_release_multi(items, 2);
        renewed->ttl_ms *= 3;
    }
    return has;
}

TEST(many, each_has_options_of_its_own)
{
    redlock_options renewed = REDLOCK_OPTIONS_INIT, reentrant = REDLOCK_OPTIONS_INIT;
    redlock_lock *again = NULL;
    open_both();
    renewed.ttl_ms = 1200;
    renewed.auto_renew = 1;
    reentrant.kind = REDLOCK_REENTRANT;
    redlock_item items[] = {
        REDLOCK_ITEM(on_three, "a", &renewed),
        REDLOCK_ITEM(on_single, "x", &reentrant),
    };
    ck_assert(met_unless_stalled(has_both(items, &renewed), STALL_MS, 2));
    ck_assert_int_eq(redlock_try(on_single, "x", &reentrant, &again), 0);
    ck_assert_int_eq(redlock_release(again), 0);
    ck_assert_int_eq(redlock_release_multi(items, 2), 0);
    close_both();
}

/* ---- what is wrong ---------------------------------------------------------------------- */

TEST(many, wrong_arguments_take_nothing)
{
    redlock_options waits = REDLOCK_OPTIONS_INIT, resized = REDLOCK_OPTIONS_INIT;
    static redlock_item crowd[REDLOCK_ITEMS_MAX + 1];
    waits.wait_ms = 10;
    resized.size--;
    open_both();
    redlock_item good = REDLOCK_ITEM(on_three, "a", NULL);
    for (int i = 0; i <= REDLOCK_ITEMS_MAX; i++)
        crowd[i] = good;
    redlock_item items[2] = {good, good};
    ck_assert_int_eq(redlock_try_multi(NULL, 1, 0), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_try_multi(items, 0, 0), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_try_multi(crowd, REDLOCK_ITEMS_MAX + 1, 0), REDLOCK_EINVAL);
    items[0].lock = (redlock_lock *)&items; /* of an earlier call */
    ck_assert_int_eq(redlock_try_multi(items, 1, -2), REDLOCK_EINVAL);
    ck_assert_ptr_null(items[0].lock);
    ck_assert_int_eq(redlock_try_multi(items, 2, 0), REDLOCK_EINVAL); /* one plain lock twice */
    items[1].name = NULL;
    ck_assert_int_eq(redlock_try_multi(items, 2, 0), REDLOCK_EINVAL);
    items[1] = good;
    items[1].name = "b";
    items[1].client = NULL;
    ck_assert_int_eq(redlock_try_multi(items, 2, 0), REDLOCK_EINVAL);
    items[1].client = on_single;
    items[1].size--;
    ck_assert_int_eq(redlock_try_multi(items, 2, 0), REDLOCK_EINVAL);
    items[1].size++;
    items[1].options = &waits;
    ck_assert_int_eq(redlock_try_multi(items, 2, 0), REDLOCK_EINVAL);
    items[1].options = &resized;
    ck_assert_int_eq(redlock_try_multi(items, 2, 0), REDLOCK_EINVAL);
    items[1].options = NULL;
    ck_assert_uint_eq(client_stats(on_three).rounds + client_stats(on_single).rounds, 0);
    ck_assert_int_eq(redlock_try_multi(items, 2, 0), 0);
    ck_assert_int_eq(redlock_release_multi(items, 2), 0);
    ck_assert_int_eq(redlock_validity_multi(NULL, 0), 0);
    close_both();
}

static void *cancel_later(void *argument)
{
    pause_ms(150);
    redlock_shutdown(argument);
    return NULL;
}

TEST(many, cancelled_client_ends_it)
{
    pthread_t thread;
    open_both();
    redlock_item items[] = {
        REDLOCK_ITEM(on_three, "a", NULL),
        REDLOCK_ITEM(on_single, "x", NULL),
    };
    redlock_lock *held = client_take(other_single, "x");
    ck_assert_int_eq(pthread_create(&thread, NULL, cancel_later, on_single), 0);
    ck_assert_int_eq(redlock_try_multi(items, 2, -1), REDLOCK_ECANCELED);
    pthread_join(thread, NULL);
    expect_none(items, 2);
    ck_assert_int_eq(redlock_release(held), 0);
    close_both();
}

/* ---- waiting ---------------------------------------------------------------------------- */

struct many {
    redlock_item items[3];
    size_t count;
    int64_t wait_ms, took_ms;
    int code;
    pthread_t thread;
    atomic_bool back;
};

static void *try_them(void *argument)
{
    struct many *many = argument;
    int64_t begun = now_ms();
    many->code = redlock_try_multi(many->items, many->count, many->wait_ms);
    many->took_ms = now_ms() - begun;
    atomic_store(&many->back, true);
    return NULL;
}

static void start(struct many *many, int64_t wait_ms)
{
    many->wait_ms = wait_ms;
    ck_assert_int_eq(pthread_create(&many->thread, NULL, try_them, many), 0);
}

/* Let it wait for "a" of three masters and "x" of one, which another client has: that one's. */
static redlock_lock *start_behind_x(struct many *many, int64_t wait_ms)
{
    open_both();
    redlock_lock *held = client_take(other_single, "x");
    *many = (struct many){
        .items = {REDLOCK_ITEM(on_three, "a", NULL), REDLOCK_ITEM(on_single, "x", NULL)},
        .count = 2,
    };
    start(many, wait_ms);
    queue_becomes(single, "x", 1);
    return held;
}

/* Asleep in the queue of the one that it was refused, holding none: others have the rest. */
TEST(many, it_sleeps_where_it_is_refused_and_holds_nothing)
{
    static struct many many;
    redlock_lock *held = start_behind_x(&many, 30000);
    ck_assert(wait_until(client_can_take(other_three, "a"), 1000));
    redlock_stats three_before = client_stats(on_three), before = client_stats(on_single);
    for (int64_t end = now_ms() + 500; now_ms() < end; pause_ms(10)) {
        /* It looks by itself when a second is over. */
        bool free_now = client_can_take(other_three, "a");
        ck_assert(free_now || client_stats(on_single).probes > before.probes);
    }
    uint64_t rounds = client_stats(on_three).rounds - three_before.rounds;
    ck_assert_uint_le(rounds, client_stats(on_single).probes - before.probes);
    ck_assert_int_eq(redlock_release(held), 0);
    ck_assert(wait_until(atomic_load(&many.back), 10000));
    pthread_join(many.thread, NULL);
    ck_assert_int_eq(many.code, 0);
    ck_assert_uint_ge(client_stats(on_single).wakes, before.wakes + 1);
    ck_assert_int_eq(redlock_release_multi(many.items, 2), 0);
    close_both();
}

/* Who waits for the lock of one client is told that another one is being closed, or cancelled;
 * and closing waits for that, since the call goes on with that client otherwise. */
TEST(many, end_of_any_client_ends_it, .rows = 2)
{
    static struct many many;
    redlock_lock *held = start_behind_x(&many, -1);
    if (_i == 0) {
        redlock_close(on_three);
        on_three = NULL;
        ck_assert(wait_until(atomic_load(&many.back), 500));
    } else {
        redlock_shutdown(on_three);
        ck_assert(wait_until(atomic_load(&many.back), 2000));
    }
    pthread_join(many.thread, NULL);
    ck_assert_int_eq(many.code, REDLOCK_ECANCELED);
    ck_assert_int_eq(many.items[0].result, REDLOCK_ECANCELED);
    ck_assert_ptr_null(many.items[0].lock);
    ck_assert_ptr_null(many.items[1].lock);
    ck_assert_int_eq(redlock_release(held), 0);
    close_both();
}

static void *release_them(void *argument)
{
    struct many *many = argument;
    many->code = redlock_release_multi(many->items, many->count);
    atomic_store(&many->back, true);
    return NULL;
}

/* One whose lock is released last is not closed before that. */
TEST(many, closing_waits_for_release_of_many)
{
    static struct many many;
    pthread_t resumer;
    open_both();
    many = (struct many){
        .items = {REDLOCK_ITEM(on_single, "x", NULL), REDLOCK_ITEM(on_three, "a", NULL)},
        .count = 2,
    };
    ck_assert_int_eq(redlock_try_multi(many.items, 2, 1000), 0);
    master_pause(single, 0);
    uint64_t commands = client_stats(on_single).commands;
    ck_assert_int_eq(pthread_create(&many.thread, NULL, release_them, &many), 0);
    ck_assert(wait_until(client_stats(on_single).commands > commands, 10000));
    ck_assert_int_eq(pthread_create(&resumer, NULL, resume_later, NULL), 0);
    redlock_close(on_three);
    on_three = NULL;
    ck_assert(wait_until(atomic_load(&many.back), LATER_MS / 2));
    pthread_join(many.thread, NULL);
    pthread_join(resumer, NULL);
    ck_assert_ptr_null(many.items[1].lock);
    close_both();
}

/* A last round may have no more than a few milliseconds. */
enum { LAST_MS = 3 };

/* 700 ms for two locks, one of which another has. Is it in time, and told of a holder? */
static bool wait_in_vain(struct many *many)
{
    *many = (struct many){
        .items = {REDLOCK_ITEM(on_three, "a", NULL), REDLOCK_ITEM(on_single, "x", NULL)},
        .count = 2,
    };
    start(many, 700);
    pthread_join(many->thread, NULL);
    ck_assert_msg(many->took_ms >= 600, "%d ms", (int)many->took_ms);
    expect_none(many->items, 2);
    return many->took_ms < 3000 && many->code == REDLOCK_EHELD;
}

/* Where it is refused in the end, that is what it waits for, in whatever order they stand. */
TEST(many, its_time_is_bounded, .rows = 2)
{
    static struct many many;
    redlock_options longest = REDLOCK_OPTIONS_INIT;
    redlock_lock *held = NULL;
    longest.ttl_ms = 30000;
    open_both();
    ck_assert_int_eq(_i == 0 ? redlock_try(other_single, "x", &longest, &held)
                             : redlock_try(other_three, "a", &longest, &held),
                     0);
    bool in_time = met_unless_stalled(wait_in_vain(&many), LAST_MS, 3);
    ck_assert_msg(in_time, "%s after %d ms", redlock_err_name(many.code), (int)many.took_ms);
    ck_assert_int_eq(many.items[_i == 0 ? 1 : 0].result, REDLOCK_EHELD);
    ck_assert_int_eq(redlock_release(held), 0);
    close_both();
}

/* The second round is not answered, and has less time than an answer may take. */
static bool told_of_holder(struct fake *fakes[2], redlock_item items[2])
{
    static const struct fake_rule silent = {.match = "acquire *", .skip = 1, .delay_ms = 60000};
    enum { WAIT_MS = 20 };
    for (unsigned i = 0; i < 2; i++) {
        fake_clear_rules(fakes[i]);
        fake_hang_up(fakes[i], false); /* what was not answered the last time */
        ck_assert(wait_until(client_ready(items[i].client) == 1, 10000));
        fake_rule(fakes[i], &silent);
    }
    return redlock_try_multi(items, 2, WAIT_MS) == REDLOCK_EHELD &&
           items[0].result == REDLOCK_OK && items[1].result == REDLOCK_EHELD;
}

TEST(many, holder_is_told_though_last_round_is_cut_short)
{
    struct fake *fakes[2];
    redlock *clients[2], *other;
    redlock_lock *held = NULL;
    for (unsigned i = 0; i < 2; i++) {
        fakes_start(&fakes[i], 1);
        clients[i] = client_open(fakes_file(&fakes[i], 1, "connect-timeout 10s\n"));
    }
    other = client_open(fakes_file(&fakes[1], 1, "connect-timeout 10s\n"));
    redlock_item items[] = {REDLOCK_ITEM(clients[0], "a", NULL),
                            REDLOCK_ITEM(clients[1], "x", NULL)};
    ck_assert_int_eq(client_try(other, "x", 30000, 0, NULL, &held), 0);
    bool told = met_unless_stalled(told_of_holder(fakes, items), LAST_MS, 3);
    ck_assert_msg(told, "%s, %s", redlock_err_name(items[0].result),
                  redlock_err_name(items[1].result));
    for (unsigned i = 0; i < 2; i++) {
        redlock_close(clients[i]);
        fake_clear_rules(fakes[i]);
    }
    redlock_close(other);
}

/* However long a lease those have whose master says nothing. */
TEST(many, silent_master_takes_no_more_than_wait)
{
    static struct many many;
    open_both();
    many = (struct many){
        .items = {REDLOCK_ITEM(on_three, "a", NULL), REDLOCK_ITEM(on_single, "x", NULL)},
        .count = 2,
    };
    master_pause(single, 0);
    start(&many, 300); /* which is not long enough to say that it has failed */
    pthread_join(many.thread, NULL);
    ck_assert_int_eq(many.code, REDLOCK_EUNDECIDED);
    ck_assert_int_eq(many.items[1].result, REDLOCK_EUNDECIDED);
    ck_assert_msg(many.took_ms < 2000, "%d ms", (int)many.took_ms);
    master_resume(single, 0);
    expect_none(many.items, 2);
    close_both();
}

/* ---- contention ------------------------------------------------------------------------- */

enum { CREW = 6, TURNS = 40 };

/* Not atomic, and with time enough to go wrong in between. */
static volatile unsigned long *counters;

static void add_one(unsigned which)
{
    unsigned long seen = counters[which];
    pause_ms(seen % 4 == 0);
    counters[which] = seen + 1;
}

/* Of six: three orders of a (counted as 0), x (1) and y (2), two of two of them, and one alone.
 */
static const struct {
    const char *names;
} wants[CREW] = {{"axy"}, {"yxa"}, {"xa"}, {"ya"}, {"a"}, {"xya"}};

static int contending_process(void *argument)
{
    const char *names = wants[*(unsigned *)argument].names;
    size_t count = strlen(names);
    redlock *clients[] = {client_open(files[0]), client_open(files[1])};
    redlock_item items[3];
    for (size_t i = 0; i < count; i++) {
        redlock_item item = REDLOCK_ITEM(clients[names[i] == 'a' ? 0 : 1], &names[i], NULL);
        items[i] = item;
        items[i].name_len = 1;
    }
    for (int turn = 0; turn < TURNS; turn++) {
        child_expect(redlock_try_multi(items, count, 60000) == 0);
        for (size_t i = 0; i < count; i++)
            add_one(names[i] == 'a' ? 0 : names[i] == 'x' ? 1 : 2);
        child_expect(redlock_validity_multi(items, count) > 0);
        child_expect(redlock_release_multi(items, count) == 0);
    }
    redlock_close(clients[0]);
    redlock_close(clients[1]);
    return 0;
}

TEST(crowd, h91_processes_in_any_order)
{
    struct child child[CREW];
    unsigned which[CREW];
    counters = mmap(NULL, 3 * sizeof(*counters), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(counters != MAP_FAILED);
    open_both();
    for (unsigned i = 0; i < CREW; i++) {
        which[i] = i;
        child[i] = child_start(contending_process, &which[i]);
    }
    for (unsigned i = 0; i < CREW; i++)
        ck_assert_int_eq(child_wait(&child[i], 90000), 0);
    ck_assert_uint_eq(counters[0], 6 * TURNS);
    ck_assert_uint_eq(counters[1], 4 * TURNS);
    ck_assert_uint_eq(counters[2], 4 * TURNS);
    close_both();
}

CASE(many, .timeout_s = 60)
CASE(crowd, .timeout_s = 120)
