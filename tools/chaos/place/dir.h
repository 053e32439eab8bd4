/* dir.h - the directory of a run in a place that brings none of its own. */
#ifndef CHAOS_DIR_H
#define CHAOS_DIR_H

#include "chaos/place/place.h"

/* Make place->dir, a new one below $TMPDIR. False: `why`. */
bool chaos_dir_make(struct chaos_place *place, char *why, size_t why_size);

/* Remove it and all that is in it; nothing where there is none. */
void chaos_dir_remove(struct chaos_place *place);

#endif
