/* try.h - the names of a try: one, or several at once. Between try.c and multi_lock.c. */
#ifndef RL_TRY_H
#define RL_TRY_H

#include "kinds/name_set.h"

struct rl_config;

/* Locks that are acquired together on several clients (multi_lock.c): the try ends with
 * ECANCELED when one of their clients is cancelled. */
struct rl_group {
    redlock *const *clients;
    size_t count;
    int64_t left_ns; /* how long the other tries of the group wait; a try that asks once must
                        end by then, too. INT64_MAX: no bound */
};

/* The index of an item whose client is cancelled or is being closed; `count`: none. */
size_t rl_group_canceled(const struct rl_group *group);

struct rl_names_arg {
    const redlock_bytes *names;
    size_t count;
    char *packed; /* RL_NAMES_BYTES_MAX bytes for the packed names; NULL: there is one name */
    struct rl_group *group; /* or NULL */
};

/* What the log says of a pointer that is needed and NULL. */
#define RL_NO_RET_LOCK "there is no place for the lock: ret_lock is NULL"
#define RL_NO_DONE "done is NULL: give the function that is to be told the result"

/* Can a lock of that kind last so long on this client? 0, or EINVAL with a line in the log that
 * tells the bounds. */
int rl_ttl_check(redlock *client, const struct rl_kind *kind, int64_t ttl_ms);

/* The longest TTL of a lock of this kind: its keys live for the lock-delay as well. */
int64_t rl_client_max_ttl_ms(const struct rl_config *config, const struct rl_kind *kind);

/* The same for at_least_ms; and its greatest value for an enum redlock_kind, for `redlock run`. */
int rl_at_least_check(redlock *client, const struct rl_kind *kind, int64_t at_least_ms);
int64_t rl_at_least_max_ms(const redlock *client, int kind);

/* A caller's options in this library's layout. False, and why: see rl_struct_take(). */
bool rl_options_take(const redlock_options *given, redlock_options *ret_options, char *why,
                     size_t why_size);

int rl_try(redlock *client, const struct rl_names_arg *names_arg,
           const redlock_options *options, redlock_lock **ret_lock);

#endif
