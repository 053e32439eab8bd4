/* wire.c - see wire.h. */
#include "config_auto.h"

#include "wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The line at `bytes` without its CRLF; its whole length, or 0 where it has no end yet. */
static size_t take_line(const char *bytes, size_t len)
{
    const char *end = len > 1 ? memmem(bytes, len, "\r\n", 2) : NULL;
    return end ? (size_t)(end - bytes) + 2 : 0;
}

/* One item without the elements of an array: as wire_parse(). */
static long parse_item(const char *bytes, size_t len, struct wire_item *ret)
{
    size_t line = take_line(bytes, len);
    if (line == 0)
        return 0;
    *ret = (struct wire_item){.type = bytes[0], .bytes = bytes + 1, .len = line - 3};
    if (bytes[0] == '+' || bytes[0] == '-')
        return (long)line;
    char *end = NULL;
    ret->number = strtoll(bytes + 1, &end, 10);
    if (!strchr(":$*", bytes[0]) || end != bytes + line - 2)
        return -1;
    if (bytes[0] != '$' || ret->number < 0)
        return (long)line;
    ret->bytes = bytes + line;
    ret->len = (size_t)ret->number;
    if (len - line < ret->len + 2)
        return 0;
    return (long)(line + ret->len + 2);
}

long wire_parse(const char *bytes, size_t len, struct wire_item items[WIRE_ITEMS_MAX],
                unsigned *ret_count)
{
    size_t used = 0;
    long long wanted = 1;
    unsigned count = 0;
    while (wanted > 0) {
        if (count == WIRE_ITEMS_MAX)
            return -1;
        long got = parse_item(bytes + used, len - used, &items[count]);
        if (got <= 0)
            return got;
        wanted--;
        if (items[count].type == '*' && items[count].number > 0)
            wanted += items[count].number;
        used += (size_t)got;
        count++;
    }
    *ret_count = count;
    return (long)used;
}

size_t wire_encode(char *ret_bytes, size_t size, unsigned argc, const char *const argv[],
                   const size_t lens[])
{
    size_t used = (size_t)snprintf(ret_bytes, size, "*%u\r\n", argc);
    for (unsigned i = 0; i < argc; i++) {
        if (used + lens[i] + 32 > size)
            return 0;
        used += (size_t)snprintf(ret_bytes + used, size - used, "$%zu\r\n", lens[i]);
        memcpy(ret_bytes + used, argv[i], lens[i]);
        memcpy(ret_bytes + used + lens[i], "\r\n", 2);
        used += lens[i] + 2;
    }
    return used;
}
