/* tags: valgrind */
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

static void require_view(const redlock_view *view, int64_t ttl_ms)
{
    REQUIRE(view->form > REDLOCK_FORM_UNKNOWN && view->form <= REDLOCK_FORM_DATA);
    REQUIRE(view->ttl_ms == ttl_ms && view->writer_ms >= -1);
    REQUIRE(view->shown <= REDLOCK_HOLDERS_SHOWN && view->shown <= view->holders);
    REQUIRE(view->holders == 0 ||
            (view->form != REDLOCK_FORM_FREE && view->form != REDLOCK_FORM_KEPT));
    REQUIRE(view->form != REDLOCK_FORM_DATA || (view->holders == 0 && view->data[0]));
    REQUIRE(view->form == REDLOCK_FORM_DATA || !view->data[0]);
    REQUIRE(memchr(view->data, '\0', sizeof(view->data)) != NULL);
    for (const char *at = view->data; *at; at++)
        REQUIRE(*at > ' ' && *at <= '~');
    for (unsigned i = 0; i < view->shown; i++) {
        const redlock_holder *holder = &view->holder[i];
        REQUIRE(holder->mode == REDLOCK_PLAIN || holder->mode == REDLOCK_READ ||
                holder->mode == REDLOCK_WRITE);
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

static void require_holds(const redlock_view *view)
{
    for (unsigned i = 0; i < view->shown; i++) {
        const redlock_holder *holder = &view->holder[i];
        int64_t ttl_ms, longest_ms = 0;
        unsigned holds = 0;
        for (unsigned k = 0; k < view->shown; k++) {
            if (!same_owner(&view->holder[k], holder))
                continue;
            holds += view->holder[k].count;
            if (is_longer(view->holder[k].ttl_ms, longest_ms))
                longest_ms = view->holder[k].ttl_ms;
        }
        REQUIRE(rl_view_holds(view, holder->owner, holder->owner_len, &ttl_ms) == holds);
        REQUIRE(ttl_ms == longest_ms);
    }
}

static size_t write_holder(const redlock_holder *holder, char *to, size_t size)
{
    static const char modes[] = {
        [REDLOCK_PLAIN] = 'x', [REDLOCK_READ] = 'r', [REDLOCK_WRITE] = 'w'};
    int len = snprintf(to, size, "%c %u %" PRId64 " %zu ", modes[holder->mode], holder->count,
                       holder->ttl_ms, holder->owner_len);
    REQUIRE(len > 0 && (size_t)len + holder->owner_len + 1 < size);
    memcpy(to + len, holder->owner, holder->owner_len);
    to[(size_t)len + holder->owner_len] = '\n';
    return (size_t)len + holder->owner_len + 1;
}

static void require_same_again(const redlock_view *view)
{
    static const char *const words[] = {"",          "free", "",           "plain",
                                        "reentrant", "fair", "read-write", "data"};
    static redlock_view again;
    char text[TEXT_MAX];
    if (view->form == REDLOCK_FORM_KEPT) /* whose holder is not told */
        return;
    size_t len =
        (size_t)snprintf(text, sizeof(text), "%s %u %" PRId64 " %u\n", words[view->form],
                         view->waiting, view->writer_ms, view->holders);
    for (unsigned i = 0; i < view->shown; i++)
        len += write_holder(&view->holder[i], text + len, sizeof(text) - len);
    if (view->form == REDLOCK_FORM_DATA)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s\n", view->data);
    REQUIRE(rl_view_read(text, len, view->ttl_ms, &again));
    REQUIRE(again.form == view->form && again.waiting == view->waiting);
    REQUIRE(again.writer_ms == view->writer_ms && again.holders == view->holders);
    REQUIRE(again.shown == view->shown && strcmp(again.data, view->data) == 0);
    for (unsigned i = 0; i < view->shown; i++) {
        const redlock_holder *one = &view->holder[i], *other = &again.holder[i];
        REQUIRE(one->mode == other->mode && one->count == other->count);
        REQUIRE(one->ttl_ms == other->ttl_ms && same_owner(one, other));
    }
}

/* In memory of its own size, so that a sanitizer sees a read behind the end. */
static bool read_one(const uint8_t *bytes, size_t len, int64_t ttl_ms, redlock_view *ret_view)
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
    require_holds(ret_view);
    require_same_again(ret_view);
    return true;
}

/* ---- several masters' ------------------------------------------------------------------- */

static redlock_description all;

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

/* It is what a majority reaches, and no more is. */
static void require_reached(const struct tally *tally, int64_t number)
{
    if (tally->count < all.needed)
        REQUIRE(number == 0);
    else
        REQUIRE(tally->as_large >= all.needed && tally->larger < all.needed);
}

static void require_holder(const redlock_holder *holder)
{
    struct tally counts = {0}, ttls = {0};
    for (unsigned i = 0; i < all.nodes; i++) {
        const redlock_view *view = &all.node[i].view;
        unsigned k = 0;
        while (k < view->shown &&
               (view->holder[k].mode != holder->mode || !same_owner(&view->holder[k], holder)))
            k++;
        if (!all.node[i].answered || k == view->shown)
            continue;
        tally(&counts, view->holder[k].count, holder->count);
        tally(&ttls, view->holder[k].ttl_ms, holder->ttl_ms);
    }
    REQUIRE(counts.count >= all.needed);
    require_reached(&counts, holder->count);
    require_reached(&ttls, holder->ttl_ms);
}

static void require_agreed(void)
{
    const redlock_view *majority = &all.majority;
    struct tally ttls = {0}, waiting = {0}, marks = {0};
    unsigned answered = 0, free = 0, data = 0;
    for (unsigned i = 0; i < all.nodes; i++) {
        const redlock_view *view = &all.node[i].view;
        if (!all.node[i].answered)
            continue;
        answered++;
        free += view->form == REDLOCK_FORM_FREE || view->form == REDLOCK_FORM_KEPT;
        data += view->form == REDLOCK_FORM_DATA;
        tally(&ttls, view->form == REDLOCK_FORM_FREE ? 0 : view->ttl_ms, majority->ttl_ms);
        tally(&waiting, view->waiting, majority->waiting);
        tally(&marks, view->writer_ms, majority->writer_ms);
    }
    REQUIRE(all.answered == answered);
    require_reached(&ttls, majority->ttl_ms);
    require_reached(&waiting, majority->waiting);
    require_reached(&marks, majority->writer_ms);
    REQUIRE((free >= all.needed) ==
            (majority->form == REDLOCK_FORM_FREE || majority->form == REDLOCK_FORM_KEPT));
    REQUIRE((data >= all.needed) == (majority->form == REDLOCK_FORM_DATA));
    REQUIRE((majority->form == REDLOCK_FORM_DATA) == (majority->data[0] != '\0'));
    REQUIRE(majority->shown <= majority->holders && majority->shown <= REDLOCK_HOLDERS_SHOWN);
    for (unsigned i = 0; i < majority->shown; i++)
        require_holder(&majority->holder[i]);
}

/* -1, nothing, and up to 7 days. */
static int64_t ttl_of(uint8_t byte)
{
    return byte < 2 ? (int64_t)byte - 1 : INT64_C(1) << byte % 30;
}

static void read_several(const uint8_t *data, size_t size)
{
    all.nodes = 0;
    while (size > 0 && all.nodes < MASTERS) {
        redlock_node_view *node = &all.node[all.nodes++];
        int64_t ttl_ms = ttl_of(*data);
        data++;
        size--;
        const uint8_t *end = memchr(data, 0xff, size);
        size_t len = end ? (size_t)(end - data) : size;
        node->answered = read_one(data, len, ttl_ms, &node->view);
        data += len + (end != NULL);
        size -= len + (end != NULL);
    }
    all.needed = all.nodes / 2 + 1;
    rl_view_merge_majority(&all);
    require_agreed();
}

const char fuzz_corpus[] = "view";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] & ONE_ALONE)
        (void)read_one(data + 1, size - 1, ttl_of(data[0] & 0x7f), &all.node[0].view);
    else
        read_several(data + 1, size - 1);
    return 0;
}
