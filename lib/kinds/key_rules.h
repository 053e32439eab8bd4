/* key_rules.h - refuses names and owners whose keys would be another lock's keys. Two locks of
 * different names must have no key in common, whatever their kinds and owners. docs/DESIGN.md
 * has the table of keys and the proof. Core. */
#ifndef RL_KEY_RULES_H
#define RL_KEY_RULES_H

#include "kinds/kind.h"

/* The reason why no lock may have this name; NULL: it is allowed. */
const char *rl_key_name_clash(const void *name, size_t len);

/* The reason why no lock of this kind, on n masters, may have this name, which others may; NULL:
 * it can. Redisson's formats have no such names. */
const char *rl_key_format_clash(const struct rl_kind *kind, unsigned n, const void *name,
                                size_t len);

/* The reason why keys of this name are in several hash slots of a Redis Cluster; NULL: our own
 * keys are all in one. */
const char *rl_key_slot_clash(const void *name, size_t len);

/* The reason why this owner can't have this target, for kinds whose leases have keys with the
 * owner in their names. NULL: it can. The calling thread always can. */
const char *rl_key_owner_clash(const struct rl_target *target);

#endif
