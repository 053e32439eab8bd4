/* draw.h - how latencies are distributed, drawn: in the terminal, as an SVG file, and
 * as numbers for programs. The scale is logarithmic: four columns for each doubling. */
#ifndef BENCH_DRAW_H
#define BENCH_DRAW_H

#include "bench/report/report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Samples in column `column` are at least this long. Columns go from 1 us to 17 s; the first
 * and the last column also have all samples beyond these. */
double bench_column_us(unsigned column);

/* Count samples into the drawing of this title and driver; the first ones make it. `title`
 * is copied, `of` borrowed. */
void bench_draw_add(struct bench_report *report, const char *title, const char *of,
                    const struct bench_samples *samples);

/* Lines for people, a row a driver; those of one title have one scale. In blocks where the
 * terminal's characters have them. */
void bench_draw_text(const struct bench_report *report, FILE *out);

/* The member "distributions" of the JSON object, with a comma behind it. */
void bench_draw_json(const struct bench_report *report, FILE *out);

/* A file that needs no other, readable on light and on dark. False: errno. */
bool bench_draw_svg(const struct bench_report *report, const char *path);

#endif
