/* input_link.h - a link whose other end is the fuzzer's input: lib/net/link.h's calls without a
 * socket, and the fuzz target's side of it. */
#ifndef FUZZ_INPUT_LINK_H
#define FUZZ_INPUT_LINK_H

#include "net/link.h"

/* These bytes can be received from now on, until they are forgotten. False: it is not open. */
bool input_link_give(struct rl_link *link, const void *bytes, size_t len);
void input_link_forget(struct rl_link *link);

/* Behind what was given, the other end has hung up. */
void input_link_end(struct rl_link *link);

/* What the link logs in with. It must be in no text, in whatever form; NULL: nothing. */
extern const char *input_secret;
#define INPUT_SECRET "h\"%n tr"
/* A server's words with the secret in it, in each form. Returns the length. */
size_t input_echo(char *ret_bytes, size_t size, const char *error, unsigned how);

/* A text that is shown: printable ASCII and UTF-8, and no secret in it. */
void input_shown(const char *text);

/* The same of what is logged. */
void input_log(void *owner, int level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
