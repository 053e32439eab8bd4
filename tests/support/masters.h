/* masters.h - real redis-server processes of the test's own: started, killed, stopped,
 * restarted, and asked. Each listens on a unix socket and on a port of 127.0.0.1. It keeps its
 * files in a directory of its own, and dies with the thread that started it. Nodes count from
 * 0, as in the library's reports. */
#ifndef TEST_MASTERS_H
#define TEST_MASTERS_H

#include "net.h"
#include "suite.h"

#include <sys/types.h>

#define MASTERS_MAX 40

struct master {
    pid_t pid; /* 0: not running */
    bool paused;
    struct endpoint unix_at;
    struct endpoint tcp_at;
    char dir[SUITE_PATH_MAX];
};

struct masters {
    unsigned n;
    const char *const *extra; /* more arguments for redis-server, up to a NULL; or NULL */
    const char *user;         /* master_do() gives both; NULL: the default one, and none */
    const char *password;
    const char *watch; /* they are Sentinels; see masters_start_watching() */
    struct master node[MASTERS_MAX];
};

/* All `n` answer PING when this returns. `extra` must outlive them; see masters_keeping. */
struct masters *masters_start(unsigned n, const char *const *extra);
/* The same of masters whose `extra` asks for a user. */
struct masters *masters_start_as(unsigned n, const char *const *extra, const char *user,
                                 const char *password);
/* `n` Sentinels with these lines of a file, "sentinel monitor ...", which must outlive them. One
 * that is restarted with its files has what it learnt since; else it begins with the lines. */
struct masters *masters_start_watching(unsigned n, const char *watch);
extern const char *const masters_keeping[]; /* `extra` for masters that keep their keys */
void masters_stop(struct masters *masters);

/* What a model is compared with: Redis 7.0. False, and it is printed: it is another server. */
bool masters_are_redis_7_0(void);

void master_kill(struct masters *masters, unsigned node);  /* SIGKILL, and it is gone */
void master_pause(struct masters *masters, unsigned node); /* SIGSTOP, and it stands */
void master_resume(struct masters *masters, unsigned node);
/* Kill it if it runs, start it again and wait until it answers. `empty`: without its files. */
void master_restart(struct masters *masters, unsigned node, bool empty);

/* A node list file of them all: "guard off", and `settings` ("max-ttl 5s\n"; NULL: none)
 * after it. The path is good until the next call. */
const char *masters_file(struct masters *masters, const char *settings);
const char *masters_guarded_file(struct masters *masters, const char *settings); /* guard on */

struct reply {
    char type; /* of RESP; 0: no answer at all */
    long long number;
    size_t len;
    char text[4000]; /* an array's elements have a space between them; NUL added */
};

/* A connection that has given itself this name, in CLIENT LIST. The caller closes it. */
int master_connect_as(struct masters *masters, unsigned node, const char *name, size_t len);

/* Ask one master, over a connection of its own; the words end with NULL. A reply that takes
 * over 10 s is none. The _n form takes bytes with lengths. */
struct reply master_do(struct masters *masters, unsigned node, ...) __attribute__((sentinel));
struct reply master_do_n(struct masters *masters, unsigned node, unsigned argc,
                         const char *const argv[], const size_t lens[]);

/* Does it have the key; how many (running and not stopped) have it. */
bool master_has(struct masters *masters, unsigned node, const char *name);
unsigned masters_with(struct masters *masters, const char *name);

/* A node list file's text, built line by line, for nodes of every sort. */
struct node_list {
    size_t len;
    char text[16384];
    char path[SUITE_PATH_MAX + 16];
};

void node_list_line(struct node_list *list, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void node_list_add(struct node_list *list, const struct endpoint *endpoint);
const char *node_list_write(struct node_list *list); /* its path */

#endif
