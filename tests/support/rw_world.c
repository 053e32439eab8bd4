/* rw_world.c - see rw_world.h. */
#include "config_auto.h"

#include "rw_world.h"

#include <stdio.h>
#include <string.h>

const struct rw_name rw_names[RW_LOCKS] = {
    {"a", "{a}", "{a}:redlock:writer", "{a}:redlock:readers", "redisson_rwlock:{a}"},
    {"a b%s", "{a b%s}", "{a b%s}:redlock:writer", "{a b%s}:redlock:readers",
     "redisson_rwlock:{a b%s}"},
    {"{orders}:42", "{orders}:42", "{orders}:42{}:redlock:writer", "{orders}:42{}:redlock:readers",
     "redisson_rwlock:{orders}:42"},
};

struct rw_lock rw_lock[RW_LOCKS];
unsigned long rw_moved;

const char *rw_field_name(unsigned owner, bool write, char ret_name[RW_KEY_MAX])
{
    snprintf(ret_name, RW_KEY_MAX, "%s%s", rw_owners[owner], write ? ":write" : "");
    return ret_name;
}

const char *rw_lease_name(unsigned i, const char *field, unsigned index,
                          char ret_name[RW_KEY_MAX])
{
    snprintf(ret_name, RW_KEY_MAX, "%s:%.90s:rwlock_timeout:%u", rw_names[i].base, field,
             index);
    return ret_name;
}

struct rw_field *rw_field_of(unsigned i, unsigned owner, bool write)
{
    return write ? &rw_lock[i].writes[owner] : &rw_lock[i].reads[owner];
}

static const char *value_of(unsigned owner, unsigned token, char ret_value[16])
{
    snprintf(ret_value, 16, "token-%u", token);
    return owner == RW_PEER ? "1" : ret_value;
}

/* ---- all that the master has ------------------------------------------------------------ */

static bool lease_is(struct frame *frame, const char *key, const char *value)
{
    struct wire_item item = talk_do(&frame->talk, "GET", key, (char *)NULL);
    return item.number >= 0 && item.len == strlen(value) &&
           memcmp(item.bytes, value, item.len) == 0;
}

/* Under which number is the hold's lease? Each is there once. */
static unsigned lease_of(struct frame *frame, unsigned i, unsigned owner, bool write,
                         const struct rw_hold *hold)
{
    const struct rw_field *field = rw_field_of(i, owner, write);
    char name[RW_KEY_MAX], key[RW_KEY_MAX], value[16];
    unsigned found = 0;
    rw_field_name(owner, write, name);
    for (unsigned k = 1; k <= field->count; k++) {
        if (!lease_is(frame, rw_lease_name(i, name, k, key),
                      value_of(owner, hold->token, value)))
            continue;
        FRAME_CHECK(frame, !found);
        found = k;
    }
    FRAME_CHECK(frame, found);
    return found;
}

static void compare_field(struct frame *frame, unsigned i, unsigned owner, bool write)
{
    const struct rw_field *field = rw_field_of(i, owner, write);
    char name[RW_KEY_MAX], key[RW_KEY_MAX], count[16];
    snprintf(count, sizeof(count), "%u", field->count);
    struct wire_item item = talk_do(&frame->talk, "HGET", rw_names[i].name,
                                    rw_field_name(owner, write, name), (char *)NULL);
    if (field->count == 0) {
        FRAME_CHECK(frame, item.number < 0);
        return;
    }
    FRAME_CHECK(frame, item.len == strlen(count) && memcmp(item.bytes, count, item.len) == 0);
    for (unsigned k = 0; k < field->count; k++) {
        const struct rw_hold *hold = &field->hold[k];
        unsigned at =
            owner == RW_PEER || hold->over ? k + 1 : lease_of(frame, i, owner, write, hold);
        rw_moved += at != k + 1;
        if (owner == RW_PEER || !hold->over)
            frame_compare_life(frame, rw_lease_name(i, name, at, key), !hold->over,
                               &hold->life);
    }
}

void rw_compare(struct frame *frame, unsigned i)
{
    static const char *const modes[] = {"", "read", "write"};
    bool there = rw_lock[i].mode != RW_NONE || rw_lock[i].other[0];
    frame_compare_life(frame, rw_names[i].name, there, &rw_lock[i].life);
    frame_compare_life(frame, rw_names[i].mark, rw_lock[i].marks != 0, &rw_lock[i].mark_life);
    frame_compare_life(frame, rw_names[i].readers, rw_lock[i].waiting != 0,
                       &rw_lock[i].waiting_life);
    if (rw_lock[i].mode == RW_NONE)
        return;
    struct wire_item item =
        talk_do(&frame->talk, "HGET", rw_names[i].name, "mode", (char *)NULL);
    const char *mode = modes[rw_lock[i].mode];
    FRAME_CHECK(frame, item.len == strlen(mode) && memcmp(item.bytes, mode, item.len) == 0);
    long fields = 1;
    for (unsigned owner = 0; owner < RW_OWNERS; owner++) {
        compare_field(frame, i, owner, false);
        compare_field(frame, i, owner, true);
        fields += (rw_lock[i].reads[owner].count > 0) + (rw_lock[i].writes[owner].count > 0);
    }
    FRAME_CHECK(frame,
                talk_do(&frame->talk, "HLEN", rw_names[i].name, (char *)NULL).number == fields);
}

/* ---- time ------------------------------------------------------------------------------- */

/* Leases are known by what they hold, and one may have rw_moved: so many are to be left. */
static bool leases_left(struct frame *frame, unsigned i, unsigned owner, bool write,
                        unsigned count, unsigned expected)
{
    char name[RW_KEY_MAX], key[RW_KEY_MAX];
    unsigned left = 0;
    rw_field_name(owner, write, name);
    for (unsigned k = 1; k <= count; k++) {
        rw_lease_name(i, name, k, key);
        left += talk_do(&frame->talk, "EXISTS", key, (char *)NULL).number == 1;
    }
    return left == expected;
}

void rw_await_soon(struct frame *frame, unsigned i, struct span when)
{
    for (unsigned k = 0; k < 2 * RW_OWNERS && rw_lock[i].mode != RW_NONE; k++) {
        struct rw_field *field = rw_field_of(i, k / 2, k % 2);
        unsigned alive = 0;
        for (unsigned h = 0; h < field->count; h++) {
            struct rw_hold *hold = &field->hold[h];
            hold->over |= life_ends_soon(&hold->life, when);
            alive += !hold->over;
        }
        FRAME_CHECK(
            frame, wait_until(leases_left(frame, i, k / 2, k % 2, field->count, alive), 10000));
    }
    if (rw_lock[i].marks && life_ends_soon(&rw_lock[i].mark_life, when)) {
        frame_await_gone(frame, rw_names[i].mark);
        rw_lock[i].marks = 0;
    }
    if (rw_lock[i].waiting && life_ends_soon(&rw_lock[i].waiting_life, when)) {
        frame_await_gone(frame, rw_names[i].readers);
        rw_lock[i].waiting = rw_lock[i].turn = 0;
    }
    if (rw_lock[i].mode != RW_NONE && life_ends_soon(&rw_lock[i].life, when)) {
        frame_await_gone(frame, rw_names[i].name);
        rw_gone(&rw_lock[i]);
    }
}

static void lease_runs_out(struct frame *frame, unsigned i)
{
    unsigned owner = frame_draw(frame, RW_PEER);
    bool write = frame_draw(frame, 2);
    struct rw_field *field = rw_field_of(i, owner, write);
    char name[RW_KEY_MAX], key[RW_KEY_MAX];
    if (field->count == 0)
        return;
    struct rw_hold *hold = &field->hold[frame_draw(frame, field->count)];
    if (hold->over)
        return;
    unsigned at = lease_of(frame, i, owner, write, hold);
    frame_runs_out(frame, rw_lease_name(i, rw_field_name(owner, write, name), at, key));
    hold->over = true;
}

void rw_time_passes(struct frame *frame, unsigned i)
{
    unsigned what = frame_draw(frame, 9);
    snprintf(frame->doing, sizeof(frame->doing), "time passes for '%s'", rw_names[i].name);
    if (what < 5) {
        lease_runs_out(frame, i);
    } else if (what < 6 && rw_lock[i].marks) {
        frame_runs_out(frame, rw_names[i].mark);
        rw_lock[i].marks = 0;
    } else if (what == 8 && rw_lock[i].waiting) {
        frame_runs_out(frame, rw_names[i].readers);
        rw_lock[i].waiting = rw_lock[i].turn = 0;
    } else if (what == 7 && rw_lock[i].mode != RW_NONE) {
        frame_runs_out(frame, rw_names[i].name); /* before its leases, as where a peer cut it */
        rw_gone(&rw_lock[i]);
    }
}
