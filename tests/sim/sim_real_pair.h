/* sim_real_pair.h - a model master and a redis-server, told the same by the same connections,
 * and compared. What both say in reply is compared byte for byte; where integers differ, they
 * must be times, and as near to each other as the course of the run allows: the model's clock
 * follows the real one, and how far the two were apart is measured. */
#ifndef SIM_REAL_PAIR_H
#define SIM_REAL_PAIR_H

#include "sim_master_rig.h"

#include "masters.h"
#include "sim_real_words.h"

enum { PAIRS_MAX = 8, PAIR_BYTES = 1 << 17 };

struct pair {
    struct sim_conn *model;
    int fd;
    unsigned queued; /* commands, in out */
    size_t out_len, in_len;
    char out[PAIR_BYTES], in[PAIR_BYTES];
};

struct pair_tally {
    unsigned long errors, wrong_type, no_script, in_lua, granted, refused, queued, messages,
        times, expired, ended;
};

struct pair_run {
    struct masters *masters;
    struct rl_prng prng;
    unsigned long seed, operations, compared;
    unsigned pairs;
    struct pair pair[PAIRS_MAX];
    int64_t start_ns,
        model_ns;           /* of the real clock: the model's time 0; the model's, at last */
    int64_t apart_ns;       /* the most */
    int64_t times_apart_ms; /* in replies, the most */
    struct pair_tally tally;
};

/* The first of those masters is the real one. `password`: both's, or NULL. */
void pair_begin(struct pair_run *run, unsigned long seed, unsigned pairs,
                struct masters *masters, const char *password);
void pair_end(struct pair_run *run);

/* Queue a command for both; a comparison sends it. */
void pair_send(struct pair_run *run, unsigned pair, const struct pair_words *words);
/* Its words, up to a NULL. */
void pair_say(struct pair_run *run, unsigned pair, ...) __attribute__((sentinel));
void pair_send_bytes(struct pair_run *run, unsigned pair, const char *bytes);
/* What was queued is sent in pieces, and everything that both say is compared. */
void pair_compare(struct pair_run *run, unsigned pair);
/* The same, and both end the connection then; a new one takes its place. */
void pair_compare_end(struct pair_run *run, unsigned pair);
/* In the database of pair 0. */
void pair_await_gone(struct pair_run *run, const char *name);

/* The main() of such a program: the model is of Redis 7.0, and without one it is skipped. */
int pair_main(void);

#endif
