/* log.c - writes to the user's log: one line, up to the level wanted, without bytes that a
 * terminal could take for a command. */
#include "config_auto.h"

#include "engine/client.h"

#include "base/text_escape.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void rl_client_log(void *owner, int level, const char *format, ...)
{
    redlock *client = owner;
    char cut[RL_TALLY_TEXT_MAX + 128], text[RL_TALLY_TEXT_MAX + 128];
    va_list args;
    assert(level >= REDLOCK_LOG_ERROR && level <= REDLOCK_LOG_DEBUG);
    if (!client->log.write || level > client->log.level)
        return;
    va_start(args, format);
    vsnprintf(cut, sizeof(cut), format, args);
    va_end(args);
    rl_text_escape(text, sizeof(text), cut, strlen(cut));
    client->log.write(client->log.context, level, text);
}
