/* svg_close.c - a part of the run at its own scale. It shows one lock, a row for each contender
 * that took part, and all reads and writes. */
#include "config_auto.h"

#include "chaos/report/page.h"

#include <inttypes.h>

#define WIDTH 1080.0
#define LEFT 104.0
#define TOP 16.0 /* room for the mark */
#define ROW 24.0
#define ROWS_MAX 16
#define BARS_MAX 600 /* of holds and tries together: it bounds the size */
#define MARKS_MAX 300

struct close {
    struct chaos_scale scale;
    unsigned name;
    unsigned rows;
    int row_of[CHAOS_CLIENTS_MAX]; /* -1: none */
};

static bool within(const struct close *close, int64_t from_ns, int64_t to_ns)
{
    return from_ns <= close->scale.to_ns && to_ns >= close->scale.from_ns;
}

static void find_rows(const struct chaos_page *page, struct close *close)
{
    const struct chaos_hold_history *hold_history = &page->hold_history;
    bool there[CHAOS_CLIENTS_MAX] = {false};
    for (size_t i = hold_history->first_hold[close->name];
         i < hold_history->first_hold[close->name + 1]; i++)
        if (within(close, hold_history->hold[i].at_ns, hold_history->hold[i].end_ns))
            there[hold_history->hold[i].client] = true;
    for (size_t i = hold_history->first_try[close->name];
         i < hold_history->first_try[close->name + 1]; i++)
        if (within(close, hold_history->try[i].from_ns, hold_history->try[i].to_ns))
            there[hold_history->try[i].client] = true;
    for (unsigned i = 0; i < CHAOS_CLIENTS_MAX; i++)
        close->row_of[i] = there[i] && close->rows < ROWS_MAX ? (int)close->rows++ : -1;
}

static double row_y(const struct close *close, unsigned client)
{
    return TOP + ROW * close->row_of[client];
}

static void draw_tries(struct chaos_page *page, const struct close *close)
{
    const struct chaos_hold_history *hold_history = &page->hold_history;
    size_t drawn = 0;
    for (size_t i = hold_history->first_try[close->name];
         i < hold_history->first_try[close->name + 1]; i++) {
        const struct chaos_try *try = &hold_history->try[i];
        if (!within(close, try->from_ns, try->to_ns) || close->row_of[try->client] < 0 ||
            drawn++ >= BARS_MAX)
            continue;
        double x = chaos_x(&close->scale, try->from_ns);
        fprintf(page->to, "<path class=\"asks\" d=\"M%.1f %.1fH%.1f\"/>\n", x,
                row_y(close, try->client) + ROW / 2, chaos_x(&close->scale, try->to_ns));
    }
}

static void draw_holds(struct chaos_page *page, const struct close *close)
{
    static const char *const endings[] = {"its time ran out", "let go", "found out it lost it"};
    const struct chaos_hold_history *hold_history = &page->hold_history;
    size_t drawn = 0;
    for (size_t i = hold_history->first_hold[close->name];
         i < hold_history->first_hold[close->name + 1]; i++) {
        const struct chaos_hold *hold = &hold_history->hold[i];
        if (!within(close, hold->at_ns, hold->end_ns) || close->row_of[hold->client] < 0 ||
            drawn++ >= BARS_MAX)
            continue;
        char fill[32], span[CHAOS_SPAN_MAX];
        double x = chaos_x(&close->scale, hold->at_ns);
        double width = chaos_x(&close->scale, hold->end_ns) - x;
        fprintf(page->to,
                "<rect %s x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\"><title>"
                "contender %u had it from %.6f s for %s; %s</title></rect>\n",
                chaos_svg_fill(hold->client, fill), x, row_y(close, hold->client) + 4,
                width < 1 ? 1 : width, ROW - 8, (unsigned)hold->client,
                (double)hold->at_ns / 1e9, chaos_span(hold->end_ns - hold->at_ns, span),
                endings[hold->ending]);
    }
}

/* Are most holds wide enough to show their contents? */
static bool has_room(const struct chaos_page *page, const struct close *close)
{
    const struct chaos_hold_history *hold_history = &page->hold_history;
    size_t wide = 0, count = 0;
    for (size_t i = hold_history->first_hold[close->name];
         i < hold_history->first_hold[close->name + 1]; i++) {
        const struct chaos_hold *hold = &hold_history->hold[i];
        if (!within(close, hold->at_ns, hold->end_ns))
            continue;
        wide +=
            chaos_x(&close->scale, hold->end_ns) - chaos_x(&close->scale, hold->at_ns) >= 14;
        count++;
    }
    return 2 * wide > count;
}

/* Reads are hollow dots, writes full ones. */
static void draw_marks(struct chaos_page *page, const struct close *close)
{
    const struct chaos_history *history = page->history;
    size_t marks = 0;
    for (size_t i = 0; i < history->event_count && marks < MARKS_MAX; i++) {
        const struct chaos_event *event = &history->events[i];
        bool reads = event->what == CHAOS_READS;
        if (event->name != close->name || (!reads && event->what != CHAOS_WRITES) ||
            !within(close, event->at_ns, event->at_ns) || close->row_of[event->client] < 0)
            continue;
        marks++;
        fprintf(page->to,
                "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.2\"><title>"
                "contender %u %s %" PRIu64 " at %.6f s</title></circle>\n",
                reads ? "reads" : "writes", chaos_x(&close->scale, event->at_ns),
                row_y(close, event->client) + ROW / 2, (unsigned)event->client,
                reads ? "read" : "wrote", event->value, (double)event->at_ns / 1e9);
    }
}

/* The moment of the finding. */
static void draw_finding(struct chaos_page *page, const struct close *close,
                         const struct chaos_finding *finding, double bottom)
{
    double x = chaos_x(&close->scale, finding->at_ns);
    double width = chaos_x(&close->scale, finding->at_ns + finding->for_ns) - x;
    fprintf(page->to,
            "<rect class=\"focus %s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
            "height=\"%.1f\"/><text class=\"label focus-word\" x=\"%.1f\" y=\"%.1f\" "
            "text-anchor=\"middle\">%s</text>\n",
            finding->excused ? "excused" : "violation", x, TOP, width < 2 ? 2 : width,
            bottom - TOP, x + width / 2, TOP - 4, chaos_finding_word(finding));
}

void chaos_svg_close_up(struct chaos_page *page, unsigned name, int64_t from_ns, int64_t to_ns,
                        const struct chaos_finding *finding, const char *title)
{
    struct close close = {.scale = {from_ns, to_ns, LEFT, WIDTH - LEFT}, .name = name};
    find_rows(page, &close);
    double bottom = TOP + ROW * close.rows;
    chaos_svg_figure_begin(page, WIDTH, bottom + 20, "close", title,
                           "A row for each contender. Bars are believed holds, thin lines the "
                           "time in which it asked; hollow dots are reads, full ones writes.");
    chaos_svg_bands(page, &close.scale, TOP, bottom);
    chaos_svg_time_axis(page, &close.scale, TOP, bottom, bottom + 15);
    for (unsigned i = 0; i < CHAOS_CLIENTS_MAX; i++)
        if (close.row_of[i] >= 0)
            fprintf(page->to,
                    "<text class=\"row\" x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">contender "
                    "%u</text>\n",
                    LEFT - 8, row_y(&close, i) + ROW / 2 + 4, i);
    if (finding != NULL)
        draw_finding(page, &close, finding, bottom);
    draw_tries(page, &close);
    draw_holds(page, &close);
    if (has_room(page, &close))
        draw_marks(page, &close);
    chaos_svg_figure_end(page);
}
