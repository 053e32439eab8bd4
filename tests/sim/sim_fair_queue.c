/* sim_fair_queue.c - see sim_fair.h: fair_queue.lua, said in C. */
#include "config_auto.h"

#include "sim_fair.h"

#include <stdio.h>

#define DAYS_MS (30 * 86400000.0)

/* Members, copied: what they are of changes meanwhile. */
struct list {
    struct sim_member *member;
    size_t count, size;
};

static bool same(const struct sim_member *member, const struct sim_word *word)
{
    return member->len == word->len && memcmp(member->text, word->bytes, word->len) == 0;
}

static struct sim_word word_of(const struct sim_member *member)
{
    return (struct sim_word){member->text, member->len};
}

static struct sim_key *key_of(const struct sim_fair *fair, const struct sim_word *name)
{
    return sim_script_key(fair->run, name);
}

bool sim_fair_may(const struct sim_fair *fair, unsigned flags, const char *where)
{
    const char *error = sim_script_enter(fair->run, flags);
    if (error)
        sim_script_fail(fair->run, where, error);
    return !error;
}

bool sim_fair_begin(struct sim_fair *fair, struct sim_run *run)
{
    *fair = (struct sim_fair){
        .run = run,
        .queue = sim_keys_at(run, 3),
        .times = sim_keys_at(run, 4),
        .seen = sim_keys_at(run, 5),
    };
    assert(run->n_keys == 6 && run->n_args > 0);
    if (!sim_fair_may(fair, SIM_STALE | SIM_WHILE_LOADING, "redis.call('TIME'"))
        return false;
    fair->now_ms = (double)(sim_wall_ns(run->call->server) / SIM_MS);
    bool is_number = sim_lua_number(sim_argv_at(run, run->n_args), &fair->life_ms);
    assert(is_number);
    return is_number;
}

static void copy(const struct sim_key *key, struct list *list)
{
    size_t count = key ? key->members : 0;
    list->count = count;
    if (count > list->size) {
        list->size = 2 * count;
        list->member = sim_grown(list->member, list->size * sizeof(struct sim_member));
    }
    if (count > 0)
        memcpy(list->member, key->member, count * sizeof(struct sim_member));
}

/* NULL: it is not in there. */
static struct sim_member *in_list(const struct list *list, const struct sim_word *who)
{
    for (size_t i = 0; i < list->count; i++) {
        if (same(&list->member[i], who))
            return &list->member[i];
    }
    return NULL;
}

bool sim_fair_score(const struct sim_fair *fair, const struct sim_word *set,
                    const struct sim_word *who, double *ret)
{
    const struct sim_key *key = key_of(fair, set);
    size_t which = key ? sim_member_find(key, who->bytes, who->len) : 0;
    if (!key || which == key->members)
        return false;
    *ret = key->member[which].score;
    return true;
}

static void persist(const struct sim_fair *fair, const struct sim_word *name)
{
    struct sim_key *key = key_of(fair, name);
    if (key && key->end_ms != SIM_NEVER)
        sim_key_end(key, fair->run->call, SIM_NEVER);
}

bool sim_fair_set_end(const struct sim_fair *fair)
{
    if (!key_of(fair, fair->seen) && !fair->lost) {
        if (!sim_fair_may(fair, SIM_WRITES, "redis.call('PERSIST'"))
            return false;
        persist(fair, fair->queue);
        persist(fair, fair->times);
        return true;
    }
    const struct sim_key *times = key_of(fair, fair->times);
    double last = times ? times->member[times->members - 1].score : 0;
    double till = (fair->now_ms > last ? fair->now_ms : last) + SIM_FAIR_SHARE_MS + 60000;
    if (till > fair->now_ms + DAYS_MS)
        till = fair->now_ms + DAYS_MS;
    const struct sim_word *const keys[] = {fair->queue, fair->times, fair->seen};
    for (size_t i = 0; i < 3; i++) {
        const char *error = sim_script_pexpireat(fair->run, keys[i], till);
        if (error) {
            sim_script_fail(fair->run, "redis.call('PEXPIREAT'", error);
            return false;
        }
    }
    return true;
}

/* ---- mending --------------------------------------------------------------------------- */

static void erase(const struct sim_fair *fair, const struct sim_word *name)
{
    struct sim_key *key = key_of(fair, name);
    if (key)
        sim_key_delete(key, fair->run->call, SIM_DELETED);
}

static void push(const struct sim_fair *fair, const struct sim_member *who)
{
    sim_list_push(fair->run->call->server, fair->run->call->db, fair->queue, who->text,
                  who->len);
}

static void add(const struct sim_fair *fair, const struct sim_word *set, double score,
                const struct sim_word *who)
{
    struct sim_key *key = key_of(fair, set);
    sim_member_put(fair->run->call->server, fair->run->call->db, set, &key, score, who->bytes,
                   who->len);
}

/* Was it there, further to the front? */
static bool is_done(const struct list *queue, size_t i)
{
    struct sim_word who = word_of(&queue->member[i]);
    for (size_t k = 0; k < i; k++) {
        if (same(&queue->member[k], &who))
            return true;
    }
    return false;
}

/* Those without a place are behind all that have one. */
static void append_times(struct list *queue, const struct list *times)
{
    size_t count = queue->count + times->count;
    if (count > queue->size) {
        queue->size = 2 * count;
        queue->member = sim_grown(queue->member, queue->size * sizeof(struct sim_member));
    }
    if (times->count > 0)
        memcpy(queue->member + queue->count, times->member,
               times->count * sizeof(struct sim_member));
    queue->count = count;
}

static bool mend(const struct sim_fair *fair)
{
    static struct list queue, times, seen;
    int64_t lock_ms;
    copy(key_of(fair, fair->queue), &queue);
    copy(key_of(fair, fair->times), &times);
    copy(key_of(fair, fair->seen), &seen);
    size_t placed = queue.count;
    sim_script_pttl(fair->run, sim_keys_at(fair->run, 1), &lock_ms);
    double last = fair->now_ms + (lock_ms > 0 ? (double)lock_ms : 0), less = 0;
    bool front = true;
    append_times(&queue, &times);
    if (!sim_fair_may(fair, SIM_WRITES, "redis.call('DEL', KEYS[3]"))
        return false;
    erase(fair, fair->queue);
    erase(fair, fair->times);
    erase(fair, fair->seen);
    for (size_t i = 0; i < queue.count; i++) {
        struct sim_word who = word_of(&queue.member[i]);
        const struct sim_member *heard = in_list(&seen, &who), *timed = in_list(&times, &who);
        double till =
            timed ? timed->score - less : last + (heard ? SIM_FAIR_SHARE_MS : fair->life_ms);
        bool over = till <= fair->now_ms && (front || i >= placed);
        bool done = is_done(&queue, i);
        if (heard) {
            over = heard->score + fair->life_ms < fair->now_ms;
            less += over && !done ? SIM_FAIR_SHARE_MS : 0;
        }
        if (over || done)
            continue;
        if (!sim_fair_may(fair, SIM_WRITES | SIM_DENYOOM, "redis.call('RPUSH'"))
            return false;
        push(fair, &queue.member[i]);
        add(fair, fair->times, till, &who);
        if (heard)
            add(fair, fair->seen, heard->score, &who);
        last = till;
        front = false;
    }
    return sim_fair_set_end(fair);
}

/* ---- moving --------------------------------------------------------------------------- */

static size_t rank(const struct sim_fair *fair, const struct sim_word *who)
{
    const struct sim_key *times = key_of(fair, fair->times);
    size_t which = times ? sim_member_find(times, who->bytes, who->len) : 0;
    return times && which < times->members ? which : 0;
}

/* The part of the queue that move() looks at. */
static void copy_part(const struct sim_fair *fair, const struct sim_word *who,
                      struct list *queue, bool *ret_long)
{
    copy(key_of(fair, fair->queue), queue);
    *ret_long = queue->count > SIM_FAIR_MOST;
    if (!*ret_long)
        return;
    size_t place = who ? rank(fair, who) : 0, most = 3 * SIM_FAIR_MOST + 1;
    size_t from = place > SIM_FAIR_MOST ? place - SIM_FAIR_MOST : 0;
    queue->count = queue->count > from ? queue->count - from : 0;
    queue->count = queue->count < most ? queue->count : most;
    memmove(queue->member, queue->member + from, queue->count * sizeof(queue->member[0]));
}

bool sim_fair_move(const struct sim_fair *fair, const struct sim_word *who, double ms,
                   bool itself)
{
    static struct list queue;
    static struct sim_member to[SIM_FAIR_MOST];
    struct list moved = {.member = to};
    bool behind = !who, is_long, bounded = false;
    double before = 0, till;
    copy_part(fair, who, &queue, &is_long);
    for (size_t i = 0; i < queue.count && moved.count < SIM_FAIR_MOST; i++) {
        struct sim_word other = word_of(&queue.member[i]);
        bool is_who = who && same(&queue.member[i], who);
        if ((behind || (itself && is_who)) && !in_list(&moved, &other) &&
            sim_fair_score(fair, fair->times, &other, &till)) {
            till += ms;
            if (is_long && ms < 0 && bounded && before + SIM_FAIR_SHARE_MS < till)
                till = before + SIM_FAIR_SHARE_MS;
            moved.member[moved.count] = queue.member[i];
            moved.member[moved.count++].score = before = till;
            bounded = true;
        } else if (is_who && i > 0) {
            struct sim_word last = word_of(&queue.member[i - 1]);
            bounded = sim_fair_score(fair, fair->times, &last, &before);
        }
        behind = behind || is_who;
    }
    if (moved.count > 0 &&
        !sim_fair_may(fair, SIM_WRITES | SIM_DENYOOM, "redis.call('ZADD', KEYS[4], unp"))
        return false;
    for (size_t i = 0; i < moved.count; i++) {
        struct sim_word other = word_of(&to[i]);
        add(fair, fair->times, to[i].score, &other);
    }
    return true;
}

/* ---- the front of a long queue ---------------------------------------------------------- */

static void look(const struct sim_fair *fair, struct sim_fair_first *ret)
{
    const struct sim_key *queue = key_of(fair, fair->queue);
    ret->head = (struct sim_word){NULL, 0};
    if (!queue)
        return;
    memcpy(ret->text, queue->member[0].text, queue->member[0].len + 1);
    ret->head = (struct sim_word){ret->text, queue->member[0].len};
}

static bool clear_front(const struct sim_fair *fair)
{
    static struct sim_fair_first first;
    double less = 0, till, heard;
    bool there;
    for (unsigned i = 0; i < SIM_FAIR_MOST; i++) {
        look(fair, &first);
        if (!first.head.bytes || !sim_fair_score(fair, fair->times, &first.head, &till))
            break;
        bool ours = sim_fair_score(fair, fair->seen, &first.head, &heard);
        if (ours ? heard + fair->life_ms >= fair->now_ms : till - less > fair->now_ms)
            break;
        if (!sim_fair_may(fair, SIM_WRITES, "redis.call('LREM', KEYS[3], 1, head)"))
            return false;
        sim_list_remove(key_of(fair, fair->queue), 0);
        sim_script_zrem(fair->run, fair->times, &first.head, &there);
        sim_script_zrem(fair->run, fair->seen, &first.head, &there);
        less += ours ? SIM_FAIR_SHARE_MS : 0;
    }
    if (less > 0 && !sim_fair_move(fair, NULL, -less, false))
        return false;
    look(fair, &first);
    bool damaged = first.head.bytes && !sim_fair_score(fair, fair->times, &first.head, &till);
    return damaged ? mend(fair) : sim_fair_set_end(fair);
}

/* ---- who is first ----------------------------------------------------------------------- */

/* What stands there and is not of that type. */
static bool is_other(const struct sim_fair *fair, const struct sim_word *name,
                     enum sim_type type, struct sim_fair_first *ret)
{
    const struct sim_key *key = key_of(fair, name);
    if (!key || key->type == type)
        return false;
    snprintf(ret->foreign, sizeof(ret->foreign),
             "a %s where the queue of a fair lock would be, in %.*s",
             key->type == SIM_ZSET ? "sorted set" : sim_type_name(key->type), (int)name->len,
             name->bytes);
    return true;
}

/* So our own are, which are in both sets. */
static bool is_timed(const struct sim_fair *fair, const struct sim_member *member)
{
    const struct sim_word who = {member->text, strlen(member->text)};
    double till;
    return sim_fair_score(fair, fair->times, &who, &till);
}

bool sim_fair_first(struct sim_fair *fair, struct sim_fair_first *ret)
{
    double till, heard;
    ret->foreign[0] = '\0';
    ret->head = (struct sim_word){NULL, 0};
    if (!sim_fair_may(fair, 0, "redis.call('LLEN', KEYS[3])\n"))
        return false;
    if (is_other(fair, fair->queue, SIM_LIST, ret) ||
        is_other(fair, fair->times, SIM_ZSET, ret) || is_other(fair, fair->seen, SIM_ZSET, ret))
        return true;
    const struct sim_key *queue = key_of(fair, fair->queue);
    const struct sim_key *times = key_of(fair, fair->times), *seen = key_of(fair, fair->seen);
    if (seen && seen->end_ms == SIM_NEVER && !is_timed(fair, &seen->member[0])) {
        snprintf(ret->foreign, sizeof(ret->foreign), "a sorted set without an end in %.*s",
                 (int)fair->seen->len, fair->seen->bytes);
        return true;
    }
    fair->lost = queue && !seen && queue->end_ms != SIM_NEVER;
    look(fair, ret);
    bool torn = (queue ? queue->members : 0) != (times ? times->members : 0);
    bool silent = seen && seen->member[0].score + fair->life_ms < fair->now_ms, lost = false;
    bool timed = false, is_long = queue && queue->members > SIM_FAIR_MOST;
    if (ret->head.bytes) {
        timed = sim_fair_score(fair, fair->times, &ret->head, &till);
        bool ours = sim_fair_score(fair, fair->seen, &ret->head, &heard);
        lost = !(timed && (ours || till > fair->now_ms));
    }
    if (!torn && !silent && !lost)
        return true;
    if (!(is_long && !torn && timed ? clear_front(fair) : mend(fair)))
        return false;
    look(fair, ret);
    return true;
}

int64_t sim_fair_left_ms(const struct sim_fair *fair, const struct sim_word *head)
{
    double till = 0, heard;
    if (sim_fair_score(fair, fair->seen, head, &heard))
        till = heard + fair->life_ms;
    else
        sim_fair_score(fair, fair->times, head, &till);
    return till > fair->now_ms ? (int64_t)(till - fair->now_ms + 1) : 1;
}

/* ---- who goes --------------------------------------------------------------------------- */

bool sim_fair_drop(const struct sim_fair *fair, const struct sim_word *who)
{
    double till;
    struct sim_key *key;
    bool there;
    if (!sim_fair_may(fair, SIM_WRITES, "redis.call('ZREM', KEYS[5], who)"))
        return false;
    sim_script_zrem(fair->run, fair->seen, who, &there);
    if (sim_fair_score(fair, fair->times, who, &till)) {
        if (!sim_fair_move(fair, who, -SIM_FAIR_SHARE_MS, false))
            return false;
        for (size_t i = 0; (key = key_of(fair, fair->queue)) && i < key->members;) {
            if (same(&key->member[i], who))
                sim_list_remove(key, i);
            else
                i++;
        }
        sim_script_zrem(fair->run, fair->times, who, &there);
    }
    return sim_fair_set_end(fair);
}
