/* other_malloc.c - a service with a malloc() of its own, which loads the library with
 * RTLD_DEEPBIND, as some plug-in hosts do. The library then has the C library's malloc() and
 * free(); functions of the C library that allocate for their caller have this program's.
 * Arguments: the library, a node list. */
#include <dlfcn.h>
#include <redlock.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Blocks from one array, never used again. Another free() than this one does not know them. */
static _Alignas(16) unsigned char heap[64 << 20];
static size_t used;

void *malloc(size_t size)
{
    size_t whole = (size + 31) / 16 * 16; /* the size stands in front of the block */
    size_t at = __atomic_fetch_add(&used, whole, __ATOMIC_RELAXED);
    if (size > sizeof(heap) || at + whole > sizeof(heap))
        return NULL;
    memcpy(heap + at, &size, sizeof(size));
    return heap + at + 16;
}

void free(void *block)
{
    static const char text[] = "free() of a block that is not of this program\n";
    uintptr_t at = (uintptr_t)block, start = (uintptr_t)heap;
    if (!block || (at >= start && at - start < sizeof(heap)))
        return;
    if (write(2, text, sizeof(text) - 1) < 0)
        _exit(98);
    _exit(99);
}

void *calloc(size_t count, size_t size)
{
    return malloc(count * size); /* the array is zeros */
}

void *realloc(void *block, size_t size)
{
    void *copy = malloc(size);
    size_t before = 0;
    if (copy && block) {
        memcpy(&before, (unsigned char *)block - 16, sizeof(before));
        memcpy(copy, block, before < size ? before : size);
    }
    return copy;
}

#define FIND(name)                                                                             \
    __typeof__(&redlock_##name) name = NULL;                                                   \
    *(void **)&name = dlsym(library, "redlock_" #name)

int main(int argc, char **argv)
{
    redlock_error error = REDLOCK_ERROR_INIT;
    redlock *client = NULL;
    redlock_lock *lock = NULL;
    void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_DEEPBIND) : NULL;
    if (!library) {
        fprintf(stderr, "no library: %s\n", dlerror());
        return 1;
    }
    FIND(open);
    FIND(try);
    FIND(release);
    FIND(close);
    if (!open || !try || !release || !close)
        return 2;
    if (open(argv[2], &error, &client) != REDLOCK_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 3;
    }
    int code = try(client, "x", NULL, &lock);
    if (code == REDLOCK_OK)
        code = release(lock);
    close(client);
    return code == REDLOCK_OK ? 0 : 4;
}
