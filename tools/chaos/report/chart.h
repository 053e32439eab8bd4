/* chart.h - the frame that all charts of the report share. */
#ifndef CHAOS_CHART_H
#define CHAOS_CHART_H

#include "chaos/report/page.h"

#define WIDTH 1080.0
#define LEFT 64.0
#define TOP 10.0
#define HEIGHT 180.0
#define AXIS 24.0

/* The figure with its caption and the SVG in it, and their end. */
void chaos_chart_begin(struct chaos_page *page, const char *title, const char *description);
void chaos_chart_end(struct chaos_page *page);

/* A horizontal line across the chart, with its label. */
void chaos_chart_level(struct chaos_page *page, double y, const char *text);

/* The next value above with round quarters. */
double chaos_chart_top(double value);

/* "10 ms": a power of ten of milliseconds, -3 to 6. */
const char *chaos_chart_power(int decade);

#endif
