/* sim_script_parts.h - between the files of the model masters' scripts: a run of one, and what
 * redis.call() and redis.pcall() come to. */
#ifndef SIM_SCRIPT_PARTS_H
#define SIM_SCRIPT_PARTS_H

#include "sim_master_parts.h"

#include "kinds/kind.h"

struct sim_run {
    struct sim_call *call;
    const char *body;
    const char *sha;
    const struct sim_word *keys, *args; /* KEYS[i + 1], ARGV[i + 1] */
    unsigned n_keys, n_args;
    bool echoes; /* the token, without its first character, in a nonce's place */
    /* For the story. */
    bool answered, yes;
    int code;
    int64_t place;
    int64_t left_ms;
    char holder[64];
};

typedef void sim_script_fn(struct sim_run *run);

/* sim_scripts_fence.c: a script inside one of the two of lib/kinds/fence. */
void sim_run_fenced(struct sim_run *run, sim_script_fn *inside, const char *short_name);

/* sim_scripts_marker.c: marker_strict.lua, before a script. False: it has answered. */
bool sim_marker_stands(struct sim_run *run);

struct sim_known_script {
    const char *name; /* NULL: the end */
    sim_script_fn *run;
};
extern const struct sim_known_script sim_scripts_certify[], sim_scripts_fair[],
    sim_scripts_lists[], sim_scripts_marker[], sim_scripts_plain[], sim_scripts_qrw[],
    sim_scripts_reentrant[], sim_scripts_rw[], sim_scripts_several[];

/* May a script call a command with such flags now? The error, or NULL. */
const char *sim_script_enter(struct sim_run *run, unsigned flags);
/* Whatever stands there; NULL: nothing. */
struct sim_key *sim_script_key(const struct sim_run *run, const struct sim_word *name);

/* As Lua makes a number of a string (false: it makes none), and as %.0f rounds: to even. */
bool sim_lua_number(const struct sim_word *word, double *ret);
double sim_lua_whole(double number);

/* NULL: nil. */
static inline const struct sim_word *sim_keys_at(const struct sim_run *run, unsigned i)
{
    return i <= run->n_keys ? &run->keys[i - 1] : NULL;
}

static inline const struct sim_word *sim_argv_at(const struct sim_run *run, unsigned i)
{
    return i <= run->n_args ? &run->args[i - 1] : NULL;
}

/* Commands, as scripts call them: the error's text, or NULL. Words that are NULL are nil. */
const char *sim_script_get(struct sim_run *run, const struct sim_word *name,
                           const struct sim_key **ret_key);
const char *sim_script_type(struct sim_run *run, const struct sim_word *name,
                            const char **ret_type);
const char *sim_script_set(struct sim_run *run, const struct sim_word *name,
                           const struct sim_word *value, const struct sim_word *ttl,
                           bool if_absent, bool *ret_done);
/* Without an end. */
const char *sim_script_set_for_ever(struct sim_run *run, const struct sim_word *name,
                                    const struct sim_word *value);
const char *sim_script_del(struct sim_run *run, const struct sim_word *name, bool *ret_there);
const char *sim_script_pttl(struct sim_run *run, const struct sim_word *name,
                            int64_t *ret_left_ms);
const char *sim_script_pexpire(struct sim_run *run, const struct sim_word *name,
                               const struct sim_word *ttl);
const char *sim_script_zadd(struct sim_run *run, const struct sim_word *name, double score,
                            const struct sim_word *member);
const char *sim_script_zrem(struct sim_run *run, const struct sim_word *name,
                            const struct sim_word *member, bool *ret_there);
const char *sim_script_zrank(struct sim_run *run, const struct sim_word *name,
                             const struct sim_word *member, int64_t *ret_rank); /* -1: nil */
/* PEXPIREAT of a whole number. */
const char *sim_script_pexpireat(struct sim_run *run, const struct sim_word *name,
                                 double at_ms);
/* Errors are the script's own business. */
void sim_script_publish(struct sim_run *run, const struct sim_word *channel, const char *text);
/* Its first member, good until it changes; NULL: there is none. */
const char *sim_script_head(struct sim_run *run, const struct sim_word *name,
                            const struct sim_member **ret_member);
/* A copy of the first member; `ret_member->len` 0 and bytes NULL: there is none. */
const char *sim_script_first(struct sim_run *run, const struct sim_word *name,
                             char ret_text[SIM_MEMBER_MAX + 1], struct sim_word *ret_member);

/* foreign_data.lua, after a command for data of the type `expected` has failed with `error`:
 * what stands there is answered (and `place` where it is not NULL), or how the script fails. */
void sim_script_foreign_data(struct sim_run *run, const struct sim_word *name,
                             const char *expected, const char *error, const int64_t *place);

/* How a script ends. `where`: what the line holds on which it stood. */
void sim_script_fail(struct sim_run *run, const char *where, const char *error);
void sim_script_fail_lua(struct sim_run *run, const char *where, const char *error);
void sim_script_answer(struct sim_run *run, bool yes);              /* {ARGV[1], 1 or 0} */
void sim_script_answer_code(struct sim_run *run, enum rl_code code); /* {ARGV[1], code} */
void sim_script_answer_number(struct sim_run *run, int64_t number); /* {ARGV[1], 1, number} */
/* {ARGV[1], code, ms left, holder}, and the place where `place` is not NULL. */
void sim_script_refuse(struct sim_run *run, enum rl_code code, int64_t left_ms,
                       const struct sim_word *holder, const int64_t *place);

#endif
