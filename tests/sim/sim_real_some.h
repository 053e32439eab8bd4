/* sim_real_some.h - what random commands are made of: names, tokens, owners, times, each drawn,
 * and good until the next call that draws the like. */
#ifndef SIM_REAL_SOME_H
#define SIM_REAL_SOME_H

#include "sim_real_words.h"

unsigned some_below(unsigned n);

const char *some_shared(void);
const char *some_nested(void);
const char *some_fair(void);
const char *some_rw(void);
const char *lock_for(const char *script);
const char *some_token(void);
const char *some_owner(void);
const char *some_lease(void);
const char *some_key(char letter, const char *lock);
const char *some_waiter(void);
const char *some_channel(void);
const char *some_lease_key(void);
const char *some_fair_channel(void);
const char *some_ttl(void);
const char *some_life(void);
const char *some_gap(void);
const char *some_age(void);

/* The plain kind's verbs. */
const char *some_verb(void);

/* sim_real_words.c: a script of some kind, with keys and arguments. */
void make_script(struct pair_words *words);

#endif
