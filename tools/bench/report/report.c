/* report.c - prints the figures of a run. */
#include "config_auto.h"

#include "bench/report/report.h"

#include "bench/report/compare.h"
#include "bench/report/draw.h"

#include <redlock.h>

#include <assert.h>
#include <string.h>

#define RATIOS_MAX 100

void bench_add(struct bench_report *report, const char *scenario, const char *what,
               const char *of, const char *unit, struct bench_summary summary)
{
    if (summary.count == 0)
        return;
    assert(report->figures < BENCH_FIGURES_MAX);
    struct bench_figure *figure = &report->figure[report->figures++];
    *figure =
        (struct bench_figure){.scenario = scenario, .of = of, .unit = unit, .summary = summary};
    snprintf(figure->what, sizeof(figure->what), "%s", what);
}

void bench_add_ratio(struct bench_report *report, const char *scenario, const char *what,
                     const char *of, const double *above, const double *below, size_t rounds)
{
    double ratio[RATIOS_MAX];
    assert(rounds <= RATIOS_MAX);
    for (size_t i = 0; i < rounds; i++)
        ratio[i] = below[i] > 0 ? above[i] / below[i] : 0;
    bench_add(report, scenario, what, of, "ratio", bench_summarise(ratio, rounds));
}

/* Counts are neither times nor parts of something measured, so even a quick run judges them. */
static bool is_count(const char *unit)
{
    static const char *const counts[] = {"locks", "times", "calls", "tries", "rounds", "pairs"};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        if (strcmp(unit, counts[i]) == 0)
            return true;
    return false;
}

static struct bench_figure *last(struct bench_report *report)
{
    assert(report->figures > 0);
    return &report->figure[report->figures - 1];
}

void bench_of_samples(struct bench_report *report, size_t samples)
{
    last(report)->samples = samples;
}

void bench_aim(struct bench_report *report, enum bench_aim aim, double bound)
{
    struct bench_figure *figure = last(report);
    bool few = figure->samples > 0 && figure->samples < BENCH_P99_SAMPLES &&
               strstr(figure->what, "p99") != NULL;
    if (few || (report->quick && !is_count(figure->unit)))
        return;
    figure->aim = aim;
    figure->bound = bound;
}

void bench_add_failed_pairs(struct bench_report *report, const char *scenario,
                            const char *prefix, const char *of, double failures)
{
    char what[56];
    if (failures == 0)
        return;
    snprintf(what, sizeof(what), "%sfailed pairs", prefix);
    bench_add(report, scenario, what, of, "pairs", bench_summary_of(failures));
    bench_aim(report, BENCH_AT_MOST, 0);
}

void bench_note(struct bench_report *report, const char *text)
{
    if (report->notes < BENCH_NOTES_MAX)
        snprintf(report->note[report->notes++], sizeof(report->note[0]), "%s", text);
}

bool bench_met(const struct bench_figure *figure)
{
    if (figure->aim == BENCH_AT_LEAST)
        return figure->summary.median >= figure->bound;
    if (figure->aim == BENCH_AT_MOST)
        return figure->summary.median <= figure->bound;
    return true;
}

/* A number in 9 columns: with as many decimals as are worth reading. */
static void print_number(FILE *out, double value)
{
    double size = value < 0 ? -value : value;
    int decimals = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3;
    fprintf(out, " %9.*f", decimals, value);
}

void bench_print_table(const struct bench_report *report, const struct bench_setting *setting,
                       FILE *out)
{
    const char *scenario = "";
    fprintf(out, "redlock-bench %s: %u masters (%s, %s), %u rounds of %lld ms a subject%s\n",
            REDLOCK_VERSION, setting->nodes, setting->masters, setting->transport,
            setting->rounds, (long long)setting->slice_ms,
            setting->pinned ? ", all on one CPU" : "");
    fprintf(out, "%s%s%s, %ld CPUs, load %.2f before and %.2f after\n", setting->machine.system,
            *setting->machine.cpu ? ", " : "", setting->machine.cpu, setting->machine.cpus,
            setting->machine.load, bench_machine_load());
    for (size_t i = 0; i < report->figures; i++) {
        const struct bench_figure *figure = &report->figure[i];
        if (strcmp(scenario, figure->scenario) != 0) {
            scenario = figure->scenario;
            fprintf(out, "\n%-61s %-7s %9s %9s %9s\n", scenario, "unit", "median", "min",
                    "max");
        }
        fprintf(out, "  %-41s %-18s %-7s", figure->what, figure->of, figure->unit);
        print_number(out, figure->summary.median);
        print_number(out, figure->summary.min);
        print_number(out, figure->summary.max);
        if (figure->aim != BENCH_NO_AIM)
            fprintf(out, "  %s %s %g", bench_met(figure) ? "MET:" : "MISSED:",
                    figure->aim == BENCH_AT_LEAST ? ">=" : "<=", figure->bound);
        fputc('\n', out);
    }
    bench_compare_print(setting->olds, report, out);
    fputc('\n', out);
    bench_draw_text(report, out);
    for (size_t i = 0; i < report->notes; i++)
        fprintf(out, "note: %s\n", report->note[i]);
    fprintf(out, "took %.1f s\n", (double)(bench_now_ns() - report->started_ns) / 1e9);
}

static void print_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20 || c >= 0x7f)
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

static void print_pair(FILE *out, const char *name, const char *text)
{
    fprintf(out, "\"%s\": ", name);
    print_string(out, text);
    fputs(", ", out);
}

static void print_figure(FILE *out, const struct bench_figure *figure,
                         const struct bench_old *old)
{
    fputs("{", out);
    print_pair(out, "scenario", figure->scenario);
    print_pair(out, "what", figure->what);
    print_pair(out, "of", figure->of);
    print_pair(out, "unit", figure->unit);
    fprintf(out, "\"median\": %.6g, \"min\": %.6g, \"max\": %.6g, \"rounds\": %zu",
            figure->summary.median, figure->summary.min, figure->summary.max,
            figure->summary.count);
    if (figure->samples > 0)
        fprintf(out, ", \"samples\": %zu", figure->samples);
    if (old != NULL)
        fprintf(out, ", \"old_median\": %.6g, \"differs\": %s", old->median,
                bench_compare_differs(old, &figure->summary) ? "true" : "false");
    if (strcmp(figure->unit, "ratio") == 0)
        fprintf(out, ", \"ratio\": %.6g", figure->summary.median);
    if (figure->aim != BENCH_NO_AIM)
        fprintf(out, ", \"%s\": %.6g, \"met\": %s",
                figure->aim == BENCH_AT_LEAST ? "at_least" : "at_most", figure->bound,
                bench_met(figure) ? "true" : "false");
    fputs("}", out);
}

void bench_print_json(const struct bench_report *report, const struct bench_setting *setting,
                      FILE *out)
{
    fputs("{", out);
    print_pair(out, "program", "redlock-bench");
    print_pair(out, "version", redlock_version());
    print_pair(out, "source", setting->machine.source);
    print_pair(out, "masters", setting->masters);
    print_pair(out, "transport", setting->transport);
    fprintf(out, "\"nodes\": %u, \"rounds\": %u, \"slice_ms\": %lld, \"pinned\": %s, ",
            setting->nodes, setting->rounds, (long long)setting->slice_ms,
            setting->pinned ? "true" : "false");
    print_pair(out, "system", setting->machine.system);
    print_pair(out, "cpu", setting->machine.cpu);
    fprintf(out, "\"cpus\": %ld, \"load_before\": %.2f, \"load_after\": %.2f, ",
            setting->machine.cpus, setting->machine.load, bench_machine_load());
    if (setting->olds->path != NULL)
        print_pair(out, "compared_with", setting->olds->path);
    fprintf(out, "\"seconds\": %.3f,\n \"figures\": [",
            (double)(bench_now_ns() - report->started_ns) / 1e9);
    for (size_t i = 0; i < report->figures; i++) {
        fputs(i == 0 ? "\n  " : ",\n  ", out);
        print_figure(out, &report->figure[i],
                     bench_compare_find(setting->olds, &report->figure[i]));
    }
    fputs("\n ],\n ", out);
    bench_draw_json(report, out);
    fputs("\"notes\": [", out);
    for (size_t i = 0; i < report->notes; i++) {
        fputs(i == 0 ? "\n  " : ",\n  ", out);
        print_string(out, report->note[i]);
    }
    fputs("\n ]}\n", out);
}
