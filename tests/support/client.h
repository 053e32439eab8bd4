/* client.h - short forms of the library's calls that the tests make all the time. */
#ifndef TEST_CLIENT_H
#define TEST_CLIENT_H

#include "suite.h"

#include <redlock.h>

enum { CLIENT_TTL_MS = 10000 };

/* Must succeed. */
redlock *client_open(const char *file);

/* CLIENT client = client_open(file): it is closed at the end of the block. */
#define CLIENT __attribute__((cleanup(client_close), unused)) redlock *
void client_close(redlock *const *client);

redlock_lock *client_take(redlock *client, const char *name);

/* redlock_try() with a ttl of CLIENT_TTL_MS where `ttl_ms` is 0; NULL: no report. */
int client_try(redlock *client, const char *name, int64_t ttl_ms, int64_t wait_ms,
               redlock_report *report, redlock_lock **ret_lock);

/* The same for a lock of another kind; `owner` NULL: the calling thread. */
int client_try_as(redlock *client, const char *name, int kind, const char *owner,
                  int64_t wait_ms, redlock_lock **ret_lock);
redlock_lock *client_take_as(redlock *client, const char *name, int kind, const char *owner);

/* redlock_try_names(), likewise; and must succeed. */
int client_try_all(redlock *client, const char *const names[], size_t count, int64_t wait_ms,
                   redlock_report *report, redlock_lock **ret_lock);
redlock_lock *client_take_all(redlock *client, const char *const names[], size_t count);

/* Is the name free for this client just now? Takes it and gives it back. */
bool client_can_take(redlock *client, const char *name);

/* The state of one node, its text into `ret_text` (192 bytes; may be NULL). Lets the client
 * make progress. */
int client_state(redlock *client, unsigned node, char *ret_text);
unsigned client_ready(redlock *client); /* nodes that vote */

/* Now. */
redlock_stats client_stats(redlock *client);

/* Wait until the client asks only from time to time. It then hears all it can, and what it was
 * refused last has come. */
void client_is_quiet(redlock *client);

/* The report in one line, for messages; the next call overwrites it. */
const char *client_told(const redlock_report *report);

#endif
