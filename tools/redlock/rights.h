/* rights.h - which rights each use of locks needs: commands, keys and channels. One table for
 * status --acl, which prints them, and for status, which asks masters for them. Pure. */
#ifndef REDLOCK_RIGHTS_H
#define REDLOCK_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>

/* What rights are for, a bit each. */
enum {
    RIGHTS_PLAIN = 1 << 0, /* of one name and of several */
    RIGHTS_REENTRANT = 1 << 1,
    RIGHTS_FAIR = 1 << 2,
    RIGHTS_READ_WRITE = 1 << 3,
    RIGHTS_FENCED = 1 << 4,
    RIGHTS_INSPECT = 1 << 5, /* and break */
    RIGHTS_STATUS = 1 << 6,
    RIGHTS_WAKE = 1 << 7,    /* waiters need not poll */
    RIGHTS_CONNECT = 1 << 8, /* what clients do beside locks */
    RIGHTS_INIT = 1 << 9,    /* of an operator */
};
#define RIGHTS_USES 10

/* Every client needs these, and status takes plain locks. */
#define RIGHTS_ALWAYS (RIGHTS_PLAIN | RIGHTS_WAKE | RIGHTS_CONNECT)
#define RIGHTS_ALL ((1 << RIGHTS_USES) - 1 - RIGHTS_INIT) /* of clients */

/* "plain", "fair", ... of one bit, by its number. */
const char *rights_word(unsigned number);

#define RIGHTS_WORDS                                                                           \
    "plain, reentrant, fair, read-write, fenced, inspect, status and init, or all but init, "  \
    "as in plain,fair"

/* "plain,fair", or "all": the bits, with those of every client. 0: a word is none of them. */
unsigned rights_parse(const char *words);

/* Can these uses be had on so many masters? */
bool rights_possible(unsigned uses, unsigned masters);

/* What the node list and the user say of the locks. */
struct rights_use {
    unsigned uses;    /* bits */
    unsigned masters; /* on one and on more, kinds have other scripts */
    bool guard;
    bool marker; /* guard marker or strict */
    bool lists;  /* config-agreement is not off */
    bool strict; /* fencing strict */
    bool db;     /* a database other than 0 */
    bool sentinels; /* some name masters */
};

#define RIGHTS_MAX 104

/* How many rights there are. */
unsigned rights_count(void);

/* The bits for which `right` is needed; 0: it is not. */
unsigned rights_needed(unsigned right, const struct rights_use *use);

/* Are locks had all the same without it? A channel: later. The note of who broke a lock: without
 * this reason. */
bool rights_spared(unsigned right);

/* "+hset", "~{NAME}:redlock:queue", "&redlock:wake:*" */
struct rights_text {
    char text[64];
};
struct rights_text rights_text(unsigned right);

/* A command that takes this right; "PUBLISH &w x|SUBSCRIBE &w": or that one. Some servers refuse
 * to tell of a command without its arguments; "PUBLISH;PUBLISH &w x": then of that one. Words
 * such as ~n and &c stand for a key or a channel, by the letters of keys.h; &w is a client's channel. */
const char *rights_command(unsigned right);

/* Does the right's command need another key or channel, to which there is no right of `may`
 * (as of status_rights.h)? Then nothing is known of it. */
bool rights_hidden(unsigned right, const char *may);

#endif
