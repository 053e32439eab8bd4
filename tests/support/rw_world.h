/* rw_world.h - a few read-write locks of a real master beside their models: all that the master
 * has of them, and time. */
#ifndef TEST_RW_WORLD_H
#define TEST_RW_WORLD_H

#include "rw_model.h"

enum { RW_LOCKS = 3, RW_KEY_MAX = 200 };

struct rw_name {
    const char *name, *base, *mark, *readers, *channel;
};
extern const struct rw_name rw_names[RW_LOCKS];
extern struct rw_lock rw_lock[RW_LOCKS];

extern unsigned long rw_moved; /* leases that were seen under another number than at first */

struct rw_field *rw_field_of(unsigned i, unsigned owner, bool write);

/* Of an owner's field in the lock; of a lease. */
const char *rw_field_name(unsigned owner, bool write, char ret_name[RW_KEY_MAX]);
const char *rw_lease_name(unsigned i, const char *field, unsigned index,
                          char ret_name[RW_KEY_MAX]);

/* All that the master has of lock `i` is what the model has. */
void rw_compare(struct frame *frame, unsigned i);

/* What will be over soon after `when` is waited for; something runs out. */
void rw_await_soon(struct frame *frame, unsigned i, struct span when);
void rw_time_passes(struct frame *frame, unsigned i);

#endif
