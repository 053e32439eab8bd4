/* struct_abi.h - structs of an application that was compiled against another version of
 * redlock.h. These structs begin with their size, and grow at their end only. So both sides know
 * the same members up to the end of the shorter struct. Core. */
#ifndef RL_STRUCT_ABI_H
#define RL_STRUCT_ABI_H

#include <stdbool.h>
#include <stddef.h>

#define RL_STRUCT_WHY_MAX 320

/* The layout of one of redlock.h's structs in this version. */
struct rl_struct {
    const char *name;
    const char *init; /* the macro that sets its size */
    size_t size;
    size_t least; /* every version has its members up to here */
};

/* `known` is the last member of its first version. */
#define RL_STRUCT(type, name, init, known)                                                     \
    {                                                                                          \
        name, init, sizeof(type), offsetof(type, known)                                        \
    }

/* Was this size ever set? A size that nobody set is most often 0, or far too large. */
bool rl_struct_sized(const struct rl_struct *shape, size_t size, char *why, size_t why_size);

/* An output of the application: is there one, of a size that was set? */
bool rl_struct_there(const struct rl_struct *shape, const void *to, char *why, size_t why_size);

/* An input: what the application's struct has is copied into `whole`, which holds the defaults
 * of what it lacks. False, and why: its size was not set, or it uses members that we don't
 * know. */
bool rl_struct_take(const struct rl_struct *shape, const void *from, void *whole, char *why,
                    size_t why_size);

/* Copy what both know; members that only `to` knows become 0. */
void rl_struct_copy(void *to, size_t to_size, const void *from, size_t from_size);

/* The application's array of outputs: how many of `n` it has room for, and one of them; NULL:
 * there is no room for it. */
unsigned rl_struct_room(const void *entries, unsigned max, unsigned n);
void *rl_struct_entry(void *entries, size_t entry_size, unsigned count, unsigned index);

/* An output: write `whole`, but for the application's own size at its beginning. */
void rl_struct_give(const struct rl_struct *shape, const void *whole, void *to);

#endif
