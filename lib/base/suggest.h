/* suggest.h - "did you mean": the known name that a wrong one was probably meant to be.
 * Core. */
#ifndef RL_SUGGEST_H
#define RL_SUGGEST_H

#include <stddef.h>

/* The index of the nearest of `count` names, or -1 where none is near. Near is at most one
 * edit in three letters. A name that begins with `word` and a dash comes before all that
 * differ. Case, and '_' for '-', do not count. */
int rl_nearest(const char *const *names, size_t count, const char *word, size_t len);

#endif
