/* worker.c - the contender that takes its locks by redlock.h, of every kind. It reads, holds,
 * checks whether the lock is still its own, and writes. It logs all of this. */
#include "config_auto.h"

#include "chaos/check/keys.h"
#include "chaos/workload/worker.h"

#include "base/limits.h"

#include <assert.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#define SLICE_MS 5 /* how often a long hold is looked at */
#define RENEW_ONE_IN 40

struct scene {
    struct chaos_contender *contender;
    redlock *client;
    redlock_lock *lock;
    unsigned count; /* of its names */
    unsigned name[CHAOS_NAMES_MAX];
    uint64_t value[CHAOS_NAMES_MAX]; /* their records' values, in that order */
    int64_t until_ns;                /* as logged */
};

/* Two names or more in two turns of three, in any order. */
static void draw_names(struct chaos_contender *contender, struct chaos_turn *turn)
{
    struct rl_prng *prng = &contender->prng;
    unsigned names = contender->options->names, all[CHAOS_NAMES_MAX];
    if (rl_prng_below(prng, 3) == 0)
        return;
    for (unsigned i = 0; i < names; i++)
        all[i] = i;
    for (unsigned i = names - 1; i > 0; i--) {
        unsigned k = (unsigned)rl_prng_below(prng, i + 1), kept = all[i];
        all[i] = all[k];
        all[k] = kept;
    }
    turn->name = all[0];
    turn->more = 1 + (unsigned)rl_prng_below(prng, names - 1);
    memcpy(turn->other, all + 1, turn->more * sizeof(*all));
}

void chaos_turn_draw(struct chaos_contender *contender, struct chaos_turn *ret_turn)
{
    const struct chaos_options *options = contender->options;
    struct rl_prng *prng = &contender->prng;
    int64_t ttl_ms = options->ttl_ms;
    *ret_turn = (struct chaos_turn){
        .name = (unsigned)rl_prng_below(prng, options->names),
        .renew = rl_prng_below(prng, RENEW_ONE_IN) == 0,
    };
    if (rl_prng_below(prng, 4) != 0)
        ret_turn->wait_ms = 1 + (int64_t)rl_prng_below(prng, (uint64_t)(2 * ttl_ms));
    ret_turn->hold_ms =
        options->hold_ms / 2 + (int64_t)rl_prng_below(prng, (uint64_t)options->hold_ms + 1);
    if (ret_turn->renew)
        ret_turn->hold_ms = ttl_ms + (int64_t)rl_prng_below(prng, (uint64_t)ttl_ms);
    if (options->lock == CHAOS_PLAIN)
        return;
    if (options->lock == CHAOS_SEVERAL) {
        draw_names(contender, ret_turn);
        return;
    }
    ret_turn->shared = options->lock == CHAOS_READ_WRITE && rl_prng_below(prng, 2) == 0;
    ret_turn->again = rl_prng_below(prng, 3) == 0;
}

bool chaos_contender_ends(const struct chaos_contender *contender)
{
    return atomic_load(&contender->record->ending) || getppid() != contender->record->parent;
}

/* Until when the lock certainly is ours; 0: it is not. The clock is read before the validity,
 * so the result is rather too early than too late. Otherwise a pause between the two would look
 * like a violation. */
static int64_t believed_until(const struct scene *scene)
{
    int64_t now_ns = chaos_record_now_ns(scene->contender->record);
    int64_t validity_ms = redlock_validity_ms(scene->lock);
    return validity_ms > 0 ? now_ns + validity_ms * RL_NS_PER_MS : 0;
}

/* Log an event for each of the scene's names. */
static void say(struct scene *scene,
                void (*what)(struct chaos_record *, struct chaos_seat *, unsigned name))
{
    for (unsigned i = 0; i < scene->count; i++)
        what(scene->contender->record, scene->contender->seat, scene->name[i]);
}

static void say_holds(struct scene *scene)
{
    for (unsigned i = 0; i < scene->count; i++)
        chaos_holds(scene->contender->record, scene->contender->seat, scene->name[i],
                    scene->until_ns, redlock_fencing_token(scene->lock));
}

static void say_code(struct scene *scene, int code,
                     void (*what)(struct chaos_record *, struct chaos_seat *, unsigned name,
                                  int code))
{
    for (unsigned i = 0; i < scene->count; i++)
        what(scene->contender->record, scene->contender->seat, scene->name[i], code);
}

/* A holder that was stopped goes on and writes, as one does that does not look. The store must
 * refuse it, if another had the lock meanwhile. */
static bool leaves_it_to_store(const struct scene *scene)
{
    return scene->contender->seat->token > 0;
}

/* Hold it for so long. False: it was lost meanwhile. */
static bool hold(struct scene *scene, const struct chaos_turn *drawn, bool by_itself)
{
    struct chaos_contender *contender = scene->contender;
    int64_t ttl_ns = contender->options->ttl_ms * RL_NS_PER_MS;
    int64_t now_ns = chaos_record_now_ns(contender->record);
    int64_t end_ns = now_ns + drawn->hold_ms * RL_NS_PER_MS;
    while (now_ns < end_ns && !chaos_contender_ends(contender)) {
        int64_t left_ms = (end_ns - now_ns + RL_NS_PER_MS - 1) / RL_NS_PER_MS;
        if (drawn->renew && left_ms > SLICE_MS)
            left_ms = SLICE_MS;
        (void)poll(NULL, 0, (int)left_ms);
        if (drawn->renew && !by_itself &&
            scene->until_ns - chaos_record_now_ns(contender->record) < ttl_ns * 2 / 3)
            (void)redlock_extend(scene->lock, 0, NULL); /* the validity tells the result */
        int64_t until_ns = believed_until(scene);
        if (until_ns == 0)
            return leaves_it_to_store(scene);
        if (until_ns > scene->until_ns + RL_NS_PER_MS) {
            scene->until_ns = until_ns;
            say_holds(scene);
        }
        now_ns = chaos_record_now_ns(contender->record);
    }
    return true;
}

static int kind_of(const struct chaos_options *options, bool shared)
{
    switch (options->lock) {
    case CHAOS_REENTRANT:
        return REDLOCK_REENTRANT;
    case CHAOS_FAIR:
        return REDLOCK_FAIR;
    case CHAOS_READ_WRITE:
        return shared ? REDLOCK_READ : REDLOCK_WRITE;
    default:
        return REDLOCK_PLAIN;
    }
}

/* The random choices of a turn, but for waiting. */
static redlock_options asked_for(const struct scene *scene, bool shared, bool by_itself)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.kind = kind_of(scene->contender->options, shared);
    options.ttl_ms = scene->contender->options->ttl_ms;
    options.auto_renew = by_itself;
    options.fenced = scene->contender->options->fenced && options.kind != REDLOCK_READ;
    return options;
}

/* Take it once more. NULL: not to be had just now. */
static redlock_lock *take_again(struct scene *scene, bool shared, bool by_itself)
{
    char name[CHAOS_LOCK_NAME_MAX];
    redlock_lock *lock = NULL;
    redlock_options options = asked_for(scene, shared, by_itself);
    chaos_record_lock_name(scene->contender->record, scene->name[0], name);
    return redlock_try(scene->client, name, &options, &lock) == 0 ? lock : NULL;
}

/* Two holds of one owner: after the release of either, the other one stays. */
static void nest(struct scene *scene, const struct chaos_turn *drawn, bool by_itself)
{
    redlock_lock *inner = take_again(scene, drawn->shared, by_itself);
    if (inner == NULL)
        return;
    if (rl_prng_below(&scene->contender->prng, 2) == 0) {
        redlock_lock *outer = scene->lock;
        scene->lock = inner;
        inner = outer;
    }
    (void)redlock_release(inner);
}

/* The same record again: nobody may have written to it. False: lost. */
static bool read_on(struct scene *scene)
{
    struct chaos_contender *contender = scene->contender;
    int64_t until_ns = believed_until(scene);
    if (until_ns > 0)
        chaos_reads_again(contender->record, contender->seat, scene->name[0], until_ns);
    return until_ns > 0;
}

/* The writer becomes a reader, with nobody in between, and reads what it wrote. False: lost. */
static bool go_on_as_reader(struct scene *scene)
{
    struct chaos_contender *contender = scene->contender;
    struct chaos_record *record = contender->record;
    struct chaos_seat *seat = contender->seat;
    redlock_lock *writes = scene->lock, *reads = take_again(scene, true, false);
    if (reads == NULL)
        return true;
    scene->lock = reads;
    int64_t until_ns = believed_until(scene);
    chaos_lets_go(record, seat, scene->name[0]);
    seat->shared = true;
    seat->token = 0;
    if (until_ns > 0)
        chaos_holds(record, seat, scene->name[0], until_ns, 0);
    chaos_released(record, seat, scene->name[0], redlock_release(writes));
    if (until_ns == 0 || redlock_validity_ms(reads) == 0)
        return false;
    uint64_t value;
    (void)chaos_reads(record, seat, scene->name[0], &value);
    (void)poll(NULL, 0, (int)(contender->options->hold_ms / 2));
    return read_on(scene);
}

/* Read, hold, write; a reader reads again instead. False: lost. */
static bool use(struct scene *scene, const struct chaos_turn *drawn, bool by_itself)
{
    struct chaos_contender *contender = scene->contender;
    bool writer = contender->options->lock == CHAOS_READ_WRITE && !drawn->shared;
    if (drawn->again && !writer)
        nest(scene, drawn, by_itself);
    if (redlock_validity_ms(scene->lock) == 0 && !leaves_it_to_store(scene))
        return false;
    for (unsigned i = 0; i < scene->count; i++)
        if (!chaos_reads(contender->record, contender->seat, scene->name[i], &scene->value[i]))
            return false;
    if (!hold(scene, drawn, by_itself))
        return false;
    if (drawn->shared)
        return read_on(scene);
    for (unsigned i = 0; i < scene->count; i++) {
        int64_t until_ns = believed_until(scene);
        if (until_ns == 0 && !leaves_it_to_store(scene))
            return false;
        if (!chaos_writes(contender->record, contender->seat, scene->name[i],
                          scene->value[i] + 1, until_ns))
            return false;
    }
    return drawn->again && writer ? go_on_as_reader(scene) : true;
}

void chaos_rest_a_little(struct chaos_contender *contender)
{
    (void)poll(NULL, 0, 1 + (int)rl_prng_below(&contender->prng, 20));
}

/* Refusals that no fault may bring about: the run must not go on as if nothing were wrong. */
static bool is_nonsense(int code)
{
    return code == REDLOCK_EINVAL || code == REDLOCK_EWRONGTYPE || code == REDLOCK_EUPGRADE ||
           code == REDLOCK_ENOTSUP;
}

/* One name, or all of them at once. */
static int take(struct scene *scene, const redlock_options *options)
{
    char text[CHAOS_NAMES_MAX][CHAOS_LOCK_NAME_MAX];
    const char *name[CHAOS_NAMES_MAX];
    for (unsigned i = 0; i < scene->count; i++) {
        chaos_record_lock_name(scene->contender->record, scene->name[i], text[i]);
        name[i] = text[i];
    }
    if (scene->count == 1)
        return redlock_try(scene->client, name[0], options, &scene->lock);
    return redlock_try_names(scene->client, name, scene->count, options, &scene->lock);
}

/* False: it makes no sense to go on. */
static bool turn(struct scene *scene)
{
    struct chaos_contender *contender = scene->contender;
    struct chaos_seat *seat = contender->seat;
    struct chaos_turn drawn;
    chaos_turn_draw(contender, &drawn);
    bool by_itself = drawn.renew && rl_prng_below(&contender->prng, 2) == 0;
    redlock_options options = asked_for(scene, drawn.shared, by_itself);
    options.wait_ms = drawn.wait_ms;
    scene->count = 1 + drawn.more;
    scene->name[0] = drawn.name;
    memcpy(scene->name + 1, drawn.other, drawn.more * sizeof(*drawn.other));
    seat->shared = drawn.shared;
    seat->joint = drawn.more > 0;
    say(scene, chaos_asks);
    int code = take(scene, &options);
    if (code != 0) {
        say_code(scene, code, chaos_refused);
        if (is_nonsense(code)) {
            chaos_fails(contender->record, seat, redlock_strerror(code));
            return false;
        }
        chaos_rest_a_little(contender);
        return true;
    }
    const char *token = redlock_token(scene->lock);
    seat->key = chaos_key_of(token, strlen(token));
    seat->token = redlock_fencing_token(scene->lock);
    scene->until_ns = believed_until(scene);
    if (scene->until_ns > 0)
        say_holds(scene);
    if (scene->until_ns == 0 || !use(scene, &drawn, by_itself))
        say(scene, chaos_loses);
    say(scene, chaos_lets_go);
    say_code(scene, redlock_release(scene->lock), chaos_released);
    return true;
}

int chaos_contend_redlock(struct chaos_contender *contender)
{
    redlock_error error = REDLOCK_ERROR_INIT;
    struct scene scene = {.contender = contender};
    if (redlock_open(contender->seat->nodes_file, &error, &scene.client) != 0) {
        chaos_fails(contender->record, contender->seat, error.text);
        return EX_SOFTWARE;
    }
    bool sound = true;
    while (sound && !chaos_contender_ends(contender))
        sound = turn(&scene);
    redlock_close(scene.client);
    return sound ? 0 : EX_SOFTWARE;
}
