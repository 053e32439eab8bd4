/* lock_view.c - see lock_view.h. Core. */
#include "config_auto.h"

#include "kinds/lock_view.h"

#include "base/text.h"
#include "core/quorum_value.h"

#include "kinds/kind.h"
#include "base/limits.h"
#include "core/quorum.h"

#include <assert.h>
#include <string.h>

_Static_assert(sizeof(((redlock_holder *)0)->owner) > RL_OWNER_MAX, "owners are cut");

/* ---- one master's text ------------------------------------------------------------------ */

/* A number, and the byte that must follow it. -1 is for ever. */
static bool take_number(struct rl_cursor *text, const char *behind, int64_t *ret_number)
{
    bool minus = rl_skip(text, "-");
    const char *digits = text->at;
    while (text->at < text->end && *text->at >= '0' && *text->at <= '9')
        text->at++;
    int64_t number = rl_decimal(digits, (size_t)(text->at - digits));
    *ret_number = minus ? -number : number;
    return number >= 0 && (!minus || number == 1) && rl_skip(text, behind);
}

static bool take_count(struct rl_cursor *text, const char *behind, unsigned *ret_count)
{
    int64_t number;
    if (!take_number(text, behind, &number) || number < 0 || number > UINT32_MAX)
        return false;
    *ret_count = (unsigned)number;
    return true;
}

static bool take_state(struct rl_cursor *text, int *ret_state)
{
    static const struct {
        const char *word;
        int state;
    } words[] = {
        {"free ", REDLOCK_STATE_FREE},
        {"plain ", REDLOCK_STATE_PLAIN},
        {"reentrant ", REDLOCK_STATE_REENTRANT},
        {"fair ", REDLOCK_STATE_FAIR},
        {"read-write ", REDLOCK_STATE_READ_WRITE},
        {"data ", REDLOCK_STATE_DATA},
    };
    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (rl_skip(text, words[i].word)) {
            *ret_state = words[i].state;
            return true;
        }
    }
    return false;
}

/* MODE COUNT MS LENGTH OWNER */
static bool take_holder(struct rl_cursor *text, redlock_holder *ret_holder)
{
    unsigned len;
    if (rl_skip(text, "x"))
        ret_holder->mode = REDLOCK_MODE_EXCLUSIVE;
    else if (rl_skip(text, "r"))
        ret_holder->mode = REDLOCK_MODE_READ;
    else if (rl_skip(text, "w"))
        ret_holder->mode = REDLOCK_MODE_WRITE;
    else
        return false;
    if (!rl_skip(text, " ") || !take_count(text, " ", &ret_holder->count) ||
        !take_number(text, " ", &ret_holder->ttl_ms) || !take_count(text, " ", &len) ||
        len > RL_OWNER_MAX || (size_t)(text->end - text->at) < len)
        return false;
    memcpy(ret_holder->owner, text->at, len);
    ret_holder->owner[len] = '\0';
    ret_holder->owner_len = len;
    text->at += len;
    return rl_skip(text, "\n");
}

/* The type of data that is no lock: the server's word. */
static bool take_type(struct rl_cursor *text, redlock_node_info *told)
{
    size_t len = 0;
    while (len < (size_t)(text->end - text->at) && text->at[len] >= '!' && text->at[len] <= '~')
        len++;
    size_t kept = len < sizeof(told->data) ? len : sizeof(told->data) - 1;
    memcpy(told->data, text->at, kept);
    told->data[kept] = '\0';
    text->at += len;
    return len > 0 && rl_skip(text, "\n");
}

bool rl_view_read(const char *bytes, size_t len, int64_t ttl_ms, struct rl_view *ret_view)
{
    struct rl_cursor text = {bytes, bytes + len};
    redlock_node_info *told = &ret_view->told;
    struct rl_holders *shown = &ret_view->shown;
    *ret_view = (struct rl_view){.told = {.ttl_ms = ttl_ms}};
    if (!take_state(&text, &told->state) || !take_count(&text, " ", &told->waiting) ||
        !take_number(&text, " ", &told->writer_ms) || !take_count(&text, "\n", &told->holders))
        return false;
    if (told->holders > 0 &&
        (told->state == REDLOCK_STATE_FREE || told->state == REDLOCK_STATE_DATA))
        return false;
    if (told->state == REDLOCK_STATE_DATA)
        return take_type(&text, told) && text.at == text.end;
    while (text.at < text.end && shown->count < REDLOCK_HOLDERS_SHOWN) {
        if (!take_holder(&text, &shown->holder[shown->count++]))
            return false;
    }
    if (text.at != text.end || shown->count > told->holders)
        return false;
    if (told->state == REDLOCK_STATE_PLAIN && shown->count == 1 && ttl_ms >= 0 &&
        rl_kind_holder_is_reserved(shown->holder[0].owner, shown->holder[0].owner_len)) {
        told->state = REDLOCK_STATE_RESERVED;
        told->holders = shown->count = 0;
    }
    return true;
}

/* ---- all of them together --------------------------------------------------------------- */

/* The entry of this holder in one master's answer; NULL: it has none. */
static const redlock_holder *find(const struct rl_view *view, const redlock_holder *holder)
{
    for (unsigned i = 0; view->told.answered && i < view->shown.count; i++) {
        const redlock_holder *same = &view->shown.holder[i];
        if (same->mode == holder->mode && same->owner_len == holder->owner_len &&
            memcmp(same->owner, holder->owner, holder->owner_len) == 0)
            return same;
    }
    return NULL;
}

/* Does a majority show this holder? Then its count and time become the values that a majority
 * reaches. */
static bool agree_on(const struct rl_views *all, redlock_holder *holder)
{
    struct rl_quorum_values counts = {0}, ttls = {0};
    for (unsigned i = 0; i < all->sum.nodes; i++) {
        const redlock_holder *same = find(&all->node[i], holder);
        if (!same)
            continue;
        rl_quorum_value_add(&counts, same->count);
        rl_quorum_value_add(&ttls, same->ttl_ms);
    }
    if (counts.count < all->sum.needed)
        return false;
    holder->count = (unsigned)rl_quorum_value_reached(&counts, all->sum.needed);
    holder->ttl_ms = rl_quorum_value_reached(&ttls, all->sum.needed);
    return true;
}

/* Each holder that some master shows, once. */
static unsigned agree_on_holders(struct rl_views *all)
{
    unsigned agreed = 0;
    for (unsigned i = 0; i < all->sum.nodes; i++) {
        const struct rl_view *view = &all->node[i];
        for (unsigned k = 0; view->told.answered && k < view->shown.count; k++) {
            redlock_holder holder = view->shown.holder[k];
            bool before = false;
            for (unsigned j = 0; j < i && !before; j++)
                before = find(&all->node[j], &holder);
            if (before || !agree_on(all, &holder))
                continue;
            if (agreed++ == 0)
                all->sum.state = view->told.state;
            if (all->agreed.count < REDLOCK_HOLDERS_SHOWN)
                all->agreed.holder[all->agreed.count++] = holder;
        }
    }
    return agreed;
}

static unsigned count_state(const struct rl_views *all, int state)
{
    unsigned count = 0;
    for (unsigned i = 0; i < all->sum.nodes; i++)
        count += all->node[i].told.answered && all->node[i].told.state == state;
    return count;
}

/* A reserved lock is free, and a fair one is reentrant; use the more precise word. */
static int agree_on_state(const struct rl_views *all)
{
    static const int states[][2] = {
        {REDLOCK_STATE_FREE, REDLOCK_STATE_RESERVED},
        {REDLOCK_STATE_REENTRANT, REDLOCK_STATE_FAIR},
        {REDLOCK_STATE_PLAIN, REDLOCK_STATE_PLAIN},
        {REDLOCK_STATE_READ_WRITE, REDLOCK_STATE_READ_WRITE},
        {REDLOCK_STATE_DATA, REDLOCK_STATE_DATA},
    };
    for (unsigned i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        unsigned one = count_state(all, states[i][0]), other = count_state(all, states[i][1]);
        if (one + (states[i][0] != states[i][1] ? other : 0) >= all->sum.needed)
            return other > 0 ? states[i][1] : states[i][0];
    }
    return REDLOCK_STATE_UNKNOWN;
}

/* ---- what one owner has of it ----------------------------------------------------------- */

/* A key that exists has some time left, if less than a millisecond. */
static int64_t time_left(int64_t ms)
{
    return ms == 0 ? 1 : ms;
}

/* The owner's count in this mode that a majority reaches. */
static unsigned count_own(struct rl_views *all, int mode, const char *owner, size_t owner_len)
{
    redlock_holder own = {.mode = mode, .owner_len = owner_len};
    assert(owner_len < sizeof(own.owner));
    memcpy(own.owner, owner, owner_len);
    if (!agree_on(all, &own) || own.count == 0)
        return 0;
    if ((uint64_t)time_left(own.ttl_ms) > (uint64_t)all->sum.own_ms) /* -1 is the largest */
        all->sum.own_ms = time_left(own.ttl_ms);
    return own.count;
}

/* It is held if the masters without it are no majority. */
static int64_t held_ms(const struct rl_views *all)
{
    struct rl_quorum_values left_ms = {0};
    for (unsigned i = 0; i < all->sum.nodes; i++) {
        const redlock_node_info *told = &all->node[i].told;
        if (told->answered && told->state != REDLOCK_STATE_FREE &&
            told->state != REDLOCK_STATE_RESERVED)
            rl_quorum_value_add(&left_ms, time_left(told->ttl_ms));
    }
    return rl_quorum_value_reached(&left_ms, all->sum.nodes - all->sum.needed + 1);
}

void rl_views_sum_up(struct rl_views *all, const char *owner, size_t owner_len)
{
    redlock_lock_info *sum = &all->sum;
    struct rl_quorum_values ttls = {0}, waiting = {0}, writer = {0}, holders = {0};
    bool cut = false;
    assert(sum->nodes > 0 && sum->nodes <= REDLOCK_NODES_MAX);
    for (unsigned i = 0; i < sum->nodes; i++) {
        const redlock_node_info *told = &all->node[i].told;
        if (!told->answered)
            continue;
        sum->answered++;
        rl_quorum_value_add(&ttls, told->state == REDLOCK_STATE_FREE ? 0 : told->ttl_ms);
        rl_quorum_value_add(&waiting, told->waiting);
        rl_quorum_value_add(&writer, told->writer_ms);
        rl_quorum_value_add(&holders, told->holders);
        cut = cut || told->holders > all->node[i].shown.count;
        if (told->state == REDLOCK_STATE_DATA)
            memcpy(sum->data, told->data, sizeof(sum->data));
    }
    sum->holders = agree_on_holders(all);
    int state = agree_on_state(all);
    if (state != REDLOCK_STATE_UNKNOWN)
        sum->state = state;
    if (state != REDLOCK_STATE_DATA)
        sum->data[0] = '\0';
    unsigned most = (unsigned)rl_quorum_value_reached(&holders, sum->needed);
    if (cut && most > sum->holders)
        sum->holders = most;
    sum->ttl_ms = rl_quorum_value_reached(&ttls, sum->needed);
    sum->waiting = (unsigned)rl_quorum_value_reached(&waiting, sum->needed);
    sum->writer_ms = rl_quorum_value_reached(&writer, sum->needed);
    sum->own_exclusive = count_own(all, REDLOCK_MODE_EXCLUSIVE, owner, owner_len);
    sum->own_read = count_own(all, REDLOCK_MODE_READ, owner, owner_len);
    sum->own_write = count_own(all, REDLOCK_MODE_WRITE, owner, owner_len);
    sum->held_ms = held_ms(all);
    sum->held = sum->held_ms != 0;
}
