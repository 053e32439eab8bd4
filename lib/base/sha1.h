/* sha1.h - the digest by which EVALSHA names a script. */
#ifndef RL_SHA1_H
#define RL_SHA1_H

#define RL_SHA1_TEXT 41

/* 0 or REDLOCK_ESYSTEM: OpenSSL has no SHA-1. */
int rl_sha1_text(const char *text, char ret_hex[RL_SHA1_TEXT]);

#endif
