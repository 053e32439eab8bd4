/* sim_named_cast.c - see sim_named.h: the stage, and players on it. */
#include "config_auto.h"

#include "sim_named_parts.h"
#include "sim_sentinel.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PLAYERS_MAX = 8 };

#define LOCK "jobs"
#define LIMIT_NS (600 * SIM_S) /* what takes longer is stuck */

static struct sim_player players[PLAYERS_MAX];
static unsigned player_count;

enum { TAKES_MAX = 256 };
static const char *takes[TAKES_MAX]; /* the scripts by which a key was taken */
static unsigned take_count;

/* ---- the stage ------------------------------------------------------------------------ */

static void on_changed(const struct sim_changed *changed)
{
    sim_key_changed(changed);
    if (changed->change == SIM_TAKEN && take_count < TAKES_MAX)
        takes[take_count++] = changed->command;
}

void sim_forget_takes(void)
{
    take_count = 0;
}

unsigned sim_taken_by(const char *script)
{
    unsigned count = 0;
    for (unsigned i = 0; i < take_count; i++)
        count += takes[i] && strcmp(takes[i], script) == 0;
    return count;
}

static void begin(struct sim_masters_options options)
{
    options.changed = on_changed;
    options.asked = sim_master_asked;
    options.stated = sim_master_stated;
    sim_masters_begin(&options);
    for (unsigned i = 0; i < sim_server_count(); i++) {
        char run_id[41]; /* an odometer draws the same for all */
        snprintf(run_id, sizeof(run_id), "%040x", i + 1);
        sim_master_run_id(i, run_id);
        sim_master_uptime(i, 86400);
        sim_master_slow(i, 10 * SIM_US, 10 * SIM_US);
    }
    player_count = take_count = 0;
}

static void stage(unsigned masters, unsigned spare, unsigned db)
{
    begin((struct sim_masters_options){.count = masters, .spare = spare, .db = db});
}

/* Each service is a replication set of its own. */
void sim_stage_with_sentinels(unsigned services)
{
    begin((struct sim_masters_options){.count = services, .replicas = 1, .sentinels = 3});
    for (unsigned i = 0; i < services; i++) {
        char id[41];
        snprintf(id, sizeof(id), "%040x", 0x100 + i);
        sim_master_replication(i, id);
        sim_master_replication(sim_replica_at(i, 0), id);
        sim_master_mark(i);
        for (unsigned k = 0; k < 3; k++)
            sim_sentinel_looks(sim_sentinel_at(i, k), i);
    }
}

void sim_stage(unsigned masters)
{
    stage(masters, 0, 0);
}

void sim_stage_with_spare(unsigned masters)
{
    stage(masters, 1, 0);
}

void sim_stage_in_db(unsigned masters, unsigned db)
{
    stage(masters, 0, db);
}

void sim_pass_us(int64_t us)
{
    sim_run_until(sim_now_ns() + us * SIM_US);
}

void sim_pass_ms(int64_t ms)
{
    sim_run_until(sim_now_ns() + ms * SIM_MS);
}

unsigned sim_keys(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < sim_master_count(); i++)
        count += sim_master_get(i, LOCK, NULL) != NULL;
    return count;
}

bool sim_has_key(const struct sim_player *player, unsigned master)
{
    const char *value = sim_master_get(master, LOCK, NULL);
    return value && strcmp(value, player->token) == 0;
}

unsigned sim_keys_of(const struct sim_player *player)
{
    unsigned count = 0;
    for (unsigned i = 0; i < sim_master_count(); i++)
        count += sim_has_key(player, i);
    return count;
}

/* ---- what players do ------------------------------------------------------------------- */

static void on_lost(void *context, redlock_lock *lock)
{
    struct sim_player *player = context;
    player->told_lost++;
    player->lost_ns = sim_now_ns();
    player->lost_valid = redlock_validity_ms(lock) > 0;
    sim_lost(lock);
}

void sim_act_open(struct sim_player *player)
{
    player->client = sim_open(&player->how);
    player->result = player->client ? 0 : REDLOCK_ENOMEM;
}

void sim_act_take(struct sim_player *player)
{
    player->options.report = player->native ? NULL : &player->report;
    player->report = (redlock_report)REDLOCK_REPORT_INIT(player->votes, REDLOCK_NODES_MAX);
    if (player->options.on_lost)
        player->options.lost_context = player;
    player->result = sim_try(player->client, player->names ? player->names : LOCK,
                             &player->options, &player->lock, &player->hold);
    if (player->result == REDLOCK_OK)
        snprintf(player->token, sizeof(player->token), "%s", redlock_token(player->lock));
}

void sim_act_extend(struct sim_player *player)
{
    player->result = sim_extend(player->lock, player->hold, player->extend_ms);
}

void sim_act_release(struct sim_player *player)
{
    redlock_lock *lock = player->lock;
    player->lock = NULL;
    player->result = sim_release(lock, player->hold);
}

void sim_act_look(struct sim_player *player)
{
    player->validity_ms = sim_believes(player->hold);
    sim_tell("%s looks at its lock: valid for %lld ms", player->proc->name,
             (long long)player->validity_ms);
}

void sim_act_close(struct sim_player *player)
{
    if (player->hold && !player->beside)
        sim_gives_up(player->hold);
    if (!player->beside)
        sim_close(player->client);
    player->client = NULL;
    player->lock = NULL;
    player->left = true;
}

static void *live(void *argument)
{
    struct sim_player *player = argument;
    while (!player->left) {
        if (!player->act) {
            sim_sleep(SIM_NEVER);
            continue;
        }
        player->act(player);
        player->act = NULL;
        player->done_ns = sim_now_ns();
    }
    return NULL;
}

/* ---- directing them ------------------------------------------------------------------- */

static struct sim_player *new_player(struct sim_proc *proc)
{
    assert(player_count < PLAYERS_MAX);
    struct sim_player *player = &players[player_count++];
    memset(player, 0, sizeof(*player));
    player->proc = proc;
    player->options = (redlock_options)REDLOCK_OPTIONS_INIT;
    return player;
}

static struct sim_player *enter(struct sim_proc *proc, const struct sim_client_options *how)
{
    struct sim_player *player = new_player(proc);
    if (how)
        player->how = *how;
    if (!player->how.max_ttl_ms)
        player->how.max_ttl_ms = 1000;
    unsigned servers = sim_sentinels_of(0) ? sim_server_count() : sim_master_count();
    for (unsigned i = 0; i < servers; i++)
        sim_delay_ms(player, i, 1, 1);
    player->fiber = sim_fiber_new(player->proc, live, player);
    sim_does(player, sim_act_open);
    return player;
}

struct sim_player *sim_enters(const char *name, const struct sim_client_options *how)
{
    return enter(sim_proc_new(name), how);
}

static struct sim_player *has_it_once(struct sim_player *player)
{
    int result = sim_takes(player, player->how.max_ttl_ms - player->how.lock_delay_ms, 0);
    assert(result == REDLOCK_OK);
    if (result == REDLOCK_OK)
        sim_releases(player);
    sim_pass_ms(10);
    return player;
}

struct sim_player *sim_is_there(const char *name, const struct sim_client_options *how)
{
    return has_it_once(sim_enters(name, how));
}

void sim_set(unsigned masters, const struct sim_client_options *how, ...)
{
    va_list cast;
    sim_stage(masters);
    va_start(cast, how);
    for (const char *name; (name = va_arg(cast, const char *));) {
        struct sim_player **ret_player = va_arg(cast, struct sim_player **);
        *ret_player = sim_is_there(name, how);
    }
    va_end(cast);
}

struct sim_player *sim_lives_with(struct sim_player *other, const char *name)
{
    return sim_lives_apart(other, name, &other->how, 0);
}

struct sim_player *sim_lives_apart(struct sim_player *other, const char *name,
                                   const struct sim_client_options *how, int64_t by_ms)
{
    struct sim_proc *proc = sim_proc_new(name);
    sim_proc_share_host(proc, other->proc);
    sim_proc_set_off(proc, by_ms * SIM_MS);
    return has_it_once(enter(proc, how));
}

struct sim_player *sim_beside(struct sim_player *other)
{
    struct sim_player *player = new_player(other->proc);
    player->client = other->client;
    player->beside = true;
    player->fiber = sim_fiber_new(player->proc, live, player);
    return player;
}

struct sim_player *sim_of_kind(struct sim_player *player, int kind)
{
    player->options.kind = kind;
    player->options.owner = kind == REDLOCK_PLAIN ? NULL : player->proc->name;
    return player;
}

void sim_begins(struct sim_player *player, void (*act)(struct sim_player *player))
{
    assert(!player->act);
    player->act = act;
    sim_wake(player->fiber);
}

static bool is_at_it(void *context)
{
    const struct sim_player *player = context;
    return player->act != NULL;
}

int sim_finishes(struct sim_player *player)
{
    sim_run_while(is_at_it, player, sim_now_ns() + LIMIT_NS);
    if (player->act) {
        sim_found(SIM_STARVED, "%s is not done with what it does", player->proc->name);
        sim_stop();
    }
    return player->result;
}

int sim_does(struct sim_player *player, void (*act)(struct sim_player *player))
{
    sim_begins(player, act);
    return sim_finishes(player);
}

void sim_begins_to_take(struct sim_player *player, int64_t ttl_ms, int64_t wait_ms)
{
    player->options.ttl_ms = ttl_ms;
    player->options.wait_ms = wait_ms;
    sim_begins(player, sim_act_take);
}

int sim_takes(struct sim_player *player, int64_t ttl_ms, int64_t wait_ms)
{
    sim_begins_to_take(player, ttl_ms, wait_ms);
    return sim_finishes(player);
}

int sim_extends(struct sim_player *player, int64_t ttl_ms)
{
    player->extend_ms = ttl_ms;
    return sim_does(player, sim_act_extend);
}

int sim_releases(struct sim_player *player)
{
    return sim_does(player, sim_act_release);
}

int64_t sim_asks_validity(struct sim_player *player)
{
    sim_does(player, sim_act_look);
    return player->validity_ms;
}

void sim_hands_over(struct sim_player *from, struct sim_player *to, int64_t within_ms)
{
    sim_expect(sim_releases(from) == REDLOCK_OK);
    int64_t free_ns = sim_now_ns();
    sim_expect(sim_finishes(to) == REDLOCK_OK);
    sim_expect(to->done_ns - free_ns <= within_ms * SIM_MS);
}

struct sim_player *sim_ann_has_it(int64_t ttl_ms, bool renewed, struct sim_player **ret_bob)
{
    SIM_CAST(3, NULL, ann, bob);
    *ret_bob = bob;
    if (renewed)
        sim_watches(ann, true);
    sim_expect(sim_takes(ann, ttl_ms, 0) == REDLOCK_OK);
    return ann;
}

static void act_look_on(struct sim_player *player)
{
    sim_sleep(player->look_ns);
    sim_act_look(player);
}

void sim_looks_on(struct sim_player *beside, const struct sim_player *holder, int64_t at_ns)
{
    beside->hold = holder->hold;
    beside->look_ns = at_ns;
    sim_begins(beside, act_look_on);
}

void sim_watches(struct sim_player *player, bool renews)
{
    player->options.auto_renew = renews;
    player->options.on_lost = on_lost;
}

void sim_goes(struct sim_player *player)
{
    sim_does(player, sim_act_close);
}

void sim_crashes(struct sim_player *player)
{
    sim_proc_crash(player->proc);
}

void sim_delay_ms(struct sim_player *player, unsigned master, int64_t there_ms, int64_t back_ms)
{
    struct sim_path *path = sim_path(player->proc, master);
    path->delay_low_ns[SIM_THERE] = path->delay_high_ns[SIM_THERE] = there_ms * SIM_MS;
    path->delay_low_ns[SIM_BACK] = path->delay_high_ns[SIM_BACK] = back_ms * SIM_MS;
}

void sim_all_leave(void)
{
    /* Those beside another first: their client is its. */
    for (unsigned i = player_count; i-- > 0;) {
        if (players[i].act)
            sim_finishes(&players[i]);
        if (!players[i].left)
            sim_goes(&players[i]);
    }
}
