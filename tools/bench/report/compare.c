/* compare.c - see compare.h. Reads the output of report.c, a figure a line. */
#include "config_auto.h"

#include "bench/report/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 1024

/* The value after "KEY": in a line. NULL: it has none. */
static const char *value_of(const char *line, const char *key)
{
    char wanted[32];
    snprintf(wanted, sizeof(wanted), "\"%s\": ", key);
    const char *at = strstr(line, wanted);
    return at != NULL ? at + strlen(wanted) : NULL;
}

static bool take_text(const char *line, const char *key, char *ret_text, size_t size)
{
    const char *at = value_of(line, key);
    if (at == NULL || *at++ != '"')
        return false;
    size_t len = strcspn(at, "\"");
    if (at[len] != '"' || len >= size)
        return false;
    memcpy(ret_text, at, len);
    ret_text[len] = '\0';
    return true;
}

static bool take_number(const char *line, const char *key, double *ret_number)
{
    const char *at = value_of(line, key);
    char *end = NULL;
    if (at == NULL)
        return false;
    *ret_number = strtod(at, &end);
    return end != at;
}

static bool take_figure(const char *line, struct bench_old *ret_old)
{
    return take_text(line, "scenario", ret_old->scenario, sizeof(ret_old->scenario)) &&
           take_text(line, "what", ret_old->what, sizeof(ret_old->what)) &&
           take_text(line, "of", ret_old->of, sizeof(ret_old->of)) &&
           take_number(line, "median", &ret_old->median) &&
           take_number(line, "min", &ret_old->min) && take_number(line, "max", &ret_old->max);
}

bool bench_compare_read(const char *path, struct bench_olds *ret_olds)
{
    char line[LINE_MAX_BYTES];
    *ret_olds = (struct bench_olds){.path = path};
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        fprintf(stderr, "redlock-bench: --compare %s: %s\n", path, strerror(errno));
        return false;
    }
    while (ret_olds->count < BENCH_FIGURES_MAX && fgets(line, sizeof(line), file) != NULL)
        ret_olds->count += take_figure(line, &ret_olds->old[ret_olds->count]);
    fclose(file);
    if (ret_olds->count == 0)
        fprintf(stderr,
                "redlock-bench: --compare %s: has no figures; give it what --json "
                "printed\n",
                path);
    return ret_olds->count > 0;
}

const struct bench_old *bench_compare_find(const struct bench_olds *olds,
                                           const struct bench_figure *figure)
{
    for (size_t i = 0; i < olds->count; i++) {
        const struct bench_old *old = &olds->old[i];
        if (strcmp(old->scenario, figure->scenario) == 0 &&
            strcmp(old->what, figure->what) == 0 && strcmp(old->of, figure->of) == 0)
            return old;
    }
    return NULL;
}

bool bench_compare_differs(const struct bench_old *old, const struct bench_summary *now)
{
    return now->min > old->max || now->max < old->min;
}

void bench_compare_print(const struct bench_olds *olds, const struct bench_report *report,
                         FILE *out)
{
    if (olds->path == NULL)
        return;
    fprintf(
        out,
        "\ncompared with %s (* beyond what its rounds and ours vary)\n%-65s %11s %11s %7s\n",
        olds->path, "", "old", "new", "ratio");
    for (size_t i = 0; i < report->figures; i++) {
        const struct bench_figure *figure = &report->figure[i];
        const struct bench_old *old = bench_compare_find(olds, figure);
        if (old == NULL)
            continue;
        fprintf(out, "  %-42s %-20s %11.4g %11.4g", figure->what, figure->of, old->median,
                figure->summary.median);
        if (old->median != 0)
            fprintf(out, " %7.3f", figure->summary.median / old->median);
        fputs(bench_compare_differs(old, &figure->summary) ? " *\n" : "\n", out);
    }
}
