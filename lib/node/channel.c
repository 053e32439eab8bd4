/* channel.c - see channel.h. */
#include "config_auto.h"

#include "node/channel.h"

#include "base/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MIN 16

struct rl_ear *rl_ear_find(const struct rl_ears *ears, const void *text, size_t len)
{
    if (ears->count == 0)
        return NULL;
    uint64_t hash = rl_hash(text, len);
    for (struct rl_ear *ear = ears->bucket[hash & (ears->size - 1)]; ear; ear = ear->next) {
        if (ear->hash == hash && ear->len == len && memcmp(ear->text, text, len) == 0)
            return ear;
    }
    return NULL;
}

static void put_in_bucket(struct rl_ear **bucket, size_t size, struct rl_ear *ear)
{
    struct rl_ear **at = &bucket[ear->hash & (size - 1)];
    ear->next = *at;
    *at = ear;
}

/* Room for one more. */
static bool grow(struct rl_ears *ears)
{
    if (ears->count < ears->size)
        return true;
    size_t size = ears->size ? 2 * ears->size : SIZE_MIN;
    struct rl_ear **all = realloc(ears->all, size * sizeof(struct rl_ear *));
    if (!all)
        return false;
    ears->all = all;
    struct rl_ear **bucket = calloc(size, sizeof(struct rl_ear *));
    if (!bucket)
        return false;
    for (size_t i = 0; i < ears->count; i++)
        put_in_bucket(bucket, size, all[i]);
    free(ears->bucket);
    ears->bucket = bucket;
    ears->size = size;
    return true;
}

static struct rl_ear *make(struct rl_ears *ears, const void *text, size_t len)
{
    struct rl_ear *ear = grow(ears) ? calloc(1, sizeof(*ear) + len) : NULL;
    if (!ear)
        return NULL;
    ear->hash = rl_hash(text, len);
    ear->len = len;
    memcpy(ear->text, text, len);
    put_in_bucket(ears->bucket, ears->size, ear);
    ear->place = ears->count;
    ears->all[ears->count++] = ear;
    return ear;
}

struct rl_ear *rl_ear_take(struct rl_ears *ears, const void *text, size_t len)
{
    struct rl_ear *ear = rl_ear_find(ears, text, len);
    if (!ear)
        ear = make(ears, text, len);
    if (ear && ear->users++ == 0)
        ears->used++;
    return ear;
}

void rl_ear_drop(struct rl_ears *ears, struct rl_ear *ear)
{
    assert(ear->users > 0);
    if (--ear->users == 0)
        ears->used--;
}

void rl_ear_settle(struct rl_ears *ears, struct rl_ear *ear)
{
    if (ear->users > 0 || ear->asked || ear->heard)
        return;
    struct rl_ear **at = &ears->bucket[ear->hash & (ears->size - 1)];
    while (*at != ear)
        at = &(*at)->next;
    *at = ear->next;
    struct rl_ear *last = ears->all[--ears->count];
    ears->all[ear->place] = last;
    last->place = ear->place;
    free(ear);
}

enum rl_ear_wish rl_ear_wish(const struct rl_ear *ear, uint64_t node_bit)
{
    if ((ear->asked | ear->denied) & node_bit)
        return RL_EAR_NONE;
    if (ear->users > 0)
        return ear->heard & node_bit ? RL_EAR_NONE : RL_EAR_BEGIN;
    return ear->heard & node_bit ? RL_EAR_END : RL_EAR_NONE;
}

void rl_ears_forget(struct rl_ears *ears, uint64_t node_bit)
{
    /* From the last: who is settled leaves its place to one that has been seen. */
    for (size_t i = ears->count; i > 0; i--) {
        struct rl_ear *ear = ears->all[i - 1];
        ear->asked &= ~node_bit;
        ear->heard &= ~node_bit;
        ear->denied &= ~node_bit;
        rl_ear_settle(ears, ear);
    }
}

void rl_ears_free(struct rl_ears *ears)
{
    for (size_t i = 0; i < ears->count; i++)
        free(ears->all[i]);
    free(ears->all);
    free(ears->bucket);
    *ears = (struct rl_ears){0};
}
