/* input_link.h - a link whose other end is the fuzzer's input: lib/link.h's calls without a
 * socket, and the fuzz target's side of it. */
#ifndef FUZZ_INPUT_LINK_H
#define FUZZ_INPUT_LINK_H

#include "link.h"

/* These bytes can be received from now on, until they are forgotten. False: it is not open. */
bool input_link_give(struct rl_link *link, const void *bytes, size_t len);
void input_link_forget(struct rl_link *link);

/* Behind what was given, the other end has hung up. */
void input_link_end(struct rl_link *link);

/* What is logged of it must be fit to print. */
void input_log(void *owner, int level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
