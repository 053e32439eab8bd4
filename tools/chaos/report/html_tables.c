/* html_tables.c - findings, faults and assumptions in words. */
#include "config_auto.h"

#include "chaos/report/page.h"

#include "chaos/check/check.h"

#include <inttypes.h>
#include <string.h>

#define CLOSE_UPS_MAX 8
#define FIRST_FINDINGS 12 /* the others unfold */
#define OPEN_ROWS_MAX 40  /* a longer list of faults is closed at first */

/* Findings in a row of the same kind, lock and moment look alike: one close-up does. */
static void put_close_ups(struct chaos_page *page)
{
    unsigned drawn = 0;
    int64_t last_ns = INT64_MIN / 2;
    for (int excused = 0; excused < 2; excused++) {
        for (size_t i = 0; i < page->verdict->finding_count && drawn < CLOSE_UPS_MAX; i++) {
            const struct chaos_finding *finding = &page->verdict->finding[i];
            if (finding->excused != (excused != 0) || finding->what == CHAOS_ORPHAN ||
                (finding->at_ns >= last_ns && finding->at_ns < last_ns + CHAOS_S))
                continue;
            char title[64], span[CHAOS_SPAN_MAX];
            int64_t margin_ns = finding->for_ns + 150 * CHAOS_MS;
            snprintf(title, sizeof(title), "Finding %zu, lock %u, at %s", i + 1, finding->name,
                     chaos_span(finding->at_ns, span));
            chaos_svg_close_up(page, finding->name, finding->at_ns - margin_ns,
                               finding->at_ns + finding->for_ns + margin_ns, finding, title);
            last_ns = finding->at_ns;
            drawn++;
        }
    }
}

static void put_finding(struct chaos_page *page, size_t i)
{
    const struct chaos_finding *finding = &page->verdict->finding[i];
    char at[CHAOS_SPAN_MAX];
    fprintf(page->to,
            "<tr id=\"finding-%zu\"><th scope=\"row\">%zu</th><td class=\"nowrap\">%s</td>"
            "<td class=\"nowrap\">%s</td><td><span class=\"tag %s\">%s</span></td>"
            "<td class=\"wide\">",
            i + 1, i + 1, chaos_span(finding->at_ns, at), chaos_finding_word(finding),
            finding->excused ? "nothing" : "fail", finding->excused ? "excused" : "violation");
    chaos_html_put(page->to, finding->text);
    fputs("</td><td class=\"wide\">", page->to);
    if (finding->by != NULL) {
        size_t fault = (size_t)(finding->by - page->history->faults);
        fprintf(page->to, "<a href=\"#fault-%zu\">%s</a> at %s", fault + 1,
                chaos_fault_word(finding->by->kind), chaos_span(finding->by->begun_ns, at));
    } else {
        fputs(finding->stalled   ? "none: the machine stalled"
              : finding->excused ? "the write came too late"
                                 : "none that could",
              page->to);
    }
    fputs("</td></tr>\n", page->to);
}

static void put_findings(struct chaos_page *page, size_t from, size_t to)
{
    fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Findings\"><table>"
          "<thead><tr><th scope=\"col\">no.</th><th scope=\"col\">at</th>"
          "<th scope=\"col\">kind</th><th scope=\"col\">judged</th><th scope=\"col\">what</th>"
          "<th scope=\"col\">fault that may be its cause</th></tr></thead><tbody>\n",
          page->to);
    for (size_t i = from; i < to; i++)
        put_finding(page, i);
    fputs("</tbody></table></div>\n", page->to);
}

void chaos_html_findings(struct chaos_page *page)
{
    const struct chaos_verdict *verdict = page->verdict;
    const size_t count = verdict->finding_count;
    const size_t most = sizeof(verdict->finding) / sizeof(verdict->finding[0]);
    fputs("<section aria-labelledby=\"findings\"><h2 id=\"findings\">Findings</h2>\n",
          page->to);
    if (count == 0) {
        char holds[CHAOS_COUNT_MAX];
        fprintf(page->to,
                "<p>None: no two of %s holds overlapped, no update of a shared record was "
                "lost, and no key was left behind.</p></section>\n",
                chaos_count(verdict->holds, holds));
        return;
    }
    if (count == most)
        fprintf(page->to, "<p>Only the first %zu are listed.</p>\n", most);
    size_t first = count <= FIRST_FINDINGS + 2 ? count : FIRST_FINDINGS;
    put_findings(page, 0, first);
    if (first < count) {
        fprintf(page->to, "<details><summary>%zu more</summary>\n", count - first);
        put_findings(page, first, count);
        fputs("</details>\n", page->to);
    }
    fputs("<h3>Close up</h3>\n", page->to);
    put_close_ups(page);
    fputs("</section>\n", page->to);
}

static void put_fault(struct chaos_page *page, size_t i)
{
    const struct chaos_fault *fault = &page->history->faults[i];
    char nodes[CHAOS_MEMBERS_MAX], clients[CHAOS_MEMBERS_MAX], span[CHAOS_SPAN_MAX];
    chaos_members("node", 1, fault->nodes, page->history->nodes, nodes);
    chaos_members("contender", 0, fault->clients, page->history->options->clients, clients);
    fprintf(page->to,
            "<tr id=\"fault-%zu\"><th scope=\"row\">%zu</th><td class=\"nowrap\">%s</td>"
            "<td class=\"to\">%s%s%s</td><td class=\"num\">%.2f</td>",
            i + 1, i + 1, chaos_fault_word(fault->kind), nodes,
            nodes[0] != '\0' && clients[0] != '\0' ? "; " : "", clients,
            (double)fault->planned_ns / 1e9);
    if (fault->begun_ns != 0)
        fprintf(page->to, "<td class=\"num\">%.2f</td>", (double)fault->begun_ns / 1e9);
    else
        fputs("<td>not done</td>", page->to);
    if (fault->undone_ns != 0)
        fprintf(page->to, "<td class=\"num nowrap\">%s</td>",
                chaos_span(fault->undone_ns - fault->begun_ns, span));
    else
        fputs("<td>-</td>", page->to);
    fprintf(page->to, "<td class=\"wide\"><span class=\"tag %s\">%s</span> ",
            fault->seen ? "pass" : "nothing", fault->seen ? "seen" : "not seen");
    chaos_html_put(page->to, fault->text);
    fputs("</td></tr>\n", page->to);
}

static void put_kinds(struct chaos_page *page)
{
    const struct chaos_history *history = page->history;
    fputs(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Kinds of faults\">"
        "<table><thead><tr><th scope=\"col\">kind</th><th scope=\"col\">what it does</th>"
        "<th scope=\"col\" class=\"num\">planned</th><th scope=\"col\" class=\"num\">done</th>"
        "<th scope=\"col\" class=\"num\">seen</th><th scope=\"col\">breaks an assumption</th>"
        "</tr></thead><tbody>\n",
        page->to);
    for (unsigned kind = 0; kind < CHAOS_FAULT_KINDS; kind++) {
        unsigned planned = 0, done = 0, seen = 0;
        enum chaos_assumption breaks = chaos_fault_breaks(kind);
        for (size_t i = 0; i < history->fault_count; i++) {
            if (history->faults[i].kind != kind)
                continue;
            planned++;
            done += history->faults[i].begun_ns != 0;
            seen += history->faults[i].begun_ns != 0 && history->faults[i].seen;
            breaks = chaos_broken_by(history->options, &history->faults[i]);
        }
        if (planned == 0 && (history->options->faults & CHAOS_BIT(kind)) == 0)
            continue;
        fprintf(page->to,
                "<tr><th scope=\"row\" class=\"nowrap\">%s</th><td class=\"wide\">%s</td>"
                "<td class=\"num\">%u</td><td class=\"num\">%u</td><td class=\"num\">%u</td>"
                "<td>%s</td></tr>\n",
                chaos_fault_word(kind), chaos_fault_text(kind), planned, done, seen,
                breaks != CHAOS_NONE_BROKEN ? "! yes" : "no");
    }
    fputs("</tbody></table></div>\n", page->to);
}

void chaos_html_faults(struct chaos_page *page)
{
    size_t count = page->history->fault_count;
    fputs("<section aria-labelledby=\"faults\"><h2 id=\"faults\">Faults</h2>\n", page->to);
    if (count == 0 && page->history->options->faults == 0) {
        fputs("<p>None were asked for.</p></section>\n", page->to);
        return;
    }
    put_kinds(page);
    fprintf(
        page->to,
        "<details%s><summary>Every fault: %zu</summary>\n<div class=\"scroll\" "
        "tabindex=\"0\" role=\"region\" aria-label=\"Faults\"><table><thead><tr>"
        "<th scope=\"col\">no.</th><th scope=\"col\">kind</th><th scope=\"col\">to what</th>"
        "<th scope=\"col\" class=\"num\">planned, s</th>"
        "<th scope=\"col\" class=\"num\">begun, s</th>"
        "<th scope=\"col\" class=\"num\">lasted</th><th scope=\"col\">how it was seen</th>"
        "</tr></thead><tbody>\n",
        count <= OPEN_ROWS_MAX ? " open=\"open\"" : "", count);
    for (size_t i = 0; i < count; i++)
        put_fault(page, i);
    fputs("</tbody></table></div></details></section>\n", page->to);
}

static void put_assumption(struct chaos_page *page, enum chaos_assumption assumption)
{
    const struct chaos_history *history = page->history;
    unsigned broken = 0;
    size_t cost = 0;
    bool word_put[CHAOS_FAULT_KINDS] = {false};
    for (size_t i = 0; i < history->fault_count; i++)
        broken += history->faults[i].begun_ns != 0 &&
                  chaos_broken_by(history->options, &history->faults[i]) == assumption;
    for (size_t i = 0; i < page->verdict->finding_count; i++) {
        const struct chaos_fault *by = page->verdict->finding[i].by;
        cost += by != NULL && chaos_broken_by(history->options, by) == assumption;
    }
    fprintf(page->to, "<tr><th scope=\"row\" class=\"wide\">%s</th><td>",
            chaos_assumption_text(assumption));
    if (broken == 0) {
        fputs("<span class=\"tag pass\">held</span></td><td>-</td><td>-</td></tr>\n", page->to);
        return;
    }
    fprintf(page->to, "<span class=\"tag nothing\">broken</span> %u %s</td><td>", broken,
            broken == 1 ? "time" : "times");
    for (size_t i = 0; i < history->fault_count; i++) {
        const struct chaos_fault *fault = &history->faults[i];
        if (fault->begun_ns == 0 || chaos_broken_by(history->options, fault) != assumption ||
            word_put[fault->kind])
            continue;
        word_put[fault->kind] = true;
        fprintf(page->to, "%s ", chaos_fault_word(fault->kind));
    }
    if (cost > 0)
        fprintf(page->to, "</td><td>%zu findings</td></tr>\n", cost);
    else
        fputs("</td><td>nothing</td></tr>\n", page->to);
}

void chaos_html_assumptions(struct chaos_page *page)
{
    fputs(
        "<section aria-labelledby=\"assumptions\"><h2 id=\"assumptions\">Assumptions</h2>\n"
        "<p>What a lock of this kind rests on. A finding is excused only if a fault that "
        "breaks one of these acted on enough masters while the first of the two holders' "
        "keys were there.</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
        "aria-label=\"Assumptions\"><table><thead><tr><th scope=\"col\">assumption</th>"
        "<th scope=\"col\">in this run</th><th scope=\"col\">by</th><th scope=\"col\">what it "
        "cost</th></tr></thead><tbody>\n",
        page->to);
    put_assumption(page, CHAOS_KEYS_STAY);
    put_assumption(page, CHAOS_NO_STEP);
    put_assumption(page, CHAOS_GUARD);
    put_assumption(page, CHAOS_ONE_SERVER);
    put_assumption(page, CHAOS_ONE_LIST);
    size_t late = 0;
    for (size_t i = 0; i < page->verdict->finding_count; i++) {
        const struct chaos_finding *finding = &page->verdict->finding[i];
        late += finding->what == CHAOS_LOST_UPDATE && finding->excused &&
                (finding->by == NULL || finding->by->kind == CHAOS_FAULT_PAUSE_HOLDER);
    }
    fputs("<tr><th scope=\"row\">What a holder does lands before its time is over, or is "
          "fenced</th><td>",
          page->to);
    if (late == 0)
        fputs("<span class=\"tag pass\">held</span></td><td>-</td><td>-</td></tr>\n", page->to);
    else
        fprintf(page->to,
                "<span class=\"tag nothing\">broken</span></td><td>a holder was stopped "
                "between its last look and a write</td><td>%zu findings</td></tr>\n",
                late);
    fputs("<tr><th scope=\"row\">The machine lets processes run</th><td>", page->to);
    if (page->verdict->stalls == 0)
        fputs("<span class=\"tag pass\">held</span></td><td>-</td><td>-</td></tr>\n", page->to);
    else
        fprintf(page->to,
                "<span class=\"tag nothing\">broken</span> %" PRIu64
                " %s</td><td>stalls of the machine</td><td>%" PRIu64 " findings</td></tr>\n",
                page->verdict->stalls, page->verdict->stalls == 1 ? "time" : "times",
                page->verdict->stalled);
    fputs("</tbody></table></div></section>\n", page->to);
}
