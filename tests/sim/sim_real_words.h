/* sim_real_words.h - commands as words, and random ones: all scripts with all sorts of
 * arguments, Redis's own commands on the same keys, subscribers, and what is wrong. */
#ifndef SIM_REAL_WORDS_H
#define SIM_REAL_WORDS_H

#include "base/prng.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

enum { PAIR_WORDS_MAX = 24, PAIR_REQUEST = 16384 };

struct pair_words {
    unsigned count;
    size_t used;
    const char *word[PAIR_WORDS_MAX];
    char bytes[PAIR_REQUEST]; /* where they are kept */
};

/* A word is copied; the words of a line end with NULL. */
void pair_word(struct pair_words *words, const char *word);
void pair_words_add(struct pair_words *words, va_list more);
void pair_line(struct pair_words *words, ...) __attribute__((sentinel));

/* What follows draws from that. */
void words_draw_from(struct rl_prng *prng);
const char *some_lock(void); /* good until the next call, as the others */
const char *some_queue(void);
/* A whole command; `listens`: mostly one of a subscriber's. */
void make_command(struct pair_words *words, bool listens);

#endif
