/* tags: long unsanitized */
/* test_scripts_fair.c - random operations of a few owners on locks of the fair kind, of
 * Redisson on the same ones, of time, of waiters that fall silent, and of whatever tears pieces
 * out of a queue: every answer, who is told, and what the keys hold afterwards must be the
 * model's. */
#include "config_auto.h"

#include "fair_model.h"
#include "fair_peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOCKS = 3, TOKENS = 6, OPERATIONS = 100000, SLACK_MS = 3, EDGE_MS = 6, APART_MS = 20 };

static const char *const name[LOCKS] = {"a", "a b%s", "{orders}:42"};
static const char *const stem[LOCKS] = {"{a}", "{a b%s}", "{orders}:42{}"}; /* of our keys */
static const int64_t peer_wait_ms[FAIR_OWNERS - FAIR_OURS] = {300000, 300000, 5000};

static struct fair lock[LOCKS];
static unsigned long peers, torn, strange, told_count, unsure;

static const char *key_of(unsigned i, char letter)
{
    static char key[FAIR_KEY_MAX];
    if (letter == 's' || letter == 'h')
        snprintf(key, sizeof(key), "%s:redlock:%s", stem[i], letter == 's' ? "seen" : "holds");
    else
        fair_peer_key(letter, name[i], key);
    return key;
}

/* ---- what the master has ---------------------------------------------------------------- */

static bool is(const struct wire_item *item, const char *text)
{
    return item->len == strlen(text) && memcmp(item->bytes, text, item->len) == 0;
}

static unsigned ask(struct frame *frame, const char *command, const char *key, bool scores,
                    struct wire_item items[])
{
    const char *words[] = {command, key, "0", "-1", "WITHSCORES"};
    size_t lens[5];
    for (unsigned i = 0; i < 5; i++)
        lens[i] = strlen(words[i]);
    return talk_ask(&frame->talk, scores ? 5 : 4, words, lens, items) - 1;
}

/* Are the times of a key those that the model has? From now on they are known exactly. */
static void compare_times(struct frame *frame, const char *key, struct fair_time times[])
{
    struct wire_item items[WIRE_ITEMS_MAX];
    unsigned count = ask(frame, "ZRANGE", key, true, items) / 2, known = 0;
    for (unsigned who = 0; who < FAIR_OWNERS; who++) {
        struct fair_time *time = &times[who];
        if (!time->known)
            continue;
        known++;
        unsigned i = 0;
        while (i < count && !is(&items[1 + 2 * i], fair_owner[who]))
            i++;
        FRAME_CHECK(frame, i < count);
        int64_t at = strtoll(items[2 + 2 * i].bytes, NULL, 10);
        FRAME_CHECK(frame, at >= time->at.low_ms - SLACK_MS);
        FRAME_CHECK(frame, at <= time->at.high_ms + SLACK_MS);
        time->at.low_ms = time->at.high_ms = at;
    }
    FRAME_CHECK(frame, known == count);
}

static void compare_queue(struct frame *frame, unsigned i)
{
    struct wire_item items[WIRE_ITEMS_MAX];
    struct fair *at = &lock[i];
    if (at->foreign[0])
        return;
    unsigned count = ask(frame, "LRANGE", key_of(i, 'Q'), false, items);
    FRAME_CHECK(frame, count == at->places);
    for (unsigned place = 0; place < count; place++)
        FRAME_CHECK(frame, is(&items[1 + place], fair_owner[at->place[place]]));
    compare_times(frame, key_of(i, 'O'), at->till);
    compare_times(frame, key_of(i, 's'), at->heard);
}

static void compare_lock(struct frame *frame, unsigned i)
{
    const struct reentrant *at = &lock[i].lock;
    struct wire_item items[WIRE_ITEMS_MAX];
    char count[24];
    const char *const words[] = {"HGETALL", name[i]};
    const size_t lens[] = {7, strlen(name[i])};
    if (!at->other[0]) {
        unsigned parts = talk_ask(&frame->talk, 2, words, lens, items);
        snprintf(count, sizeof(count), "%ld", at->count);
        FRAME_CHECK(frame, parts == (reentrant_held(at) ? 3 : 1));
        FRAME_CHECK(frame, parts == 1 || (is(&items[1], at->owner) && is(&items[2], count)));
    }
    frame_compare_life(frame, name[i], !reentrant_free(at), &at->life);
    FRAME_CHECK(frame, talk_do(&frame->talk, "SCARD", key_of(i, 'h'), (char *)NULL).number ==
                           __builtin_popcount(at->tokens));
}

static void expect_told(struct frame *frame, unsigned i, int told)
{
    struct talk_message messages[TALK_CALLS_MAX];
    char channel[FAIR_KEY_MAX];
    unsigned count = frame_heard(frame, messages);
    FRAME_CHECK(frame, count == (told >= 0));
    if (count == 0)
        return;
    fair_peer_channel(name[i], fair_owner[told], channel);
    FRAME_CHECK(frame, strcmp(messages[0].channel, channel) == 0);
    FRAME_CHECK(frame, strcmp(messages[0].text, "0") == 0);
    told_count++;
}

/* ---- time ------------------------------------------------------------------------------- */

static bool ends_within(const struct fair_time *time, int64_t more_ms, struct span when)
{
    int64_t end_ms = time->at.low_ms + more_ms;
    return time->known && end_ms >= when.low_ms - EDGE_MS && end_ms <= when.high_ms + EDGE_MS;
}

/* Does something of the queue end then: a time itself, or what it needs at any place? */
static bool on_edge(const struct fair *fair, struct span when)
{
    for (unsigned who = 0; who < FAIR_OWNERS; who++) {
        const struct fair_time *till = &fair->till[who];
        for (int place = 0; place < FAIR_OWNERS; place++) {
            if (ends_within(till, -(2 * place + 1) * FAIR_SHARE_MS / 2, when))
                return true;
        }
        if (ends_within(till, 0, when) || ends_within(&fair->heard[who], FAIR_LIFE_MS, when))
            return true;
    }
    return false;
}

/* Nothing should come to its end in the midst of an operation, */
static void pass_edges(unsigned i)
{
    struct span soon;
    do {
        soon.low_ms = fair_wall_ms();
        soon.high_ms = soon.low_ms + EDGE_MS;
    } while (on_edge(&lock[i], soon) && (pause_ms(1), true));
}

/* and where it may have done so, on a busy machine, nobody knows the answer: all of that lock
 * is forgotten. */
static void forget(struct frame *frame, unsigned i)
{
    struct talk_message messages[TALK_CALLS_MAX];
    frame_heard(frame, messages);
    talk_do(&frame->talk, "DEL", name[i], key_of(i, 'h'), (char *)NULL);
    for (const char *letter = "QOs"; *letter; letter++)
        talk_do(&frame->talk, "DEL", key_of(i, *letter), (char *)NULL);
    lock[i] = (struct fair){
        .mended = lock[i].mended, .dropped = lock[i].dropped, .lifted = lock[i].lifted};
}

static bool is_unsure(struct frame *frame, unsigned i, struct span when)
{
    if (!on_edge(&lock[i], when) && when.high_ms - when.low_ms < APART_MS / 2)
        return false;
    forget(frame, i);
    return true;
}

/* Does nobody know who of two is waited for until sooner? A time that the operation at hand has
 * set, from a lease's end maybe, may be off by the slack that compare_times() allows. */
static bool is_order_unsure(const struct fair *fair, unsigned who)
{
    const struct fair_time *own = &fair->till[who];
    for (unsigned other = 0; other < FAIR_OWNERS; other++) {
        const struct fair_time *till = &fair->till[other];
        if (other != who && till->known && own->known &&
            till->at.low_ms <= own->at.high_ms + SLACK_MS &&
            own->at.low_ms <= till->at.high_ms + SLACK_MS)
            return true;
    }
    return false;
}

static void await_ends(struct frame *frame, unsigned i)
{
    struct reentrant *at = &lock[i].lock;
    struct span when = {.low_ms = now_ms(), .high_ms = now_ms()};
    if (reentrant_held(at) && life_ends_soon(&at->life, when)) {
        frame_await_gone(frame, name[i]);
        reentrant_lock_gone(at);
    }
    if (at->tokens != 0 && life_ends_soon(&at->holds_life, when)) {
        frame_await_gone(frame, key_of(i, 'h'));
        reentrant_holds_gone(at);
    }
}

static void run_out(struct frame *frame, unsigned i)
{
    struct reentrant *at = &lock[i].lock;
    snprintf(frame->doing, sizeof(frame->doing), "'%s' runs out", name[i]);
    if (reentrant_held(at)) {
        frame_runs_out(frame, name[i]);
        reentrant_lock_gone(at);
    }
    if (at->tokens != 0 && frame_draw(frame, 2)) {
        frame_runs_out(frame, key_of(i, 'h'));
        reentrant_holds_gone(at);
    }
}

static void put_time(struct frame *frame, const char *key, struct fair_time *time, unsigned who,
                     int64_t at)
{
    char text[24];
    snprintf(text, sizeof(text), "%lld", (long long)at);
    talk_do(&frame->talk, "ZADD", key, text, fair_owner[who], (char *)NULL);
    time->at.low_ms = time->at.high_ms = at;
}

/* Some are silent for long, or have stood there for long, or for too long. */
static void grow_old(struct frame *frame, unsigned i)
{
    static const int64_t left_ms[] = {-1000, 1000, FAIR_SHARE_MS / 3};
    int64_t now = fair_wall_ms(), left = left_ms[frame_draw(frame, 3)];
    bool silent = frame_draw(frame, 2);
    snprintf(frame->doing, sizeof(frame->doing), "those who wait for '%s' grow old", name[i]);
    for (unsigned who = 0; who < FAIR_OWNERS; who++) {
        struct fair_time *heard = &lock[i].heard[who], *till = &lock[i].till[who];
        if (silent && heard->known && frame_draw(frame, 2))
            put_time(frame, key_of(i, 's'), heard, who, now - FAIR_LIFE_MS - 100);
        if (!silent && till->known)
            put_time(frame, key_of(i, 'O'), till, who, now + left + who * APART_MS);
    }
}

/* ---- the library's scripts -------------------------------------------------------------- */

static void draw_call(struct frame *frame, unsigned i, struct fair_call *ret)
{
    const struct fair *at = &lock[i];
    ret->who = frame_draw(frame, FAIR_OURS);
    for (unsigned who = 0; who < FAIR_OURS; who++) {
        if (frame_draw(frame, 3) == 0 && strcmp(at->lock.owner, fair_owner[who]) == 0)
            ret->who = who;
    }
    if (frame_draw(frame, 3) == 0 && at->places > 0 && at->place[0] < FAIR_OURS)
        ret->who = at->place[0];
    ret->token = frame_draw(frame, TOKENS);
    if (at->lock.tokens != 0 && frame_draw(frame, 2)) {
        while (!(at->lock.tokens & 1u << ret->token))
            ret->token = frame_draw(frame, TOKENS);
    }
    ret->ttl_ms = frame_draw_ttl(frame);
    ret->wakes = frame_draw(frame, 4) > 0;
}

static void run_script(struct frame *frame, unsigned i, enum rl_verb verb)
{
    struct fair_call call;
    char token[16];
    int expect;
    draw_call(frame, i, &call);
    snprintf(token, sizeof(token), "token-%u", call.token);
    struct script_call script = {
        .row = REDLOCK_FAIR,
        .name = name[i],
        .owner = fair_owner[call.who],
        .token = token,
        .ttl_ms = call.ttl_ms,
        .reserve_ms = call.wakes ? 20 : 0,
        .fair_ms = FAIR_LIFE_MS,
    };
    call.now.low_ms = fair_wall_ms();
    struct script_told told = frame_run(frame, verb, &script, &call.when);
    call.now.high_ms = fair_wall_ms();
    if (is_unsure(frame, i, call.now))
        return;
    struct frame_answer expected = fair_run(&lock[i], verb, &call, &expect);
    if (verb == RL_ACQUIRE_OR_QUEUE && is_order_unsure(&lock[i], call.who)) {
        unsure++;
        forget(frame, i);
        return;
    }
    frame_compare(frame, &told, &expected);
    expect_told(frame, i, expect);
}

/* ---- Redisson --------------------------------------------------------------------------- */

static void peer(struct frame *frame, unsigned i)
{
    static const unsigned weights[] = {6, 2, 5, 2};
    static const char *const does[] = {"lock()", "tryLock()", "unlock()", "giving up"};
    unsigned nth = frame_draw(frame, FAIR_OWNERS - FAIR_OURS), what;
    struct fair_call call = {.who = FAIR_OURS + nth, .ttl_ms = 2 * HOUR_MS};
    struct fair_peer peer = {.talk = &frame->talk,
                             .name = name[i],
                             .owner = fair_owner[call.who],
                             .lease_ms = call.ttl_ms,
                             .wait_ms = peer_wait_ms[nth]};
    int expect = -1;
    int64_t said = 1;
    if (lock[i].lock.other[0] || lock[i].foreign[0])
        return; /* to Redisson's scripts that is an error */
    peers++;
    what = frame_choose(frame, weights, 4);
    snprintf(frame->doing, sizeof(frame->doing), "Redisson's %s of '%s' for '%s'", does[what],
             name[i], peer.owner);
    call.now.low_ms = fair_wall_ms();
    call.when.low_ms = now_ms();
    if (what == 0)
        said = fair_peer_locks(&peer);
    else if (what == 1)
        said = fair_peer_tries(&peer);
    else if (what == 2)
        said = fair_peer_unlocks(&peer);
    else
        fair_peer_leaves(&peer);
    call.when.high_ms = now_ms() + 1;
    call.now.high_ms = fair_wall_ms();
    if (is_unsure(frame, i, call.now))
        return;
    if (what < 2)
        FRAME_CHECK(frame, said == fair_peer_lock(&lock[i], &call, peer.wait_ms, what == 0));
    else if (what == 2)
        FRAME_CHECK(frame, said == fair_peer_unlock(&lock[i], &call, &expect));
    else
        fair_peer_gives_up(&lock[i], &call, peer.wait_ms);
    expect_told(frame, i, expect);
}

/* ---- what else happens ------------------------------------------------------------------ */

static void tear_one(struct frame *frame, unsigned i)
{
    struct fair *at = &lock[i];
    unsigned who = frame_draw(frame, FAIR_OWNERS);
    if (frame_draw(frame, 2)) {
        talk_do(&frame->talk, "ZREM", key_of(i, 'O'), fair_owner[who], (char *)NULL);
        at->till[who].known = false;
        return;
    }
    talk_do(&frame->talk, "LREM", key_of(i, 'Q'), "1", fair_owner[who], (char *)NULL);
    for (unsigned place = 0; place < at->places; place++) {
        if (at->place[place] == who) {
            fair_take_out(at, place);
            return;
        }
    }
}

/* Pieces of a queue vanish, as after a failover or by an eviction, or are there twice. */
static void tear(struct frame *frame, unsigned i)
{
    struct fair *at = &lock[i];
    unsigned what = frame_draw(frame, 8);
    snprintf(frame->doing, sizeof(frame->doing), "the queue of '%s' is torn (%u)", name[i],
             what);
    torn++;
    if (what == 0) {
        talk_do(&frame->talk, "DEL", key_of(i, 'Q'), (char *)NULL);
        at->places = 0;
    } else if (what == 1 || what == 2) {
        struct fair_time *times = what == 1 ? at->till : at->heard;
        talk_do(&frame->talk, "DEL", key_of(i, what == 1 ? 'O' : 's'), (char *)NULL);
        for (unsigned who = 0; who < FAIR_OWNERS; who++)
            times[who].known = false;
    } else if (what == 3 && at->places < 10) {
        unsigned who = frame_draw(frame, FAIR_OWNERS);
        talk_do(&frame->talk, "RPUSH", key_of(i, 'Q'), fair_owner[who], (char *)NULL);
        at->place[at->places++] = who;
    } else {
        tear_one(frame, i);
    }
}

/* Somebody's data comes, and goes: under the lock's name, or where a queue would be. */
static void other(struct frame *frame, unsigned i)
{
    static const char queue_letters[] = "QOs";
    struct fair *at = &lock[i];
    snprintf(frame->doing, sizeof(frame->doing), "data comes or goes at '%s'", name[i]);
    if (at->lock.other[0]) {
        talk_do(&frame->talk, "DEL", name[i], (char *)NULL);
        reentrant_lock_gone(&at->lock);
    } else if (at->foreign[0]) {
        for (const char *letter = queue_letters; *letter; letter++)
            talk_do(&frame->talk, "DEL", key_of(i, *letter), (char *)NULL);
        at->foreign[0] = '\0';
    } else if (reentrant_free(&at->lock) && frame_draw(frame, 2)) {
        talk_do(&frame->talk, "SET", name[i], "value", (char *)NULL);
        snprintf(at->lock.other, sizeof(at->lock.other), "a string (a plain lock, or data)");
        at->lock.life.for_ever = true;
        strange++;
    } else if (at->places == 0 && frame_draw(frame, 4) == 0) {
        for (unsigned who = 0; who < FAIR_OWNERS; who++)
            at->till[who].known = at->heard[who].known = false;
        for (const char *letter = queue_letters; *letter; letter++)
            talk_do(&frame->talk, "DEL", key_of(i, *letter), (char *)NULL);
        const char *key = key_of(i, queue_letters[frame_draw(frame, 3)]);
        talk_do(&frame->talk, "SET", key, "value", (char *)NULL);
        snprintf(at->foreign, sizeof(at->foreign),
                 "a string where the queue of a fair lock would be, in %s", key);
        strange++;
    }
}

/* ---- all of it -------------------------------------------------------------------------- */

static void begin(struct frame *frame)
{
    char channel[FAIR_KEY_MAX];
    for (unsigned i = 0; i < LOCKS; i++) {
        for (unsigned who = 0; who < FAIR_OWNERS; who++)
            frame_listen(frame, fair_peer_channel(name[i], fair_owner[who], channel));
    }
}

static void step(struct frame *frame)
{
    static const enum rl_verb verbs[] = {RL_ACQUIRE_OR_QUEUE, RL_RELEASE,       RL_ACQUIRE,
                                         RL_EXTEND,           RL_RETAKE, RL_DEQUEUE};
    static const unsigned weights[] = {36, 20, 6, 4, 3, 6, 14, 3, 3, 1, 2};
    unsigned i = frame_draw(frame, LOCKS), what = frame_choose(frame, weights, 11);
    pass_edges(i);
    if (what < 6)
        run_script(frame, i, verbs[what]);
    else if (what == 6)
        peer(frame, i);
    else if (what == 7)
        grow_old(frame, i);
    else if (what == 8)
        run_out(frame, i);
    else if (what == 9 && !lock[i].foreign[0])
        tear(frame, i);
    else if (what == 10)
        other(frame, i);
    await_ends(frame, i);
    compare_queue(frame, i);
    compare_lock(frame, i);
}

static void expect_no_dull_life(struct frame *frame)
{
    unsigned long least = frame->operations / 2500, sum[3] = {0};
    static const enum rl_verb both[] = {RL_ACQUIRE, RL_ACQUIRE_OR_QUEUE, RL_EXTEND,
                                        RL_RETAKE, RL_RELEASE};
    for (unsigned v = 0; v < sizeof(both) / sizeof(both[0]); v++) {
        ck_assert_uint_gt(frame->codes[both[v]][0], least);
        ck_assert_uint_gt(frame->codes[both[v]][1], least);
    }
    for (unsigned i = 0; i < LOCKS; i++) {
        sum[0] += lock[i].mended;
        sum[1] += lock[i].dropped;
        sum[2] += lock[i].lifted;
    }
    for (unsigned which = 0; which < 3; which++)
        ck_assert_uint_gt(sum[which], least);
    ck_assert_uint_gt(frame->codes[RL_ACQUIRE_OR_QUEUE][3], least);
    ck_assert_uint_gt(frame->ran_out, least);
    ck_assert_uint_gt(told_count, least);
    ck_assert_uint_gt(torn, least);
    ck_assert_uint_gt(strange, least);
    ck_assert_uint_gt(peers, least);
    printf("told %lu times; queues mended %lu times, %lu dropped, %lu lifted; %lu times the "
           "order was unsure\n",
           told_count, sum[0], sum[1], sum[2], unsure);
}

/* Everybody goes, and nothing stays. */
static void end(struct frame *frame)
{
    if (frame->operations >= OPERATIONS)
        expect_no_dull_life(frame);
    for (unsigned i = 0; i < LOCKS; i++) {
        while (lock[i].foreign[0] || lock[i].lock.other[0])
            other(frame, i);
        for (unsigned who = 0; who < FAIR_OWNERS; who++) {
            struct script_call call = {.row = REDLOCK_FAIR,
                                       .name = name[i],
                                       .owner = fair_owner[who],
                                       .fair_ms = FAIR_LIFE_MS};
            script_run(&frame->talk, RL_DEQUEUE, &call);
        }
        talk_do(&frame->talk, "DEL", name[i], key_of(i, 'h'), (char *)NULL);
    }
    ck_assert_int_eq(talk_do(&frame->talk, "DBSIZE", (char *)NULL).number, 0);
}

int main(void)
{
    static const struct frame_play play = {"scripts_fair", OPERATIONS, begin, step, end};
    return frame_main(&play);
}
