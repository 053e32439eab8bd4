/* draw.c - latencies counted into columns, and drawn as text. */
#include "config_auto.h"

#include "bench/report/draw.h"

#include <langinfo.h>
#include <locale.h>
#include <string.h>

#define FIRST_OCTAVE 10 /* 2^10 ns is about a microsecond */
#define LEVELS 8
#define LABEL_COLUMNS 28

/* Four times the binary logarithm, a straight line between powers of two. */
static unsigned four_log2(uint64_t value)
{
    unsigned octave = 0;
    for (uint64_t rest = value; rest > 1; rest >>= 1)
        octave++;
    unsigned quarter = octave >= 2 ? (unsigned)(value >> (octave - 2)) & 3 : 0;
    return 4 * octave + quarter;
}

static unsigned column_of(int64_t ns)
{
    unsigned at = ns > 0 ? four_log2((uint64_t)ns) : 0;
    if (at < 4 * FIRST_OCTAVE)
        return 0;
    at -= 4 * FIRST_OCTAVE;
    return at < BENCH_COLUMNS ? at : BENCH_COLUMNS - 1;
}

double bench_column_us(unsigned column)
{
    return (double)((UINT64_C(4) + column % 4) << (column / 4 + FIRST_OCTAVE - 2)) / 1e3;
}

void bench_draw_add(struct bench_report *report, const char *title, const char *of,
                    const struct bench_samples *samples)
{
    size_t i = 0;
    if (samples->count == 0)
        return;
    while (i < report->drawings && (strcmp(report->drawing[i].title, title) != 0 ||
                                    strcmp(report->drawing[i].of, of) != 0))
        i++;
    if (i == BENCH_DRAWINGS_MAX)
        return;
    struct bench_drawing *drawing = &report->drawing[i];
    if (i == report->drawings) {
        report->drawings++;
        drawing->of = of;
        snprintf(drawing->title, sizeof(drawing->title), "%s", title);
    }
    drawing->count += samples->count;
    for (size_t s = 0; s < samples->count; s++)
        drawing->column[column_of(samples->ns[s])]++;
}

static bool has_blocks(void)
{
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (locale == (locale_t)0)
        return false;
    bool utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    freelocale(locale);
    return utf8;
}

/* The columns that are used by any drawing of this title. */
static void find_range(const struct bench_report *report, const char *title,
                       unsigned *ret_first, unsigned *ret_last)
{
    *ret_first = BENCH_COLUMNS - 1;
    *ret_last = 0;
    for (size_t i = 0; i < report->drawings; i++)
        for (unsigned c = 0; c < BENCH_COLUMNS; c++)
            if (strcmp(report->drawing[i].title, title) == 0 &&
                report->drawing[i].column[c] > 0) {
                *ret_first = c < *ret_first ? c : *ret_first;
                *ret_last = c > *ret_last ? c : *ret_last;
            }
}

/* The title, and above the columns where 10 us, 100 us and so on begin. If none of these is
 * shown, the start of the first column instead. */
static void print_scale(const char *title, unsigned first, unsigned last, FILE *out)
{
    static const char *const names[] = {"10us", "100us", "1ms", "10ms", "100ms", "1s", "10s"};
    int64_t ns = 10000;
    unsigned at = first;
    bool any = false;
    fprintf(out, "%-*.*s", LABEL_COLUMNS, LABEL_COLUMNS - 1, title);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++, ns *= 10) {
        unsigned column = column_of(ns);
        if (column < at || column > last)
            continue;
        fprintf(out, "%*s%s", (int)(column - at), "", names[i]);
        at = column + (unsigned)strlen(names[i]);
        any = true;
    }
    if (!any)
        fprintf(out, "%.3gms", bench_column_us(first) / 1e3);
    fputc('\n', out);
}

static void print_row(const struct bench_drawing *drawing, unsigned first, unsigned last,
                      bool blocks, FILE *out)
{
    static const char *const shades[2][LEVELS + 1] = {
        {" ", ".", ":", "-", "=", "+", "*", "#", "@"},
        {" ", "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"}};
    uint32_t most = 1;
    for (unsigned c = first; c <= last; c++)
        most = drawing->column[c] > most ? drawing->column[c] : most;
    fprintf(out, "  %-*.*s", LABEL_COLUMNS - 2, LABEL_COLUMNS - 3, drawing->of);
    for (unsigned c = first; c <= last; c++) {
        uint32_t count = drawing->column[c];
        unsigned level =
            count > 0 ? 1 + four_log2(count) * (LEVELS - 1) / (four_log2(most) | 1) : 0;
        fputs(shades[blocks][level < LEVELS ? level : LEVELS], out);
    }
    fprintf(out, "  %llu\n", (unsigned long long)drawing->count);
}

void bench_draw_text(const struct bench_report *report, FILE *out)
{
    bool blocks = has_blocks();
    const char *title = "";
    unsigned first = 0;
    unsigned last = 0;
    if (report->drawings > 0)
        fputs("how the latencies are distributed (both scales are logarithmic)\n", out);
    for (size_t i = 0; i < report->drawings; i++) {
        const struct bench_drawing *drawing = &report->drawing[i];
        if (strcmp(drawing->title, title) != 0) {
            title = drawing->title;
            find_range(report, title, &first, &last);
            print_scale(title, first, last, out);
        }
        print_row(drawing, first, last, blocks, out);
    }
    if (report->drawings > 0)
        fputc('\n', out);
}

void bench_draw_json(const struct bench_report *report, FILE *out)
{
    fputs("\"distributions\": [", out);
    for (size_t i = 0; i < report->drawings; i++) {
        const struct bench_drawing *drawing = &report->drawing[i];
        fprintf(out, "%s  {\"title\": \"%s\", \"of\": \"%s\", \"count\": %llu, \"us\": [",
                i == 0 ? "\n" : ",\n", drawing->title, drawing->of,
                (unsigned long long)drawing->count);
        /* [at least so many us, how many samples], where there are any */
        const char *comma = "";
        for (unsigned c = 0; c < BENCH_COLUMNS; c++)
            if (drawing->column[c] > 0) {
                fprintf(out, "%s[%.6g, %u]", comma, c == 0 ? 0 : bench_column_us(c),
                        (unsigned)drawing->column[c]);
                comma = ", ";
            }
        fputs("]}", out);
    }
    fputs("\n ],\n ", out);
}
