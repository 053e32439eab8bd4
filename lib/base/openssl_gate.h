/* openssl_gate.h - exit() tears OpenSSL down while our threads go on. A thread calls OpenSSL
 * only between rl_openssl_enter() and rl_openssl_leave(). At exit, the library waits for the
 * threads inside, and lets nobody in again. */
#ifndef RL_OPENSSL_GATE_H
#define RL_OPENSSL_GATE_H

#include <stdbool.h>

#define RL_OPENSSL_GONE "the process is ending"

/* False: OpenSSL is gone, and what was made with it is left as it is. May be nested. */
bool rl_openssl_enter(void);
void rl_openssl_leave(void);

#endif
