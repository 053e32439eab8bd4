/* svg_timeline.c - the timeline: faults, the state of each master, whether a majority votes,
 * and the holder of each lock. All are on one axis of time. */
#include "config_auto.h"

#include "chaos/report/page.h"

#include "chaos/check/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LABELS 96 /* the column of labels, which stays when the rest is scrolled */
#define AXIS 22
#define FAULT_ROW 17
#define FAULT_ROWS_MAX 8
#define NODE_ROW 14
#define LOCK_ROW 26
#define SPACE 12 /* between groups */
#define GAP_SHOWN_NS (100 * CHAOS_MS)
#define CELLS_MAX 120000 /* of all locks together: it bounds the size of the file */

struct place {
    double faults, nodes, majority, locks, bottom; /* where each begins */
    unsigned fault_rows;
    uint8_t *row_of; /* of each fault; FAULT_ROWS_MAX: it has none */
    bool *labelled;
};

static double width_of(const struct chaos_history *history)
{
    double seconds = (double)history->duration_ns / 1e9;
    double width = seconds * 40, most = CELLS_MAX / (double)history->options->names;
    if (width > most)
        width = most;
    if (width > 3600)
        width = 3600;
    return width < 1080 ? 1080 : width;
}

/* Each fault to the first row that is free there, with its label if there is room. */
static void place_faults(struct chaos_page *page, const struct chaos_scale *scale,
                         struct place *place)
{
    double free_from[FAULT_ROWS_MAX] = {0};
    for (size_t i = 0; i < page->history->fault_count; i++) {
        const struct chaos_fault *fault = &page->history->faults[i];
        int64_t from_ns, to_ns;
        place->row_of[i] = FAULT_ROWS_MAX;
        if (!chaos_fault_span(page, fault, &from_ns, &to_ns))
            continue;
        double left = chaos_x(scale, from_ns), right = chaos_x(scale, to_ns) + 3;
        double label = left + 6.2 * (double)strlen(chaos_fault_word(fault->kind)) + 12;
        for (int with_label = 1; with_label >= 0; with_label--) {
            for (unsigned row = 0; row < FAULT_ROWS_MAX; row++) {
                if (free_from[row] > left)
                    continue;
                place->row_of[i] = (uint8_t)row;
                place->labelled[i] = with_label != 0;
                free_from[row] = with_label && label > right ? label : right;
                if (row >= place->fault_rows)
                    place->fault_rows = row + 1;
                break;
            }
            if (place->row_of[i] < FAULT_ROWS_MAX)
                break;
        }
    }
}

static void draw_fault(struct chaos_page *page, const struct chaos_scale *scale,
                       const struct place *place, size_t i)
{
    const struct chaos_fault *fault = &page->history->faults[i];
    int64_t from_ns, to_ns;
    if (place->row_of[i] == FAULT_ROWS_MAX || !chaos_fault_span(page, fault, &from_ns, &to_ns))
        return;
    bool broken = chaos_broken_by(page->history->options, fault) != CHAOS_NONE_BROKEN;
    double x = chaos_x(scale, from_ns), width = chaos_x(scale, to_ns) - x;
    double y = place->faults + FAULT_ROW * place->row_of[i];
    fprintf(page->to, "<g><title>");
    chaos_svg_fault_title(page, fault);
    fprintf(page->to,
            "</title><rect class=\"fault%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
            "height=\"4\" rx=\"1\"/>",
            broken        ? " broken"
            : fault->seen ? ""
                          : " unseen",
            x, y + 11, width < 2 ? 2 : width);
    if (place->labelled[i])
        fprintf(page->to, "<text class=\"label%s\" x=\"%.1f\" y=\"%.1f\">%s%s</text>",
                broken ? " broken" : "", x, y + 9, broken ? "! " : "",
                chaos_fault_word(fault->kind));
    fputs("</g>\n", page->to);
}

/* The times at which the state of a node may change, by looking at faults on it. */
static void draw_node(struct chaos_page *page, const struct chaos_scale *scale, unsigned node,
                      double y)
{
    static const char *const paint[] = {"class=\"up\"", "fill=\"url(#novote)\"",
                                        "fill=\"url(#silent)\"", "class=\"down\""};
    static const char *const words[] = {"up", "up, does not vote", "silent", "down"};
    static const double heights[] = {2, 9, 9, 9};
    const size_t cells = (size_t)scale->width;
    for (size_t i = 0; i < cells;) {
        double cell_ns = (double)(scale->to_ns - scale->from_ns) / (double)cells;
        int64_t from_ns = scale->from_ns + (int64_t)((double)i * cell_ns);
        enum chaos_node_state state = chaos_node_state(page->history, node, from_ns);
        size_t next = i + 1;
        while (next < cells &&
               chaos_node_state(page->history, node,
                                scale->from_ns + (int64_t)((double)next * cell_ns)) == state)
            next++;
        fprintf(page->to,
                "<rect %s x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\">"
                "<title>node %u: %s from %.2f s to %.2f s</title></rect>\n",
                paint[state], scale->left + (double)i, y + 6 - heights[state] / 2,
                (double)(next - i), heights[state], node + 1, words[state],
                (double)from_ns / 1e9,
                (double)(scale->from_ns + (int64_t)((double)next * cell_ns)) / 1e9);
        i = next;
    }
}

static void draw_majority(struct chaos_page *page, const struct chaos_scale *scale, double y)
{
    unsigned clients = page->history->options->clients;
    uint64_t all = clients >= 64 ? UINT64_MAX : CHAOS_BIT(clients) - 1;
    for (size_t i = 0; i < page->quorum_time_count; i++) {
        uint64_t quorum = page->quorum[i].clients & all;
        int64_t to_ns =
            i + 1 < page->quorum_time_count ? page->quorum[i + 1].from_ns : scale->to_ns;
        double x = chaos_x(scale, page->quorum[i].from_ns), width = chaos_x(scale, to_ns) - x;
        if (width <= 0)
            continue;
        fprintf(page->to,
                "<rect %s x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\">"
                "<title>%s reach a majority that votes, from %.2f s to %.2f s</title></rect>\n",
                quorum == all ? "class=\"up\""
                : quorum != 0 ? "fill=\"url(#novote)\""
                              : "class=\"down\"",
                x, quorum == all ? y + 5 : y + 1.5, width, quorum == all ? 2 : 9,
                quorum == all ? "all contenders"
                : quorum != 0 ? "some contenders"
                              : "no contenders",
                (double)page->quorum[i].from_ns / 1e9, (double)to_ns / 1e9);
    }
}

static void draw_marks(struct chaos_page *page, const struct chaos_scale *scale,
                       const struct place *place)
{
    for (size_t i = 0; i < page->verdict->finding_count; i++) {
        const struct chaos_finding *finding = &page->verdict->finding[i];
        double x = chaos_x(scale, finding->at_ns);
        double y = finding->what == CHAOS_ORPHAN ? place->bottom - 4
                                                 : place->locks + LOCK_ROW * finding->name;
        fprintf(page->to,
                "<a href=\"#finding-%zu\"><path class=\"mark %s\" d=\"M%.1f %.1fl-5 -9h10z\"/>"
                "<title>finding %zu: ",
                i + 1, finding->excused ? "excused" : "violation", x, y + 9, i + 1);
        chaos_html_put(page->to, finding->text);
        fputs("</title></a>\n", page->to);
    }
}

static void put_label(struct chaos_page *page, double y, const char *class, const char *text)
{
    fprintf(page->to, "<text class=\"%s\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", class,
            LABELS - 8, y);
    chaos_html_put(page->to, text);
    fputs("</text>\n", page->to);
}

static void draw_labels(struct chaos_page *page, const struct place *place)
{
    char text[32];
    fprintf(page->to,
            "<svg class=\"labels\" viewBox=\"0 0 %d %.0f\" width=\"%d\" height=\"%.0f\" "
            "aria-hidden=\"true\">\n",
            LABELS, place->bottom + AXIS, LABELS, place->bottom + AXIS);
    if (place->fault_rows > 0)
        put_label(page, place->faults + 10, "head", "faults");
    for (unsigned i = 0; i < page->history->nodes; i++) {
        snprintf(text, sizeof(text), "node %u", i + 1);
        put_label(page, place->nodes + NODE_ROW * i + 10, "row", text);
    }
    put_label(page, place->majority + 10, "head", "majority");
    for (unsigned i = 0; i < page->history->options->names; i++) {
        snprintf(text, sizeof(text), "lock %u", i);
        put_label(page, place->locks + LOCK_ROW * i + 20, "row", text);
    }
    fputs("</svg>\n", page->to);
}

static void draw_lanes(struct chaos_page *page, const struct chaos_scale *scale,
                       const struct place *place)
{
    const struct chaos_options *options = page->history->options;
    chaos_svg_begin(page, scale->width, place->bottom + AXIS, "lanes", "Timeline of the run",
                    "From top to bottom: faults, the state of each master, whether a majority "
                    "votes, and who held each lock. The tables below have the same in words.");
    chaos_svg_time_axis(page, scale, AXIS - 4, place->bottom, AXIS - 8);
    if (page->history->fault_count <= 80)
        chaos_svg_bands(page, scale, place->nodes - SPACE / 2, place->bottom);
    for (size_t i = 0; i < page->history->fault_count; i++)
        draw_fault(page, scale, place, i);
    for (unsigned i = 0; i < page->history->nodes; i++)
        draw_node(page, scale, i, place->nodes + NODE_ROW * i);
    draw_majority(page, scale, place->majority);
    for (unsigned i = 0; i < options->names; i++) {
        double y = place->locks + LOCK_ROW * i;
        fprintf(page->to, "<path class=\"base\" d=\"M0 %.1fH%.0f\"/>\n", y + 25, scale->width);
        chaos_svg_holds(page, scale, i, y + 9, 16);
    }
    draw_marks(page, scale, place);
    chaos_svg_end(page);
}

static void put_legend(struct chaos_page *page)
{
    char fill[32];
    fputs("<ul class=\"legend\" aria-label=\"Contenders\">\n", page->to);
    for (unsigned i = 0; i < page->history->options->clients; i++)
        fprintf(page->to,
                "<li><svg width=\"22\" height=\"12\" aria-hidden=\"true\"><rect width=\"22\" "
                "height=\"12\" rx=\"2\" %s/></svg>%u</li>\n",
                chaos_svg_fill(i, fill), i);
    fputs("<li><svg width=\"22\" height=\"12\" aria-hidden=\"true\"><rect width=\"22\" "
          "height=\"12\" rx=\"2\" class=\"several\"/></svg>several by turns</li>\n</ul>\n"
          "<ul class=\"legend\" aria-label=\"States of a master\">\n"
          "<li><svg width=\"22\" height=\"12\" aria-hidden=\"true\"><rect y=\"5\" width=\"22\" "
          "height=\"2\" class=\"up\"/></svg>up</li>\n"
          "<li><svg width=\"22\" height=\"12\" aria-hidden=\"true\"><rect width=\"22\" "
          "height=\"10\" fill=\"url(#novote)\"/></svg>up, does not vote</li>\n"
          "<li><svg width=\"22\" height=\"12\" aria-hidden=\"true\"><rect width=\"22\" "
          "height=\"10\" fill=\"url(#silent)\"/></svg>silent</li>\n"
          "<li><svg width=\"22\" height=\"12\" aria-hidden=\"true\"><rect width=\"22\" "
          "height=\"10\" class=\"down\"/></svg>down</li>\n"
          "<li><svg width=\"22\" height=\"12\" aria-hidden=\"true\"><rect width=\"22\" "
          "height=\"12\" fill=\"url(#hatch)\"/></svg>! breaks an assumption</li>\n</ul>\n",
          page->to);
}

/* Which node is which. */
static void put_nodes(struct chaos_page *page)
{
    fputs("<details><summary>The masters</summary><ul class=\"legend\">", page->to);
    for (unsigned i = 0; i < page->history->nodes; i++) {
        fprintf(page->to, "<li>node %u: <code>", i + 1);
        if (page->history->node_name[i] != NULL)
            chaos_html_put(page->to, page->history->node_name[i]);
        fputs("</code></li>\n", page->to);
    }
    fputs("</ul></details>\n", page->to);
}

/* The longest times, for one contender and for all. */
static void put_close_ups(struct chaos_page *page)
{
    const struct chaos_verdict *verdict = page->verdict;
    const struct chaos_hold *longest = NULL;
    char title[120], span[CHAOS_SPAN_MAX];
    for (size_t i = 0; i < page->hold_history.hold_count; i++) {
        const struct chaos_hold *hold = &page->hold_history.hold[i];
        if (longest == NULL ||
            hold->at_ns - hold->asked_ns > longest->at_ns - longest->asked_ns)
            longest = hold;
    }
    if (longest != NULL) {
        int64_t wait_ns = longest->at_ns - longest->asked_ns;
        int64_t margin_ns = wait_ns / 12 + 10 * CHAOS_MS;
        snprintf(title, sizeof(title), "The longest wait: contender %u got lock %u after %s",
                 (unsigned)longest->client, (unsigned)longest->name, chaos_span(wait_ns, span));
        chaos_svg_close_up(page, longest->name, longest->asked_ns - margin_ns,
                           longest->at_ns + margin_ns, NULL, title);
    }
    if (verdict->longest_unavailable_ns >= GAP_SHOWN_NS) {
        int64_t margin_ns = verdict->longest_unavailable_ns / 2;
        snprintf(title, sizeof(title),
                 "The longest gap: a majority voted, and nobody had lock %u for %s",
                 verdict->longest_name, chaos_span(verdict->longest_unavailable_ns, span));
        chaos_svg_close_up(page, verdict->longest_name, verdict->longest_at_ns - margin_ns,
                           verdict->longest_at_ns + verdict->longest_unavailable_ns + margin_ns,
                           NULL, title);
    }
}

void chaos_html_timeline(struct chaos_page *page)
{
    const struct chaos_history *history = page->history;
    struct chaos_scale scale = {0, history->duration_ns, 0, width_of(history)};
    struct place place = {
        .row_of = chaos_room(history->fault_count, 1),
        .labelled = chaos_room(history->fault_count, sizeof(bool)),
        .faults = AXIS,
    };
    place_faults(page, &scale, &place);
    place.nodes = place.faults + FAULT_ROW * place.fault_rows + SPACE;
    place.majority = place.nodes + NODE_ROW * history->nodes + SPACE / 2;
    place.locks = place.majority + NODE_ROW + SPACE;
    place.bottom = place.locks + LOCK_ROW * history->options->names + SPACE;
    fputs("<section aria-labelledby=\"timeline\"><h2 id=\"timeline\">Timeline</h2>\n"
          "<p>A lock's bar is as high as the part of the time in which it was held, and has "
          "the pattern of the contender that held it most. Triangles are findings.</p>\n",
          page->to);
    put_legend(page);
    fputs("<div class=\"scroll timeline\" tabindex=\"0\" role=\"region\" "
          "aria-label=\"Timeline, scrolls sideways\">\n",
          page->to);
    draw_labels(page, &place);
    draw_lanes(page, &scale, &place);
    fputs("</div>\n", page->to);
    put_nodes(page);
    put_close_ups(page);
    fputs("</section>\n", page->to);
    free(place.row_of);
    free(place.labelled);
}
