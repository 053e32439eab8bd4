/* client_list.c - see client_list.h. */
#include "config_auto.h"

#include "redlock/client_list.h"

#include "base/client_name.h"
#include "base/text.h"

#include <string.h>

#define LINE_BYTES 512 /* a line has some 400, with a long name 560 */
#define CLIENTS_MAX (CLIENT_LIST_BYTES_MAX / LINE_BYTES)

const char *client_list_refused(int64_t clients)
{
    if (clients < 0)
        return "INFO clients does not tell how many there are";
    return clients > CLIENTS_MAX ? "it has too many clients to be asked for a list" : NULL;
}

void client_list_begin(struct client_list_ask *ask)
{
    ask->step = CLIENT_LIST_COUNT;
    rl_info_parse("", 0, &ask->info); /* nothing is known */
}

const char *client_list_next(const struct client_list_ask *ask)
{
    static const char *const requests[] = {
        [CLIENT_LIST_COUNT] = "*2\r\n$4\r\nINFO\r\n$7\r\nclients\r\n",
        [CLIENT_LIST_LINES] = CLIENT_LIST_REQUEST,
        [CLIENT_LIST_DONE] = NULL,
    };
    return requests[ask->step];
}

bool client_list_heard(struct client_list_ask *ask, const char *bytes, size_t len)
{
    if (ask->step == CLIENT_LIST_COUNT)
        rl_info_parse(bytes, len, &ask->info);
    return ask->step == CLIENT_LIST_LINES;
}

const char *client_list_answered(struct client_list_ask *ask)
{
    return ask->step++ == CLIENT_LIST_COUNT ? client_list_refused(ask->info.clients) : NULL;
}

/* The value of "key=value"; NULL: another key. */
static const char *value_of(const char *word, size_t len, const char *key, size_t *ret_len)
{
    size_t key_len = strlen(key);
    if (len < key_len || memcmp(word, key, key_len) != 0)
        return NULL;
    *ret_len = len - key_len;
    return word + key_len;
}

/* "id=3 addr=127.0.0.1:6379 name=redlock:... db=0 ...": no value of a server's has a space. */
static struct client_line read_line(const char *text, size_t len)
{
    struct client_line line = {.db = -1};
    while (len > 0) {
        const char *space = memchr(text, ' ', len), *value;
        size_t word_len = space ? (size_t)(space - text) : len, value_len;
        if (!line.name && (value = value_of(text, word_len, "name=", &value_len))) {
            line.name = value;
            line.name_len = value_len;
        } else if ((value = value_of(text, word_len, "db=", &value_len))) {
            line.db = rl_decimal(value, value_len);
        }
        size_t used = space ? word_len + 1 : word_len;
        text += used;
        len -= used;
    }
    return line;
}

void client_list_each(const char *list, size_t len, const struct rl_mask *mask,
                      void (*take)(void *context, const struct client_line *line,
                                   const struct rl_mask *mask),
                      void *context)
{
    const char *text;
    size_t text_len;
    while (rl_next_line(&list, &len, &text, &text_len)) {
        struct client_line line = read_line(text, text_len);
        if (line.name)
            take(context, &line, mask);
    }
}

/* They name themselves "sentinel-12345678-cmd". */
bool client_is_sentinel(const struct client_line *line)
{
    static const char begins[] = "sentinel-", ends[] = "-cmd";
    size_t before = sizeof(begins) - 1, behind = sizeof(ends) - 1;
    return line->name_len > before + behind && memcmp(line->name, begins, before) == 0 &&
           memcmp(line->name + line->name_len - behind, ends, behind) == 0;
}

/* Cuts ":MARK" off the end of "NAME:MARK". */
static bool cut_mark(const char *text, size_t *len, struct rl_list_mark *ret_mark)
{
    size_t at = *len;
    while (at > 0 && text[at - 1] != ':')
        at--;
    if (at == 0 || !rl_list_mark_read(text + at, *len - at, ret_mark))
        return false;
    *len = at - 1;
    return true;
}

bool client_said(const struct client_line *line, const struct rl_mask *mask,
                 struct client_said *ret_said)
{
    static const char prefix[] = RL_CONNECTION_PREFIX;
    size_t before = sizeof(prefix) - 1, behind = 1 + RL_UUID_LEN;
    if (line->name_len <= before + behind || memcmp(line->name, prefix, before) != 0 ||
        line->name[line->name_len - behind] != ':')
        return false;
    const char *text = line->name + before;
    size_t len = line->name_len - before - behind;
    *ret_said = (struct client_said){.uuid = text + len + 1};
    ret_said->marked = cut_mark(text, &len, &ret_said->mark);
    if (len == 0 || len > RL_CLIENT_NAME_MAX)
        return false;
    memcpy(ret_said->name.text, text, len);
    ret_said->name.len = rl_mask_data(mask, ret_said->name.text, len);
    return true;
}
