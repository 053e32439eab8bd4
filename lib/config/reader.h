/* reader.h - a node list that is being read: its words, values, and errors with their place.
 * Core. Messages name the place of an error. Messages never repeat the text there, because that
 * text might be a password in the wrong place.
 */
#ifndef RL_READER_H
#define RL_READER_H

#include "base/diagnostic.h"
#include "config/config.h"

/* One line, or a whole list in words: the next byte is line[at]. */
struct rl_reader {
    struct rl_config *config;
    rl_env_fn *env; /* NULL: ${NAME} is nothing special */
    redlock_error *error;
    bool in_words; /* newlines are blanks, and there are no comments */
    int number;
    const char *line;
    size_t len;
    size_t at;
};

/* A part of the line. */
struct rl_slice {
    size_t at;
    size_t len;
};

/* A value, with its variables replaced. */
struct rl_value {
    struct rl_slice place;
    char *made; /* NULL: no variable stands in it */
    const char *text;
    size_t len;
};

/* Both return the code. The second reports the error of a value's parser. */
int rl_reader_fail(struct rl_reader *reader, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int rl_reader_fail_at(struct rl_reader *reader, int code, size_t at,
                      const struct rl_problem *problem);
int rl_reader_fail_value(struct rl_reader *reader, int code, const struct rl_value *value,
                         const struct rl_problem *problem);

/* An error that lists the valid names, or the one that was probably meant. */
int rl_reader_unknown(struct rl_reader *reader, struct rl_slice word, const char *what,
                      const char *const *names, size_t count, const char *suffix);

/* Go to the next word: false at the end, or where a comment begins. */
bool rl_reader_find_word(struct rl_reader *reader);

/* Up to a blank, `stop`, or the end. */
struct rl_slice rl_reader_until(struct rl_reader *reader, char stop);

/* A value with or without quotes. To be freed if this is 0. */
int rl_reader_value(struct rl_reader *reader, bool is_url, struct rl_value *ret_value);
void rl_value_free(struct rl_value *value);

/* Have `read` read the list, which `file` names in messages. After an error the config is as it
 * was freed. */
int rl_reader_read(struct rl_reader *reader, const char *file, const char *text, size_t len,
                   int (*read)(struct rl_reader *reader, const char *text, size_t len));

/* Every byte is text, and no line is too long. */
int rl_reader_check(struct rl_reader *reader);

#endif
