/* sim_mutex.h - between sim_mutex.c and sim_cond.c. */
#ifndef SIM_MUTEX_H
#define SIM_MUTEX_H

#include <pthread.h>

/* For who waits for a condition. Fails (EPERM) where it is not the running thread's. */
int sim_mutex_give(pthread_mutex_t *mutex);
void sim_mutex_take(pthread_mutex_t *mutex);

#endif
