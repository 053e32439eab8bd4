/* test_scripts_crowd.c - scripts among ten thousand who hold a lock, or wait for it: none of
 * them goes through all of these, since a master serves nobody else meanwhile. */
#include "config_auto.h"

#include "scripts_scene.h"
#include "stall.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CROWD 10000
#define CROWD_TEXT "10000"
#define QUEUE_KEY "redisson_lock_queue:{" LOCK "}"
#define TIMES_KEY "redisson_lock_timeout:{" LOCK "}"
#define SEEN_KEY "{" LOCK "}:redlock:seen"
#define SHARE_MS 300000
#define CLIENT "00000007-1111-4222-8333-444444444444"

/* A call that looks at everybody takes 600 commands and more, or one that takes long. Others
 * take 4 ms at most on an idle machine, and a look 5. They take 163 commands at most, of which
 * there are always as many. A look that names 256 readers takes 291. A call that goes past a
 * thousand who are dead or deaf takes 1,028. */
enum { AGAIN = 4, BOUND_MS = 10, LIFE_MS = 3600000 };
enum { BOUND_COMMANDS = 200, BOUND_LOOK = 320, BOUND_DEAD = 1100 };

/* ---- the crowd: its owners are "owner-1" and so on ----------------------------------------
 */

static void on_master(const char *script)
{
    struct wire_item item = talk_do(&talk, "EVAL", script, "5", LOCK, QUEUE_KEY, TIMES_KEY,
                                    SEEN_KEY, "{" LOCK "}", CROWD_TEXT, (char *)NULL);
    ck_assert_msg(item.type != '-', "%.*s", (int)item.len, item.bytes);
}

/* Each reads once, on several masters, for an hour and more. */
static void many_read(void)
{
    on_master("local time = redis.call('TIME')\n"
              "redis.call('FLUSHALL')\n"
              "for i = 1, ARGV[1] do\n"
              "  local owner, ends = 'owner-' .. i, (time[1] + 3600) * 1000 + i\n"
              "  redis.call('ZADD', KEYS[1], string.format('%.0f', ends),\n"
              "    'r:' .. #owner .. ':' .. owner .. ':token')\n"
              "end\n"
              "redis.call('PEXPIRE', KEYS[1], 4000000)\n");
}

/* Each reads once, on one master. */
static void many_read_on_one(void)
{
    on_master("redis.call('FLUSHALL')\n"
              "redis.call('HSET', KEYS[1], 'mode', 'read')\n"
              "for i = 1, ARGV[1] do\n"
              "  redis.call('HSET', KEYS[1], 'owner-' .. i, 1)\n"
              "  redis.call('SET', KEYS[5] .. ':owner-' .. i .. ':rwlock_timeout:1', 'token',\n"
              "    'PX', 60000)\n"
              "end\n"
              "redis.call('PEXPIRE', KEYS[1], 60000)\n");
}

/* All wait for the fair lock, have just been heard of, and each is waited for a share longer
 * than the one before it. "other" has it, or nobody. */
static void many_wait(bool held)
{
    on_master("local time = redis.call('TIME')\n"
              "local now = time[1] * 1000 + math.floor(time[2] / 1000)\n"
              "redis.call('FLUSHALL')\n"
              "for i = 1, ARGV[1] do\n"
              "  redis.call('RPUSH', KEYS[2], 'owner-' .. i)\n"
              "  redis.call('ZADD', KEYS[3], string.format('%.0f', now + i * 300000), 'owner-' "
              ".. i)\n"
              "  redis.call('ZADD', KEYS[4], string.format('%.0f', now), 'owner-' .. i)\n"
              "end\n"
              "redis.call('PEXPIRE', KEYS[4], 3600000)\n");
    if (held) {
        talk_do(&talk, "HSET", LOCK, "other", "1", (char *)NULL);
        talk_do(&talk, "PEXPIRE", LOCK, "60000", (char *)NULL);
        talk_do(&talk, "SADD", "{" LOCK "}:redlock:holds", "token", (char *)NULL);
        talk_do(&talk, "PEXPIRE", "{" LOCK "}:redlock:holds", "60000", (char *)NULL);
    }
}

/* ---- what a call costs --------------------------------------------------------------------
 */

static struct script_told run(int row, enum rl_verb verb, const char *owner)
{
    char waiter[RL_WAITER_MAX];
    struct script_call call = {
        .row = row,
        .name = LOCK,
        .owner = owner,
        .token = "token",
        .ttl_ms = TTL_MS,
        .waiter = talk_waiter(1, 1, waiter),
        .reserve_ms = KEEP_MS,
        .queue_ms = TTL_MS,
        .fair_ms = LIFE_MS,
        .writer_waiting_ms = TTL_MS,
    };
    struct script_told told = script_run(&talk, verb, &call);
    ck_assert_msg(told.type == '*', "%s", told.text);
    return told;
}

static double number_behind(const char *section, const char *field)
{
    char text[32] = "";
    struct wire_item item = talk_do(&talk, "INFO", section, (char *)NULL);
    const char *at = memmem(item.bytes, item.len, field, strlen(field));
    ck_assert_msg(at, "no %s", field);
    at += strlen(field);
    size_t left = item.len - (size_t)(at - item.bytes);
    memcpy(text, at, left < sizeof(text) - 1 ? left : sizeof(text) - 1);
    return strtod(text, NULL);
}

/* The time of the processor, so that it is no matter for how long the master has to wait for
 * it. */
struct cost {
    double ms, commands;
};

static struct cost cost_so_far(void)
{
    return (struct cost){
        .ms = 1000 *
              (number_behind("cpu", "used_cpu_sys:") + number_behind("cpu", "used_cpu_user:")),
        .commands = number_behind("stats", "total_commands_processed:"),
    };
}

struct call {
    const char *what;
    void (*crowd)(void);
    int row;
    enum rl_verb verb;
    const char *owner;
    enum rl_code code;
};

static void free_queue(void)
{
    many_wait(false);
}

static void held_queue(void)
{
    many_wait(true);
}

/* A tenth of those who wait, the first ones, are gone. */
static void dead_front(void)
{
    many_wait(true);
    on_master("for i = 1, ARGV[1] / 10 do redis.call('ZADD', KEYS[4], i, 'owner-' .. i) end\n");
}

static void dead_amid(void)
{
    many_wait(true);
    talk_do(&talk, "ZADD", SEEN_KEY, "1", "owner-5000", (char *)NULL);
}

/* The first three are to be waited for longer. */
static void late_front(void)
{
    many_wait(true);
    on_master("for i = 1, 3 do redis.call('ZINCRBY', KEYS[3], -200000, 'owner-' .. i) end\n");
}

/* The owner reads, too, and would wait for itself. */
static void many_read_and_one(void)
{
    many_read();
    on_master("redis.call('ZADD', KEYS[1], 'GT', '1e14', 'r:5:alice:other')\n");
}

/* A writer waits for them. */
static void many_read_and_mark(void)
{
    many_read();
    talk_do(&talk, "SET", "{" LOCK "}:redlock:writer", CLIENT, "PX", "60000", (char *)NULL);
}

/* All leases have run out but the last one, "owner-10000". */
static void all_over(void)
{
    many_read();
    on_master("for i = 1, ARGV[1] - 1 do\n"
              "  local owner = 'owner-' .. i\n"
              "  redis.call('ZADD', KEYS[1], i, 'r:' .. #owner .. ':' .. owner .. ':token')\n"
              "end\n");
}

/* A thousand waiters, each of a client that has gone. */
static void deaf_wait(void)
{
    on_master("redis.call('FLUSHALL')\n"
              "for i = 1, ARGV[1] do\n"
              "  redis.call('ZADD', '{' .. KEYS[1] .. '}:redlock:queue', i,\n"
              "    string.format('%08d-0000-4000-8000-000000000000:1', i))\n"
              "end\n"
              "redis.call('SET', KEYS[1], 'token', 'PX', 60000)\n");
}

static void many_tokens(void)
{
    on_master("redis.call('FLUSHALL')\n"
              "redis.call('HSET', KEYS[1], 'alice', ARGV[1])\n"
              "for i = 1, ARGV[1] do\n"
              "  redis.call('SADD', '{' .. KEYS[1] .. '}:redlock:holds', 'token-' .. i)\n"
              "end\n"
              "redis.call('PEXPIRE', KEYS[1], 60000)\n"
              "redis.call('PEXPIRE', '{' .. KEYS[1] .. '}:redlock:holds', 60000)\n");
}

static const struct call calls[] = {
    {"writer", many_read, RL_ROW_QWRITE, RL_ACQUIRE, "alice", RL_REFUSED},
    {"writer that waits", many_read, RL_ROW_QWRITE, RL_ACQUIRE_OR_QUEUE, "alice", RL_REFUSED},
    {"writer that reads", many_read_and_one, RL_ROW_QWRITE, RL_ACQUIRE, "alice",
     RL_REPLY_UPGRADE},
    {"writer on one master", many_read_on_one, RL_ROW_WRITE, RL_ACQUIRE, "alice", RL_REFUSED},
    {"reader", many_read, RL_ROW_QREAD, RL_ACQUIRE, "alice", RL_GRANTED},
    {"reader beside a writer that waits", many_read_and_mark, RL_ROW_QREAD, RL_ACQUIRE,
     "alice", RL_REFUSED},
    {"reader that reads, beside one", many_read_and_mark, RL_ROW_QREAD, RL_ACQUIRE,
     "owner-1", RL_GRANTED},
    {"reader, leases over", all_over, RL_ROW_QREAD, RL_ACQUIRE, "alice", RL_GRANTED},
    {"reader that waits, leases over", all_over, RL_ROW_QREAD, RL_ACQUIRE_OR_QUEUE, "alice",
     RL_GRANTED},
    {"reader reads on, leases over", all_over, RL_ROW_QREAD, RL_EXTEND, "owner-10000",
     RL_GRANTED},
    {"reader that is over", all_over, RL_ROW_QREAD, RL_EXTEND, "owner-9999", RL_REFUSED},
    {"reader comes again, leases over", all_over, RL_ROW_QREAD, RL_RETAKE, "alice",
     RL_GRANTED},
    {"last reader goes", all_over, RL_ROW_QREAD, RL_RELEASE, "owner-10000", RL_GRANTED},
    {"reader that is over goes", all_over, RL_ROW_QREAD, RL_RELEASE, "owner-9999", RL_REFUSED},
    {"writer, leases over", all_over, RL_ROW_QWRITE, RL_ACQUIRE, "alice", RL_REFUSED},
    {"writer comes again", all_over, RL_ROW_QWRITE, RL_RETAKE, "alice", RL_REFUSED},
    {"look at readers", many_read, RL_ROW_ANY, RL_INSPECT, "owner-77", RL_REFUSED},
    {"look at readers on one master", many_read_on_one, RL_ROW_ANY, RL_INSPECT, "owner-77",
     RL_REFUSED},
    {"look at a fair queue", held_queue, RL_ROW_ANY, RL_INSPECT, "owner-77", RL_REFUSED},
    {"release, waiters are deaf", deaf_wait, RL_ROW_PLAIN, RL_RELEASE, "", RL_GRANTED},
    {"nested hold", many_tokens, RL_ROW_REENTRANT, RL_ACQUIRE, "alice", RL_GRANTED},
    {"nested hold goes", many_tokens, RL_ROW_REENTRANT, RL_RELEASE, "alice", RL_REFUSED},
    {"look at nested holds", many_tokens, RL_ROW_ANY, RL_INSPECT, "alice", RL_REFUSED},
    {"reader goes", many_read, RL_ROW_QREAD, RL_RELEASE, "owner-77", RL_GRANTED},
    {"reader on one master", many_read_on_one, RL_ROW_READ, RL_ACQUIRE, "alice", RL_GRANTED},
    {"reader goes, one master", many_read_on_one, RL_ROW_READ, RL_RELEASE, "owner-77",
     RL_GRANTED},
    {"first takes", free_queue, RL_ROW_FAIR, RL_ACQUIRE, "owner-1", RL_GRANTED},
    {"first leaves", held_queue, RL_ROW_FAIR, RL_DEQUEUE, "owner-1", RL_GRANTED},
    {"one leaves", held_queue, RL_ROW_FAIR, RL_DEQUEUE, "owner-5000", RL_GRANTED},
    {"one comes", held_queue, RL_ROW_FAIR, RL_ACQUIRE_OR_QUEUE, "alice", RL_REFUSED},
    {"one is heard", held_queue, RL_ROW_FAIR, RL_ACQUIRE_OR_QUEUE, "owner-5000", RL_REFUSED},
    {"first waits on", late_front, RL_ROW_FAIR, RL_ACQUIRE_OR_QUEUE, "owner-1", RL_REFUSED},
    {"release", held_queue, RL_ROW_FAIR, RL_RELEASE, "other", RL_GRANTED},
    {"release beside the dead", dead_front, RL_ROW_FAIR, RL_RELEASE, "other", RL_GRANTED},
    {"release, dead amid", dead_amid, RL_ROW_FAIR, RL_RELEASE, "other", RL_GRANTED},
};
enum { KINDS_OF_CALLS = sizeof(calls) / sizeof(calls[0]) };

static struct cost cost_of(const struct call *call)
{
    call->crowd();
    struct cost before = cost_so_far();
    struct script_told told = run(call->row, call->verb, call->owner);
    struct cost after = cost_so_far();
    ck_assert_msg(told.yes == (int64_t)call->code, "%s: %d, %s", call->what, (int)told.yes,
                  told.holder);
    return (struct cost){after.ms - before.ms, after.commands - before.commands};
}

static double commands_bound(const struct call *call)
{
    if (call->crowd == dead_front || call->crowd == deaf_wait)
        return BOUND_DEAD;
    return call->verb == RL_INSPECT ? BOUND_LOOK : BOUND_COMMANDS;
}

TEST(crowd, call_in_crowd_is_quick, .rows = KINDS_OF_CALLS)
{
    const struct call *call = &calls[_i];
    struct cost cost = {0};
    bool quick = met_unless_stalled((cost = cost_of(call)).ms < BOUND_MS, BOUND_MS / 2, AGAIN);
    ck_assert_msg(quick, "%s: %.3f ms", call->what, cost.ms);
    ck_assert_msg(cost.commands < commands_bound(call), "%s: %.0f commands", call->what,
                  cost.commands);
}

/* ---- what has run out counts for nothing, also while it is still there -------------------
 */

/* More leases have run out than a call removes. Of those that it leaves alice reads, and bob
 * writes and reads. */
static void much_is_over(const char *lives)
{
    talk_do(&talk, "FLUSHALL", (char *)NULL);
    on_master("for i = 1, 1200 do\n"
              "  redis.call('ZADD', KEYS[1], i, 'r:5:other:' .. i)\n"
              "end\n"
              "for i, one in ipairs({'r:5:alice:token', 'w:3:bob:token', 'r:3:bob:old'}) do\n"
              "  redis.call('ZADD', KEYS[1], 1200 + i, one)\n"
              "end\n"
              "redis.call('ZADD', KEYS[1], 1e14, 'r:5:dummy:dummy')\n"
              "redis.call('PEXPIRE', KEYS[1], 60000)\n"
              "redis.call('ZREM', KEYS[1], 'r:5:dummy:dummy')\n");
    if (lives)
        talk_do(&talk, "ZADD", LOCK, "1e14", lives, (char *)NULL);
}

static const struct {
    const char *lives, *mark;
    int row;
    enum rl_verb verb;
    const char *owner;
    enum rl_code code;
} overs[] = {
    {NULL, NULL, RL_ROW_QWRITE, RL_ACQUIRE, "carol", RL_GRANTED},
    {NULL, NULL, RL_ROW_QWRITE, RL_ACQUIRE, "alice", RL_GRANTED}, /* who reads no more */
    {NULL, NULL, RL_ROW_QREAD, RL_ACQUIRE, "carol", RL_GRANTED},
    {NULL, NULL, RL_ROW_QREAD, RL_EXTEND, "alice", RL_REFUSED},
    {NULL, NULL, RL_ROW_QREAD, RL_RELEASE, "alice", RL_REFUSED},
    {NULL, NULL, RL_ROW_QWRITE, RL_EXTEND, "bob", RL_REFUSED},
    {NULL, NULL, RL_ROW_QWRITE, RL_RETAKE, "carol", RL_GRANTED},
    {NULL, CLIENT, RL_ROW_QREAD, RL_ACQUIRE, "alice", RL_REFUSED},
    {"r:3:bob:live", NULL, RL_ROW_QREAD, RL_ACQUIRE, "carol", RL_GRANTED}, /* bob only reads */
    {"r:3:bob:live", NULL, RL_ROW_QWRITE, RL_ACQUIRE, "bob", RL_REPLY_UPGRADE},
    {"w:3:bob:live", NULL, RL_ROW_QREAD, RL_ACQUIRE, "carol", RL_REFUSED},
    {"w:3:bob:live", NULL, RL_ROW_QWRITE, RL_RETAKE, "bob", RL_GRANTED},
};

TEST(crowd, what_is_over_counts_for_nothing, .rows = ROWS(overs))
{
    much_is_over(overs[_i].lives);
    if (overs[_i].mark)
        talk_do(&talk, "SET", "{" LOCK "}:redlock:writer", overs[_i].mark, "PX", "60000",
                (char *)NULL);
    struct script_told told = run(overs[_i].row, overs[_i].verb, overs[_i].owner);
    ck_assert_msg(told.yes == (int64_t)overs[_i].code, "%d: %d, %s", _i, (int)told.yes,
                  told.holder);
    if (overs[_i].verb != RL_RELEASE || overs[_i].code == RL_GRANTED)
        ck_assert_int_gt(talk_do(&talk, "ZCARD", LOCK, (char *)NULL).number, 600);
}

/* Bob's last write hold wakes the readers, though an older one of his is still there. */
TEST(crowd, last_one_that_is_not_over_wakes)
{
    struct talk ear;
    struct talk_message messages[TALK_CALLS_MAX];
    talk_open(&ear, scripts_masters, 0);
    talk_do(&ear, "SUBSCRIBE", "redisson_rwlock:{" LOCK "}", (char *)NULL);
    much_is_over("r:3:bob:live");
    talk_do(&talk, "ZADD", LOCK, "1e13", "w:3:bob:token", (char *)NULL);
    talk_do(&talk, "ZADD", LOCK, "1203", "w:3:bob:older", (char *)NULL);
    ck_assert_int_eq((int)run(RL_ROW_QWRITE, RL_RELEASE, "bob").yes, RL_GRANTED);
    ck_assert_uint_eq(talk_messages(&ear, messages), 1);
    talk_do(&talk, "ZREM", LOCK, "r:3:bob:live", (char *)NULL);
    talk_do(&talk, "ZADD", LOCK, "1e13", "r:5:alice:token", (char *)NULL);
    ck_assert_int_eq((int)run(RL_ROW_QREAD, RL_RELEASE, "alice").yes, RL_GRANTED);
    ck_assert_uint_eq(talk_messages(&ear, messages), 1);
    ck_assert_int_eq(talk_do(&talk, "EXISTS", LOCK, (char *)NULL).number, 0);
    talk_close(&ear);
}

/* The thousandth waiter is woken, if no other one listens; and the queue goes on behind it. */
TEST(crowd, waiter_behind_deaf_ones_is_woken, .rows = 2)
{
    char waiter[RL_WAITER_MAX];
    struct talk ear;
    struct talk_message messages[TALK_CALLS_MAX];
    deaf_wait();
    talk_open(&ear, scripts_masters, 0);
    talk_listen(&ear, talk_waiter(1, 1, waiter));
    talk_do(&talk, "ZADD", "{" LOCK "}:redlock:queue", _i == 0 ? "999.5" : "1000.5", waiter,
            (char *)NULL);
    ck_assert_int_eq((int)run(RL_ROW_PLAIN, RL_RELEASE, "").yes, RL_GRANTED);
    ck_assert_uint_eq(talk_messages(&ear, messages), _i == 0);
    ck_assert_int_eq(talk_do(&talk, "EXISTS", LOCK, (char *)NULL).number, _i == 0);
    ck_assert_int_eq(talk_do(&talk, "ZCARD", "{" LOCK "}:redlock:queue", (char *)NULL).number,
                     CROWD + 1 - 1000);
    talk_close(&ear);
}

/* ---- who holds it, of many -------------------------------------------------------------- */

/* All are counted. The owner asked for is named first, wherever it is. */
static const struct {
    void (*crowd)(void);
    const char *owner, *begins;
} looks[] = {
    {many_read, "owner-5001", "read-write 0 0 10000\nr 1 "},
    {many_read, "nobody", "read-write 0 0 10000\nr 1 "},
    {many_read_on_one, "owner-1", "read-write 0 0 10000\nr 1 "},
    {many_read_on_one, "nobody", "read-write 0 0 10000\n"},
};

TEST(crowd, of_many_owner_is_named_first, .rows = ROWS(looks))
{
    looks[_i].crowd();
    struct script_told told = run(RL_ROW_ANY, RL_INSPECT, looks[_i].owner);
    ck_assert_msg(strncmp(told.details, looks[_i].begins, strlen(looks[_i].begins)) == 0, "%s",
                  told.details);
    ck_assert_int_eq(strcmp(told.holder, looks[_i].owner) == 0, _i % 2 == 0);
}

/* ---- a long queue is in order all the same --------------------------------------------------
 */

static double time_of(const char *owner)
{
    struct wire_item item = talk_do(&talk, "ZSCORE", TIMES_KEY, owner, (char *)NULL);
    char text[32];
    ck_assert_msg(item.number >= 0 && item.len < sizeof(text), "%s has no time", owner);
    memcpy(text, item.bytes, item.len);
    text[item.len] = '\0';
    return strtod(text, NULL);
}

static void name_one(char text[24], unsigned number)
{
    snprintf(text, 24, "owner-%u", number);
}

/* Who gives up takes its share back from those near behind it at once, and from the others when
 * they have come near: the first one is waited for as long as in a short queue. */
TEST(crowd, shares_are_taken_back_by_and_by)
{
    enum { LEAVERS = 400 };
    char owner[24];
    many_wait(true);
    double near_at = time_of("owner-100"), far_at = time_of("owner-5000"),
           first_at = time_of("owner-401");
    for (unsigned i = 1; i <= LEAVERS; i++) {
        name_one(owner, i);
        ck_assert_int_eq((int)run(RL_ROW_FAIR, RL_DEQUEUE, owner).yes, 1);
        if (i == 1)
            ck_assert(time_of("owner-100") == near_at - SHARE_MS);
    }
    ck_assert(time_of("owner-5000") == far_at);
    double late_ms = time_of("owner-401") - (first_at - (double)LEAVERS * SHARE_MS);
    ck_assert_msg(late_ms == 0, "%.0f ms too late", late_ms);
    ck_assert_int_eq(talk_do(&talk, "LLEN", QUEUE_KEY, (char *)NULL).number, CROWD - LEAVERS);
}

/* The dead at the front go within a few calls, and nobody else; one further behind goes later.
 */
TEST(crowd, dead_go_from_front)
{
    unsigned calls_made = 0;
    dead_front();
    talk_do(&talk, "ZADD", SEEN_KEY, "1", "owner-5000", (char *)NULL);
    talk_do(&talk, "DEL", LOCK, (char *)NULL);
    while (run(RL_ROW_FAIR, RL_ACQUIRE, "owner-1001").yes != 1)
        ck_assert_uint_lt(++calls_made, CROWD / 10 / 100);
    ck_assert_uint_gt(calls_made, 1);
    ck_assert_int_eq(talk_do(&talk, "LLEN", QUEUE_KEY, (char *)NULL).number,
                     CROWD - CROWD / 10 - 1);
    ck_assert_int_eq(talk_do(&talk, "ZCARD", TIMES_KEY, (char *)NULL).number,
                     CROWD - CROWD / 10 - 1);
    ck_assert_int_eq(talk_do(&talk, "ZCARD", SEEN_KEY, (char *)NULL).number,
                     CROWD - CROWD / 10 - 1);
    ck_assert(time_of("owner-5000") > 0);
}

CASE(crowd,
     .timeout_s = 60, .set_up_once = scripts_start, .tear_down_once = scripts_stop,
     .set_up = scripts_begin, .tear_down = scripts_end)
