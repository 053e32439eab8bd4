/* sim_master_parts.h - between the files of the model masters: a server, its keys, its
 * connections, and one command on its way through.
 *
 *   sim_master.c   processes: started, killed, stopped; what the world does to them
 *   sim_wall.c     the wall clock of each
 *   sim_session.c  connections: whose command is next, and when
 *   sim_request.c  bytes to words
 *   sim_reply.c    replies to bytes
 *   sim_commands.c, sim_commands_keys.c, sim_commands_talk.c, sim_lists.c: Redis's commands
 *   sim_scripts.c, sim_scripts_*.c, sim_plain.c, sim_qrw_set.c, sim_fair_queue.c,
 *   sim_script_calls.c: the library's scripts
 *   sim_trouble.c  error states, and replies that are none
 *   sim_lie.c      any other reply to any one command
 *   sim_replica.c, sim_sentinel*.c: replicas of masters, and who names them (sim_sentinel.h)
 *   sim_data.c, sim_zset.c: keys; sim_undo.c: what a crash takes back; sim_restart.c: what is
 * left
 */
#ifndef SIM_MASTER_PARTS_H
#define SIM_MASTER_PARTS_H

#include "sim_sentinel.h"

#include <assert.h>
#include <string.h>

#define SIM_QUICK_NS (20 * SIM_US) /* a command takes no longer when all is well */

enum {
    SIM_WORDS_MAX = 64,
    SIM_CHANNELS_MAX = 512,
    SIM_CHANNEL_MAX = 127,
    SIM_MEMBER_MAX = 239,
    SIM_VALUE_MAX = 23,
    SIM_BUCKETS = 512, /* a power of two */
    SIM_SCRIPTS_MAX = 152
};

/* What sim_mark() is told of masters. */
enum { SIM_MARK_MASTER = 0x4d00, SIM_MARK_COMMAND, SIM_MARK_KEY, SIM_MARK_TROUBLE };

/* realloc(), and not the process's that happens to run. It does not fail. */
void *sim_grown(void *block, size_t bytes);

/* Bytes with a NUL behind them. */
struct sim_word {
    const char *bytes;
    size_t len;
};

/* Bytes that grow, and are used again. */
struct sim_text {
    char *bytes;
    size_t len, size;
};

void sim_text_set(struct sim_text *text, const char *bytes, size_t len);
void sim_text_grow(struct sim_text *text, size_t len); /* room for so many more */

static inline void sim_text_add(struct sim_text *text, const char *bytes, size_t len)
{
    if (text->len + len + 1 > text->size)
        sim_text_grow(text, len);
    memcpy(text->bytes + text->len, bytes, len);
    text->len += len;
    text->bytes[text->len] = '\0';
}

/* ---- keys ------------------------------------------------------------------------------ */

enum sim_type { SIM_STRING, SIM_ZSET, SIM_HASH, SIM_SET, SIM_LIST };

/* Of a sorted set; a field of a hash, and its value; of a set; of a list. */
struct sim_member {
    double score;
    size_t len, value_len;
    char text[SIM_MEMBER_MAX + 1], value[SIM_VALUE_MAX + 1];
};

struct sim_key {
    struct sim_event expires; /* must be first */
    struct sim_server *server;
    struct sim_key *next; /* in its bucket, or of those that are free */
    uint64_t hash;
    size_t place; /* among all keys of the server */
    unsigned db;
    enum sim_type type;
    bool seen;      /* by a restart */
    int64_t end_ms; /* of the server's wall clock; SIM_NEVER */
    struct sim_text name, value, was;
    struct sim_member *member; /* in order */
    size_t members, members_size;
};

struct sim_undo {
    struct sim_undo_entry *entry;
    size_t count, size;
    struct sim_text bytes;
    bool undoing;
};

/* ---- servers --------------------------------------------------------------------------- */

/* Scripts that do nothing but return a text; the last ones. */
enum { SIM_NONCES_MAX = 8, SIM_NONCE_LEN = 16 };
struct sim_nonces {
    unsigned count; /* so far */
    char nonce[SIM_NONCES_MAX][SIM_NONCE_LEN + 1];
};

struct sim_server {
    unsigned index;
    bool up;
    char run_id[41], role[16];
    char replication[41]; /* the id of what it has in common with its replicas */
    int64_t second_offset; /* up to which it has another one's; -1: it has none */
    struct sim_server *follows; /* its master; NULL: it says that it is one */
    bool linked; /* it has what that one has, less the last moment; its own keys are old */
    unsigned promotions;           /* so far */
    int64_t quarantined_ns, quarantine_ended_ns; /* the last one: begun, over; true time */
    struct sim_sentinel *sentinel; /* it is none of these, but a Sentinel; NULL: it is not */

    /* The wall clock showed wall_ns at the true time wall_at_ns, and goes at that rate. */
    int64_t wall_ns, wall_at_ns, rate_ppb;
    int64_t set_back_ns; /* so far, in all */
    bool lowered;        /* a number of fencing tokens, by somebody */
    int64_t started_s; /* of the wall clock, whole seconds, as Redis keeps it */

    /* Work: one command after the other. */
    struct sim_event work;
    int64_t paused_until_ns, low_ns, high_ns;
    int64_t killed_ns; /* its last process; 0: there was none before this one */
    struct sim_session **session, **ready;
    size_t sessions, sessions_size, readies, channels;
    uint64_t accepted, commands, troubled;
    struct sim_master_felt felt;
    const char *loses;   /* at a restart: this key only; NULL: drawn */
    const char *kill_at; /* a script's name; "acquire" and "get": the native pair's, too */
    bool kill_after, dying;

    enum sim_trouble trouble;
    unsigned trouble_ppm;

    bool scripts_known[SIM_SCRIPTS_MAX], scripts_forgotten[SIM_SCRIPTS_MAX]; /* by a flush */
    struct sim_nonces nonces;                                                /* beside these */
    struct sim_key *bucket[SIM_BUCKETS];
    struct sim_key **key;
    size_t keys, keys_size;
    struct sim_undo undo;
};

/* As TYPE says it. */
const char *sim_type_name(enum sim_type type);

/* Is it to be killed at this script, or half of the native pair? True: before it does it. */
bool sim_server_dies_before(struct sim_server *server, const char *script);

struct sim_server *sim_server(unsigned master);
unsigned sim_servers(void);
const struct sim_masters_options *sim_masters_options(void);

/* Its wall clock now; the true time at which that shows (past ones: any that is past). */
int64_t sim_wall_ns(const struct sim_server *server);
int64_t sim_wall_true_ns(const struct sim_server *server, int64_t wall_ns);
int64_t sim_wall_ms(const struct sim_server *server);

/* ---- connections ----------------------------------------------------------------------- */

struct sim_channel {
    size_t len;
    char name[SIM_CHANNEL_MAX + 1];
};

struct sim_session {
    struct sim_session *next_free;
    struct sim_server *server;
    struct sim_conn *conn; /* NULL: the client is gone */
    const struct sim_proc *by;
    uint64_t number;
    size_t place, ready_place; /* among the server's; SIZE_MAX: not ready */
    bool running, ends;        /* in a command; to be closed behind its reply */
    bool authenticated;
    unsigned db;
    size_t channels;
    struct sim_channel channel[SIM_CHANNELS_MAX];

    /* What was heard and not executed yet: in[start ..]. All offsets count from start. */
    struct sim_text in;
    size_t start, at;
    int64_t words_left; /* 0: between two commands */
    int64_t bulk_left;  /* -1: the length is next */
    unsigned words;
    size_t word_at[SIM_WORDS_MAX], word_len[SIM_WORDS_MAX];
    char error[80]; /* no protocol: what is answered before it is closed */
};

/* A command is whole (its words are in call->word), or wrong (session->error). */
bool sim_request_parse(struct sim_session *session);
void sim_request_words(const struct sim_session *session, struct sim_word *ret_words);
void sim_request_done(struct sim_session *session); /* the next one */

void sim_sessions_kill(struct sim_server *server); /* by the end of its process */
void sim_sessions_drop(struct sim_server *server); /* the world is over */
void sim_session_ready(struct sim_server *server); /* it can be given work */
void sim_session_work(struct sim_server *server);  /* there may be some */

/* Say it to whoever listens: how many. */
int64_t sim_publish(struct sim_server *server, const struct sim_word *channel,
                    const struct sim_word *message);
struct sim_channel *sim_session_listens(struct sim_session *session,
                                        const struct sim_word *channel);

/* ---- commands -------------------------------------------------------------------------- */

enum sim_flag {
    SIM_WRITES = 1,
    SIM_DENYOOM = 2,
    SIM_STALE = 4,
    SIM_WHILE_LOADING = 8,
    SIM_ALLOW_BUSY = 16,
    SIM_NO_AUTH = 32,
    SIM_SCRIPTING = 64, /* of the category */
    SIM_IS_PING = 128,
    SIM_IN_SUBSCRIBER = 256
};

struct sim_call {
    struct sim_server *server;
    struct sim_session *session;
    const struct sim_command *command;
    enum sim_trouble trouble; /* the state that this command meets */
    bool dirty;               /* a script that has written */
    unsigned db;
    int64_t now_ms;
    unsigned words;
    struct sim_word word[SIM_WORDS_MAX];
    /* For whoever looks at changes. */
    const char *name, *argument;
    struct sim_text *out;
};

struct sim_command {
    const char *name; /* "client|setname" for a subcommand */
    int arity;        /* negative: at least */
    unsigned flags;
    void (*run)(struct sim_call *call);
};

/* Execute what call->word says; the reply is in call->out. */
void sim_command_run(struct sim_call *call);
extern const struct sim_command sim_commands_keys[], sim_commands_lists[],
    sim_commands_talk[]; /* name NULL: end */
void sim_run_ping(struct sim_call *call);
void sim_run_auth(struct sim_call *call);
void sim_run_setname(struct sim_call *call);
void sim_run_quit(struct sim_call *call);
void sim_run_subscribe(struct sim_call *call);
void sim_run_unsubscribe(struct sim_call *call);
void sim_run_eval(struct sim_call *call);
void sim_run_evalsha(struct sim_call *call);
void sim_run_script_load(struct sim_call *call);
void sim_run_script_exists(struct sim_call *call);

/* The key that the first argument names, or NULL. False: it is of another type, and that has
 * been said. */
bool sim_find_of_type(struct sim_call *call, enum sim_type type, struct sim_key **ret_key);
/* LRANGE and ZRANGE; LLEN and ZCARD. */
void sim_run_range(struct sim_call *call, enum sim_type type);
void sim_run_count(struct sim_call *call, enum sim_type type);

bool sim_word_is(const struct sim_word *word, const char *text); /* in any case */
/* As Redis reads integers: no sign +, no leading zeros, no blanks. */
bool sim_word_integer(const struct sim_word *word, int64_t *ret);
bool sim_word_float(const struct sim_word *word, double *ret);

/* The end that "PX ttl" and the like mean. False: none that Redis would take. */
bool sim_end_ms(const struct sim_call *call, int64_t ttl_ms, int64_t *ret_end_ms);

/* Error texts, without "-" and CRLF. */
extern const char sim_wrong_type[], sim_not_integer[], sim_not_float[], sim_syntax[];

/* ---- replies --------------------------------------------------------------------------- */

void sim_put(struct sim_text *out, const char *text);
void sim_put_error(struct sim_text *out, const char *text); /* "ERR ..." */
void sim_put_ok(struct sim_text *out);
void sim_put_integer(struct sim_text *out, int64_t number);
void sim_put_array(struct sim_text *out, size_t elements);
void sim_put_bulk(struct sim_text *out, const char *bytes, size_t len);
void sim_put_nil(struct sim_text *out);
void sim_put_number(struct sim_text *out, int64_t number); /* digits only */

/* ---- troubles -------------------------------------------------------------------------- */

/* What this command meets. */
enum sim_trouble sim_trouble_draw(struct sim_server *server);
/* The error text with which it is refused, or NULL. `scripted`: from within a script. */
const char *sim_trouble_refuses(const struct sim_call *call, unsigned flags, bool scripted);
/* EVAL and EVALSHA look at this themselves. */
extern const char sim_masterdown[];
/* A reply is ready, and maybe made another. */
void sim_trouble_twist(struct sim_call *call);
void sim_lie(struct sim_call *call); /* sim_lie.c */

/* ---- what changes keys ----------------------------------------------------------------- */

struct sim_key *sim_key_find(struct sim_server *server, unsigned db, const char *bytes,
                             size_t len);
/* Also one that has expired right now and was not dropped yet. */
struct sim_key *sim_key_at(struct sim_server *server, unsigned db, const char *bytes,
                           size_t len);
/* `call` says whose doing it is; NULL: nobody's. The kind of change is told as it is. */
void sim_key_set(struct sim_server *server, const struct sim_call *call,
                 const struct sim_word *name, const struct sim_word *value, int64_t end_ms);
void sim_key_delete(struct sim_key *key, const struct sim_call *call, enum sim_change change);
void sim_key_end(struct sim_key *key, const struct sim_call *call, int64_t end_ms);

/* The rest is told to nobody, and serves restarts and undoing. */
struct sim_key *sim_key_new(struct sim_server *server, unsigned db, const char *bytes,
                            size_t len, enum sim_type type);
void sim_key_drop(struct sim_key *key);
void sim_key_move(struct sim_key *key, int64_t end_ms); /* its end, and the event */
void sim_key_tell(const struct sim_key *key, const struct sim_call *call,
                  enum sim_change change, const char *before, const char *after);

/* A marker, a quarantine, or the node lists of clients: no lock, and told to nobody. */
bool sim_is_marker(const char *name);
void sim_marker_gone(const struct sim_key *key); /* one of these */
bool sim_server_quarantined(struct sim_server *server); /* does it stand? */

/* Sorted sets, and what else has members. */
size_t sim_member_find(const struct sim_key *key, const char *bytes,
                       size_t len); /* or members */
/* True: it is new. Makes the key where `*key` is NULL. */
bool sim_member_put(struct sim_server *server, unsigned db, const struct sim_word *name,
                    struct sim_key **key, double score, const char *bytes, size_t len);
/* The same for a hash or a set. */
bool sim_member_set(struct sim_server *server, unsigned db, const struct sim_word *name,
                    struct sim_key **key, enum sim_type type, const struct sim_word *member,
                    const struct sim_word *value);
void sim_member_remove(struct sim_key *key, size_t which); /* the last one: the key goes */

/* Lists, whose members need not be different ones. */
void sim_list_push(struct sim_server *server, unsigned db, const struct sim_word *name,
                   const char *bytes, size_t len);
void sim_list_remove(struct sim_key *key, size_t which); /* the last one: the key goes */

/* Its data is gone, or torn: whoever looks at the order of waiters is told. */
void sim_tell_lost(const struct sim_server *server, bool torn, bool evicted);

/* What was so until now, for a crash that takes the last second back. */
void sim_undo_absent(const struct sim_key *key);
void sim_undo_whole(const struct sim_key *key); /* the key with all that is in it */
void sim_undo_end(const struct sim_key *key);
void sim_undo_member(const struct sim_key *key, const struct sim_member *member, bool was);
void sim_undo_since(struct sim_server *server, int64_t since_ns);
void sim_undo_forget(struct sim_server *server);

/* Its log is the other one's, whose keys it has. */
void sim_undo_copy(struct sim_server *to, const struct sim_server *from);
/* It is about to be another one, or down: its replicas, and it as one, keep what they have. */
void sim_replica_keeps(struct sim_server *server);
unsigned sim_replicas_of(const struct sim_server *server); /* that are linked */

/* sim_sentinel.c: a Sentinel's process begins, in a new world or again; it is gone. */
struct sim_sentinel *sim_sentinel_begin(struct sim_server *server);
void sim_sentinel_end(struct sim_server *server);
void sim_sentinel_restart(struct sim_server *server, bool forgets);
extern const struct sim_command sim_commands_sentinel[];

void sim_server_kill(struct sim_server *server);
const char *sim_server_password(const struct sim_server *server); /* NULL: none */
void sim_restart_keys(struct sim_server *server, enum sim_restart how);

#endif
