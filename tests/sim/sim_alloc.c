/* sim_alloc.c - the memory of simulated processes: real blocks that are counted, and refused
 * now and then. What was allocated elsewhere (by a shared library, or outside of processes)
 * is left to the real functions. An allocation is no place where threads are switched.
 */
#include "config_auto.h"

#include "sim_alloc.h"

#include "sim_blocks.h"
#include "sim_fiber.h"
#include "sim_real.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* ---- accounts ------------------------------------------------------------------------- */

static void *charge(unsigned index, void *block, size_t size)
{
    struct sim_proc *proc = sim_proc_at(index);

    if (!block)
        return NULL;
    sim_blocks_add(block, size, index);
    proc->live_blocks++;
    proc->live_bytes += size;
    if (proc->live_bytes > proc->peak_bytes)
        proc->peak_bytes = proc->live_bytes;
    return block;
}

/* False: it is nobody's. */
static bool discharge(void *block, struct sim_block *ret_was)
{
    if (!block || !sim_blocks_take(block, ret_was))
        return false;
    struct sim_proc *proc = sim_proc_at(ret_was->proc);
    assert(proc->live_blocks > 0 && proc->live_bytes >= ret_was->size);
    proc->live_blocks--;
    proc->live_bytes -= ret_was->size;
    return true;
}

bool sim_alloc_fails(void)
{
    struct sim_proc *proc = sim_proc();
    struct sim_proc_parts *parts = proc->parts;

    bool counted = parts->fail_alloc_at > 0 && --parts->fail_alloc_at == 0;
    bool drawn = !proc->crashed && sim_chance(proc->rates.alloc_fail_ppm);
    if (!counted && !drawn)
        return false;
    proc->felt.no_memory++;
    sim_mark(SIM_MARK_NO_MEMORY, proc->index, 0);
    if (sim_tells())
        sim_tell("%s has no memory", proc->name); /* sizes of structs are no history */
    errno = ENOMEM;
    return true;
}

/* ---- blocks --------------------------------------------------------------------------- */

void *sim_bound_malloc(size_t size)
{
    struct sim_proc *proc = sim_proc();

    if (!proc)
        return sim_real_malloc(size);
    if (sim_alloc_fails())
        return NULL;
    return charge(proc->index, sim_real_malloc(size), size);
}

void *sim_bound_calloc(size_t count, size_t size)
{
    struct sim_proc *proc = sim_proc();

    if (!proc)
        return sim_real_calloc(count, size);
    if (sim_alloc_fails())
        return NULL;
    return charge(proc->index, sim_real_calloc(count, size), count * size);
}

void *sim_bound_realloc(void *block, size_t size)
{
    struct sim_block was;

    if (!block)
        return sim_bound_malloc(size);
    if (sim_proc() && sim_alloc_fails())
        return NULL;
    if (!discharge(block, &was))
        return sim_real_realloc(block, size);
    assert(size > 0);
    void *grown = sim_real_realloc(block, size);
    if (!grown)
        charge(was.proc, was.at, was.size);
    return charge(was.proc, grown, size);
}

char *sim_bound_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = sim_bound_malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

void sim_bound_free(void *block)
{
    struct sim_block was;

    discharge(block, &was);
    sim_real_free(block);
}

/* ---- pages ---------------------------------------------------------------------------- */

/* Only such as hold no file. Nobody forks there, so that a block does as well. */
static bool is_plain(int flags, int fd)
{
    return sim_proc() && (flags & MAP_ANONYMOUS) && fd == -1;
}

static void *map_block(size_t size)
{
    void *block = sim_bound_calloc(1, size);
    return block ? block : MAP_FAILED;
}

void *sim_bound_mmap(void *at, size_t size, int access, int flags, int fd, off_t offset)
{
    if (is_plain(flags, fd))
        return map_block(size);
    return sim_real_mmap(at, size, access, flags, fd, offset);
}

void *sim_bound_mmap64(void *at, size_t size, int access, int flags, int fd, off_t offset)
{
    if (is_plain(flags, fd))
        return map_block(size);
    return sim_real_mmap64(at, size, access, flags, fd, offset);
}

int sim_bound_munmap(void *at, size_t size)
{
    if (!sim_proc())
        return sim_real_munmap(at, size);
    sim_bound_free(at);
    return 0;
}

int sim_bound_madvise(void *at, size_t size, int advice)
{
    return sim_proc() ? 0 : sim_real_madvise(at, size, advice);
}
