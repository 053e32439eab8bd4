/* unheard.h - why a Sentinel gives no word: what its connection, or its answer, failed with. Core:
 * pure. The server's own words are in the log.
 */
#ifndef RL_UNHEARD_H
#define RL_UNHEARD_H

#include <stdbool.h>

enum rl_unheard {
    RL_UNHEARD_SILENT,   /* no way there, no answer in time, or its connection has ended */
    RL_UNHEARD_CLOSED,   /* nobody listens there, or not for us */
    RL_UNHEARD_NO_HOST,  /* the look-up of its host's name failed */
    RL_UNHEARD_FULL,     /* of clients */
    RL_UNHEARD_TLS,
    RL_UNHEARD_UNREAD,   /* our password for it can't be read */
    RL_UNHEARD_PASSWORD, /* it refuses ours */
    RL_UNHEARD_WANTS_PASSWORD,
    RL_UNHEARD_RIGHT,    /* it refuses our user a command */
    RL_UNHEARD_NO_ID,    /* no SENTINEL MYID */
    RL_UNHEARD_NO_SENTINEL, /* another kind of server */
    RL_UNHEARD_NO_SERVICE,
    RL_UNHEARD_ERROR,    /* it refuses a question otherwise */
    RL_UNHEARD_ODD,      /* what comes is no reply to what was asked */
    RL_UNHEARD_KINDS
};

/* By the text of a connection that failed, or of an error that it sent; SILENT: by none of the
 * others. */
enum rl_unheard rl_unheard_of(const char *text);

/* What is said behind "2 of 3 Sentinels", or behind "1 of 3 Sentinels": "don't answer". */
const char *rl_unheard_words(enum rl_unheard unheard, bool several);

#endif
