/* kind.c - the table of kinds. Core. */
#include "config_auto.h"

#include "kinds/kind.h"

#include "base/limits.h"

#include "kinds/scripts.h" /* generated from lib/kinds/FOLDER/NAME.lua */

#include "kinds/fencing.h"
#include "kinds/lists.h"
#include "kinds/marker.h"

#include <string.h>

const char *const rl_fence_join = rl_script_fence_join;
const char *const rl_lists_join = rl_script_lists_join;
const char *const rl_marker_join = rl_script_marker_join;
const char *const rl_marker_named = rl_script_marker_named;
const char *const rl_marker_init = rl_script_marker_init;
const char *const rl_marker_strict = rl_script_marker_strict;

#define SCRIPT(script, keys, args)                                                             \
    {                                                                                          \
        #script, rl_script_##script, rl_sha_##script, NULL, NULL, NULL, NULL, keys, args,      \
            false                                                                              \
    }
/* It takes or keeps a lock: there is one behind marker_strict.lua. */
#define TAKING(script, keys, args)                                                             \
    {                                                                                          \
        #script, rl_script_##script, rl_sha_##script, NULL, NULL, rl_sha_##script##_strict,    \
            NULL, keys, args, false                                                            \
    }
/* There is one with fencing tokens, too. */
#define FENCED(script, keys, args)                                                             \
    {                                                                                          \
        #script, rl_script_##script, rl_sha_##script, rl_script_##script##_fenced,             \
            rl_sha_##script##_fenced, rl_sha_##script##_strict,                                \
            rl_sha_##script##_fenced_strict, keys, args, false                                 \
    }

/* Its token takes the nonce's place, because each argument costs a master. */
#define ECHOING(script, keys, args)                                                            \
    {                                                                                          \
        #script, rl_script_##script, rl_sha_##script, NULL, NULL, NULL, NULL, keys, args, true \
    }

static const struct rl_kind kinds[RL_ROWS] = {
    [RL_ROW_PLAIN] =
        {
            .name = "plain",
            .shown = "plain lock",
            .wakeup = RL_WAKEUP_CLIENT,
            .native = true,
            .script =
                {
                    [RL_ACQUIRE] = FENCED(plain_acquire, "n", "tT"),
                    [RL_EXTEND] = FENCED(plain_extend, "n", "tT"),
                    [RL_RETAKE] = FENCED(plain_retake, "n", "tT"),
                    [RL_RELEASE] = ECHOING(plain_release, "nq", "k"),
                    [RL_ACQUIRE_OR_QUEUE] = FENCED(plain_wait, "nq", "tTwaq"),
                    [RL_DEQUEUE] = SCRIPT(plain_leave, "nq", "wk"),
                },
        },
    [RL_ROW_REENTRANT] =
        {
            .name = "reentrant",
            .shown = "reentrant lock",
            .wakeup = RL_WAKEUP_LOCK,
            .script =
                {
                    [RL_ACQUIRE] = FENCED(reentrant_acquire, "nh", "otT"),
                    [RL_EXTEND] = FENCED(reentrant_extend, "nh", "otTs"),
                    [RL_RETAKE] = FENCED(reentrant_retake, "nh", "otT"),
                    [RL_RELEASE] = SCRIPT(reentrant_release, "nhc", "otk"),
                    [RL_ACQUIRE_OR_QUEUE] = FENCED(reentrant_wait, "nh", "otT"),
                },
        },
    /* Extended as the reentrant kind: its waiters do not matter then. */
    [RL_ROW_FAIR] =
        {
            .name = "fair",
            .shown = "fair lock",
            .max_nodes = 1,
            .wakeup = RL_WAKEUP_FAIR,
            .queues_at_once = true,
            .script =
                {
                    [RL_ACQUIRE] = FENCED(fair_acquire, "nhQOsc", "otTf"),
                    [RL_EXTEND] = FENCED(reentrant_extend, "nh", "otTs"),
                    [RL_RETAKE] = FENCED(fair_retake, "nhQOsc", "otTf"),
                    [RL_RELEASE] = SCRIPT(fair_release, "nhQOsc", "otkf"),
                    [RL_ACQUIRE_OR_QUEUE] = FENCED(fair_wait, "nhQOsc", "otTf"),
                    [RL_DEQUEUE] = SCRIPT(fair_leave, "nhQOsc", "of"),
                },
        },
    /* Its release must always wake: if one name was refused, the others are free again, and no
     * other release will wake their waiters. So its scripts have K, and never k (kind.h). */
    [RL_ROW_SEVERAL] =
        {
            .name = "several",
            .shown = "plain lock on several names",
            .wakeup = RL_WAKEUP_CLIENT,
            .several = true,
            .script =
                {
                    [RL_ACQUIRE] = FENCED(several_acquire, "N", "tT"),
                    [RL_EXTEND] = FENCED(several_extend, "N", "tT"),
                    [RL_RETAKE] = FENCED(several_retake, "N", "tT"),
                    [RL_RELEASE] = SCRIPT(several_release, "NM", "tK"),
                    [RL_ACQUIRE_OR_QUEUE] = FENCED(several_wait, "NM", "tTwaqK"),
                    [RL_DEQUEUE] = SCRIPT(several_leave, "NM", "wK"),
                },
        },
    /* Redisson's kind, for one master. A longer lease would be cut by the first Redisson reader
     * that renews the lock of all readers. */
    [RL_ROW_READ] =
        {
            .name = "read",
            .shown = "read lock",
            .max_ttl_ms = RL_SHARED_TTL_MAX_MS,
            .wakeup = RL_WAKEUP_RW,
            .script =
                {
                    [RL_ACQUIRE] = TAKING(read_acquire, "nbmR", "otTw"),
                    [RL_EXTEND] = TAKING(read_extend, "nb", "otT"),
                    [RL_RETAKE] = TAKING(read_retake, "nb", "otT"),
                    [RL_RELEASE] = SCRIPT(read_release, "nbCR", "otk"),
                    [RL_ACQUIRE_OR_QUEUE] = TAKING(read_wait, "nbmR", "otTwm"),
                    [RL_DEQUEUE] = SCRIPT(read_leave, "nbmR", "w"),
                },
        },
    [RL_ROW_WRITE] =
        {
            .name = "write",
            .shown = "write lock",
            .wakeup = RL_WAKEUP_RW,
            .script =
                {
                    [RL_ACQUIRE] = FENCED(write_acquire, "nbmR", "otTwm"),
                    [RL_EXTEND] = FENCED(write_extend, "nb", "otT"),
                    [RL_RETAKE] = FENCED(write_retake, "nb", "otT"),
                    [RL_RELEASE] = SCRIPT(write_release, "nbCR", "otk"),
                    [RL_ACQUIRE_OR_QUEUE] = FENCED(write_wait, "nbmR", "otTwm"),
                    [RL_DEQUEUE] = SCRIPT(write_leave, "nmC", "w"),
                },
        },
    [RL_ROW_QREAD] =
        {
            .name = "qread",
            .shown = "read lock",
            .wakeup = RL_WAKEUP_RW,
            .script =
                {
                    [RL_ACQUIRE] = TAKING(qread_acquire, "nm", "otT"),
                    [RL_EXTEND] = TAKING(qread_extend, "n", "otT"),
                    [RL_RETAKE] = TAKING(qread_retake, "n", "otT"),
                    [RL_RELEASE] = SCRIPT(qread_release, "nCR", "otk"),
                    [RL_ACQUIRE_OR_QUEUE] = TAKING(qread_wait, "nmR", "otTma"),
                },
        },
    [RL_ROW_QWRITE] =
        {
            .name = "qwrite",
            .shown = "write lock",
            .wakeup = RL_WAKEUP_RW,
            .script =
                {
                    [RL_ACQUIRE] = FENCED(qwrite_acquire, "nmR", "otTwm"),
                    [RL_EXTEND] = FENCED(qwrite_extend, "n", "otT"),
                    [RL_RETAKE] = FENCED(qwrite_retake, "n", "otT"),
                    [RL_RELEASE] = SCRIPT(qwrite_release, "nmCR", "otkw"),
                    [RL_ACQUIRE_OR_QUEUE] = FENCED(qwrite_wait, "nmR", "otTwm"),
                    [RL_DEQUEUE] = SCRIPT(qwrite_leave, "mC", "w"),
                },
        },
    [RL_ROW_ANY] =
        {
            .name = "any",
            .shown = "lock",
            .script =
                {
                    [RL_INSPECT] = SCRIPT(inspect, "n", "o"),
                    [RL_FORCE] = SCRIPT(force, "nq", "keWX"),
                },
        },
};

const struct rl_kind *rl_kind(int row)
{
    return row >= 0 && row < RL_ROWS ? &kinds[row] : NULL;
}

const struct rl_kind *rl_kind_on(int kind, unsigned n)
{
    if (kind < REDLOCK_PLAIN || kind > REDLOCK_WRITE)
        return NULL;
    if (n > 1 && kind == REDLOCK_READ)
        return rl_kind(RL_ROW_QREAD);
    if (n > 1 && kind == REDLOCK_WRITE)
        return rl_kind(RL_ROW_QWRITE);
    return rl_kind(kind);
}

bool rl_kind_has_leases(const struct rl_kind *kind)
{
    unsigned row = rl_kind_row(kind);
    return row == RL_ROW_READ || row == RL_ROW_WRITE;
}

unsigned rl_kind_row(const struct rl_kind *kind)
{
    return (unsigned)(kind - kinds);
}

const struct rl_kind *rl_script_kind(unsigned number)
{
    return rl_kind((int)(number % RL_SCRIPTS_UNFENCED / RL_VERBS));
}

char rl_kind_counter(const struct rl_kind *kind, unsigned n)
{
    unsigned row = rl_kind_row(kind);
    return n == 1 && (row == RL_ROW_REENTRANT || row == RL_ROW_FAIR) ? 'k' : 'F';
}

/* R5: An answer that is not of the promised shape is none. */
bool rl_kind_answer_fits(enum rl_verb verb, bool fenced, const struct rl_answer *answer)
{
    /* A refused acquire, an inspection and a refused force have a holder, and no other answer
     * has. A waiter that was queued gets its place. */
    bool acquires = rl_verb_of(verb) == RL_ACQUIRE;
    bool wrong_type = answer->code == RL_REPLY_WRONGTYPE;
    if (answer->code > RL_GRANTED && !acquires && !(wrong_type && verb == RL_FORCE))
        return false;
    if (answer->with_number != (fenced && acquires && answer->granted))
        return false;
    if (verb == RL_EXTEND && !answer->granted) /* it may tell who broke the lock */
        return !answer->with_place && !answer->with_details;
    return answer->with_holder == ((acquires && !answer->granted) || verb == RL_INSPECT ||
                                   (verb == RL_FORCE && wrong_type)) &&
           answer->with_place == (verb == RL_ACQUIRE_OR_QUEUE && !answer->granted) &&
           answer->with_details == (verb == RL_INSPECT);
}

bool rl_kind_holder_is_reserved(const char *holder, size_t len)
{
    return len > strlen(RL_RESERVED_PREFIX) &&
           memcmp(holder, RL_RESERVED_PREFIX, strlen(RL_RESERVED_PREFIX)) == 0;
}

bool rl_kind_holder_wakes(const char *holder, size_t len)
{
    if (rl_kind_holder_is_reserved(holder, len))
        return true;
    if (len <= 2 * RL_TOKEN_RANDOM_BYTES || holder[2 * RL_TOKEN_RANDOM_BYTES] != ':')
        return false;
    for (size_t i = 0; i < 2 * RL_TOKEN_RANDOM_BYTES; i++) {
        if (!((holder[i] >= '0' && holder[i] <= '9') || (holder[i] >= 'a' && holder[i] <= 'f')))
            return false;
    }
    return true;
}
