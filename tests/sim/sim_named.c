/* sim_named.c - see sim_named.h: plays scenarios, and holds their stories against those in
 * tests/sim/golden.
 *
 * A story is told in the order in which things happen, with milliseconds in front.
 * Tokens are random: the story names them by the order in which they come up, "token 1". */
#include "config_auto.h"

#include "sim_judge.h"
#include "sim_named_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    STORY_MAX = 128 * 1024,
    TOKENS_MAX = 64,
    TOKEN_SHOWN = 8,
    TOKEN_LEN = 32,
    PATH_LEN_MAX = 4096
};

#define KEPT "redlock:next:"
#define QUIET_NS (100 * SIM_S) /* after it every key must have gone */

static struct {
    char text[STORY_MAX];
    size_t len;
    bool told;      /* the curtain is up */
    unsigned seeds; /* to be played with, as well */
    int64_t from_ns;
    unsigned failures;
    char token[TOKENS_MAX][TOKEN_SHOWN + 1];
    unsigned tokens;
} story;

/* ---- the story ------------------------------------------------------------------------ */

static void put(const char *text, size_t len)
{
    if (len > sizeof(story.text) - 1 - story.len)
        len = sizeof(story.text) - 1 - story.len;
    memcpy(story.text + story.len, text, len);
    story.len += len;
    story.text[story.len] = '\0';
}

static void put_text(const char *text)
{
    put(text, strlen(text));
}

static unsigned token_number(const char *digits)
{
    unsigned i = 0;
    while (i < story.tokens && strncmp(story.token[i], digits, TOKEN_SHOWN) != 0)
        i++;
    if (i == story.tokens && story.tokens < TOKENS_MAX) {
        memcpy(story.token[i], digits, TOKEN_SHOWN);
        story.tokens++;
    }
    return i + 1;
}

/* Of a token, 32 digits, a colon and who it is, or its first digits in brackets: how long it
 * is; 0: there is none here. */
static size_t token_len(const char *text, const char *at)
{
    size_t digits = strspn(at, "0123456789abcdef");
    if (at == text)
        return 0;
    if (at[-1] == '(' && digits == TOKEN_SHOWN && at[digits] == ')')
        return digits;
    if (at[-1] == ' ' && digits == TOKEN_LEN && at[digits] == ':')
        return strcspn(at, " ");
    return 0;
}

static void put_time(void)
{
    char text[32];
    int64_t us = (sim_now_ns() - story.from_ns) / SIM_US;
    snprintf(text, sizeof(text), "%8lld.%03lld  ", (long long)(us / 1000),
             (long long)(us % 1000));
    put_text(text);
}

/* The line begins with the time since the world began; the story's begins at the curtain. Of
 * messages it tells what they say, and not how many bytes they are. */
static void take_line(void *context, const char *line)
{
    char name[24];
    const char *whole = line;
    (void)context;
    /* The ghost of a process that was killed has nothing to say. */
    if (!story.told || (sim_proc() && sim_proc()->crashed) || strstr(line, "bytes arrive") ||
        strstr(line, " logs (debug): "))
        return;
    put_time();
    line += strspn(line, " 0123456789.");
    while (*line) {
        size_t len = token_len(whole, line), kept = strncmp(line, KEPT, strlen(KEPT)) ? 0 : 1;
        if (len > 0) {
            snprintf(name, sizeof(name), "token %u", token_number(line));
            put_text(name);
            line += len;
        } else if (kept) {
            put_text("kept for a waiter");
            line += strcspn(line, " ");
        } else {
            put(line++, 1);
        }
    }
    put_text("\n");
}

void sim_curtain(void)
{
    story.told = true;
    story.from_ns = sim_now_ns();
    sim_forget_takes();
}

void sim_also_drawn(unsigned seeds)
{
    story.seeds = seeds;
}

void sim_expect_that(bool what, const char *text)
{
    if (what)
        return;
    story.failures++;
    sim_tell("NOT AS EXPECTED: %s", text);
    printf("  not as expected: %s\n", text);
}

void sim_expect_costs(enum sim_oracle oracle, bool some)
{
    if ((sim_verdict()->costs[oracle] > 0) != some) {
        story.failures++;
        printf("  not as expected: %s %s\n", some ? "no cost in" : "a cost in",
               sim_oracle_name(oracle));
    }
}

/* ---- golden files --------------------------------------------------------------------- */

static void golden_path(const struct sim_scenario *scenario, char ret_path[PATH_LEN_MAX])
{
    const char *root = getenv("srcdir");
    if (!root) /* started by hand: where the sources are, or in a directory beside them */
        root = access("tests/sim/golden", F_OK) == 0 ? "." : "..";
    snprintf(ret_path, PATH_LEN_MAX, "%s/tests/sim/golden/%s.txt", root, scenario->name);
}

static bool update_golden(const char *path)
{
    FILE *file = fopen(path, "w");
    bool good = file && fwrite(story.text, 1, story.len, file) == story.len;
    if (file && fclose(file) != 0)
        good = false;
    if (!good)
        printf("  can't write %s\n", path);
    return good;
}

/* The first line in which the two differ. */
static void show_difference(const char *golden, const char *told)
{
    unsigned line = 1;
    size_t at = 0, begin = 0;
    for (; golden[at] && golden[at] == told[at]; at++) {
        if (golden[at] == '\n') {
            begin = at + 1;
            line++;
        }
    }
    printf("  the story differs in line %u\n  golden: %.*s\n  told:   %.*s\n", line,
           (int)strcspn(golden + begin, "\n"), golden + begin, (int)strcspn(told + begin, "\n"),
           told + begin);
}

static bool compare_golden(const char *path)
{
    static char golden[STORY_MAX];
    FILE *file = fopen(path, "r");
    if (!file) {
        printf("  there is no %s: sim --named NAME --update writes it\n", path);
        return false;
    }
    size_t len = fread(golden, 1, sizeof(golden) - 1, file);
    fclose(file);
    golden[len] = '\0';
    if (strcmp(golden, story.text) == 0)
        return true;
    show_difference(golden, story.text);
    return false;
}

/* ---- playing -------------------------------------------------------------------------- */

static void put_head(const struct sim_scenario *scenario)
{
    put_text(scenario->name);
    put_text("\n\n");
    put_text(scenario->about);
    put_text("\n\n");
}

/* What is said of it in the end, also to who counts. */
static void put_end(void)
{
    const struct sim_verdict *verdict = sim_verdict();
    char line[128];
    put_text("\n");
    for (unsigned i = 0; i < SIM_ORACLES; i++) {
        if (!verdict->violations[i] && !verdict->costs[i])
            continue;
        snprintf(line, sizeof(line), "%s: %u violations, %u after an assumption was broken\n",
                 sim_oracle_name(i), verdict->violations[i], verdict->costs[i]);
        put_text(line);
    }
    if (!sim_violated())
        put_text("No rule was broken.\n");
}

/* True: as expected, and nothing was violated. */
static bool play(const struct sim_scenario *scenario, uint64_t seed)
{
    memset(&story, 0, sizeof(story));
    put_head(scenario);
    /* Without a seed nothing is drawn but the clients' random bytes: there is one story. */
    if (seed == 0)
        sim_odometer_first();
    sim_begin(seed);
    sim_oracle_begin();
    sim_tell_to(take_line, NULL);
    scenario->play();
    story.told = false;
    sim_all_leave();
    sim_run_until(sim_now_ns() + QUIET_NS);
    sim_look_for_orphans();
    put_end();
    if (sim_violated())
        printf("  violation: %s\n", sim_verdict()->text);
    bool good = !sim_violated() && story.failures == 0;
    sim_tell_to(NULL, NULL);
    sim_procs_end();
    sim_masters_end();
    sim_oracle_end();
    sim_end();
    if (seed == 0)
        sim_odometer_next();
    return good;
}

static bool run_one(const struct sim_scenario *scenario, bool update, bool show)
{
    char path[PATH_LEN_MAX];
    golden_path(scenario, path);
    bool good = play(scenario, 0);
    unsigned seeds = story.seeds;
    for (uint64_t seed = 1; seed <= seeds && good; seed++)
        good = play(scenario, seed);
    if (seeds > 0 && good)
        play(scenario, 0);
    if (show)
        fputs(story.text, stdout);
    if (update)
        good = good && update_golden(path);
    else
        good = compare_golden(path) && good;
    printf("%s %s\n", good ? "ok  " : "FAIL", scenario->name);
    return good;
}

static const struct sim_scenario *const all[] = {
    sim_named_take,   sim_named_undo,   sim_named_keep,   sim_named_wait,    sim_named_fault,
    sim_named_fit,    sim_named_shared, sim_named_nested, sim_named_several, sim_named_fair,
    sim_named_rw,     sim_named_loss,   sim_named_links,  sim_named_native,  sim_named_detach,
    sim_named_lazy,   sim_named_absent, sim_named_clock,  sim_named_fence,   sim_named_follow,
    sim_named_marker, sim_named_watch, sim_named_members, sim_named_back,
    sim_named_two,    sim_named_line,   sim_named_kept,   sim_named_failover,
};

int sim_named_run(const char *name, bool update, bool show)
{
    unsigned played = 0, failed = 0;
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        for (const struct sim_scenario *scenario = all[i]; scenario->name; scenario++) {
            if (name && strcmp(name, scenario->name) != 0)
                continue;
            played++;
            failed += !run_one(scenario, update, show);
        }
    }
    if (played == 0)
        printf("there is no scenario %s\n", name ? name : "");
    else if (!name)
        printf("%u scenarios, %u failed\n", played, failed);
    return failed > 0 || played == 0;
}

void sim_named_list(void)
{
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        for (const struct sim_scenario *scenario = all[i]; scenario->name; scenario++)
            printf("%-32s %s\n", scenario->name, scenario->about);
    }
}
