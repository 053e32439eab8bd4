/* channel_scene.h - masters, one who holds and another who waits, and the channels on which it
 * hears of releases: what the tests of waiting by channel share. */
#ifndef TEST_CHANNEL_SCENE_H
#define TEST_CHANNEL_SCENE_H

#include "wait_scene.h"

#define CHANNEL_OF(name) "redisson_lock__channel:{" name "}"

/* How many connections listen on the channel at a master. */
long long listeners(unsigned node, const char *channel);

/* Wait until that many do, at each of the masters that run. */
void listeners_become(const char *channel, long long count);

/* How many channels have listeners there. */
long long channels(unsigned node);

/* Somebody else has the reentrant lock, everywhere: written as Redisson does. Gives it back
 * with a message, or in silence. */
void peer_takes(const char *name);
void peer_gives_back(const char *name, const char *message);

#endif
