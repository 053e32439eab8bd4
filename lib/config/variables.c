/* variables.c - see variables.h. Core. */
#include "config_auto.h"

#include "base/text.h"
#include "base/wipe.h"
#include "config/variables.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 128

/* The text in the making: RL_LINE_MAX bytes at most. */
struct out {
    char *text;
    size_t len;
    bool is_full; /* more was to be written */
};

static bool is_letter(char letter)
{
    char lower = rl_lower(letter);
    return (lower >= 'a' && lower <= 'z') || letter == '_';
}

static bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

/* Where the next "${" stands; `len` if there is none. */
static size_t find_variable(const char *word, size_t at, size_t len)
{
    const char *sign = at < len ? memmem(word + at, len - at, "${", 2) : NULL;
    return sign ? (size_t)(sign - word) : len;
}

/* The name behind "${" at `at`, which ends with the '}' at *ret_end. */
static int read_name(const char *word, size_t at, size_t len, char name[NAME_MAX_BYTES + 1],
                     size_t *ret_end, struct rl_problem *problem)
{
    size_t start = at + 2;
    size_t end = start;
    while (end < len && (is_letter(word[end]) || (end > start && is_digit(word[end]))))
        end++;
    if (end == start || end - start > NAME_MAX_BYTES || end == len || word[end] != '}')
        return rl_problem_set(problem, at,
                              "no variable; write ${NAME}, of at most %d letters, digits and "
                              "'_', or %%24{ for a \"${\" in a URL",
                              NAME_MAX_BYTES);
    memcpy(name, word + start, end - start);
    name[end - start] = '\0';
    *ret_end = end;
    return 0;
}

/* What a value stands in: a word that is no URL, or a part of one. */
enum place { IN_TEXT, IN_USER, IN_ADDRESS, IN_PATH };

/* Bytes of a value that mean nothing in this part of a URL: those of names and numbers, and
 * behind the '@' those of an address and its port, or of a path. */
static bool is_plain(char byte, enum place place)
{
    return place == IN_TEXT || is_letter(byte) || is_digit(byte) || strchr("-.~", byte) ||
           (place == IN_ADDRESS && strchr(":[],", byte)) || (place == IN_PATH && byte == '/');
}

static void put(struct out *out, const char *bytes, size_t len)
{
    if (out->is_full || len > RL_LINE_MAX - out->len) {
        out->is_full = true;
        return;
    }
    memcpy(out->text + out->len, bytes, len);
    out->len += len;
}

static void put_value(struct out *out, const char *value, enum place place)
{
    for (; *value; value++) {
        char escaped[4];
        if (is_plain(*value, place)) {
            put(out, value, 1);
            continue;
        }
        snprintf(escaped, sizeof(escaped), "%%%02X", (unsigned)(unsigned char)*value);
        put(out, escaped, 3);
    }
}

static int replace(const char *word, size_t len, bool is_url, rl_env_fn *env, struct out *out,
                   struct rl_problem *problem)
{
    const char *sign = memrchr(word, '@', len);
    size_t user_end = sign ? (size_t)(sign - word) : 0;
    bool is_path = len > 7 && memcmp(word, "unix://", 7) == 0;
    size_t at = 0;
    while (at < len) {
        size_t variable = find_variable(word, at, len);
        put(out, word + at, variable - at);
        if (variable == len)
            break;
        char name[NAME_MAX_BYTES + 1];
        size_t end = 0;
        int code = read_name(word, variable, len, name, &end, problem);
        if (code < 0)
            return code;
        const char *value = env(name);
        if (!value)
            return rl_problem_set(problem, variable,
                                  "this variable is not set; set it in the environment of the "
                                  "program that reads this list");
        bool whole = variable == 0 && end + 1 == len;
        put_value(out, value,
                  !is_url || whole      ? IN_TEXT
                  : variable < user_end ? IN_USER
                  : is_path             ? IN_PATH
                                        : IN_ADDRESS);
        at = end + 1;
    }
    return 0;
}

int rl_variables_replace(const char *word, size_t len, bool is_url, rl_env_fn *env,
                         char **ret_text, struct rl_problem *problem)
{
    assert((word || len == 0) && env);
    *ret_text = NULL;
    if (len == 0 || find_variable(word, 0, len) == len)
        return 0;
    struct out out = {.text = malloc(RL_LINE_MAX + 1)};
    if (!out.text)
        return rl_problem_no_memory(problem);
    int code = replace(word, len, is_url, env, &out, problem);
    if (code == 0 && out.is_full)
        code = rl_problem_set(problem, 0,
                              "too long with the values of its variables; at most %d bytes",
                              RL_LINE_MAX);
    out.text[out.len] = '\0';
    if (code < 0)
        rl_wipe_free(out.text);
    else
        *ret_text = out.text;
    return code;
}
