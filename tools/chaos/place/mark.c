/* mark.c - see mark.h. */
#include "config_auto.h"

#include "chaos/place/mark.h"

#include "kinds/fencing.h"
#include "kinds/marker.h"

#include <stdio.h>
#include <string.h>

bool chaos_mark(const struct server_at *at, char *why, size_t why_size)
{
    const char *const ask[] = {
        "EVAL", rl_marker_init, "2", RL_MARKER_KEY, RL_QUARANTINE_KEY, "chaos", "0"};
    struct server_talk talk;
    char text[256] = "";
    bool marked = false;
    if (server_talk_open(&talk, at)) {
        marked = server_talk_ask(&talk, sizeof(ask) / sizeof(ask[0]), ask, text,
                                 sizeof(text)) == '*' &&
                 strstr(text, "\r\ndone\r\n") != NULL;
        server_talk_close(&talk);
    }
    if (!marked)
        snprintf(why, why_size, "the master at port %d gets no marker: %.100s", at->port, text);
    return marked;
}

/* The id of its loss is of its port alone: each has one of its own. */
bool chaos_certify(const struct server_at *at, char *why, size_t why_size)
{
    char id[RL_CERTIFICATE_MAX / 2 + 1];
    snprintf(id, sizeof(id), "%016d", at->port);
    const char *ask[] = {"EVAL", rl_fence_join, "1", RL_FENCING_KEY, id, "lose", id, "0"};
    struct server_talk talk;
    char text[256] = "";
    bool certified = false;
    if (server_talk_open(&talk, at)) {
        bool lost = server_talk_ask(&talk, sizeof(ask) / sizeof(ask[0]), ask, text,
                                    sizeof(text)) == '*' &&
                    strstr(text, "\r\nmissing\r\n") != NULL;
        ask[5] = "certify";
        certified = lost &&
                    server_talk_ask(&talk, sizeof(ask) / sizeof(ask[0]), ask, text,
                                    sizeof(text)) == '*' &&
                    strstr(text, "\r\ncertified\r\n") != NULL;
        server_talk_close(&talk);
    }
    if (!certified)
        snprintf(why, why_size, "the master at port %d is not certified: %.100s", at->port,
                 text);
    return certified;
}
