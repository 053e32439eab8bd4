/* chart.c - see chart.h. */
#include "config_auto.h"

#include "chaos/report/chart.h"

const char *chaos_chart_power(int decade)
{
    static const char *const texts[] = {"1 us",   "10 us", "100 us", "1 ms",  "10 ms",
                                        "100 ms", "1 s",   "10 s",   "100 s", "1000 s"};
    return decade >= -3 && decade <= 6 ? texts[decade + 3] : "";
}

void chaos_chart_begin(struct chaos_page *page, const char *title, const char *description)
{
    chaos_svg_figure_begin(page, WIDTH, TOP + HEIGHT + AXIS, "chart", title, description);
}

void chaos_chart_end(struct chaos_page *page)
{
    chaos_svg_figure_end(page);
}

void chaos_chart_level(struct chaos_page *page, double y, const char *text)
{
    fprintf(page->to,
            "<path class=\"grid\" d=\"M%.0f %.1fH%.0f\"/><text class=\"tick\" x=\"%.0f\" "
            "y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
            LEFT, y, WIDTH, LEFT - 8, y + 4, text);
}

double chaos_chart_top(double value)
{
    double unit = 1;
    while (value > unit * 10)
        unit *= 10;
    while (value < unit && unit > 1e-6)
        unit /= 10;
    static const double steps[] = {1, 2, 4, 6, 8, 10}; /* their quarters are round */
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        if (value <= steps[i] * unit)
            return steps[i] * unit;
    return value;
}
