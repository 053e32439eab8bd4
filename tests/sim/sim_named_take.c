/* sim_named_take.c - scenarios of taking a lock: won, lost, split, late, refused. */
#include "config_auto.h"

#include "sim_named.h"

#include <string.h>

/* A lock is never kept that was not given up: who tries once more begins with nothing. */
#define ONCE 0

static void win(void)
{
    SIM_CAST(3, NULL, ann);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(5);
    sim_expect(sim_keys_of(ann) == 3);
    sim_expect(sim_asks_validity(ann) >= 970);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(5);
    sim_expect(sim_keys() == 0);
}

static void first_contact(void)
{
    sim_stage(3);
    sim_curtain();
    struct sim_player *ann = sim_enters("ann", NULL);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(5);
    sim_expect(sim_keys_of(ann) == 3);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* bob's acquire takes its time to n3, where ann's is the first. */
static void loss(void)
{
    SIM_SET(3, NULL, ann, bob);
    sim_delay_ms(bob, 2, 30, 1);
    sim_delay_ms(ann, 0, 1, 2);
    sim_delay_ms(ann, 1, 1, 2);
    sim_curtain();
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_EHELD);
    sim_expect(ann->report.held == 2);
    sim_pass_ms(5);
    sim_expect(sim_keys() == 2);
    sim_pass_ms(40);
    sim_expect(sim_keys_of(bob) == 3);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

static void early_failure(void)
{
    SIM_SET(3, NULL, ann);
    sim_master_trouble(0, SIM_OOM, 1000000);
    sim_master_trouble(1, SIM_OOM, 1000000);
    sim_delay_ms(ann, 2, 1, 200);
    sim_curtain();
    int64_t began_ns = sim_now_ns();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_ENOQUORUM);
    sim_expect(ann->done_ns - began_ns < 10 * SIM_MS);
    sim_pass_ms(300);
    sim_expect(sim_keys() == 0);
}

static void asked_at_once(void)
{
    SIM_SET(5, NULL, ann);
    for (unsigned i = 0; i < 5; i++)
        sim_delay_ms(ann, i, 1, 50);
    sim_curtain();
    int64_t began_ns = sim_now_ns();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(ann->done_ns - began_ns < 52 * SIM_MS);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* 1000 / 5 ms each, at the same time; and then she waits as long as she said, and no longer. */
static void silent_majority(void)
{
    SIM_SET(5, NULL, ann);
    for (unsigned i = 0; i < 3; i++)
        sim_path_hole(ann->proc, i, SIM_BACK, true);
    sim_curtain();
    int64_t began_ns = sim_now_ns();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_ENOQUORUM);
    sim_expect(ann->done_ns - began_ns >= 195 * SIM_MS);
    sim_expect(ann->done_ns - began_ns < 201 * SIM_MS);
    sim_expect(ann->report.failed >= 3);
    began_ns = sim_now_ns();
    sim_expect(sim_takes(ann, 1000, 500) == REDLOCK_ENOQUORUM);
    sim_expect(ann->done_ns - began_ns >= 400 * SIM_MS);
    sim_expect(ann->done_ns - began_ns <= 501 * SIM_MS);
    for (unsigned i = 0; i < 3; i++)
        sim_path_hole(ann->proc, i, SIM_BACK, false);
    sim_pass_ms(2000);
    sim_expect(sim_keys() == 0);
}

static void majority_of_the_answers(void)
{
    SIM_SET(5, NULL, ann, bob);
    for (unsigned i = 0; i < 5; i++)
        sim_path_hole(i < 2 ? bob->proc : ann->proc, i, SIM_THERE, true);
    sim_curtain();
    sim_begins_to_take(ann, 1000, ONCE);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_finishes(ann) == REDLOCK_ENOQUORUM);
    sim_expect(sim_keys_of(bob) == 3);
    sim_expect(sim_asks_validity(bob) > 700);
}

static void even_split(void)
{
    SIM_SET(4, NULL, ann, bob);
    for (unsigned i = 0; i < 4; i++)
        sim_delay_ms(i < 2 ? bob : ann, i, 10, 1);
    sim_curtain();
    sim_begins_to_take(ann, 1000, ONCE);
    sim_begins_to_take(bob, 1000, ONCE);
    sim_expect(sim_finishes(ann) == REDLOCK_EHELD);
    sim_expect(sim_finishes(bob) == REDLOCK_EHELD);
    sim_pass_ms(20);
    sim_expect(sim_keys() == 0);
}

/* Three that begin at once, each nearest to another master: all lose to each other. ann, who
 * waits, then asks one master alone, and the others when that one has granted. */
static void split(struct sim_player *ret_three[3])
{
    static const char *const names[] = {"ann", "bob", "cat"};
    for (unsigned i = 0; i < 3; i++)
        ret_three[i] = sim_is_there(names[i], NULL);
    for (unsigned i = 0; i < 9; i++)
        sim_delay_ms(ret_three[i / 3], i % 3, i / 3 == i % 3 ? 1 : 2, 1);
    sim_curtain();
    sim_begins_to_take(ret_three[0], 300, 2000);
    sim_begins_to_take(ret_three[1], 300, ONCE);
    sim_begins_to_take(ret_three[2], 300, ONCE);
    sim_expect(sim_finishes(ret_three[1]) == REDLOCK_EHELD);
    sim_expect(sim_finishes(ret_three[2]) == REDLOCK_EHELD);
}

static void split_and_ordered(void)
{
    struct sim_player *three[3];
    sim_stage(3);
    split(three);
    /* Her next round is slow: its first part takes 40 ms, the rest as much again. */
    for (unsigned i = 0; i < 3; i++)
        sim_delay_ms(three[0], i, 20, 20);
    sim_expect(sim_finishes(three[0]) == REDLOCK_OK);
    sim_expect(three[0]->report.rounds == 2);
    /* 300 - 3 - 2 of drift, and 80 for the two parts. */
    int64_t left_ms = sim_asks_validity(three[0]);
    sim_expect(left_ms > 200 && left_ms <= 215);
    sim_expect(sim_releases(three[0]) == REDLOCK_OK);
}

/* While n3 takes its time n1 loses its keys, and has no vote by then. */
static void ordered_and_unfit_since(void)
{
    struct sim_player *three[3];
    sim_stage(3);
    split(three);
    sim_delay_ms(three[0], 2, 20, 20);
    sim_pass_ms(25);
    sim_master_kill(0);
    sim_master_start(0, SIM_EMPTY);
    sim_expect(sim_finishes(three[0]) == REDLOCK_OK);
    sim_expect(three[0]->report.rounds == 2);
    sim_pass_ms(50);
    sim_expect(!sim_has_key(three[0], 0));
    sim_expect(sim_keys_of(three[0]) == 2);
    sim_expect(sim_releases(three[0]) == REDLOCK_OK);
}

static void ordered_and_refused(void)
{
    struct sim_player *three[3];
    sim_stage(3);
    split(three);
    sim_expect(sim_takes(three[1], 300, ONCE) == REDLOCK_OK);
    sim_expect(sim_finishes(three[0]) == REDLOCK_OK);
    sim_expect(three[0]->done_ns - three[1]->done_ns >= 295 * SIM_MS);
}

/* The validity counts from before the first byte: 200 ms of waiting for answers are gone. When
 * the keys run out, so has the validity. */
static void slow_answers(void)
{
    SIM_SET(3, NULL, ann, bob);
    for (unsigned i = 0; i < 3; i++)
        sim_delay_ms(ann, i, 1, 200);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) <= 1000 - 12 - 200);
    sim_expect(sim_takes(bob, 1000, 2000) == REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) == 0);
}

/* ann's process is stopped while three grants wait in her sockets. */
static void grants_wait_in_the_buffer(void)
{
    SIM_CAST(3, NULL, ann, bob);
    sim_begins_to_take(ann, 1000, ONCE);
    sim_pass_us(500);
    sim_proc_pause(ann->proc, 1500 * SIM_MS);
    sim_pass_ms(1100);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_finishes(ann) == REDLOCK_ENOQUORUM);
    sim_pass_ms(10);
    sim_expect(sim_keys_of(bob) == 3);
}

/* With one master its share of the time is all of it: the answer comes when that is not over,
 * and the drift has taken the rest. */
static void won_too_late(void)
{
    SIM_SET(1, NULL, ann);
    sim_delay_ms(ann, 0, 1, 990);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_ENOQUORUM);
    sim_pass_ms(50);
    sim_expect(sim_keys() == 0);
}

static void token_for_every_attempt(void)
{
    char first[sizeof(((struct sim_player *)0)->token)];
    SIM_CAST(3, NULL, ann);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    memcpy(first, ann->token, sizeof(first));
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(strcmp(first, ann->token) != 0);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

static void stalled_master_costs_nothing(void)
{
    SIM_CAST(3, NULL, ann);
    uint64_t commands = sim_master_commands(2);
    sim_master_pause(2, 1200 * SIM_MS);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(350); /* its share of a round is over */
    for (unsigned i = 0; i < 3; i++) {
        int64_t began_ns = sim_now_ns();
        sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
        sim_expect(ann->done_ns - began_ns < 3 * SIM_MS);
        sim_expect(sim_releases(ann) == REDLOCK_OK);
    }
    sim_pass_ms(1000);
    /* Then there is a greeting down the connection that was made beside; and, as the first one
     * answers before that, INFO once more, and the release that was due meanwhile. */
    sim_expect(sim_master_commands(2) == commands + 2 + 2 + 2);
    sim_expect(sim_keys() == 0);
}

/* Won at 2 ms, of a lease whose loss is told at 3.9. ann is stopped from before her call
 * returns until 4.5, each time one system call later: less is left by then than can be told. */
static void won_and_lost_since(void)
{
    SIM_CAST(3, NULL, ann);
    sim_watches(ann, true);
    for (unsigned call = 21; call < 26; call++) {
        sim_proc_stop_at(ann->proc, call, 2500 * SIM_US, false);
        sim_expect(sim_takes(ann, 10, ONCE) == REDLOCK_ENOQUORUM);
        sim_pass_ms(50);
    }
    sim_expect(ann->told_lost == 0);
    sim_expect(sim_keys() == 0);
}

/* Won at 2 ms of 10. ann is stopped right before her call is back, until bob has had the lock, and
 * nobody may have it for half a second after him. */
static void won_and_told_too_late(void)
{
    const struct sim_client_options delayed = {.max_ttl_ms = 2000, .lock_delay_ms = 500};
    SIM_CAST(3, &delayed, ann, bob);
    sim_proc_stop_at(ann->proc, 26, 800 * SIM_MS, false);
    sim_begins_to_take(ann, 10, ONCE);
    sim_pass_ms(600);
    sim_expect(sim_takes(bob, 10, ONCE) == REDLOCK_OK);
    sim_expect(sim_finishes(ann) == REDLOCK_OK && ann->validity_ms == 0);
    sim_expect_costs(SIM_OVERLAP, false);
}

const struct sim_scenario sim_named_take[] = {
    {"win", "A majority of yes: the lock is ours. The third yes joins it.", win},
    {"first-contact",
     "A client that was just opened asks each master what it is before it counts its vote.",
     first_contact},
    {"loss",
     "Two masters refuse: the third one's yes is given back at once, behind the caller's back.",
     loss},
    {"won-and-told-too-late",
     "With a lock-delay. ann's lock is over, and her keys are, when her call is back; bob has had "
     "it\nmeanwhile, and did not release it.",
     won_and_told_too_late},
    {"early-failure",
     "Two of three masters are out of memory: the round is over when they have said so, and "
     "does\nnot wait for the third.",
     early_failure},
    {"asked-at-once", "Five masters take 50 ms each to answer: the lock is had after one trip.",
     asked_at_once},
    {"silent-majority",
     "Three of five masters are not heard: a round is lost when their share of the time is over,\n"
     "which is the same for all. A wait ends when it is to.",
     silent_majority},
    {"majority-of-the-answers",
     "CE23. ann reaches two of five masters: two yes of two answers are no majority.",
     majority_of_the_answers},
    {"even-split", "CE13. Two of four masters each: half is no majority.", even_split},
    {"split-and-ordered",
     "Three ask at once and all lose to each other. Who waits then asks one master first, and\n"
     "the others only when it has granted; the validity counts from before the first.",
     split_and_ordered},
    {"ordered-and-unfit-since",
     "After a split the first master grants, and one of the others has been restarted "
     "meanwhile:\nit is not asked.",
     ordered_and_unfit_since},
    {"ordered-and-refused", "After a split the first master refuses: the others are not asked.",
     ordered_and_refused},
    {"slow-answers",
     "CE12. Answers take 200 ms: the validity counts from before the first byte was sent.",
     slow_answers},
    {"grants-wait-in-the-buffer",
     "CE11, CE25. Three grants are read when the keys have run out, and another has the lock:\n"
     "the round was won too late, and is lost.",
     grants_wait_in_the_buffer},
    {"won-too-late",
     "CE25. The only master's yes comes within its time, and yet too late: nothing is left.",
     won_too_late},
    {"won-and-lost-since",
     "A watched lock is to be given up by the time at which the call returns: it was not won.",
     won_and_lost_since},
    {"token-for-every-attempt", "CE16, CE27. The same client, the same lock, another token.",
     token_for_every_attempt},
    {"stalled-master-costs-nothing",
     "n3 stands still: it is asked until its time is over, and then greeted once more.",
     stalled_master_costs_nothing},
    {0},
};
