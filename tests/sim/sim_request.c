/* sim_request.c - requests to model masters: bytes, split anywhere, become words, and what is
 * no protocol becomes the error that Redis has for it. */
#include "config_auto.h"

#include "sim_master_parts.h"

#include <limits.h>
#include <stdio.h>

#define LINE_MAX_BYTES (64 * 1024)
#define BULK_MAX (512 * 1024 * 1024)

static bool wrong(struct sim_session *session, const char *what)
{
    snprintf(session->error, sizeof(session->error), "ERR Protocol error: %s", what);
    return true;
}

static void add_word(struct sim_session *session, char *base, size_t at, size_t len)
{
    if (session->words < SIM_WORDS_MAX) {
        session->word_at[session->words] = at;
        session->word_len[session->words] = len;
        session->words++;
        base[at + len] = '\0'; /* over the CR, or a blank */
    }
}

/* "PING\r\n". 1: it is whole; 0: it is not yet; -1: it was empty, and is passed over. */
static int parse_inline(struct sim_session *session, char *base, size_t len)
{
    const char *end = memchr(base, '\n', len);
    if (!end)
        return len > LINE_MAX_BYTES ? wrong(session, "too big inline request") : 0;
    size_t line = (size_t)(end - base);
    session->at = line + 1;
    if (line > 0 && base[line - 1] == '\r')
        line--;
    for (size_t i = 0; i < line;) {
        size_t from = i;
        while (i < line && base[i] != ' ')
            i++;
        if (i > from)
            add_word(session, base, from, i - from);
        i++;
    }
    return session->words > 0 ? 1 : -1;
}

/* A line that is a number of a few digits, as nearly all are. False: look closer. */
static bool take_short_number(struct sim_session *session, const char *base, size_t len,
                              int64_t *ret_number)
{
    size_t from = session->at + 1, at = from;
    int64_t number = 0;
    while (at < len && at - from < 9 && base[at] >= '0' && base[at] <= '9')
        number = number * 10 + (base[at++] - '0');
    if (at == from || at + 2 > len || base[at] != '\r' || (base[from] == '0' && at - from > 1))
        return false;
    session->at = at + 2;
    *ret_number = number;
    return true;
}

/* The number behind the byte at `at`: 1, and `at` is behind its line; 0: it is not all here
 * yet; -1: it is none. */
static int take_number(struct sim_session *session, const char *base, size_t len,
                       int64_t *ret_number)
{
    if (take_short_number(session, base, len, ret_number))
        return 1;
    const char *from = base + session->at;
    const char *end = memchr(from, '\r', len - session->at);
    if (!end || (size_t)(end - base) + 2 > len)
        return 0;
    struct sim_word digits = {from + 1, (size_t)(end - from) - 1};
    if (end == from || !sim_word_integer(&digits, ret_number))
        return -1;
    session->at = (size_t)(end - base) + 2;
    return 1;
}

/* The array's header. As parse_inline(). */
static int parse_header(struct sim_session *session, char *base, size_t len)
{
    if (base[0] != '*')
        return parse_inline(session, base, len);
    int64_t words = 0;
    int got = take_number(session, base, len, &words);
    if (got == 0)
        return len > LINE_MAX_BYTES ? wrong(session, "too big mbulk count string") : 0;
    if (got < 0 || words > INT_MAX)
        return wrong(session, "invalid multibulk length");
    if (words > 10 && !session->authenticated)
        return wrong(session, "unauthenticated multibulk length");
    session->words_left = words > 0 ? words : 0;
    session->bulk_left = -1;
    return -1;
}

/* The next word. 1: all are here; 0: not yet; -1: on to the next. */
static int parse_word(struct sim_session *session, char *base, size_t len)
{
    if (session->bulk_left < 0) {
        if (session->at == len)
            return 0;
        int64_t bytes = 0;
        size_t at = session->at;
        int got = take_number(session, base, len, &bytes);
        if (got == 0)
            return len - at > LINE_MAX_BYTES ? wrong(session, "too big bulk count string") : 0;
        if (base[at] != '$') {
            char text[] = "expected '$', got '?'";
            text[sizeof(text) - 3] = base[at];
            return wrong(session, text);
        }
        if (got < 0 || bytes < 0 || bytes > BULK_MAX)
            return wrong(session, "invalid bulk length");
        if (bytes > 16384 && !session->authenticated)
            return wrong(session, "unauthenticated bulk length");
        session->bulk_left = bytes;
    }
    size_t bytes = (size_t)session->bulk_left;
    if (len - session->at < bytes + 2)
        return 0;
    add_word(session, base, session->at, bytes);
    session->at += bytes + 2;
    session->bulk_left = -1;
    return --session->words_left == 0 ? 1 : -1;
}

bool sim_request_parse(struct sim_session *session)
{
    int got = -1;
    while (got < 0) {
        char *base = session->in.bytes + session->start;
        size_t len = session->in.len - session->start;
        if (session->words_left == 0) {
            session->start += session->at; /* what was passed over */
            base += session->at;
            len -= session->at;
            session->at = 0;
            got = len > 0 ? parse_header(session, base, len) : 0;
        } else {
            got = parse_word(session, base, len);
        }
    }
    return got > 0;
}

void sim_request_words(const struct sim_session *session, struct sim_word *ret_words)
{
    const char *base = session->in.bytes + session->start;
    for (unsigned i = 0; i < session->words; i++)
        ret_words[i] = (struct sim_word){base + session->word_at[i], session->word_len[i]};
}

void sim_request_done(struct sim_session *session)
{
    session->start += session->at;
    session->at = 0;
    session->words = 0;
    if (session->start == session->in.len)
        session->start = session->in.len = 0;
}
