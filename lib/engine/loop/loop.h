/* loop.h - the loop under all calls (loop.c). The mutex must be held. */
#ifndef RL_LOOP_H
#define RL_LOOP_H

#include <redlock.h>
#include <stdbool.h>
#include <stdint.h>

struct rl_parking;

bool rl_loop_unflushed(const redlock *client);
/* Send queued requests. _unless_led: not if the leader will send them all together, because it
 * is awake, or because more are expected. */
void rl_loop_flush(redlock *client, int64_t now_ns);
void rl_loop_flush_unless_led(redlock *client, int64_t now_ns);
/* Do all that is due by now: timers, nodes, subscribers, releases, the backlog. */
void rl_loop_tick(redlock *client, int64_t now_ns);
int64_t rl_loop_next_due_ns(redlock *client);
/* Milliseconds until then, rounded up; at most a second. */
int rl_loop_timeout_ms(int64_t due_ns, int64_t now_ns);
/* Handle events. `late`: some may have waited for a while. */
void rl_loop_poll(redlock *client, bool late);
/* Handle the events that have come meanwhile. _if_idle: only if nobody polled for long, or if a
 * reply is overdue. */
int64_t rl_loop_poll_now(redlock *client);
int64_t rl_loop_poll_if_idle(redlock *client);
/* To be called after each wait, before any event or timer is handled. If nobody polled for a
 * while, no master may be blamed for it. */
void rl_loop_end_absence(redlock *client, int64_t now_ns);
/* A turn. _look: wait until `due_ns` at the longest, and handle the events. Returns the time
 * after that. _send: wake those whose calls have ended, and send the requests that follow. */
int64_t rl_loop_look(redlock *client, int64_t now_ns, int64_t due_ns);
void rl_loop_send(redlock *client, int64_t now_ns);
/* Wake the leader: now; or only if something is due before it would wake. */
void rl_loop_interrupt(redlock *client);
void rl_loop_interrupt_if_earlier(redlock *client);
/* A wait for our descriptors has failed: the program has closed one. Without the mutex: wait,
 * so that nothing spins. With it: say so, once. */
void rl_loop_rest_blind(void);
void rl_loop_is_blind(redlock *client);

/* Wake threads whose calls are done. */
void rl_loop_wake(struct rl_parking *parking);

#endif
