/* test_lock_view.c - what masters say of a name: read from whatever they send, and put
 * together. */
#include "config_auto.h"

#include "kinds/lock_view.h"

#include "kinds/kind.h"
#include "base/limits.h"
#include "suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one master's text ------------------------------------------------------------------ */

/* In memory of its own size, where no byte behind it may be read. */
static bool reads(const char *text, size_t len, int64_t ttl_ms, struct rl_view *ret_view)
{
    char *copy = malloc(len + (len == 0));
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, text, len);
    bool read = rl_view_read(copy, len, ttl_ms, ret_view);
    free(copy);
    return read;
}

static struct rl_view view_of(const char *text, int64_t ttl_ms)
{
    struct rl_view view;
    ck_assert_msg(reads(text, strlen(text), ttl_ms, &view), "'%s' was not read", text);
    return view;
}

TEST(read, every_state_is_known)
{
    static const struct {
        const char *text;
        int state;
        unsigned holders;
    } states[] = {
        {"free 0 0 0\n", REDLOCK_STATE_FREE, 0},
        {"plain 0 0 1\nx 1 900 2 me\n", REDLOCK_STATE_PLAIN, 1},
        {"reentrant 0 0 1\nx 3 900 5 a:b:c\n", REDLOCK_STATE_REENTRANT, 1},
        {"fair 2 0 1\nx 3 900 5 a:b:c\n", REDLOCK_STATE_FAIR, 1},
        {"read-write 2 70 2\nr 3 900 1 a\nw 1 900 1 b\n", REDLOCK_STATE_READ_WRITE, 2},
        {"data 0 0 0\nlist\n", REDLOCK_STATE_DATA, 0},
    };
    for (unsigned i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        struct rl_view view = view_of(states[i].text, 1000);
        ck_assert_int_eq(view.told.state, states[i].state);
        ck_assert_uint_eq(view.told.holders, states[i].holders);
        ck_assert_uint_eq(view.shown.count, states[i].holders);
        ck_assert_int_eq(view.told.ttl_ms, 1000);
        ck_assert_str_eq(view.told.data, states[i].state == REDLOCK_STATE_DATA ? "list" : "");
    }
}

TEST(read, holders_are_told_whole)
{
    struct rl_view view =
        view_of("read-write 7 4000 20\nr 2 1500 5 alice\nw 1 -1 3 b:1\n", 5000);
    ck_assert_uint_eq(view.told.waiting, 7);
    ck_assert_int_eq(view.told.writer_ms, 4000);
    ck_assert_uint_eq(view.told.holders, 20);
    ck_assert_uint_eq(view.shown.count, 2);
    ck_assert_int_eq(view.shown.holder[0].mode, REDLOCK_MODE_READ);
    ck_assert_uint_eq(view.shown.holder[0].count, 2);
    ck_assert_int_eq(view.shown.holder[0].ttl_ms, 1500);
    ck_assert_str_eq(view.shown.holder[0].owner, "alice");
    ck_assert_int_eq(view.shown.holder[1].mode, REDLOCK_MODE_WRITE);
    ck_assert_int_eq(view.shown.holder[1].ttl_ms, -1);
    ck_assert_uint_eq(view.shown.holder[1].owner_len, 3);
}

/* An owner is bytes: lines, numbers and NULs in it are its own. */
TEST(read, owners_are_any_bytes)
{
    static const char text[] = "reentrant 0 0 1\nx 1 9 12 a\nx 9 9 1 \0\n\n";
    struct rl_view view;
    ck_assert(reads(text, sizeof(text) - 1, 9, &view));
    ck_assert_uint_eq(view.shown.count, 1);
    ck_assert_uint_eq(view.shown.holder[0].owner_len, 12);
    ck_assert_mem_eq(view.shown.holder[0].owner, "a\nx 9 9 1 \0\n", 13); /* and a NUL behind */
}

TEST(read, longest_owner_fits)
{
    char text[512], owner[RL_OWNER_MAX + 2];
    struct rl_view view;
    memset(owner, 'o', sizeof(owner));
    for (int len = 0; len <= RL_OWNER_MAX + 1; len++) {
        int used =
            snprintf(text, sizeof(text), "plain 0 0 1\nx 1 9 %d %.*s\n", len, len, owner);
        ck_assert_int_eq(reads(text, (size_t)used, 9, &view), len <= RL_OWNER_MAX);
    }
}

/* What is kept for a waiter is held by nobody; who has it for ever is no waiter. */
TEST(read, reserved_lock_is_not_held)
{
    static const char kept[] = "plain 1 0 1\nx 1 20 15 " RL_RESERVED_PREFIX "ab\n";
    struct rl_view view = view_of(kept, 20);
    ck_assert_int_eq(view.told.state, REDLOCK_STATE_RESERVED);
    ck_assert_uint_eq(view.told.holders, 0);
    ck_assert_uint_eq(view.shown.count, 0);
    ck_assert_int_eq(view_of(kept, -1).told.state, REDLOCK_STATE_PLAIN);
}

TEST(read, nothing_else_is_read)
{
    static const char *const texts[] = {
        "",
        "free",
        "free 0 0 0",
        "free 0 0\n",
        "free 0 0 0 \n",
        "free 0 0 0\n\n",
        "Free 0 0 0\n",
        " free 0 0 0\n",
        "freely 0 0 0\n",
        "free  0 0 0\n",
        "free -1 0 0\n",
        "free 0 -2 0\n",
        "free 0 0 4294967296\n",
        "free 0x1 0 0\n",
        "free +1 0 0\n",
        "free nan 0 0\n",
        "free 0 9999999999999999999 0\n",
        "free 0 0 0\nx 1 9 1 a\n", /* more are shown than there are */
        "free 0 0 1\nx 1 9 1 a\n", /* free, and somebody has it */
        "free 0 0 1\n",
        "plain 0 0 1\nx 1 9 1 a",
        "plain 0 0 1\nx 1 9 2 a\n",
        "plain 0 0 1\nx 1 9 1 ab\n",
        "plain 0 0 1\nx 1 9 99999 a\n",
        "plain 0 0 1\ny 1 9 1 a\n",
        "plain 0 0 1\nx 1 -9 1 a\n",
        "plain 0 0 1\nx 1 9 -1 a\n",
        "plain 0 0 1\nx 1 9  a\n",
        "plain 0 0 1\nx1 9 1 a\n",
        "data 0 0 0\n",
        "data 0 0 0\n\n",
        "data 0 0 0\nli st\n",
        "data 0 0 0\nlist",
        "data 0 0 1\nlist\n",
        "data 0 0 0\nlist\nx 1 9 1 a\n",
        "data 0 0 0\n\x1b[31m\n",
        "data 0 0 0\nlist\x7f\n",
    };
    for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct rl_view view;
        ck_assert_msg(!reads(texts[i], strlen(texts[i]), 9, &view), "'%s'", texts[i]);
    }
}

/* A server may call its data what it likes: what has room is kept. */
TEST(read, type_of_data_is_cut)
{
    struct rl_view view;
    char text[400] = "data 0 0 0\n";
    size_t len = strlen(text);
    memset(text + len, 'x', 300);
    text[len + 300] = '\n';
    ck_assert(reads(text, len + 301, 9, &view));
    ck_assert_uint_eq(strlen(view.told.data), sizeof(view.told.data) - 1);
    ck_assert_uint_eq(view.shown.count, 0);
}

/* Every text that is cut short is refused, and so is one with more holders than are told. */
TEST(read, truncated_text_is_refused)
{
    char text[8192];
    size_t len = (size_t)snprintf(text, sizeof(text), "read-write 3 0 99\n");
    struct rl_view view;
    for (unsigned i = 0; i < REDLOCK_HOLDERS_SHOWN; i++) {
        ck_assert(reads(text, len, 9, &view));
        ck_assert_uint_eq(view.shown.count, i);
        size_t more =
            len + (size_t)snprintf(text + len, sizeof(text) - len, "r 1 9 10 owner-%04u\n", i);
        for (size_t cut = len + 1; cut < more; cut++)
            ck_assert(!reads(text, cut, 9, &view));
        len = more;
    }
    ck_assert(reads(text, len, 9, &view));
    ck_assert_uint_eq(view.shown.count, REDLOCK_HOLDERS_SHOWN);
    ck_assert_uint_eq(view.told.holders, 99);
    len += (size_t)snprintf(text + len, sizeof(text) - len, "r 1 9 1 x\n");
    ck_assert(!reads(text, len, 9, &view));
}

/* ---- together --------------------------------------------------------------------------- */

static struct rl_views all;

/* A text a master; NULL: it does not answer. */
static const redlock_lock_info *agree(unsigned nodes, const char *const texts[], int64_t ttl_ms)
{
    memset(&all, 0, sizeof(all));
    all.sum.nodes = nodes;
    all.sum.needed = nodes / 2 + 1;
    for (unsigned i = 0; i < nodes; i++) {
        if (!texts[i])
            continue;
        all.node[i] = view_of(texts[i], ttl_ms);
        all.node[i].told.answered = 1;
    }
    rl_views_sum_up(&all, "me", 2);
    return &all.sum;
}

#define AGREE(ttl_ms, ...)                                                                     \
    agree(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *),                              \
          (const char *[]){__VA_ARGS__}, ttl_ms)

TEST(together, of_one_master_all_is_agreed)
{
    const redlock_lock_info *one = AGREE(50, "read-write 4 30 9\nr 2 40 1 a\nr 1 50 1 b\n");
    ck_assert_uint_eq(all.sum.answered, 1);
    ck_assert_int_eq(one->state, REDLOCK_STATE_READ_WRITE);
    ck_assert_uint_eq(one->holders, 9);
    ck_assert_uint_eq(all.agreed.count, 2);
    ck_assert_uint_eq(one->waiting, 4);
    ck_assert_int_eq(one->writer_ms, 30);
    ck_assert_int_eq(one->ttl_ms, 50);
    ck_assert_uint_eq(all.agreed.holder[0].count, 2);
    ck_assert_str_eq(all.agreed.holder[1].owner, "b");
}

/* Of three, a hold counts that two of them have; what they say of it may differ. */
TEST(together, majority_counts_hold_of_two_views_in_three)
{
    const redlock_lock_info *two =
        AGREE(100, "reentrant 1 0 1\nx 2 90 1 a\n", "reentrant 5 0 1\nx 3 70 1 a\n",
              "fair 2 0 1\nx 1 80 1 a\n");
    ck_assert_int_eq(two->state, REDLOCK_STATE_FAIR); /* the word that tells more */
    ck_assert_uint_eq(two->holders, 1);
    ck_assert_uint_eq(all.agreed.holder[0].count, 2);
    ck_assert_int_eq(all.agreed.holder[0].ttl_ms, 80);
    ck_assert_uint_eq(two->waiting, 2);
}

TEST(together, minority_is_not_shown)
{
    const redlock_lock_info *view =
        AGREE(100, "read-write 0 0 2\nr 1 90 1 a\nr 1 90 1 b\n",
              "read-write 0 0 1\nr 1 60 1 b\n", "read-write 0 0 1\nw 1 70 1 a\n");
    ck_assert_int_eq(view->state, REDLOCK_STATE_READ_WRITE);
    ck_assert_uint_eq(all.agreed.count,
                      1); /* a reads here and writes there: no majority of either */
    ck_assert_uint_eq(view->holders, 1);
    ck_assert_str_eq(all.agreed.holder[0].owner, "b");
    ck_assert_int_eq(all.agreed.holder[0].ttl_ms, 60);
    view = AGREE(100, "plain 0 0 1\nx 1 90 1 a\n", "plain 0 0 1\nx 1 90 1 b\n",
                 "plain 0 0 1\nx 1 90 1 c\n");
    ck_assert_int_eq(view->state, REDLOCK_STATE_PLAIN);
    ck_assert_uint_eq(all.agreed.count, 0);
    ck_assert_uint_eq(view->holders, 0);
}

TEST(together, states_are_agreed_on_too)
{
    static const char data[] = "data 0 0 0\nlist\n", free_[] = "free 0 0 0\n";
    static const char kept[] = "plain 1 0 1\nx 1 20 15 " RL_RESERVED_PREFIX "ab\n";
    static const char held[] = "plain 0 0 1\nx 1 90 1 a\n";
    ck_assert_int_eq(AGREE(9, free_, free_, held)->state, REDLOCK_STATE_FREE);
    ck_assert_int_eq(AGREE(9, free_, kept, held)->state, REDLOCK_STATE_RESERVED);
    ck_assert_int_eq(AGREE(9, held, kept, held)->state, REDLOCK_STATE_PLAIN);
    ck_assert_int_eq(AGREE(9, data, free_, held)->state, REDLOCK_STATE_UNKNOWN);
    ck_assert_str_eq(all.sum.data, "");
    ck_assert_int_eq(AGREE(9, data, NULL, data)->state, REDLOCK_STATE_DATA);
    ck_assert_str_eq(all.sum.data, "list");
    ck_assert_uint_eq(all.sum.answered, 2);
    ck_assert_int_eq(AGREE(9, held, NULL, NULL)->state, REDLOCK_STATE_UNKNOWN);
    ck_assert_uint_eq(all.agreed.count, 0);
    ck_assert_int_eq(AGREE(9, "fair 1 0 1\nx 1 9 1 a\n", "reentrant 0 0 1\nx 1 9 1 b\n")->state,
                     REDLOCK_STATE_FAIR);
}

TEST(together, for_ever_is_longest)
{
    static const char text[] = "plain 0 0 1\nx 1 -1 1 a\n",
                      other[] = "plain 0 0 1\nx 1 7 1 a\n";
    AGREE(9, text, other, text);
    ck_assert_int_eq(all.agreed.holder[0].ttl_ms, -1);
    AGREE(9, other, text, other);
    ck_assert_int_eq(all.agreed.holder[0].ttl_ms, 7);
}

/* Twenty readers, of whom each master tells another sixteen: all of them are counted. */
TEST(together, more_are_counted_than_shown)
{
    static char text[3][2048];
    for (unsigned i = 0; i < 3; i++) {
        size_t len = (size_t)snprintf(text[i], sizeof(text[i]), "read-write 0 0 20\n");
        for (unsigned k = 0; k < REDLOCK_HOLDERS_SHOWN; k++)
            len += (size_t)snprintf(text[i] + len, sizeof(text[i]) - len, "r 1 9 2 %02u\n",
                                    2 * i + k);
    }
    const redlock_lock_info *view = AGREE(9, text[0], text[1], text[2]);
    ck_assert_uint_eq(view->holders, 20);
    ck_assert_uint_eq(all.agreed.count, 16); /* 02 to 17: those that two of them tell */
    for (unsigned i = 0; i < all.agreed.count; i++) {
        char owner[4];
        snprintf(owner, sizeof(owner), "%02u", 2 + i);
        ck_assert_str_eq(all.agreed.holder[i].owner, owner);
    }
}

/* Twenty-four of whom each is told by two of three, who tell sixteen each. */
TEST(together, more_are_agreed_on_than_can_be_shown)
{
    static char text[3][2048];
    for (unsigned i = 0; i < 3; i++) {
        size_t len = (size_t)snprintf(text[i], sizeof(text[i]), "read-write 0 0 24\n");
        for (unsigned k = 0; k < REDLOCK_HOLDERS_SHOWN; k++)
            len += (size_t)snprintf(text[i] + len, sizeof(text[i]) - len, "r 1 9 2 %02u\n",
                                    (8 * i + k) % 24);
    }
    const redlock_lock_info *view = AGREE(9, text[0], text[1], text[2]);
    ck_assert_uint_eq(view->holders, 24);
    ck_assert_uint_eq(all.agreed.count, REDLOCK_HOLDERS_SHOWN);
    ck_assert_str_eq(all.agreed.holder[REDLOCK_HOLDERS_SHOWN - 1].owner, "15");
}

/* ---- one owner -------------------------------------------------------------------------- */

TEST(owner, holds_of_one_owner_are_counted_by_mode)
{
    const redlock_lock_info *own =
        AGREE(1, "read-write 0 0 3\nr 2 700 2 me\nw 3 900 2 me\nr 9 9999 3 me2\n");
    ck_assert_uint_eq(own->own_read, 2);
    ck_assert_uint_eq(own->own_write, 3);
    ck_assert_uint_eq(own->own_exclusive, 0);
    ck_assert_int_eq(own->own_ms, 900);                            /* the longer of both */
    own = AGREE(1, "read-write 0 0 2\nr 2 700 1 m\nr 0 0 2 me\n"); /* its lease has run out */
    ck_assert_uint_eq(own->own_read, 0);
    ck_assert_int_eq(own->own_ms, 0);
    own = AGREE(-1, "plain 0 0 1\nx 1 -1 2 me\n");
    ck_assert_uint_eq(own->own_exclusive, 1);
    ck_assert_int_eq(own->own_ms, -1);
}

/* Who has less than a millisecond has it; who reads here and writes there has neither. */
TEST(owner, of_owner_majority_says_how_often_and_how_long)
{
    const redlock_lock_info *own =
        AGREE(0, "reentrant 0 0 1\nx 3 0 2 me\n", "reentrant 0 0 1\nx 1 70 2 me\n", NULL);
    ck_assert_uint_eq(own->own_exclusive, 1);
    ck_assert_int_eq(own->own_ms, 1);
    ck_assert_int_eq(own->held_ms, 1);
    own = AGREE(50, "read-write 0 0 1\nr 1 50 2 me\n", "read-write 0 0 1\nw 1 50 2 me\n",
                "free 0 0 0\n");
    ck_assert_uint_eq(own->own_read + own->own_write, 0);
    ck_assert_int_eq(own->own_ms, 0);
    ck_assert_int_eq(own->held, 1);
}

/* So many have it that the others are no majority: whoever it is, and data as well. */
TEST(owner, held_means_others_are_no_majority)
{
    static const char data[] = "data 0 0 0\nlist\n", free_[] = "free 0 0 0\n";
    static const char kept[] = "plain 1 0 1\nx 1 20 15 " RL_RESERVED_PREFIX "ab\n";
    static const char a[] = "plain 0 0 1\nx 1 90 1 a\n", b[] = "plain 0 0 1\nx 1 90 1 b\n";
    ck_assert_int_eq(AGREE(9, a, b, free_)->held, 1);
    ck_assert_int_eq(all.sum.held_ms, 9);
    ck_assert_int_eq(AGREE(-1, a, data, NULL)->held_ms, -1);
    ck_assert_int_eq(AGREE(9, a, kept, NULL)->held, 0);
    ck_assert_int_eq(all.sum.held_ms, 0);
    ck_assert_int_eq(AGREE(9, a, free_)->held, 1); /* of two, one is in the way */
}
