/* resp_reader.c - replies (resp.h) on hiredis's redisReader. */
#include "config_auto.h"

#include "net/resp.h"

#include "base/text_escape.h"
#include "net/hiredis_reader.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rl_reader {
    redisReader *hiredis;
    redisReplyObjectFunctions hooks;
    rl_bulk_fn *on_bulk;
    void *context;
    size_t unfinished; /* bytes fed since the last whole reply */
    size_t most;       /* the most that may be */
    bool texts;        /* an array may be long, if it is of texts */
    char why[160];     /* set: the stream must not be trusted any more */
    struct rl_reply reply;
};

static void refuse(struct rl_reader *reader, const char *why)
{
    assert(why[0]); /* empty: the stream is trusted */
    if (!reader->why[0])
        snprintf(reader->why, sizeof(reader->why), "%s", why);
}

static struct rl_reader *reader_of(const redisReadTask *task)
{
    return task->privdata;
}

/* Not a whole-struct assignment: that would clear the whole text for each reply. */
static void begin_reply(struct rl_reply *reply, enum rl_reply_type type)
{
    reply->type = type;
    reply->count = reply->more = 0;
    reply->text_len = 0;
}

/* The part that a task fills in; NULL: there are more parts, or deeper ones, than in any reply
 * we expect. */
static struct rl_element *part_for(const redisReadTask *task, enum rl_reply_type type)
{
    struct rl_reader *reader = reader_of(task);
    struct rl_reply *reply = &reader->reply;
    if (!task->parent) {
        begin_reply(reply, type);
    } else if (reply->count >= RL_REPLY_ELEMENTS_MAX) {
        refuse(reader, "the reply has too many elements");
        return NULL;
    }
    struct rl_element *part = &reply->part[reply->count++];
    *part = (struct rl_element){.type = type};
    return part;
}

static void *on_string(const redisReadTask *task, char *bytes, size_t len)
{
    struct rl_reader *reader = reader_of(task);
    enum rl_reply_type type;
    switch (task->type) {
    case REDIS_REPLY_STRING:
        type = RL_REPLY_BULK;
        break;
    case REDIS_REPLY_STATUS:
        type = RL_REPLY_STATUS;
        break;
    case REDIS_REPLY_ERROR:
        type = RL_REPLY_ERROR;
        break;
    default: /* RESP3 types: we never ask for RESP3 */
        refuse(reader, "the reply is of a kind that RESP2 does not have");
        return NULL;
    }
    struct rl_reply *reply = &reader->reply;
    if (task->parent && reader->texts && reply->count == RL_REPLY_ELEMENTS_MAX &&
        type == RL_REPLY_BULK) {
        reply->more++;
        reader->on_bulk(reader->context, bytes, len);
        return reply;
    }
    struct rl_element *part = part_for(task, type);
    if (!part)
        return NULL;
    size_t room = sizeof(reply->text) - reply->text_len;
    assert(reply->text_len <= sizeof(reply->text));
    part->start = reply->text_len;
    part->len = len;
    part->kept = len < room ? len : room;
    memcpy(reply->text + part->start, bytes, part->kept);
    reply->text_len += part->kept;
    if (type == RL_REPLY_BULK && reader->on_bulk)
        reader->on_bulk(reader->context, bytes, len);
    return reply;
}

#if HIREDIS_MAJOR >= 1
typedef size_t array_size;
#else
typedef int array_size;
#endif

/* R19: An array may be so deep and so long, and no more. */
static void *on_array(const redisReadTask *task, array_size elements)
{
    struct rl_reader *reader = reader_of(task);
    if (task->parent || task->type != REDIS_REPLY_ARRAY) {
        refuse(reader, "the reply is nested");
        return NULL;
    }
    if (elements > (reader->texts ? RL_REPLY_TEXTS_MAX : RL_REPLY_ELEMENTS_MAX)) {
        refuse(reader, "the reply has too many elements");
        return NULL;
    }
    begin_reply(&reader->reply, RL_REPLY_ARRAY);
    return &reader->reply;
}

static void *on_integer(const redisReadTask *task, long long number)
{
    struct rl_element *part = part_for(task, RL_REPLY_INTEGER);
    if (!part)
        return NULL;
    part->integer = number;
    return &reader_of(task)->reply;
}

static void *on_nil(const redisReadTask *task)
{
    if (task->type ==
        REDIS_REPLY_NIL) { /* "_" is RESP3: in RESP2 only strings and arrays can be nil */
        refuse(reader_of(task), "the reply is of a kind that RESP2 does not have");
        return NULL;
    }
    return part_for(task, RL_REPLY_NIL) ? &reader_of(task)->reply : NULL;
}

static void on_free(void *object)
{
    (void)object; /* the one reply lives in the reader */
}

struct rl_reader *rl_reader_new(rl_bulk_fn *on_bulk, void *context)
{
    struct rl_reader *reader = calloc(1, sizeof(*reader));
    if (!reader)
        return NULL;
    /* Named members only: hiredis 1.0 put new ones in the middle. */
    reader->hooks = (redisReplyObjectFunctions){
        .createString = on_string,
        .createArray = on_array,
        .createInteger = on_integer,
        .createNil = on_nil,
        .freeObject = on_free,
    };
    reader->on_bulk = on_bulk;
    reader->context = context;
    reader->most = RL_REPLY_MAX;
    reader->hiredis = redisReaderCreateWithFunctions(&reader->hooks);
    if (!reader->hiredis) {
        free(reader);
        return NULL;
    }
    reader->hiredis->privdata = reader;
    return reader;
}

void rl_reader_free(struct rl_reader *reader)
{
    if (!reader)
        return;
    redisReaderFree(reader->hiredis);
    free(reader);
}

int rl_reader_feed(struct rl_reader *reader, const char *bytes, size_t len)
{
    if (reader->why[0])
        return -1;
    reader->unfinished += len;
    if (redisReaderFeed(reader->hiredis, bytes, len) != REDIS_OK) {
        refuse(reader, "out of memory for a reply");
        return -1;
    }
    return 0;
}

bool rl_reader_idle(const struct rl_reader *reader)
{
    return reader->unfinished == 0 && !reader->why[0];
}

void rl_reader_allow(struct rl_reader *reader, size_t most, bool texts)
{
    assert(!texts || reader->on_bulk);
    reader->most = most;
    reader->texts = texts;
}

/* R19: Whatever comes, a reply has a greatest size. */
int rl_reader_next(struct rl_reader *reader, const struct rl_reply **ret_reply)
{
    void *object = NULL;
    if (reader->why[0])
        return -1;
    if (reader->unfinished == 0)
        return 0; /* the bytes end with the last reply: the usual case */
    if (redisReaderGetReply(reader->hiredis, &object) != REDIS_OK) {
        refuse(reader, reader->hiredis->errstr);
        return -1;
    }
    if (!object) {
        if (reader->unfinished > reader->most) {
            refuse(reader, "the reply is longer than any that was asked for");
            return -1;
        }
        return 0;
    }
    if (object != &reader->reply) {
        refuse(reader, "the reply is of a kind that RESP2 does not have");
        return -1;
    }
    /* The bytes left in hiredis's buffer belong to the next reply. */
    reader->unfinished = reader->hiredis->len - reader->hiredis->pos;
    *ret_reply = &reader->reply;
    return 1;
}

const char *rl_reader_text(const struct rl_reader *reader)
{
    return reader->why;
}

bool rl_part_is(const struct rl_reply *reply, unsigned i, const char *bytes, size_t len)
{
    if (i >= reply->count)
        return false;
    const struct rl_element *part = &reply->part[i];
    return part->len == len && part->kept == len &&
           memcmp(reply->text + part->start, bytes, len) == 0;
}

bool rl_part_copy(const struct rl_reply *reply, unsigned i, char *ret_text, size_t size)
{
    assert(i < reply->count);
    const struct rl_element *part = &reply->part[i];
    if (part->type != RL_REPLY_BULK || part->len >= size || part->kept != part->len)
        return false;
    memcpy(ret_text, reply->text + part->start, part->len);
    ret_text[part->len] = '\0';
    return true;
}

bool rl_error_is(const struct rl_reply *reply, const char *code)
{
    size_t len = strlen(code);
    const struct rl_element *part = &reply->part[0];
    const char *text = reply->text + part->start;
    return reply->type == RL_REPLY_ERROR && part->kept >= len && memcmp(text, code, len) == 0 &&
           (part->kept == len || text[len] == ' ');
}

void rl_error_text(const struct rl_reply *reply, const struct rl_mask *mask, char *ret_text,
                   size_t size)
{
    const struct rl_element *part = &reply->part[0];
    char text[RL_REPLY_TEXT_MAX];
    assert(reply->type == RL_REPLY_ERROR && part->kept <= sizeof(text));
    memcpy(text, reply->text + part->start, part->kept);
    size_t len = rl_mask_text(mask, text, part->kept, part->kept < part->len);
    rl_text_escape(ret_text, size, text, len);
}

const char *rl_reply_kind(const struct rl_reply *reply)
{
    static const char *const kinds[] = {
        [RL_REPLY_STATUS] = "a status", [RL_REPLY_ERROR] = "an error",
        [RL_REPLY_INTEGER] = "a number",      [RL_REPLY_BULK] = "a text",
        [RL_REPLY_NIL] = "nothing (nil)",     [RL_REPLY_ARRAY] = "an array",
    };
    return kinds[reply->type];
}

void rl_unasked_text(const struct rl_reply *reply, const struct rl_mask *mask, char *ret_text,
                     size_t size)
{
    if (reply->type == RL_REPLY_ERROR)
        rl_error_text(reply, mask, ret_text, size);
    else
        snprintf(ret_text, size, "sent something unasked");
}
