/* table.h - a command line by a table of options: it is read by the table, and --help is made of
 * it. For programs of options alone, without operands. */
#ifndef OPTIONS_TABLE_H
#define OPTIONS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_type {
    OPTION_FLAG,   /* a bool */
    OPTION_TEXT,   /* a const char *; NULL: given without one */
    OPTION_NUMBER, /* an unsigned, from min to max */
    OPTION_TIME,   /* int64_t: milliseconds, from min to max */
    OPTION_WORD,   /* an unsigned: which of `words`; given without one: 0 */
    OPTION_OWN     /* read() reads it */
};

struct option_row {
    const char *name, *argument; /* NULL: takes none; in brackets: may be left out */
    const char *help;            /* of as many lines as it has; of WORD, WORDS and HOW ends with
                                    ": a, b or c", which tools/completion/ reads */
    enum option_type type;
    char letter;   /* 0: none */
    size_t offset; /* of what it sets, in the struct that is filled */
    int64_t min, max;
    const char *needs;        /* what a TEXT names, which may not be empty; NULL: it may */
    const char *const *words; /* a NULL ends them */
    int (*read)(const struct option_row *row, void *into, const char *value);
};

struct option_table {
    const char *program;
    const char *usage;        /* how --help begins */
    void (*print_more)(void); /* how it ends, or NULL */
    const struct option_row *rows;
    size_t count; /* up to 64 */
};

/* -1: go on; else the exit status, after --help, --version, or a line on stderr. `ret_given`:
 * a bit a row. */
int option_table_read(const struct option_table *table, void *into, int argc, char **argv,
                      uint64_t *ret_given);
bool option_given(const struct option_table *table, uint64_t given, const char *name);

/* For read(): -1, or EX_USAGE after a line on stderr, which says what would be right. */
int option_word(const struct option_row *row, const char *value, unsigned *ret_which);
int option_wrong(const struct option_row *row, const char *value, const char *right);

/* A line on stderr. Returns EX_USAGE. */
int option_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
