/* svg_histogram.c - how long it took to pass a lock on: the distribution. */
#include "config_auto.h"

#include "chaos/report/chart.h"

#include <inttypes.h>
#include <stdlib.h>

static void draw_columns(struct chaos_page *page, const struct chaos_histogram *histogram)
{
    unsigned first = 0, last = CHAOS_COLUMNS - 1;
    while (first < last && histogram->column[first] == 0)
        first++;
    while (last > first && histogram->column[last] == 0)
        last--;
    first = first / CHAOS_COLUMNS_A_DECADE * CHAOS_COLUMNS_A_DECADE;
    last = last / CHAOS_COLUMNS_A_DECADE * CHAOS_COLUMNS_A_DECADE + CHAOS_COLUMNS_A_DECADE - 1;
    uint64_t most = 1;
    for (unsigned i = first; i <= last; i++)
        most = histogram->column[i] > most ? histogram->column[i] : most;
    double top = chaos_chart_top(100.0 * (double)most / (double)histogram->count); /* in % */
    double step = (WIDTH - LEFT) / (double)(last - first + 1);
    for (int part = 0; part <= 4; part++) {
        char text[32];
        snprintf(text, sizeof(text), "%.4g %%", top * part / 4);
        chaos_chart_level(page, TOP + HEIGHT - HEIGHT * part / 4, text);
    }
    for (unsigned i = first; i <= last + 1; i += CHAOS_COLUMNS_A_DECADE) {
        bool at_edge = i > last;
        fprintf(page->to,
                "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/><text class=\"tick\" x=\"%.1f\" "
                "y=\"%.1f\" text-anchor=\"%s\">%s</text>\n",
                LEFT + step * (i - first), TOP, TOP + HEIGHT, LEFT + step * (i - first),
                TOP + HEIGHT + 16, at_edge ? "end" : "middle",
                chaos_chart_power((int)(i / CHAOS_COLUMNS_A_DECADE) - 3));
    }
    for (unsigned i = first; i <= last; i++) {
        if (histogram->column[i] == 0)
            continue;
        char from[CHAOS_SPAN_MAX], to[CHAOS_SPAN_MAX];
        double part = 100.0 * (double)histogram->column[i] / (double)histogram->count / top;
        double tall = 1 + (HEIGHT - 1) * part;
        fprintf(page->to,
                "<rect class=\"bar\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">"
                "<title>%s to %s: %" PRIu64 " of %" PRIu64 "</title></rect>\n",
                LEFT + step * (i - first) + 1, TOP + HEIGHT - tall, step > 3 ? step - 2 : step,
                tall, chaos_span((int64_t)chaos_column_ns(i), from),
                chaos_span((int64_t)chaos_column_ns(i + 1), to), histogram->column[i],
                histogram->count);
    }
}

void chaos_html_hand_offs(struct chaos_page *page)
{
    int64_t *ns = chaos_room(page->hold_history.hold_count, sizeof(*ns));
    struct chaos_histogram histogram;
    chaos_histogram_of(ns, chaos_stats_hand_offs(&page->hold_history, ns), &histogram);
    free(ns);
    fputs("<section aria-labelledby=\"hand-off\"><h2 id=\"hand-off\">Hand-off</h2>\n"
          "<p>From the moment at which one contender lets go to that at which another one, "
          "which asked already, has the lock.</p>\n",
          page->to);
    if (histogram.count == 0) {
        fputs("<p class=\"soft\">No lock was passed on.</p></section>\n", page->to);
        return;
    }
    chaos_chart_begin(page, "How hand-offs are distributed, on a logarithmic scale",
                      "A bar for each tenth of a power of ten; its height is the part of all "
                      "hand-offs that took so long. The figures have the quantiles.");
    draw_columns(page, &histogram);
    chaos_chart_end(page);
    fputs("</section>\n", page->to);
}
