/* sim_real_some.c - see sim_real_some.h. */
#include "config_auto.h"

#include "sim_real_some.h"

#include "kinds/keys.h"
#include "sim_real_words.h"

#include <stdio.h>
#include <string.h>

static struct rl_prng *draws;

void words_draw_from(struct rl_prng *prng)
{
    draws = prng;
}

unsigned some_below(unsigned n)
{
    return (unsigned)rl_prng_below(draws, n);
}

const char *some_lock(void)
{
    static const char *const locks[] = {"a", "orders:42", "x y", "l\xff\x01z", "shared"};
    return locks[some_below(5)];
}

/* Where mostly readers and writers are; where owners are that take it again. */
const char *some_shared(void)
{
    static const char *const locks[] = {"rw", "r w", "{rw}:1"};
    return some_below(8) ? locks[some_below(3)] : some_lock();
}

const char *some_nested(void)
{
    static const char *const locks[] = {"re", "r e", "{re}:1"};
    return some_below(8) ? locks[some_below(3)] : some_lock();
}

/* Where owners stand in a queue. */
const char *some_fair(void)
{
    static const char *const locks[] = {"f", "f f", "{f}:1"};
    return some_below(8) ? locks[some_below(3)] : some_lock();
}

/* Where readers and writers of one master are. */
const char *some_rw(void)
{
    static const char *const locks[] = {"w", "w w", "{w}:1"};
    return some_below(8) ? locks[some_below(3)] : some_lock();
}

/* The locks of that script's kind. */
const char *lock_for(const char *script)
{
    if (strncmp(script, "read_", 5) == 0 || strncmp(script, "write_", 6) == 0)
        return some_rw();
    return script[0] == 'q'   ? some_shared()
           : script[0] == 'r' ? some_nested()
           : script[0] == 'f' ? some_fair()
                              : some_lock();
}

const char *some_queue(void)
{
    static char queue[64];
    snprintf(queue, sizeof(queue), "{%s}:redlock:queue", some_lock());
    return queue;
}

const char *some_token(void)
{
    static const char *const tokens[] = {"tok-1", "tok-2", "tok-3:host", "", "0"};
    return tokens[some_below(10) ? some_below(3) : some_below(5)];
}

const char *some_owner(void)
{
    static const char *const owners[] = {"ann", "a", "a:1", "1:a", "%d.*", ""};
    return owners[some_below(20) ? some_below(5) : some_below(6)];
}

/* No two are the same, nor near to each other: who is in a set is in one order then. */
const char *some_lease(void)
{
    static const char *const odd[] = {"abc", "", "-1", "-7200000"};
    static char lease[24];
    static unsigned last;
    if (some_below(40) == 0)
        return odd[some_below(4)];
    snprintf(lease, sizeof(lease), "%u000%s", 36000 + 1000 * (++last % 100000),
             some_below(8) ? "" : ".5");
    return lease;
}

/* The key of that letter, of some lock. */
const char *some_key(char letter, const char *lock)
{
    static char key[RL_KEY_MAX + 1];
    struct rl_target target = {.name = lock, .name_len = strlen(lock)};
    key[rl_key_text(letter, &target, key)] = '\0';
    return key;
}

const char *some_waiter(void)
{
    static char waiter[64];
    if (some_below(40) == 0)
        return some_below(2) ? "w" : "";
    snprintf(waiter, sizeof(waiter), "0000000%u-aaaa-bbbb-cccc-123456789abc:%u", some_below(4),
             1 + some_below(3));
    return waiter;
}

const char *some_channel(void)
{
    static char channel[64];
    if (some_below(10) == 0)
        return "other";
    snprintf(channel, sizeof(channel), "redlock:wake:0000000%u-aaaa-bbbb-cccc-123456789abc",
             some_below(4));
    return channel;
}

/* Of a hold that reads or writes. */
const char *some_lease_key(void)
{
    static char key[RL_KEY_MAX + 64];
    snprintf(key, sizeof(key), "%s:%s%s:rwlock_timeout:%u", some_key('b', some_rw()),
             some_owner(), some_below(2) ? "" : ":write", 1 + some_below(3));
    return key;
}

const char *some_fair_channel(void)
{
    static char channel[RL_KEY_MAX + 8];
    snprintf(channel, sizeof(channel), "%s:%s", some_key('c', some_below(2) ? "f" : "{f}:1"),
             some_below(2) ? "a" : "ann");
    return channel;
}

/* Hours, so that no delay of ours changes which of two is longer; some of no use. */
const char *some_ttl(void)
{
    static const char *const odd[] = {
        "0",   "-1", "abc",      "",    "1.5",  "9223372036854775807",
        "010", "+5", " 7200000", "1e7", "0x10", "-0"};
    static char ttl[24];
    if (some_below(25) == 0)
        return odd[some_below(12)];
    snprintf(ttl, sizeof(ttl),
             "%u"
             "600000",
             36 * (1 + some_below(6)));
    return ttl;
}

/* A waiter of a fair lock lives for hours, or has been silent for as long. No two lives are the
 * same, or times that are counted from two moments might be, or not. */
const char *some_life(void)
{
    static char life[24];
    static unsigned last;
    if (some_below(40) == 0)
        return "-7200000";
    snprintf(life, sizeof(life), "%u000", 7261 + 997 * (++last % 10000));
    return life;
}

/* How long before its tokens a lock may end. No two ends are so far apart, nor nearly: those of
 * one script are apart by as long as it ran, and all others by 200 seconds or more. */
const char *some_gap(void)
{
    static const char *const gaps[] = {"500", "500000", "x"};
    return gaps[some_below(40) ? some_below(2) : 2];
}

const char *some_age(void)
{
    static const char *const odd[] = {"x",   "",    "500000000000.5", "-7000000000.4", "1e13",
                                      "inf", "nan", " 300000000000 ", "-inf"};
    static char age[24];
    if (some_below(40) == 0)
        return odd[some_below(9)];
    snprintf(age, sizeof(age), "%u000000000", 1 + some_below(19)); /* 1000 s apart */
    return age;
}
