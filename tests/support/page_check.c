/* page_check.c - see page_check.h. */
#include "config_auto.h"

#include "page_check.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64
#define NAME_SIZE 64
#define IDS_MAX 8192

struct ids {
    char (*id)[NAME_SIZE];
    size_t count;
};

struct check {
    const char *at, *end;
    char open[DEPTH_MAX][NAME_SIZE];
    size_t depth;
    struct ids ids, references;
    char problem[200];
};

static bool fail(struct check *check, const char *what)
{
    size_t left = (size_t)(check->end - check->at);
    if (check->problem[0] == '\0')
        snprintf(check->problem, sizeof(check->problem), "%s at '%.*s'", what,
                 left < 60 ? (int)left : 60, check->at);
    return false;
}

static bool add(struct ids *ids, const char *id, size_t len)
{
    if (ids->count == IDS_MAX || len >= NAME_SIZE)
        return false;
    memcpy(ids->id[ids->count], id, len);
    ids->id[ids->count++][len] = '\0';
    return true;
}

static bool has(const struct ids *ids, const char *id)
{
    for (size_t i = 0; i < ids->count; i++)
        if (strcmp(ids->id[i], id) == 0)
            return true;
    return false;
}

static bool starts(const struct check *check, const char *text)
{
    size_t len = strlen(text);
    return (size_t)(check->end - check->at) >= len && memcmp(check->at, text, len) == 0;
}

static bool character(struct check *check)
{
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    unsigned char c = (unsigned char)*check->at;
    if (c != '&') {
        check->at++;
        return c >= 0x20 || c == '\n' || fail(check, "a control character");
    }
    for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++) {
        if (starts(check, entities[i])) {
            check->at += strlen(entities[i]);
            return true;
        }
    }
    return fail(check, "an ampersand");
}

static size_t name_length(const struct check *check)
{
    const char *at = check->at;
    while (at < check->end && (isalnum((unsigned char)*at) || *at == '-'))
        at++;
    return (size_t)(at - check->at);
}

/* Ids are remembered, and so is what refers to one. */
static bool note(struct check *check, const char *name, const char *value, size_t len)
{
    char text[NAME_SIZE * 2];
    snprintf(text, sizeof(text), "%.*s", (int)len, value);
    if (strcmp(name, "id") == 0) {
        if (has(&check->ids, text))
            return fail(check, "an id that is there already, before");
        return add(&check->ids, value, len) || fail(check, "a long id, before");
    }
    if (strcmp(name, "href") == 0)
        return (value[0] == '#' && add(&check->references, value + 1, len - 1)) ||
               fail(check, "a link to elsewhere, before");
    if (strcmp(name, "aria-labelledby") == 0)
        for (char *save, *word = strtok_r(text, " ", &save); word != NULL;
             word = strtok_r(NULL, " ", &save))
            if (!add(&check->references, word, strlen(word)))
                return fail(check, "too many references");
    if (strcmp(name, "src") == 0 || strncmp(name, "xmlns", 5) == 0 || name[0] == 'o')
        return strcmp(name, "open") == 0 || fail(check, "such an attribute, before");
    const char *paint = strstr(text, "url(");
    if (paint != NULL &&
        (paint[4] != '#' || !add(&check->references, paint + 5, strcspn(paint + 5, ")"))))
        return fail(check, "a fill from elsewhere, before");
    return true;
}

static bool attribute(struct check *check)
{
    char name[NAME_SIZE];
    size_t len = name_length(check);
    if (len == 0 || len >= sizeof(name))
        return fail(check, "no attribute");
    memcpy(name, check->at, len);
    name[len] = '\0';
    check->at += len;
    if (!starts(check, "=\""))
        return fail(check, "an attribute without a quoted value");
    check->at += 2;
    const char *value = check->at;
    while (check->at < check->end && *check->at != '"')
        if (*check->at == '<' || !character(check))
            return fail(check, "a bad value");
    len = (size_t)(check->at - value);
    check->at++;
    return note(check, name, value, len);
}

static bool closing_tag(struct check *check)
{
    check->at += 2;
    size_t len = name_length(check);
    if (check->depth == 0 || strlen(check->open[check->depth - 1]) != len ||
        memcmp(check->open[check->depth - 1], check->at, len) != 0)
        return fail(check, "the end of what is not open");
    check->depth--;
    check->at += len;
    if (!starts(check, ">"))
        return fail(check, "no '>'");
    check->at++;
    return true;
}

static bool skip_past(struct check *check, const char *text)
{
    const char *found = memmem(check->at, (size_t)(check->end - check->at), text, strlen(text));
    if (found == NULL)
        return fail(check, "no end");
    check->at = found;
    return true;
}

static bool opening_tag(struct check *check)
{
    check->at++;
    size_t len = name_length(check);
    if (len == 0 || len >= NAME_SIZE || check->depth == DEPTH_MAX)
        return fail(check, "no tag");
    char *name = check->open[check->depth];
    memcpy(name, check->at, len);
    name[len] = '\0';
    check->at += len;
    while (starts(check, " ")) {
        check->at++;
        if (!attribute(check))
            return false;
    }
    if (starts(check, "/>")) {
        check->at += 2;
        return true;
    }
    if (!starts(check, ">"))
        return fail(check, "a tag without end");
    check->at++;
    check->depth++;
    if (strcmp(name, "style") == 0 || strcmp(name, "script") == 0)
        return skip_past(check, "</");
    return true;
}

static bool walk(struct check *check)
{
    static const char doctype[] = "<!DOCTYPE html>";
    if (!starts(check, doctype))
        return fail(check, "no document type");
    check->at += strlen(doctype);
    while (check->at < check->end) {
        bool fine = starts(check, "</") ? closing_tag(check)
                    : *check->at == '<' ? opening_tag(check)
                    : *check->at == '>' ? fail(check, "a '>'")
                                        : character(check);
        if (!fine)
            return false;
    }
    if (check->depth != 0)
        return fail(check, check->open[check->depth - 1]);
    for (size_t i = 0; i < check->references.count; i++) {
        if (has(&check->ids, check->references.id[i]))
            continue;
        snprintf(check->problem, sizeof(check->problem), "nothing has the id %s",
                 check->references.id[i]);
        return false;
    }
    return true;
}

const char *page_problem(const char *page, size_t len)
{
    static const char *const elsewhere[] = {
        "http:", "https:", "//", "@import", "url(http", "fetch(", "XMLHttpRequest"};
    static struct check check;
    memset(&check, 0, sizeof(check));
    check.at = page;
    check.end = page + len;
    for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
        if (memmem(page, len, elsewhere[i], strlen(elsewhere[i])) != NULL)
            return elsewhere[i];
    check.ids.id = calloc(IDS_MAX, NAME_SIZE);
    check.references.id = calloc(IDS_MAX, NAME_SIZE);
    bool fine = check.ids.id != NULL && check.references.id != NULL && walk(&check);
    free(check.ids.id);
    free(check.references.id);
    return fine ? NULL : check.problem;
}
