/* enter.h - what every public call begins and ends with. */
#ifndef RL_ENTER_H
#define RL_ENTER_H

#include <redlock.h>

/* Enter and leave a public call: fork check, mutex, and no thread cancellation in between.
 * (A thread that vanished in epoll_wait would leave the others without a leader.)
 * 0, REDLOCK_EINVAL (it is NULL), REDLOCK_EFORK, or REDLOCK_EDEADLK (called back from within
 * the client). */
int rl_client_enter(redlock *client, int *ret_cancel_state);
void rl_client_leave(redlock *client, int cancel_state);
void rl_client_leave_unsent(redlock *client, int cancel_state); /* what is queued stays so */

/* The same for a call that may wait. REDLOCK_EDEADLK also inside callbacks and on the thread
 * of the user's loop; REDLOCK_ECANCELED while the client is being closed. */
int rl_client_enter_blocking(redlock *client, int *ret_cancel_state);
void rl_client_leave_blocking(redlock *client, int cancel_state);

/* For a call on several clients: none of them may be freed until the call leaves it. As
 * rl_client_enter_blocking(). */
int rl_client_stay(redlock *client);
void rl_client_go(redlock *client);

/* Log what is wrong with the arguments. Returns EINVAL, or why the client can't be entered. The
 * caller must not have entered it. */
int rl_client_refuse(redlock *client, const char *why);

int rl_client_wrong(redlock *client, const char *why); /* the same of one that is entered */

#endif
