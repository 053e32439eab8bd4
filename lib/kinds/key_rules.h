/* key_rules.h - names and owners whose keys would be those of another lock, and which are
 * refused for it: two locks of different names have no key in common, whatever their kinds and
 * owners. docs/DESIGN.md has the table of keys and the proof. Core. */
#ifndef RL_KEY_RULES_H
#define RL_KEY_RULES_H

#include "kinds/kind.h"

/* Why no lock may have this name; NULL: it may. */
const char *rl_key_name_clash(const void *name, size_t len);

/* Why this owner can't have this target: of locks whose leases have keys of their own, which
 * the owner is a part of. NULL: it can, as the calling thread always can. */
const char *rl_key_owner_clash(const struct rl_target *target);

#endif
