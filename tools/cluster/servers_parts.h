/* servers_parts.h - between servers.c, all of them, and server.c, one. */
#ifndef SERVERS_PARTS_H
#define SERVERS_PARTS_H

#include "cluster/servers.h"

/* Launch it empty, and wait until it answers. False: it ended, or wasn't ready in time. */
bool server_start(struct servers *servers, unsigned index);

/* Only calls that a signal handler may make. */
void server_end(struct server *server);

/* A directory and all that is in it. Not in a signal handler. */
void server_remove_tree(const char *dir);

#endif
