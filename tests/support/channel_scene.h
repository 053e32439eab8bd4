/* channel_scene.h - what the tests of waiting by channel share. Masters, a client that holds,
 * one that waits, and the channels on which the waiter hears of releases. */
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
