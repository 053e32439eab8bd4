/* tags: threads */
/* test_fill_in.c - masters that come back while a lock is held get its key, without an extension
 * and without a call: which, by whom, and how many at once. */
#include "config_auto.h"

#include "client.h"
#include "masters.h"
#include "told.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOON_MS = 5000, TTL_MS = 30000 };

static struct masters *masters;
static redlock *client;

/* The last of three masters is away. */
static void open_two_of_three(const char *settings)
{
    masters = masters_start(3, NULL);
    master_kill(masters, 2);
    client = client_open(masters_file(masters, settings));
    ck_assert(wait_until(client_ready(client) == 2, 10000));
}

static void close_all(void)
{
    redlock_close(client);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_int_eq(master_do(masters, i, "DBSIZE", (char *)NULL).number, 0);
}

static redlock_lock *take(const char *name)
{
    redlock_lock *lock = NULL;
    ck_assert_int_eq(client_try(client, name, TTL_MS, 0, NULL, &lock), 0);
    ck_assert_uint_eq(masters_with(masters, name), 2);
    return lock;
}

static long long left_at(unsigned node, const char *name)
{
    return master_do(masters, node, "PTTL", name, (char *)NULL).number;
}

/* It ends with the others, which have been there for longer. */
TEST(driven, background_thread_fills_in)
{
    open_two_of_three("max-ttl 30s");
    redlock_lock *lock = take("name");
    pause_ms(1000);
    master_restart(masters, 2, true);
    ck_assert(wait_until(master_has(masters, 2, "name"), SOON_MS));
    long long late = left_at(2, "name"), first = left_at(0, "name");
    ck_assert_int_gt(late, redlock_validity_ms(lock));
    ck_assert_int_le(late, first + 50);
    ck_assert(wait_until(client_stats(client).filled_in == 1, SOON_MS));
    ck_assert_uint_eq(client_stats(client).extended, 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    close_all();
}

TEST(driven, without_thread_next_call_does)
{
    open_two_of_three("max-ttl 30s\nbackground never");
    redlock_lock *lock = take("name");
    master_restart(masters, 2, true);
    pause_ms(1000);
    ck_assert(!master_has(masters, 2, "name"));
    ck_assert(wait_until(client_ready(client) == 3, SOON_MS));
    ck_assert(wait_until(client_ready(client) == 3 && master_has(masters, 2, "name"), SOON_MS));
    ck_assert_int_eq(redlock_release(lock), 0);
    close_all();
}

/* What it has lost as another process is filled in, too: here the holder's call finds that out.
 */
TEST(driven, restarted_master_gets_keys_that_it_granted)
{
    masters = masters_start(3, NULL);
    client = client_open(masters_file(masters, "max-ttl 30s"));
    ck_assert(wait_until(client_ready(client) == 3, 10000));
    redlock_lock *lock = client_take(client, "name");
    ck_assert(wait_until(masters_with(masters, "name") == 3, SOON_MS));
    master_restart(masters, 1, true);
    ck_assert(!master_has(masters, 1, "name"));
    ck_assert_int_eq(redlock_release(client_take(client, "other")), 0);
    ck_assert(wait_until(master_has(masters, 1, "name"), SOON_MS));
    ck_assert_int_eq(redlock_release(lock), 0);
    close_all();
}

TEST(which, anothers_key_stays)
{
    open_two_of_three("max-ttl 30s");
    redlock_lock *lock = take("name"), *beside = take("beside");
    master_pause(masters, 0); /* nobody is connected to the last one so soon */
    master_restart(masters, 2, true);
    master_do(masters, 2, "SET", "name", "theirs", "PX", "60000", (char *)NULL);
    master_resume(masters, 0);
    ck_assert(wait_until(master_has(masters, 2, "beside"), SOON_MS));
    pause_ms(200);
    ck_assert_str_eq(master_do(masters, 2, "GET", "name", (char *)NULL).text, "theirs");
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_int_eq(redlock_release(beside), 0);
    master_do(masters, 2, "DEL", "name", (char *)NULL);
    close_all();
}

TEST(which, lock_that_was_released_is_not_filled_in)
{
    open_two_of_three("max-ttl 30s");
    redlock_lock *lock = take("name"), *kept = take("kept");
    ck_assert_int_eq(redlock_release(lock), 0);
    master_restart(masters, 2, true);
    ck_assert(wait_until(master_has(masters, 2, "kept"), SOON_MS));
    ck_assert_uint_eq(masters_with(masters, "name"), 0);
    ck_assert(wait_until(client_stats(client).filled_in == 1, SOON_MS));
    ck_assert_int_eq(redlock_release(kept), 0);
    close_all();
}

/* Who has it now may have released it. */
TEST(which, lock_that_was_detached_is_not_filled_in)
{
    char text[REDLOCK_HANDLE_MAX];
    open_two_of_three("max-ttl 30s");
    redlock_lock *lock = take("name"), *kept = take("kept");
    ck_assert_int_eq(redlock_detach(lock, text, sizeof(text)), 0);
    master_restart(masters, 2, true);
    ck_assert(wait_until(master_has(masters, 2, "kept"), SOON_MS));
    ck_assert_uint_eq(masters_with(masters, "name"), 2);
    ck_assert_int_eq(redlock_attach(client, text, &lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_int_eq(redlock_release(kept), 0);
    close_all();
}

/* A master that was restarted shortly before gets it when it votes, and not before. */
TEST(which, guarded_master_is_filled_in_when_it_votes)
{
    masters = masters_start(3, NULL);
    client = client_open(masters_guarded_file(masters, "max-ttl 3s"));
    ck_assert(wait_until(client_ready(client) == 3, 15000));
    master_restart(masters, 2, true);
    int64_t restarted_ms = now_ms();
    pause_ms(2000);
    redlock_lock *lock = NULL;
    ck_assert_int_eq(client_try(client, "name", 3000, 0, NULL, &lock), 0);
    while (!master_has(masters, 2, "name") && redlock_validity_ms(lock) > 0)
        pause_ms(10);
    if (redlock_validity_ms(lock) > 0) { /* or this machine stood still */
        ck_assert_int_ge(now_ms() - restarted_ms, 3000);
        ck_assert_uint_eq(client_ready(client), 3);
    }
    redlock_release(lock);
    close_all();
}

static const struct {
    int kind, fenced;
} kinds[] = {{REDLOCK_PLAIN, 1}, {REDLOCK_REENTRANT, 0}, {REDLOCK_REENTRANT, 1},
             {REDLOCK_READ, 0},  {REDLOCK_WRITE, 0},     {REDLOCK_WRITE, 1}};

TEST(which, every_kind_is_filled_in, .rows = 6)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock = NULL;
    options.kind = kinds[_i].kind;
    options.fenced = kinds[_i].fenced;
    options.ttl_ms = TTL_MS;
    open_two_of_three("max-ttl 30s");
    ck_assert_int_eq(redlock_try(client, "name", &options, &lock), 0);
    uint64_t token = redlock_fencing_token(lock);
    master_restart(masters, 2, true);
    ck_assert(wait_until(master_has(masters, 2, "name"), SOON_MS));
    if (token) {
        struct reply counter = master_do(masters, 2, "GET", "{name}:redlock:fence", (char *)NULL);
        ck_assert_uint_eq(strtoull(counter.text, NULL, 10), token);
        ck_assert_uint_eq(redlock_fencing_token(lock), token);
    }
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert(wait_until(masters_with(masters, "name") == 0, SOON_MS));
    redlock_close(client);
}

TEST(which, several_names_are_filled_in)
{
    const char *names[] = {"one", "two"};
    open_two_of_three("max-ttl 30s");
    redlock_lock *lock = client_take_all(client, names, 2);
    master_restart(masters, 2, true);
    ck_assert(wait_until(master_has(masters, 2, "one") && master_has(masters, 2, "two"), SOON_MS));
    ck_assert_int_eq(redlock_release(lock), 0);
    close_all();
}

static void open_three(void)
{
    masters = masters_start(3, NULL);
    client = client_open(masters_file(masters, "max-ttl 30s"));
    ck_assert(wait_until(client_ready(client) == 3, 10000));
}

/* The last master has another's key. The extension finds that, and a fill-in is refused. */
static redlock_lock *take_beside_anothers_key(const char *name)
{
    redlock_lock *lock = NULL;
    master_do(masters, 2, "SET", name, "theirs", "PX", "60000", (char *)NULL);
    ck_assert_int_eq(client_try(client, name, TTL_MS, 0, NULL, &lock), 0);
    ck_assert(wait_until(client_ready(client) == 3, 10000)); /* each has answered the round */
    ck_assert_int_eq(redlock_extend(lock, TTL_MS, NULL), 0);
    return lock;
}

/* What ends after a moment is mostly the trace of a try that lost. */
TEST(refused, master_is_filled_in_when_anothers_key_is_gone)
{
    open_three();
    redlock_lock *lock = take_beside_anothers_key("name");
    ck_assert_str_eq(master_do(masters, 2, "GET", "name", (char *)NULL).text, "theirs");
    master_do(masters, 2, "DEL", "name", (char *)NULL);
    ck_assert(wait_until(master_has(masters, 2, "name"), SOON_MS));
    ck_assert(wait_until(client_stats(client).filled_in == 1, SOON_MS));
    ck_assert_uint_eq(client_stats(client).extended, 1);
    ck_assert_int_eq(redlock_release(lock), 0);
    close_all();
}

/* It is tried again after 100 to 200 ms, after 200 to 400 more, and so on. */
TEST(refused, where_anothers_key_stays_it_is_asked_for_seldom)
{
    enum { LONG_MS = 2500, MOST = 6, QUIET_MS = 5000, SHORT_MS = 3000 };
    open_three();
    redlock_lock *lock = take_beside_anothers_key("name");
    uint64_t before = client_stats(client).commands;
    ck_assert(wait_until(client_stats(client).commands >= before + 2, SOON_MS));
    pause_ms(LONG_MS);
    ck_assert_uint_le(client_stats(client).commands, before + MOST);
    ck_assert_str_eq(master_do(masters, 2, "GET", "name", (char *)NULL).text, "theirs");
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert(wait_until(client_stats(client).pending_releases == 0, SOON_MS));
    before = client_stats(client).commands;
    pause_ms(QUIET_MS); /* of a lock that was given up nothing is asked */
    ck_assert_uint_eq(client_stats(client).commands, before);

    lock = take_beside_anothers_key("later"); /* which begins with short pauses */
    before = client_stats(client).commands;
    ck_assert(wait_until(client_stats(client).commands >= before + 2, SHORT_MS));
    ck_assert_int_eq(redlock_release(lock), 0);
    master_do(masters, 2, "DEL", "name", "later", (char *)NULL);
    close_all();
}

/* Between two turns of an event loop there are a few at most, and user calls go on. */
TEST(many, many_are_filled_in_few_at_once)
{
    enum { MANY = 2000, GONE = 300, A_TURN = 32 };
    static redlock_lock *locks[MANY];
    uint64_t before, most = 0;
    open_two_of_three("max-ttl 30s");
    for (unsigned i = 0; i < MANY; i++) {
        char name[16];
        snprintf(name, sizeof(name), "many:%u", i);
        ck_assert_int_eq(client_try(client, name, TTL_MS, 0, NULL, &locks[i]), 0);
    }
    ck_assert_int_ge(redlock_fd(client), 0);
    master_restart(masters, 2, true);
    struct told told = {.calls = 0};
    int64_t until_ms = now_ms() + 20000;
    bool released = false;
    while (!(released && master_has(masters, 2, "many:0")) && now_ms() < until_ms) {
        before = client_stats(client).commands;
        told_turn(client, 100);
        uint64_t sent = client_stats(client).commands - before;
        if (!released && sent > most)
            most = sent;
        if (released || client_stats(client).filled_in < MANY / 2)
            continue;
        for (unsigned i = MANY / 2 - GONE; i < MANY / 2; i++) /* the next one, too */
            ck_assert_int_eq(redlock_release_async(locks[i], NULL, NULL), 0);
        told_try(client, "user", 0, &told);
        released = true;
    }
    ck_assert(turn_until(client, told.calls == 1, SOON_MS));
    ck_assert_int_eq(told.result, 0);
    ck_assert(turn_until(client, client_stats(client).filled_in >= MANY - GONE, SOON_MS));
    ck_assert_uint_lt(client_stats(client).filled_in, MANY);
    ck_assert_uint_gt(most, 0);
    ck_assert_uint_le(most, A_TURN + 10); /* what else a turn may send */
    for (unsigned i = 0; i < MANY; i++) {
        if (i < MANY / 2 - GONE || i >= MANY / 2)
            ck_assert_int_eq(redlock_release_async(locks[i], NULL, NULL), 0);
    }
    ck_assert_int_eq(redlock_release_async(told.lock, NULL, NULL), 0);
    ck_assert(turn_until(client, client_stats(client).pending_releases == 0, SOON_MS));
    close_all();
}

CASE(driven, .timeout_s = 60)
CASE(which, .timeout_s = 60)
CASE(refused, .timeout_s = 60)
CASE(many, .timeout_s = 60)
