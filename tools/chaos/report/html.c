/* html.c - the report as one HTML file: the order of its parts, and its head. */
#include "config_auto.h"

#include "chaos/report/page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static const struct look {
    const char *class, *word, *icon;
} looks[] = {
    [CHAOS_PASSED] = {"pass", "Passed", "M14 27l8 8 17-19"},
    [CHAOS_EXCUSED] = {"nothing", "Excused findings", "M26 13v17M26 38v.5"},
    [CHAOS_VIOLATION] = {"fail", "Violation", "M17 17l18 18M35 17l-18 18"},
    [CHAOS_NOTHING] = {"nothing", "Nothing shown",
                       "M19 20c0-9 15-9 14 0 0 5-7 5-7 11M26 38v.5"},
    [CHAOS_CAUGHT] = {"pass", "Caught", "M14 27l8 8 17-19"},
};

static void put_run(struct chaos_page *page)
{
    const struct chaos_history *history = page->history;
    const struct chaos_options *options = history->options;
    static const char *const places[] = {"private masters on this machine",
                                         "masters of a node list", "containers"};
    char date[CHAOS_DATE_MAX], span[CHAOS_SPAN_MAX];
    fprintf(page->to, "<p class=\"run\">redlock-chaos %s, %s. %u masters (%s", REDLOCK_VERSION,
            chaos_date(history->begun_unix_s, date), history->nodes, places[options->where]);
    if (history->server_version[0] != '\0') {
        fputs(", server ", page->to);
        chaos_html_put(page->to, history->server_version);
    }
    fprintf(page->to, "), %u contenders%s", options->clients,
            options->self_test ? " that are broken on purpose" : "");
    if (options->client_cmd != NULL) {
        fputs(" of <code>", page->to);
        chaos_html_put(page->to, options->client_cmd);
        fputs("</code>", page->to);
    }
    if (options->markers)
        fputs(" whose guard is by markers", page->to);
    bool several = options->lock == CHAOS_SEVERAL,
         plain = options->lock == CHAOS_PLAIN || several;
    fprintf(page->to, ", %u %s%s%s%s, %s.</p>\n", options->names,
            plain ? "" : chaos_lock_word(options->lock), plain ? "" : " ",
            options->names == 1 ? "lock" : "locks", several ? ", several at once" : "",
            chaos_span(history->duration_ns, span));
}

void chaos_html_head(struct chaos_page *page)
{
    const struct look *look = &looks[chaos_judged(page->history, page->verdict)];
    char command[CHAOS_COMMAND_MAX];
    put_run(page);
    fprintf(page->to,
            "<div class=\"verdict %s\"><svg viewBox=\"0 0 52 52\" aria-hidden=\"true\">"
            "<path d=\"M16 2h20l14 14v20l-14 14h-20l-14-14v-20z\" fill=\"none\" "
            "stroke=\"currentColor\" stroke-width=\"3\"/><path d=\"%s\" fill=\"none\" "
            "stroke=\"currentColor\" stroke-width=\"4\" stroke-linecap=\"round\"/></svg>\n"
            "<div><h1>%s</h1>\n<p>",
            look->class, look->icon, look->word);
    chaos_html_put(page->to, page->verdict->text);
    fprintf(page->to,
            ". <span class=\"soft\">Exit status %d.</span></p>\n"
            "<p class=\"soft\">The same faults again, drawn from seed %" PRIu64 ":</p>\n"
            "<div class=\"again\"><code id=\"command\">",
            page->verdict->exit_status, page->history->options->seed);
    chaos_command(page->history->options, command);
    chaos_html_put(page->to, command);
    fputs("</code><button type=\"button\" data-copy=\"command\" hidden=\"hidden\">Copy"
          "</button></div></div></div>\n",
          page->to);
}

static void begin_page(struct chaos_page *page)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
          "<title>redlock-chaos: ",
          page->to);
    chaos_html_put(page->to, page->verdict->text);
    fputs("</title>\n", page->to);
    chaos_html_style(page->to);
    fputs("</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the figures</a>\n"
          "<header>\n",
          page->to);
    chaos_svg_patterns(page);
    chaos_html_head(page);
    fputs("</header>\n<nav aria-label=\"Parts of the report\"><ul>"
          "<li><a href=\"#figures\">Figures</a></li><li><a href=\"#findings\">Findings</a></li>"
          "<li><a href=\"#timeline\">Timeline</a></li><li><a href=\"#over-time\">Over time</a>"
          "</li><li><a href=\"#hand-off\">Hand-off</a></li><li><a href=\"#faults\">Faults</a>"
          "</li><li><a href=\"#assumptions\">Assumptions</a></li></ul></nav>\n"
          "<main id=\"main\">\n",
          page->to);
}

int chaos_report_html(const struct chaos_history *history, const struct chaos_verdict *verdict,
                      FILE *to)
{
    struct chaos_page page = {.to = to, .history = history, .verdict = verdict};
    chaos_hold_history_read(history, &page.hold_history);
    chaos_series_of(history, &page.hold_history, &page.series);
    page.quorum = chaos_quorum_times(history, &page.quorum_time_count);
    begin_page(&page);
    chaos_html_figures(&page);
    chaos_html_findings(&page);
    chaos_html_timeline(&page);
    chaos_html_charts(&page);
    chaos_html_hand_offs(&page);
    chaos_html_faults(&page);
    chaos_html_assumptions(&page);
    fputs("</main>\n<footer><p>docs/CHAOS.md of libredlock tells how to read this report and "
          "by which rules findings are judged. report.json beside it has the same for "
          "programs.</p></footer>\n",
          to);
    chaos_html_script(to);
    fputs("</body>\n</html>\n", to);
    free(page.quorum);
    chaos_hold_history_free(&page.hold_history);
    if (fflush(to) != 0 || ferror(to)) {
        errno = errno != 0 ? errno : EIO;
        return -1;
    }
    return 0;
}
