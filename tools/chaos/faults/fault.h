/* fault.h - a fault in force: done, seen to have an effect while it lasts, undone, and
 * seen to be undone. */
#ifndef CHAOS_FAULT_H
#define CHAOS_FAULT_H

#include "chaos/run.h"
#include "cluster/server_talk.h"

#define CHAOS_ACTIVE_MAX 8
#define CHAOS_SILENT_MS 150 /* so long a master that works has never taken for a PING */
#define CHAOS_ANSWER_MS 1000

/* The state of a fault between its beginning and its end. */
struct chaos_active {
    struct chaos_fault *fault; /* NULL: this place is free */
    bool done;                 /* it was done, or a part of it: to be undone */
    bool failed;               /* a part of it only */
    int64_t until_ns;          /* holders: believed until then */
    size_t events;             /* holders: its events so far */
    int client;                /* holders: its seat; -1: none */
    uint32_t lives;            /* holders: of the seat */
    int64_t again_ns;          /* resets: the next one */
    struct chaos_probe *probe; /* half-open, reset: connections from before */
    size_t probes;
    char script[48];                       /* script-flush: its SHA1 */
    char maxmemory[REDLOCK_NODES_MAX][24]; /* oom: as it was */
};

/* The functions of a group of kinds. All but `cannot` write to fault->text: the error, or how
 * the effect was seen. */
struct chaos_fault_way {
    uint64_t kinds;

    /* NULL, or why this kind is not possible in this run, as the end of a sentence. */
    const char *(*cannot)(struct chaos_run *run, enum chaos_fault_kind kind);

    bool (*begin)(struct chaos_run *run, struct chaos_active *active);

    /* Does it have an effect? Asked again and again until it does. */
    bool (*seen)(struct chaos_run *run, struct chaos_active *active);

    /* Repeated work while the fault lasts; or NULL. */
    void (*again)(struct chaos_run *run, struct chaos_active *active);

    /* Also after a begin() that failed halfway. */
    bool (*undo)(struct chaos_run *run, struct chaos_active *active);

    /* Is all as before, or as the fault says that it should be? Asked until it is. */
    bool (*gone)(struct chaos_run *run, struct chaos_active *active);
};

extern const struct chaos_fault_way chaos_faults_of_holders, chaos_faults_of_paths,
    chaos_faults_of_commands, chaos_faults_of_places, chaos_faults_of_spares,
    chaos_faults_of_lists;

/* The functions for a kind. */
const struct chaos_fault_way *chaos_fault_way(enum chaos_fault_kind kind);

/* Set fault->text. */
__attribute__((format(printf, 2, 3))) bool chaos_fault_tell(struct chaos_fault *fault,
                                                            const char *format, ...);

/* Do the fault's masters leave a PING unanswered; does each of them answer one? */
bool chaos_masters_are_silent(struct chaos_run *run, struct chaos_fault *fault);
bool chaos_masters_answer(struct chaos_run *run, struct chaos_fault *fault);

/* Delete all keys. With `cut` in one piece with the end of all connections, also of those that
 * hear of releases: nobody goes on without having connected anew. */
bool chaos_server_empty(const struct server_at *at, bool cut);

/* Has a contender with markers found that keys were lost there? */
bool chaos_server_quarantined(const struct server_at *at);

/* "node 3" or "nodes 0, 3 and 4". */
#define CHAOS_NODES_TEXT 80
const char *chaos_nodes_text(uint64_t nodes, char ret_text[CHAOS_NODES_TEXT]);

/* ---- probes: a PING over fresh connections, to many at once ---------------------------- */

enum chaos_answer {
    CHAOS_NO_ANSWER, /* in time */
    CHAOS_REFUSES,   /* the connection was not taken */
    CHAOS_RESETS,    /* or ended with a reset */
    CHAOS_CLOSES,    /* or without one */
    CHAOS_ANSWERS    /* some bytes came back, of any meaning */
};

struct chaos_probe {
    struct server_at at;
    bool tls; /* it understands no PING, but an answer is an answer */
    int fd;   /* -1: none */
    enum chaos_answer answer;
    int64_t took_ns;
};

/* Connect all probes that have no connection, and send a PING, or an AUTH if there is a
 * password. A master that needs a password then answers at least that. Wait until all have
 * answered, or `limit_ms`. The connections stay if `keep` is set. */
void chaos_probe_all(struct chaos_probe *probe, size_t count, int64_t limit_ms, bool keep);
void chaos_probe_close(struct chaos_probe *probe, size_t count);

/* One for this master, as it is reached behind the proxies' back. */
struct chaos_probe chaos_probe_of(struct chaos_run *run, unsigned node);

/* ---- masters, asked behind the proxies' back ------------------------------------------- */

/* The master's address and password. False: it must not be asked (TLS), or its password can't
 * be read. */
bool chaos_master_at(struct chaos_run *run, unsigned node, struct server_at *ret_at);

/* One command (words parted by spaces) over a connection of its own, within a second or so.
 * The reply's type, 0: none. */
char chaos_master_say(struct chaos_run *run, unsigned node, char *ret_text, size_t size,
                      const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
