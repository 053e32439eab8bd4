/* hiredis_reader.h - hiredis's reader. The reader's struct has another shape in each version of
 * hiredis, behind the same names. A name that the loader finds in the process may be another
 * version's. So the reader is a part of this library, under names of our own (lib/local.mk), or
 * is checked before its use.
 */
#ifndef RL_HIREDIS_READER_H
#define RL_HIREDIS_READER_H

#include "config_auto.h"

#ifdef HIDDEN_HIREDIS
#define redisReaderCreateWithFunctions rl_hiredis_create
#define redisReaderFree rl_hiredis_free
#define redisReaderFeed rl_hiredis_feed
#define redisReaderGetReply rl_hiredis_get
#endif
#include <hiredis/hiredis.h>

#endif
