/* alloc.c - see alloc.h. */
#include "config_auto.h"

#include "alloc.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ALLOC_WORKS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                     \
    __has_feature(memory_sanitizer)
#define ALLOC_WORKS 0
#endif
#endif
#ifndef ALLOC_WORKS
#define ALLOC_WORKS 1
#endif

static atomic_long counted;
static atomic_long failing;
static atomic_long live;
static const void *watched;
static size_t watched_len;
static atomic_long left_behind;

/* Asked of the running program: valgrind brings its own allocator as well. */
bool alloc_works(void)
{
    void *(*volatile allocate)(size_t) = malloc; /* not inlined: the one that others get */
    long before = atomic_load(&counted);
    void *volatile block = allocate(1);
    free(block);
    return ALLOC_WORKS && atomic_load(&counted) > before;
}

long alloc_count(void)
{
    return atomic_load(&counted);
}

void alloc_fail_at(long number)
{
    atomic_store(&failing, 0);
    atomic_store(&counted, 0);
    atomic_store(&failing, number);
}

void alloc_watch_for(const void *bytes, size_t len)
{
    watched = bytes;
    watched_len = len;
    atomic_store(&left_behind, 0);
}

long alloc_left_behind(void)
{
    return atomic_load(&left_behind);
}

long alloc_live(void)
{
    return atomic_load(&live);
}

#if ALLOC_WORKS
/* glibc's own names for its allocator. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void __libc_free(void *block);

static bool fails(void)
{
    if (atomic_fetch_add(&counted, 1) + 1 != atomic_load(&failing))
        return false;
    errno = ENOMEM;
    return true;
}

static void *counted_block(void *block)
{
    if (block)
        atomic_fetch_add(&live, 1);
    return block;
}

/* The tests are built with everything hidden: these must be seen by the libraries too. */
#pragma GCC visibility push(default)
void *malloc(size_t size)
{
    return fails() ? NULL : counted_block(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : counted_block(__libc_calloc(count, size));
}

void *realloc(void *block, size_t size)
{
    if (fails())
        return NULL;
    void *grown = __libc_realloc(block, size);
    return block ? grown : counted_block(grown);
}

void free(void *block)
{
    if (block)
        atomic_fetch_sub(&live, 1);
    if (block && watched_len > 0 &&
        memmem(block, malloc_usable_size(block), watched, watched_len))
        atomic_fetch_add(&left_behind, 1);
    __libc_free(block);
}
#pragma GCC visibility pop
#endif
