/* chaos_worker.c - the contender that takes its locks by redlock.h: it reads, holds, looks
 * whether the lock is still its own, and writes; and tells of all of it. */
#include "config_auto.h"

#include "chaos_worker.h"

#include "limits.h"

#include <assert.h>
#include <poll.h>
#include <stdatomic.h>
#include <sysexits.h>
#include <unistd.h>

#define SLICE_MS 5 /* how often a long hold is looked at */
#define RENEW_ONE_IN 40

struct scene {
    struct chaos_contender *contender;
    redlock *client;
    redlock_lock *lock;
    unsigned name;
    int64_t until_ns; /* as told to the log */
};

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
}

bool chaos_contender_ends(const struct chaos_contender *contender)
{
    return atomic_load(&contender->record->ending) || getppid() != contender->record->parent;
}

/* Until when it certainly is ours, by a clock that is read before the validity is: rather too
 * early than too late, or a pause between the two would be taken for a violation. 0: it is not.
 */
static int64_t believed_until(const struct scene *scene)
{
    int64_t now_ns = chaos_record_now_ns(scene->contender->record);
    int64_t validity_ms = redlock_validity_ms(scene->lock);
    return validity_ms > 0 ? now_ns + validity_ms * RL_NS_PER_MS : 0;
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
            (void)redlock_extend(scene->lock, 0, NULL); /* the validity tells what came of it */
        int64_t until_ns = believed_until(scene);
        if (until_ns == 0)
            return false;
        if (until_ns > scene->until_ns + RL_NS_PER_MS) {
            scene->until_ns = until_ns;
            chaos_holds(contender->record, contender->seat, scene->name, until_ns, 0);
        }
        now_ns = chaos_record_now_ns(contender->record);
    }
    return true;
}

/* Read, hold, write. False: lost. */
static bool use(struct scene *scene, const struct chaos_turn *drawn, bool by_itself)
{
    struct chaos_contender *contender = scene->contender;
    if (redlock_validity_ms(scene->lock) == 0)
        return false;
    uint64_t value = chaos_reads(contender->record, contender->seat, scene->name);
    if (!hold(scene, drawn, by_itself))
        return false;
    int64_t until_ns = believed_until(scene);
    if (until_ns == 0)
        return false;
    chaos_writes(contender->record, contender->seat, scene->name, value + 1, until_ns);
    return true;
}

void chaos_rest_a_little(struct chaos_contender *contender)
{
    (void)poll(NULL, 0, 1 + (int)rl_prng_below(&contender->prng, 20));
}

static void turn(struct scene *scene)
{
    struct chaos_contender *contender = scene->contender;
    struct chaos_record *record = contender->record;
    struct chaos_seat *seat = contender->seat;
    redlock_options options = REDLOCK_OPTIONS_INIT;
    char name[CHAOS_LOCK_NAME_MAX];
    struct chaos_turn drawn;
    chaos_turn_draw(contender, &drawn);
    bool by_itself = drawn.renew && rl_prng_below(&contender->prng, 2) == 0;
    options.ttl_ms = contender->options->ttl_ms;
    options.wait_ms = drawn.wait_ms;
    options.auto_renew = by_itself;
    scene->name = drawn.name;
    chaos_record_lock_name(record, drawn.name, name);
    chaos_asks(record, seat, drawn.name);
    int code = redlock_try(scene->client, name, &options, &scene->lock);
    if (code != 0) {
        chaos_refused(record, seat, drawn.name, code);
        chaos_rest_a_little(contender);
        return;
    }
    scene->until_ns = believed_until(scene);
    if (scene->until_ns > 0)
        chaos_holds(record, seat, drawn.name, scene->until_ns, 0);
    if (scene->until_ns == 0 || !use(scene, &drawn, by_itself))
        chaos_loses(record, seat, drawn.name);
    chaos_lets_go(record, seat, drawn.name);
    chaos_released(record, seat, drawn.name, redlock_release(scene->lock));
}

int chaos_contend_redlock(struct chaos_contender *contender)
{
    redlock_error error = REDLOCK_ERROR_INIT;
    struct scene scene = {.contender = contender};
    if (redlock_open(contender->seat->nodes_file, &error, &scene.client) != 0) {
        chaos_fails(contender->record, contender->seat, error.text);
        return EX_SOFTWARE;
    }
    while (!chaos_contender_ends(contender))
        turn(&scene);
    redlock_close(scene.client);
    return 0;
}
