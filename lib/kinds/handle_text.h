/* handle_text.h - a detached lock as text: everything that another process of this host needs
 * to attach it. The handle also shows whether its text is whole, of this boot, of the same
 * clock and of the same masters. Core: pure.
 *
 *   "rl5" then base64url of: kind_len(1) n(1) boot id(16) clock offset(8) written(8)
 *   deadline(8) keep until(8) ttl_ms(8) fencing token(8) token_len(1) name_len(2) marks(4 n) owner_len(1)
 *   kind token name owner sum(4)
 *
 * Numbers are big-endian. The sum is FNV-1a of all before it. The kind is written as its name.
 * For a plain lock kind_len is 0, and there are neither owner_len nor kind nor owner. A mark
 * is a hash of a master's address as its node list has it.
 *
 * The sum detects a handle that was truncated or mistyped. The sum does not protect against
 * forgery, because a user who can write to the masters needs no handle.
 */
#ifndef RL_HANDLE_TEXT_H
#define RL_HANDLE_TEXT_H

#include "kinds/kind.h"
#include "base/limits.h"
#include "kinds/name_set.h"

struct rl_handle {
    int kind; /* enum rl_row */
    unsigned n;
    char boot_id[37];     /* as text */
    int64_t clock_offset; /* rl_clock_offset() of its writer */
    int64_t written_ns;   /* boottime */
    int64_t deadline_ns;  /* boottime */
    int64_t keep_until_ns; /* boottime: others are kept out until then (R21); 0: not */
    int64_t ttl_ms;
    uint64_t fencing_token;           /* 0: none */
    uint32_t mark[REDLOCK_NODES_MAX]; /* n of them */
    size_t token_len, name_len, owner_len;
    char token[RL_TOKEN_MAX + 1];
    char name[RL_NAMES_BYTES_MAX + 1]; /* of several names: packed (name_set.h) */
    char owner[RL_OWNER_MAX + 1];      /* of kinds that have one */
};

/* 0, or REDLOCK_EINVAL where `size` is too small. */
int rl_handle_encode(const struct rl_handle *handle, char *ret_text, size_t size);

/* 0, or REDLOCK_EHANDLE. */
int rl_handle_decode(const char *text, struct rl_handle *ret_handle);

/* The number of its masters that have a mark among these. */
unsigned rl_handle_shared(const struct rl_handle *handle, const uint32_t marks[], unsigned n);

#endif
