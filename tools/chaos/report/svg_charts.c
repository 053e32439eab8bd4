/* svg_charts.c - throughput and waits over time, and their figures as a table. */
#include "config_auto.h"

#include "chaos/report/chart.h"

#include <inttypes.h>

/* Powers of ten of milliseconds that the waits lie between. */
struct decades {
    int first, last;
};

static double power_ms(int decade)
{
    double ms = 1;
    for (; decade > 0; decade--)
        ms *= 10;
    for (; decade < 0; decade++)
        ms /= 10;
    return ms;
}

/* An approximation: linear between the steps 1, 1.26, 1.58 ... of a decade, too fine to see. */
static double decades_of(double ms, const struct decades *decades)
{
    if (ms <= power_ms(decades->first))
        return 0;
    unsigned column = 0;
    double ns = ms * 1e6;
    while (column < CHAOS_COLUMNS && chaos_column_ns(column + 1) <= ns)
        column++;
    double low = chaos_column_ns(column), high = chaos_column_ns(column + 1);
    double part = ns <= low ? 0 : (ns - low) / (high - low);
    return ((double)column + part) / (double)CHAOS_COLUMNS_A_DECADE - 3 - decades->first;
}

/* Where interval `i` begins, and how long it is: the last may be cut short. */
static int64_t interval(const struct chaos_page *page, size_t i, int64_t *ret_to_ns)
{
    *ret_to_ns = page->series.every_ns * (int64_t)(i + 1);
    if (*ret_to_ns > page->history->duration_ns)
        *ret_to_ns = page->history->duration_ns;
    return page->series.every_ns * (int64_t)i;
}

static double rate_of(const struct chaos_page *page, size_t i)
{
    int64_t to_ns, from_ns = interval(page, i, &to_ns);
    /* A last moment that is too short says nothing. */
    if (to_ns - from_ns < page->series.every_ns / 4)
        return i > 0 ? rate_of(page, i - 1) : 0;
    return (double)page->series.point[i].holds * 1e9 / (double)(to_ns - from_ns);
}

static void draw_throughput(struct chaos_page *page)
{
    const struct chaos_series *series = &page->series;
    struct chaos_scale scale = {0, page->history->duration_ns, LEFT, WIDTH - LEFT};
    double most = 1;
    for (size_t i = 0; i < series->count; i++)
        most = rate_of(page, i) > most ? rate_of(page, i) : most;
    most = chaos_chart_top(most);
    chaos_chart_begin(page, "Locks taken a second, all contenders together",
                      "Drawn as an area over time; faults are bands behind it.");
    chaos_svg_bands(page, &scale, TOP, TOP + HEIGHT);
    for (int part = 0; part <= 4; part++) {
        char text[32];
        snprintf(text, sizeof(text), "%.5g", most * part / 4);
        chaos_chart_level(page, TOP + HEIGHT - HEIGHT * part / 4, text);
    }
    chaos_svg_time_axis(page, &scale, TOP, TOP + HEIGHT, TOP + HEIGHT + 16);
    fprintf(page->to, "<path class=\"area\" d=\"M%.1f %.1f", LEFT, TOP + HEIGHT);
    for (size_t i = 0; i < series->count; i++) {
        int64_t to_ns, from_ns = interval(page, i, &to_ns);
        fprintf(page->to, "H%.1fV%.1fH%.1f", chaos_x(&scale, from_ns),
                TOP + HEIGHT - HEIGHT * rate_of(page, i) / most, chaos_x(&scale, to_ns));
    }
    fprintf(page->to, "V%.1fz\"/>\n", TOP + HEIGHT);
    chaos_chart_end(page);
}

static void draw_line(struct chaos_page *page, const struct chaos_scale *scale,
                      const struct decades *decades, bool p99)
{
    bool pen_down = false;
    fprintf(page->to, "<path class=\"%s\" d=\"", p99 ? "p99" : "p50");
    for (size_t i = 0; i < page->series.count; i++) {
        const struct chaos_point *point = &page->series.point[i];
        if (point->holds == 0) {
            pen_down = false;
            continue;
        }
        int64_t to_ns, from_ns = interval(page, i, &to_ns);
        double part = decades_of(p99 ? point->p99_ms : point->p50_ms, decades) /
                      (decades->last - decades->first);
        double y = TOP + HEIGHT - HEIGHT * part;
        if (pen_down)
            fprintf(page->to, "V%.1fH%.1f", y, chaos_x(scale, to_ns));
        else
            fprintf(page->to, "M%.1f %.1fH%.1f", chaos_x(scale, from_ns), y,
                    chaos_x(scale, to_ns));
        pen_down = true;
    }
    fputs("\"/>\n", page->to);
}

static void draw_waits(struct chaos_page *page)
{
    struct chaos_scale scale = {0, page->history->duration_ns, LEFT, WIDTH - LEFT};
    struct decades decades = {5, -3};
    for (size_t i = 0; i < page->series.count; i++) {
        const struct chaos_point *point = &page->series.point[i];
        while (point->holds > 0 && decades.first > -3 &&
               power_ms(decades.first) > point->p50_ms)
            decades.first--;
        while (point->holds > 0 && decades.last < 6 && power_ms(decades.last) < point->p99_ms)
            decades.last++;
    }
    if (decades.last <= decades.first)
        decades.last = decades.first + 1;
    chaos_chart_begin(page, "How long a lock was waited for, on a logarithmic scale",
                      "The median and the 99th percentile of each interval; faults are bands "
                      "behind them. There is no line where no lock was taken.");
    chaos_svg_bands(page, &scale, TOP, TOP + HEIGHT);
    for (int i = decades.first; i <= decades.last; i++)
        chaos_chart_level(
            page, TOP + HEIGHT - HEIGHT * (i - decades.first) / (decades.last - decades.first),
            chaos_chart_power(i));
    chaos_svg_time_axis(page, &scale, TOP, TOP + HEIGHT, TOP + HEIGHT + 16);
    draw_line(page, &scale, &decades, false);
    draw_line(page, &scale, &decades, true);
    chaos_chart_end(page);
    fputs("<ul class=\"legend\"><li><svg width=\"26\" height=\"10\" aria-hidden=\"true\">"
          "<path class=\"p50\" d=\"M0 5H26\"/></svg>half of the waits were shorter (p50)</li>"
          "<li><svg width=\"26\" height=\"10\" aria-hidden=\"true\"><path class=\"p99\" "
          "d=\"M0 5H26\"/></svg>99 of 100 were (p99)</li><li><svg width=\"26\" "
          "height=\"10\" aria-hidden=\"true\"><rect class=\"band\" width=\"26\" "
          "height=\"10\"/></svg>a fault is in force</li></ul>\n",
          page->to);
}

static void put_series(struct chaos_page *page)
{
    char span[CHAOS_SPAN_MAX];
    fprintf(page->to,
            "<details><summary>The same as a table, every %s</summary>\n"
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Over time\">"
            "<table><thead><tr><th scope=\"col\">from</th><th scope=\"col\">locks taken</th>"
            "<th scope=\"col\">refused</th><th scope=\"col\">wait p50, ms</th>"
            "<th scope=\"col\">p99, ms</th><th scope=\"col\">longest, ms</th></tr></thead>"
            "<tbody>\n",
            chaos_span(page->series.every_ns, span));
    for (size_t i = 0; i < page->series.count; i++) {
        const struct chaos_point *point = &page->series.point[i];
        fprintf(page->to, "<tr><th scope=\"row\">%.4g s</th><td>%" PRIu64 "</td><td>%" PRIu64,
                (double)page->series.every_ns * (double)i / 1e9, point->holds, point->refusals);
        if (point->holds > 0)
            fprintf(page->to, "</td><td>%.3f</td><td>%.3f</td><td>%.3f</td></tr>\n",
                    point->p50_ms, point->p99_ms, point->max_ms);
        else
            fputs("</td><td>-</td><td>-</td><td>-</td></tr>\n", page->to);
    }
    fputs("</tbody></table></div></details>\n", page->to);
}

void chaos_html_charts(struct chaos_page *page)
{
    fputs("<section aria-labelledby=\"over-time\"><h2 id=\"over-time\">Over time</h2>\n",
          page->to);
    draw_throughput(page);
    draw_waits(page);
    put_series(page);
    fputs("</section>\n", page->to);
}
