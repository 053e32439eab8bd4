/* sim_scripts_lists.c - lists_join.lua, said in C: which node lists the clients of a model
 * master have. The key is told to no oracle, for it is no lock. */
#include "config_auto.h"

#include "sim_script_parts.h"

#include "config/list_mark.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHOWN_MAX = 32, NAMED_MAX = 4, TTL_MAX_MS = 604800000 };

struct shown {
    struct sim_member member;
    double seen;
    bool timed; /* its value is a time */
    bool former; /* it stands with those of the former format of keys */
};

struct lists {
    double now, margin, last;
    unsigned count, others;
    struct shown shown[SHOWN_MAX];
    char names[NAMED_MAX * (SIM_MEMBER_MAX + 1)];
};

/* ---- a mark ----------------------------------------------------------------------------- */

/* One byte of that class or more. */
static bool pass(const char **at, int (*is)(int))
{
    const char *begin = *at;
    while (is((unsigned char)**at))
        (*at)++;
    return *at > begin;
}

static bool pass_text(const char **at, const char *text)
{
    size_t len = strlen(text);
    if (strncmp(*at, text, len) != 0)
        return false;
    *at += len;
    return true;
}

/* False: it is no mark. */
static bool max_ttl_of(const char *mark, double *ret_ttl)
{
    const char *at = mark;
    if (strlen(mark) > RL_LIST_MARK_MAX || !pass_text(&at, "n") || !pass(&at, isdigit) ||
        !pass_text(&at, "-ttl"))
        return false;
    const char *digits = at;
    if (!pass(&at, isdigit))
        return false;
    const struct sim_word ttl = {digits, (size_t)(at - digits)};
    if (!sim_lua_number(&ttl, ret_ttl) || !pass_text(&at, "-"))
        return false;
    *ret_ttl = *ret_ttl > TTL_MAX_MS ? TTL_MAX_MS : *ret_ttl;
    const char *rest = at;
    while (isalnum((unsigned char)*at) || *at == '-')
        at++;
    return at > rest && *at == '\0';
}

static double left(const struct lists *lists, const char *mark, double seen, bool timed)
{
    double ttl;
    return timed && max_ttl_of(mark, &ttl) ? seen + ttl + lists->margin - lists->now : 0;
}

/* ---- commands --------------------------------------------------------------------------- */

static const char *show(struct sim_run *run, const char *mark, size_t len, double seen)
{
    char text[SIM_VALUE_MAX + 1];
    const struct sim_word *name = sim_keys_at(run, 1);
    struct sim_key *key = sim_script_key(run, name);
    const char *error = sim_script_enter(run, SIM_WRITES | SIM_DENYOOM);
    if (error)
        return error;
    int digits = snprintf(text, sizeof(text), "%.0f", seen);
    sim_member_set(run->call->server, run->call->db, name, &key, SIM_HASH,
                   &(struct sim_word){mark, len}, &(struct sim_word){text, (size_t)digits});
    return NULL;
}

static const char *hide(struct sim_run *run, const struct sim_member *member)
{
    struct sim_key *key = sim_script_key(run, sim_keys_at(run, 1));
    const char *error = sim_script_enter(run, SIM_WRITES);
    if (!error)
        sim_member_remove(key, sim_member_find(key, member->text, member->len));
    return error;
}

/* What stands there, since the hash changes on the way. */
static const char *read_all(struct sim_run *run, const struct sim_word *name, bool former,
                            struct lists *ret)
{
    const struct sim_key *key = sim_script_key(run, name);
    const char *error = sim_script_enter(run, 0);
    if (error)
        return error;
    if (key && key->type != SIM_HASH)
        return sim_wrong_type;
    assert(!key || ret->count + key->members <= SHOWN_MAX);
    for (size_t i = 0; key && i < key->members; i++) {
        struct shown *shown = &ret->shown[ret->count++];
        shown->former = former;
        shown->member = key->member[i];
        const struct sim_word value = {shown->member.value, shown->member.value_len};
        const char *at = value.bytes;
        shown->timed =
            pass(&at, isdigit) && *at == '\0' && sim_lua_number(&value, &shown->seen);
    }
    return NULL;
}

/* ---- the script ------------------------------------------------------------------------- */

static void add_other(struct lists *lists, const char *mark)
{
    size_t len = strlen(lists->names);
    if (lists->others++ < NAMED_MAX)
        snprintf(lists->names + len, sizeof(lists->names) - len, "%s%s", len ? " " : "", mark);
}

/* Of the former format: it is shown while it lives, and stays. */
static void look_at_former(struct lists *lists, const struct shown *shown)
{
    double seen = shown->seen < lists->now ? shown->seen : lists->now;
    if (left(lists, shown->member.text, seen, shown->timed) > 0)
        add_other(lists, shown->member.text);
}

/* One that stands there. False: the script has failed. */
static bool look_at(struct sim_run *run, struct lists *lists, struct shown *shown)
{
    const struct sim_member *member = &shown->member;
    const struct sim_word *own = sim_argv_at(run, 2);
    bool is_own = member->len == own->len && memcmp(member->text, own->bytes, own->len) == 0;
    const char *error = NULL, *where = "redis.call('HSET'";
    if (shown->timed && shown->seen > lists->now) {
        shown->seen = lists->now;
        error = show(run, member->text, member->len, shown->seen);
    }
    double ms = left(lists, member->text, shown->seen, shown->timed);
    if (!error && !is_own && ms <= 0) {
        where = "redis.call('HDEL'";
        error = hide(run, member);
    } else if (!error && !is_own) {
        add_other(lists, member->text);
        lists->last = ms > lists->last ? ms : lists->last;
    }
    if (error)
        sim_script_fail(run, where, error);
    return !error;
}

/* The own one, and the end of the key. False: the script has failed. */
static bool show_own(struct sim_run *run, struct lists *lists)
{
    const struct sim_word *own = sim_argv_at(run, 2);
    char text[32];
    const char *where = "redis.call('HSET'";
    const char *error = show(run, own->bytes, own->len, lists->now);
    double ms = left(lists, own->bytes, lists->now, true);
    if (!error) {
        int len = snprintf(text, sizeof(text), "%.0f", ms > lists->last ? ms : lists->last);
        where = "redis.call('PEXPIRE'";
        error =
            sim_script_pexpire(run, sim_keys_at(run, 1), &(struct sim_word){text, (size_t)len});
    }
    if (error)
        sim_script_fail(run, where, error);
    return !error;
}

static int by_text(const void *one, const void *other)
{
    const struct shown *a = one, *b = other;
    return strcmp(a->member.text, b->member.text);
}

static void join(struct sim_run *run)
{
    static struct lists lists;
    struct sim_call *call = run->call;
    const struct sim_word *nonce = sim_argv_at(run, 1);
    const struct sim_word former = {"redlock:lists", strlen("redlock:lists")};
    lists = (struct lists){.now = (double)call->now_ms};
    bool whole = sim_lua_number(sim_argv_at(run, 3), &lists.margin);
    assert(whole);
    const char *error = read_all(run, sim_keys_at(run, 1), false, &lists);
    if (error) {
        sim_script_fail(run, "redis.call('HGETALL'", error);
        return;
    }
    for (unsigned i = 0; i < lists.count; i++) {
        double ttl;
        if (!lists.shown[i].timed || !max_ttl_of(lists.shown[i].member.text, &ttl)) {
            sim_put_error(call->out, "ERR libredlock:lists has what is no list of nodes");
            return;
        }
    }
    (void)read_all(run, &former, true, &lists);
    qsort(lists.shown, lists.count, sizeof(lists.shown[0]), by_text);
    for (unsigned i = 0; i < lists.count; i++) {
        if (lists.shown[i].former)
            look_at_former(&lists, &lists.shown[i]);
        else if (!look_at(run, &lists, &lists.shown[i]))
            return;
    }
    if (!show_own(run, &lists))
        return;
    run->answered = run->yes = true;
    sim_put_array(call->out, 3);
    sim_put_bulk(call->out, nonce->bytes, nonce->len);
    sim_put_integer(call->out, lists.others);
    sim_put_bulk(call->out, lists.names, strlen(lists.names));
}

const struct sim_known_script sim_scripts_lists[] = {
    {"lists_join", join},
    {NULL, NULL},
};
