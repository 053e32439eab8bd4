/* test_scripts_rw_odd.c - scripts of read-write locks on what nobody locked: counts that are
 * none, or of more holds than anybody has, cost a few commands and are left alone; and what a
 * user may not do beside a lock does not make its release look undone. */
#include "config_auto.h"

#include "scripts_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEASE "{" LOCK "}:%s:rwlock_timeout:%u"
#define READERS "{" LOCK "}:redlock:readers"
#define CHANNEL "redisson_rwlock:{" LOCK "}"

enum { MOST = 9999, MANY_FIELDS = 40 };

static const int rows[] = {RL_ROW_READ, RL_ROW_WRITE};

static struct script_told run(struct talk *via, int row, enum rl_verb verb, const char *owner,
                              unsigned client)
{
    char waiter[RL_WAITER_MAX];
    struct script_call call = {
        .row = row,
        .name = LOCK,
        .owner = owner,
        .token = "token",
        .ttl_ms = TTL_MS,
        .waiter = talk_waiter(client, 1, waiter),
        .reserve_ms = KEEP_MS,
        .writer_waiting_ms = TTL_MS,
    };
    return script_run(via, verb, &call);
}

/* It is done, and what it answers. */
static int done(struct talk *via, int row, enum rl_verb verb, const char *owner,
                unsigned client)
{
    struct script_told told = run(via, row, verb, owner, client);
    ck_assert_msg(told.type == '*', "%s", told.text);
    return (int)told.yes;
}

static void put(const char *field, const char *value)
{
    talk_do(&talk, "HSET", LOCK, field, value, (char *)NULL);
}

static void put_lease(const char *field, unsigned index, const char *value, const char *ms)
{
    char key[128];
    snprintf(key, sizeof(key), LEASE, field, index);
    talk_do(&talk, "SET", key, value, "PX", ms, (char *)NULL);
}

/* Commands that the master has run, those of scripts among them. */
static unsigned long commands(void)
{
    struct wire_item item = talk_do(&talk, "INFO", "stats", (char *)NULL);
    static const char field[] = "total_commands_processed:";
    const char *at = memmem(item.bytes, item.len, field, sizeof(field) - 1);
    ck_assert_ptr_nonnull(at);
    return strtoul(at + sizeof(field) - 1, NULL, 10);
}

static void expect_hash(const char *field, const char *value, bool there)
{
    struct wire_item item = talk_do(&talk, "HGET", LOCK, field, (char *)NULL);
    if (!there)
        ck_assert_int_lt(item.number, 0);
    else
        ck_assert(item.len == strlen(value) && memcmp(item.bytes, value, item.len) == 0);
}

static void try_all_verbs(const char *field, const char *value)
{
    static const enum rl_verb verbs[] = {RL_ACQUIRE,       RL_ACQUIRE_OR_QUEUE, RL_EXTEND,
                                         RL_RETAKE, RL_RELEASE,          RL_DEQUEUE};
    for (unsigned i = 0; i < 2 * sizeof(verbs) / sizeof(verbs[0]); i++) {
        enum rl_verb verb = verbs[i / 2];
        bool acquires = verb == RL_ACQUIRE || verb == RL_ACQUIRE_OR_QUEUE;
        unsigned long before = commands();
        int code = done(&talk, rows[i % 2], verb, "alice", 1);
        ck_assert_uint_lt(commands() - before, 100);
        ck_assert_int_eq(code, verb == RL_DEQUEUE ? 1
                               : acquires         ? RL_REPLY_WRONGTYPE
                                                  : RL_REFUSED);
        expect_hash(field, value, true);
    }
}

static const char *const no_counts[] = {"2000000", "10000", "1e9", "0x7fffffff", "inf", "-1",
                                        " 5",      "5 ",    "",    "many",       "1.5"};
enum { NO_COUNTS = sizeof(no_counts) / sizeof(no_counts[0]) };

/* Also where the hash has so many fields that not all are looked at. */
TEST(odd, field_that_is_no_count_is_left_alone, .rows = NO_COUNTS)
{
    static const char *const fields[] = {"alice", "alice:write", "bob"};
    for (unsigned i = 0; i < 12; i++) {
        const char *field = fields[i % 3];
        bool many = i >= 6;
        if (many && i % 3 == 2)
            continue; /* what others count is believed there */
        talk_do(&talk, "FLUSHALL", (char *)NULL);
        put("mode", i / 3 % 2 ? "write" : "read");
        for (unsigned k = 0; many && k < MANY_FIELDS; k++) {
            char other[16];
            snprintf(other, sizeof(other), "other-%u", k);
            put(other, "1");
        }
        put(field, no_counts[_i]);
        talk_do(&talk, "PEXPIRE", LOCK, "60000", (char *)NULL);
        try_all_verbs(field, no_counts[_i]);
    }
}

/* Somebody else's, where the hash is believed to be a lock: its counts are not gone through. */
TEST(odd, release_beside_great_counts_is_quick, .rows = 3)
{
    static const char *const greatest[] = {"9999", "2000000", "1e9"};
    char field[16];
    put("mode", "read");
    put("alice", "1");
    put_lease("alice", 1, "token", "30000");
    for (unsigned k = 0; k < MANY_FIELDS; k++) {
        snprintf(field, sizeof(field), "other-%u", k);
        put(field, greatest[_i]);
    }
    talk_do(&talk, "PEXPIRE", LOCK, "60000", (char *)NULL);
    unsigned long before = commands();
    ck_assert_int_eq(done(&talk, RL_ROW_READ, RL_RELEASE, "alice", 1), 1);
    ck_assert_uint_lt(commands() - before, 1100);
    /* It lasts as it would have: what the others may have is not cut. */
    expect_hash("alice", "", false);
    expect_hash("other-0", greatest[_i], true);
    ck_assert_int_gt(talk_do(&talk, "PTTL", LOCK, (char *)NULL).number, 50000);
}

/* No owner gets more holds than scripts will look at. */
TEST(odd, owner_at_count_limit_is_refused, .rows = 2)
{
    bool write = rows[_i] == RL_ROW_WRITE;
    const char *field = write ? "alice:write" : "alice";
    put("mode", write ? "write" : "read");
    put(field, "9999");
    for (unsigned k = 1; k <= MOST; k++)
        put_lease(field, k, k == 1 ? "token" : "another", "60000");
    talk_do(&talk, "PEXPIRE", LOCK, "60000", (char *)NULL);
    ck_assert_int_eq(done(&talk, rows[_i], RL_EXTEND, "alice", 1), 1);
    ck_assert_int_eq(done(&talk, rows[_i], RL_ACQUIRE, "alice", 1), 1); /* it is in */
    ck_assert_int_eq(done(&talk, rows[_i], RL_RELEASE, "alice", 1), 1);
    expect_hash(field, "9998", true);
    ck_assert_int_eq(done(&talk, rows[_i], RL_ACQUIRE, "alice", 1), 1);
    talk_do(&talk, "SET", "{" LOCK "}:alice:rwlock_timeout:9999", "other", "PX", "60000",
            (char *)NULL);
    talk_do(&talk, "SET", "{" LOCK "}:alice:write:rwlock_timeout:9999", "other", "PX", "60000",
            (char *)NULL);
    ck_assert_int_eq(done(&talk, rows[_i], RL_ACQUIRE, "alice", 1), 0);
    expect_hash(field, "9999", true);
}

/* A reader waits for the writer who gives it up and must not say whose turn it is. */
TEST(odd, release_is_done_where_nobody_may_have_turn, .rows = 6)
{
    static const char *const mute[][4] = {
        {"~*", "&*", "-sadd"},   {"~*", "&*", "-scard"},     {"~*", "&*", "-pexpire"},
        {"~*", "resetchannels"}, {"~*", "&*", "-sismember"}, {"~*", "&*", "-@set"},
    };
    struct talk restricted;
    struct talk_message messages[TALK_CALLS_MAX];
    talk_log_in(&talk, scripts_masters, mute[_i], &restricted);
    listen_as(2);
    talk_do(&ears[2], "SUBSCRIBE", CHANNEL, (char *)NULL);
    ck_assert_int_eq(done(&talk, RL_ROW_WRITE, RL_ACQUIRE, "alice", 1), 1);
    ck_assert_int_eq(done(&talk, RL_ROW_READ, RL_ACQUIRE_OR_QUEUE, "bob", 2), 0);
    ck_assert_int_eq(talk_do(&talk, "SCARD", READERS, (char *)NULL).number, 1);
    ck_assert_int_eq(done(&restricted, RL_ROW_WRITE, RL_RELEASE, "alice", 1), 1);
    ck_assert_int_eq(talk_do(&talk, "EXISTS", LOCK, (char *)NULL).number, 0);
    ck_assert_uint_eq(talk_messages(&ears[2], messages), strcmp(mute[_i][1], "&*") == 0);
    /* What is there of readers who wait has an end. */
    ck_assert_int_gt(talk_do(&talk, "PTTL", READERS, (char *)NULL).number, 0);
    talk_close(&restricted);
}

/* Its turn is over when it comes: what it may not do then does not undo that it came. */
TEST(odd, reader_without_right_to_end_its_turn_comes, .rows = 3)
{
    static const char *const mute[][4] = {
        {"~*", "&*", "-scard"}, {"~*", "&*", "-srem"}, {"~*", "&*", "-sismember"}};
    struct talk restricted;
    talk_log_in(&talk, scripts_masters, mute[_i], &restricted);
    ck_assert_int_eq(done(&talk, RL_ROW_WRITE, RL_ACQUIRE, "alice", 1), 1);
    ck_assert_int_eq(done(&talk, RL_ROW_READ, RL_ACQUIRE_OR_QUEUE, "bob", 2), 0);
    ck_assert_int_eq(done(&talk, RL_ROW_WRITE, RL_RELEASE, "alice", 1), 1);
    ck_assert_int_eq(done(&restricted, RL_ROW_READ, RL_ACQUIRE_OR_QUEUE, "bob", 2), 1);
    expect_hash("bob", "1", true);
    talk_close(&restricted);
}

CASE(odd,
     .set_up_once = scripts_start, .tear_down_once = scripts_stop, .set_up = scripts_begin,
     .tear_down = scripts_end, .timeout_s = 60)
