/* draw_svg.c - the distributions as an SVG file that needs nothing else. */
#include "config_auto.h"

#include "bench/report/draw.h"

#include <errno.h>
#include <string.h>

#define LEFT 190 /* of the columns */
#define STEP 7   /* a column */
#define ROW 44
#define TITLE 34 /* above the rows of one title */
#define WIDTH (LEFT + STEP * BENCH_COLUMNS + 80)

/* Light by itself, dark where the reader prefers it; the library's bars stand out. */
static const char style[] =
    "<style>\n"
    "svg { color: #24292f; background: #fff; font: 12px sans-serif }\n"
    ".ours { fill: #0969da }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "svg { color: #d0d7de; background: #0d1117 }\n"
    ".ours { fill: #58a6ff }\n"
    "}\n"
    "text { fill: currentColor } .small { font-size: 10px; opacity: .75 }\n"
    ".bar { fill: currentColor; opacity: .55 }\n"
    "line { stroke: currentColor; opacity: .2 }\n"
    "</style>\n";

static bool begins_title(const struct bench_report *report, size_t i)
{
    return i == 0 || strcmp(report->drawing[i].title, report->drawing[i - 1].title) != 0;
}

static void print_title(const struct bench_report *report, size_t first, int y, FILE *out)
{
    static const char *const names[] = {"10 us",  "100 us", "1 ms", "10 ms",
                                        "100 ms", "1 s",    "10 s"};
    size_t rows = 1;
    while (first + rows < report->drawings && !begins_title(report, first + rows))
        rows++;
    fprintf(out, "<text x=\"8\" y=\"%d\" font-weight=\"bold\">%s</text>\n", y + TITLE - 8,
            report->drawing[first].title);
    unsigned column = 0;
    double us = 10;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++, us *= 10) {
        while (column < BENCH_COLUMNS - 1 && bench_column_us(column + 1) <= us)
            column++;
        int x = LEFT + STEP * (int)column;
        fprintf(out,
                "<line x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>"
                "<text class=\"small\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
                x, x, y + TITLE - 4, y + TITLE + (int)rows * ROW, x, y + TITLE - 8, names[i]);
    }
}

static void print_row(const struct bench_drawing *drawing, int y, FILE *out)
{
    bool ours = strncmp(drawing->of, "library", strlen("library")) == 0;
    uint32_t most = 1;
    for (unsigned c = 0; c < BENCH_COLUMNS; c++)
        most = drawing->column[c] > most ? drawing->column[c] : most;
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", LEFT - 8,
            y + ROW - 6, drawing->of);
    for (unsigned c = 0; c < BENCH_COLUMNS; c++) {
        if (drawing->column[c] == 0)
            continue;
        double height = 1 + (double)(ROW - 9) * drawing->column[c] / most;
        fprintf(out,
                "<rect class=\"%s\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\">"
                "<title>from %.4g us: %u of %llu</title></rect>\n",
                ours ? "ours" : "bar", LEFT + STEP * (int)c, y + ROW - 4 - height, STEP - 1,
                height, c == 0 ? 0 : bench_column_us(c), (unsigned)drawing->column[c],
                (unsigned long long)drawing->count);
    }
}

bool bench_draw_svg(const struct bench_report *report, const char *path)
{
    FILE *out = fopen(path, "we");
    if (out == NULL)
        return false;
    int height = 16;
    for (size_t i = 0; i < report->drawings; i++)
        height += ROW + (begins_title(report, i) ? TITLE : 0);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
            "width=\"%d\" height=\"%d\" role=\"img\">\n"
            "<title>redlock-bench: how the latencies are distributed</title>\n%s",
            WIDTH, height, WIDTH, height, style);
    int y = 4;
    for (size_t i = 0; i < report->drawings; i++) {
        if (begins_title(report, i)) {
            print_title(report, i, y, out);
            y += TITLE;
        }
        print_row(&report->drawing[i], y, out);
        y += ROW;
    }
    fputs("</svg>\n", out);
    bool failed = ferror(out) != 0;
    int saved = errno;
    if (fclose(out) != 0)
        return false;
    errno = saved;
    return !failed;
}
