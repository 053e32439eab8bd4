/* kick.h - what wakes the background thread or the user's event loop: a kick wakes it now, an
 * alarm later. Mutex held. */
#ifndef RL_KICK_H
#define RL_KICK_H

#include <stdint.h>

struct rl_background;

/* Wake them, unless they are awake. _make: make the descriptor for that, 0 or REDLOCK_ESYSTEM.
 * _drain: they have been woken. */
void rl_kick(struct rl_background *background);
int rl_kick_make(struct rl_background *background);
void rl_kick_drain(struct rl_background *background);

/* Wake them at `due_ns`, which is later than `now_ns`. _make: make the descriptor for that, 0
 * or REDLOCK_ESYSTEM. _drain: it may have gone off. */
void rl_alarm(struct rl_background *background, int64_t due_ns, int64_t now_ns);
int rl_alarm_make(struct rl_background *background);
void rl_alarm_drain(struct rl_background *background);

#endif
