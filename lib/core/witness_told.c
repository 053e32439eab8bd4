/* witness_told.c - what witnesses say, for people (witness.h). Core. */
#include "config_auto.h"

#include "core/witness.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_named_twice(const struct rl_witnesses *witnesses, unsigned i)
{
    for (unsigned j = 0; j < i; j++) {
        if (strcmp(witnesses->of[j].ids.last, witnesses->of[i].ids.last) == 0)
            return true;
    }
    return false;
}

#define WORDS_SIZE 400

/* Since when it counts later. */
static const char *began(const struct rl_witness *witness, bool several)
{
    if (witness->replaced)
        return "took another's place";
    if (!witness->no_uptime)
        return "started";
    return several ? "told no uptime (INFO), and were met" : "told no uptime (INFO), and was met";
}

/* What one says, as several do or as one does. */
static void words_of(const struct rl_witnesses *witnesses, unsigned i, bool several,
                     char ret[WORDS_SIZE])
{
    const struct rl_witness *witness = &witnesses->of[i];
    const struct rl_statement *last = &witness->last;
    const char *s = several ? "" : "s";
    if (!witness->here || witness->asked_ns == 0)
        snprintf(ret, WORDS_SIZE, "%s",
                 rl_unheard_words(witness->here ? RL_UNHEARD_SILENT : witness->unheard, several));
    else if (witness->ids.two_ns > 0)
        snprintf(ret, WORDS_SIZE, "answer%s at a name that leads to several", s);
    else if (is_named_twice(witnesses, i))
        snprintf(ret, WORDS_SIZE, "%s named twice", several ? "are" : "is");
    else if (!last->told && !last->why)
        snprintf(ret, WORDS_SIZE, "%s", rl_unheard_words(last->unheard, several));
    else if (witness->asked_ns < witness->counts_ns)
        snprintf(ret, WORDS_SIZE, "%s less than max-ttl ago", began(witness, several));
    else if (!last->told)
        snprintf(ret, WORDS_SIZE, "name%s no master (%s)", s, last->why);
    else
        snprintf(ret, WORDS_SIZE, "%s%s %s:%d (term %" PRIu64 ")",
                 witness->back ? "went back to" : "name", witness->back ? "" : s,
                 last->at.host, last->at.port, last->at.term);
}

void rl_witness_tell(const struct rl_witnesses *witnesses, unsigned i, char *ret, size_t size)
{
    char words[WORDS_SIZE];
    assert(i < witnesses->named && size > 0);
    words_of(witnesses, i, false, words);
    snprintf(ret, size, "%s", words);
}

/* The first that says so tells it of all. */
void rl_witnesses_tell(const struct rl_witnesses *witnesses, char *ret, size_t size)
{
    char all[RL_WITNESSES_MAX][WORDS_SIZE], words[WORDS_SIZE];
    size_t len = 0;
    ret[0] = '\0';
    for (unsigned i = 0; i < witnesses->named; i++)
        words_of(witnesses, i, true, all[i]);
    for (unsigned i = 0; i < witnesses->named; i++) {
        unsigned count = 0, before = 0;
        for (unsigned j = 0; j < witnesses->named; j++) {
            bool same = strcmp(all[i], all[j]) == 0;
            count += same;
            before += same && j < i;
        }
        if (before > 0 || len >= size)
            continue;
        words_of(witnesses, i, count > 1, words);
        int more = len == 0 ? snprintf(ret, size, "%u of %u Sentinels %s", count,
                                       witnesses->named, words)
                            : snprintf(ret + len, size - len, ", %u %s", count, words);
        len += more > 0 ? (size_t)more : 0;
    }
}
