/* svg.c - shared by the drawings of the report: scales, axes, patterns, bands. */
#include "config_auto.h"

#include "chaos/report/page.h"

#include "chaos/check/check.h"

#include <inttypes.h>

#define HUES 8 /* --c0 ... in the style */

double chaos_x(const struct chaos_scale *scale, int64_t at_ns)
{
    double part = (double)(at_ns - scale->from_ns) / (double)(scale->to_ns - scale->from_ns);
    return scale->left + scale->width * (part < 0 ? 0 : part > 1 ? 1 : part);
}

void chaos_svg_begin(struct chaos_page *page, double width, double height, const char *class,
                     const char *title, const char *description)
{
    unsigned id = ++page->svgs;
    fprintf(page->to,
            "<svg class=\"%s\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" "
            "role=\"img\" aria-labelledby=\"t%u d%u\">\n<title id=\"t%u\">",
            class, width, height, width, height, id, id, id);
    chaos_html_put(page->to, title);
    fprintf(page->to, "</title>\n<desc id=\"d%u\">", id);
    chaos_html_put(page->to, description);
    fputs("</desc>\n", page->to);
}

void chaos_svg_end(struct chaos_page *page)
{
    fputs("</svg>\n", page->to);
}

void chaos_svg_figure_begin(struct chaos_page *page, double width, double height,
                            const char *class, const char *title, const char *description)
{
    fputs("<figure><figcaption>", page->to);
    chaos_html_put(page->to, title);
    fputs("</figcaption><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"",
          page->to);
    chaos_html_put(page->to, title);
    fputs("\">\n", page->to);
    chaos_svg_begin(page, width, height, class, title, description);
}

void chaos_svg_figure_end(struct chaos_page *page)
{
    chaos_svg_end(page);
    fputs("</div></figure>\n", page->to);
}

/* Contenders differ by hue, and those of the same hue by their stripes. Neighbours differ by
 * both, for readers that can't tell the hues apart. */
static unsigned stripes_of(unsigned client)
{
    return client / HUES * 2 + client % 2;
}

static void put_pattern(struct chaos_page *page, unsigned client)
{
    static const struct {
        unsigned angle, size;
    } stripes[] = {{0, 0}, {45, 5}, {135, 5}, {90, 4}, {0, 4}, {45, 9}, {135, 9}, {90, 8}};
    unsigned which = stripes_of(client) % 8, size = stripes[which].size;
    if (size == 0)
        return;
    fprintf(page->to,
            "<pattern id=\"p%u\" width=\"%u\" height=\"%u\" patternUnits=\"userSpaceOnUse\" "
            "patternTransform=\"rotate(%u)\"><rect width=\"%u\" height=\"%u\" class=\"c%u\"/>"
            "<rect width=\"%.1f\" height=\"%u\" class=\"gap\"/></pattern>\n",
            client, size, size, stripes[which].angle, size, size, client % HUES,
            (double)size * 0.36, size);
}

const char *chaos_svg_fill(unsigned client, char ret_text[32])
{
    if (stripes_of(client) % 8 == 0)
        snprintf(ret_text, 32, "class=\"c%u\"", client % HUES);
    else
        snprintf(ret_text, 32, "fill=\"url(#p%u)\"", client);
    return ret_text;
}

void chaos_svg_patterns(struct chaos_page *page)
{
    fputs("<svg class=\"patterns\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>\n",
          page->to);
    for (unsigned i = 0; i < page->history->options->clients; i++)
        put_pattern(page, i);
    fputs("<pattern id=\"hatch\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
          "patternTransform=\"rotate(45)\"><rect width=\"2\" height=\"7\" class=\"broken\"/>"
          "</pattern>\n<pattern id=\"silent\" width=\"4\" height=\"4\" "
          "patternUnits=\"userSpaceOnUse\"><rect width=\"2\" height=\"4\" class=\"warn\"/>"
          "</pattern>\n<pattern id=\"novote\" width=\"5\" height=\"5\" "
          "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
          "<rect width=\"1.5\" height=\"5\" class=\"warn\"/></pattern>\n</defs></svg>\n",
          page->to);
}

/* Times that people can read off, about `width` / 90 of them. */
static int64_t tick_ns(const struct chaos_scale *scale)
{
    static const int64_t steps[] = {1, 2, 5, 10, 20, 50, 100, 200, 500};
    double least = (double)(scale->to_ns - scale->from_ns) * 90 / scale->width;
    for (int64_t unit = CHAOS_US; unit <= CHAOS_MS; unit *= 1000)
        for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
            if ((double)(unit * steps[i]) >= least)
                return unit * steps[i];
    static const int64_t seconds[] = {1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600};
    for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++)
        if ((double)(CHAOS_S * seconds[i]) >= least)
            return CHAOS_S * seconds[i];
    return (int64_t)least;
}

/* The number of decimals that tells one tick from the next. */
static int decimals_of(int64_t tick)
{
    int decimals = 0;
    for (int64_t unit = CHAOS_S; unit > CHAOS_US && tick % unit != 0; unit /= 10)
        decimals++;
    return decimals;
}

static void put_time(FILE *to, int64_t at_ns, int64_t tick)
{
    if (tick >= 60 * CHAOS_S)
        fprintf(to, "%" PRId64 " min", at_ns / (60 * CHAOS_S));
    else if (at_ns >= 600 * CHAOS_S && tick >= CHAOS_S)
        fprintf(to, "%" PRId64 ":%02d", at_ns / (60 * CHAOS_S), (int)(at_ns / CHAOS_S % 60));
    else
        fprintf(to, "%.*f s", decimals_of(tick), (double)at_ns / 1e9);
}

void chaos_svg_time_axis(struct chaos_page *page, const struct chaos_scale *scale, double top,
                         double bottom, double label_y)
{
    int64_t tick = tick_ns(scale);
    int64_t first = (scale->from_ns + tick - 1) / tick * tick;
    for (int64_t at = first; at <= scale->to_ns; at += tick) {
        double x = chaos_x(scale, at);
        bool at_edge = x > scale->left + scale->width - 30;
        fprintf(page->to,
                "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/><text class=\"tick\" x=\"%.1f\" "
                "y=\"%.1f\" text-anchor=\"%s\">",
                x, top, bottom, at_edge ? scale->left + scale->width : x, label_y,
                at_edge                ? "end"
                : x < scale->left + 20 ? "start"
                                       : "middle");
        put_time(page->to, at, tick);
        fputs("</text>\n", page->to);
    }
}

bool chaos_fault_span(const struct chaos_page *page, const struct chaos_fault *fault,
                      int64_t *ret_from_ns, int64_t *ret_to_ns)
{
    if (fault->begun_ns == 0)
        return false;
    *ret_from_ns = fault->begun_ns;
    *ret_to_ns = fault->undone_ns != 0 ? fault->undone_ns : page->history->duration_ns;
    return true;
}

void chaos_svg_bands(struct chaos_page *page, const struct chaos_scale *scale, double top,
                     double bottom)
{
    for (size_t i = 0; i < page->history->fault_count; i++) {
        const struct chaos_fault *fault = &page->history->faults[i];
        int64_t from_ns, to_ns;
        if (!chaos_fault_span(page, fault, &from_ns, &to_ns) || from_ns > scale->to_ns ||
            to_ns < scale->from_ns)
            continue;
        bool broken = chaos_broken_by(page->history->options, fault) != CHAOS_NONE_BROKEN;
        double x = chaos_x(scale, from_ns), width = chaos_x(scale, to_ns) - x;
        fprintf(page->to,
                "<rect %s x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>",
                broken ? "fill=\"url(#hatch)\"" : "class=\"band\"", x, top,
                width < 1.5 ? 1.5 : width, bottom - top);
        chaos_svg_fault_title(page, fault);
        fputs("</title></rect>\n", page->to);
    }
}

void chaos_svg_fault_title(struct chaos_page *page, const struct chaos_fault *fault)
{
    char nodes[CHAOS_MEMBERS_MAX], clients[CHAOS_MEMBERS_MAX];
    char at[CHAOS_SPAN_MAX], length[CHAOS_SPAN_MAX];
    int64_t from_ns = 0, to_ns = 0;
    chaos_fault_span(page, fault, &from_ns, &to_ns);
    chaos_members("node", 1, fault->nodes, page->history->nodes, nodes);
    chaos_members("contender", 0, fault->clients, page->history->options->clients, clients);
    fprintf(page->to, "%s: %s%s%s, at %s for %s; %s", chaos_fault_word(fault->kind), nodes,
            nodes[0] != '\0' && clients[0] != '\0' ? "; " : "", clients,
            chaos_span(from_ns, at), chaos_span(to_ns - from_ns, length),
            fault->seen ? "seen: " : "not seen: ");
    chaos_html_put(page->to, fault->text);
}
