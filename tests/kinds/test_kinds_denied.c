/* test_kinds_denied.c - the scripts of kinds that are not plain for a user who may not do all,
 * where data of another type stands in the way, and on a master without memory: nothing is
 * taken for another's that is not, and what is held is given up. */
#include "config_auto.h"

#include "kinds/name_set.h"
#include "script_talk.h"

#include <stdio.h>
#include <string.h>

#define FAIR_QUEUE "redisson_lock_queue:{k}"
#define FAIR_TIMEOUT "redisson_lock_timeout:{k}"
#define FAIR_SEEN "{k}:redlock:seen"

static int64_t number(const char *command, const char *key)
{
    return talk_do(&talk_here, command, key, (char *)NULL).number;
}

static bool text_is(const char *key, const char *text)
{
    struct wire_item item = talk_do(&talk_here, "GET", key, (char *)NULL);
    return item.type == '$' && item.len == strlen(text) &&
           memcmp(item.bytes, text, item.len) == 0;
}

/* Of the kind of this row, on the name "k" (several: and "m"), for one who is called so. */
static struct script_told run(struct talk *via, int row, enum rl_verb verb, const char *who)
{
    static const redlock_bytes names[] = {{.bytes = "k", .len = 1}, {.bytes = "m", .len = 1}};
    char waiter[RL_WAITER_MAX], packed[RL_NAMES_BYTES_MAX], why[160];
    struct script_call call = {
        .row = row,
        .name = "k",
        .owner = who,
        .token = who,
        .waiter = talk_waiter((unsigned)who[0], 1, waiter),
        .age_us = 1000,
        .ttl_ms = 60000,
        .reserve_ms = 20000,
        .queue_ms = 30000,
        .fair_ms = 5000,
        .writer_waiting_ms = 4000,
    };
    if (row == RL_ROW_SEVERAL) {
        call.name = packed;
        call.name_len = rl_names_pack(names, 2, packed, why, sizeof(why));
    }
    return script_run(via, verb, &call);
}

/* ---- several names ---------------------------------------------------------------------- */

static const enum rl_verb all_verbs[] = {RL_ACQUIRE,       RL_ACQUIRE_OR_QUEUE, RL_EXTEND,
                                         RL_RETAKE, RL_RELEASE,          RL_DEQUEUE};
enum { ALL_VERBS = sizeof(all_verbs) / sizeof(all_verbs[0]) };

/* Who may not look can't say whose it is: with "another's" a release would be done, and the
 * names be kept for their whole lease. */
TEST(denied, user_without_right_to_look_is_not_told_of_other_holder, .rows = ALL_VERBS)
{
    static const char *const rules[] = {"~*", "&*", "-get", NULL};
    struct talk restricted;
    talk_log_in(&talk_here, talk_masters, rules, &restricted);
    for (unsigned held = 0; held < 2; held++) {
        struct script_told told = run(&restricted, RL_ROW_SEVERAL, all_verbs[_i], "mine");
        ck_assert_int_eq(told.type, '-');
        ck_assert_int_eq(talk_do(&talk_here, "DBSIZE", (char *)NULL).number, 2 * held);
        ck_assert_int_eq(run(&talk_here, RL_ROW_SEVERAL, RL_ACQUIRE, "mine").yes, !held);
    }
    talk_close(&restricted);
}

/* A user without the right to leases gets no lock, and leaves none behind that never ends. */
TEST(denied, reader_without_right_to_lease_leaves_nothing, .rows = 2)
{
    static const char *const rules[] = {"~k",        "~{k}", "~{k}:redlock:*",
                                        "~redisson_*", "&*", NULL};
    struct talk restricted;
    talk_log_in(&talk_here, talk_masters, rules, &restricted);
    struct script_told told =
        run(&restricted, RL_ROW_READ, _i ? RL_ACQUIRE_OR_QUEUE : RL_ACQUIRE, "mine");
    ck_assert_msg(told.type == '-', "%s", told.text);
    ck_assert_int_eq(number("EXISTS", "k"), 0);
    talk_close(&restricted);
}

/* Data that stands under one of the names is not ours, and the other name is. */
TEST(denied, data_under_one_of_names_is_no_error)
{
    ck_assert_int_eq(run(&talk_here, RL_ROW_SEVERAL, RL_ACQUIRE, "mine").yes, 1);
    talk_do(&talk_here, "DEL", "m", (char *)NULL);
    talk_do(&talk_here, "RPUSH", "m", "some", "data", (char *)NULL);
    ck_assert_int_eq(run(&talk_here, RL_ROW_SEVERAL, RL_ACQUIRE, "new").yes, RL_REFUSED);
    struct script_told told = run(&talk_here, RL_ROW_SEVERAL, RL_EXTEND, "mine");
    ck_assert(told.type == '*' && told.yes == 0);
    told = run(&talk_here, RL_ROW_SEVERAL, RL_RETAKE, "mine");
    ck_assert(told.type == '*' && told.yes == 0);
    told = run(&talk_here, RL_ROW_SEVERAL, RL_DEQUEUE, "new");
    ck_assert(told.type == '*' && told.yes == 1);
    ck_assert(text_is("k", "mine"));
    told = run(&talk_here, RL_ROW_SEVERAL, RL_RELEASE, "mine");
    ck_assert(told.type == '*' && told.yes == 0);
    ck_assert_int_eq(number("EXISTS", "k"), 0);
    ck_assert_int_eq(number("LLEN", "m"), 2);
    told = run(&talk_here, RL_ROW_SEVERAL, RL_ACQUIRE_OR_QUEUE, "new");
    ck_assert(told.type == '*' && told.parts == 5 && told.yes == RL_REPLY_WRONGTYPE);
}

/* ---- another kind ----------------------------------------------------------------------- */

/* A plain lock's name: by the type alone, which looks no further. */
TEST(denied, which_locks_look_so_is_told)
{
    static const struct {
        const char *words[3], *what;
    } data[] = {
        {{"RPUSH", "x"}, "a list"},
        {{"HSET", "you", "2"}, "a hash (a reentrant, fair or read-write lock, or data)"},
        {{"ZADD", "1", "r:2:me:T"}, "a sorted set (a read-write lock, or data)"},
    };
    for (unsigned i = 0; i < sizeof(data) / sizeof(data[0]); i++) {
        talk_do(&talk_here, data[i].words[0], "k", data[i].words[1], data[i].words[2],
                (char *)NULL);
        struct script_told told = run(&talk_here, RL_ROW_PLAIN, RL_ACQUIRE, "me");
        ck_assert(told.yes == RL_REPLY_WRONGTYPE && told.parts == 4);
        ck_assert_str_eq(told.holder, data[i].what);
        told = run(&talk_here, RL_ROW_PLAIN, RL_ACQUIRE_OR_QUEUE, "me");
        ck_assert(told.yes == RL_REPLY_WRONGTYPE && told.parts == 5 && told.place == -1);
        ck_assert_str_eq(told.holder, data[i].what);
        ck_assert_int_eq(number("DEL", "k"), 1);
    }
}

/* On one master, who asks for a lock to read or to write is told which other stands there. */
TEST(denied, other_value_in_its_place_is_told)
{
    static const struct {
        const char *words[4], *ttl_ms, *what;
    } data[] = {
        {{"SET", "x"}, "60000", "a string (a plain lock, or data)"},
        {{"RPUSH", "x"}, NULL, "a list"},
        {{"ZADD", "1", "r:2:me:T"}, NULL, "a sorted set"},
        {{"HSET", "you", "2"}, "60000", "a reentrant or a fair lock"},
        {{"HSET", "you", "2"}, NULL, "a hash that is no lock"}, /* it would have an end */
        {{"HSET", "you", "x"}, "60000", "a hash that is no lock"},
        {{"HSET", "mode", "fast"}, "60000", "a hash that is no lock"},
    };
    for (unsigned i = 0; i < sizeof(data) / sizeof(data[0]); i++) {
        talk_do(&talk_here, data[i].words[0], "k", data[i].words[1], data[i].words[2],
                (char *)NULL);
        if (data[i].ttl_ms)
            talk_do(&talk_here, "PEXPIRE", "k", data[i].ttl_ms, (char *)NULL);
        for (int row = RL_ROW_READ; row <= RL_ROW_WRITE; row++) {
            struct script_told told = run(&talk_here, row, RL_ACQUIRE, "me");
            ck_assert_int_eq(told.yes, RL_REPLY_WRONGTYPE);
            ck_assert_str_eq(told.holder, data[i].what);
        }
        ck_assert_int_eq(number("DEL", "k"), 1);
    }
}

/* ---- what somebody else lost, or wrote -------------------------------------------------- */

/* The key that says which waiters are ours is evicted: those who are left are taken for
 * Redisson's, but not for ever. */
TEST(denied, queue_that_lost_whose_it_is_still_ends)
{
    ck_assert_int_eq(run(&talk_here, RL_ROW_FAIR, RL_ACQUIRE, "mine").yes, 1);
    ck_assert_int_eq(run(&talk_here, RL_ROW_FAIR, RL_ACQUIRE_OR_QUEUE, "dies").place, 0);
    ck_assert_int_eq(run(&talk_here, RL_ROW_FAIR, RL_ACQUIRE_OR_QUEUE, "leaves").place, 1);
    ck_assert_int_eq(number("DEL", FAIR_SEEN), 1);
    ck_assert_int_eq(run(&talk_here, RL_ROW_FAIR, RL_DEQUEUE, "leaves").yes, 1);
    ck_assert_int_eq(number("LLEN", FAIR_QUEUE), 1);
    ck_assert_int_gt(number("PTTL", FAIR_QUEUE), 0);
    ck_assert_int_gt(number("PTTL", FAIR_TIMEOUT), 0);
}

/* With a score that is no time, what is asked for is done, and said to be. */
static const char *const scores[] = {"inf", "1e300"};

TEST(denied, score_that_is_no_time_hinders_no_reader)
{
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_int_eq(run(&talk_here, RL_ROW_QREAD, RL_ACQUIRE, "mine").yes, 1);
        talk_do(&talk_here, "ZADD", "k", scores[i], "r:4:them:x", (char *)NULL);
        struct script_told told = run(&talk_here, RL_ROW_QREAD, RL_ACQUIRE, "other");
        ck_assert_msg(told.type == '*' && told.yes == 1, "%s: %s", scores[i], told.text);
        ck_assert_int_eq(number("ZCARD", "k"), 3);
        ck_assert_int_eq(number("DEL", "k"), 1);
    }
}

TEST(denied, score_that_is_no_time_hinders_no_release)
{
    static const int rows[] = {RL_ROW_QREAD, RL_ROW_QWRITE};
    for (unsigned i = 0; i < 4; i++) {
        int row = rows[i % 2];
        ck_assert_int_eq(run(&talk_here, row, RL_ACQUIRE, "mine").yes, 1);
        talk_do(&talk_here, "ZADD", "k", scores[i / 2], "r:4:them:x", (char *)NULL);
        struct script_told told = run(&talk_here, row, RL_RELEASE, "mine");
        ck_assert_msg(told.type == '*' && told.yes == 1, "%s: %s", scores[i / 2], told.text);
        ck_assert_int_eq(number("ZCARD", "k"), 1);
        ck_assert_int_eq(number("DEL", "k"), 1);
    }
}

/* ---- no memory -------------------------------------------------------------------------- */

static void set_memory(const char *bytes)
{
    ck_assert_int_eq(
        talk_do(&talk_here, "CONFIG", "SET", "maxmemory", bytes, (char *)NULL).type, '+');
}

/* Who asks is told who has it and for how long, and that it stands in no queue; who has it
 * gives it up. */
TEST(denied, master_without_memory_answers_waiters)
{
    static const int rows[] = {RL_ROW_PLAIN, RL_ROW_REENTRANT, RL_ROW_FAIR,  RL_ROW_SEVERAL,
                               RL_ROW_READ,  RL_ROW_WRITE,     RL_ROW_QREAD, RL_ROW_QWRITE};
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int row = rows[i];
        int holds = row == RL_ROW_READ    ? RL_ROW_WRITE
                    : row == RL_ROW_QREAD ? RL_ROW_QWRITE
                                          : row;
        ck_assert_int_eq(run(&talk_here, holds, RL_ACQUIRE, "mine").yes, 1);
        set_memory("1");
        struct script_told told = run(&talk_here, row, RL_ACQUIRE_OR_QUEUE, "other");
        struct script_told freed = run(&talk_here, holds, RL_RELEASE, "mine");
        set_memory("0");
        ck_assert_msg(told.type == '*', "%s: %s", rl_kind(row)->name, told.text);
        ck_assert(told.parts == 5 && told.yes == RL_REFUSED);
        ck_assert_msg(told.left_ms > 50000 && told.left_ms <= 60001, "%s: %d",
                      rl_kind(row)->name, (int)told.left_ms);
        ck_assert_uint_gt(told.holder_len, 0);
        ck_assert_msg(freed.type == '*' && freed.yes == 1, "%s: %s", rl_kind(row)->name,
                      freed.text);
        ck_assert_int_eq(talk_do(&talk_here, "DBSIZE", (char *)NULL).number, 0);
    }
}

/* Also who stands in the queue already: it keeps its place, but is not heard of. */
TEST(denied, place_in_queue_outlives_want_of_memory)
{
    ck_assert_int_eq(run(&talk_here, RL_ROW_FAIR, RL_ACQUIRE, "mine").yes, 1);
    ck_assert_int_eq(run(&talk_here, RL_ROW_FAIR, RL_ACQUIRE_OR_QUEUE, "first").place, 0);
    ck_assert_int_eq(run(&talk_here, RL_ROW_FAIR, RL_ACQUIRE_OR_QUEUE, "second").place, 1);
    set_memory("1");
    struct script_told told = run(&talk_here, RL_ROW_FAIR, RL_ACQUIRE_OR_QUEUE, "second");
    struct script_told late = run(&talk_here, RL_ROW_FAIR, RL_ACQUIRE_OR_QUEUE, "third");
    set_memory("0");
    ck_assert_msg(told.type == '*' && told.parts == 5, "%s", told.text);
    ck_assert(told.yes == 0 && told.place == -1 && strcmp(told.holder, "mine") == 0);
    ck_assert_msg(late.type == '*' && late.place == -1, "%s", late.text);
    ck_assert_int_eq(number("LLEN", FAIR_QUEUE), 2);
    ck_assert_int_eq(number("ZCARD", FAIR_SEEN), 2);
    ck_assert_int_eq(run(&talk_here, RL_ROW_FAIR, RL_ACQUIRE_OR_QUEUE, "second").place, 1);
    ck_assert_int_eq(run(&talk_here, RL_ROW_FAIR, RL_ACQUIRE_OR_QUEUE, "third").place, 2);
}

CASE(denied, TALK_FIXTURES, .timeout_s = 30)
