/* url_text.c - see url_text.h. Core. */
#include "config_auto.h"

#include "config/url_text.h"
#include "base/text.h"
#include "base/wipe.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A label: of a URL each byte may need three, and each of its hosts may get a port. */
#define LABEL_MAX (3 * RL_URL_MAX + RL_SENTINELS_MAX * 8 + 32)

/* The byte at text[*at], with *at moved behind it; -1: a '%' without two hex digits. */
static int next_byte(const char *text, size_t *at, size_t end)
{
    if (text[*at] != '%')
        return (unsigned char)text[(*at)++];
    if (end - *at < 3 || rl_hex_value(text[*at + 1]) < 0 || rl_hex_value(text[*at + 2]) < 0)
        return -1;
    int byte = rl_hex_value(text[*at + 1]) * 16 + rl_hex_value(text[*at + 2]);
    *at += 3;
    return byte;
}

static int decode_into(char *decoded, const char *text, size_t start, size_t end,
                       const struct rl_url_field *field, struct rl_problem *problem)
{
    size_t len = 0;
    for (size_t at = start; at < end;) {
        size_t byte_start = at;
        int byte = next_byte(text, &at, end);
        if (byte < 0)
            return rl_problem_set(problem, byte_start,
                                  "'%%' begins two hex digits; write %%25 for a '%%'");
        if (byte == '\0' || byte == '\r' || byte == '\n')
            return rl_problem_set(problem, byte_start, "a %s can't have NUL or newline bytes",
                                  field->name);
        if (len == field->max)
            return rl_problem_set(problem, byte_start, "a %s has at most %zu bytes",
                                  field->name, field->max);
        decoded[len++] = (char)byte;
    }
    decoded[len] = '\0';
    return 0;
}

int rl_url_decode(const char *text, size_t start, size_t end, const struct rl_url_field *field,
                  char **ret_decoded, struct rl_problem *problem)
{
    assert(start <= end);
    if (start == end)
        return 0;
    char *decoded = calloc(1, end - start + 1);
    if (!decoded)
        return rl_problem_no_memory(problem);
    int code = decode_into(decoded, text, start, end, field, problem);
    if (code < 0) {
        rl_wipe(decoded, end - start + 1);
        free(decoded);
        return code;
    }
    *ret_decoded = decoded;
    return 0;
}

void rl_path_tidy(char *path)
{
    char *to = path;
    for (const char *from = path; *from; from++) {
        bool again = from[0] == '/' && to > path && to[-1] == '/';
        if (again)
            continue;
        if (from[0] == '.' && (from[1] == '/' || from[1] == '\0') && to > path && to[-1] == '/')
            continue;
        *to++ = *from;
    }
    *to = '\0';
}

/* Append `text`, with every byte that has a meaning in URLs as %XX. */
static size_t append_encoded(char *label, size_t len, const char *text, const char *plain)
{
    static const char always[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    for (; *text; text++) {
        if (strchr(always, *text) || strchr(plain, *text))
            label[len++] = *text;
        else
            len += (size_t)snprintf(label + len, LABEL_MAX - len, "%%%02X",
                                    (unsigned)(unsigned char)*text);
        assert(len + 3 < LABEL_MAX);
    }
    label[len] = '\0';
    return len;
}

static size_t append(char *label, size_t len, const char *text)
{
    size_t text_len = strlen(text);
    assert(len + text_len < LABEL_MAX);
    memcpy(label + len, text, text_len + 1);
    return len + text_len;
}

static size_t append_address(char *label, size_t len, const char *host, int port)
{
    bool brackets = strchr(host, ':') != NULL;
    len = append(label, len, brackets ? "[" : "");
    len = append_encoded(label, len, host, ":");
    len = append(label, len, brackets ? "]" : "");
    return len + (size_t)snprintf(label + len, LABEL_MAX - len, ":%d", port);
}

static size_t append_sentinels(char *label, size_t len, const struct rl_node_config *node)
{
    for (unsigned i = 0; i < node->sentinel_count; i++) {
        len = append(label, len, i > 0 ? "," : "");
        len = append_address(label, len, node->sentinel[i].host, node->sentinel[i].port);
    }
    len = append(label, len, "/");
    return append(label, len, node->service);
}

int rl_url_label(struct rl_node_config *node, struct rl_problem *problem)
{
    static const char *const schemes[] = {
        [RL_TCP] = "redis", [RL_TLS] = "rediss", [RL_UNIX] = "unix"};

    char label[LABEL_MAX];
    size_t len = append(label, 0, schemes[node->transport]);
    len = append(label, len, node->service ? "+sentinel://" : "://");
    if (node->user) {
        len = append_encoded(label, len, node->user, "");
        len = append(label, len, "@");
    }
    if (node->transport == RL_UNIX) {
        len = append_encoded(label, len, node->path, "/:@");
    } else if (node->service) {
        len = append_sentinels(label, len, node);
    } else {
        len = append_address(label, len, node->host, node->port);
    }
    if (node->db != 0)
        len += (size_t)snprintf(label + len, LABEL_MAX - len, "%s%d",
                                node->transport == RL_UNIX ? "?db=" : "/", node->db);
    assert(len < LABEL_MAX);
    node->label = rl_copy(label, strlen(label));
    return node->label ? 0 : rl_problem_no_memory(problem);
}
