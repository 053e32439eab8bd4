/* html_figures.c - the figures of the run: the most telling ones large, all in a table.
 */
#include "config_auto.h"

#include "chaos/report/page.h"

static void put_tile(struct chaos_page *page, const char *what, const char *value,
                     const char *note)
{
    fprintf(page->to, "<div><dt>%s</dt><dd>%s", what, value);
    if (note != NULL)
        fprintf(page->to, "<small>%s</small>", note);
    fputs("</dd></div>\n", page->to);
}

static void put_count(struct chaos_page *page, const char *what, uint64_t count,
                      const char *note)
{
    char text[CHAOS_COUNT_MAX];
    put_tile(page, what, chaos_count(count, text), note);
}

static void put_span(struct chaos_page *page, const char *what, int64_t ns, const char *note)
{
    char text[CHAOS_SPAN_MAX];
    put_tile(page, what, chaos_span(ns, text), note);
}

/* The machine that all of it ran on: whether it let processes run. */
static void put_machine(struct chaos_page *page)
{
    const struct chaos_history *history = page->history;
    const struct chaos_verdict *verdict = page->verdict;
    char text[80], note[80], span[CHAOS_SPAN_MAX];
    if (verdict->stalls == 0) {
        put_tile(page, "Stalls of the machine", "none", "of a tenth of a TTL or more");
    } else {
        snprintf(note, sizeof(note), "%llu stalls; %u of %u contenders did not run at times",
                 (unsigned long long)verdict->stalls, verdict->starved,
                 history->options->clients);
        put_tile(page, "Longest stall of the machine",
                 chaos_span(verdict->longest_stall_ns, span), note);
    }
    if (history->load.processors == 0)
        return;
    snprintf(text, sizeof(text), "%.1f", history->load.highest);
    snprintf(note, sizeof(note), "at most, of %u processor%s; %.1f at the beginning",
             history->load.processors, history->load.processors == 1 ? "" : "s",
             history->load.begin);
    put_tile(page, "Load of the machine", text, note);
}

static void put_tiles(struct chaos_page *page)
{
    const struct chaos_verdict *verdict = page->verdict;
    char text[80];
    uint64_t violations = verdict->overlaps + verdict->lost_updates + verdict->changed_reads +
                          verdict->token_disorders + verdict->orphans + verdict->late +
                          verdict->scarce;
    fputs("<dl class=\"tiles\">\n", page->to);
    put_count(page, "Violations", violations, "while the assumptions held");
    snprintf(text, sizeof(text), "%u of them by a stall of the machine",
             (unsigned)verdict->stalled);
    put_count(page, "Excused findings", verdict->excused,
              verdict->stalled > 0 ? text : "a fault had broken an assumption");
    snprintf(text, sizeof(text), "%.1f a second", verdict->holds_per_s);
    put_count(page, "Locks taken", verdict->holds, text);
    if (page->history->options->client_cmd != NULL) {
        char note[80];
        snprintf(text, sizeof(text), "%.3g of %u", verdict->asked_mean, page->history->nodes);
        snprintf(note, sizeof(note), "by the client; %u at least, and a majority is %u",
                 verdict->asked_least, page->history->needed);
        put_tile(page, "Masters asked per hold", text, note);
    }
    snprintf(text, sizeof(text), "%u without a visible effect",
             (unsigned)verdict->faults_unseen);
    put_count(page, "Faults done", verdict->faults_done, text);
    snprintf(text, sizeof(text), "%.4g %%", 100 * verdict->available);
    put_tile(page, "Available", text, "of the time with a voting majority");
    if (verdict->recovery_ns > 0)
        put_span(page, "Slowest recovery", verdict->recovery_ns,
                 "from a majority's return to the next hold");
    else
        put_tile(page, "Slowest recovery", "none", "no majority came back to be waited for");
    put_span(page, "Hand-off, median", (int64_t)(verdict->hand_off.p50_ms * 1e6),
             "from letting go to the next hold");
    put_span(page, "Longest gap", verdict->longest_unavailable_ns,
             "nobody had a lock that was asked for");
    put_machine(page);
    fputs("</dl>\n", page->to);
}

static void put_quantiles(struct chaos_page *page, const char *what,
                          const struct chaos_quantiles *quantiles)
{
    char text[CHAOS_COUNT_MAX];
    fprintf(page->to, "<tr><th scope=\"row\">%s</th><td class=\"num\">%s</td>", what,
            chaos_count(quantiles->count, text));
    const double ms[] = {quantiles->p50_ms, quantiles->p90_ms, quantiles->p99_ms,
                         quantiles->max_ms};
    for (size_t i = 0; i < sizeof(ms) / sizeof(ms[0]); i++)
        fprintf(page->to, "<td class=\"num\">%.3f</td>", ms[i]);
    fputs("</tr>\n", page->to);
}

static void put_counts(struct chaos_page *page)
{
    const struct chaos_verdict *verdict = page->verdict;
    const struct {
        const char *what;
        uint64_t count;
    } rows[] = {
        {"Overlaps of believed holds", verdict->overlaps},
        {"Lost updates of the shared records", verdict->lost_updates},
        {"Records that changed under a read lock", verdict->changed_reads},
        {"Fencing tokens out of order", verdict->token_disorders},
        {"Late accesses, refused by their tokens", verdict->stale},
        {"Keys left behind", verdict->orphans},
        {"Recoveries that took longer than allowed", verdict->late},
        {"Locks to be had less often than asked for", verdict->scarce},
        {"The same, excused by a broken assumption", verdict->excused},
        {"Of these, by a stall of the machine", verdict->stalled},
        {"Locks taken", verdict->holds},
        {"Of these, by readers", verdict->shared},
        {"Writes under a lock", verdict->writes},
        {"Attempts refused", verdict->refusals},
        {"Holds found to be lost", verdict->losses},
        {"Stalls of the machine of a tenth of a TTL or more", verdict->stalls},
        {"Faults done", verdict->faults_done},
        {"Faults done and not seen to have an effect", verdict->faults_unseen},
    };
    fputs("<details><summary>All counts</summary><table><thead><tr><th scope=\"col\">what</th>"
          "<th scope=\"col\" class=\"num\">count</th></tr></thead><tbody>\n",
          page->to);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[CHAOS_COUNT_MAX];
        fprintf(page->to, "<tr><th scope=\"row\">%s</th><td class=\"num\">%s</td></tr>\n",
                rows[i].what, chaos_count(rows[i].count, text));
    }
    fputs("</tbody></table></details>\n", page->to);
}

void chaos_html_figures(struct chaos_page *page)
{
    fputs("<section aria-labelledby=\"figures\"><h2 id=\"figures\">Figures</h2>\n", page->to);
    put_tiles(page);
    fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Times\"><table>"
          "<thead><tr><th scope=\"col\">milliseconds</th><th scope=\"col\" class=\"num\">count"
          "</th><th scope=\"col\" class=\"num\">p50</th><th scope=\"col\" class=\"num\">p90"
          "</th><th scope=\"col\" class=\"num\">p99</th><th scope=\"col\" class=\"num\">longest"
          "</th></tr></thead><tbody>\n",
          page->to);
    put_quantiles(page, "from asking to having it", &page->verdict->wait);
    put_quantiles(page, "having it", &page->verdict->hold);
    put_quantiles(page, "from letting go to the next who asked", &page->verdict->hand_off);
    fputs("</tbody></table></div>\n", page->to);
    put_counts(page);
    fputs("</section>\n", page->to);
}
