/* sub_parts.h - what sub.c and sub_talk.c share. */
#ifndef RL_SUB_PARTS_H
#define RL_SUB_PARTS_H

#include "sub.h"

/* sub.c */
void rl_sub_set_mode(struct rl_sub *sub, enum rl_sub_mode mode, int64_t now_ns);

/* The connection is of no use, or not allowed: close it, plan the next, tell. The owner may
 * have made another by the time these return: nothing of this one must be touched then. */
void rl_sub_lose(struct rl_sub *sub, int64_t now_ns, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void rl_sub_deny(struct rl_sub *sub, int64_t now_ns, const char *why);

/* Overwrite whatever was queued. */
void rl_sub_forget_secret(struct rl_sub *sub);

/* sub_talk.c: the link has opened; ask for a sign of life; send what is queued; read what
 * there is. Each may lose the connection. */
void rl_sub_greet(struct rl_sub *sub, int64_t now_ns);
void rl_sub_ping(struct rl_sub *sub, int64_t now_ns);
void rl_sub_flush(struct rl_sub *sub, int64_t now_ns);
void rl_sub_read(struct rl_sub *sub);

#endif
