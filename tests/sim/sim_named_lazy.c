/* sim_named_lazy.c - scenarios of REDLOCK_RELEASE_LAZY. */
#include "config_auto.h"

#include "sim_named.h"

#include "base/limits.h"

#define ONCE 0

/* A message takes 1 ms to a master, and a command 10 us there. */
enum { GONE_US = 1050, CORK_US = RL_CORK_NS / 1000 };

static struct sim_player *lazy_with(const char *name, const struct sim_client_options *options)
{
    struct sim_player *player = sim_is_there(name, options);
    player->native = true;
    player->options.release = REDLOCK_RELEASE_LAZY;
    return player;
}

static struct sim_player *lazy(const char *name)
{
    return lazy_with(name, NULL);
}

/* The background thread sends it, and no sooner. */
static void lazy_release(void)
{
    sim_stage(3);
    struct sim_player *ann = lazy("ann");
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(5);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_us(GONE_US);
    sim_expect(sim_keys() == 3);
    sim_pass_us(CORK_US);
    sim_expect(sim_keys() == 0);
}

/* The background thread sleeps when the first lazy lock of the client is taken. */
static void lazy_release_beside_a_renewal(void)
{
    sim_stage(3);
    struct sim_player *ann = lazy("ann"), *beside = sim_beside(ann);
    beside->names = "other";
    sim_watches(beside, true);
    sim_expect(sim_takes(beside, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(50);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(20);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_us(GONE_US + CORK_US);
    sim_expect(sim_keys() == 0);
}

static void lazy_release_in_company(void)
{
    sim_stage(3);
    struct sim_player *ann = lazy("ann");
    sim_curtain();
    for (unsigned i = 0; i < 3; i++) {
        sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
        sim_expect(sim_releases(ann) == REDLOCK_OK);
    }
    sim_pass_us(GONE_US + CORK_US);
    sim_expect(sim_keys() == 0);
}

static void act_release_async(struct sim_player *player)
{
    sim_gives_up(player->hold);
    player->result = redlock_release_async(player->lock, NULL, NULL);
    player->lock = NULL;
}

static void lazy_release_then_another_call(void)
{
    sim_stage(3);
    struct sim_player *ann = lazy("ann"), *beside = sim_beside(ann);
    beside->names = "other";
    beside->native = true;
    sim_expect(sim_takes(beside, 1000, ONCE) == REDLOCK_OK);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(5);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_does(beside, act_release_async) == REDLOCK_OK);
    sim_pass_us(GONE_US);
    sim_expect(sim_keys() == 0 && sim_keys_of(beside) == 0);
}

static void lazy_release_of_a_contended_lock(void)
{
    SIM_SET(3, NULL, ann);
    struct sim_player *bob = lazy("bob");
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_curtain();
    sim_begins_to_take(bob, 1000, 1000);
    sim_pass_ms(50);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(20);
    sim_expect(sim_keys_of(bob) == 3);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_pass_us(GONE_US);
    sim_expect(sim_keys_of(bob) == 0);
}

static void lazy_release_and_close(void)
{
    sim_stage(3);
    struct sim_player *ann = lazy("ann");
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_goes(ann);
    sim_expect(sim_keys() == 0);
}

/* The background thread has nothing to do until the lock is over, and is woken by a clock that
 * does not show the step. */
static void lazy_release_then_clock_back(void)
{
    static const struct sim_client_options ten_seconds = {.max_ttl_ms = 10000};
    sim_stage(3);
    struct sim_player *ann = lazy_with("ann", &ten_seconds);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(50);
    sim_watches(ann, false);
    sim_expect(sim_takes(ann, 9000, ONCE) == REDLOCK_OK);
    sim_pass_ms(500);
    int64_t set_ns = sim_now_ns();
    sim_proc_set_clock(ann->proc, CLOCK_BOOTTIME, -3600 * SIM_S);
    sim_pass_ms(1100);
    sim_expect(ann->told_lost == 1);
    sim_expect(ann->lost_ns - set_ns <= 1010 * SIM_MS);
    sim_expect(sim_releases(ann) == REDLOCK_EEXPIRED);
}

const struct sim_scenario sim_named_lazy[] = {
    {"lazy-release",
     "A lazy release waits 300 us for a request to leave with. None comes, and the background\n"
     "thread sends it.",
     lazy_release},
    {"lazy-release-beside-a-renewal",
     "A lock is renewed, by the background thread, which sleeps when the client's first lazy\n"
     "lock is taken. The release leaves after 300 us all the same.",
     lazy_release_beside_a_renewal},
    {"lazy-release-in-company",
     "The same lock is taken again and again: each release leaves with the next acquire, and\n"
     "comes before it.",
     lazy_release_in_company},
    {"lazy-release-then-another-call",
     "Another thread of the client releases another lock, without waiting: both leave at once.",
     lazy_release_then_another_call},
    {"lazy-release-of-a-contended-lock",
     "bob had to wait for the lock: others may wait, too, so that its lazy release leaves at "
     "once.",
     lazy_release_of_a_contended_lock},
    {"lazy-release-then-clock-back",
     "ann released lazily. Then her clock is set back while she has a lock for long, and does\n"
     "nothing: she is told within a second.",
     lazy_release_then_clock_back},
    {"lazy-release-and-close",
     "The client is closed right after a lazy release, which has left by then.",
     lazy_release_and_close},
    {NULL, NULL, NULL},
};
