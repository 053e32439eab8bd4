/* tags: valgrind source */
/* fuzz_view.c - any bytes as what masters say of a name that somebody looks at. What is refused
 * is refused; what is read holds together, can be written again and is the same. What several
 * say is put together, and held against the rule, counted anew: a majority has at least that.
 *
 * The first byte says how: one master's text, or several's, each with a byte before it that
 * says how long the key lasts, and 0xff behind it. With a fuzzer: see fuzz.sh. */
#include "config_auto.h"

#include "fuzz.h"
#include "kinds/kind.h"
#include "base/limits.h"
#include "kinds/lock_view.h"

#include <inttypes.h>
#include <string.h>

enum { MASTERS = 7, ONE_ALONE = 0x80, TEXT_MAX = 4096 };

/* ---- one master's text ------------------------------------------------------------------ */

static void require_view(const struct rl_view *view, int64_t ttl_ms)
{
    REQUIRE(view->told.state > REDLOCK_STATE_UNKNOWN && view->told.state <= REDLOCK_STATE_DATA);
    REQUIRE(view->told.ttl_ms == ttl_ms && view->told.writer_ms >= -1);
    REQUIRE(view->shown.count <= REDLOCK_HOLDERS_SHOWN &&
            view->shown.count <= view->told.holders);
    REQUIRE(view->told.holders == 0 || (view->told.state != REDLOCK_STATE_FREE &&
                                        view->told.state != REDLOCK_STATE_RESERVED));
    REQUIRE(view->told.state != REDLOCK_STATE_DATA ||
            (view->told.holders == 0 && view->told.data[0]));
    REQUIRE(view->told.state == REDLOCK_STATE_DATA || !view->told.data[0]);
    REQUIRE(memchr(view->told.data, '\0', sizeof(view->told.data)) != NULL);
    for (const char *at = view->told.data; *at; at++)
        REQUIRE(*at > ' ' && *at <= '~');
    for (unsigned i = 0; i < view->shown.count; i++) {
        const redlock_holder *holder = &view->shown.holder[i];
        REQUIRE(holder->mode == REDLOCK_MODE_EXCLUSIVE || holder->mode == REDLOCK_MODE_READ ||
                holder->mode == REDLOCK_MODE_WRITE);
        REQUIRE(holder->owner_len <= RL_OWNER_MAX && holder->ttl_ms >= -1);
        REQUIRE(holder->owner[holder->owner_len] == '\0');
    }
}

static bool same_owner(const redlock_holder *one, const redlock_holder *other)
{
    return one->owner_len == other->owner_len &&
           memcmp(one->owner, other->owner, one->owner_len) == 0;
}

/* For ever is more than any time. */
static bool is_longer(int64_t ms, int64_t than_ms)
{
    return than_ms >= 0 && (ms < 0 || ms > than_ms);
}

static size_t write_holder(const redlock_holder *holder, char *to, size_t size)
{
    static const char modes[] = {
        [REDLOCK_MODE_EXCLUSIVE] = 'x', [REDLOCK_MODE_READ] = 'r', [REDLOCK_MODE_WRITE] = 'w'};
    int len = snprintf(to, size, "%c %u %" PRId64 " %zu ", modes[holder->mode], holder->count,
                       holder->ttl_ms, holder->owner_len);
    REQUIRE(len > 0 && (size_t)len + holder->owner_len + 1 < size);
    memcpy(to + len, holder->owner, holder->owner_len);
    to[(size_t)len + holder->owner_len] = '\n';
    return (size_t)len + holder->owner_len + 1;
}

static void require_same_again(const struct rl_view *view)
{
    static const char *const words[] = {"",          "free", "",           "plain",
                                        "reentrant", "fair", "read-write", "data"};
    static struct rl_view again;
    char text[TEXT_MAX];
    if (view->told.state == REDLOCK_STATE_RESERVED) /* whose holder is not told */
        return;
    size_t len =
        (size_t)snprintf(text, sizeof(text), "%s %u %" PRId64 " %u\n", words[view->told.state],
                         view->told.waiting, view->told.writer_ms, view->told.holders);
    for (unsigned i = 0; i < view->shown.count; i++)
        len += write_holder(&view->shown.holder[i], text + len, sizeof(text) - len);
    if (view->told.state == REDLOCK_STATE_DATA)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s\n", view->told.data);
    REQUIRE(rl_view_read(text, len, view->told.ttl_ms, &again));
    REQUIRE(again.told.state == view->told.state && again.told.waiting == view->told.waiting);
    REQUIRE(again.told.writer_ms == view->told.writer_ms &&
            again.told.holders == view->told.holders);
    REQUIRE(again.shown.count == view->shown.count &&
            strcmp(again.told.data, view->told.data) == 0);
    for (unsigned i = 0; i < view->shown.count; i++) {
        const redlock_holder *one = &view->shown.holder[i], *other = &again.shown.holder[i];
        REQUIRE(one->mode == other->mode && one->count == other->count);
        REQUIRE(one->ttl_ms == other->ttl_ms && same_owner(one, other));
    }
}

/* In memory of its own size, so that a sanitizer sees a read behind the end. */
static bool read_one(const uint8_t *bytes, size_t len, int64_t ttl_ms, struct rl_view *ret_view)
{
    char *text = malloc(len > 0 ? len : 1);
    if (!text)
        return false;
    memcpy(text, bytes, len);
    bool is_read = rl_view_read(text, len, ttl_ms, ret_view);
    free(text);
    if (!is_read)
        return false;
    require_view(ret_view, ttl_ms);
    require_same_again(ret_view);
    return true;
}

/* ---- several masters' ------------------------------------------------------------------- */

static struct rl_views all;

/* Of the masters that answered, how many say a number as large as `least`, or larger? */
struct tally {
    unsigned count, as_large, larger;
};

static void tally(struct tally *tally, int64_t number, int64_t least)
{
    tally->count++;
    tally->larger += is_longer(number, least);
    tally->as_large += number == least || is_longer(number, least);
}

/* It is what so many masters reach, and no more is. */
static void require_reached_by(unsigned needed, const struct tally *tally, int64_t number)
{
    if (tally->count < needed)
        REQUIRE(number == 0);
    else
        REQUIRE(tally->as_large >= needed && tally->larger < needed);
}

static void require_reached(const struct tally *tally, int64_t number)
{
    require_reached_by(all.sum.needed, tally, number);
}

static void require_holder(const redlock_holder *holder)
{
    struct tally counts = {0}, ttls = {0};
    for (unsigned i = 0; i < all.sum.nodes; i++) {
        const struct rl_view *view = &all.node[i];
        unsigned k = 0;
        while (k < view->shown.count && (view->shown.holder[k].mode != holder->mode ||
                                         !same_owner(&view->shown.holder[k], holder)))
            k++;
        if (!view->told.answered || k == view->shown.count)
            continue;
        tally(&counts, view->shown.holder[k].count, holder->count);
        tally(&ttls, view->shown.holder[k].ttl_ms, holder->ttl_ms);
    }
    REQUIRE(counts.count >= all.sum.needed);
    require_reached(&counts, holder->count);
    require_reached(&ttls, holder->ttl_ms);
}

static void require_agreed(void)
{
    const redlock_lock_info *sum = &all.sum;
    struct tally ttls = {0}, waiting = {0}, marks = {0};
    unsigned answered = 0, free = 0, data = 0;
    for (unsigned i = 0; i < all.sum.nodes; i++) {
        const struct rl_view *view = &all.node[i];
        if (!view->told.answered)
            continue;
        answered++;
        free += view->told.state == REDLOCK_STATE_FREE ||
                view->told.state == REDLOCK_STATE_RESERVED;
        data += view->told.state == REDLOCK_STATE_DATA;
        tally(&ttls, view->told.state == REDLOCK_STATE_FREE ? 0 : view->told.ttl_ms,
              sum->ttl_ms);
        tally(&waiting, view->told.waiting, sum->waiting);
        tally(&marks, view->told.writer_ms, sum->writer_ms);
    }
    REQUIRE(all.sum.answered == answered);
    require_reached(&ttls, sum->ttl_ms);
    require_reached(&waiting, sum->waiting);
    require_reached(&marks, sum->writer_ms);
    REQUIRE((free >= all.sum.needed) ==
            (sum->state == REDLOCK_STATE_FREE || sum->state == REDLOCK_STATE_RESERVED));
    REQUIRE((data >= all.sum.needed) == (sum->state == REDLOCK_STATE_DATA));
    REQUIRE((sum->state == REDLOCK_STATE_DATA) == (sum->data[0] != '\0'));
    REQUIRE(all.agreed.count <= sum->holders && all.agreed.count <= REDLOCK_HOLDERS_SHOWN);
    for (unsigned i = 0; i < all.agreed.count; i++)
        require_holder(&all.agreed.holder[i]);
}

/* As often as its first line of that mode says. */
static void require_own_count(int mode, const redlock_holder *owner, int64_t count)
{
    struct tally counts = {0};
    for (unsigned i = 0; i < all.sum.nodes; i++) {
        const struct rl_view *view = &all.node[i];
        unsigned k = 0;
        while (k < view->shown.count && (view->shown.holder[k].mode != mode ||
                                         !same_owner(&view->shown.holder[k], owner)))
            k++;
        if (view->told.answered)
            tally(&counts, k < view->shown.count ? view->shown.holder[k].count : 0, count);
    }
    require_reached(&counts, count);
}

static void require_own(const redlock_holder *owner)
{
    const redlock_lock_info *sum = &all.sum;
    struct tally own = {0}, held = {0};
    for (unsigned i = 0; i < sum->nodes; i++) {
        const struct rl_view *view = &all.node[i];
        int64_t longest_ms = 0;
        if (!view->told.answered || view->told.state == REDLOCK_STATE_FREE ||
            view->told.state == REDLOCK_STATE_RESERVED)
            continue;
        for (unsigned k = 0; k < view->shown.count; k++) {
            const redlock_holder *holder = &view->shown.holder[k];
            if (same_owner(holder, owner) && is_longer(holder->ttl_ms, longest_ms))
                longest_ms = holder->ttl_ms;
        }
        tally(&own, longest_ms ? longest_ms : 1, sum->own_ms);
        tally(&held, view->told.ttl_ms ? view->told.ttl_ms : 1, sum->held_ms);
    }
    require_own_count(REDLOCK_MODE_EXCLUSIVE, owner, sum->own_exclusive);
    require_own_count(REDLOCK_MODE_READ, owner, sum->own_read);
    require_own_count(REDLOCK_MODE_WRITE, owner, sum->own_write);
    REQUIRE((sum->own_ms != 0) == (sum->own_exclusive || sum->own_read || sum->own_write));
    REQUIRE(sum->own_ms == 0 || own.as_large >= sum->needed);
    require_reached_by(sum->nodes - sum->needed + 1, &held, sum->held_ms);
    REQUIRE(sum->held == (sum->held_ms != 0));
}

/* Somebody who has it, where anybody has. */
static redlock_holder any_owner(void)
{
    for (unsigned i = 0; i < all.sum.nodes; i++) {
        const struct rl_view *view = &all.node[i];
        if (view->told.answered && view->shown.count > 0)
            return view->shown.holder[view->shown.count / 2];
    }
    return (redlock_holder){.owner = "me", .owner_len = 2};
}

/* -1, nothing, and up to 7 days. */
static int64_t ttl_of(uint8_t byte)
{
    return byte < 2 ? (int64_t)byte - 1 : INT64_C(1) << byte % 30;
}

static void read_several(const uint8_t *data, size_t size)
{
    all.sum = (redlock_lock_info){.nodes = 0};
    all.agreed.count = 0;
    while (size > 0 && all.sum.nodes < MASTERS) {
        struct rl_view *view = &all.node[all.sum.nodes++];
        int64_t ttl_ms = ttl_of(*data);
        data++;
        size--;
        const uint8_t *end = memchr(data, 0xff, size);
        size_t len = end ? (size_t)(end - data) : size;
        view->told.answered = read_one(data, len, ttl_ms, view);
        data += len + (end != NULL);
        size -= len + (end != NULL);
    }
    if (all.sum.nodes == 0)
        return;
    all.sum.needed = all.sum.nodes / 2 + 1;
    redlock_holder owner = any_owner();
    rl_views_sum_up(&all, owner.owner, owner.owner_len);
    require_agreed();
    require_own(&owner);
}

const char fuzz_corpus[] = "view";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] & ONE_ALONE)
        (void)read_one(data + 1, size - 1, ttl_of(data[0] & 0x7f), &all.node[0]);
    else
        read_several(data + 1, size - 1);
    return 0;
}
