/* sim_lie.c - a model master that lies: it executes what it is asked and answers something else.
 * What it says is one of a list, so that each lie can be told to each request. */
#include "config_auto.h"

#include "sim_master_parts.h"

#include <stdio.h>
#include <stdlib.h>

enum { PARTS_MAX = 8, LONG_BYTES = 300 };

/* Whole replies. '@' stands for what proves an answer: the nonce or the token of the true one. */
static const char *const whole[] = {
    /* Words on which a client acts, with and without a text behind them. */
    "-UNCERTIFIED x\r\n",
    "-NOSCRIPT x\r\n",
    "-READONLY x\r\n",
    "-MASTERDOWN x\r\n",
    "-NOAUTH x\r\n",
    "-LOADING x\r\n",
    "-NOPERM x\r\n",
    "-OOM x\r\n",
    "-WRONGTYPE x\r\n",
    "-ERR unknown command\r\n",
    "-UNCERTIFIED\r\n",
    "-WRONGPASS x\r\n",
    "-MISCONF x\r\n",
    "-BUSY x\r\n",
    "-MOVED 1 10.0.0.9:6379\r\n",
    "-\r\n",
    "-ERR x script: 0, on @user_script:1.\r\n",
    "-ERR Error running script (call to f_0): @user_script:99999: @user_script: 1: -OOM x\r\n",
    "-ERR ACL failure in script: x script: 0, on @user_script:3.\r\n",
    /* Other types. */
    "+OK\r\n",
    "+\r\n",
    "+PONG\r\n",
    ":0\r\n",
    ":1\r\n",
    ":-9223372036854775808\r\n",
    "$-1\r\n",
    "*-1\r\n",
    "*0\r\n",
    "$0\r\n\r\n",
    "$3\r\nx y\r\n",
    "*1\r\n*1\r\n:1\r\n",
    "*9\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n",
    /* In the name of what was asked: 0 refused, 1 granted, 2 and 3 for good, 4 unmarked. */
    "@",
    "*1\r\n@-",
    "*2\r\n@-:0\r\n",
    "*2\r\n@-:1\r\n",
    "*2\r\n@-:2\r\n",
    "*2\r\n@-:3\r\n",
    "*2\r\n@-:4\r\n",
    "*2\r\n@-:5\r\n",
    "*2\r\n@-:-1\r\n",
    "*3\r\n@-:1\r\n:0\r\n",
    "*3\r\n@-:1\r\n:1\r\n",
    "*3\r\n@-:1\r\n:9007199254740991\r\n",
    "*3\r\n@-:1\r\n:9007199254740992\r\n",
    "*3\r\n@-:1\r\n:9223372036854775807\r\n",
    "*3\r\n@-:0\r\n:1\r\n",
    "*4\r\n@-:0\r\n:9223372036854775807\r\n$1\r\nx\r\n",
    "*4\r\n@-:0\r\n:-9223372036854775808\r\n$0\r\n\r\n",
    "*4\r\n@-:2\r\n:1\r\n$1\r\nx\r\n",
    "*4\r\n@-:3\r\n:-1\r\n$1\r\nx\r\n",
    "*4\r\n@-:1\r\n:1\r\n$1\r\nx\r\n",
    "*5\r\n@-:0\r\n:1\r\n$1\r\nx\r\n:0\r\n",
    "*5\r\n@-:0\r\n:1\r\n$1\r\nx\r\n:-1\r\n",
    "*5\r\n@-:0\r\n:9223372036854775807\r\n$1\r\nx\r\n:9223372036854775807\r\n",
    "*5\r\n@-:2\r\n:1\r\n$1\r\nx\r\n:-1\r\n",
    "*5\r\n@-:1\r\n:1\r\n$1\r\nx\r\n$1\r\nx\r\n",
    "*5\r\n@-:1\r\n:-2\r\n$0\r\n\r\n$0\r\n\r\n",
    "*5\r\n@-:0\r\n:1\r\n$1\r\nx\r\n$1\r\nx\r\n",
    /* The same of scripts that a connection sends for itself. */
    "*2\r\n@$0\r\n\r\n",
    "*2\r\n@$7\r\nunknown\r\n",
    "*3\r\n@:0\r\n$0\r\n\r\n",
    "*3\r\n@:0\r\n$1\r\nx\r\n",
    "*3\r\n@:9223372036854775807\r\n$1\r\nx\r\n",
    "*3\r\n@:1\r\n$40\r\nn3-ttl3000-drift10000-paranoid-1f2e3d4c \r\n",
    "*3\r\n@:1\r\n$46\r\nn1-ttl9999999999999-drift9999999-open-00000000\r\n",
    "*4\r\n@$9\r\ncertified\r\n$0\r\n\r\n:0\r\n",
    "*4\r\n@$7\r\nreplica\r\n$0\r\n\r\n:0\r\n",
    "*4\r\n@$7\r\nmissing\r\n$16\r\n0123456789abcdef\r\n:9007199254740991\r\n",
    "*4\r\n@$9\r\ncertified\r\n$32\r\n0123456789abcdef0123456789abcdef\r\n:9007199254740991\r\n",
    "*5\r\n@$0\r\n\r\n$4\r\ninit\r\n:0\r\n$0\r\n\r\n",
    "*5\r\n@$1\r\nx\r\n$15\r\nfifteen-letters\r\n:-1\r\n$1\r\nx\r\n",
    "*5\r\n@$1\r\nx\r\n$7\r\nreplica\r\n:9223372036854775807\r\n$0\r\n\r\n",
    /* What INFO may say: behind '=' a bulk. */
    "=role:slave\r\n",
    "=run_id:x\r\nredis_mode:sentinel\r\nrole:master\r\n",
    "=run_id:x\r\nrole:master\r\nuptime_in_seconds:9999999999\r\n",
    "=run_id:y\r\nuptime_in_seconds:9223372036854775807\r\nserver_time_usec:"
    "9223372036854775807\r\nrole:master\r\n",
    "=run_id:z\r\nserver_time_usec:0\r\nuptime_in_seconds:0\r\nloading:1\r\n",
    "=run_id:a\r\nmaxmemory:1\r\nused_memory:9223372036854775807\r\nmem_not_counted_for_"
    "evict:1\r\n",
    "=run_id:0123456789012345678901234567890123456789012345678901234567890\r\nrole:\r\n",
    /* Replies to a subscriber, and messages. */
    "*3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n",
    "*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n",
    "*3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$1\r\ny\r\n",
    "*4\r\n$8\r\npmessage\r\n$1\r\nx\r\n$1\r\ny\r\n$1\r\nz\r\n",
    /* None, and two. */
    "",
    "+OK\r\n+OK\r\n",
};
enum { WHOLE = sizeof(whole) / sizeof(whole[0]) };

/* One element of a true array, or a true reply that is none, is this; "": it is left out. */
static const char *const part[] = {
    "",
    ":-1\r\n",
    ":0\r\n",
    ":1\r\n",
    ":2\r\n",
    ":4\r\n",
    ":2147483648\r\n",
    ":9007199254740991\r\n",
    ":9007199254740992\r\n",
    ":9223372036854775807\r\n",
    ":-9223372036854775808\r\n",
    "$-1\r\n",
    "$0\r\n\r\n",
    "$1\r\nx\r\n",
    "$7\r\n\xff\x9b\xe2\x80\xae\x1b[\r\n",
    "$21\r\n-0000000000000000000 \r\n",
    "+OK\r\n",
    "-UNCERTIFIED x\r\n",
    "*0\r\n",
    "long",
};
enum { PART = sizeof(part) / sizeof(part[0]) };

static struct {
    bool on, always, told;
    unsigned master, which;
    uint64_t at, heard;
    char name[32]; /* of what was answered with the lie */
} lie;

unsigned sim_lies(void)
{
    return WHOLE + PARTS_MAX * PART;
}

void sim_lie_text(unsigned which, char *ret_text, size_t size)
{
    const char *text = which < WHOLE ? whole[which] : part[(which - WHOLE) % PART];
    size_t len = 0;
    if (which >= WHOLE)
        len = (size_t)snprintf(ret_text, size, "element %u is ", (which - WHOLE) / PART);
    for (; *text && len + 5 < size; text++) {
        if (*text >= ' ' && *text <= '~')
            ret_text[len++] = *text;
        else
            len += (size_t)snprintf(ret_text + len, size - len, "\\%03o", (unsigned char)*text);
    }
    ret_text[len] = '\0';
}

void sim_lie_begin(unsigned master, uint64_t at, bool always, unsigned which)
{
    memset(&lie, 0, sizeof(lie));
    lie.on = true;
    lie.master = master;
    lie.at = at;
    lie.always = always;
    lie.which = which;
}

void sim_lie_ends(void)
{
    lie.on = false;
}

uint64_t sim_lie_heard(void)
{
    return lie.heard;
}

const char *sim_lie_of(void)
{
    return lie.told ? lie.name : "nothing";
}

/* ---- the true reply ---------------------------------------------------------------------- */

/* The end of the element that begins here; NULL: it has none. */
static const char *element_end(const char *at, const char *end)
{
    const char *line = memchr(at, '\n', (size_t)(end - at));
    if (!line)
        return NULL;
    long number = strtol(at + 1, NULL, 10);
    const char *next = line + 1;
    if (*at == '$' && number >= 0)
        return number + 2 <= end - next ? next + number + 2 : NULL;
    for (; *at == '*' && number > 0 && next; number--)
        next = next < end ? element_end(next, end) : NULL;
    return next;
}

/* The first bulk of 16 bytes or more: a nonce or a token, with a minus behind it or without. */
static void find_proof(const struct sim_text *out, const char **ret_proof, size_t *ret_len)
{
    bool array = out->len > 0 && out->bytes[0] == '*';
    const char *at = array ? strchr(out->bytes, '\n') + 1 : out->bytes;
    *ret_proof = "0000000000000000";
    *ret_len = 16;
    if (out->len == 0 || *at != '$' || strtol(at + 1, NULL, 10) < 16)
        return;
    *ret_len = (size_t)strtol(at + 1, NULL, 10);
    *ret_proof = strchr(at, '\n') + 1;
    *ret_len -= (*ret_proof)[*ret_len - 1] == '-';
}

/* ---- what is said instead ---------------------------------------------------------------- */

static void say_whole(struct sim_text *out, const char *text)
{
    static struct sim_text said;
    char proof[160];
    const char *found;
    size_t len;
    find_proof(out, &found, &len);
    if (len >= sizeof(proof) - 1)
        len = 16;
    memcpy(proof, found, len);
    said.len = 0;
    if (*text == '=') {
        sim_put_bulk(&said, text + 1, strlen(text + 1));
        text = "";
    }
    for (; *text; text++) {
        if (*text != '@' || text[1] == 'u') { /* "@user_script" is meant */
            sim_text_add(&said, text, 1);
            continue;
        }
        bool minus = text[1] == '-';
        proof[len] = '-';
        sim_put_bulk(&said, proof, len + minus);
        text += minus;
    }
    sim_text_set(out, said.bytes, said.len);
}

static void put_part(struct sim_text *said, const char *text)
{
    char bytes[LONG_BYTES];
    memset(bytes, 'x', sizeof(bytes));
    if (strcmp(text, "long") == 0)
        sim_put_bulk(said, bytes, sizeof(bytes));
    else
        sim_put(said, text);
}

static void say_part(struct sim_text *out, unsigned place, const char *text)
{
    static struct sim_text said;
    const char *at = out->bytes, *end = out->bytes + out->len;
    said.len = 0;
    if (out->len == 0)
        return;
    if (*at != '*') {
        if (place > 0)
            return;
        put_part(&said, text);
        sim_text_set(out, said.bytes, said.len);
        return;
    }
    long count = strtol(at + 1, NULL, 10);
    if (count <= (long)place)
        return;
    sim_put_array(&said, (size_t)(count - (*text == '\0')));
    at = strchr(at, '\n') + 1;
    for (long i = 0; i < count; i++) {
        const char *next = element_end(at, end);
        assert(next);
        if (i == (long)place)
            put_part(&said, text);
        else
            sim_text_add(&said, at, (size_t)(next - at));
        at = next;
    }
    sim_text_add(&said, at, (size_t)(end - at));
    sim_text_set(out, said.bytes, said.len);
}

void sim_lie(struct sim_call *call)
{
    const char *name = call->name ? call->name : call->command ? call->command->name : "?";
    if (!lie.on || call->server->index != lie.master)
        return;
    lie.heard++;
    bool again = lie.told && lie.always && strcmp(lie.name, name) == 0;
    if (lie.heard != lie.at && !again)
        return;
    lie.told = true;
    snprintf(lie.name, sizeof(lie.name), "%s", name);
    if (lie.which < WHOLE)
        say_whole(call->out, whole[lie.which]);
    else
        say_part(call->out, (lie.which - WHOLE) / PART, part[(lie.which - WHOLE) % PART]);
    call->server->troubled++;
    sim_mark_bytes(SIM_MARK_TROUBLE, call->out->bytes, call->out->len);
    sim_tell("n%u lies to %s: %.60s", call->server->index + 1, name, call->out->bytes);
}
