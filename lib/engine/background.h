/* background.h - who runs the loop while no caller waits (background.c). The mutex must
 * be held. */
#ifndef RL_BACKGROUND_H
#define RL_BACKGROUND_H

#include <redlock.h>
#include <stdbool.h>

struct rl_background;

/* Work will outlive this call: start the thread that does it. 0 or REDLOCK_ESYSTEM. */
int rl_background_require(redlock *client);
/* Poll, run timers and callbacks. `late`: events may have waited for a while. */
void rl_background_turn(redlock *client, bool late);
/* A call has returned: start or wake the thread or event loop, if work is left. */
void rl_background_after_call(redlock *client);
bool rl_background_defers(redlock *client); /* does an asynchronous try wait for the turn? */
/* End the background thread, and wait for that: while closing, or where the user's loop takes
 * over. */
void rl_background_stop(redlock *client);
void rl_background_done(struct rl_background *background); /* close the descriptors */

#endif
