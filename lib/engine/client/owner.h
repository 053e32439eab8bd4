/* owner.h - the owner of a lock, for kinds that have one: the calling thread of this client,
 * written as Redisson writes its own. */
#ifndef RL_OWNER_H
#define RL_OWNER_H

#include "engine/client/client.h"

/* "<client's uuid>:<thread's number>", with a NUL; returns the length. */
size_t rl_owner_text(const struct rl_client_identity *identity,
                     char ret_text[RL_OWNER_MAX + 1]);

/* May an owner have this name? If not, *ret_why is a sentence that says what would be right. */
bool rl_owner_allowed(const char *owner, const char **ret_why);

#endif
