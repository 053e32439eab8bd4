/* sim_real_lines.c - see sim_real_words.h: lines of words, some of which are drawn. */
#include "config_auto.h"

#include "sim_real_some.h"

#include "sim_master_rig.h"

#include <stdio.h>
#include <string.h>

/* The words of a line, and in place of %l, %q ... a lock, a queue ... */
static void make_line(struct pair_words *words, const char *line)
{
    char word[64];
    while (*line) {
        size_t len = strcspn(line, " ");
        snprintf(word, sizeof(word), "%.*s", (int)len, line);
        line += len + (line[len] == ' ');
        const char *name = some_verb();
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
                         : word[1] == 'f' ? some_fair()
                         : word[1] == 'W' ? some_rw()
                         : word[1] == 'M' ? some_key('m', some_rw())
                         : word[1] == 'T' ? some_key('R', some_rw())
                         : word[1] == 'B' ? some_lease_key()
                         : word[1] == 'P' ? some_key('C', some_rw())
                         : word[1] == 'o' ? some_owner()
                         : word[1] == 'Q' ? some_key('Q', some_fair())
                         : word[1] == 'O' ? some_key('O', some_fair())
                         : word[1] == 'S' ? some_key('s', some_fair())
                         : word[1] == 'F' ? some_fair_channel()
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
    "HGET %W mode",
    "HGET %W mode",
    "HGET %W a",
    "HGET %W ann:write",
    "HGET %W a:1:write",
    "PTTL %W",
    "PTTL %B",
    "GET %B",
    "GET %B",
    "DEL %B",
    "DEL %W",
    "SCARD %M",
    "SCARD %T",
    "PTTL %M",
    "PTTL %T",
    "DEL %M",
    "DEL %T",
    "LRANGE %Q 0 -1",
    "LRANGE %Q 0 -1",
    "LLEN %Q",
    "ZRANGE %O 0 -1",
    "ZRANGE %O 0 -1",
    "ZCARD %S",
    "PTTL %Q",
    "PTTL %S",
    "PTTL %f",
    "HGET %f a",
    "DEL %f",
    "ZREM %O %o",
    "ZREM %S %o",
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
    "HSET %W a 2",
    "HSET %W ann:write 2",
    "HSET %W mode write",
    "HSET %W mode read",
    "HSET %W mode x",
    "HSET %W a x",
    "SADD %T turn",
    "SET %M foreign",
    "SET %T foreign",
    "ZADD %W 1 foreign",
    "SET %W foreign",
    "SET %Q foreign",
    "SET %O foreign",
    "SADD %S foreign",
    "RPUSH %Q one one",
    "RPUSH %O foreign",
    "RPUSH %f foreign",
    "SET %f foreign",
    "HSET %f a 2",
    "HSET %f a 2 a:1 x",
    "DEL %Q %O %S",
    "DEL %O",
    "DEL %S",
    "DEL %Q %O %S",
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
    "SUBSCRIBE %P",   "UNSUBSCRIBE %P", "SUBSCRIBE %F",    "SUBSCRIBE %F", "UNSUBSCRIBE %F",
    "SUBSCRIBE %L",   "UNSUBSCRIBE %L", "SUBSCRIBE %C",    "SUBSCRIBE %C", "UNSUBSCRIBE %C",
    "SUBSCRIBE %c",   "SUBSCRIBE %c",   "SUBSCRIBE %c %c", "SUBSCRIBE",    "UNSUBSCRIBE %c",
    "UNSUBSCRIBE %c", "PING",           "PING x",
};

#define ONE_OF(lines) lines[some_below(sizeof(lines) / sizeof(lines[0]))]

void make_command(struct pair_words *words, bool listens)
{
    unsigned what = some_below(100);
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
