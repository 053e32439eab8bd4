/* sim_named_wait.c - scenarios of waiting: woken, not woken, first come, gone. */
#include "config_auto.h"

#include "sim_named.h"

#define ONCE 0

static void hand_off(void)
{
    struct sim_player *bob, *ann = sim_ann_has_it(1000, false, &bob);
    sim_begins_to_take(bob, 1000, 5000);
    sim_pass_ms(200);
    sim_hands_over(ann, bob, 5);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* ann has it for longer than anybody waits here. */
static struct sim_player *ann_has_it_for_long(struct sim_player **ret_bob)
{
    struct sim_client_options how = {.max_ttl_ms = 30000};
    SIM_SET(3, &how, ann);
    *ret_bob = sim_is_there("bob", &how);
    sim_curtain();
    sim_expect(sim_takes(ann, 30000, ONCE) == REDLOCK_OK);
    return ann;
}

/* bob's connections are forgotten, so that the masters tell nobody. */
static void lost_wake_up(void)
{
    struct sim_player *bob, *ann = ann_has_it_for_long(&bob);
    sim_begins_to_take(bob, 1000, -1);
    sim_pass_ms(200);
    for (unsigned i = 0; i < 3; i++)
        sim_path_forget(bob->proc, i, 1 * SIM_MS);
    sim_hands_over(ann, bob, 2500);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* Somebody ends ann's keys by hand: no script wakes bob. */
static void ended_without_a_word(void)
{
    struct sim_player *bob;
    (void)ann_has_it_for_long(&bob);
    sim_begins_to_take(bob, 1000, 12000);
    sim_pass_ms(200);
    sim_broke(SIM_KEYS_STAY);
    for (unsigned i = 0; i < 3; i++)
        sim_master_shorten(i, "jobs", 1);
    sim_expect(sim_finishes(bob) == REDLOCK_OK);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_expect_costs(SIM_OVERLAP, true); /* ann has not been told */
}

static void waiter_gives_up(void)
{
    SIM_CAST(3, NULL, ann, bob, cat);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_begins_to_take(bob, 1000, 100);
    sim_pass_ms(20);
    sim_begins_to_take(cat, 1000, 5000);
    sim_expect(sim_finishes(bob) == REDLOCK_EHELD);
    sim_pass_ms(100);
    sim_hands_over(ann, cat, 5);
    sim_expect(sim_releases(cat) == REDLOCK_OK);
}

static void waiter_crashes(void)
{
    SIM_CAST(3, NULL, ann, bob, cat);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_begins_to_take(bob, 1000, 1000);
    sim_pass_ms(20);
    sim_begins_to_take(cat, 1000, 5000);
    sim_pass_ms(100);
    sim_crashes(bob);
    sim_pass_ms(20);
    sim_hands_over(ann, cat, 5);
    sim_expect(sim_releases(cat) == REDLOCK_OK);
}

static void first_come(void)
{
    SIM_CAST(3, NULL, ann, bob, cat);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_begins_to_take(bob, 1000, 5000);
    sim_pass_ms(20);
    sim_begins_to_take(cat, 1000, 5000);
    sim_pass_ms(100);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_finishes(bob) == REDLOCK_OK);
    sim_pass_ms(100);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_expect(sim_finishes(cat) == REDLOCK_OK);
    sim_expect(sim_releases(cat) == REDLOCK_OK);
    sim_pass_ms(10);
    sim_expect(sim_keys() == 0);
}

static void threads_of_one_client(void)
{
    SIM_SET(3, NULL, ann);
    struct sim_player *more[2] = {sim_beside(ann), sim_beside(ann)};
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_begins_to_take(more[0], 1000, 5000);
    sim_pass_ms(10);
    sim_begins_to_take(more[1], 1000, 5000);
    sim_pass_ms(100);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_finishes(more[0]) == REDLOCK_OK);
    sim_expect(sim_releases(more[0]) == REDLOCK_OK);
    sim_expect(sim_finishes(more[1]) == REDLOCK_OK);
    sim_expect(sim_releases(more[1]) == REDLOCK_OK);
}

static void wait_is_over(void)
{
    struct sim_player *bob, *ann = sim_ann_has_it(1000, false, &bob);
    int64_t began_ns = sim_now_ns();
    sim_expect(sim_takes(bob, 1000, 300) == REDLOCK_EHELD);
    sim_expect(bob->done_ns - began_ns >= 290 * SIM_MS);
    sim_expect(bob->done_ns - began_ns <= 305 * SIM_MS);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* Two of three stand for so long. */
static void most_stand(int64_t ms)
{
    for (unsigned i = 0; i < 2; i++)
        sim_master_pause(i, ms * SIM_MS);
}

/* Masters that are well and slow, a holder in the waiter's own client, masters that are gone:
 * waits that are too short to tell them apart by what is asked last. */
static void too_short_to_tell(void)
{
    struct sim_client_options how = {.max_ttl_ms = 30000};
    SIM_CAST(3, &how, ann);
    struct sim_player *beside = sim_beside(ann);
    most_stand(90);
    sim_expect(sim_takes(ann, 10000, 50) == REDLOCK_EUNDECIDED);
    sim_expect(sim_takes(ann, 10000, ONCE) == REDLOCK_EUNDECIDED); /* it asks no one at once */
    sim_pass_ms(200);
    sim_expect(sim_takes(ann, 10000, ONCE) == REDLOCK_OK);
    most_stand(90);
    sim_expect(sim_takes(beside, 10000, 50) == REDLOCK_EHELD);
    sim_pass_ms(200);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    most_stand(5000);
    sim_expect(sim_takes(ann, 900, 200) == REDLOCK_EUNDECIDED);
    sim_expect(sim_takes(ann, 900, 200) == REDLOCK_ENOQUORUM);   /* a share is 300 ms */
    sim_expect(sim_takes(ann, 10000, 50) == REDLOCK_EUNDECIDED); /* 500 ms are not over */
    sim_expect(sim_takes(ann, 10000, 200) == REDLOCK_ENOQUORUM);
}

/* bob has n3 only, and for a moment: he does not get the lock, either. */
static void word_of_a_minority(void)
{
    struct sim_client_options how = {.max_ttl_ms = 30000};
    SIM_CAST(3, &how, ann, bob);
    most_stand(90);
    sim_begins_to_take(bob, 10000, 150);
    sim_pass_ms(10);
    sim_expect(sim_takes(ann, 10000, 50) == REDLOCK_EUNDECIDED);
    (void)sim_finishes(bob);
}

static void act_cancel(struct sim_player *player)
{
    redlock_shutdown(player->client);
}

static void canceled(void)
{
    SIM_CAST(3, NULL, ann, bob);
    struct sim_player *thread = sim_beside(bob);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_begins_to_take(bob, 1000, -1);
    sim_pass_ms(100);
    sim_does(thread, act_cancel);
    sim_expect(sim_finishes(bob) == REDLOCK_ECANCELED);
    sim_expect(bob->done_ns - thread->done_ns <= SIM_MS);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* n1 has granted it, n2 and n3 have as well, but bob does not know that yet. */
static void canceled_in_a_round(void)
{
    SIM_SET(3, NULL, bob);
    struct sim_player *thread = sim_beside(bob);
    sim_delay_ms(bob, 1, 1, 20);
    sim_delay_ms(bob, 2, 1, 20);
    sim_curtain();
    sim_begins_to_take(bob, 1000, ONCE);
    sim_pass_ms(5);
    sim_does(thread, act_cancel);
    sim_expect(sim_finishes(bob) == REDLOCK_ECANCELED);
    sim_pass_ms(5);
    sim_expect(sim_keys() == 0);
}

/* ---- calls that call back ------------------------------------------------------------- */

static struct {
    uint64_t call;
    unsigned told;
    int result;
    redlock_lock *lock;
} back;

static void on_done(void *context, int result, redlock_lock *lock)
{
    (void)context;
    sim_call_ends(back.call);
    back.told++;
    back.result = result;
    back.lock = lock;
}

static void act_try_async(struct sim_player *player)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.ttl_ms = 1000;
    back.call = sim_call_begins("redlock_try_async");
    player->result =
        redlock_try_async_n(player->client, "jobs", 4, &options, on_done, NULL, NULL);
    sim_tell("%s asks for jobs, and goes on", player->proc->name);
}

static void act_release_async(struct sim_player *player)
{
    back.call = sim_call_begins("redlock_release_async");
    player->result = redlock_release_async(back.lock, on_done, NULL);
    sim_tell("%s releases jobs, and goes on", player->proc->name);
}

static void callbacks(void)
{
    SIM_SET(3, NULL, ann);
    back.told = 0;
    sim_curtain();
    sim_expect(sim_does(ann, act_try_async) == REDLOCK_OK);
    sim_pass_ms(50);
    sim_expect(back.told == 1 && back.result == REDLOCK_OK && back.lock);
    sim_expect(sim_keys() == 3);
    sim_expect(sim_does(ann, act_release_async) == REDLOCK_OK);
    sim_pass_ms(50);
    sim_expect(back.told == 2 && back.result == REDLOCK_OK && !back.lock);
    sim_expect(sim_keys() == 0);
}

static void act_wait_async(struct sim_player *player)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.ttl_ms = 1000;
    options.wait_ms = player->options.wait_ms;
    back.call = sim_call_begins("redlock_try_async");
    player->result =
        redlock_try_async_n(player->client, "jobs", 4, &options, on_done, NULL, NULL);
    sim_tell("%s asks for jobs, and goes on", player->proc->name);
}

/* ann has the lock. A thread of bob's waits for it, leads and sleeps. Another one takes another
 * lock, which nobody has, and calls for jobs with a wait that ends soon: neither is late. And
 * a call whose wait has no end returns at a shutdown at once, with a callback or without. */
static void calls_beside_a_waiter(void)
{
    struct sim_player *bob, *ann = sim_ann_has_it(1000, false, &bob);
    struct sim_player *thread = sim_beside(bob);
    thread->names = "other";
    sim_begins_to_take(bob, 1000, -1);
    sim_pass_ms(50);
    int64_t began_ns = sim_now_ns();
    sim_expect(sim_takes(thread, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(thread) == REDLOCK_OK);
    sim_expect(thread->done_ns - began_ns <= 10 * SIM_MS);
    back.told = 0;
    thread->options.wait_ms = 100;
    sim_expect(sim_does(thread, act_wait_async) == REDLOCK_OK);
    sim_pass_ms(98);
    sim_expect(back.told == 0);
    sim_pass_ms(7);
    sim_expect(back.told == 1 && back.result == REDLOCK_EHELD);
    thread->options.wait_ms = -1;
    sim_expect(sim_does(thread, act_wait_async) == REDLOCK_OK);
    sim_pass_ms(50);
    sim_expect(back.told == 1);
    sim_does(thread, act_cancel);
    sim_pass_ms(1);
    sim_expect(back.told == 2 && back.result == REDLOCK_ECANCELED);
    sim_expect(sim_finishes(bob) == REDLOCK_ECANCELED);
    sim_expect(bob->done_ns - thread->done_ns <= SIM_MS);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* bob, who is next, and cat, who comes after him, wait for long. bob is stopped when he is
 * woken: the lock is kept for him for a moment, and nobody is told when that is over. */
static void second_to_the_dead(void)
{
    struct sim_client_options how = {.max_ttl_ms = 30000};
    SIM_CAST(3, &how, ann, bob, cat);
    sim_expect(sim_takes(ann, 30000, ONCE) == REDLOCK_OK);
    sim_begins_to_take(bob, 1000, -1);
    sim_pass_ms(50);
    sim_begins_to_take(cat, 1000, -1);
    sim_pass_ms(4000);
    int64_t gone_ns = sim_now_ns();
    sim_proc_pause(bob->proc, 20 * SIM_S);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_finishes(cat) == REDLOCK_OK);
    sim_expect(cat->done_ns - gone_ns < 2 * SIM_S);
    sim_expect(sim_releases(cat) == REDLOCK_OK);
    sim_expect(sim_finishes(bob) == REDLOCK_OK);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* bob stands still for longer than the lock is kept for him. Nobody else wants it: it is his at
 * once. By himself he would look a second after he was queued. */
static void woken_too_late(void)
{
    struct sim_player *bob, *ann = sim_ann_has_it(1000, false, &bob);
    sim_begins_to_take(bob, 1000, -1);
    sim_pass_ms(100);
    int64_t goes_on_ns = sim_now_ns() + 300 * SIM_MS;
    sim_proc_pause(bob->proc, 300 * SIM_MS);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_finishes(bob) == REDLOCK_OK);
    sim_expect(bob->done_ns - goes_on_ns <= 5 * SIM_MS);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* Or ann takes it once more meanwhile: he stands in the queue again, and is woken again. */
static void woken_too_late_for_it(void)
{
    struct sim_player *bob, *ann = sim_ann_has_it(1000, false, &bob);
    sim_begins_to_take(bob, 1000, -1);
    sim_pass_ms(100);
    sim_proc_pause(bob->proc, 200 * SIM_MS);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(100);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(150);
    sim_expect(bob->act != NULL);
    sim_hands_over(ann, bob, 5);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* n3 says a hundred times a second that the lock was released. What bob makes of it costs n1
 * and n2 a round soon, the next ones later and later, and then one in half a second at most;
 * each is a request to acquire and one to undo it. */
static void told_of_no_release(struct sim_player *ann, struct sim_player *bob)
{
    enum { SECONDS = 3, ROUNDS_MAX = 8 + 2 * SECONDS + SECONDS };
    sim_expect(sim_takes(ann, 30000, ONCE) == REDLOCK_OK);
    sim_begins_to_take(bob, 1000, -1);
    sim_pass_ms(200);
    uint64_t before = sim_master_commands(0);
    for (int i = 0; i < 100 * SECONDS; i++) {
        sim_master_cry(2);
        sim_pass_ms(10);
    }
    sim_expect(sim_master_commands(0) - before <= 2 * ROUNDS_MAX);
    sim_hands_over(ann, bob, 5);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

static void wakes_of_one(void)
{
    struct sim_client_options how = {.max_ttl_ms = 30000};
    SIM_CAST(3, &how, ann, bob);
    told_of_no_release(ann, bob);
}

static void messages_of_one(void)
{
    struct sim_client_options how = {.max_ttl_ms = 30000};
    sim_stage(3);
    struct sim_player *ann = sim_of_kind(sim_is_there("ann", &how), REDLOCK_REENTRANT);
    struct sim_player *bob = sim_of_kind(sim_is_there("bob", &how), REDLOCK_REENTRANT);
    sim_curtain();
    told_of_no_release(ann, bob);
}

const struct sim_scenario sim_named_wait[] = {
    {"hand-off", "bob waits for ann's lock: the masters wake him when she releases it.",
     hand_off},
    {"lost-wake-up", "The masters wake bob, and he hears nothing: he listens anew, and asks.",
     lost_wake_up},
    {"ended-without-a-word",
     "Somebody ends ann's keys by hand: nobody wakes bob, who asks from time to time all the "
     "same.",
     ended_without_a_word},
    {"waiter-gives-up",
     "bob has waited for long enough: he leaves the queues, and cat, who came later, is woken.",
     waiter_gives_up},
    {"waiter-crashes", "bob is killed while he waits: the next in the queue is woken.",
     waiter_crashes},
    {"first-come", "bob waits, then cat: they get the lock in that order.", first_come},
    {"threads-of-one-client",
     "Three threads of one process: it stands in the queues once, and serves them in order.",
     threads_of_one_client},
    {"too-short-to-tell",
     "What two slow masters leave unknown is neither a failure nor a holder.",
     too_short_to_tell},
    {"word-of-a-minority",
     "One master names another try as the holder, and the others have no time to answer.",
     word_of_a_minority},
    {"wait-is-over", "The lock is not to be had within the time that bob gives it.",
     wait_is_over},
    {"canceled", "bob's service is shut down while he waits.", canceled},
    {"canceled-in-a-round",
     "bob's service is shut down while masters are asked: what they grant is given back.",
     canceled_in_a_round},
    {"second-to-the-dead",
     "bob is woken, and stands still: cat, who is behind him, finds that out by asking.",
     second_to_the_dead},
    {"woken-too-late",
     "bob is woken, and stands still for longer than the lock is kept for him: it is his when he\n"
     "goes on.",
     woken_too_late},
    {"woken-too-late-for-it",
     "The same, and ann has it once more meanwhile: bob is woken again when she gives it up.",
     woken_too_late_for_it},
    {"wakes-of-one",
     "n3 says a hundred times a second that the lock was released: n1 and n2 are asked now and "
     "then.",
     wakes_of_one},
    {"messages-of-one", "The same of a reentrant lock, told of in its channel.",
     messages_of_one},
    {"callbacks", "Calls that do not wait call back, once each.", callbacks},
    {"calls-beside-a-waiter",
     "A thread of bob's sleeps while it waits for ann's lock: what another one calls is not late,\n"
     "and a shutdown is told at once to all who wait.",
     calls_beside_a_waiter},
    {0},
};
