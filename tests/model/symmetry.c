/* symmetry.c - see symmetry.h. */
#include "config_auto.h"

#include "symmetry.h"

#include <assert.h>
#include <string.h>

bool order_of(unsigned number, unsigned count, unsigned ret_place[SYMMETRY_MAX])
{
    static const unsigned orders[][SYMMETRY_MAX] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1},
                                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const unsigned of_so_many[] = {1, 1, 2, 6};
    assert(count <= SYMMETRY_MAX);
    if (number >= of_so_many[count])
        return false;
    memcpy(ret_place, orders[number], sizeof(orders[number]));
    return true;
}

void sort_records(void *records, size_t count, size_t size)
{
    unsigned char *first = records, kept[64];
    assert(size <= sizeof(kept));
    for (size_t i = 1; i < count; i++) {
        size_t to = i;
        memcpy(kept, first + i * size, size);
        for (; to > 0 && memcmp(first + (to - 1) * size, kept, size) > 0; to--)
            memcpy(first + to * size, first + (to - 1) * size, size);
        memcpy(first + to * size, kept, size);
    }
}
