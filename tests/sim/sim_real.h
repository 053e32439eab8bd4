/* sim_real.h - what is bound: each name that the linker's --wrap takes out of all objects of
 * the program (the list sim_bound in Makefile.am), and its two halves:
 *
 *   sim_real_NAME   the real one
 *   sim_bound_NAME  what stands in its place. Outside of simulated processes it does the
 *                   same as the real one.
 *
 * The simulator's own code allocates with sim_real_malloc() and the like, or its memory would
 * be charged to the process that happens to run, and made to fail.
 */
#ifndef SIM_REAL_H
#define SIM_REAL_H

#include "base/futex.h"
#include "net/resolve.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>
#include <uuid/uuid.h>

/* The names that the linker knows them by are nobody's to write in C. */
#define SIM_BINDS(type, name, ...)                                                             \
    type sim_real_##name(__VA_ARGS__) __asm__("__real_" #name);                                \
    type sim_bound_##name(__VA_ARGS__) __asm__("__wrap_" #name)

/* sim_alloc.c */
SIM_BINDS(void *, malloc, size_t size);
SIM_BINDS(void *, calloc, size_t count, size_t size);
SIM_BINDS(void *, realloc, void *block, size_t size);
SIM_BINDS(char *, strdup, const char *text);
SIM_BINDS(void, free, void *block);
SIM_BINDS(void *, mmap, void *at, size_t size, int access, int flags, int fd, off_t offset);
SIM_BINDS(void *, mmap64, void *at, size_t size, int access, int flags, int fd, off_t offset);
SIM_BINDS(int, munmap, void *at, size_t size);
SIM_BINDS(int, madvise, void *at, size_t size, int advice);

/* sim_leaf.c */
SIM_BINDS(int, clock_gettime, clockid_t clock, struct timespec *ret_time);
SIM_BINDS(int, nanosleep, const struct timespec *time, struct timespec *ret_left);
SIM_BINDS(int, sched_yield, void);
SIM_BINDS(ssize_t, getrandom, void *ret_bytes, size_t size, unsigned flags);
SIM_BINDS(void, uuid_generate_random, uuid_t ret_uuid);
SIM_BINDS(int, gethostname, char *ret_name, size_t size);
SIM_BINDS(pid_t, getpid, void);
SIM_BINDS(int, atexit, void (*run)(void));
SIM_BINDS(int, prctl, int what, unsigned long a, unsigned long b, unsigned long c,
          unsigned long d);
SIM_BINDS(int, rl_clock_boot_id, char ret_id[37]);
SIM_BINDS(int, rl_clock_offset, int64_t *ret_offset);

/* sim_futex.c */
SIM_BINDS(bool, rl_futex_wait, atomic_uint *word, unsigned seen, uint32_t bits,
          const struct timespec *until);
SIM_BINDS(void, rl_futex_wake, atomic_uint *word, uint32_t bits);

/* sim_lookup.c */
SIM_BINDS(struct rl_lookup *, rl_lookup_start, const char *host, int port, int wake_fd);
SIM_BINDS(enum rl_lookup_state, rl_lookup_poll, struct rl_lookup *lookup,
          struct rl_addresses *ret_addresses, char *why, size_t why_size);
SIM_BINDS(void, rl_lookup_abandon, struct rl_lookup *lookup);

/* sim_thread.c */
SIM_BINDS(int, pthread_create, pthread_t *ret_thread, const pthread_attr_t *attributes,
          void *(*run)(void *), void *argument);
SIM_BINDS(int, pthread_join, pthread_t thread, void **ret_result);
SIM_BINDS(pthread_t, pthread_self, void);
SIM_BINDS(int, pthread_setcancelstate, int state, int *ret_before);
SIM_BINDS(int, pthread_sigmask, int how, const sigset_t *set, sigset_t *ret_before);
SIM_BINDS(int, pthread_setname_np, pthread_t thread, const char *name);

/* sim_mutex.c */
SIM_BINDS(int, pthread_mutex_init, pthread_mutex_t *mutex, const pthread_mutexattr_t *attr);
SIM_BINDS(int, pthread_mutex_destroy, pthread_mutex_t *mutex);
SIM_BINDS(int, pthread_mutex_lock, pthread_mutex_t *mutex);
SIM_BINDS(int, pthread_mutex_trylock, pthread_mutex_t *mutex);
SIM_BINDS(int, pthread_mutex_unlock, pthread_mutex_t *mutex);

/* sim_cond.c */
SIM_BINDS(int, pthread_cond_init, pthread_cond_t *cond, const pthread_condattr_t *attr);
SIM_BINDS(int, pthread_cond_destroy, pthread_cond_t *cond);
SIM_BINDS(int, pthread_cond_wait, pthread_cond_t *cond, pthread_mutex_t *mutex);
SIM_BINDS(int, pthread_cond_timedwait, pthread_cond_t *cond, pthread_mutex_t *mutex,
          const struct timespec *until);
SIM_BINDS(int, pthread_cond_signal, pthread_cond_t *cond);
SIM_BINDS(int, pthread_cond_broadcast, pthread_cond_t *cond);

/* The network's files */
SIM_BINDS(int, socket, int family, int type, int protocol);
SIM_BINDS(int, connect, int fd, const struct sockaddr *address, socklen_t len);
SIM_BINDS(int, getsockopt, int fd, int level, int option, void *ret_value, socklen_t *ret_len);
SIM_BINDS(int, setsockopt, int fd, int level, int option, const void *value, socklen_t len);
SIM_BINDS(int, getsockname, int fd, struct sockaddr *ret_address, socklen_t *ret_len);
SIM_BINDS(int, getpeername, int fd, struct sockaddr *ret_address, socklen_t *ret_len);
SIM_BINDS(ssize_t, send, int fd, const void *bytes, size_t len, int flags);
SIM_BINDS(ssize_t, recv, int fd, void *ret_bytes, size_t size, int flags);
SIM_BINDS(int, shutdown, int fd, int how);
SIM_BINDS(int, close, int fd);
SIM_BINDS(ssize_t, read, int fd, void *ret_bytes, size_t size);
SIM_BINDS(ssize_t, write, int fd, const void *bytes, size_t len);
SIM_BINDS(int, eventfd, unsigned count, int flags);
SIM_BINDS(int, timerfd_create, int clock, int flags);
SIM_BINDS(int, timerfd_settime, int fd, int flags, const struct itimerspec *at,
          struct itimerspec *ret_before);
SIM_BINDS(int, epoll_create1, int flags);
SIM_BINDS(int, epoll_ctl, int epoll_fd, int what, int fd, struct epoll_event *event);
SIM_BINDS(int, epoll_wait, int epoll_fd, struct epoll_event *ret_events, int room,
          int timeout_ms);
SIM_BINDS(int, epoll_pwait2, int epoll_fd, struct epoll_event *ret_events, int room,
          const struct timespec *timeout, const sigset_t *mask);
SIM_BINDS(int, poll, struct pollfd *fds, nfds_t count, int timeout_ms);

/* sim_fortified.c: the names under which some of these are called where _FORTIFY_SOURCE is
 * set, as it is by default on some systems. */
SIM_BINDS(ssize_t, __read_chk, int fd, void *ret_bytes, size_t size, size_t room);
SIM_BINDS(ssize_t, __recv_chk, int fd, void *ret_bytes, size_t size, size_t room, int flags);
SIM_BINDS(int, __poll_chk, struct pollfd *fds, nfds_t count, int timeout_ms, size_t room);
SIM_BINDS(int, __gethostname_chk, char *ret_name, size_t size, size_t room);

#endif
