/* test_chaos_progress.c - what the terminal shows while redlock-chaos runs: on terminals of
 * every width, without colour, and where there is no terminal. */
#include "config_auto.h"

#include "chaos/report/progress.h"

#include "suite.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MS INT64_C(1000000)
#define SEC INT64_C(1000000000)

static struct chaos_progress_display display;
static struct chaos_progress progress;
static struct chaos_fault faults[4];
static FILE *to;
static int master = -1;
static char screen[65536];

static void set_up(void)
{
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    memset(faults, 0, sizeof(faults));
    faults[0] = (struct chaos_fault){CHAOS_FAULT_KILL, .begun_ns = SEC, .undone_ns = 2 * SEC};
    faults[1] = (struct chaos_fault){CHAOS_FAULT_PAUSE, .begun_ns = 3 * SEC};
    faults[2] = (struct chaos_fault){CHAOS_FAULT_PARTITION, .begun_ns = 4 * SEC};
    faults[3] = (struct chaos_fault){CHAOS_FAULT_RESET, .planned_ns = 50 * SEC};
    progress = (struct chaos_progress){
        .now_ns = 18 * SEC,
        .holds = 1234,
        .nodes = 5,
        .node = {CHAOS_NODE_UP, CHAOS_NODE_NO_VOTE, CHAOS_NODE_SILENT, CHAOS_NODE_DOWN,
                 CHAOS_NODE_UP},
        .fault_count = 4,
        .faults = faults,
    };
}

static void tear_down(void)
{
    if (to != NULL)
        fclose(to);
    if (master >= 0)
        close(master);
    to = NULL;
    master = -1;
}

/* A terminal of so many columns. */
static void open_terminal(unsigned short columns)
{
    struct winsize size = {.ws_row = 24, .ws_col = columns};
    master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        suite_die("no pseudo-terminal");
    if (ioctl(master, TIOCSWINSZ, &size) != 0)
        suite_die("TIOCSWINSZ");
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    to = slave >= 0 ? fdopen(slave, "w") : NULL;
    if (to == NULL)
        suite_die("no terminal");
}

/* What came to the screen since the last look: all up to a bell that we ring behind it. */
static const char *look(void)
{
    size_t len = 0;
    fputc('\a', to);
    fflush(to);
    for (;;) {
        struct pollfd readable = {.fd = master, .events = POLLIN};
        if (poll(&readable, 1, 10000) != 1)
            suite_die("the terminal is silent");
        ssize_t got = read(master, screen + len, sizeof(screen) - 1 - len);
        if (got <= 0)
            suite_die("read");
        len += (size_t)got;
        screen[len] = '\0';
        if (screen[len - 1] == '\a')
            break;
    }
    screen[len - 1] = '\0';
    return screen;
}

/* How many columns the text takes: colours take none. */
static size_t columns_of(const char *text)
{
    size_t columns = 0;
    while (*text != '\0') {
        if (*text == '\033')
            text += strcspn(text, "mK") + 1;
        else
            columns += *text++ != '\r';
    }
    return columns;
}

TEST(progress, wide_terminal_has_all_of_it)
{
    open_terminal(200);
    setenv("NO_COLOR", "1", 1);
    chaos_progress_begin(&display, to, 60 * SEC);
    chaos_progress_draw(&display, &progress);
    ck_assert_str_eq(look(), "\r0:42 left  no violation  1,234 holds (69/s)  nodes |v.x|"
                             "  3 faults, now pause, partition\033[K");
}

TEST(progress, violations_stand_out, .rows = 2)
{
    open_terminal(120);
    chaos_progress_begin(&display, to, 60 * SEC);
    progress.violations = _i == 0 ? 1 : 1200;
    chaos_progress_draw(&display, &progress);
    look();
    ck_assert_ptr_nonnull(strstr(screen, _i == 0 ? "\033[1;31m  1 VIOLATION\033[0m"
                                                 : "\033[1;31m  1,200 VIOLATIONS\033[0m"));
    ck_assert_ptr_null(strstr(screen, "no violation"));
}

/* It never wraps, whatever there is to say; the most important comes first. */
TEST(progress, line_fits_every_width, .first = 21, .rows = 160)
{
    unsigned short columns = (unsigned short)_i;
    open_terminal(columns);
    if (_i % 2 == 0)
        setenv("NO_COLOR", "1", 1);
    chaos_progress_begin(&display, to, 600 * SEC);
    progress.nodes = 64;
    progress.violations = 3;
    progress.holds = 123456789;
    for (size_t i = 0; i < 4; i++)
        faults[i].begun_ns = SEC, faults[i].undone_ns = 0;
    chaos_progress_draw(&display, &progress);
    ck_assert_uint_lt(columns_of(look()), columns);
    ck_assert_ptr_nonnull(strstr(screen, "9:42 left"));
    if (columns >= 26)
        ck_assert_ptr_nonnull(strstr(screen, "3 VIOLATIONS"));
    ck_assert_ptr_null(strchr(screen, '\n'));
    const char *nodes = strstr(screen, "nodes ");
    if (_i % 2 == 0 && nodes != NULL) /* all of them or none */
        ck_assert_uint_eq(strspn(nodes + strlen("nodes "), "|v.x"), 64);
}

TEST(progress, terminal_without_width_has_80_columns)
{
    open_terminal(0);
    chaos_progress_begin(&display, to, 600 * SEC);
    progress.nodes = 64;
    chaos_progress_draw(&display, &progress);
    ck_assert_uint_lt(columns_of(look()), 80);
}

TEST(progress, no_colour_where_none_is_wanted, .rows = 4)
{
    static const struct {
        const char *no_colour;
        bool colour;
    } rows[] = {{NULL, true}, {"", true}, {"1", false}, {"0", false}};
    open_terminal(120);
    if (rows[_i].no_colour != NULL)
        setenv("NO_COLOR", rows[_i].no_colour, 1);
    chaos_progress_begin(&display, to, 60 * SEC);
    chaos_progress_draw(&display, &progress);
    ck_assert_int_eq(strstr(look(), "\033[3") != NULL, rows[_i].colour);
    ck_assert_ptr_nonnull(strstr(screen, "\033[K"));
}

TEST(progress, one_line_is_redrawn_some_times_per_second)
{
    open_terminal(100);
    chaos_progress_begin(&display, to, 60 * SEC);
    size_t drawn = 0;
    for (int i = 0; i < 100; i++) { /* a second */
        progress.now_ns += 10 * MS;
        chaos_progress_draw(&display, &progress);
        drawn += look()[0] == '\r';
    }
    ck_assert_uint_ge(drawn, 4);
    ck_assert_uint_le(drawn, 6);
    chaos_progress_end(&display);
    ck_assert_str_eq(look(), "\r\n"); /* the terminal makes that of a newline */
    chaos_progress_end(&display);
    ck_assert_str_eq(look(), "");
}

TEST(progress, rate_is_that_of_last_second)
{
    open_terminal(100);
    chaos_progress_begin(&display, to, 60 * SEC);
    progress.holds = 0;
    for (int i = 0; i < 20; i++) {
        progress.now_ns = i * SEC / 2;
        progress.holds += i < 10 ? 5 : 50;
        chaos_progress_draw(&display, &progress);
    }
    ck_assert_double_eq_tol(display.holds_per_s, 100, 1e-6);
    progress.now_ns += SEC / 4;
    progress.holds += 1000;
    chaos_progress_draw(&display, &progress); /* too soon */
    ck_assert_double_eq_tol(display.holds_per_s, 100, 1e-6);
    chaos_progress_begin(&display, to, 60 * SEC);
    progress.now_ns = SEC / 2;
    progress.holds = 7;
    chaos_progress_draw(&display, &progress); /* of what there is of the first */
    ck_assert_double_eq_tol(display.holds_per_s, 14, 1e-6);
}

/* A pipe, a file, or a terminal that can do nothing: whole lines, one every few seconds. */
TEST(progress, plain_lines_where_there_is_no_terminal, .rows = 2)
{
    char *text = NULL, path[SUITE_PATH_MAX + 8], dir[SUITE_PATH_MAX];
    size_t lines = 0;
    if (_i == 0) {
        suite_new_dir(dir);
        snprintf(path, sizeof(path), "%s/out", dir);
        to = fopen(path, "w+e");
        ck_assert_ptr_nonnull(to);
    } else {
        setenv("TERM", "dumb", 1);
        open_terminal(40);
    }
    chaos_progress_begin(&display, to, 60 * SEC);
    for (progress.now_ns = 0; progress.now_ns <= 20 * SEC; progress.now_ns += 100 * MS)
        chaos_progress_draw(&display, &progress);
    chaos_progress_end(&display);
    if (_i == 0) {
        rewind(to);
        screen[fread(screen, 1, sizeof(screen) - 1, to)] = '\0';
        text = screen;
    } else {
        look();
        text = screen;
    }
    ck_assert_ptr_null(strchr(text, '\033'));
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    ck_assert_uint_eq(lines, 5);
    ck_assert_ptr_nonnull(strstr(text, "0:40 left  no violation  1,234 holds"));
    ck_assert_int_eq(text[strlen(text) - 1], '\n');
}

TEST(progress, after_its_time_nothing_is_left)
{
    open_terminal(100);
    chaos_progress_begin(&display, to, 60 * SEC);
    progress.now_ns = 63 * SEC;
    chaos_progress_draw(&display, &progress);
    ck_assert_ptr_nonnull(strstr(look(), "\r0:00 left"));
}

CASE(progress, .set_up = set_up, .tear_down = tear_down)
