/* lock_view.c - see lock_view.h. Core. */
#include "config_auto.h"

#include "kinds/lock_view.h"

#include "core/quorum_value.h"

#include "kinds/kind.h"
#include "base/limits.h"
#include "core/quorum.h"

#include <assert.h>
#include <string.h>

#define DIGITS_MAX 18 /* more are nothing that the script says */

_Static_assert(sizeof(((redlock_holder *)0)->owner) > RL_OWNER_MAX, "owners are cut");

/* ---- one master's text ------------------------------------------------------------------ */

struct text {
    const char *at, *end;
};

static bool take_char(struct text *text, char wanted)
{
    if (text->at == text->end || *text->at != wanted)
        return false;
    text->at++;
    return true;
}

/* A number and what stands behind it. -1 is for ever. */
static bool take_number(struct text *text, char behind, int64_t *ret_number)
{
    bool minus = take_char(text, '-');
    int64_t number = 0;
    unsigned digits = 0;
    for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++) {
        if (++digits > DIGITS_MAX)
            return false;
        number = 10 * number + (*text->at - '0');
    }
    *ret_number = minus ? -number : number;
    return digits > 0 && (!minus || number == 1) && take_char(text, behind);
}

static bool take_count(struct text *text, char behind, unsigned *ret_count)
{
    int64_t number;
    if (!take_number(text, behind, &number) || number < 0 || number > UINT32_MAX)
        return false;
    *ret_count = (unsigned)number;
    return true;
}

static bool take_form(struct text *text, int *ret_form)
{
    static const struct {
        const char *word;
        int form;
    } words[] = {
        {"free ", REDLOCK_FORM_FREE},
        {"plain ", REDLOCK_FORM_PLAIN},
        {"reentrant ", REDLOCK_FORM_REENTRANT},
        {"fair ", REDLOCK_FORM_FAIR},
        {"read-write ", REDLOCK_FORM_READ_WRITE},
        {"data ", REDLOCK_FORM_DATA},
    };
    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t len = strlen(words[i].word);
        if ((size_t)(text->end - text->at) >= len &&
            memcmp(text->at, words[i].word, len) == 0) {
            text->at += len;
            *ret_form = words[i].form;
            return true;
        }
    }
    return false;
}

/* MODE COUNT MS LENGTH OWNER */
static bool take_holder(struct text *text, redlock_holder *ret_holder)
{
    unsigned len;
    if (take_char(text, 'x'))
        ret_holder->mode = REDLOCK_PLAIN;
    else if (take_char(text, 'r'))
        ret_holder->mode = REDLOCK_READ;
    else if (take_char(text, 'w'))
        ret_holder->mode = REDLOCK_WRITE;
    else
        return false;
    if (!take_char(text, ' ') || !take_count(text, ' ', &ret_holder->count) ||
        !take_number(text, ' ', &ret_holder->ttl_ms) || !take_count(text, ' ', &len) ||
        len > RL_OWNER_MAX || (size_t)(text->end - text->at) < len)
        return false;
    memcpy(ret_holder->owner, text->at, len);
    ret_holder->owner[len] = '\0';
    ret_holder->owner_len = len;
    text->at += len;
    return take_char(text, '\n');
}

/* The type of what is no lock is a word of the server's. */
static bool take_type(struct text *text, redlock_view *view)
{
    size_t len = 0;
    while (len < (size_t)(text->end - text->at) && text->at[len] >= '!' && text->at[len] <= '~')
        len++;
    size_t kept = len < sizeof(view->data) ? len : sizeof(view->data) - 1;
    memcpy(view->data, text->at, kept);
    view->data[kept] = '\0';
    text->at += len;
    return len > 0 && take_char(text, '\n');
}

bool rl_view_read(const char *bytes, size_t len, int64_t ttl_ms, redlock_view *ret_view)
{
    struct text text = {bytes, bytes + len};
    redlock_view *view = ret_view;
    *view = (redlock_view){.ttl_ms = ttl_ms};
    if (!take_form(&text, &view->form) || !take_count(&text, ' ', &view->waiting) ||
        !take_number(&text, ' ', &view->writer_ms) || !take_count(&text, '\n', &view->holders))
        return false;
    if (view->holders > 0 &&
        (view->form == REDLOCK_FORM_FREE || view->form == REDLOCK_FORM_DATA))
        return false;
    if (view->form == REDLOCK_FORM_DATA)
        return take_type(&text, view) && text.at == text.end;
    while (text.at < text.end && view->shown < REDLOCK_HOLDERS_SHOWN) {
        if (!take_holder(&text, &view->holder[view->shown++]))
            return false;
    }
    if (text.at != text.end || view->shown > view->holders)
        return false;
    if (view->form == REDLOCK_FORM_PLAIN && view->shown == 1 && ttl_ms >= 0 &&
        rl_kind_holder_is_kept(view->holder[0].owner, view->holder[0].owner_len)) {
        view->form = REDLOCK_FORM_KEPT;
        view->holders = view->shown = 0;
    }
    return true;
}

static bool is_owner(const redlock_holder *holder, const void *owner, size_t owner_len)
{
    return holder->owner_len == owner_len && memcmp(holder->owner, owner, owner_len) == 0;
}

unsigned rl_view_holds(const redlock_view *view, const void *owner, size_t owner_len,
                       int64_t *ret_ttl_ms)
{
    unsigned holds = 0;
    *ret_ttl_ms = 0;
    for (unsigned i = 0; i < view->shown; i++) {
        const redlock_holder *holder = &view->holder[i];
        if (!is_owner(holder, owner, owner_len))
            continue;
        holds += holder->count;
        if (holder->ttl_ms < 0 || (*ret_ttl_ms >= 0 && holder->ttl_ms > *ret_ttl_ms))
            *ret_ttl_ms = holder->ttl_ms;
    }
    return holds;
}

/* ---- all of them together --------------------------------------------------------------- */

static const redlock_holder *find(const redlock_view *view, const redlock_holder *holder)
{
    for (unsigned i = 0; i < view->shown; i++) {
        if (view->holder[i].mode == holder->mode &&
            is_owner(&view->holder[i], holder->owner, holder->owner_len))
            return &view->holder[i];
    }
    return NULL;
}

/* Has a majority this holder? Then it is added to `majority`. */
static bool agree_on(redlock_description *all, const redlock_holder *holder)
{
    redlock_view *majority = &all->majority;
    struct rl_quorum_values counts = {0}, ttls = {0};
    for (unsigned i = 0; i < all->nodes; i++) {
        const redlock_holder *same = find(&all->node[i].view, holder);
        if (!all->node[i].answered || !same)
            continue;
        rl_quorum_value_add(&counts, same->count);
        rl_quorum_value_add(&ttls, same->ttl_ms);
    }
    if (counts.count < all->needed)
        return false;
    if (majority->shown < REDLOCK_HOLDERS_SHOWN) {
        redlock_holder *added = &majority->holder[majority->shown++];
        *added = *holder;
        added->count = (unsigned)rl_quorum_value_reached(&counts, all->needed);
        added->ttl_ms = rl_quorum_value_reached(&ttls, all->needed);
    }
    return true;
}

/* Everybody whom some master shows, once. */
static unsigned agree_on_holders(redlock_description *all)
{
    unsigned agreed = 0;
    for (unsigned i = 0; i < all->nodes; i++) {
        const redlock_view *view = &all->node[i].view;
        for (unsigned k = 0; all->node[i].answered && k < view->shown; k++) {
            bool before = false;
            for (unsigned j = 0; j < i && !before; j++)
                before = all->node[j].answered && find(&all->node[j].view, &view->holder[k]);
            if (!before && agree_on(all, &view->holder[k])) {
                if (agreed++ == 0)
                    all->majority.form = view->form;
            }
        }
    }
    return agreed;
}

static unsigned count_form(const redlock_description *all, int form)
{
    unsigned count = 0;
    for (unsigned i = 0; i < all->nodes; i++)
        count += all->node[i].answered && all->node[i].view.form == form;
    return count;
}

/* A lock that is kept is free, and a fair one is reentrant; the word that tells more is used.
 */
static int agree_on_form(const redlock_description *all)
{
    static const int forms[][2] = {
        {REDLOCK_FORM_FREE, REDLOCK_FORM_KEPT},
        {REDLOCK_FORM_REENTRANT, REDLOCK_FORM_FAIR},
        {REDLOCK_FORM_PLAIN, REDLOCK_FORM_PLAIN},
        {REDLOCK_FORM_READ_WRITE, REDLOCK_FORM_READ_WRITE},
        {REDLOCK_FORM_DATA, REDLOCK_FORM_DATA},
    };
    for (unsigned i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        unsigned one = count_form(all, forms[i][0]), other = count_form(all, forms[i][1]);
        if (one + (forms[i][0] != forms[i][1] ? other : 0) >= all->needed)
            return other > 0 ? forms[i][1] : forms[i][0];
    }
    return REDLOCK_FORM_UNKNOWN;
}

void rl_view_merge_majority(redlock_description *all)
{
    redlock_view *majority = &all->majority;
    struct rl_quorum_values ttls = {0}, waiting = {0}, writer = {0}, holders = {0};
    bool cut = false;
    *majority = (redlock_view){.form = REDLOCK_FORM_UNKNOWN};
    all->answered = 0;
    for (unsigned i = 0; i < all->nodes; i++) {
        const redlock_view *view = &all->node[i].view;
        if (!all->node[i].answered)
            continue;
        all->answered++;
        rl_quorum_value_add(&ttls, view->form == REDLOCK_FORM_FREE ? 0 : view->ttl_ms);
        rl_quorum_value_add(&waiting, view->waiting);
        rl_quorum_value_add(&writer, view->writer_ms);
        rl_quorum_value_add(&holders, view->holders);
        cut = cut || view->holders > view->shown;
        if (view->form == REDLOCK_FORM_DATA)
            memcpy(majority->data, view->data, sizeof(majority->data));
    }
    majority->holders = agree_on_holders(all);
    int form = agree_on_form(all);
    if (form != REDLOCK_FORM_UNKNOWN)
        majority->form = form;
    if (form != REDLOCK_FORM_DATA)
        majority->data[0] = '\0';
    unsigned most = (unsigned)rl_quorum_value_reached(&holders, all->needed);
    if (cut && most > majority->holders)
        majority->holders = most;
    majority->ttl_ms = rl_quorum_value_reached(&ttls, all->needed);
    majority->waiting = (unsigned)rl_quorum_value_reached(&waiting, all->needed);
    majority->writer_ms = rl_quorum_value_reached(&writer, all->needed);
}
