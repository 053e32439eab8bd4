/* sim_named.h - named scenarios: small worlds with fixed delays in which one thing happens,
 * each told as a story that is kept in tests/sim/golden.
 *
 * A scenario directs: it lets time pass, tells players what to do and masters and networks what
 * becomes of them, and says what it expects. A player is a process with one client of the
 * library, which wants the lock "jobs" mostly.
 */
#ifndef SIM_NAMED_H
#define SIM_NAMED_H

#include "sim_client.h"

struct sim_scenario {
    const char *name;  /* and that of its file in golden/ */
    const char *about; /* what the story is about: a sentence or two */
    void (*play)(void);
};

/* One file each, ended by one without a name. */
extern const struct sim_scenario sim_named_take[], sim_named_undo[], sim_named_keep[],
    sim_named_wait[], sim_named_fault[], sim_named_fit[], sim_named_shared[],
    sim_named_nested[], sim_named_several[], sim_named_fair[], sim_named_rw[], sim_named_loss[],
    sim_named_links[], sim_named_native[], sim_named_detach[], sim_named_absent[],
    sim_named_clock[], sim_named_lazy[], sim_named_fence[], sim_named_follow[],
    sim_named_marker[], sim_named_watch[], sim_named_members[], sim_named_back[],
    sim_named_two[], sim_named_line[], sim_named_kept[], sim_named_failover[];

/* ---- the world ------------------------------------------------------------------------ */

/* So many masters, up for a day. Every message takes a millisecond each way, every command
 * 10 us, unless it is told otherwise. The story is not told yet. */
void sim_stage(unsigned masters);

/* The same, and a server behind them that nobody's list names. */
void sim_stage_with_spare(unsigned masters);

/* So many services: a master and a replica each, and three Sentinels, whose markers are there. The
 * servers of the first one of one are n1 and n2, and its Sentinels n3, n4 and n5. */
void sim_stage_with_sentinels(unsigned services);

/* Locks are looked for in that database. */
void sim_stage_in_db(unsigned masters, unsigned db);

/* From here on it is told. */
void sim_curtain(void);

void sim_pass_ms(int64_t ms); /* time passes */
void sim_pass_us(int64_t us);

/* It is also played with what so many seeds draw. Each has a story of its own, which is not
 * compared. */
void sim_also_drawn(unsigned seeds);

/* What must be true here; else the scenario has failed, and the text says in what. */
#define sim_expect(what) sim_expect_that((what), #what)
void sim_expect_that(bool what, const char *text);

/* That there was none of these so far, or that there was. */
void sim_expect_costs(enum sim_oracle oracle, bool some);

unsigned sim_keys(void); /* masters that have a key "jobs" */

/* How often a key "jobs" was taken since the curtain by a script of that name. */
unsigned sim_taken_by(const char *script);

/* ---- players --------------------------------------------------------------------------- */

struct sim_player {
    struct sim_proc *proc;
    struct sim_fiber *fiber;
    void (*act)(struct sim_player *player); /* what it is doing; NULL: nothing */
    bool left;
    struct sim_client_options how;
    redlock *client;
    bool beside;       /* the client is another player's */
    const char *names; /* what it takes, as in sim_names.h; NULL: the lock "jobs" */
    redlock_options options;
    bool native; /* it wants no report, so it takes a free lock by the native pair */
    int64_t extend_ms;
    redlock_lock *lock; /* NULL: it has none */
    struct sim_hold *hold;
    char token[128]; /* of the last one it had */
    int result;      /* of its last call */
    int64_t done_ns; /* when that was done */
    int64_t validity_ms;
    int64_t look_ns;    /* when it is to look */
    unsigned told_lost; /* how often */
    int64_t lost_ns;    /* when */
    bool lost_valid;    /* the lock was still valid when it was told */
    redlock_report report;
    redlock_node_vote votes[REDLOCK_NODES_MAX];
};

/* A player whose client is opened now, with these options or the usual ones. `max_ttl_ms` is
 * 1000 where it is 0. */
struct sim_player *sim_enters(const char *name, const struct sim_client_options *how);

/* The same, and it has had the lock once: connections stand and scripts are known. */
struct sim_player *sim_is_there(const char *name, const struct sim_client_options *how);

/* SIM_SET(3, how, ann, bob): a stage with three masters, and up to three that are there: each
 * name is declared. SIM_CAST: and the curtain is up. */
void sim_set(unsigned masters, const struct sim_client_options *how, ...);

#define SIM_CAST(masters, how, ...)                                                            \
    SIM_SET(masters, how, __VA_ARGS__);                                                        \
    sim_curtain()
#define SIM_SET(masters, how, ...)                                                             \
    __typeof__(struct sim_player *) __VA_ARGS__;                                               \
    sim_set(masters, how, SIM_SET_OF_(__VA_ARGS__, THREE, TWO, ONE, )(__VA_ARGS__), NULL)
#define SIM_SET_OF_(one, two, three, count, ...) SIM_SET_##count##_
#define SIM_SET_ONE_(one) #one, &(one)
#define SIM_SET_TWO_(one, two) SIM_SET_ONE_(one), SIM_SET_ONE_(two)
#define SIM_SET_THREE_(one, two, three) SIM_SET_TWO_(one, two), SIM_SET_ONE_(three)

/* The same, on another player's host. */
struct sim_player *sim_lives_with(struct sim_player *other, const char *name);

/* The same, with options of its own, and in a time namespace with a clock that is set off by so
 * much. */
struct sim_player *sim_lives_apart(struct sim_player *other, const char *name,
                                   const struct sim_client_options *how, int64_t by_ms);

/* Another thread of its process, on the same client. */
struct sim_player *sim_beside(struct sim_player *player);

/* It takes locks of that kind from now on, as an owner of its process's name. */
struct sim_player *sim_of_kind(struct sim_player *player, int kind);

/* How many scenarios begin: three masters, ann and bob, the curtain, and ann has taken the lock
 * for so long. */
struct sim_player *sim_ann_has_it(int64_t ttl_ms, bool renewed, struct sim_player **ret_bob);

/* Begin to do something, and do it until it is done. */
void sim_begins(struct sim_player *player, void (*act)(struct sim_player *player));
int sim_does(struct sim_player *player, void (*act)(struct sim_player *player));
int sim_finishes(struct sim_player *player); /* what it has begun */

/* Take the lock, for a second or what the options say. */
void sim_begins_to_take(struct sim_player *player, int64_t ttl_ms, int64_t wait_ms);
int sim_takes(struct sim_player *player, int64_t ttl_ms, int64_t wait_ms);
int sim_extends(struct sim_player *player, int64_t ttl_ms);
int sim_releases(struct sim_player *player);
int64_t sim_asks_validity(struct sim_player *player);
/* One gives it up, and another, who waits, has it within so long. */
void sim_hands_over(struct sim_player *from, struct sim_player *to, int64_t within_ms);
/* A player beside one that has the lock looks at that at this time. */
void sim_looks_on(struct sim_player *beside, const struct sim_player *holder, int64_t at_ns);
void sim_goes(struct sim_player *player); /* its client is closed */
void sim_crashes(struct sim_player *player);

/* Its next lock is watched, and renewed or not: it hears of its loss. */
void sim_watches(struct sim_player *player, bool renews);

/* Acts. */
void sim_act_take(struct sim_player *player);
void sim_act_extend(struct sim_player *player);
void sim_act_release(struct sim_player *player);
void sim_act_look(struct sim_player *player);
void sim_act_close(struct sim_player *player);

unsigned sim_keys_of(const struct sim_player *player); /* masters that have its key */
bool sim_has_key(const struct sim_player *player, unsigned master);

/* How long messages take between it and a master, from now on. */
void sim_delay_ms(struct sim_player *player, unsigned master, int64_t there_ms,
                  int64_t back_ms);

/* ---- sim_named.c: telling and comparing ------------------------------------------------- */

/* Play those of that name, all where it is NULL. 0: all went as they should. */
int sim_named_run(const char *name, bool update, bool show);
void sim_named_list(void);

#endif
