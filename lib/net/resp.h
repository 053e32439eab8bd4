/* resp.h - the Redis protocol: the library encodes requests itself. hiredis's redisReader reads
 * replies through hooks that fill one small struct. The hooks refuse all that a master must not
 * send us: nesting, long arrays, RESP3, replies without end.
 *
 * Builds against hiredis 0.14.1 and 1.x.
 */
#ifndef RL_RESP_H
#define RL_RESP_H

#include "base/mask.h"

#include <stdbool.h>

/* ---- requests ------------------------------------------------------------------------- */

/* An output buffer that is never overrun: `overflow` is set instead. */
struct rl_out {
    char *bytes;
    size_t size;
    size_t len;
    bool overflow;
};

void rl_out_init(struct rl_out *out, char *bytes, size_t size);
void rl_put_raw(struct rl_out *out, const char *bytes, size_t len); /* as it is */
#define RL_PUT_LITERAL(out, text) rl_put_raw(out, text, sizeof(text) - 1)
void rl_put_array(struct rl_out *out, unsigned elements);
void rl_put_bulk(struct rl_out *out, const void *bytes, size_t len);
void rl_put_text(struct rl_out *out, const char *text);
void rl_put_texts(struct rl_out *out, const char *text,
                  const char *const *more); /* and NULL behind them: as one */
void rl_put_number(struct rl_out *out, int64_t number);

#define RL_NONCE_LEN 16
void rl_nonce_text(uint64_t nonce, char ret_text[RL_NONCE_LEN]);

/* ---- replies -------------------------------------------------------------------------- */

enum rl_reply_type {
    RL_REPLY_STATUS,
    RL_REPLY_ERROR,
    RL_REPLY_INTEGER,
    RL_REPLY_BULK,
    RL_REPLY_NIL,
    RL_REPLY_ARRAY
};

struct rl_element {
    enum rl_reply_type type;
    int64_t integer;
    size_t start; /* STATUS, ERROR, BULK: where in `text` the kept bytes begin */
    size_t kept;
    size_t len; /* as it was sent */
};

/* A reply; the parts of an array, or the one part of anything else. */
struct rl_reply {
    enum rl_reply_type type;
    unsigned count;
    unsigned more; /* texts of an array behind those parts: only on_bulk has seen them */
    struct rl_element part[RL_REPLY_ELEMENTS_MAX];
    size_t text_len;
    char text[RL_REPLY_TEXT_MAX];
};

struct rl_reader;

/* Receives each whole bulk while the reader parses. Long bulks (INFO) need it, because only
 * RL_REPLY_TEXT_MAX bytes of a reply are kept. May be NULL. */
typedef void rl_bulk_fn(void *context, const char *bytes, size_t len);

/* Are the functions that the process has bound those of the hiredis that this was built for?
 * False: `why` says whose they are. */
bool rl_reader_is_ours(char *why, size_t size);

struct rl_reader *rl_reader_new(rl_bulk_fn *on_bulk, void *context); /* NULL: no memory */
void rl_reader_free(struct rl_reader *reader);

/* 0, or -1: see rl_reader_text. */
int rl_reader_feed(struct rl_reader *reader, const char *bytes, size_t len);

/* Do the bytes so far end with a whole reply? */
bool rl_reader_idle(const struct rl_reader *reader);

/* Set the longest reply allowed from now on, in bytes; RL_REPLY_MAX at first. `texts`: an array
 * may have up to RL_REPLY_TEXTS_MAX elements, and is of texts behind the first
 * RL_REPLY_ELEMENTS_MAX. */
void rl_reader_allow(struct rl_reader *reader, size_t most, bool texts);

/* 1: *ret_reply is the next reply, valid until the next call. 0: it has not come whole yet. -1:
 * the bytes are no reply of a master; the link must be closed. */
int rl_reader_next(struct rl_reader *reader, const struct rl_reply **ret_reply);

/* The reason for -1, printable. */
const char *rl_reader_text(const struct rl_reader *reader);

/* Is part i of the reply exactly these bytes? */
bool rl_part_is(const struct rl_reply *reply, unsigned i, const char *bytes, size_t len);

/* Copy part i, which the reply has, with a NUL behind it. False: it is no bulk, or does not fit. */
bool rl_part_copy(const struct rl_reply *reply, unsigned i, char *ret_text, size_t size);

/* Is it an error of this code, its first word? Ask this and not the text, which is masked. */
bool rl_error_is(const struct rl_reply *reply, const char *code);

/* The text of an error reply: printable, cut, and with passwords masked. */
void rl_error_text(const struct rl_reply *reply, const struct rl_mask *mask, char *ret_text,
                   size_t size);

/* "a number": what came, where something else was asked for. */
const char *rl_reply_kind(const struct rl_reply *reply);

/* The text of a reply to no request: "max number of clients reached" comes so. */
void rl_unasked_text(const struct rl_reply *reply, const struct rl_mask *mask, char *ret_text,
                     size_t size);

#endif
