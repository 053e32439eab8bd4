/* cli.h - what the parts of redlock(1) share: exit statuses, what was asked for, one line on
 * stderr that says why, and the way to a client.
 *
 *   main.c            the way in              cmd_run.c      run
 *   cli_options.c     the command line        cmd_lock.c     lock, extend, release
 *   cli_values.c      what options set        cmd_inspect.c  inspect
 *   cli_check.c       what goes together      cmd_status.c, status_*.c   status
 *   cli_client.c      a client, codes         cmd_break.c    break
 *   cli_nodes.c       which node list         cmd_init.c     init
 *   cli_acquire.c     acquiring a lock        cli_out.c      text and JSON
 *   cli_explain.c     why it was not had      cli_nested.c   locks of callers
 *   cli_format_view.c what masters know       cli_outcome.c  the object of --json
 *   cli_signal.c      signals while waiting   cli_patience.c a word while waiting
 */
#ifndef CLI_H
#define CLI_H

#include "base/limits.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

/* redlock(1) lists them under EXIT STATUS. */
enum cli_exit {
    CLI_OK = 0,
    CLI_NOT_OURS = 1, /* extend, release: not ours any more; break: the answer was no */
    CLI_DEGRADED = 1, /* status: a quorum, but not all */
    CLI_USAGE = 64,
    CLI_KIND = 65, /* another kind of lock, or no lock, has the name; or a reader would write */
    CLI_NO_QUORUM = 69,
    CLI_SYSTEM = 71, /* no memory, no descriptors, output that can't be written */
    CLI_LOST = 74,
    CLI_NOT_ACQUIRED = 75,
    CLI_UNKNOWN = 77, /* status --wait: not to be known until a person acts */
    CLI_CONFIG = 78,
    CLI_CANNOT_RUN = 126,
    CLI_NOT_FOUND = 127,
    CLI_SIGNALED = 128 /* plus the signal's number */
};

enum cli_verb {
    CLI_NONE = 0,
    CLI_RUN = 1 << 0,
    CLI_LOCK = 1 << 1,
    CLI_EXTEND = 1 << 2,
    CLI_RELEASE = 1 << 3,
    CLI_INSPECT = 1 << 4,
    CLI_STATUS = 1 << 5,
    CLI_BREAK = 1 << 6,
    CLI_INIT = 1 << 7
};

/* The signals as they were at our start: a command gets the same. */
struct cli_signals {
    sigset_t mask;
    sigset_t ignored; /* of those that we set */
};

/* The parsed command line. The strings are argv's. */
struct cli {
    char **argv;
    enum cli_verb verb;
    const char *nodes_file; /* -n; NULL: look for one */
    const char *operand;    /* NAME or HANDLE; NULL where it may be missing and is */
    unsigned name_count;    /* run, lock: NAME and more of them; inspect: 1 */
    const char *names[REDLOCK_NAMES_MAX]; /* the first is `operand` */
    char **command;                       /* run: up to a NULL */
    int kind;                             /* enum redlock_kind */
    const char *owner;                    /* NULL: not given */
    unsigned uses;                        /* status: --kinds, as rights.h; 0: not given */
    const char *prefix;                   /* status: of the probe's name; NULL: not given */
    int64_t ttl_ms;                       /* 0: the node list's default */
    int64_t wait_ms;                      /* -1: for ever */
    int64_t grace_ms;                     /* -1: a quarter of the lease */
    int64_t at_least_ms;                  /* others are kept out so long; 0: not given */
    int not_acquired;                     /* -E; -1: not given */
    bool fenced;                          /* with a fencing token */
    bool descendants;                     /* run: until the last of them has ended */
    bool json;
    bool watch;
    bool prometheus;
    bool acl;
    bool probe;            /* status: prove locks, and ask nothing else */
    bool allow_unknown;    /* status --wait: what can't be known does not count */
    unsigned replace;      /* init: of this master, from 1; 0: of all */
    int64_t tokens_above;  /* init: certify masters above that; 0: not given */
    bool yes;              /* break, init: don't ask */
    bool even_without_ttl; /* break: also what has no TTL */
    bool quiet;
    bool verbose;
    bool no_stdout; /* it was closed at our start */
    struct cli_signals signals;
};

/* ---- cli_options.c ---- */

/* "run", "lock", ...; "" for none. */
const char *cli_verb_word(enum cli_verb verb);

/* -1: go on. Else leave with this status; help, or what is wrong, has been written. */
int cli_options_parse(struct cli *cli, int argc, char **argv);

/* ---- cli_out.c ---- */

/* Write "redlock: ...\n" to stderr at once, unless -q. The caller must have escaped foreign
 * text. */
void cli_say(const struct cli *cli, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same, of something that went by: no outcome to tell in JSON. */
void cli_note(const struct cli *cli, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A name, a handle or a token as printable text, cut to fit. */
#define CLI_TEXT_MAX 256
struct cli_text {
    char text[CLI_TEXT_MAX];
};
struct cli_text cli_text(const void *bytes, size_t len);

/* The name or names, each in quotes. */
struct cli_text cli_names_text(const struct cli *cli);

/* The time of day: "2026-11-28T02:13:05+0100". */
struct cli_text cli_clock_text(void);

/* "85ms", "8.2s", "5m12s", "3h40m", "12d3h". */
struct cli_text cli_time_text(int64_t ms);

/* "8.2s left", "for ever". */
struct cli_text cli_left_text(int64_t ttl_ms);

/* "plain", "read", ... */
const char *cli_kind_word(int kind);

/* A copy of the names of a lock, because they end with its handle. */
struct cli_names {
    size_t count;
    size_t len[REDLOCK_NAMES_MAX];
    char bytes[REDLOCK_NAME_MAX]; /* one behind the other */
};
void cli_names_of(const redlock_lock *lock, struct cli_names *ret_names);
struct cli_text cli_first_name(const struct cli_names *names);

/* "name":"...", of several "names":[{"name":"..."},...] */
void cli_json_names(FILE *out, const struct cli_names *names);

/* ,"fencing_token":... of a lock that has one. */
void cli_json_fencing_token(FILE *out, uint64_t token);

/* "key":"..." with bytes that are no UTF-8 as \ufffd, and then "key_hex":"..." too. */
void cli_json_bytes(FILE *out, const char *key, const void *bytes, size_t len);
void cli_json_text(FILE *out, const char *key, const char *text);

/* Does the master reserve the name for a waiter that it woke? Then nobody holds it. */
bool cli_is_reserved(const redlock_node_vote *vote);

/* "nodes":[{"node":"...","vote":"granted"},...] */
void cli_json_votes(FILE *out, const redlock_report *report);

/* -v: one line a node, on stderr. */
void cli_say_votes(const struct cli *cli, const redlock_report *report);

/* All of stdout is written: CLI_OK, or CLI_SYSTEM and a line that says so. */
int cli_flush(const struct cli *cli);

/* The answer to a question that was written to the terminal: yes? */
bool cli_says_yes(void);

/* ---- cli_outcome.c: with --json one object is printed, whatever happens ---- */

/* Note the last line on stderr: the reason, if the verb fails. */
void cli_outcome_said(const char *why);

/* "{" of a verb's own object. */
void cli_json_begin(FILE *out);
/* Of `status`, behind the brace: "schema", "version" and "time", and a comma. */
void cli_json_status(FILE *out);
/* The metric that is there on every way out. */
void cli_metric_fit(bool fit);
/* "name":"..." or "names":[...] as they were asked for. */
void cli_json_asked_names(FILE *out, const struct cli *cli);
/* ,"result":"...","exit_status":0} and, if that is not 0, "error" with the last line of
 * stderr. */
void cli_json_result(FILE *out, const char *result, int status);
/* The stream for JSON: stderr for `run`, because its command has stdout. */
FILE *cli_json_out(const struct cli *cli);

/* Must be called on every way out: prints an object, if one is wanted and the verb has printed
 * none. */
void cli_outcome_end(const struct cli *cli, int status);

/* ---- cli_client.c ---- */

/* Find the node list file and open a client on it, once in a program. CLI_OK, or the exit
 * status (the line has been written). */
int cli_open(const struct cli *cli, redlock **ret_client);

/* COMMAND runs, or not any more: the client's warnings are shown meanwhile, with the time. */
void cli_warn(bool command_runs);

/* The exit status for an error code of the library. */
int cli_exit_of(int code);

/* ---- cli_nodes.c ---- */

/* Find the node list: a file's path, or words. CLI_OK, or the exit status (the line has been
 * written). */
int cli_nodes_find(const struct cli *cli, const char **ret_path);

/* Read it; to be freed in any case. CLI_OK, or the exit status (the line has been written). */
struct rl_config;
int cli_nodes_read(const struct cli *cli, struct rl_config *ret_config);

/* Use this list; -v says so. CLI_OK or CLI_CONFIG. The second returns the words, or the file's
 * absolute path; the third the same for people: no password is in it. */
int cli_nodes_use(const struct cli *cli, const char *list);
const char *cli_nodes_used(void);
const char *cli_nodes_shown(void);

/* The names of the variables that the list in use has as a password-env. NULL: no more. */
const char *cli_nodes_secret(unsigned number);

/* run: the list's mark, as it was when the client read it. */
struct rl_list_mark;
const struct rl_list_mark *cli_nodes_mark(void);

/* The end of each JSON object: which node list was used, the brace and the newline. */
void cli_json_end(void);

/* ---- cli_signal.c ---- */

/* Remember how signals were; ignore SIGPIPE from here on. */
void cli_signals_note(struct cli_signals *signals);

/* What signals do as it was, and then the mask, after which one for the group may end us. */
void cli_signals_restore(const struct cli_signals *signals);

/* From here on TERM, INT, HUP, QUIT, USR1 and USR2 (those that were not ignored) cancel every
 * wait of `client`, NULL: of none, and are remembered. */
void cli_cancel_on_signals(const struct cli *cli, redlock *client);

/* The first of them that came, or 0. Block them first where none may be missed. */
int cli_canceled_by(void);

void cli_signals_to_forward(sigset_t *ret_set);

/* ---- cli_nested.c ---- */

/* The value of $REDLOCK_HELD for our command: what it was, and our locks. To be freed; NULL: no
 * memory. */
char *cli_nested_text(const struct cli *cli);

/* A name that a `redlock run` above us holds, so that we would wait for ourselves; or NULL. */
const char *cli_nested_in(const struct cli *cli);

/* ---- cli_acquire.c ---- */

/* Acquire the lock; this fills in TTL and wait in `how`, which must have a report. *ret_lock is
 * NULL where it was not acquired; the status to leave with then may be 0 (-E 0). The caller
 * must have called cli_cancel_on_signals(). When a wait begins, `waits` is called with the code of
 * the try before it, unless it is NULL. */
typedef void cli_waits_fn(const struct cli *cli, int code, const redlock_report *report);
int cli_acquire(const struct cli *cli, redlock *client, redlock_options *how,
                cli_waits_fn *waits, redlock_lock **ret_lock);

/* No work began under it: release it, whatever --at-least says. */
int cli_undo(redlock_lock *lock);

/* ---- cli_explain.c ---- */

/* Say why the lock was not acquired and what happens next, and with -v the votes. Masters may be
 * asked for their states, unless `client` is NULL. */
void cli_explain(const struct cli *cli, redlock *client, int code, const redlock_report *report,
                 const char *then);
/* The first master that says that another holds the lock; or NULL. */
const redlock_node_vote *cli_first_holder(const redlock_report *report);
/* Without a quorum: does waiting help nobody, because a person is needed? And the status. */
bool cli_is_hopeless(const redlock_report *report);
int cli_exit_without_quorum(const redlock_report *report);
/* The same as an object. */
void cli_json_explain(const struct cli *cli, int code, const redlock_report *report,
                      int status);
/* "held", "no quorum", "expired", "other kind", ... */
const char *cli_result_word(int code);
/* The library's word for a master that is guarded for each client that comes, at any time. */
#define CLI_NO_UPTIME "tells no uptime"

/* So begins its text of a master that is quarantined as soon as a lock is wanted; and of one
 * without a marker. */
#define CLI_TO_BE "to be quarantined, because "
#define CLI_UNMARKED CLI_TO_BE "it has no marker"

/* ---- cli_format_view.c: what redlock_inspect() tells ---- */

/* With room for all of it: some 200 KiB, not for a stack. */
struct cli_info {
    redlock_lock_info all; /* `nodes` 0: nothing is known */
    redlock_node_info node[REDLOCK_NODES_MAX];
    redlock_holder holder[(REDLOCK_NODES_MAX + 1) * REDLOCK_HOLDERS_SHOWN];
};
int cli_inspect(const struct cli *cli, redlock *client, struct cli_info *ret_info);

/* The answer of one master, or of a majority. */
struct cli_view {
    int state;
    int64_t ttl_ms, writer_ms;
    unsigned waiting, holders;
    const char *data;
    unsigned shown;
    const redlock_holder *holder; /* `shown` of them */
};
struct cli_view cli_view_of_majority(const struct cli_info *info);
struct cli_view cli_view_of(const struct cli_info *info, unsigned node);
/* Nobody has it. */
bool cli_is_free(int state);

/* "plain", "reentrant", "fair", "read-write", "data", "free", "unknown". */
const char *cli_state_word(int state);
/* "held by a (2 holds), 5s left", "read by 3: a, b, c; 5s left; 2 wait": in one line. */
struct cli_text cli_format_view(const struct cli_view *view);
/* The clients of the holders, as far as masters show them; to be freed. NULL: nothing is
 * known. */
struct holder_clients;
struct holder_clients *cli_holder_clients(const struct cli *cli, const struct cli_info *info);
/* Print a line for each named holder and one for the others, with what the line above lacks. */
void cli_print_holders(const struct cli_view *view, const struct holder_clients *clients);
/* ,"kind":"...","ttl_ms":...,"holders":[...],... of a lock that is not free. */
void cli_json_view(FILE *out, const struct cli_view *view,
                   const struct holder_clients *clients);

/* ---- the verbs: each returns the exit status ---- */

int cmd_run(const struct cli *cli);
int cmd_lock(const struct cli *cli);
int cmd_extend(const struct cli *cli);
int cmd_release(const struct cli *cli);
int cmd_inspect(const struct cli *cli);
int cmd_status(const struct cli *cli);
int cmd_break(const struct cli *cli);
int cmd_init(const struct cli *cli);

#endif
