/* test_scripts_look.c - inspect.lua and force.lua on a real server, with every kind of lock as
 * we, Redisson and others write them, and with data that is no lock. */
#include "config_auto.h"

#include "net/resp.h"
#include "scripts_scene.h"
#include "kinds/keys.h"
#include "kinds/lock_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FAIR_QUEUE "redisson_lock_queue:{" LOCK "}"
#define CHANNEL "redisson_lock__channel:{" LOCK "}"
#define RW_CHANNEL "redisson_rwlock:{" LOCK "}"
#define WRITER "{" LOCK "}:redlock:writer"
#define READERS "{" LOCK "}:redlock:readers"
#define HOLDS "{" LOCK "}:redlock:holds"
#define NOTE "{" LOCK "}:redlock:broken"
#define TOKEN "0123456789abcdef0123456789abcdef:client-"
#define CLIENT "00000001-1111-4222-8333-444444444444"

static struct rl_view view;

/* Look, and read it; *ret_told: all that the script said. */
static struct script_told look_at(const char *name, const char *owner)
{
    struct script_call call = {.name = name, .owner = owner};
    struct script_told told = script_run(&talk, RL_INSPECT, &call);
    ck_assert_msg(told.type == '*', "%s", told.text);
    ck_assert_uint_eq(told.parts, 5);
    ck_assert_msg(rl_view_read(told.details, told.details_len, told.left_ms, &view), "'%s'",
                  told.details);
    ck_assert_int_eq(told.yes, view.told.state == REDLOCK_STATE_FREE);
    return told;
}

static void look(void)
{
    look_at(LOCK, NULL);
}

static struct script_told force_with(const char *name, bool endless)
{
    struct script_call call = {.name = name, .reserve_ms = KEEP_MS, .endless = endless};
    return script_run(&talk, RL_FORCE, &call);
}

static struct script_told force_on(const char *name)
{
    return force_with(name, false);
}

/* Without the note of a lock that was broken. */
static int64_t count_keys(void)
{
    return talk_do(&talk, "DBSIZE", (char *)NULL).number -
           talk_do(&talk, "EXISTS", NOTE, (char *)NULL).number;
}

static void set_end(const char *key, int64_t ms)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRId64, ms);
    ck_assert_int_eq(talk_do(&talk, "PEXPIRE", key, text, (char *)NULL).number, 1);
}

static void expect_holder(unsigned i, int mode, unsigned count, const char *owner,
                          int64_t ttl_ms)
{
    const redlock_holder *holder = &view.shown.holder[i];
    ck_assert_uint_lt(i, view.shown.count);
    ck_assert_str_eq(holder->owner, owner);
    ck_assert_int_eq(holder->mode, mode);
    ck_assert_uint_eq(holder->count, count);
    ck_assert_int_le(holder->ttl_ms, ttl_ms);
    ck_assert_int_ge(holder->ttl_ms, ttl_ms < 5000 ? -1 : ttl_ms - 5000);
}

/* ---- looking ---------------------------------------------------------------------------- */

TEST(look, nothing_is_there_and_nothing_is_made)
{
    struct script_told told = look_at(LOCK, "me");
    ck_assert_int_eq(told.left_ms, -2);
    ck_assert_uint_eq(told.holder_len, 0);
    ck_assert_uint_eq(view.told.waiting, 0);
    ck_assert_int_eq(count_keys(), 0);
}

TEST(look, plain_lock_its_waiters_and_reservation)
{
    listen_as(2);
    contend();
    look();
    ck_assert_int_eq(view.told.state, REDLOCK_STATE_PLAIN);
    ck_assert_uint_eq(view.told.waiting, CLIENTS - 1);
    char waiter[RL_WAITER_MAX];
    expect_holder(0, REDLOCK_MODE_EXCLUSIVE, 1, talk_waiter(1, 1, waiter), TTL_MS);
    ck_assert_int_eq(yes(1, RL_RELEASE), 1);
    look();
    ck_assert_int_eq(view.told.state, REDLOCK_STATE_RESERVED);
    ck_assert_uint_eq(view.told.waiting, CLIENTS - 2);
    ck_assert_int_gt(view.told.ttl_ms, KEEP_MS - 5000);
    talk_do(&talk, "SET", LOCK, "peer", (char *)NULL);
    look();
    expect_holder(0, REDLOCK_MODE_EXCLUSIVE, 1, "peer", -1);
}

TEST(look, reentrant_lock_and_fair_one)
{
    talk_do(&talk, "HSET", LOCK, "uuid:7", "3", (char *)NULL);
    set_end(LOCK, 60000);
    struct script_told told = look_at(LOCK, NULL);
    ck_assert_str_eq(told.holder, "uuid:7");
    ck_assert_int_eq(view.told.state, REDLOCK_STATE_REENTRANT);
    ck_assert_uint_eq(view.told.holders, 1);
    expect_holder(0, REDLOCK_MODE_EXCLUSIVE, 3, "uuid:7", 60000);
    talk_do(&talk, "RPUSH", FAIR_QUEUE, "uuid:8", "uuid:9", (char *)NULL);
    look();
    ck_assert_int_eq(view.told.state, REDLOCK_STATE_FAIR);
    ck_assert_uint_eq(view.told.waiting, 2);
    talk_do(&talk, "DEL", LOCK, (char *)NULL);
    look();
    ck_assert_int_eq(view.told.state, REDLOCK_STATE_FREE);
    ck_assert_uint_eq(view.told.waiting, 2);
}

static void put_reader(const char *owner, const char *count, const char *lease, const char *ms)
{
    char key[256];
    talk_do(&talk, "HSET", LOCK, "mode", "read", owner, count, (char *)NULL);
    snprintf(key, sizeof(key), "{" LOCK "}:%s:rwlock_timeout:%s", owner, lease);
    talk_do(&talk, "SET", key, "1", "PX", ms, (char *)NULL);
}

TEST(look, readers_have_leases_of_their_own)
{
    put_reader("u:1", "2", "1", "30000");
    put_reader("u:1", "2", "2", "40000");
    put_reader("u:2", "1", "1", "50000");
    talk_do(&talk, "HSET", LOCK, "u:3", "1", (char *)NULL); /* its lease has run out */
    set_end(LOCK, 60000);
    look();
    ck_assert_int_eq(view.told.state, REDLOCK_STATE_READ_WRITE);
    ck_assert_uint_eq(view.told.holders, 3);
    expect_holder(0, REDLOCK_MODE_READ, 2, "u:1", 40000);
    expect_holder(1, REDLOCK_MODE_READ, 1, "u:2", 50000);
    expect_holder(2, REDLOCK_MODE_READ, 0, "u:3", 0);
    struct script_told told = look_at(LOCK, "u:2");
    ck_assert_str_eq(told.holder, "u:2"); /* whom the caller asks about is first */
    expect_holder(1, REDLOCK_MODE_READ, 2, "u:1", 40000);
}

TEST(look, writer_that_reads_and_one_that_waits)
{
    put_reader("u:1", "1", "1", "30000");
    talk_do(&talk, "HSET", LOCK, "mode", "write", "u:1:write", "2", (char *)NULL);
    set_end(LOCK, 60000);
    talk_do(&talk, "SET", WRITER, "w", "PX", "4000", (char *)NULL);
    look();
    ck_assert_uint_eq(view.told.holders, 2);
    expect_holder(0, REDLOCK_MODE_READ, 1, "u:1", 30000);
    expect_holder(1, REDLOCK_MODE_WRITE, 2, "u:1", 60000);
    ck_assert_int_gt(view.told.writer_ms, 0);
    ck_assert_int_le(view.told.writer_ms, 4000);
}

TEST(look, names_with_braces_are_as_redisson_has_them)
{
    talk_do(&talk, "HSET", "a{b}", "mode", "read", "u:1", "1", (char *)NULL);
    set_end("a{b}", 60000);
    talk_do(&talk, "SET", "a{b}:u:1:rwlock_timeout:1", "1", "PX", "30000", (char *)NULL);
    talk_do(&talk, "RPUSH", "redisson_lock_queue:a{b}", "u:2", (char *)NULL);
    look_at("a{b}", NULL);
    expect_holder(0, REDLOCK_MODE_READ, 1, "u:1", 30000);
    ck_assert_uint_eq(view.told.waiting, 1);
}

/* Sixteen are told, in order, and all are counted; the one asked about is among them. */
TEST(look, many_readers_are_counted)
{
    char owner[16];
    for (int i = 0; i < 100; i++) {
        snprintf(owner, sizeof(owner), "u:%03d", (i * 37) % 100);
        talk_do(&talk, "HSET", LOCK, "mode", "read", owner, "1", (char *)NULL);
    }
    set_end(LOCK, 60000);
    look();
    ck_assert_uint_eq(view.told.holders, 100);
    ck_assert_uint_eq(view.shown.count, REDLOCK_HOLDERS_SHOWN);
    ck_assert_str_eq(view.shown.holder[0].owner, "u:000");
    ck_assert_str_eq(view.shown.holder[15].owner, "u:015");
    look_at(LOCK, "u:099");
    ck_assert_str_eq(view.shown.holder[0].owner, "u:099");
    ck_assert_str_eq(view.shown.holder[1].owner, "u:000");
}

/* A member of a set of several masters: until so many ms from now, by the server's clock. */
static void put_member(const char *member, int64_t ms)
{
    static const char put[] = "local t = redis.call('TIME')\n"
                              "local ms = t[1] * 1000 + math.floor(t[2] / 1000) + ARGV[2]\n"
                              "redis.call('ZADD', KEYS[1], ms, ARGV[1])\n"
                              "return redis.call('PEXPIRE', KEYS[1], 60000)\n";
    char text[24];
    snprintf(text, sizeof(text), "%" PRId64, ms);
    ck_assert_int_eq(talk_do(&talk, "EVAL", put, "1", LOCK, member, text, (char *)NULL).number,
                     1);
}

TEST(look, set_of_several_masters)
{
    put_member("r:5:alice:T1", 30000);
    put_member("r:5:alice:T2", 40000);
    put_member("w:5:alice:T3", 50000);
    put_member("r:3:b:c:T4", 20000);
    put_member("r:3:tim:T5", -10); /* is over */
    look_at(LOCK, "b:c");
    ck_assert_int_eq(view.told.state, REDLOCK_STATE_READ_WRITE);
    ck_assert_uint_eq(view.told.holders, 3);
    expect_holder(0, REDLOCK_MODE_READ, 1, "b:c", 20000);
    expect_holder(1, REDLOCK_MODE_READ, 2, "alice", 40000);
    expect_holder(2, REDLOCK_MODE_WRITE, 1, "alice", 50000);
    ck_assert_int_eq(talk_do(&talk, "ZCARD", LOCK, (char *)NULL).number, 5);
}

TEST(look, listener_is_counted)
{
    struct talk ear;
    talk_do(&talk, "HSET", LOCK, "uuid:7", "1", (char *)NULL);
    set_end(LOCK, 60000);
    talk_open(&ear, scripts_masters, 0);
    talk_do(&ear, "SUBSCRIBE", CHANNEL, (char *)NULL);
    look();
    ck_assert_uint_eq(view.told.waiting, 1);
    talk_do(&ear, "SUBSCRIBE", RW_CHANNEL, (char *)NULL);
    look();
    ck_assert_uint_eq(view.told.waiting, 2);
    talk_close(&ear);
}

/* It is another name than the one inside, and who listens to that does not wait for this. */
TEST(look, name_in_braces_has_listeners_of_its_own)
{
    struct talk ear;
    talk_open(&ear, scripts_masters, 0);
    talk_do(&ear, "SUBSCRIBE", CHANNEL, (char *)NULL);
    look_at("{" LOCK "}", NULL);
    ck_assert_uint_eq(view.told.waiting, 0);
    talk_do(&ear, "SUBSCRIBE", "redisson_lock__channel:{{" LOCK "}}", (char *)NULL);
    look_at("{" LOCK "}", NULL);
    ck_assert_uint_eq(view.told.waiting, 1);
    look();
    ck_assert_uint_eq(view.told.waiting, 1);
    talk_close(&ear);
}

/* Owners are anybody's: lines and NULs in them, and far too long ones. */
TEST(look, hostile_owners_are_only_bytes)
{
    char owner[400];
    const char *argv[] = {"HSET", LOCK, owner, "1"};
    size_t lens[] = {4, strlen(LOCK), sizeof(owner), 1};
    struct wire_item items[WIRE_ITEMS_MAX];
    memset(owner, 'o', sizeof(owner));
    memcpy(owner, "a\nx 1 9 1 \0\r\n$-1\r\n%s", 20);
    talk_ask(&talk, 4, argv, lens, items);
    set_end(LOCK, 60000);
    look();
    ck_assert_uint_eq(view.shown.count, 1);
    ck_assert_uint_eq(view.shown.holder[0].owner_len, RL_OWNER_MAX);
    ck_assert_mem_eq(view.shown.holder[0].owner, owner, RL_OWNER_MAX);
}

/* The longest of everything is still a reply that the library keeps whole. */
TEST(look, longest_reply_fits)
{
    char owner[200];
    for (int i = 0; i < 20; i++) {
        int len = snprintf(owner, sizeof(owner), "%02d", i);
        memset(owner + len, 'o', sizeof(owner) - 1 - (size_t)len);
        owner[sizeof(owner) - 1] = '\0';
        talk_do(&talk, "HSET", LOCK, "mode", "read", owner, "99999999999", (char *)NULL);
    }
    set_end(LOCK, RL_TTL_LIMIT_MS);
    struct script_told told = look_at(LOCK, NULL);
    ck_assert_uint_eq(view.shown.count, REDLOCK_HOLDERS_SHOWN);
    ck_assert_uint_eq(view.shown.holder[0].count,
                      UINT32_MAX - 16); /* so many leases are looked at */
    ck_assert_uint_lt(RL_NONCE_LEN + told.holder_len + told.details_len, RL_REPLY_TEXT_MAX);
}

/* ---- what is no lock -------------------------------------------------------------------- */

static const struct {
    const char *type;
    const char *words[6];
    int64_t end_ms; /* 0: it looks like a lock, and has none */
} data[] = {
    {"list", {"RPUSH", LOCK, "some", "data"}, 60000},
    {"set", {"SADD", LOCK, "some", "data"}, 60000},
    {"stream", {"XADD", LOCK, "*", "some", "data"}, 60000},
    {"hash", {"HSET", LOCK, "some", "data"}, 60000},
    {"hash", {"HSET", LOCK, "uuid:7", "-1"}, 60000},
    {"hash", {"HSET", LOCK, "visits", "3"}, 0}, /* for ever: no lock is */
    {"hash", {"HSET", LOCK, "a", "1", "b", "2"}, 60000},
    {"hash", {"HSET", LOCK, "mode", "read", "path", "/"}, 60000},
    {"hash", {"HSET", LOCK, "mode", "0644", "a", "1"}, 60000},
    {"zset", {"ZADD", LOCK, "99", "member"}, 60000},
    {"zset", {"ZADD", LOCK, "99999999999999", "r:x:y"}, 60000},
    {"zset", {"ZADD", LOCK, "99999999999999", "r:1:a:T"}, 0},
};
enum { DATA = sizeof(data) / sizeof(data[0]) };

static void put_data(unsigned i)
{
    size_t lens[6];
    unsigned count = 0;
    struct wire_item items[WIRE_ITEMS_MAX];
    for (; count < 6 && data[i].words[count]; count++)
        lens[count] = strlen(data[i].words[count]);
    talk_ask(&talk, count, data[i].words, lens, items);
    ck_assert_int_ne(items[0].type, '-');
    if (data[i].end_ms > 0)
        set_end(LOCK, data[i].end_ms);
}

TEST(look, data_is_shown_and_stays, .rows = DATA)
{
    char was[512], is[512], what[64];
    put_data((unsigned)_i);
    struct wire_item dump = talk_do(&talk, "DUMP", LOCK, (char *)NULL);
    size_t len = dump.len;
    ck_assert_uint_le(len, sizeof(was));
    memcpy(was, dump.bytes, len);
    struct script_told told = look_at(LOCK, "uuid:7");
    snprintf(what, sizeof(what), "a %s that is no lock", data[_i].type);
    ck_assert_str_eq(told.holder, what);
    ck_assert_int_eq(view.told.state, REDLOCK_STATE_DATA);
    ck_assert_str_eq(view.told.data, data[_i].type);
    ck_assert_uint_eq(view.told.holders, 0);
    told = force_with(LOCK, data[_i].end_ms > 0);
    ck_assert_int_eq(told.yes, RL_REPLY_WRONGTYPE);
    if (data[_i].end_ms == 0)
        snprintf(what, sizeof(what), "a %s without an end (TTL)", data[_i].type);
    ck_assert_str_eq(told.holder, what);
    ck_assert_int_eq(told.left_ms < 0, data[_i].end_ms == 0);
    dump = talk_do(&talk, "DUMP", LOCK, (char *)NULL);
    ck_assert_uint_eq(dump.len, len);
    memcpy(is, dump.bytes, len);
    ck_assert_mem_eq(is, was, len);
    ck_assert_int_eq(count_keys(), 1);
}

/* Nobody is woken where data stands: the lock is not to be had. */
TEST(look, data_wakes_nobody)
{
    listen_as(2);
    contend();
    talk_do(&talk, "DEL", LOCK, (char *)NULL);
    put_data(0);
    ck_assert_int_eq(force_on(LOCK).yes, RL_REPLY_WRONGTYPE);
    ck_assert_uint_eq(called(), 0);
    ck_assert_int_eq(queue_len(), CLIENTS - 1);
}

/* ---- deleting --------------------------------------------------------------------------- */

static struct talk ear;

static void hear_of(const char *channel)
{
    talk_open(&ear, scripts_masters, 0);
    talk_do(&ear, "SUBSCRIBE", channel, (char *)NULL);
}

static void expect_heard(const char *channel, const char *text)
{
    struct talk_message messages[TALK_CALLS_MAX];
    ck_assert_uint_eq(talk_messages(&ear, messages), 1);
    ck_assert_str_eq(messages[0].channel, channel);
    ck_assert_str_eq(messages[0].text, text);
    talk_close(&ear);
}

/* Case 56: who waits hears of it; case 60: and then nobody holds it. */
TEST(look, reentrant_lock_is_deleted_and_waiters_are_told)
{
    hear_of(CHANNEL);
    talk_do(&talk, "HSET", LOCK, "uuid:7", "3", (char *)NULL);
    set_end(LOCK, 60000);
    talk_do(&talk, "SADD", HOLDS, TOKEN "1", TOKEN "2", (char *)NULL);
    set_end(HOLDS, 60000);
    ck_assert_int_eq(force_on(LOCK).yes, 1);
    expect_heard(CHANNEL, "0");
    look_at(LOCK, "uuid:7");
    ck_assert_int_eq(view.told.state, REDLOCK_STATE_FREE);
    ck_assert_int_eq(count_keys(), 0);
    ck_assert_int_eq(force_on(LOCK).yes, 0); /* there was none any more */
}

TEST(look, read_write_lock_is_deleted_and_all_are_told)
{
    hear_of(RW_CHANNEL);
    for (int i = 0; i < 2; i++) { /* of one master, of several */
        if (i == 0) {
            put_reader("u:1", "1", "1", "30000");
            set_end(LOCK, 60000);
        } else {
            hear_of(RW_CHANNEL);
            put_member("r:5:alice:T1", 30000);
        }
        if (i == 0) {
            talk_do(&talk, "SADD", WRITER, CLIENT, (char *)NULL);
            talk_do(&talk, "SADD", READERS, CLIENT, "turn", (char *)NULL);
        } else {
            talk_do(&talk, "SET", WRITER, CLIENT, (char *)NULL);
            talk_do(&talk, "SET", READERS, "turn:500", (char *)NULL);
        }
        set_end(WRITER, 4000);
        set_end(READERS, 4000);
        ck_assert_int_eq(force_on(LOCK).yes, 1);
        expect_heard(RW_CHANNEL, "1");
        look();
        ck_assert_int_eq(view.told.state, REDLOCK_STATE_FREE);
        ck_assert_int_eq(view.told.writer_ms, 0);
        ck_assert_int_eq(count_keys(), 0);
    }
}

static struct script_told extend_on(const char *name)
{
    struct script_call call = {.name = name, .token = "me", .ttl_ms = 1000};
    return script_run(&talk, RL_EXTEND, &call);
}

static struct script_told extend(void)
{
    return extend_on(LOCK);
}

/* Who held it can tell a lock that was broken from one that was flushed. The note has an end. */
TEST(look, holder_is_told_who_broke_lock)
{
    talk_do(&talk, "SET", LOCK, "me", "PX", "30000", (char *)NULL);
    ck_assert_int_eq(force_on(LOCK).yes, 1);
    int64_t ends_ms = talk_do(&talk, "PTTL", NOTE, (char *)NULL).number;
    ck_assert(ends_ms > 20000 && ends_ms <= 30000); /* as the lock had */
    struct script_told told = extend();
    ck_assert_int_eq(told.yes, 0);
    ck_assert_uint_eq(told.parts, 4);
    ck_assert(told.left_ms >= 0 && told.left_ms < 20000);
    ck_assert_str_eq(told.holder, "breaker:7");
    talk_do(&talk, "SET", LOCK, "you", "PX", "9999999", (char *)NULL);
    ck_assert_int_eq(force_on(LOCK).yes, 1); /* a later one counts */
    ends_ms = talk_do(&talk, "PTTL", NOTE, (char *)NULL).number;
    ck_assert(ends_ms > 50000 && ends_ms <= 60000); /* no longer than max-ttl */
    ck_assert_int_eq(force_on(LOCK).yes, 0);
    talk_do(&talk, "FLUSHALL", (char *)NULL);
    ck_assert_uint_eq(extend().parts, 2);
    ck_assert_int_eq(force_on(LOCK).yes, 0); /* no lock, no note */
    ck_assert_int_eq(talk_do(&talk, "DBSIZE", (char *)NULL).number, 0);
}

/* The scripts make the note's name, and keys.h has the same. */
TEST(look, note_of_any_name_is_found)
{
    static const char *const names[][2] = {{"a}b", "a}b{}:redlock:broken"},
                                           {"{a}", "{a}{}:redlock:broken"},
                                           {"{a", "{{a}:redlock:broken"}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct rl_target target = {
            .name = names[i][0], .name_len = strlen(names[i][0]), .owner = ""};
        char key[RL_KEY_MAX + 1];
        key[rl_key_text('B', &target, key)] = '\0';
        ck_assert_str_eq(key, names[i][1]);
        talk_do(&talk, "SET", names[i][0], "me", "PX", "30000", (char *)NULL);
        ck_assert_int_eq(force_on(names[i][0]).yes, 1);
        ck_assert_int_eq(talk_do(&talk, "EXISTS", key, (char *)NULL).number, 1);
        ck_assert_uint_eq(extend_on(names[i][0]).parts, 4);
    }
}

/* Data of others under the note's name stays, and tells nothing. */
TEST(look, note_is_no_others_data)
{
    talk_do(&talk, "SET", NOTE, "mine", (char *)NULL);
    talk_do(&talk, "SET", LOCK, "me", "PX", "30000", (char *)NULL);
    ck_assert_int_eq(force_on(LOCK).yes, 1);
    ck_assert_uint_eq(extend().parts, 2);
    ck_assert_int_eq(talk_do(&talk, "PTTL", NOTE, (char *)NULL).number, -1);
    talk_do(&talk, "DEL", NOTE, (char *)NULL);
    talk_do(&talk, "RPUSH", NOTE, "mine", (char *)NULL);
    talk_do(&talk, "SET", LOCK, "me", "PX", "30000", (char *)NULL);
    ck_assert_int_eq(force_on(LOCK).yes, 1);
    ck_assert_uint_eq(extend().parts, 2);
    ck_assert_int_eq(talk_do(&talk, "LLEN", NOTE, (char *)NULL).number, 1);
}

/* A note may be anybody's, of any length: what it costs has a bound. */
TEST(look, holder_is_told_no_more_of_note_than_name_has)
{
    char note[1200];
    memset(note, 'x', sizeof(note) - 1);
    note[sizeof(note) - 1] = '\0';
    memcpy(note, "1000 ", 5);
    talk_do(&talk, "SET", NOTE, note, (char *)NULL);
    struct script_told told = extend();
    ck_assert_uint_eq(told.parts, 4);
    ck_assert_uint_eq(told.holder_len, 128);
}

/* Redisson's next reader would count them as its own. */
TEST(look, leases_of_readers_and_writers_go_with_lock)
{
    put_reader("u:1", "2", "1", "30000");
    put_reader("u:1", "3", "3", "40000"); /* the second one has run out */
    put_reader("u:2", "1", "1", "50000");
    talk_do(&talk, "HSET", LOCK, "mode", "write", "u:1:write", "1", (char *)NULL);
    talk_do(&talk, "SET", "{" LOCK "}:u:1:write:rwlock_timeout:1", "T", "PX", "50000",
            (char *)NULL);
    talk_do(&talk, "SET", "{" LOCK "}:u:9:rwlock_timeout:1", "T", "PX", "50000", (char *)NULL);
    set_end(LOCK, 60000);
    ck_assert_int_eq(count_keys(), 6);
    ck_assert_int_eq(force_on(LOCK).yes, 1);
    ck_assert_int_eq(count_keys(), 1); /* which no field of it counts */
}

/* A string is a lock if it has an end. One that was set by hand has none. */
TEST(look, endless_lock_is_deleted_only_where_that_is_said)
{
    talk_do(&talk, "SET", LOCK, "me", (char *)NULL);
    struct script_told told = force_on(LOCK);
    ck_assert_int_eq(told.yes, RL_REPLY_WRONGTYPE);
    ck_assert_int_eq(told.left_ms, -1);
    ck_assert_str_eq(told.holder, "a string without an end (TTL)");
    ck_assert_int_eq(lock_left_ms(), -1);
    ck_assert_int_eq(force_with(LOCK, true).yes, 1);
    talk_do(&talk, "HSET", LOCK, "uuid:7", "1", (char *)NULL);
    ck_assert_int_eq(force_on(LOCK).yes, RL_REPLY_WRONGTYPE);
    ck_assert_int_eq(force_with(LOCK, true).yes, 1);
    put_reader("u:1", "1", "1", "30000");
    ck_assert_int_eq(force_on(LOCK).yes, RL_REPLY_WRONGTYPE);
    ck_assert_int_eq(force_with(LOCK, true).yes, 1);
    ck_assert_int_eq(count_keys(), 0);
    talk_do(&talk, "RPUSH", LOCK, "data", (char *)NULL); /* and of no shape of a lock never */
    ck_assert_int_eq(force_with(LOCK, true).yes, RL_REPLY_WRONGTYPE);
}

TEST(look, long_text_is_no_token)
{
    char text[514];
    memset(text, 'x', sizeof(text) - 1);
    text[513] = '\0';
    talk_do(&talk, "SET", LOCK, text, "PX", "60000", (char *)NULL);
    ck_assert_str_eq(force_with(LOCK, true).holder, "a string that is no lock");
    text[512] = '\0';
    talk_do(&talk, "SET", LOCK, text, "PX", "60000", (char *)NULL);
    ck_assert_int_eq(force_on(LOCK).yes, 1);
}

static const struct {
    const char *words[4];
    bool ends;
} beside[] = {
    {{"SADD", HOLDS, "some data"}, true},   {{"SADD", HOLDS, TOKEN "1"}, false},
    {{"SET", HOLDS, TOKEN "1"}, true},      {{"RPUSH", HOLDS, TOKEN "1"}, true},
    {{"SET", WRITER, "Tolstoy"}, true},     {{"SET", WRITER, CLIENT}, false},
    {{"SADD", WRITER, "Tolstoy"}, true},    {{"SADD", WRITER, CLIENT}, false},
    {{"SET", READERS, "1000"}, true},       {{"SET", READERS, "wait"}, false},
    {{"SADD", READERS, "Tolstoy"}, true},   {{"SADD", READERS, "turn"}, false},
    {{"HSET", READERS, CLIENT, "1"}, true},
};
enum { BESIDE = sizeof(beside) / sizeof(beside[0]) };

TEST(look, somebodys_data_beside_lock_stays, .rows = BESIDE)
{
    const char *const *words = beside[_i].words;
    struct wire_item items[WIRE_ITEMS_MAX];
    size_t lens[4];
    unsigned count = 0;
    for (; count < 4 && words[count]; count++)
        lens[count] = strlen(words[count]);
    talk_ask(&talk, count, words, lens, items);
    ck_assert_int_ne(items[0].type, '-');
    if (beside[_i].ends)
        set_end(words[1], 60000);
    talk_do(&talk, "SET", LOCK, "me", "PX", "60000", (char *)NULL);
    ck_assert_int_eq(force_on(LOCK).yes, 1);
    ck_assert_int_eq(talk_do(&talk, "EXISTS", words[1], (char *)NULL).number, 1);
}

/* The queue stays, and the first in it who listens is told. */
TEST(look, fair_lock_is_deleted_and_first_is_told)
{
    hear_of(CHANNEL ":u:2");
    talk_do(&ear, "SUBSCRIBE", CHANNEL ":u:3", (char *)NULL);
    talk_do(&talk, "HSET", LOCK, "uuid:7", "1", (char *)NULL);
    set_end(LOCK, 60000);
    talk_do(&talk, "RPUSH", FAIR_QUEUE, "u:1", "u:2", "u:3", (char *)NULL);
    ck_assert_int_eq(force_on(LOCK).yes, 1);
    expect_heard(CHANNEL ":u:2", "0");
    ck_assert_int_eq(talk_do(&talk, "LLEN", FAIR_QUEUE, (char *)NULL).number, 3);
    ck_assert_int_eq(lock_left_ms(), -2);
}

TEST(look, odd_data_in_place_of_queues_hinders_nothing)
{
    talk_do(&talk, "SET", FAIR_QUEUE, "x", (char *)NULL);
    talk_do(&talk, "RPUSH", QUEUE, "x", (char *)NULL);
    talk_do(&talk, "RPUSH", WRITER, "x", (char *)NULL);
    talk_do(&talk, "SET", LOCK, "me", "PX", "60000", (char *)NULL);
    look();
    ck_assert_int_eq(view.told.state, REDLOCK_STATE_PLAIN);
    ck_assert_uint_eq(view.told.waiting, 0);
    ck_assert_int_eq(view.told.writer_ms, 0);
    ck_assert_int_eq(force_on(LOCK).yes, 1);
    look();
    ck_assert_int_eq(view.told.state, REDLOCK_STATE_FREE);
}

/* Who may only take and give plain locks of that name may look at them, and delete them. */
TEST(look, rights_of_plain_locks_are_enough_for_them)
{
    struct script_call call = {.name = LOCK, .reserve_ms = KEEP_MS};
    struct talk few;
    talk_do(&talk, "ACL", "SETUSER", "few", "on", "nopass", "resetkeys", "~" LOCK, "~" QUEUE,
            "-@all", "+eval", "+set", "+get", "+del", "+pttl", "+pexpire", (char *)NULL);
    talk_open(&few, scripts_masters, 0);
    ck_assert_int_eq(talk_do(&few, "AUTH", "few", "any", (char *)NULL).type, '+');
    struct script_told told = script_run(&few, RL_INSPECT, &call);
    ck_assert_msg(told.type == '*' && told.yes == 1, "%s", told.text);
    talk_do(&few, "EVAL", "return redis.call('SET', KEYS[1], 'me', 'PX', 60000)", "1", LOCK,
            (char *)NULL);
    told = script_run(&few, RL_INSPECT, &call);
    ck_assert_str_eq(told.holder, "me");
    ck_assert_int_eq(script_run(&few, RL_FORCE, &call).yes, 1);
    ck_assert_int_eq(lock_left_ms(), -2);
    talk_close(&few);
}

CASE(look,
     .timeout_s = 30, .set_up_once = scripts_start, .tear_down_once = scripts_stop,
     .set_up = scripts_begin, .tear_down = scripts_end)
