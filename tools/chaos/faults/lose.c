/* lose.c - a server loses its keys, and what contenders with markers make of that. */
#include "config_auto.h"

#include "chaos/faults/fault.h"

#include "kinds/marker.h"

#include <string.h>

#define LOSE_LIMIT_MS 1000

static bool empty_and_cut(struct server_talk *talk)
{
    static const char *const queued[] = {"FLUSHALL", "CLIENT KILL TYPE normal",
                                         "CLIENT KILL TYPE pubsub"};
    char text[256];
    bool fine = server_talk_say(talk, "MULTI", text, sizeof(text)) == '+';
    for (size_t i = 0; fine && i < sizeof(queued) / sizeof(queued[0]); i++)
        fine = server_talk_say(talk, queued[i], text, sizeof(text)) == '+';
    return fine && server_talk_say(talk, "EXEC", text, sizeof(text)) == '*' &&
           strstr(text, "\r\n-") == NULL;
}

bool chaos_server_empty(const struct server_at *at, bool cut)
{
    struct server_talk talk;
    char text[256];
    if (!server_talk_open_within(&talk, at, LOSE_LIMIT_MS))
        return false;
    bool done = cut ? empty_and_cut(&talk)
                    : server_talk_say(&talk, "FLUSHALL", text, sizeof(text)) == '+';
    server_talk_close(&talk);
    return done;
}

bool chaos_server_quarantined(const struct server_at *at)
{
    struct server_talk talk;
    char text[64];
    if (!server_talk_open_within(&talk, at, LOSE_LIMIT_MS))
        return false;
    bool there =
        server_talk_say(&talk, "EXISTS " RL_QUARANTINE_KEY, text, sizeof(text)) == ':' &&
        strcmp(text, "1") == 0;
    server_talk_close(&talk);
    return there;
}
