/* log.c - writes to the user's log: one line, up to the level wanted, without bytes that a
 * terminal could take for a command. And keeps errors (log.h). */
#include "config_auto.h"

#include "engine/client/client.h"

#include "base/text_escape.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *rl_log_last_error(const struct rl_log *log)
{
    for (unsigned i = 1; i <= RL_ERRORS_KEPT; i++) { /* the latest first */
        const struct rl_log_error *error =
            &log->error[(log->next_error + RL_ERRORS_KEPT - i) % RL_ERRORS_KEPT];
        if (error->text[0] && pthread_equal(error->thread, pthread_self()))
            return error->text;
    }
    return "";
}

static void keep(struct rl_log *log, const char *text)
{
    struct rl_log_error *error = &log->error[log->next_error];
    log->next_error = (log->next_error + 1) % RL_ERRORS_KEPT;
    error->thread = pthread_self();
    snprintf(error->text, sizeof(error->text), "%.*s", (int)sizeof(error->text) - 1, text);
}

void rl_client_log(void *owner, int level, const char *format, ...)
{
    redlock *client = owner;
    char cut[RL_TALLY_TEXT_MAX + 128], text[RL_TALLY_TEXT_MAX + 128];
    va_list args;
    assert(level >= REDLOCK_LOG_ERROR && level <= REDLOCK_LOG_DEBUG);
    bool shown = client->log.write && level <= client->log.level;
    if (!shown && level != REDLOCK_LOG_ERROR)
        return;
    va_start(args, format);
    vsnprintf(cut, sizeof(cut), format, args);
    va_end(args);
    rl_text_escape(text, sizeof(text), cut, strlen(cut));
    if (level == REDLOCK_LOG_ERROR)
        keep(&client->log, text);
    if (shown)
        client->log.write(client->log.context, level, text);
}
