/* wipe.h - forget a secret. Core. */
#ifndef RL_WIPE_H
#define RL_WIPE_H

#include <stddef.h>

/* Overwrite memory in a way the compiler keeps. */
void rl_wipe(void *memory, size_t size);

/* Overwrite a string and free it. NULL is allowed. */
void rl_wipe_free(char *text);

#endif
