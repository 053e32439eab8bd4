/* hold_world.h - a small model world for holds. It has N masters with one key each, and a few
 * clients with two link slots a master. It has first-in first-out queues both ways, and
 * everything that goes wrong. No time passes but in world_pass(); nothing happens but by a
 * call here, so one seed is one history.
 *
 * The clients do with a hold what lib/engine/lease/lease.c does with it (hold_client.c). The masters
 * do what the scripts do (hold_world.c). hold_check.c says what must be true, in true time,
 * after every single step.
 */
#ifndef TEST_HOLD_WORLD_H
#define TEST_HOLD_WORLD_H

#include "core/hold.h"
#include "base/limits.h"
#include "base/prng.h"

#include <check.h>

#define MS RL_NS_PER_MS
#define CLIENTS_MAX 3
#define ATTEMPTS_MAX 24
#define QUEUE_MAX 48
#define STRAYS_MAX 256
#define MAX_TTL_NS (3 * RL_NS_PER_S)

/* One token: a hold, and what the checker remembers of it. */
struct attempt {
    bool used;
    struct rl_hold hold;
    uint64_t token; /* 0 is nobody's */
    int64_t budget_ns, retry_ns;
    unsigned owed;     /* requests that wait for an answer */
    uint64_t released; /* nodes for which a release was queued */
    bool excused;      /* its client's clock jumped: time is no proof for it */
    bool waits_finish, waits_extend;
    unsigned seen; /* every did-bit so far */
    enum rl_phase phase_before;
    int64_t deadline_before_ns;
};

struct request {
    struct attempt *attempt;
    uint64_t token;
    enum rl_verb verb;
    int64_t ttl_ns;
    bool by_body;
    bool answered; /* by the master; the answer is on its way */
    bool unexecuted;
    enum rl_vote vote;
};

struct link {
    bool open;
    unsigned count;
    struct request queue[QUEUE_MAX]; /* oldest first */
};

struct client {
    double rate;       /* of its clock */
    int64_t offset_ns; /* and what it has jumped */
    bool paused;
    struct link link[REDLOCK_NODES_MAX][RL_SLOTS];
    unsigned current_slot[REDLOCK_NODES_MAX];
    uint64_t run_seen[REDLOCK_NODES_MAX]; /* the master's run, and since when it is known */
    int64_t run_since_ns[REDLOCK_NODES_MAX];
    struct attempt attempt[ATTEMPTS_MAX];
    struct attempt *current; /* asking or held */
};

struct master {
    uint64_t token; /* the key's value; 0: none */
    int64_t expires_ns;
    bool stray; /* a request of a broken link made it */
    double rate;
    uint64_t run;
    int64_t began_ns; /* this run */
    int64_t phase_ns; /* what its clock's second had of fraction then */
};

struct stray {
    struct request request;
    unsigned node;
    unsigned link; /* in order within one */
};

struct world {
    struct rl_prng prng;
    uint64_t seed;
    unsigned n, clients;
    double drift_factor;
    int64_t now_ns; /* true time */
    uint64_t tokens;
    /* what can go wrong in this history */
    bool breaks, strays, restarts, errors, odd_errors, noscripts, full, drains, pauses;
    bool jumps, vanishes;
    struct master master[REDLOCK_NODES_MAX];
    struct client client[CLIENTS_MAX];
    unsigned stray_count;
    struct stray stray[STRAYS_MAX];
};

/* So that a test can see that its histories were not all dull. */
struct tally {
    unsigned long steps, wins, losses, extends, not_extends, dies, finishes, rests, retakes;
    unsigned long settled, abandoned, strays, guarded, released[3], late_yes;
};
extern struct tally tally;

/* hold_world.c: the masters and the links */
void world_begin(struct world *world, uint64_t seed, unsigned n, unsigned clients);
uint64_t world_draw(struct world *world, uint64_t limit);
bool world_chance(struct world *world, unsigned percent);
int64_t client_now_ns(const struct world *world, const struct client *client);
uint64_t client_able(struct world *world, struct client *client);
bool master_votes(struct world *world, struct client *client, unsigned node);
bool link_in_use(const struct client *client, unsigned node);
void link_connect(struct world *world, struct client *client, unsigned node);
void link_break(struct world *world, struct client *client, unsigned node, unsigned slot);
void link_drain(struct world *world, struct client *client, unsigned node);
bool link_execute(struct world *world, struct client *client, unsigned node, unsigned slot);
bool link_deliver(struct world *world, struct client *client, unsigned node, unsigned slot);
void world_master_restart(struct world *world, unsigned node);
void stray_execute(struct world *world);
void world_pass(struct world *world, int64_t ns); /* and every client that runs looks */

/* hold_client.c: what lib/engine/lease/lease.c does */
void client_ask(struct world *world, struct client *client);
void client_extend(struct world *world, struct client *client);
void client_release(struct world *world, struct client *client);
void client_look(struct world *world, struct client *client);
void client_answered(struct world *world, struct client *client, unsigned node, unsigned slot,
                     const struct request *request);
void client_lost(struct world *world, struct client *client, unsigned node, unsigned slot,
                 const struct request *request);

/* hold_check.c: what must be true */
void check_did(struct world *world, struct attempt *attempt, unsigned did);
void check_settled(struct world *world, struct attempt *attempt, int64_t client_now_ns);
void check_world(struct world *world);

/* Check's own assertions note every success in a file, and these come by the million. */
#define CHECK(world, condition)                                                              \
    do {                                                                                     \
        if (!(condition))                                                                    \
            ck_abort_msg("seed %llu, N %u, after %llu ms: %s",                               \
                         (unsigned long long)(world)->seed, (world)->n,                      \
                         (unsigned long long)((world)->now_ns / MS), #condition);            \
    } while (0)

#endif
