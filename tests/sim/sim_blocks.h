/* sim_blocks.h - which blocks of memory are simulated processes': a hash table by address, so
 * that blocks of others can be told from them without looking at what is around a block. */
#ifndef SIM_BLOCKS_H
#define SIM_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_block {
    void *at; /* NULL: nothing is here */
    uint32_t size, proc;
};

void sim_blocks_add(void *at, size_t size, unsigned proc);
/* It is taken out. False: it is none. */
bool sim_blocks_take(void *at, struct sim_block *ret_block);
/* What has been left behind is freed. */
void sim_blocks_end(void);

#endif
