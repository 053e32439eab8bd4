/* format.h - text in the reports: from outside made harmless, and numbers made readable. */
#ifndef CHAOS_FORMAT_H
#define CHAOS_FORMAT_H

#include "chaos/chaos.h"

/* As text of HTML, also inside quotes; control characters and broken UTF-8 become \xHH. */
void chaos_html_put(FILE *to, const char *text);

/* As a string of JSON with its quotes. */
void chaos_json_put(FILE *to, const char *text);

/* "840 us", "12.3 ms", "4.56 s", "2 min 05 s". */
enum { CHAOS_SPAN_MAX = 24 };
const char *chaos_span(int64_t ns, char ret_text[CHAOS_SPAN_MAX]);

/* "1,234,567" */
enum { CHAOS_COUNT_MAX = 32 };
const char *chaos_count(uint64_t count, char ret_text[CHAOS_COUNT_MAX]);

/* "2026-11-20 16:54 UTC" */
enum { CHAOS_DATE_MAX = 32 };
const char *chaos_date(int64_t unix_s, char ret_text[CHAOS_DATE_MAX]);

/* The command that does the run again: arguments as a shell takes them, and the seed where
 * they don't name one. Cut where it does not fit. */
enum { CHAOS_COMMAND_MAX = 4096 };
void chaos_command(const struct chaos_options *options, char ret_text[CHAOS_COMMAND_MAX]);

/* "node 1, 3", "all nodes", "": the members of a set, out of the given number. The first member
 * has the given number. */
enum { CHAOS_MEMBERS_MAX = 260 };
const char *chaos_members(const char *what, unsigned first, uint64_t members, unsigned all,
                          char ret_text[CHAOS_MEMBERS_MAX]);

/* The result of a run, in a word: "passed", "excused" (all findings are), "violation",
 * "nothing", "caught". */
enum chaos_judged {
    CHAOS_PASSED,
    CHAOS_EXCUSED,
    CHAOS_VIOLATION,
    CHAOS_NOTHING,
    CHAOS_CAUGHT,
};
enum chaos_judged chaos_judged(const struct chaos_history *history,
                               const struct chaos_verdict *verdict);
const char *chaos_judged_word(enum chaos_judged judged);

const char *chaos_assumption_text(enum chaos_assumption assumption);
const char *chaos_finding_word(const struct chaos_finding *finding);

#endif
