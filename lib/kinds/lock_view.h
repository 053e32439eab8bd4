/* lock_view.h - what masters say about a name that somebody looks at: read, and put together.
 * Core.
 */
#ifndef RL_LOCK_VIEW_H
#define RL_LOCK_VIEW_H

#include <redlock.h>

#include <stdbool.h>

/* The details of inspect.lua's answer. The owners in them are anybody's bytes. False: they are
 * not what that script says. */
bool rl_view_read(const char *text, size_t len, int64_t ttl_ms, redlock_view *ret_view);

/* The holds of an owner in there: alone, as a reader or as the writer. 0: none that is shown.
 */
unsigned rl_view_holds(const redlock_view *view, const void *owner, size_t owner_len,
                       int64_t *ret_ttl_ms);

/* `majority`, from what is in `node`. */
void rl_view_merge_majority(redlock_description *description);

#endif
