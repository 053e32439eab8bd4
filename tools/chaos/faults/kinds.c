/* kinds.c - the kinds of faults: their words, effects and broken assumptions. Also the words of
 * the kinds of locks. */
#include "config_auto.h"

#include "chaos/chaos.h"
#include "chaos/faults/kinds.h"

#include "base/suggest.h"

#include <assert.h>
#include <string.h>

static const struct {
    const char *word;
    const char *text;
    enum chaos_assumption breaks;
} kinds[CHAOS_FAULT_KINDS] = {
#define CHAOS_FAULT_ROW(name, word, text, breaks) [CHAOS_FAULT_##name] = {word, text, breaks},
    CHAOS_FAULTS(CHAOS_FAULT_ROW)
#undef CHAOS_FAULT_ROW
};

const char *const chaos_lock_words[CHAOS_LOCKS + 1] = {"plain",      "reentrant", "fair",
                                                       "read-write", "several",   NULL};

const char *chaos_lock_word(enum chaos_lock lock)
{
    assert(lock < CHAOS_LOCKS);
    return chaos_lock_words[lock];
}

const char *chaos_fault_word(enum chaos_fault_kind kind)
{
    assert(kind < CHAOS_FAULT_KINDS);
    return kinds[kind].word;
}

const char *chaos_fault_text(enum chaos_fault_kind kind)
{
    assert(kind < CHAOS_FAULT_KINDS);
    return kinds[kind].text;
}

enum chaos_assumption chaos_fault_breaks(enum chaos_fault_kind kind)
{
    assert(kind < CHAOS_FAULT_KINDS);
    return kinds[kind].breaks;
}

/* A new process puts a stepped clock right. A second step would be another fault, and a step
 * forward would break an assumption. */
bool chaos_fault_restarts(enum chaos_fault_kind kind)
{
    return (CHAOS_RESTARTING & CHAOS_BIT(kind)) != 0;
}

bool chaos_fault_guarded(const struct chaos_options *options, enum chaos_fault_kind kind)
{
    uint64_t guarded = CHAOS_RESTARTING | CHAOS_BIT_OF(WARM);
    if (options->markers || options->certified)
        guarded |= CHAOS_BIT_OF(FLUSHALL);
    return (guarded & CHAOS_BIT(kind)) != 0;
}

int chaos_fault_find(const char *word, size_t len)
{
    for (int kind = 0; kind < CHAOS_FAULT_KINDS; kind++)
        if (strlen(kinds[kind].word) == len && memcmp(kinds[kind].word, word, len) == 0)
            return kind;
    return -1;
}

const char *chaos_fault_nearest(const char *word, size_t len)
{
    const char *words[CHAOS_FAULT_KINDS];
    for (int kind = 0; kind < CHAOS_FAULT_KINDS; kind++)
        words[kind] = kinds[kind].word;
    int found = rl_nearest(words, CHAOS_FAULT_KINDS, word, len);
    return found >= 0 ? words[found] : NULL;
}
