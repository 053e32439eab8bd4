/* script_error.c - see script_error.h.
 *
 * A script that fails ends in one of these texts:
 *   Redis 7    "ERR The user ... script: SHA, on @user_script:LINE."
 *   Redis 8    "ERR ACL failure in script: User ... script: SHA, on @user_script:LINE."
 *   Redis 6.2  "ERR Error running script (call to f_SHA): @user_script:LINE: @user_script:
 * LINE: The user ...", with "-OOM ..." where that is no error of the script's own
 */
#include "config_auto.h"

#include "kinds/script_error.h"

#include "base/text_escape.h"
#include "kinds/marker.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define PLACE "@user_script:"
#define CALL "call('" /* redis.call, or a local name of it */

/* The number at the beginning of a text, and what follows it. -1: there is none. */
static int take_line(const char *text, const char **ret_rest)
{
    int line = 0;
    if (!isdigit((unsigned char)*text))
        return -1;
    for (; isdigit((unsigned char)*text) && line < 100000; text++)
        line = 10 * line + (*text - '0');
    *ret_rest = text;
    return line;
}

/* A line of a text, of which each part ends in a newline. NULL: the text has fewer lines, and
 * `*line` is what remains. */
static const char *line_of(const char *const *parts, int *line)
{
    for (; *parts; parts++) {
        for (const char *at = *parts; *at; at = strchr(at, '\n') + 1) {
            if (--*line == 0)
                return at;
        }
    }
    return NULL;
}

/* The commands that this line of a script calls, and which can make it fail. */
static void put_commands(const char *line, char *ret_text, size_t size)
{
    size_t len = 0;
    ret_text[0] = '\0';
    const char *end = line ? strchr(line, '\n') : NULL;
    for (const char *at = line; end && (at = strstr(at, CALL)) && at < end;) {
        bool fails = at == line || at[-1] != 'p'; /* a pcall does not */
        at += sizeof(CALL) - 1;
        if (!fails)
            continue;
        size_t word = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        if (word > 0 && len + word + 8 < size)
            len += (size_t)snprintf(ret_text + len, size - len, "%s%.*s", len ? " or " : "",
                                    (int)word, at);
    }
}

/* The message without the place: it begins at `*at` and has `*ret_len` bytes. Returns the line,
 * or -1. */
static int message_of(const char **at, size_t *ret_len)
{
    const char *place = strstr(*at, PLACE), *rest, *tail = NULL;
    *ret_len = strlen(*at);
    int line = place ? take_line(place + sizeof(PLACE) - 1, &rest) : -1;
    if (line < 0)
        return -1;
    for (const char *next = *at; (next = strstr(next, " script: ")) && next < place; next++)
        tail = next; /* the last one, because the message may have one as well */
    if (tail) {
        *ret_len = (size_t)(tail - *at);
    } else if (strncmp(*at, "ERR Error running script (", 26) == 0 &&
               (place = strstr(rest, PLACE " ")) &&
               take_line(place + sizeof(PLACE), &rest) >= 0 && strncmp(rest, ": ", 2) == 0) {
        *at = rest + (rest[2] == '-' ? 3 : 2);
        *ret_len = strlen(*at);
    }
    return line;
}

void rl_script_error(const struct rl_script *script, bool fenced, bool strict,
                     const char *error, char *ret_text, size_t size)
{
    const char *const *body = fenced ? script->fenced_body : script->body;
    char commands[48], where[96];
    size_t len;
    assert(script->name && body && size >= RL_SCRIPT_ERROR_MIN);
    int line = message_of(&error, &len);
    if (line < 0) {
        rl_text_escape(ret_text, size, error, len); /* for it cuts no character */
        return;
    }
    const char *const before[] = {strict ? rl_marker_strict : NULL, NULL};
    const char *text = line_of(before, &line);
    put_commands(text ? text : line_of(body, &line), commands, sizeof(commands));
    int where_len = snprintf(where, sizeof(where), " (%s%sin %s)", commands,
                             *commands ? " " : "", script->name);
    assert(where_len > 0 && (size_t)where_len < sizeof(where));
    size_t put = rl_text_escape(ret_text, size - (size_t)where_len, error, len);
    memcpy(ret_text + put, where, (size_t)where_len + 1);
}

bool rl_script_error_denies(const char *error)
{
    return strncmp(error, "NOPERM", 6) == 0 || strstr(error, "ACL failure in script") ||
           strstr(error, "user executing the script can't");
}
