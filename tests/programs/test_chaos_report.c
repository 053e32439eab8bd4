/* test_chaos_report.c - the report of redlock-chaos as HTML and as JSON: well-formed, alone,
 * escaped, of a bounded size, and with the figures of the run.
 *
 * CHAOS_SAMPLES=DIR tests/programs/test_chaos_report writes pages to look at, of made-up runs.
 */
#include "config_auto.h"

#include "chaos_made.h"

#include "chaos/faults/kinds.h"
#include "json.h"
#include "page_check.h"
#include "suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct made made;
static char *page, *json;
static size_t page_len, json_len;

static void tear_down(void)
{
    free(page);
    free(json);
    page = json = NULL;
    made_free(&made);
}

static void write_both(void)
{
    free(page);
    free(json);
    FILE *to = open_memstream(&page, &page_len);
    ck_assert_int_eq(chaos_report_html(&made.history, made.verdict, to), 0);
    fclose(to);
    to = open_memstream(&json, &json_len);
    ck_assert_int_eq(chaos_report_json(&made.history, made.verdict, to), 0);
    fclose(to);
}

static void report(void)
{
    chaos_check(&made.history, made.verdict);
    write_both();
}

static const struct made_plan plans[] = {
    {.seed = 1, .seconds = 20, .clients = 6, .names = 2, .nodes = 5, .hold_ns = 20 * MS},
    {.seed = 2,
     .seconds = 60,
     .clients = 8,
     .names = 3,
     .nodes = 5,
     .hold_ns = 20 * MS,
     .fault_ns = 3 * SEC},
    {.seed = 3,
     .seconds = 20,
     .clients = 6,
     .names = 2,
     .nodes = 5,
     .hold_ns = 20 * MS,
     .fault_ns = 2 * SEC,
     .bad = 60},
    {.seed = 4, .seconds = 2, .clients = 1, .names = 1, .nodes = 1, .hold_ns = 5 * MS},
    {.seed = 5,
     .seconds = 30,
     .clients = 64,
     .names = 64,
     .nodes = 64,
     .hold_ns = 50 * MS,
     .fault_ns = SEC,
     .bad = 200},
};

static void expect_sound(void)
{
    const char *problem = page_problem(page, page_len);
    ck_assert_msg(problem == NULL, "%s", problem);
    ck_assert(json_valid(json, json_len));
    ck_assert_uint_lt(page_len, 3000000);
}

TEST(report, pages_are_well_formed_and_alone, .rows = ROWS(plans))
{
    made_run(&made, &plans[_i]);
    report();
    expect_sound();
    const char *samples = getenv("CHAOS_SAMPLES");
    if (samples != NULL) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/sample-%d.html", samples, _i);
        FILE *to = fopen(path, "we");
        ck_assert_ptr_nonnull(to);
        fwrite(page, 1, page_len, to);
        fclose(to);
    }
}

TEST(report, empty_run_has_report, .rows = 2)
{
    made_init(&made);
    if (_i == 1)
        made.history.duration_ns = 0;
    report();
    expect_sound();
}

/* Half an hour and 200,000 holds of 4 locks: cells, not holds, are what is drawn. */
TEST(report, long_run_is_small_file)
{
    const struct made_plan plan = {.seed = 9,
                                   .seconds = 1800,
                                   .clients = 8,
                                   .names = 4,
                                   .nodes = 5,
                                   .hold_ns = 20 * MS,
                                   .fault_ns = 4 * SEC};
    made_run(&made, &plan);
    report();
    ck_assert_uint_gt(made.verdict->holds, 200000);
    ck_assert_uint_gt(made.history.fault_count, 200);
    expect_sound();
}

/* Many locks share what there is room for. */
TEST(report, many_locks_are_small_file_too)
{
    const struct made_plan plan = {.seed = 10,
                                   .seconds = 100,
                                   .clients = 64,
                                   .names = 64,
                                   .nodes = 5,
                                   .hold_ns = 30 * MS,
                                   .fault_ns = 5 * SEC};
    made_run(&made, &plan);
    report();
    expect_sound();
    ck_assert_uint_lt(page_len, 2000000);
}

/* 10 s are 1080 dots: held from 2 s to 4 s by 0, half of the time from 5 s to 6 s by 2. */
TEST(report, timeline_has_holders_and_times)
{
    made_init(&made);
    made_asks(&made, SEC, 0, 0);
    made_holds(&made, 2 * SEC, 4 * SEC, 0, 0);
    for (int i = 0; i < 1000; i++) {
        made_asks(&made, 5 * SEC + i * MS, 2, 0);
        made_holds(&made, 5 * SEC + i * MS, 5 * SEC + i * MS + MS / 2, 2, 0);
    }
    made_sort(&made);
    report();
    expect_sound();
    ck_assert_ptr_nonnull(strstr(page, "class=\"c0\" d=\"M216 "));
    ck_assert_ptr_nonnull(strstr(page, "h216v16h-216z\""));
    ck_assert_ptr_nonnull(strstr(page, "class=\"c2\" d=\"M540 "));
    ck_assert_ptr_nonnull(strstr(page, "h108v8h-108z\""));
}

/* ---- the figures ------------------------------------------------------------------------ */

static const char *value(const char *path)
{
    static char text[512];
    ck_assert_msg(json_get(json, json_len, path, text, sizeof(text)) >= 0, "no %s", path);
    return text;
}

static void expect_number(const char *path, double expected)
{
    ck_assert_msg(strtod(value(path), NULL) > expected - 1e-5 &&
                      strtod(value(path), NULL) < expected + 1e-5,
                  "%s is %s, not %g", path, value(path), expected);
}

TEST(report, json_has_figures)
{
    made_run(&made, &plans[2]);
    made.options.max_recovery_ms = 1;
    report();
    const struct chaos_verdict *verdict = made.verdict;
    ck_assert_uint_gt(verdict->overlaps, 0);
    expect_number("options.max_recovery_ms", 1);
    expect_number("figures.late_recoveries", (double)verdict->late);
    expect_number("figures.overlaps", (double)verdict->overlaps);
    expect_number("figures.lost_updates", (double)verdict->lost_updates);
    expect_number("figures.excused", (double)verdict->excused);
    expect_number("figures.holds", (double)verdict->holds);
    expect_number("figures.writes", (double)verdict->writes);
    expect_number("figures.available", verdict->available);
    expect_number("figures.recovery_ms", (double)verdict->recovery_ns / 1e6);
    expect_number("figures.hand_off.p99_ms", verdict->hand_off.p99_ms);
    expect_number("figures.wait.count", (double)verdict->wait.count);
    expect_number("verdict.exit_status", 1);
    ck_assert_str_eq(value("verdict.passed"), "false");
    ck_assert_str_eq(value("verdict.text"), verdict->text);
    ck_assert_str_eq(value("options.seed"), "3");
    ck_assert_str_eq(value("options.where"), "local");
    ck_assert_str_eq(value("options.client"), "null");
    expect_number("run.nodes", 5);
    expect_number("run.lasted_ms", 20000);
    ck_assert_str_eq(value("run.node_names.0"), "127.0.0.1:7001");
    expect_number("findings.0.at_ms", (double)verdict->finding[0].at_ns / 1e6);
    ck_assert_str_eq(value("findings.0.text"), verdict->finding[0].text);
    expect_number("faults.1.begun_ms", (double)made.fault[1].begun_ns / 1e6);
    ck_assert_str_eq(value("faults.1.kind"), chaos_fault_word(made.fault[1].kind));
    expect_number("series.every_ms", 200);
}

/* Amber, and another word, where findings are excused: by a fault, or a stall. */
TEST(report, excused_run_is_not_called_passed, .rows = 2)
{
    made_init(&made);
    made_pair(&made, 1 * SEC, 1, 0, 0);
    if (_i > 0) {
        made_asks(&made, 2 * SEC, 0, 0);
        made_holds(&made, 2100 * MS, 5 * SEC, 0, 0);
        made_asks(&made, 2 * SEC, 1, 0);
        made_holds(&made, 3 * SEC, 5 * SEC, 1, 0);
        made_fault(&made, CHAOS_FAULT_FLUSHALL, 2500 * MS, 2600 * MS, 0x1f, 0);
    }
    (void)made_check(&made);
    write_both();
    expect_sound();
    ck_assert_int_eq(made.verdict->exit_status, 0);
    ck_assert_str_eq(value("verdict.judged"), _i > 0 ? "excused" : "passed");
    ck_assert((_i > 0) == (strstr(page, "<h1>Passed</h1>") == NULL));
    ck_assert((_i > 0) == (strstr(page, "class=\"verdict nothing\"") != NULL));
}

TEST(report, missing_event_is_null)
{
    made_init(&made);
    made_fault(&made, CHAOS_FAULT_FLUSHALL, 1 * SEC, 0, 0x5, 0x2);
    made_fault(&made, CHAOS_FAULT_PAUSE, 2 * SEC, 0, 0x1, 0)->begun_ns = 0;
    report();
    expect_sound();
    ck_assert_str_eq(value("faults.0.undone_ms"), "null");
    ck_assert_str_eq(value("faults.1.begun_ms"), "null");
    ck_assert_str_eq(value("faults.0.breaks"), "keys-stay");
    ck_assert_str_eq(value("faults.1.breaks"), "null");
    ck_assert_str_eq(value("faults.0.nodes.1"), "3");
    ck_assert_str_eq(value("faults.0.clients.0"), "1");
    ck_assert_str_eq(value("run.error"), "null");
    ck_assert_ptr_nonnull(strstr(page, "not done"));
}

TEST(report, page_has_figures)
{
    made_run(&made, &plans[1]);
    made.verdict->holds = 0;
    report();
    made.verdict->holds = 1234567;
    made.verdict->overlaps = 76543;
    made.verdict->recovery_ns = 4321 * MS;
    made.verdict->available = 0.98765;
    write_both();
    ck_assert_ptr_nonnull(strstr(page, "1,234,567"));
    ck_assert_ptr_nonnull(strstr(page, "76,543"));
    ck_assert_ptr_nonnull(strstr(page, "4.32 s"));
    ck_assert_ptr_nonnull(strstr(page, "98.77 %"));
}

/* In words, and in a class that has colour; the icon differs too. */
static const struct {
    int status;
    bool self_test;
    const char *heading, *class;
} verdicts[] = {
    {0, false, "<h1>Passed</h1>", "verdict pass\""},
    {1, false, "<h1>Violation</h1>", "verdict fail\""},
    {2, false, "<h1>Nothing shown</h1>", "verdict nothing\""},
    {0, true, "<h1>Caught</h1>", "verdict pass\""},
    {2, true, "<h1>Nothing shown</h1>", "verdict nothing\""},
};

TEST(report, verdict_is_in_words, .rows = ROWS(verdicts))
{
    made_init(&made);
    report();
    made.options.self_test = verdicts[_i].self_test;
    made.verdict->exit_status = verdicts[_i].status;
    made.verdict->passed = verdicts[_i].status == 0;
    write_both();
    ck_assert_ptr_nonnull(strstr(page, verdicts[_i].heading));
    ck_assert_ptr_nonnull(strstr(page, verdicts[_i].class));
    expect_sound();
}

/* ---- the command that does it again ----------------------------------------------------- */

static const struct {
    const char *argv[8];
    const char *command;
} commands[] = {
    {{"/opt/bin/redlock-chaos", "--local", "3"}, "redlock-chaos --local 3 --seed 77"},
    {{"redlock-chaos", "--seed", "77"}, "redlock-chaos --seed 77"},
    {{"redlock-chaos", "--seed=77"}, "redlock-chaos --seed=77"},
    {{"x", "--client", "python3 a.py"}, "redlock-chaos --client 'python3 a.py' --seed 77"},
    {{"x", "it's", ""}, "redlock-chaos 'it'\\''s' '' --seed 77"},
    {{"x", "--report", "a;b"}, "redlock-chaos --report 'a;b' --seed 77"},
    {{"x"}, "redlock-chaos --seed 77"},
};

TEST(report, command_can_be_pasted, .rows = ROWS(commands))
{
    made_init(&made);
    made.options.argc = 0;
    while (commands[_i].argv[made.options.argc] != NULL)
        made.options.argc++;
    char *copy[8];
    memcpy(copy, commands[_i].argv, sizeof(copy));
    made.options.argv = copy;
    made.options.seed = 77;
    report();
    expect_sound();
    ck_assert_str_eq(value("options.command"), commands[_i].command);
    ck_assert_ptr_nonnull(strstr(page, "<code id=\"command\">redlock-chaos"));
}

TEST(report, long_command_is_cut_between_words)
{
    static char word[3000];
    memset(word, '\'', sizeof(word) - 1);
    char *arguments[] = {"x", "--first", word, word, "--last"};
    made_init(&made);
    made.options.argc = 5;
    made.options.argv = arguments;
    report();
    expect_sound();
    ck_assert_str_eq(value("options.command"), "redlock-chaos --first");
}

/* ---- text from outside ------------------------------------------------------------------ */

static const char evil[] = "</code><script>alert(\"1\")</script>&'\x01\x1b[31m\xff\xc3\xa9\\";
static const char evil_page[] = "&lt;/code&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;"
                                "&amp;&#39;\\x01\\x1b[31m\\xff\xc3\xa9";

TEST(report, text_from_outside_is_escaped)
{
    made_init(&made);
    char *arguments[] = {"x", "--client", (char *)(uintptr_t)evil};
    made.options.argc = 3;
    made.options.argv = arguments;
    made.options.client_cmd = evil;
    made.history.node_name[2] = evil;
    snprintf(made.history.server_version, sizeof(made.history.server_version), "%.23s", evil);
    snprintf(made.history.error, sizeof(made.history.error), "%s", evil);
    struct chaos_fault *fault = made_fault(&made, CHAOS_FAULT_KILL, SEC, 2 * SEC, 1, 0);
    snprintf(fault->text, sizeof(fault->text), "%s", evil);
    report();
    snprintf(made.verdict->text, sizeof(made.verdict->text), "%s", evil);
    write_both();
    expect_sound();
    ck_assert_ptr_null(strstr(page, "<script>alert"));
    size_t times = 0;
    for (const char *at = page; (at = strstr(at, evil_page)) != NULL; at++)
        times++;
    /* The title, the sentence, the client, the node, the fault in the table and the drawings.
     */
    ck_assert_uint_ge(times, 6);
    static const char *const paths[] = {"run.node_names.2", "run.error", "faults.0.text",
                                        "options.client", "verdict.text"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        ck_assert_ptr_eq(strstr(value(paths[i]), "</code><script>alert(\"1\")</script>&'\\x01"),
                         value(paths[i]));
}

/* ---- for whom can't see it, and writing ------------------------------------------------- */

static size_t count(const char *text)
{
    size_t times = 0;
    for (const char *at = page; (at = strstr(at, text)) != NULL; at++)
        times++;
    return times;
}

TEST(report, it_can_be_read_without_seeing_it)
{
    made_run(&made, &plans[2]);
    report();
    ck_assert_uint_eq(count("<h1>"), 1);
    ck_assert_uint_eq(count("<main "), 1);
    ck_assert_uint_eq(count("<th>"), 0); /* each says of what it is the head */
    ck_assert_uint_eq(count("<th "), count("scope=\""));
    ck_assert_uint_eq(count("role=\"img\" aria-labelledby"), count("role=\"img\""));
    ck_assert_uint_eq(count("<svg "), count("aria-hidden=\"true\"") + count("role=\"img\""));
    ck_assert_uint_eq(count("class=\"scroll"), count("tabindex=\"0\" role=\"region\""));
    ck_assert_uint_ge(count("<section aria-labelledby="), 7);
    ck_assert_ptr_nonnull(strstr(page, "prefers-color-scheme:dark"));
}

TEST(report, same_history_is_same_page)
{
    made_run(&made, &plans[1]);
    report();
    char *first = strdup(page), *first_json = strdup(json);
    report();
    ck_assert_str_eq(first, page);
    ck_assert_str_eq(first_json, json);
    free(first);
    free(first_json);
}

TEST(report, full_disk_is_told, .rows = 2)
{
    made_run(&made, &plans[3]);
    chaos_check(&made.history, made.verdict);
    FILE *full = fopen("/dev/full", "w");
    ck_assert_ptr_nonnull(full);
    errno = 0;
    ck_assert_int_eq(_i == 0 ? chaos_report_html(&made.history, made.verdict, full)
                             : chaos_report_json(&made.history, made.verdict, full),
                     -1);
    ck_assert_int_eq(errno, ENOSPC);
    fclose(full);
}

CASE(report, .timeout_s = 60, .tear_down = tear_down)
