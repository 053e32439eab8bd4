/* sim_named_follow.c - scenarios of threads that share a client: one leads, the others follow
 * and sleep, and one turns the loop beside both of them. */
#include "config_auto.h"

#include "sim_named.h"

#define ONCE 0

static const struct sim_client_options undriven = {
    .max_ttl_ms = 10000,
    .background = REDLOCK_BACKGROUND_NEVER,
};

/* bob has the lock. Two threads of ann's wait for it: hers leads, and stands still for two
 * seconds when it wakes, which is when the wait of the other one is over. */
static void leader_that_stands_still(void)
{
    SIM_CAST(3, &undriven, bob, ann);
    struct sim_player *thread = sim_beside(ann);
    sim_expect(sim_takes(bob, 10000, ONCE) == REDLOCK_OK);
    sim_begins_to_take(ann, 1000, 5000);
    sim_pass_ms(10);
    int64_t began_ns = sim_now_ns();
    sim_begins_to_take(thread, 1000, 300);
    sim_pass_ms(10);
    sim_proc_stop_at(ann->proc, 1, 2000 * SIM_MS, true);
    sim_expect(sim_finishes(thread) == REDLOCK_EHELD);
    sim_expect(thread->done_ns - began_ns <= 305 * SIM_MS);
    sim_hands_over(bob, ann, 2000);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* Her whole process is stopped before she has said anything. When it goes on, the thread that
 * leads comes last. */
static void stopped_while_two_connect(void)
{
    sim_stage(3);
    sim_curtain();
    struct sim_player *ann = sim_enters("ann", &undriven), *thread = sim_beside(ann);
    thread->names = "other";
    sim_begins_to_take(ann, 1000, ONCE);
    sim_pass_us(500);
    sim_begins_to_take(thread, 1000, ONCE);
    sim_pass_us(500);
    sim_proc_stop_at(ann->proc, 1, 5 * SIM_MS, true);
    sim_proc_pause(ann->proc, 2000 * SIM_MS);
    int64_t began_ns = sim_now_ns();
    sim_expect(sim_finishes(thread) == REDLOCK_OK);
    sim_expect(sim_finishes(ann) == REDLOCK_OK);
    sim_expect(sim_now_ns() - began_ns < 2020 * SIM_MS);
    sim_expect(ann->report.rounds == 1 && thread->report.rounds == 1);
    sim_expect(sim_releases(thread) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

static void act_process(struct sim_player *player)
{
    player->result = redlock_process(player->client);
}

/* Nothing gets to n2 and n3 any more, and she connects to them. A thread of hers sleeps on
 * that: whatever another one does, it is no time in which nobody looked. */
static void turn_beside_a_sleeping_leader(void)
{
    SIM_CAST(3, &undriven, ann);
    struct sim_player *thread = sim_beside(ann);
    for (unsigned i = 1; i < 3; i++) {
        sim_path_hole(ann->proc, i, SIM_THERE, true);
        sim_path_reset(ann->proc, i);
    }
    int64_t began_ns = sim_now_ns();
    sim_begins_to_take(ann, 3000, ONCE);
    sim_pass_ms(10);
    sim_expect(sim_does(thread, act_process) == REDLOCK_OK);
    sim_expect(sim_finishes(ann) == REDLOCK_ENOQUORUM);
    sim_expect(sim_now_ns() - began_ns < 1010 * SIM_MS); /* connect-timeout */
}

const struct sim_scenario sim_named_follow[] = {
    {"leader-that-stands-still",
     "The thread that leads stands still: another one of the same client ends its wait in its "
     "own time.",
     leader_that_stands_still},
    {"stopped-while-two-connect",
     "ann's process is stopped for longer than connecting may take, and of her threads the one "
     "that\nfollows goes on first: that does not count.",
     stopped_while_two_connect},
    {"turn-beside-a-sleeping-leader",
     "While a thread sleeps on connections that nobody answers another one turns the loop: "
     "they "
     "fail in\ntheir time all the same.",
     turn_beside_a_sleeping_leader},
    {0},
};
