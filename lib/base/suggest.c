/* suggest.c - see suggest.h. Core. */
#include "config_auto.h"

#include "base/suggest.h"

#include "base/text.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#define WORD_MAX 32

static char folded(char letter)
{
    return letter == '_' ? '-' : rl_lower(letter);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edits (one letter added, dropped or changed) from one word to the other: Levenshtein's
 * distance, a row of its table at a time. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    assert(a_len <= WORD_MAX && b_len <= WORD_MAX);
    size_t row[WORD_MAX + 1];
    for (size_t j = 0; j <= b_len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t changed = diagonal + (folded(a[i - 1]) == folded(b[j - 1]) ? 0 : 1);
            diagonal = row[j];
            row[j] = least(changed, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[b_len];
}

/* Is it the first words of the name, as "password" is of "password-file"? */
static bool begins(const char *name, size_t name_len, const char *word, size_t len)
{
    return len > 0 && len < name_len && name[len] == '-' && distance(name, len, word, len) == 0;
}

int rl_nearest(const char *const *names, size_t count, const char *word, size_t len)
{
    int nearest = -1;
    size_t nearest_distance = WORD_MAX;
    for (size_t i = 0; i < count; i++) {
        size_t name_len = strlen(names[i]);
        if (len > WORD_MAX || name_len > WORD_MAX)
            continue;
        size_t edits = distance(names[i], name_len, word, len);
        if (edits == 0)
            return (int)i;
        if (begins(names[i], name_len, word, len))
            edits = 0;
        if (edits * 3 <= name_len && edits < nearest_distance) {
            nearest = (int)i;
            nearest_distance = edits;
        }
    }
    return nearest;
}
