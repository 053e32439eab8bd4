/* sim_story.c - what happens, twice: as a hash of the history, and as lines to be read. */
#include "config_auto.h"

#include "sim_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash;

static struct {
    void (*take)(void *context, const char *line);
    void *context;
} teller;

/* ---- marks ---------------------------------------------------------------------------- */

static void mix(uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
    hash ^= hash >> 32;
}

/* The seed is not in it: two seeds that lead to one history have one hash. */
void sim_story_begin(void)
{
    hash = UINT64_C(0x2545f4914f6cdd1d);
}

void sim_mark(unsigned what, uint64_t a, uint64_t b)
{
    mix((uint64_t)sim_now_ns());
    mix(what);
    mix(a);
    mix(b);
}

void sim_mark_bytes(unsigned what, const void *bytes, size_t len)
{
    const char *at = bytes;

    mix((uint64_t)sim_now_ns());
    mix((uint64_t)what << 32 ^ len);
    for (; len >= sizeof(uint64_t); len -= sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, at, sizeof(word));
        mix(word);
        at += sizeof(word);
    }
    if (len > 0) {
        uint64_t word = 0;
        memcpy(&word, at, len);
        mix(word);
    }
}

uint64_t sim_hash(void)
{
    return hash;
}

/* ---- lines ---------------------------------------------------------------------------- */

bool sim_tells(void)
{
    return teller.take;
}

void sim_tell_to(void (*take)(void *context, const char *line), void *context)
{
    teller.take = take;
    teller.context = context;
}

void sim_tell(const char *format, ...)
{
    char line[1024];
    va_list arguments;

    if (!teller.take)
        return;
    int64_t now_ns = sim_now_ns();
    int len = snprintf(line, sizeof(line), "%4lld.%06lld  ", (long long)(now_ns / SIM_S),
                       (long long)(now_ns % SIM_S / SIM_US));
    va_start(arguments, format);
    vsnprintf(line + len, sizeof(line) - (size_t)len, format, arguments);
    va_end(arguments);
    teller.take(teller.context, line);
}

void sim_die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("simulator: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    abort();
}
