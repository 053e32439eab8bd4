/* test_channel.c - the channels that lines hear on: found by their text, kept as long as
 * anybody or any master has them, and what is to be said about each. */
#include "config_auto.h"

#include "node/channel.h"
#include "base/prng.h"
#include "base/text.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

enum { NODE = 1 << 3, OTHER = 1 << 5, MANY = 3000 };

static struct rl_channels channels;

static void set_up(void)
{
    channels = (struct rl_channels){0};
}

static void tear_down(void)
{
    rl_channels_free(&channels);
    ck_assert_uint_eq(channels.count, 0);
}

static struct rl_channel *take(const char *text)
{
    struct rl_channel *channel = rl_channel_ref(&channels, text, strlen(text));
    ck_assert_ptr_nonnull(channel);
    return channel;
}

static struct rl_channel *find(const char *text)
{
    return rl_channel_find(&channels, text, strlen(text));
}

static void drop(struct rl_channel *channel)
{
    rl_channel_unref(&channels, channel);
    rl_channel_free_if_idle(&channels, channel);
}

TEST(ear, one_text_is_one_ear)
{
    ck_assert_ptr_null(find("a"));
    struct rl_channel *a = take("a");
    ck_assert_ptr_eq(take("a"), a);
    ck_assert_ptr_ne(take("ab"), a);
    ck_assert_ptr_ne(rl_channel_ref(&channels, "a\0b", 3), a);
    ck_assert_ptr_ne(rl_channel_ref(&channels, "", 0), a);
    ck_assert_ptr_eq(find("a"), a);
    ck_assert_ptr_null(find("b"));
    ck_assert_uint_eq(a->users, 2);
    ck_assert_uint_eq(channels.count, 4);
    ck_assert_uint_eq(channels.used, 4);
    drop(a);
    ck_assert_ptr_eq(find("a"), a);
    drop(a);
    ck_assert_ptr_null(find("a"));
    ck_assert_uint_eq(channels.used, 3);
}

/* Texts that share a bucket wherever the hash has no key. */
TEST(ear, texts_that_were_chosen_to_collide_are_found_at_once)
{
    enum { TEXTS = 512 };
    unsigned found = 0;
    channels.by_text.key = (struct rl_sip_key){{11, 12}};
    for (uint64_t text = 0; found < TEXTS; text++) {
        if (rl_hash(&text, sizeof(text)) & (TEXTS - 1))
            continue;
        struct rl_channel *channel = rl_channel_ref(&channels, &text, sizeof(text));
        ck_assert_ptr_nonnull(channel);
        ck_assert_ptr_eq(rl_channel_find(&channels, &text, sizeof(text)), channel);
        found++;
    }
    for (size_t i = 0; i < channels.by_text.size; i++) {
        unsigned passed = 0;
        for (struct rl_hashed *at = channels.by_text.bucket[i]; at; at = at->next)
            passed++;
        ck_assert_uint_le(passed, 16);
    }
}

/* What a master still has, or owes an answer about, is not forgotten. */
TEST(ear, it_outlives_its_users_where_master_has_it)
{
    struct rl_channel *channel = take("a");
    channel->confirmed = NODE;
    drop(channel);
    ck_assert_ptr_eq(find("a"), channel);
    ck_assert_uint_eq(channels.used, 0);
    channel->confirmed = 0;
    channel->pending = OTHER;
    rl_channel_free_if_idle(&channels, channel);
    ck_assert_ptr_eq(find("a"), channel);
    ck_assert_ptr_eq(take("a"), channel);
    ck_assert_uint_eq(channels.used, 1);
    drop(channel);
    rl_channels_forget(&channels, NODE);
    ck_assert_ptr_eq(find("a"), channel);
    rl_channels_forget(&channels, OTHER);
    ck_assert_ptr_null(find("a"));
    ck_assert_uint_eq(channels.count, 0);
}

TEST(ear, request_for_each_state)
{
    static const struct {
        unsigned users;
        bool asked, heard, denied;
        enum rl_channel_next_request wish;
        bool listens;
    } states[] = {
        {1, false, false, false, RL_CHANNEL_SUBSCRIBE, false},
        {1, true, false, false, RL_CHANNEL_NONE, false},
        {1, false, true, false, RL_CHANNEL_NONE, true},
        {1, true, true, false, RL_CHANNEL_NONE, false}, /* its end is on the way */
        {1, false, false, true, RL_CHANNEL_NONE, false},
        {1, false, true, true, RL_CHANNEL_NONE, true}, /* its end was refused */
        {0, false, true, false, RL_CHANNEL_UNSUBSCRIBE, true},
        {0, true, true, false, RL_CHANNEL_NONE, false},
        {0, true, false, false, RL_CHANNEL_NONE, false},
        {0, false, true, true, RL_CHANNEL_NONE, true},
        {0, false, false, false, RL_CHANNEL_NONE, false},
    };
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        struct rl_channel channel = {
            .users = states[i].users,
            .pending = OTHER | (states[i].asked ? NODE : 0),
            .confirmed = states[i].heard ? NODE : 0,
            .denied = OTHER | (states[i].denied ? NODE : 0),
        };
        ck_assert_int_eq(rl_channel_next_request(&channel, NODE), states[i].wish);
        ck_assert_int_eq((rl_channel_listening(&channel) & NODE) != 0, states[i].listens);
    }
}

TEST(ear, broken_connection_forgets_its_own)
{
    struct rl_channel *channel = take("a");
    channel->pending = channel->confirmed = channel->denied = NODE | OTHER;
    rl_channels_forget(&channels, NODE);
    ck_assert_uint_eq(channel->pending, OTHER);
    ck_assert_uint_eq(channel->confirmed, OTHER);
    ck_assert_uint_eq(channel->denied, OTHER);
    ck_assert_ptr_eq(find("a"), channel);
}

/* Taken, dropped and forgotten in any order, against a plain list. */
TEST(ear, many_come_and_go)
{
    static struct {
        unsigned users;
        bool heard;
    } model[MANY];
    struct rl_prng prng;
    char text[32];
    size_t count = 0, used = 0;
    rl_prng_seed(&prng, 7);
    memset(model, 0, sizeof(model));
    for (int step = 0; step < 100000; step++) {
        unsigned i = (unsigned)rl_prng_below(&prng, MANY);
        snprintf(text, sizeof(text), "channel-%u", i);
        struct rl_channel *channel = find(text);
        bool there = model[i].users > 0 || model[i].heard;
        ck_assert_int_eq(channel != NULL, there);
        ck_assert(!channel || (channel->users == model[i].users &&
                               channels.all[channel->place] == channel));
        switch (rl_prng_below(&prng, 4)) {
        case 0:
        case 1:
            take(text);
            count += !there;
            used += model[i].users++ == 0;
            break;
        case 2:
            if (model[i].users == 0)
                break;
            used -= --model[i].users == 0;
            count -= model[i].users == 0 && !model[i].heard;
            drop(channel);
            break;
        default:
            if (channel)
                channel->confirmed = NODE;
            model[i].heard = there;
            break;
        }
        if (step % 10000 == 9999) {
            rl_channels_forget(&channels, NODE);
            for (unsigned k = 0; k < MANY; k++) {
                count -= model[k].heard && model[k].users == 0;
                model[k].heard = false;
            }
        }
        ck_assert_uint_eq(channels.count, count);
        ck_assert_uint_eq(channels.used, used);
    }
    ck_assert_uint_gt(count, 100);
}

CASE(ear, .set_up = set_up, .tear_down = tear_down)
