/* table.c - see table.h. */
#include "config_auto.h"

#include "options/table.h"

#include "base/duration.h"

#include <redlock.h>

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

enum { ROWS_MAX = 64, HELP_COLUMN = 25 };

static const char *program = ""; /* whose command line it is */

int option_usage(const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "%s: ", program);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, " (see %s --help)\n", program);
    return EX_USAGE;
}

int option_wrong(const struct option_row *row, const char *value, const char *right)
{
    return option_usage("--%s '%.40s': %s", row->name, value, right);
}

/* ---- values ----------------------------------------------------------------------------- */

static int read_number(const struct option_row *row, const char *text, unsigned *ret_number)
{
    char *end, right[80];
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (*text >= '0' && *text <= '9' && *end == '\0' && errno == 0 &&
        number >= (unsigned long)row->min && number <= (unsigned long)row->max) {
        *ret_number = (unsigned)number;
        return -1;
    }
    snprintf(right, sizeof(right), "give a whole number from %u to %u", (unsigned)row->min,
             (unsigned)row->max);
    return option_wrong(row, text, right);
}

static int read_time(const struct option_row *row, const char *text, int64_t *ret_ms)
{
    int64_t ms = 0;
    char min[RL_DURATION_TEXT_MAX], max[RL_DURATION_TEXT_MAX];
    const char *wrong = rl_duration_parse(text, strlen(text), &ms);
    if (wrong != NULL)
        return option_wrong(row, text, wrong);
    if (ms < row->min || ms > row->max) {
        rl_duration_format(row->min, min);
        rl_duration_format(row->max, max);
        return option_usage("--%s %.40s: give a time from %s to %s", row->name, text, min, max);
    }
    *ret_ms = ms;
    return -1;
}

int option_word(const struct option_row *row, const char *value, unsigned *ret_which)
{
    char right[120] = "give ";
    *ret_which = 0;
    if (value == NULL)
        return -1;
    for (unsigned i = 0; row->words[i] != NULL; i++) {
        if (strcmp(value, row->words[i]) == 0) {
            *ret_which = i;
            return -1;
        }
        bool last = row->words[i + 1] == NULL;
        size_t len = strlen(right);
        snprintf(right + len, sizeof(right) - len, "%s%s", i == 0 ? "" : last ? " or " : ", ",
                 row->words[i]);
    }
    return option_wrong(row, value, right);
}

static int read_value(const struct option_row *row, void *into, const char *value)
{
    void *at = (char *)into + row->offset;
    switch (row->type) {
    case OPTION_FLAG:
        *(bool *)at = true;
        return -1;
    case OPTION_TEXT:
        *(const char **)at = value;
        return row->needs == NULL || *value != '\0'
                   ? -1
                   : option_usage("--%s needs %s", row->name, row->needs);
    case OPTION_NUMBER:
        return read_number(row, value, at);
    case OPTION_TIME:
        return read_time(row, value, at);
    case OPTION_WORD:
        return option_word(row, value, at);
    default:
        return row->read(row, into, value);
    }
}

/* ---- the line --------------------------------------------------------------------------- */

static void print_help(const struct option_table *table)
{
    puts(table->usage);
    for (size_t i = 0; i < table->count; i++) {
        const struct option_row *row = &table->rows[i];
        const char *argument = row->argument != NULL ? row->argument : "";
        const char letter[] = {'-', row->letter, ',', '\0'};
        int width = printf("  %3s --%s%s%s", row->letter != '\0' ? letter : "", row->name,
                           *argument == '\0' || *argument == '[' ? "" : " ", argument);
        int gap = width <= HELP_COLUMN - 2 ? HELP_COLUMN - width : 2;
        for (const char *line = row->help; *line != '\0';) {
            size_t len = strcspn(line, "\n");
            printf("%*s%.*s\n", gap, "", (int)len, line);
            line += len + (line[len] == '\n');
            gap = HELP_COLUMN;
        }
    }
    puts("      --help, --version");
    if (table->print_more != NULL)
        table->print_more();
}

/* What getopt_long(3) reads by: a long option sets `ret_which` to its row, or to what follows
 * the rows, --help and --version; a letter it returns. */
static void make_options(const struct option_table *table, int *ret_which,
                         struct option options[ROWS_MAX + 3], char letters[2 * ROWS_MAX + 3])
{
    const struct option_row more[] = {{.name = "help"}, {.name = "version"}};
    char *end = letters + sprintf(letters, "+:");
    for (size_t i = 0; i < table->count + 2; i++) {
        const struct option_row *row = i < table->count ? &table->rows[i] : &more[i - table->count];
        options[i] = (struct option){.name = row->name, .flag = ret_which, .val = (int)i};
        if (row->argument != NULL)
            options[i].has_arg =
                row->argument[0] == '[' ? optional_argument : required_argument;
        if (row->letter != '\0')
            end += sprintf(end, "%c%s", row->letter, row->argument != NULL ? ":" : "");
    }
    options[table->count + 2] = (struct option){.name = NULL};
}

static size_t row_of_letter(const struct option_table *table, int letter)
{
    size_t row = 0;
    while (table->rows[row].letter != letter)
        row++;
    return row;
}

bool option_given(const struct option_table *table, uint64_t given, const char *name)
{
    size_t row = 0;
    while (strcmp(table->rows[row].name, name) != 0)
        row++;
    return (given >> row & 1) != 0;
}

int option_table_read(const struct option_table *table, void *into, int argc, char **argv,
                      uint64_t *ret_given)
{
    struct option options[ROWS_MAX + 3];
    char letters[2 * ROWS_MAX + 3];
    int which = 0;
    assert(table->count <= ROWS_MAX);
    make_options(table, &which, options, letters);
    program = table->program;
    *ret_given = 0;
    opterr = 0;
    for (;;) {
        const char *word = argv[optind]; /* where the option stands */
        int letter = getopt_long(argc, argv, letters, options, NULL);
        if (letter == -1)
            break;
        if (letter == ':')
            return option_usage("%.40s needs a value", word);
        if (letter == '?')
            return option_usage("%.40s is no option, or takes no value", word);
        size_t row = letter != 0 ? row_of_letter(table, letter) : (size_t)which;
        if (row == table->count)
            print_help(table);
        if (row == table->count + 1)
            printf("%s %s\n", program, redlock_version());
        if (row >= table->count)
            return 0;
        *ret_given |= UINT64_C(1) << row;
        int status = read_value(&table->rows[row], into, optarg);
        if (status >= 0)
            return status;
    }
    return optind < argc ? option_usage("'%.40s': options only, please", argv[optind]) : -1;
}
