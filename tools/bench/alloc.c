/* alloc.c - malloc and its kin, counted on their way to the C library. The program's own
 * definitions come first for every shared library too, so nothing goes uncounted. */
#include "config_auto.h"

#include "bench/alloc.h"

#include <stdatomic.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                     \
    __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

#if defined(__GLIBC__) && !defined(SANITIZED)

static atomic_uint_fast64_t calls;

/* The C library's own names for its allocator. free() stays as it is: the memory is its. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

static void count(void)
{
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
}

void *malloc(size_t size)
{
    count();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    count();
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size)
{
    count();
    return __libc_realloc(memory, size);
}

uint64_t bench_alloc_count(void)
{
    return atomic_load_explicit(&calls, memory_order_relaxed);
}

#else

uint64_t bench_alloc_count(void)
{
    return 0;
}

#endif

/* Asked of the running process: valgrind, too, puts an allocator of its own in place. */
bool bench_alloc_counted(void)
{
    uint64_t before = bench_alloc_count();
    void *volatile probe = malloc(16);
    free(probe);
    return bench_alloc_count() == before + 1;
}
