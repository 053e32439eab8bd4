/* progress.c - see progress.h. A line has, if there is room for it:
 *
 *    0:42 left  no violation  1,234 holds (118/s)  nodes ||.x|  14 faults, now kill, pause
 *
 * The marks of nodes: `|` up, `v` up but without a vote, `.` silent, `x` down. They can be told
 * apart without colour. If the line is too long, its least important parts are cut first. */
#include "config_auto.h"

#include "chaos/report/progress.h"

#include "chaos/report/format.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define TERMINAL_EVERY_MS 200
#define PLAIN_EVERY_MS 5000
#define WIDTH_MIN 20
#define WIDTH_MAX 200

#define RED "\033[1;31m"
#define YELLOW "\033[33m"
#define GREEN "\033[32m"
#define PLAIN "\033[0m"

void chaos_progress_begin(struct chaos_progress_display *ret_display, FILE *to,
                          int64_t duration_ns)
{
    const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");
    bool terminal = isatty(fileno(to)) == 1 && term != NULL && strcmp(term, "dumb") != 0;
    *ret_display = (struct chaos_progress_display){
        .to = to,
        .duration_ns = duration_ns,
        .terminal = terminal,
        .colour = terminal && (no_colour == NULL || no_colour[0] == '\0'),
        .every_ms = terminal ? TERMINAL_EVERY_MS : PLAIN_EVERY_MS,
        .drawn_ns = -1,
    };
}

/* A line that is being put together: colours take no room on the screen. */
struct line {
    const struct chaos_progress_display *display;
    char text[1024];
    size_t len, columns, width;
};

static void raw(struct line *line, const char *bytes)
{
    size_t len = strlen(bytes);
    if (line->len + len >= sizeof(line->text))
        return;
    memcpy(line->text + line->len, bytes, len + 1);
    line->len += len;
}

/* Append all of the text or nothing. */
__attribute__((format(printf, 3, 4))) static bool add(struct line *line, const char *colour,
                                                      const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (len < 0 || (size_t)len >= sizeof(text) || line->columns + (size_t)len > line->width)
        return false;
    if (colour != NULL && line->display->colour)
        raw(line, colour);
    raw(line, text);
    if (colour != NULL && line->display->colour)
        raw(line, PLAIN);
    line->columns += (size_t)len;
    return true;
}

static void add_nodes(struct line *line, const struct chaos_progress *progress)
{
    static const char *const marks[] = {"|", "v", ".", "x"};
    static const char *const colours[] = {GREEN, YELLOW, YELLOW, RED};
    if (line->columns + progress->nodes + 8 > line->width)
        return;
    add(line, NULL, "  nodes ");
    for (unsigned i = 0; i < progress->nodes; i++)
        add(line, colours[progress->node[i]], "%s", marks[progress->node[i]]);
}

/* "  14 faults, now kill, partition": each kind that is in force once. */
static void add_faults(struct line *line, const struct chaos_progress *progress)
{
    uint64_t done = 0;
    bool in_force[CHAOS_FAULT_KINDS] = {false};
    const char *glue = ", now ";
    for (size_t i = 0; i < progress->fault_count; i++) {
        const struct chaos_fault *fault = &progress->faults[i];
        done += fault->begun_ns != 0;
        in_force[fault->kind] =
            in_force[fault->kind] || (fault->begun_ns != 0 && fault->undone_ns == 0);
    }
    if (!add(line, NULL, "  %" PRIu64 " fault%s", done, done == 1 ? "" : "s"))
        return;
    for (unsigned kind = 0; kind < CHAOS_FAULT_KINDS; kind++) {
        if (!in_force[kind])
            continue;
        if (!add(line, NULL, "%s%s", glue, chaos_fault_word(kind))) {
            add(line, NULL, " ...");
            return;
        }
        glue = ", ";
    }
}

static size_t width_of(const struct chaos_progress_display *display)
{
    struct winsize size;
    if (!display->terminal)
        return WIDTH_MAX;
    if (ioctl(fileno(display->to), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 79;
    size_t width = size.ws_col - 1U; /* the last column would wrap on some terminals */
    return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
}

static void compose(struct chaos_progress_display *display,
                    const struct chaos_progress *progress, struct line *line)
{
    char count[CHAOS_COUNT_MAX];
    int64_t left_s = (display->duration_ns - progress->now_ns + 999999999) / 1000000000;
    if (left_s < 0)
        left_s = 0;
    add(line, NULL, "%" PRId64 ":%02d left", left_s / 60, (int)(left_s % 60));
    if (progress->violations > 0)
        add(line, RED, "  %s VIOLATION%s", chaos_count(progress->violations, count),
            progress->violations == 1 ? "" : "S");
    else
        add(line, GREEN, "  no violation");
    add(line, NULL, "  %s holds", chaos_count(progress->holds, count));
    add(line, NULL, " (%.0f/s)", display->holds_per_s);
    add_nodes(line, progress);
    add_faults(line, progress);
}

void chaos_progress_draw(struct chaos_progress_display *display,
                         const struct chaos_progress *progress)
{
    int64_t since_ns = progress->now_ns - display->drawn_ns;
    if (display->drawn_ns >= 0 && since_ns < (int64_t)display->every_ms * 1000000)
        return;
    /* The rate over a second at least, but for the first: it would flicker otherwise. */
    int64_t rate_ns = progress->now_ns - display->rate_ns;
    if (rate_ns >= 1000000000 || (display->rate_ns == 0 && rate_ns > 0)) {
        display->holds_per_s =
            (double)(progress->holds - display->rate_holds) * 1e9 / (double)rate_ns;
        if (rate_ns >= 1000000000) {
            display->rate_ns = progress->now_ns;
            display->rate_holds = progress->holds;
        }
    }
    struct line line = {.display = display, .width = width_of(display)};
    compose(display, progress, &line);
    if (display->terminal)
        fprintf(display->to, "\r%s\033[K", line.text);
    else
        fprintf(display->to, "%s\n", line.text);
    fflush(display->to);
    display->line_open = display->terminal;
    display->drawn_ns = progress->now_ns;
}

void chaos_progress_end(struct chaos_progress_display *display)
{
    if (display->line_open)
        fputc('\n', display->to);
    fflush(display->to);
    display->line_open = false;
}
