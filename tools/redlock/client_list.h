/* client_list.h - what CLIENT LIST says of clients of this library: the names of their
 * connections (base/client_name.h). Anybody with a connection may give it such a name. */
#ifndef REDLOCK_CLIENT_LIST_H
#define REDLOCK_CLIENT_LIST_H

#include "base/limits.h"
#include "base/mask.h"
#include "config/list_mark.h"
#include "core/server_info.h"

/* The longest list that is read: of 32,768 clients. It costs a master some 2 us for each. */
#define CLIENT_LIST_BYTES_MAX (16 * 1024 * 1024)

/* Why a master with so many clients is not asked for the list (-1: it does not tell); NULL: it
 * is. A long list costs it time, and one of more bytes than an answer may have is not read. */
const char *client_list_refused(int64_t clients);

#define CLIENT_LIST_REQUEST "*4\r\n$6\r\nCLIENT\r\n$4\r\nLIST\r\n$4\r\nTYPE\r\n$6\r\nnormal\r\n"

/* Asking one master for it: INFO clients first, which tells how long it would be. */
struct client_list_ask {
    enum { CLIENT_LIST_COUNT, CLIENT_LIST_LINES, CLIENT_LIST_DONE } step; /* next, or under way */
    struct rl_info info;
};

void client_list_begin(struct client_list_ask *ask);
const char *client_list_next(const struct client_list_ask *ask); /* NULL: it is done */

/* Bytes of an answer have come. True: they are the list. */
bool client_list_heard(struct client_list_ask *ask, const char *bytes, size_t len);

/* That was all of them. NULL, or why the list is not asked for. */
const char *client_list_answered(struct client_list_ask *ask);

/* A line, where it has a name. */
struct client_line {
    const char *name;
    size_t name_len;
    int64_t db; /* -1: not told */
};

/* Call `take` for each line of an answer, of a server whose connection has these secrets. */
void client_list_each(const char *list, size_t len, const struct rl_mask *mask,
                      void (*take)(void *context, const struct client_line *line,
                                   const struct rl_mask *mask),
                      void *context);

/* It is a Sentinel that watches the server. */
bool client_is_sentinel(const struct client_line *line);

/* The name of a client, in foreign bytes. `len` 0: unknown. */
struct client_name {
    size_t len;
    char text[RL_CLIENT_NAME_MAX];
};

struct client_said {
    struct client_name name;
    const char *uuid; /* RL_UUID_LEN bytes of the line */
    bool marked;      /* earlier versions have no mark */
    struct rl_list_mark mark;
};

/* False: it is no client of this library. */
bool client_said(const struct client_line *line, const struct rl_mask *mask,
                 struct client_said *ret_said);

#endif
