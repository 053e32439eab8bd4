/* tags: source */
/* night.c - what docs/OPERATING.md has of the table of refusals (core/refusal.h): what is seen, and
 * what is done. Without arguments it fails where the document parts from the table; with --write
 * the document gets it (`make night`). */
#include "config_auto.h"

#include "core/refusal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE "docs/OPERATING.md"
#define BEGIN "<!-- night -->\n"
#define END "<!-- end of night -->\n"

static bool are_alike(const struct rl_refusal *a, const struct rl_refusal *b)
{
    return a->class == b->class && a->exit_status == b->exit_status && a->wait == b->wait &&
           (a->remedy == b->remedy ||
            (a->remedy && b->remedy && strcmp(a->remedy, b->remedy) == 0));
}

/* Those that are alike are one row, where the first of them stands. */
static bool was_told(const struct rl_refusal *rows, size_t i)
{
    for (size_t before = 0; before < i; before++) {
        if (are_alike(&rows[before], &rows[i]))
            return true;
    }
    return false;
}

static const char *done(const struct rl_refusal *row)
{
    if (row->remedy)
        return row->remedy;
    return "nothing: it votes when its time is over";
}

/* A bar would end a cell, and an asterisk begin another face. */
static void put_cell(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '|' || *text == '*')
            fputc('\\', out);
        fputc(*text, out);
    }
}

static void put_table(FILE *out)
{
    size_t count = 0;
    const struct rl_refusal *rows = rl_refusals(&count);
    fputs("| seen | by itself | do |\n|---|---|---|\n", out);
    for (size_t i = 0; i < count; i++) {
        if (was_told(rows, i))
            continue;
        fputs("|", out);
        for (size_t like = i; like < count; like++) {
            if (!are_alike(&rows[i], &rows[like]))
                continue;
            fputs(like == i ? " `" : ", `", out);
            put_cell(out, rows[like].words);
            fputs("`", out);
        }
        fprintf(out, " | %s | ", rows[i].class == RL_REFUSAL_PASSES ? "may pass" : "stays");
        put_cell(out, done(&rows[i]));
        fputs(" |\n", out);
    }
}

static char page[1 << 20];

static void read_page(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(1);
    }
    page[fread(page, 1, sizeof(page) - 1, file)] = '\0';
    fclose(file);
}

static char *table_text(void)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        exit(1);
    put_table(out);
    fclose(out);
    return text;
}

static int write_page(const char *path, const char *begin, const char *end, const char *table)
{
    FILE *out = fopen(path, "w");
    if (!out) {
        perror(path);
        return 1;
    }
    fwrite(page, 1, (size_t)(begin - page), out);
    fputs(table, out);
    fputs(end, out);
    return fclose(out) != 0;
}

int main(int argc, char **argv)
{
    const char *srcdir = getenv("srcdir");
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", srcdir ? srcdir : ".", PAGE);
    read_page(path);
    char *table = table_text();
    const char *begin = strstr(page, BEGIN);
    const char *end = begin ? strstr(begin, END) : NULL;
    int failed = 1;
    if (!end) {
        printf("%s has no place for the table: %s", path, BEGIN);
    } else if (argc > 1 && strcmp(argv[1], "--write") == 0) {
        failed = write_page(path, begin + strlen(BEGIN), end, table);
    } else {
        size_t len = (size_t)(end - begin) - strlen(BEGIN);
        failed = len != strlen(table) || memcmp(begin + strlen(BEGIN), table, len) != 0;
        if (failed)
            printf("%s parts from lib/core/refusal.c: make night\n", path);
    }
    free(table);
    return failed;
}
