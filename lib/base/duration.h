/* duration.h - durations with units, as people write them. Core. */
#ifndef RL_DURATION_H
#define RL_DURATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NULL and the milliseconds, or what is wrong and what would be right: static text. */
const char *rl_duration_parse(const char *text, size_t len, int64_t *ret_ms);

/* "250ms", "30s", "5m", "2h", "1d"; a bare number is refused (which unit?) but for 0.
 * False: not a duration, or over RL_DURATION_MAX_MS. For the tools' options as well. */
bool rl_parse_duration_ms(const char *text, size_t len, int64_t *ret_ms);

/* The shortest way to write it: "7d", "1500ms", "0s". */
#define RL_DURATION_TEXT_MAX 24
void rl_duration_format(int64_t ms, char ret_text[RL_DURATION_TEXT_MAX]);

/* Rounded, for people: "310ms", "4.1s", "3h12m". As long at most. */
void rl_duration_about(int64_t ms, char ret_text[RL_DURATION_TEXT_MAX]);

#endif
