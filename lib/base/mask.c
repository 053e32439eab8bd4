/* mask.c - see mask.h. Core. */
#include "config_auto.h"

#include "base/mask.h"

#include "base/text.h"
#include "base/wipe.h"

#include <assert.h>
#include <string.h>

#define PART_MIN 4 /* a server may repeat a part: so many bytes are masked, too */
#define STARS_MAX 3

/* How a server may write what it was sent. */
enum form { RAW, BACKSLASH, PERCENT, FORMS };

void rl_mask_set(struct rl_mask *mask, const char *user, const char *password,
                 size_t password_len)
{
    size_t user_len = user ? strlen(user) : 0;
    assert(user_len <= sizeof(mask->user) && password_len <= sizeof(mask->password));
    rl_mask_wipe(mask);
    if (user_len > 0)
        memcpy(mask->user, user, user_len);
    memcpy(mask->password, password, password_len);
    mask->user_len = user_len;
    mask->password_len = password_len;
}

void rl_mask_wipe(struct rl_mask *mask)
{
    if (mask->user_len > 0 || mask->password_len > 0)
        rl_wipe(mask, sizeof(*mask));
}

static bool is_hex_pair(const char *text)
{
    return rl_hex_value(text[0]) >= 0 && rl_hex_value(text[1]) >= 0;
}

static char hex_pair(const char *text)
{
    return (char)(rl_hex_value(text[0]) << 4 | rl_hex_value(text[1]));
}

/* The byte that a letter behind a backslash stands for. */
static char unescaped(char letter)
{
    static const char letters[] = "nrtab", meant[] = "\n\r\t\a\b";
    const char *at = letter ? strchr(letters, letter) : NULL;
    return at ? meant[at - letters] : letter;
}

/* The byte that `text` begins with in that form; how many bytes of text it takes. */
static size_t next_byte(enum form form, const char *text, size_t len, char *ret_byte)
{
    *ret_byte = text[0];
    if (form == PERCENT && text[0] == '%' && len >= 3 && is_hex_pair(text + 1)) {
        *ret_byte = hex_pair(text + 1);
        return 3;
    }
    if (form != BACKSLASH || text[0] != '\\' || len < 2)
        return 1;
    if (text[1] == 'x' && len >= 4 && is_hex_pair(text + 2)) {
        *ret_byte = hex_pair(text + 2);
        return 4;
    }
    *ret_byte = unescaped(text[1]);
    return 2;
}

/* How much of a secret the text begins with in that form, and how much of the text that is. */
static size_t same_bytes(const char *secret, size_t secret_len, enum form form,
                         const char *text, size_t len, size_t *ret_used)
{
    size_t same = 0, used = 0;
    while (same < secret_len && used < len) {
        char byte;
        size_t step = next_byte(form, text + used, len - used, &byte);
        if (byte != secret[same])
            break;
        used += step;
        same++;
    }
    *ret_used = used;
    return same;
}

/* How much of the text, from its beginning, is the password or a part that counts. */
static size_t password_at(const struct rl_mask *mask, const char *text, size_t len, bool cut)
{
    size_t most = 0;
    for (enum form form = RAW; form < FORMS; form++) {
        size_t used;
        size_t same = same_bytes(mask->password, mask->password_len, form, text, len, &used);
        bool found = same == mask->password_len || same >= PART_MIN || (cut && used == len);
        if (same > 0 && found && used > most)
            most = used;
    }
    return most;
}

static bool is_word_byte(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z') || byte == '_' || byte == '-' ||
           (unsigned char)byte >= 0x80;
}

/* The same of the user, whole and as a word: "lock" is not to be blanked out of "locked". */
static size_t user_at(const struct rl_mask *mask, const char *text, size_t at, size_t len)
{
    if (mask->user_len == 0 || (at > 0 && is_word_byte(text[at - 1])))
        return 0;
    for (enum form form = RAW; form < FORMS; form++) {
        size_t used;
        size_t same = same_bytes(mask->user, mask->user_len, form, text + at, len - at, &used);
        if (same == mask->user_len && (at + used == len || !is_word_byte(text[at + used])))
            return used;
    }
    return 0;
}

static size_t blank(const struct rl_mask *mask, char *text, size_t len, bool users, bool cut)
{
    size_t kept = 0, at = 0;
    if (mask->password_len == 0)
        return len;
    /* What stands before `at` is overwritten only up to `kept`, which is never more. */
    while (at < len) {
        size_t used = password_at(mask, text + at, len - at, cut);
        size_t user = users ? user_at(mask, text, at, len) : 0;
        if (user > used)
            used = user;
        if (used == 0) {
            text[kept++] = text[at++];
            continue;
        }
        for (size_t i = 0; i < used && i < STARS_MAX; i++)
            text[kept++] = '*';
        at += used;
    }
    assert(kept <= len);
    return kept;
}

size_t rl_mask_text(const struct rl_mask *mask, char *text, size_t len, bool cut)
{
    return blank(mask, text, len, true, cut);
}

size_t rl_mask_data(const struct rl_mask *mask, char *bytes, size_t len)
{
    return blank(mask, bytes, len, false, false);
}

void rl_mask_field(const struct rl_mask *mask, char *field)
{
    field[rl_mask_data(mask, field, strlen(field))] = '\0';
}
