/* unheard.c - see unheard.h. Core. */
#include "config_auto.h"

#include "core/unheard.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* The first that is in the text is taken. What a server says follows what we say of it, so places
 * stand last. */
static const struct {
    const char *words;
    enum rl_unheard unheard;
} by_words[] = {
    {"look-up takes too long", RL_UNHEARD_NO_HOST},
    {"name resolution", RL_UNHEARD_NO_HOST},
    {"service not known", RL_UNHEARD_NO_HOST},
    {"No address associated", RL_UNHEARD_NO_HOST},
    {"Connection refused", RL_UNHEARD_CLOSED},
    {"protected mode", RL_UNHEARD_CLOSED},
    {"max number of clients", RL_UNHEARD_FULL},
    {"password-file", RL_UNHEARD_UNREAD},
    {"password-env", RL_UNHEARD_UNREAD},
    {"URL's password", RL_UNHEARD_UNREAD},
    {"NOAUTH", RL_UNHEARD_WANTS_PASSWORD},
    {"authentication failed", RL_UNHEARD_PASSWORD},
    {"NOPERM", RL_UNHEARD_RIGHT},
    {"No such master with that name", RL_UNHEARD_NO_SERVICE},
    {"no Sentinel", RL_UNHEARD_NO_SENTINEL},
    {"unknown command", RL_UNHEARD_NO_SENTINEL},
    {"SENTINEL MYID", RL_UNHEARD_NO_ID},
    {"TLS", RL_UNHEARD_TLS},
    {"ertificate", RL_UNHEARD_TLS},
    {"not asked for", RL_UNHEARD_ODD},
    {"unasked", RL_UNHEARD_ODD},
    {"Protocol error", RL_UNHEARD_ODD},
    {"the reply ", RL_UNHEARD_ODD},
    {"an error", RL_UNHEARD_ODD},
    {"refused SENTINEL", RL_UNHEARD_ERROR},
};

enum rl_unheard rl_unheard_of(const char *text)
{
    assert(text);
    for (size_t i = 0; i < sizeof(by_words) / sizeof(by_words[0]); i++) {
        if (strstr(text, by_words[i].words))
            return by_words[i].unheard;
    }
    return RL_UNHEARD_SILENT;
}

const char *rl_unheard_words(enum rl_unheard unheard, bool several)
{
    static const char *const words[RL_UNHEARD_KINDS][2] = {
        [RL_UNHEARD_SILENT] = {"doesn't answer", "don't answer"},
        [RL_UNHEARD_CLOSED] = {"refuses connections", "refuse connections"},
        [RL_UNHEARD_NO_HOST] = {"is not found by its name", "are not found by their names"},
        [RL_UNHEARD_FULL] = {"has too many clients", "have too many clients"},
        [RL_UNHEARD_TLS] = {"can't be spoken to by TLS", "can't be spoken to by TLS"},
        [RL_UNHEARD_UNREAD] = {"has a password that can't be read",
                               "have a password that can't be read"},
        [RL_UNHEARD_PASSWORD] = {"refuses the password", "refuse the password"},
        [RL_UNHEARD_WANTS_PASSWORD] = {"wants a password", "want a password"},
        [RL_UNHEARD_RIGHT] = {"refuses a right", "refuse a right"},
        [RL_UNHEARD_NO_ID] = {"tells no id (SENTINEL MYID)", "tell no id (SENTINEL MYID)"},
        [RL_UNHEARD_NO_SENTINEL] = {"is another kind of server",
                                    "are another kind of server"},
        [RL_UNHEARD_NO_SERVICE] = {"knows no service of this name",
                                   "know no service of this name"},
        [RL_UNHEARD_ERROR] = {"answers with an error", "answer with an error"},
        [RL_UNHEARD_ODD] = {"answers unlike a Sentinel", "answer unlike a Sentinel"},
    };
    assert(unheard < RL_UNHEARD_KINDS);
    return words[unheard][several];
}
