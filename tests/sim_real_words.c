/* sim_real_words.c - see sim_real_words.h. */
#include "config_auto.h"

#include "sim_real_words.h"

#include "key.h"
#include "sim_master_rig.h"
#include "suite.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct rl_prng *draws;

void words_draw_from(struct rl_prng *prng)
{
    draws = prng;
}

static unsigned below(unsigned n)
{
    return (unsigned)rl_prng_below(draws, n);
}

void pair_word(struct pair_words *words, const char *word)
{
    size_t size = strlen(word) + 1;
    if (words->count == PAIR_WORDS_MAX || words->used + size > sizeof(words->bytes))
        suite_die("a command is too long");
    memcpy(words->bytes + words->used, word, size);
    words->word[words->count++] = words->bytes + words->used;
    words->used += size;
}

void pair_line(struct pair_words *words, ...)
{
    va_list arguments;
    const char *word;
    va_start(arguments, words);
    while ((word = va_arg(arguments, const char *)))
        pair_word(words, word);
    va_end(arguments);
}

static const char *upper_case(const char *text)
{
    static char upper[64];
    size_t i = 0;
    for (; text[i] && i < sizeof(upper) - 1; i++)
        upper[i] = (char)toupper((unsigned char)text[i]);
    upper[i] = '\0';
    return upper;
}

/* ---- what commands are made of ----------------------------------------------------------- */

const char *some_lock(void)
{
    static const char *const locks[] = {"a", "orders:42", "x y", "l\xff\x01z", "shared"};
    return locks[below(5)];
}

/* Where mostly readers and writers are; where owners are that take it again. */
static const char *some_shared(void)
{
    static const char *const locks[] = {"rw", "r w", "{rw}:1"};
    return below(8) ? locks[below(3)] : some_lock();
}

static const char *some_nested(void)
{
    static const char *const locks[] = {"re", "r e", "{re}:1"};
    return below(8) ? locks[below(3)] : some_lock();
}

/* The locks of that script's kind. */
static const char *lock_for(const char *script)
{
    return script[0] == 'q' ? some_shared() : script[0] == 'r' ? some_nested() : some_lock();
}

const char *some_queue(void)
{
    static char queue[64];
    snprintf(queue, sizeof(queue),
             "%s"
             ":redlock:queue",
             some_lock());
    return queue;
}

static const char *some_token(void)
{
    static const char *const tokens[] = {"tok-1", "tok-2", "tok-3:host", "", "0"};
    return tokens[below(10) ? below(3) : below(5)];
}

static const char *some_owner(void)
{
    static const char *const owners[] = {"ann", "a", "a:1", "1:a", "%d.*", ""};
    return owners[below(20) ? below(5) : below(6)];
}

/* No two are the same, nor near to each other: who is in a set is in one order then. */
static const char *some_lease(void)
{
    static const char *const odd[] = {"abc", "", "-1", "-7200000"};
    static char lease[24];
    static unsigned last;
    if (below(40) == 0)
        return odd[below(4)];
    snprintf(lease, sizeof(lease), "%u000%s", 36000 + 1000 * (++last % 100000),
             below(8) ? "" : ".5");
    return lease;
}

/* The key of that letter, of some lock. */
static const char *some_key(char letter, const char *lock)
{
    static char key[RL_KEY_MAX + 1];
    struct rl_target target = {.name = lock, .name_len = strlen(lock)};
    key[rl_key_text(letter, &target, key)] = '\0';
    return key;
}

static const char *some_waiter(void)
{
    static char waiter[64];
    if (below(40) == 0)
        return below(2) ? "w" : "";
    snprintf(waiter, sizeof(waiter), "0000000%u-aaaa-bbbb-cccc-123456789abc:%u", below(4),
             1 + below(3));
    return waiter;
}

static const char *some_channel(void)
{
    static char channel[64];
    if (below(10) == 0)
        return "other";
    snprintf(channel, sizeof(channel), "redlock:wake:0000000%u-aaaa-bbbb-cccc-123456789abc",
             below(4));
    return channel;
}

/* Hours, so that no delay of ours changes which of two is longer; some of no use. */
static const char *some_ttl(void)
{
    static const char *const odd[] = {
        "0",   "-1", "abc",      "",    "1.5",  "9223372036854775807",
        "010", "+5", " 7200000", "1e7", "0x10", "-0"};
    static char ttl[24];
    if (below(25) == 0)
        return odd[below(12)];
    snprintf(ttl, sizeof(ttl),
             "%u"
             "600000",
             36 * (1 + below(6)));
    return ttl;
}

static const char *some_age(void)
{
    static const char *const odd[] = {"x",   "",    "500000000000.5", "-7000000000.4", "1e13",
                                      "inf", "nan", " 300000000000 ", "-inf"};
    static char age[24];
    if (below(40) == 0)
        return odd[below(9)];
    snprintf(age, sizeof(age), "%u000000000", below(20)); /* 1000 s apart */
    return age;
}

/* ---- commands --------------------------------------------------------------------------- */

static const char *const names[] = {"acquire", "extend", "retake", "release", "wait", "leave"};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

static void script_arguments(struct pair_words *words, const char *name, bool leases)
{
    const char *args = script_arg_letters(name);
    pair_word(words, "0123456789abcdef");
    for (; *args; args++)
        pair_word(words, *args == 't'             ? some_token()
                         : *args == 'o'           ? some_owner()
                         : *args == 'T' && leases ? some_lease()
                         : *args == 'T'           ? some_ttl()
                         : *args == 'w'           ? some_waiter()
                         : *args == 'a'           ? some_age()
                         : *args == 'q'           ? some_ttl()
                         : *args == 'm'           ? some_ttl()
                         : below(5)               ? some_ttl()
                                                  : "0");
}

/* The keys of one lock, by their letters; some of another's. */
static void script_key_words(struct pair_words *words, const char *name)
{
    const char *lock = lock_for(name), *letters = script_key_letters(name);
    struct rl_target target = {.name = lock, .name_len = strlen(lock)};
    for (; *letters; letters++) {
        char key[RL_KEY_MAX + 1];
        key[rl_key_text(*letters, &target, key)] = '\0';
        if (*letters == 'n' || below(40))
            pair_word(words, key);
        else
            pair_word(words,
                      *letters == 'q' && below(2) ? lock : some_key(*letters, lock_for(name)));
    }
}

static const char *draw_script(void)
{
    static const unsigned weights[] = {15, 8, 6, 28, 32, 11};
    static const char *const sets[] = {
        "qread_acquire",  "qread_wait",     "qread_wait",     "qread_extend",
        "qread_retake",   "qread_release",  "qread_release",  "qread_release",
        "qwrite_acquire", "qwrite_wait",    "qwrite_wait",    "qwrite_extend",
        "qwrite_retake",  "qwrite_release", "qwrite_release", "qwrite_leave",
    };
    static const char *const nested[] = {
        "reentrant_acquire", "reentrant_wait",   "reentrant_wait",    "reentrant_release",
        "reentrant_release", "reentrant_extend", "reentrant_release", "reentrant_retake",
    };
    unsigned what = below(100), which = 0;
    if (below(5) == 0)
        return nested[below(sizeof(nested) / sizeof(nested[0]))];
    if (below(4) == 0)
        return sets[below(sizeof(sets) / sizeof(sets[0]))];
    while (what >= weights[which])
        what -= weights[which++];
    return names[which];
}

/* Mostly by hash; some with a word too few or too many, or a number of keys that is not so. */
static void make_script(struct pair_words *words)
{
    static const char *const numbers[] = {"0", "1", "2", "3", "-1", "x", "", "99"};
    const char *name = draw_script(), *letters = script_key_letters(name);
    char keys[24];
    bool odd = below(30) == 0;
    snprintf(keys, sizeof(keys), "%zu", strlen(letters));
    if (below(8) == 0) {
        pair_word(words, "EVAL");
        pair_word(words, script_body(name));
    } else {
        pair_word(words, below(20) ? "EVALSHA" : "evalSHA");
        pair_word(words, below(50) ? script_sha(name) : upper_case(script_sha(name)));
    }
    pair_word(words, odd && below(2) ? numbers[below(8)] : keys);
    script_key_words(words, name);
    script_arguments(words, name, strchr(name, '_')); /* all but plain ones */
    if (odd && below(2))
        words->count -= 1 + below(words->count - 2);
    else if (odd && below(3) == 0)
        pair_word(words, "more");
}

/* The words of a line, and in place of %l, %q ... a lock, a queue ... */
static void make_line(struct pair_words *words, const char *line)
{
    char word[64];
    while (*line) {
        size_t len = strcspn(line, " ");
        snprintf(word, sizeof(word), "%.*s", (int)len, line);
        line += len + (line[len] == ' ');
        const char *name = names[below(NAMES)];
        pair_word(words, word[0] != '%'   ? word
                         : word[1] == 'l' ? some_lock()
                         : word[1] == 'q' ? some_queue()
                         : word[1] == 't' ? some_token()
                         : word[1] == 'n' ? some_ttl()
                         : word[1] == 'w' ? some_waiter()
                         : word[1] == 'c' ? some_channel()
                         : word[1] == 'r' ? some_shared()
                         : word[1] == 'e' ? some_nested()
                         : word[1] == 'm' ? some_key('m', some_shared())
                         : word[1] == 'R' ? some_key('R', some_shared())
                         : word[1] == 'h' ? some_key('h', some_nested())
                         : word[1] == 'C' ? some_key('C', some_shared())
                         : word[1] == 'L' ? some_key('c', some_nested())
                         : word[1] == 'b' ? script_body(name)
                                          : script_sha(name));
    }
}

static const char *const on_keys[] = {
    "GET %l",
    "GET %l",
    "SET %l %t PX %n",
    "SET %l %t PX %n",
    "SET %l %t NX PX %n",
    "SET %l %t NX PX %n",
    "set %l peer XX",
    "SET %l peer KEEPTTL",
    "SET %l peer XX GET",
    "SET %l peer KEEPTTL NX",
    "SET %l %t EX 5000",
    "DEL %l",
    "DEL %l",
    "DEL %l %q",
    "PTTL %l",
    "PTTL %l",
    "PTTL %q",
    "PEXPIRE %l %n",
    "PEXPIRE %q %n",
    "ZADD %q 5 %w",
    "ZADD %q 6 %w 7 %w",
    "ZADD %q x %w",
    "ZADD %q 5 %w 7",
    "ZRANGE %q 0 -1",
    "ZRANGE %q -2 -1",
    "ZRANGE %q 1 x",
    "ZCARD %q",
    "TYPE %q",
    "TYPE %l",
    "ZREM %q %w %w",
    "DBSIZE",
    "EXISTS %l %q",
    "SELECT 0",
    "SELECT 0",
    "SELECT 0",
    "SELECT 0",
    "SELECT 0",
    /* foreign data where a lock, or a queue, is to be, and no more of it */
    "ZADD %l 1 foreign",
    "SET %q foreign",
    "DEL %l",
    "DEL %q",
    "DEL %l %q",
    "DEL %m",
    "GET %R",
    "PTTL %R",
    "DEL %R",
    "GET %m",
    "PTTL %m",
    "ZADD %m 1 foreign",
    "ZADD %R 1 foreign",
    "ZRANGE %r 0 -1",
    "ZRANGE %r 0 -1",
    "PTTL %r",
    "DEL %r",
    "TYPE %r",
    "HGET %e ann",
    "HGET %e a:1",
    "SCARD %h",
    "PTTL %h",
    "PTTL %e",
    "DEL %e",
    "DEL %h",
};

static const char *const now_and_then[] = {
    "SCRIPT FLUSH",
    "SCRIPT FLUSH SYNC",
    "SCRIPT FLUSH x",
    "FLUSHALL",
    "FLUSHDB",
    "SELECT 1",
    "SELECT 16",
    "SELECT x",
    "SET",
    "SET %l",
    "SET %l %t PX",
    "SET %l %t NX XX",
    "PEXPIRE %l",
    "ZADD %l",
    "ZADD %q 1",
    "GET",
    "GET %l %l",
    "DEL",
    "ZRANGE %q",
    "PTTL",
    "GET %q",
    "ZCARD %l",
    "ZADD %r 1 foreign",
    "SET %r foreign",
    "HSET %e ann 2",
    "HSET %e ann x a:1 0",
    "HSET %e mode read",
    "HSET %e mode read x",
    "SADD %h tok-1 foreign",
    "SADD %e foreign",
    "SET %h foreign",
    "SET %e foreign",
    "DEL %e %h",
    "DEL %e %h",
    "DEL %r",
    "DBSIZE x",
    "EXISTS",
};

static const char *const talk[] = {
    "PING",
    "PING a\r\nb",
    "PING a b",
    "CLIENT SETNAME me",
    "CLIENT SETNAME m\x01",
    "CLIENT FOO",
    "CLIENT",
    "CLIENT SETNAME",
    "AUTH x",
    "AUTH default x",
    "AUTH nobody x",
    "AUTH a b c",
    "PUBLISH %c %w",
    "PUBLISH %c %w",
    "SCRIPT LOAD %b",
    "script load %b",
    "SCRIPT EXISTS %s",
    "SCRIPT EXISTS %s ffff",
    "SCRIPT",
    "SCRIPT nonsense",
    "FOO",
    "FOO %t b\r\nc",
    "EVALSHA",
    "EVALSHA %s",
    "EVALSHA ffff 0",
    "EVALSHA ffffffffffffffffffffffffffffffffffffffff 0",
    "EVALSHA ffffffffffffffffffffffffffffffffffffffff 5",
};

/* All channels at once are left in an order that nobody knows. */
static const char *const listening[] = {
    "SUBSCRIBE %L",   "UNSUBSCRIBE %L", "SUBSCRIBE %C",    "SUBSCRIBE %C", "UNSUBSCRIBE %C",
    "SUBSCRIBE %c",   "SUBSCRIBE %c",   "SUBSCRIBE %c %c", "SUBSCRIBE",    "UNSUBSCRIBE %c",
    "UNSUBSCRIBE %c", "PING",           "PING x",
};

#define ONE_OF(lines) lines[below(sizeof(lines) / sizeof(lines[0]))]

void make_command(struct pair_words *words, bool listens)
{
    unsigned what = below(100);
    words->count = 0;
    words->used = 0;
    if (listens && what < 60)
        make_line(words, ONE_OF(listening));
    else if (what < 75)
        make_script(words);
    else if (what < 91)
        make_line(words, ONE_OF(on_keys));
    else if (what < 92)
        make_line(words, ONE_OF(now_and_then));
    else
        make_line(words, ONE_OF(talk));
}
