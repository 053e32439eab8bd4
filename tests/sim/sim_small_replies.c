/* sim_small_replies.c - whatever one master answers to one request, or to each of its kind, under
 * whatever settings: no client crashes, hangs or leaks. Two of three masters are enough for
 * every lock meanwhile, and all three once it tells the truth again.
 *
 * A stage is a kind of lock on one or on three masters, under certain settings. Ann and bob do
 * there all that a client can do. It is played without a lie first, to count what the master is
 * asked. Then there is a world for each of these requests and each lie (sim_lie.c).
 */
#include "config_auto.h"

#include "sim_small_parts.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TTL_MS = 1000, MAX_TTL_MS = 2000, WAIT_MS = 5000, LIAR = 0 };

static const struct scene {
    const char *about;
    unsigned masters;
    int kind;
    bool fenced, several;
} scenes[] = {
    {"plain locks", 3, REDLOCK_PLAIN, false, false},
    {"plain locks", 1, REDLOCK_PLAIN, false, false},
    {"fenced plain locks", 3, REDLOCK_PLAIN, true, false},
    {"several names", 3, REDLOCK_PLAIN, false, true},
    {"several names, fenced", 3, REDLOCK_PLAIN, true, true},
    {"reentrant locks", 3, REDLOCK_REENTRANT, false, false},
    {"fenced reentrant locks", 3, REDLOCK_REENTRANT, true, false},
    {"fenced reentrant locks", 1, REDLOCK_REENTRANT, true, false},
    {"fair locks", 1, REDLOCK_FAIR, false, false},
    {"fenced fair locks", 1, REDLOCK_FAIR, true, false},
    {"read locks", 3, REDLOCK_READ, false, false},
    {"read locks", 1, REDLOCK_READ, false, false},
    {"write locks", 3, REDLOCK_WRITE, false, false},
    {"fenced write locks", 3, REDLOCK_WRITE, true, false},
    {"write locks", 1, REDLOCK_WRITE, false, false},
    {"fenced write locks", 1, REDLOCK_WRITE, true, false},
};
enum { SCENES = sizeof(scenes) / sizeof(scenes[0]) };

static const int guards[] = {REDLOCK_ON, REDLOCK_OFF, REDLOCK_GUARD_MARKER,
                             REDLOCK_GUARD_STRICT};
static const int fencings[] = {REDLOCK_FENCING_CLOCK, REDLOCK_FENCING_STRICT};
static const int agreements[] = {REDLOCK_AGREEMENT_OFF, REDLOCK_AGREEMENT_WARN,
                                 REDLOCK_AGREEMENT_REFUSE};
static const int64_t delays_ms[] = {0, 700};
enum { GUARDS = 4, FENCINGS = 2, AGREEMENTS = 3, DELAYS = 2 };
enum { STAGES = SCENES * GUARDS * FENCINGS * AGREEMENTS * DELAYS };

/* A world, as it was picked. */
static struct {
    unsigned stage, lie;
    const struct scene *scene;
    struct sim_client_options how;
    uint64_t request; /* 0: no lie */
    bool always;
} world;

/* How many worlds there are before those of a stage, and requests in it. */
static uint64_t before[STAGES + 1], requests[STAGES];
static char about[512]; /* it, for a crash */

/* ---- what is picked ------------------------------------------------------------------- */

static void pick_stage(unsigned stage)
{
    unsigned rest = stage;
    world.stage = stage;
    world.request = 0;
    world.scene = &scenes[rest % SCENES];
    rest /= SCENES;
    world.how = (struct sim_client_options){.max_ttl_ms = MAX_TTL_MS, .node_timeout_ms = 50};
    world.how.guard = guards[rest % GUARDS];
    rest /= GUARDS;
    world.how.fencing = fencings[rest % FENCINGS];
    rest /= FENCINGS;
    world.how.config_agreement = agreements[rest % AGREEMENTS];
    rest /= AGREEMENTS;
    world.how.lock_delay_ms = delays_ms[rest % DELAYS];
}

static void pick(uint64_t number)
{
    unsigned stage = 0;
    while (number >= before[stage + 1])
        stage++;
    pick_stage(stage);
    uint64_t rest = number - before[stage];
    world.always = rest % 2;
    rest /= 2;
    world.lie = (unsigned)(rest % sim_lies());
    world.request = rest / sim_lies() + 1;
}

static void describe(char *ret_text, size_t size)
{
    char lie[256] = "true";
    if (world.request)
        sim_lie_text(world.lie, lie, sizeof(lie));
    snprintf(ret_text, size,
             "%s on %u, guard %d, fencing %d, agreement %d, delay %d: request %" PRIu64 "%s: %s",
             world.scene->about, world.scene->masters, world.how.guard, world.how.fencing,
             world.how.config_agreement, (int)world.how.lock_delay_ms, world.request,
             world.always ? " and all alike" : "", lie);
}

/* ---- what they do --------------------------------------------------------------------- */

static void look(struct sim_player *player)
{
    static redlock_node_info nodes[REDLOCK_NODES_MAX];
    static redlock_holder holders[8];
    redlock_lock_info info = REDLOCK_LOCK_INFO_INIT(nodes, REDLOCK_NODES_MAX, holders, 8);
    player->result = redlock_inspect_n(player->client, "jobs", 4, NULL, &info);
}

static void probe(struct sim_player *player)
{
    static redlock_node_status nodes[REDLOCK_NODES_MAX];
    redlock_status_report report = REDLOCK_STATUS_INIT(nodes, REDLOCK_NODES_MAX);
    player->result = redlock_probe(player->client, NULL, &report);
}

static void force(struct sim_player *player)
{
    player->result = redlock_force_release_n(player->client, "jobs", 4, REDLOCK_OFF, NULL);
}

static struct sim_player *enter(const char *name)
{
    struct sim_player *player = sim_enters(name, &world.how);
    sim_of_kind(player, world.scene->kind);
    if (world.scene->kind == REDLOCK_PLAIN)
        player->options.owner = NULL;
    player->options.fenced = world.scene->fenced;
    player->names = world.scene->several ? "jobs+more" : NULL;
    sim_watches(player, true);
    return player;
}

/* It must be had where two masters of three tell the truth. */
static void must_have(const struct sim_player *player, const char *when)
{
    if (player->result != REDLOCK_OK && world.scene->masters > 1)
        sim_found(SIM_STARVED, "%s does not get the lock %s: %s", player->proc->name, when,
                  redlock_err_name(player->result));
}

static void let_go(struct sim_player *player)
{
    if (player->lock)
        sim_releases(player);
}

static void act_out(struct sim_player *ann, struct sim_player *bob)
{
    sim_takes(ann, TTL_MS, WAIT_MS);
    must_have(ann, "at first");
    if (ann->lock)
        sim_extends(ann, TTL_MS);
    sim_begins_to_take(bob, TTL_MS, WAIT_MS);
    sim_pass_ms(50);
    sim_does(ann, look);
    sim_pass_ms(400); /* it is renewed */
    let_go(ann);
    sim_finishes(bob);
    must_have(bob, "after ann");
    bob->options.release = REDLOCK_RELEASE_LAZY;
    let_go(bob);
    sim_does(bob, probe);
    ann->native = true;
    ann->options.auto_renew = false;
    sim_takes(ann, TTL_MS, WAIT_MS);
    must_have(ann, "a second time");
    sim_does(bob, force);
    let_go(ann);
}

/* A world without a lie, and with one. */
static void play(void)
{
    sim_stage(world.scene->masters);
    for (unsigned i = 0; i < world.scene->masters; i++) {
        sim_master_mark(i);
        sim_master_certify(i, 0);
    }
    sim_lie_begin(LIAR, world.request, world.always, world.lie);
    struct sim_player *ann = enter("ann"), *bob = enter("bob");
    act_out(ann, bob);
    sim_lie_ends();
    requests[world.stage] = world.request ? requests[world.stage] : sim_lie_heard();
    sim_pass_ms(12000);
    bob->options.auto_renew = false;
    sim_takes(bob, TTL_MS, WAIT_MS);
    if (bob->result != REDLOCK_OK)
        sim_found(SIM_STARVED, "bob does not get the lock when all is well: %s",
                  redlock_err_name(bob->result));
    let_go(bob);
    sim_all_leave();
}

/* ---- a world, and many ---------------------------------------------------------------- */

/* A master that lies may take a lock from whoever has it, and say that it is had. That costs what
 * it costs. Nothing excuses these. */
static bool is_good(void)
{
    const struct sim_verdict *verdict = sim_verdict();
    return !(verdict->violations[SIM_TWICE] || verdict->violations[SIM_STARVED] ||
             verdict->violations[SIM_LEAK]);
}

static void say_crash(int number)
{
    static const char what[] = "  crashes in this world: ";
    (void)!write(STDERR_FILENO, what, sizeof(what) - 1);
    (void)!write(STDERR_FILENO, about, strlen(about));
    (void)!write(STDERR_FILENO, "\n", 1);
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static void print_line(void *context, const char *line)
{
    (void)context;
    puts(line);
}

static bool play_one(uint64_t number, bool tells)
{
    int len = snprintf(about, sizeof(about), "%" PRIu64 ": ", number);
    describe(about + len, sizeof(about) - (size_t)len);
    sim_begin(1);
    if (tells)
        sim_tell_to(print_line, NULL);
    sim_oracle_begin();
    play();
    bool good = is_good();
    if (!good)
        printf("world %s\n  told to %s: %s\n", about, sim_lie_of(), sim_verdict()->text);
    for (unsigned i = 0; i < sim_proc_count(); i++) {
        const struct sim_proc *proc = sim_proc_at(i);
        if (proc->live_blocks > 0 || sim_open_fds(proc) > 0) {
            printf("world %s\n  %s leaves %zu blocks of memory and %u descriptors\n", about,
                   proc->name, proc->live_blocks, sim_open_fds(proc));
            good = false;
        }
    }
    sim_procs_end();
    sim_masters_end();
    sim_oracle_end();
    sim_tell_to(NULL, NULL);
    sim_end();
    return good;
}

static bool count_requests(void)
{
    bool good = true;
    for (unsigned i = 0; i < STAGES; i++) {
        pick_stage(i);
        good = play_one(0, false) && good;
        before[i + 1] = before[i] + requests[i] * sim_lies() * 2;
    }
    return good;
}

/* Steps of that size, around a ring of `all`, come to each of them once, and the first ones lie
 * far apart. */
static uint64_t step_of(uint64_t all)
{
    uint64_t step = (uint64_t)((double)all * 0.6180339887498949) | 1;
    for (;; step += 2) {
        uint64_t a = all, b = step;
        while (b) {
            uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            return step;
    }
}

int sim_replies_run(uint64_t only, uint64_t worlds)
{
    signal(SIGABRT, say_crash);
    signal(SIGSEGV, say_crash);
    bool good = count_requests();
    uint64_t all = before[STAGES], bad = 0, step = step_of(all);
    if (worlds == 0 || worlds > all)
        worlds = all;
    if (only > all) {
        fprintf(stderr, "there are %" PRIu64 " worlds\n", all);
        return 1;
    }
    if (only > 0) {
        pick(only - 1);
        return !play_one(only, true);
    }
    for (uint64_t i = 0; i < worlds; i++) {
        uint64_t number = (uint64_t)((unsigned __int128)i * step % all);
        pick(number);
        if (!play_one(number + 1, false) && ++bad == 20)
            break;
    }
    printf("%" PRIu64 " of %" PRIu64 " worlds, %" PRIu64 " of them bad\n", worlds, all, bad);
    return !good || bad > 0;
}
