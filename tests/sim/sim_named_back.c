/* sim_named_back.c - scenarios of masters that come back while a lock is held: they get its key
 * without an extension. */
#include "config_auto.h"

#include "sim_named.h"

#define ONCE 0

static const struct sim_client_options brief = {.max_ttl_ms = 10000};

/* Her lock lasts for 10 s, and is not renewed. She can't reach n3. */
static struct sim_player *ann_has_it_without_n3(void)
{
    SIM_CAST(3, &brief, ann);
    sim_path_hole(ann->proc, 2, SIM_THERE, true);
    sim_path_reset(ann->proc, 2);
    sim_pass_ms(10);
    sim_expect(sim_takes(ann, 10000, ONCE) == REDLOCK_OK);
    sim_pass_ms(1000);
    sim_expect(sim_keys_of(ann) == 2);
    return ann;
}

static void filled_in_without_a_renewal(void)
{
    struct sim_player *ann = ann_has_it_without_n3();
    sim_path_hole(ann->proc, 2, SIM_THERE, false);
    sim_pass_ms(1000);
    sim_expect(sim_keys_of(ann) == 3);
    sim_expect(sim_taken_by("retake") == 1);
    sim_master_kill(0); /* n3 has n1's place */
    sim_expect(sim_extends(ann, 10000) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* She extends it before each of them votes again, and then not before the next one goes. */
static void restarted_in_turn_without_renewal(void)
{
    SIM_CAST(3, &brief, ann);
    sim_expect(sim_takes(ann, 10000, ONCE) == REDLOCK_OK);
    for (unsigned i = 0; i < 3; i++) {
        int64_t gone_ns = sim_now_ns();
        sim_master_kill(i);
        sim_master_start(i, SIM_EMPTY);
        sim_pass_ms(200);
        sim_expect(sim_extends(ann, 10000) == REDLOCK_OK);
        sim_run_until(gone_ns + 9500 * SIM_MS);
        sim_expect(sim_extends(ann, 10000) == REDLOCK_OK);
        sim_expect(!sim_has_key(ann, i)); /* it does not vote */
        sim_run_until(gone_ns + 18500 * SIM_MS); /* now it does, for half of max-ttl and 2 s */
        sim_expect(sim_keys_of(ann) == 3);
    }
    sim_expect(sim_taken_by("retake") == 3);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

static void released_before_it_comes_back(void)
{
    struct sim_player *ann = ann_has_it_without_n3();
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_path_hole(ann->proc, 2, SIM_THERE, false);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK); /* her client is driven by calls alone */
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(2000);
    sim_expect(sim_keys() == 0);
    sim_expect(sim_taken_by("retake") == 0);
}

/* bob has lost, and reaches no master: his key stands at n3 still when ann's connection to it is
 * made anew. */
static void bob_leaves_a_trace(struct sim_player *ann, struct sim_player *bob)
{
    for (unsigned i = 0; i < 2; i++)
        sim_path_hole(bob->proc, i, SIM_THERE, true);
    sim_begins_to_take(bob, 5000, ONCE);
    sim_pass_ms(2);
    sim_path_hole(bob->proc, 2, SIM_THERE, true); /* his release is lost there */
    sim_expect(sim_finishes(bob) == REDLOCK_ENOQUORUM);
    sim_path_reset(ann->proc, 2);
    sim_pass_ms(1);
}

static void back_with_anothers_key(void)
{
    SIM_CAST(3, &brief, ann, bob);
    bob_leaves_a_trace(ann, bob);
    sim_expect(sim_takes(ann, 2000, ONCE) == REDLOCK_OK);
    sim_pass_ms(100);
    sim_expect(!sim_has_key(ann, 2));
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    for (unsigned i = 0; i < 3; i++)
        sim_path_hole(bob->proc, i, SIM_THERE, false);
}

/* Her lease is long, and not renewed. */
static void filled_in_when_anothers_key_is_gone(void)
{
    SIM_CAST(3, &brief, ann, bob);
    bob_leaves_a_trace(ann, bob);
    sim_expect(sim_takes(ann, 10000, ONCE) == REDLOCK_OK);
    sim_pass_ms(1500);
    sim_expect(!sim_has_key(ann, 2));
    for (unsigned i = 0; i < 3; i++)
        sim_path_hole(bob->proc, i, SIM_THERE, false);
    sim_pass_ms(2000); /* his release comes, and she asks once more */
    sim_expect(sim_keys_of(ann) == 3);
    sim_expect(sim_taken_by("retake") == 1);
    sim_master_kill(0); /* n3 has n1's place */
    sim_expect(sim_extends(ann, 10000) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

const struct sim_scenario sim_named_back[] = {
    {"filled-in-without-a-renewal",
     "n3 is away when ann takes the lock, and is filled in when she can reach it: n1 may go.",
     filled_in_without_a_renewal},
    {"restarted-in-turn-without-renewal",
     "R8. Each master is restarted empty when the last one has voted for a while: each is "
     "filled in when\nit votes, and not before.",
     restarted_in_turn_without_renewal},
    {"released-before-it-comes-back",
     "R8. ann has released the lock when n3 comes back: it is not filled in.",
     released_before_it_comes_back},
    {"back-with-anothers-key",
     "R8. n3 has another's key when it comes back: that stays.", back_with_anothers_key},
    {"filled-in-when-anothers-key-is-gone",
     "R8. n3 has the trace of another's try when it comes back: it is asked again, with growing "
     "pauses,\nand filled in long before a renewal: n1 may go.",
     filled_in_when_anothers_key_is_gone},
    {0},
};
