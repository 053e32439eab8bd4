/* cli_nested.c - $REDLOCK_HELD: the locks of the `redlock run`s that we run under, a line each:
 *
 *   KIND OWNER NAME NODES
 *
 * the last three in hexadecimal, "-" for no owner; NODES is the path of the node list, or its
 * URLs. A run that asks for such a lock again would wait for itself. */
#include "config_auto.h"

#include "redlock/cli.h"

#include <stdlib.h>
#include <string.h>

#define VARIABLE "REDLOCK_HELD"

struct line {
    char *at; /* NULL: only counted */
    size_t len;
};

static void put(struct line *line, const char *bytes, size_t len)
{
    if (line->at)
        memcpy(line->at + line->len, bytes, len);
    line->len += len;
}

static void put_hex(struct line *line, const char *text)
{
    static const char digits[] = "0123456789abcdef";
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        put(line, (const char[]){digits[byte >> 4], digits[byte & 15]}, 2);
    }
}

static void put_lock(struct line *line, const struct cli *cli, const char *name)
{
    put(line, cli_kind_word(cli->kind), strlen(cli_kind_word(cli->kind)));
    put(line, " ", 1);
    if (cli->owner)
        put_hex(line, cli->owner);
    else
        put(line, "-", 1);
    put(line, " ", 1);
    put_hex(line, name);
    put(line, " ", 1);
    put_hex(line, cli_nodes_shown());
    put(line, "\n", 1);
}

char *cli_nested_text(const struct cli *cli)
{
    const char *before = getenv(VARIABLE);
    struct line line = {NULL, 0};
    for (int pass = 0; pass < 2; pass++) {
        line.len = 0;
        put(&line, before ? before : "", before ? strlen(before) : 0);
        for (unsigned i = 0; i < cli->name_count; i++)
            put_lock(&line, cli, cli->names[i]);
        put(&line, "", 1);
        if (pass == 0 && !(line.at = malloc(line.len)))
            return NULL;
    }
    return line.at;
}

/* Would a try of this kind, under a lock of that kind, wait for that lock? A reader under a
 * reader is refused only if a writer waits, which waits for the outer reader. */
static bool excludes(const char *held, int asked, bool same_owner)
{
    if (strcmp(held, cli_kind_word(REDLOCK_PLAIN)) == 0)
        return asked == REDLOCK_PLAIN;
    if (asked == REDLOCK_PLAIN || same_owner)
        return false;
    bool rw = strcmp(held, cli_kind_word(REDLOCK_READ)) == 0 ||
              strcmp(held, cli_kind_word(REDLOCK_WRITE)) == 0;
    return rw == (asked == REDLOCK_READ || asked == REDLOCK_WRITE);
}

static bool is_it(const struct cli *cli, const char *text, size_t len, const char *name)
{
    const char *owner = memchr(text, ' ', len);
    char kind[16], wanted[2 * (REDLOCK_NAME_MAX + RL_OWNER_MAX) + 8200];
    if (!owner || (size_t)(owner - text) >= sizeof(kind) ||
        2 * (strlen(name) + strlen(cli_nodes_shown())) + 4 * RL_OWNER_MAX > sizeof(wanted))
        return false;
    memcpy(kind, text, (size_t)(owner - text));
    kind[owner - text] = '\0';
    const char *rest = memchr(owner + 1, ' ', len - (size_t)(owner + 1 - text));
    if (!rest)
        return false;
    struct line line = {wanted, 0};
    if (cli->owner)
        put_hex(&line, cli->owner);
    bool same_owner = cli->owner && line.len == (size_t)(rest - owner - 1) &&
                      memcmp(owner + 1, wanted, line.len) == 0;
    line.len = 0;
    put(&line, " ", 1);
    put_hex(&line, name);
    put(&line, " ", 1);
    put_hex(&line, cli_nodes_shown());
    return line.len == len - (size_t)(rest - text) && memcmp(rest, wanted, line.len) == 0 &&
           excludes(kind, cli->kind, same_owner);
}

const char *cli_nested_in(const struct cli *cli)
{
    const char *held = getenv(VARIABLE);
    for (const char *end; held && (end = strchr(held, '\n')); held = end + 1) {
        for (unsigned i = 0; i < cli->name_count; i++) {
            if (is_it(cli, held, (size_t)(end - held), cli->names[i]))
                return cli->names[i];
        }
    }
    return NULL;
}
