/* fake_sentinels.h - fakes that answer as Sentinels do: each names a master, as its test wants. */
#ifndef TEST_FAKE_SENTINELS_H
#define TEST_FAKE_SENTINELS_H

#include "fake.h"

enum { FAKE_SENTINELS = 3 };

extern struct fake *fake_sentinels[FAKE_SENTINELS];

/* They are up for long. `ret_url`, of `size` bytes, is "redis+sentinel://HOST:PORT,..." without a
 * service. */
void fake_sentinels_start(char *ret_url, size_t size);
void fake_sentinels_stop(void);

/* From now on this one names that port of 127.0.0.1, in that term, whatever service is asked for,
 * and its id is that of its number. */
void fake_sentinel_names(unsigned number, int port, unsigned term);

#endif
