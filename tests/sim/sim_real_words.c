/* sim_real_words.c - see sim_real_words.h. */
#include "config_auto.h"

#include "sim_real_some.h"

#include "kinds/keys.h"
#include "sim_master_rig.h"
#include "suite.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pair_word(struct pair_words *words, const char *word)
{
    size_t size = strlen(word) + 1;
    if (words->count == PAIR_WORDS_MAX || words->used + size > sizeof(words->bytes))
        suite_die("a command is too long");
    memcpy(words->bytes + words->used, word, size);
    words->word[words->count++] = words->bytes + words->used;
    words->used += size;
}

void pair_words_add(struct pair_words *words, va_list more)
{
    const char *word;
    while ((word = va_arg(more, const char *)))
        pair_word(words, word);
}

void pair_line(struct pair_words *words, ...)
{
    va_list more;
    va_start(more, words);
    pair_words_add(words, more);
    va_end(more);
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

/* ---- commands --------------------------------------------------------------------------- */

static const char *const names[] = {"acquire", "extend", "retake", "release", "wait", "leave"};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

const char *some_verb(void)
{
    return names[some_below(NAMES)];
}

static void script_arguments(struct pair_words *words, const char *name, bool leases)
{
    const char *args = script_arg_letters(name);
    pair_word(words, script_echoes_token(name) ? some_token() : "0123456789abcdef");
    for (; *args; args++)
        pair_word(words, *args == 't'             ? some_token()
                         : *args == 'o'           ? some_owner()
                         : *args == 'T' && leases ? some_lease()
                         : *args == 'T'           ? some_ttl()
                         : *args == 'w'           ? some_waiter()
                         : *args == 'a'           ? some_age()
                         : *args == 'q'           ? some_ttl()
                         : *args == 'm'           ? some_ttl()
                         : *args == 'f'           ? some_life()
                         : *args == 's'           ? some_gap()
                         : some_below(5)          ? some_ttl()
                                                  : "0");
}

/* So many names, and a queue for each; some of another's, some of them twice. */
static void set_key_words(struct pair_words *words, const char *letters, unsigned count)
{
    const char *set[4], *lock;
    for (unsigned i = 0; i < count; i++)
        set[i] = some_lock();
    for (const char *letter = letters; *letter; letter++) {
        for (unsigned i = 0; i < count; i++) {
            lock = some_below(40) ? set[i] : some_lock();
            pair_word(words, some_below(60) ? some_key(*letter, lock) : lock);
        }
    }
}

/* The keys of one lock, by their letters; some of another's. */
static void script_key_words(struct pair_words *words, const char *name)
{
    const char *lock = lock_for(name), *letters = script_key_letters(name);
    struct rl_target target = {.name = lock, .name_len = strlen(lock)};
    for (; *letters; letters++) {
        char key[RL_KEY_MAX + 1];
        key[rl_key_text(*letters, &target, key)] = '\0';
        /* Parts of two fair queues make times that are the same, but for a moment. */
        if (*letters == 'n' || strchr("QOs", *letters) || some_below(40))
            pair_word(words, key);
        else
            pair_word(words, *letters == 'q' && some_below(2)
                                 ? lock
                                 : some_key(*letters, lock_for(name)));
    }
}

/* What a script with fencing tokens has besides. Proposals are far ahead of all clocks, so that
 * these do not show. */
static void counter_words(struct pair_words *words, unsigned count)
{
    static const char *const counters[] = {"{a}:redlock:fence", "{x y}:redlock:fence", "c", "a"};
    for (; count > 0; count--)
        pair_word(words, counters[some_below(some_below(8) ? 2 : 4)]);
}

static void fencing_words(struct pair_words *words, const char *name, unsigned count)
{
    char text[24];
    bool grants = strstr(name, "acquire") || strstr(name, "wait");
    snprintf(text, sizeof(text), "%u", count);
    pair_word(words, text);
    snprintf(text, sizeof(text), "300000000000000%u", some_below(8));
    pair_word(words, text);
    pair_word(words, grants || some_below(2) ? "9000000000000000" : "0");
    if (!grants)
        pair_word(words, some_below(2) ? "1" : "0");
    pair_word(words, some_below(3) ? some_ttl() : "0");
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
    static const char *const queued[] = {
        "fair_acquire", "fair_wait",    "fair_wait",  "fair_wait",
        "fair_release", "fair_release", "fair_leave", "fair_retake",
    };
    static const char *const several[] = {
        "several_acquire", "several_wait",    "several_wait",
        "several_wait",    "several_release", "several_extend",
        "several_retake",  "several_leave",   "several_release",
    };
    static const char *const rw[] = {
        "read_acquire",  "read_wait",  "read_wait",    "read_extend",   "read_retake",
        "read_release",  "read_leave", "read_release", "write_acquire", "write_wait",
        "write_wait",    "write_wait", "write_extend", "write_retake",  "write_release",
        "write_release", "write_leave"};
    unsigned what = some_below(100), which = 0;
    if (some_below(4) == 0)
        return rw[some_below(sizeof(rw) / sizeof(rw[0]))];
    if (some_below(5) == 0)
        return queued[some_below(sizeof(queued) / sizeof(queued[0]))];
    if (some_below(5) == 0)
        return several[some_below(sizeof(several) / sizeof(several[0]))];
    if (some_below(5) == 0)
        return nested[some_below(sizeof(nested) / sizeof(nested[0]))];
    if (some_below(4) == 0)
        return sets[some_below(sizeof(sets) / sizeof(sets[0]))];
    while (what >= weights[which])
        what -= weights[which++];
    return names[which];
}

/* Mostly by hash; some with a word too few or too many, or a number of keys that is not so (but
 * those of one master's locks, for what Lua says of each nil is nobody's business). */
void make_script(struct pair_words *words)
{
    static const char *const numbers[] = {"0", "1", "2", "3", "-1", "x", "", "99"};
    const char *name = draw_script(), *letters = script_key_letters(name);
    bool odd = some_below(30) == 0, several = name[0] == 's';
    unsigned names_of_it = several ? 1 + some_below(3) : 1;
    char keys[24];
    odd = odd && name[0] != 'f' && name[0] != 'w' && strncmp(name, "read_", 5) != 0;
    bool fenced = !odd && script_fenced_body(name) && some_below(4) == 0;
    const char *body = fenced ? script_fenced_body(name) : script_body(name);
    snprintf(keys, sizeof(keys), "%zu", names_of_it * (strlen(letters) + fenced));
    if (some_below(8) == 0) {
        pair_word(words, "EVAL");
        pair_word(words, body);
    } else {
        pair_word(words, some_below(20) ? "EVALSHA" : "evalSHA");
        pair_word(words, some_below(50) ? sha_of(body) : upper_case(sha_of(body)));
    }
    pair_word(words, odd && some_below(2) ? numbers[some_below(8)] : keys);
    if (several)
        set_key_words(words, letters, names_of_it);
    else
        script_key_words(words, name);
    if (fenced)
        counter_words(words, names_of_it);
    script_arguments(words, name, strchr(name, '_') && !several); /* those with owners */
    if (fenced)
        fencing_words(words, name, names_of_it);
    if (odd && some_below(2))
        words->count -= 1 + some_below(words->count - 2);
    else if (odd && some_below(3) == 0)
        pair_word(words, "more");
    if (words->count > 2 && words->count == 3 + (unsigned)strtol(words->word[2], NULL, 10))
        pair_word(words, "0123456789abcdef"); /* what no call is without */
}
