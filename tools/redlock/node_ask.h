/* node_ask.h - ask the masters of the node list something, each over a connection of this
 * program's own: an answer that foreign clients can make long, or a slow one, can't harm the
 * connections that locks use. Where Sentinels name a master, they are asked for it first. */
#ifndef REDLOCK_NODE_ASK_H
#define REDLOCK_NODE_ASK_H

#include "redlock/cli.h"
#include "redlock/sentinel_ask.h"

struct node_ask;

/* Callbacks of a master, by its index in the list. Those that stand behind on_failure may be
 * NULL. */
struct node_questions {
    /* The next request, encoded; NULL: no more for now. */
    const char *(*next)(void *context, unsigned node);
    /* Bytes of a bulk reply that may be longer than a reply keeps (INFO); or NULL. */
    void (*on_bulk)(void *context, unsigned node, const char *bytes, size_t len,
                    const struct rl_mask *mask);
    /* A whole reply, no error. NULL, or why no more is to be asked. */
    const char *(*on_reply)(void *context, unsigned node, const struct rl_reply *reply);
    /* The master answered with an error. True: its next request is asked all the same. NULL:
     * never. `why` is printable. */
    bool (*on_error)(void *context, unsigned node, const char *why);
    /* It can't be asked, refused, or was too late. `why` is printable. */
    void (*on_failure)(void *context, unsigned node, const char *why);
    /* Will the reply to what `next` gave last be an array of many texts, each for on_bulk? */
    bool (*texts)(void *context, unsigned node);
    /* `next` gave NULL. */
    void (*on_end)(void *context, unsigned node);
    /* Begin with the last address of a name? The library has most likely taken the first. */
    bool backwards;
};

/* Read the list that the client has used; it may have changed since. NULL: it can't be read, or
 * no memory or descriptors are left. Both arguments must outlive it. */
struct node_ask *node_ask_open(const struct node_questions *questions, void *context);
void node_ask_close(struct node_ask *asking);

/* The list, as it was read. */
const struct rl_config *node_ask_config(const struct node_ask *asking);

/* Until a certificate of this master's connection ends, in s; -1: no TLS, or not connected. */
int64_t node_ask_tls_left_s(const struct node_ask *asking, unsigned node);

/* What the Sentinels of this line have said; NULL: it names none, or was not added. */
const struct service_look *node_ask_service(const struct node_ask *asking, unsigned node);

/* Connect to this master; its first request is asked by the next run. */
void node_ask_add(struct node_ask *asking, unsigned node);

/* Ask all that were added, until none has a next request, for connect-timeout at the most, and
 * as long before for the Sentinels. Those that failed are not asked again. */
void node_ask_run(struct node_ask *asking);

/* From another thread: that run, or the next one, ends at once. */
void node_ask_stop(struct node_ask *asking);

#endif
