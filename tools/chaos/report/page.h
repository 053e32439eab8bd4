/* page.h - between the files of the HTML report. The page is well-formed XML too, and
 * fetches nothing. */
#ifndef CHAOS_PAGE_H
#define CHAOS_PAGE_H

#include "chaos/report/format.h"
#include "chaos/report/stats.h"
#include "chaos/check/hold_history.h"

struct chaos_page {
    FILE *to;
    const struct chaos_history *history;
    const struct chaos_verdict *verdict;
    struct chaos_hold_history hold_history;
    struct chaos_series series;
    struct chaos_quorum_time *quorum;
    size_t quorum_time_count;
    unsigned svgs; /* drawn so far: their titles need ids of their own */
};

/* The parts, in the order of the page. */
void chaos_html_style(FILE *to);
void chaos_html_script(FILE *to);
void chaos_html_head(struct chaos_page *page);
void chaos_html_figures(struct chaos_page *page);
void chaos_html_timeline(struct chaos_page *page); /* svg_timeline.c */
void chaos_html_charts(struct chaos_page *page);   /* svg_charts.c */
void chaos_html_hand_offs(struct chaos_page *page);
void chaos_html_findings(struct chaos_page *page);
void chaos_html_faults(struct chaos_page *page);
void chaos_html_assumptions(struct chaos_page *page);

/* ---- drawing (svg.c) --------------------------------------------------------------- */

/* The scale from times to places on the page. */
struct chaos_scale {
    int64_t from_ns, to_ns;
    double left, width;
};
double chaos_x(const struct chaos_scale *scale, int64_t at_ns);

/* The opening tag, with a title and a description for readers that can't see it. */
void chaos_svg_begin(struct chaos_page *page, double width, double height, const char *class,
                     const char *title, const char *description);
void chaos_svg_end(struct chaos_page *page);

/* The same as a figure that scrolls sideways, with its title as its caption. */
void chaos_svg_figure_begin(struct chaos_page *page, double width, double height,
                            const char *class, const char *title, const char *description);
void chaos_svg_figure_end(struct chaos_page *page);

/* Stripes and hatches, one for each contender, once a page. */
void chaos_svg_patterns(struct chaos_page *page);
/* The attribute that paints something as this contender's. */
const char *chaos_svg_fill(unsigned client, char ret_text[32]);

/* Vertical lines at round times, their labels at `label_y`, from the run's beginning or from
 * that of the scale. */
void chaos_svg_time_axis(struct chaos_page *page, const struct chaos_scale *scale, double top,
                         double bottom, double label_y);

/* A fault, as it was in force: a faint band; those that break an assumption are hatched.
 * False: it never was, or not in this part of the run. */
bool chaos_fault_span(const struct chaos_page *page, const struct chaos_fault *fault,
                      int64_t *ret_from_ns, int64_t *ret_to_ns);
void chaos_svg_bands(struct chaos_page *page, const struct chaos_scale *scale, double top,
                     double bottom);
/* "kill: node 2, from 12.0 s for 3.40 s; seen: ..." as text of HTML. */
void chaos_svg_fault_title(struct chaos_page *page, const struct chaos_fault *fault);

void chaos_svg_holds(struct chaos_page *page, const struct chaos_scale *scale, unsigned name,
                     double top, double height); /* svg_holds.c */

/* A part of the run for one lock (svg_close.c); `finding` is marked in it, or NULL. */
void chaos_svg_close_up(struct chaos_page *page, unsigned name, int64_t from_ns, int64_t to_ns,
                        const struct chaos_finding *finding, const char *title);

#endif
