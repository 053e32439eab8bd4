/* sim_small.c - all worlds of three masters and two clients that want one lock, in which each
 * of the first messages may meet one of a few fates, and ann may be stopped.
 *
 * What differs from world to world is counted through by an odometer, so that none is left
 * out: what becomes of ann's acquire at each master, and of bob's; when ann is stopped; what
 * she does with the lock; when bob begins. All times are fixed. The TTL is 100 ms, and with it
 * what is asked of the oracles: that bob, who may begin right when the first keys run out, is
 * never in while ann believes that she is.
 */
#include "config_auto.h"

#include "sim_small_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MASTERS = 3, PLAYERS = 2, TTL_MS = 100, NODE_MS = 20, STOPPED_MS = 150 };

/* What becomes of an acquire. */
enum fate {
    FAST,
    LATE,         /* it comes when the node's time is over */
    REPLY_LOST,   /* executed, and then the connection breaks */
    SLOW_REPLY,   /* the answer takes most of the node's time */
    REQUEST_LOST, /* the connection breaks before it comes */
    FATES
};
enum stop { NEVER, BEFORE_THE_ANSWERS, WHEN_WON, STOPS };
enum plan { RELEASES, LETS_IT_RUN_OUT, EXTENDS, EXTENDS_LATE, PLANS };

static const int64_t begin_us[] = {0, 5000, 100050, 102000}; /* bob, after ann */
enum { BEGINNINGS = sizeof(begin_us) / sizeof(begin_us[0]) };

/* A world, as it was picked. */
static struct {
    enum fate fate[PLAYERS][MASTERS];
    enum stop stop;
    enum plan plan;
    unsigned begins;
} world;

static bool big;

static struct {
    uint64_t nobody, ann, bob, both;
} tally;

struct blow {
    struct sim_event event; /* first */
    struct sim_player *player;
    unsigned master;
};

static struct blow blows[PLAYERS][MASTERS], mended[PLAYERS];

/* ---- what is picked ------------------------------------------------------------------- */

static void pick(void)
{
    for (unsigned i = 0; i < MASTERS; i++)
        world.fate[0][i] = (enum fate)sim_pick(FATES);
    for (unsigned i = 0; i < MASTERS; i++)
        world.fate[1][i] = (enum fate)sim_pick(big ? FATES : LATE + 1);
    world.stop = (enum stop)sim_pick(STOPS);
    world.plan = (enum plan)sim_pick(PLANS);
    world.begins = (unsigned)sim_pick(BEGINNINGS);
}

static void describe(char *ret_text, size_t size)
{
    static const char *const fates[] = {"fast", "late", "reply lost", "slow reply",
                                        "request lost"};
    static const char *const stops[] = {"never stopped", "stopped before the answers",
                                        "stopped when she has won"};
    static const char *const plans[] = {"releases", "lets it run out", "extends",
                                        "extends late"};
    const enum fate(*fate)[MASTERS] = (const enum fate(*)[MASTERS])world.fate;
    snprintf(ret_text, size, "ann: %s, %s, %s, %s, %s; bob, %.1f ms later: %s, %s, %s",
             fates[fate[0][0]], fates[fate[0][1]], fates[fate[0][2]], stops[world.stop],
             plans[world.plan], (double)begin_us[world.begins] / 1000, fates[fate[1][0]],
             fates[fate[1][1]], fates[fate[1][2]]);
}

/* ---- what befalls messages ------------------------------------------------------------ */

static void on_blow(struct sim_event *event)
{
    const struct blow *blow = (struct blow *)event;
    sim_path_reset(blow->player->proc, blow->master);
}

static void on_mended(struct sim_event *event)
{
    const struct blow *blow = (struct blow *)event;
    for (unsigned i = 0; i < MASTERS; i++)
        sim_delay_ms(blow->player, i, 1, 1);
}

/* From now on, for what it sends in the next millisecond. */
static void meet_fates(struct sim_player *player, unsigned who)
{
    for (unsigned i = 0; i < MASTERS; i++) {
        enum fate fate = world.fate[who][i];
        blows[who][i] = (struct blow){{.fire = on_blow}, player, i};
        sim_delay_ms(player, i, fate == LATE ? NODE_MS + NODE_MS / 2 : 1,
                     fate == SLOW_REPLY ? NODE_MS - 5 : 1);
        if (fate == REPLY_LOST)
            sim_at(&blows[who][i].event, sim_now_ns() + 1500 * SIM_US);
        if (fate == REQUEST_LOST)
            sim_at(&blows[who][i].event, sim_now_ns() + 500 * SIM_US);
    }
    mended[who] = (struct blow){{.fire = on_mended}, player, 0};
    sim_at(&mended[who].event, sim_now_ns() + 1500 * SIM_US);
}

/* ---- the two -------------------------------------------------------------------------- */

static void rest_until(const struct sim_player *player, int64_t own_ns)
{
    int64_t now_ns = sim_own_ns(player->proc);
    if (own_ns > now_ns)
        sim_nap(own_ns - now_ns);
}

static void answers_take_ms(struct sim_player *player, int64_t ms)
{
    for (unsigned i = 0; i < MASTERS; i++)
        sim_delay_ms(player, i, 1, ms);
}

static void take(struct sim_player *player, unsigned who)
{
    player->options.ttl_ms = TTL_MS;
    meet_fates(player, who);
    sim_act_take(player);
}

static void ann_acts(struct sim_player *ann)
{
    int64_t began_ns = sim_own_ns(ann->proc);
    take(ann, 0);
    if (ann->result != REDLOCK_OK)
        return;
    tally.ann++;
    sim_believes(ann->hold);
    ann->extend_ms = TTL_MS;
    switch (world.plan) {
    case RELEASES:
        rest_until(ann, began_ns + 50 * SIM_MS);
        break;
    case EXTENDS:
        rest_until(ann, began_ns + 80 * SIM_MS);
        sim_act_extend(ann);
        rest_until(ann, began_ns + 150 * SIM_MS);
        break;
    case EXTENDS_LATE:
        rest_until(ann, began_ns + 85 * SIM_MS);
        answers_take_ms(ann, NODE_MS - 5);
        sim_act_extend(ann);
        answers_take_ms(ann, 1);
        rest_until(ann, began_ns + 180 * SIM_MS);
        break;
    default:
        rest_until(ann, began_ns + 150 * SIM_MS);
        break;
    }
    sim_believes(ann->hold);
    sim_act_release(ann);
}

static void bob_acts(struct sim_player *bob)
{
    take(bob, 1);
    if (bob->result != REDLOCK_OK)
        return;
    tally.bob++;
    sim_believes(bob->hold);
    rest_until(bob, sim_own_ns(bob->proc) + 30 * SIM_MS);
    sim_believes(bob->hold);
    sim_act_release(bob);
}

/* And once more, when nothing is in the way: it must be to be had. */
static void take_again(struct sim_player *player)
{
    answers_take_ms(player, 1);
    if (sim_takes(player, TTL_MS, 1000) != REDLOCK_OK)
        sim_found(SIM_STARVED, "%s does not get the lock afterwards: %s", player->proc->name,
                  redlock_err_name(player->result));
    else
        sim_releases(player);
}

/* ---- a world --------------------------------------------------------------------------- */

static void play(void)
{
    struct sim_client_options how = {.max_ttl_ms = TTL_MS, .node_timeout_ms = NODE_MS};
    uint64_t before = tally.ann, before_bob = tally.bob;
    SIM_SET(MASTERS, &how, ann, bob);
    int64_t began_ns = sim_now_ns();
    sim_tell("here the world begins");
    sim_begins(ann, ann_acts);
    if (world.begins == 0)
        sim_begins(bob, bob_acts);
    if (world.stop == BEFORE_THE_ANSWERS)
        sim_pass_us(500);
    else if (world.stop == WHEN_WON)
        sim_pass_ms(4);
    if (world.stop != NEVER)
        sim_proc_pause(ann->proc, STOPPED_MS * SIM_MS);
    if (world.begins > 0) {
        sim_run_until(began_ns + begin_us[world.begins] * SIM_US);
        sim_begins(bob, bob_acts);
    }
    sim_finishes(ann);
    sim_finishes(bob);
    take_again(ann);
    take_again(bob);
    tally.both += tally.ann > before && tally.bob > before_bob;
    tally.nobody += tally.ann == before && tally.bob == before_bob;
}

/* ---- one, and all of them ------------------------------------------------------------- */

static void print_line(void *context, const char *line)
{
    (void)context;
    puts(line);
}

static bool play_one(const struct sim_small_kind *kind, uint64_t number)
{
    char text[512];
    kind->describe(text, sizeof(text));
    if (sim_tells())
        printf("%s %" PRIu64 ": %s\n", kind->what, number, text);
    sim_oracle_begin();
    kind->play();
    sim_all_leave();
    sim_run_until(sim_now_ns() + 40 * SIM_S); /* queues live for 30 s */
    sim_look_for_orphans();
    bool good = !sim_violated();
    if (!good)
        printf("%s %" PRIu64 ": %s\n  violation: %s\n", kind->what, number, text,
               sim_verdict()->text);
    sim_procs_end();
    sim_masters_end();
    sim_oracle_end();
    return good;
}

bool sim_small_play_all(const struct sim_small_kind *kind, uint64_t only, uint64_t *ret_worlds)
{
    bool good = true;
    *ret_worlds = 0;
    sim_odometer_first();
    do {
        sim_begin(1);
        kind->pick();
        ++*ret_worlds;
        if (only == *ret_worlds)
            sim_tell_to(print_line, NULL);
        if (only == 0 || only == *ret_worlds)
            good = play_one(kind, *ret_worlds);
        sim_tell_to(NULL, NULL);
        sim_end();
    } while (sim_odometer_next() && good && only != *ret_worlds);
    return good;
}

int sim_small_run(const struct sim_small_options *options)
{
    static const struct sim_small_kind messages = {"world", pick, play, describe};
    uint64_t worlds;
    memset(&tally, 0, sizeof(tally));
    big = options->big;
    bool good = sim_small_play_all(&messages, options->only, &worlds);
    if (!options->only)
        printf("%" PRIu64 " worlds, %s: ann has the lock in %" PRIu64 ", bob in %" PRIu64
               ", both in turn in %" PRIu64 ", nobody in %" PRIu64 "\n",
               worlds, good ? "all of them" : "up to a violation", tally.ann, tally.bob,
               tally.both, tally.nobody);
    return !good;
}
