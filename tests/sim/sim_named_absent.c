/* sim_named_absent.c - scenarios of programs that do not look at their connections for a while,
 * and of connections that break meanwhile: that is no evidence against a master. */
#include "config_auto.h"

#include "sim_named.h"

#define ONCE 0

static const struct sim_client_options idle = {
    .max_ttl_ms = 1000,
    .background = REDLOCK_BACKGROUND_NEVER,
};

static void cut_all(const struct sim_player *player)
{
    for (unsigned i = 0; i < sim_master_count(); i++)
        sim_path_reset(player->proc, i);
}

static void long_after_the_opening(void)
{
    sim_stage(3);
    sim_curtain();
    struct sim_player *ann = sim_enters("ann", &idle);
    sim_pass_ms(3000);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(ann->report.rounds == 1);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* They are down when she enters. */
static void refused_while_nobody_looked(void)
{
    sim_stage(3);
    sim_curtain();
    for (unsigned i = 0; i < 3; i++)
        sim_master_kill(i);
    struct sim_player *ann = sim_enters("ann", &idle);
    sim_pass_ms(10);
    for (unsigned i = 0; i < 3; i++)
        sim_master_start(i, SIM_WHOLE);
    sim_pass_ms(5000); /* they vote by then */
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* Her whole process is stopped for two seconds before she has said anything. */
static void stopped_while_it_connects(void)
{
    sim_stage(3);
    sim_curtain();
    struct sim_player *ann = sim_enters("ann", &idle);
    sim_begins_to_take(ann, 1000, ONCE);
    sim_pass_us(1000);
    sim_proc_pause(ann->proc, 2000 * SIM_MS);
    int64_t began_ns = sim_now_ns();
    sim_expect(sim_finishes(ann) == REDLOCK_OK);
    sim_expect(sim_now_ns() - began_ns < 2010 * SIM_MS);
    sim_expect(ann->report.rounds == 1);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* Once right before, once long before, and as often where they have just been made. */
static void cut_before_a_try(void)
{
    static const int64_t before_ms[] = {5, 5, 500, 5000};
    SIM_CAST(3, &idle, ann);
    for (unsigned i = 0; i < 4; i++) {
        cut_all(ann);
        sim_pass_ms(before_ms[i]);
        sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
        sim_expect(sim_releases(ann) == REDLOCK_OK);
    }
}

/* n3 is gone. The kernel has yet to take a part of the request for n1 when the connection to n2
 * is found broken. */
static void cut_while_another_takes_in_pieces(void)
{
    SIM_CAST(3, &idle, ann);
    sim_master_kill(2);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_path(ann->proc, 0)->send_buffer = 64;
    sim_path_reset(ann->proc, 1);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(ann->report.rounds == 2);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* The answers to a try that was given up have come when she tries again, and each read gets a
 * part of them only. */
static void late_answers_read_in_pieces(void)
{
    SIM_CAST(3, &idle, ann);
    for (unsigned i = 0; i < 3; i++)
        sim_delay_ms(ann, i, 1, 345);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_ENOQUORUM);
    for (unsigned i = 0; i < 3; i++) {
        sim_delay_ms(ann, i, 1, 1);
        sim_path(ann->proc, i)->short_read_ppm = 1000000;
    }
    sim_pass_ms(70);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* No connection lasts for 50 ms. */
static void cut_while_renewed(void)
{
    sim_stage(3);
    sim_also_drawn(20);
    struct sim_player *ann = sim_is_there("ann", NULL);
    sim_curtain();
    sim_watches(ann, true);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(300);
    for (unsigned i = 0; i < 20; i++) {
        cut_all(ann);
        sim_pass_ms(50);
    }
    sim_expect(ann->told_lost == 0);
    sim_pass_ms(500);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

static void answers_to_a_release_lost(void)
{
    SIM_CAST(3, NULL, ann);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(5);
    for (unsigned i = 0; i < 3; i++)
        sim_delay_ms(ann, i, 1, 10);
    sim_begins(ann, sim_act_release);
    sim_pass_ms(5);
    sim_expect(sim_keys() == 0);
    cut_all(ann);
    sim_expect(sim_finishes(ann) == REDLOCK_OK);
}

const struct sim_scenario sim_named_absent[] = {
    {"long-after-the-opening",
     "ann opens a client, and asks for a lock three seconds later. Nobody has looked at her\n"
     "connections meanwhile: the call waits for them.",
     long_after_the_opening},
    {"refused-while-nobody-looked",
     "The masters come up after ann has opened her client. Nobody has heard that they were "
     "down:\nher first call begins anew, and waits for that.",
     refused_while_nobody_looked},
    {"stopped-while-it-connects",
     "ann's process is stopped for longer than connecting may take: that does not count.",
     stopped_while_it_connects},
    {"cut-before-a-try",
     "All connections break while nobody looks: the call that finds out makes them anew.",
     cut_before_a_try},
    {"cut-while-another-takes-in-pieces",
     "n3 is gone, the connection to n2 is found broken in ann's round, and n1 has yet to take\n"
     "what it was asked: she waits for both of them, and asks again.",
     cut_while_another_takes_in_pieces},
    {"late-answers-read-in-pieces",
     "Answers that are past their time have come when ann tries again: she reads all of them\n"
     "before she calls a master silent.",
     late_answers_read_in_pieces},
    {"cut-while-renewed",
     "All connections break again and again: the lease is renewed as soon as a majority is "
     "back.",
     cut_while_renewed},
    {"answers-to-a-release-lost",
     "A release is done, and its answers are lost: it is said again, and confirmed.",
     answers_to_a_release_lost},
    {0},
};
