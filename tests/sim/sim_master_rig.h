/* sim_master_rig.h - model masters without a network: connections on which bytes are heard at
 * once, as they are given, and what the masters say is kept. */
#ifndef SIM_MASTER_RIG_H
#define SIM_MASTER_RIG_H

#include "sim_master.h"

struct sim_conn {
    unsigned master;
    void *session;
    bool ended, reset; /* by the master */
    size_t len;
    char said[1 << 18]; /* by the master; a NUL is behind it */
};

/* A world of so many masters. Changes are kept in changes[]. */
void rig_begin(uint64_t seed, unsigned masters, const char *password);
void rig_end(void);

struct rig_change {
    unsigned master;
    enum sim_change change;
    char command[32], argument[64], name[64], before[96], after[96]; /* "-": NULL */
    int64_t at_ns, end_ns;
};
enum { RIG_CHANGES_MAX = 256 };
extern struct rig_change changes[RIG_CHANGES_MAX];
extern unsigned n_changes;
void expect_change(unsigned which, enum sim_change change, const char *command,
                   const char *before, const char *after);

struct sim_conn *dial(unsigned master);
void hang_up(struct sim_conn *conn); /* from the client's side, or it has ended: freed */
void send_bytes(struct sim_conn *conn, const void *bytes, size_t len);
/* The words end with NULL. */
void send_words(struct sim_conn *conn, ...) __attribute__((sentinel));
/* Let so much time pass. */
void pass(int64_t ns);
/* Send, let a ms pass, and what has been said since: good until the next call. */
const char *ask(struct sim_conn *conn, ...) __attribute__((sentinel));
/* What has been said since the last look. */
const char *heard(struct sim_conn *conn);
extern size_t heard_len; /* of what heard() and ask() gave last, which may have NULs in it */

/* One of the library's scripts, by its short name and by hash; the words after it are its keys
 * and arguments. */
const char *ask_script(struct sim_conn *conn, const char *script, ...)
    __attribute__((sentinel));
void teach_scripts(struct sim_conn *conn); /* SCRIPT LOAD, all of them */
const char *script_body(const char *short_name);
const char *script_sha(const char *short_name);
const char *script_fenced_body(const char *short_name); /* NULL: none */
const char *sha_of(const char *body);
unsigned script_keys(const char *short_name);
const char *script_key_letters(const char *short_name); /* as the table of kinds has them */
const char *script_arg_letters(const char *short_name);
bool script_echoes_token(const char *short_name);

#endif
