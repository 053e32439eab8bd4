/* duration.h - durations with units, as people write them. Core.
 * rl_parse_duration_ms(), the short form, is declared in config.h. */
#ifndef RL_DURATION_H
#define RL_DURATION_H

#include <stddef.h>
#include <stdint.h>

/* NULL and the milliseconds, or what is wrong and what would be right: static text. */
const char *rl_duration_parse(const char *text, size_t len, int64_t *ret_ms);

/* The shortest way to write it: "7d", "1500ms", "0s". */
#define RL_DURATION_TEXT_MAX 24
void rl_duration_format(int64_t ms, char ret_text[RL_DURATION_TEXT_MAX]);

#endif
