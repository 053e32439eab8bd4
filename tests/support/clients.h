/* clients.h - masters and two clients of them: what many tests on real masters begin with. */
#ifndef TEST_CLIENTS_H
#define TEST_CLIENTS_H

#include "client.h"
#include "masters.h"

extern struct masters *masters;
extern redlock *one, *two;

/* So many masters, and both clients ready on all of them; `settings` as for masters_file(). */
void open_clients(unsigned n, const char *settings);

/* The same of clients that may not have connected yet, and have ten seconds to. */
void open_cold_clients(unsigned n, const char *settings);

/* The clients end (NULL: it did before), and the masters. */
void close_clients(void);
#define OPEN_CLIENTS(n, settings)                                                              \
    AT_BLOCK_END(close_clients);                                                               \
    open_clients(n, settings)
#define OPEN_COLD_CLIENTS(n, settings)                                                         \
    AT_BLOCK_END(close_clients);                                                               \
    open_cold_clients(n, settings)

#endif
