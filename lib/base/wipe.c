/* wipe.c - see wipe.h. Core. */
#include "config_auto.h"

#include "base/wipe.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void rl_wipe(void *memory, size_t size)
{
    assert(memory || size == 0);
    if (size == 0)
        return;
    memset(memory, 0, size);
    /* The compiler must believe that the memory is read. Otherwise it removes the memset as a
     * dead store.
     */
    __asm__ __volatile__("" : : "r"(memory) : "memory");
}

void rl_wipe_free(char *text)
{
    if (!text)
        return;
    rl_wipe(text, strlen(text));
    free(text);
}
