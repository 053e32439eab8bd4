/* marks.h - masters that were just made, and are marked so (`guard marker`). */
#ifndef TEST_MARKS_H
#define TEST_MARKS_H

#include "masters.h"

/* As `redlock init` does. */
void master_mark(struct masters *masters, unsigned node);
void masters_mark(struct masters *masters); /* all of them */

#endif
