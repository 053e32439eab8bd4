/* mark.c - see mark.h. */
#include "config_auto.h"

#include "chaos/place/mark.h"

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
