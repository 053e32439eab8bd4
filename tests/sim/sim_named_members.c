/* sim_named_members.c - scenarios of a list of masters that is changed while locks are held:
 * one master at a time, and otherwise. */
#include "config_auto.h"

#include "sim_named.h"

#define ONCE 0

/* The former list, the one with a master more, and the new one, without the first master. */
static const struct sim_client_options former = {.max_ttl_ms = 1000, .members = 0x7},
                                       wider = {.max_ttl_ms = 1000, .members = 0xf},
                                       newest = {.max_ttl_ms = 1000, .members = 0xe};

/* By n1 and n2; what she asks n3 arrives later. */
static struct sim_player *ann_has_it_by(const struct sim_client_options *list)
{
    SIM_SET(4, list, ann);
    sim_delay_ms(ann, 2, 20000, 1);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    return ann;
}

static void master_is_added(void)
{
    struct sim_player *ann = ann_has_it_by(&former), *bob = sim_enters("bob", &wider);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_EHELD);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_EHELD);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_expect_costs(SIM_OVERLAP, false);
}

static void master_is_removed(void)
{
    SIM_SET(4, &wider, ann);
    sim_delay_ms(ann, 3, 20000, 1);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    struct sim_player *bob = sim_enters("bob", &newest);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_EHELD);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_expect_costs(SIM_OVERLAP, false);
}

static void master_is_replaced_in_one_step(void)
{
    struct sim_player *ann = ann_has_it_by(&former), *bob = sim_enters("bob", &newest);
    sim_broke(SIM_ONE_LIST);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect_costs(SIM_OVERLAP, true);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* ann stands when she is to be started anew, and nobody waits for the end of her lease. */
static void second_change_does_not_wait(void)
{
    struct sim_player *ann = ann_has_it_by(&former), *bob = sim_enters("bob", &wider);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_EHELD);
    sim_goes(bob);
    sim_broke(SIM_ONE_LIST);
    struct sim_player *cat = sim_enters("cat", &newest);
    sim_expect(sim_takes(cat, 1000, ONCE) == REDLOCK_OK);
    sim_expect_costs(SIM_OVERLAP, true);
    sim_expect(sim_releases(cat) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

static void second_change_waits(void)
{
    struct sim_player *ann = ann_has_it_by(&former), *bob = sim_enters("bob", &wider);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_EHELD);
    sim_goes(bob);
    sim_pass_ms(1000);
    struct sim_player *cat = sim_enters("cat", &newest);
    sim_expect(sim_asks_validity(ann) == 0);
    sim_expect(sim_takes(cat, 1000, ONCE) == REDLOCK_OK);
    sim_expect_costs(SIM_OVERLAP, false);
    sim_expect(sim_releases(cat) == REDLOCK_OK);
}

/* Majorities of the first and of the last list have no master in common, and only the clocks
 * stand between their tokens. A hold by the list between the two meets both. */
static uint64_t takes_fenced(struct sim_player *player)
{
    player->options.fenced = 1;
    sim_expect(sim_takes(player, 1000, ONCE) == REDLOCK_OK);
    uint64_t token = redlock_fencing_token(player->lock);
    sim_expect(sim_releases(player) == REDLOCK_OK);
    return token;
}

static void fencing_tokens_over_two_changes(void)
{
    SIM_SET(4, &former, ann);
    struct sim_player *bob = sim_enters("bob", &wider), *cat = sim_enters("cat", &newest);
    sim_delay_ms(ann, 2, 20000, 1);
    sim_delay_ms(cat, 1, 20000, 1);
    sim_curtain();
    uint64_t first = takes_fenced(ann);
    uint64_t by_clocks = takes_fenced(cat);
    sim_expect(by_clocks > first);
    sim_master_step_clock(2, -300 * SIM_MS);
    sim_master_step_clock(3, -300 * SIM_MS);
    sim_pass_ms(500);
    uint64_t again = takes_fenced(ann);
    sim_expect(takes_fenced(cat) < again);
    uint64_t between = takes_fenced(bob);
    sim_expect(between > again);
    sim_expect(takes_fenced(cat) > between);
    sim_expect_costs(SIM_UNFENCED, false);
}

const struct sim_scenario sim_named_members[] = {
    {"master-is-added",
     "ann's list has three masters, and bob's has one more: neither gets what the other has.",
     master_is_added},
    {"master-is-removed",
     "ann's list has four masters, and bob's has one less: he gets it when she has released "
     "it.",
     master_is_removed},
    {"master-is-replaced-in-one-step",
     "Of three masters one is replaced by another, and both lists are in use: ann has the lock "
     "by n1 and\nn2, bob has it by n3 and n4. That is a cost.",
     master_is_replaced_in_one_step},
    {"second-change-does-not-wait",
     "The same in two steps; but when the second one comes ann has the lock by the former list "
     "still:\ncat has it as well. That is a cost.",
     second_change_does_not_wait},
    {"second-change-waits",
     "The same, and the second one waits for max-ttl: ann's lease is over.",
     second_change_waits},
    {"fencing-tokens-over-two-changes",
     "ann has the lock by n1 and n2, and cat by n3 and n4, after two changes of the list: her "
     "token is\ngreater. The clocks of n3 and n4 are set back, and it is not. When bob has had "
     "it by the list in\nbetween, it is again.",
     fencing_tokens_over_two_changes},
    {0},
};
