/* sim_named_two.c - scenarios of two servers behind one name, and behind one address. n4 is the
 * other one of n2's name: nobody's list has it.
 */
#include "config_auto.h"

#include "sim_master.h"
#include "sim_named.h"
#include "sim_net.h"

enum { ONCE = 0 };

static const struct sim_client_options by_name = {.max_ttl_ms = 1000, .by_name = true};
static const struct sim_client_options for_long = {.max_ttl_ms = 60000, .by_name = true};

static void cut_off(struct sim_player *player, unsigned one, unsigned other, bool on)
{
    sim_path_hole(player->proc, one, SIM_THERE, on);
    sim_path_hole(player->proc, other, SIM_THERE, on);
}

/* n1 and n2 are on ann's side of the partition, n3 and n4 on bob's. */
static void two_addresses_and_a_partition(void)
{
    sim_also_drawn(60);
    sim_stage_with_spare(3);
    sim_master_share_name(1, true);
    struct sim_player *ann = sim_enters("ann", &by_name), *bob = sim_enters("bob", &by_name);
    sim_curtain();
    cut_off(ann, 2, 3, true);
    cut_off(bob, 0, 1, true);
    sim_begins_to_take(ann, 1000, 3000);
    sim_begins_to_take(bob, 1000, 3000);
    sim_expect(sim_finishes(ann) == REDLOCK_ENOQUORUM);
    sim_expect(sim_finishes(bob) == REDLOCK_ENOQUORUM);
    /* n1 and n3 are a majority, without a partition. */
    cut_off(ann, 2, 3, false);
    cut_off(bob, 0, 1, false);
    sim_expect(sim_takes(ann, 1000, 3000) == REDLOCK_OK);
    sim_expect(sim_takes(bob, 1000, 500) == REDLOCK_EHELD);
    sim_expect(!sim_has_key(ann, 1));
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* n3 is down: n2's vote is needed. */
static void two_addresses_of_two_servers(void)
{
    sim_stage_with_spare(3);
    sim_master_share_name(1, true);
    sim_master_kill(2);
    struct sim_player *ann = sim_enters("ann", &by_name);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, 1000) == REDLOCK_ENOQUORUM);
    sim_master_share_name(1, false);
    sim_expect(sim_takes(ann, 1000, 4000) == REDLOCK_OK);
    sim_expect(sim_has_key(ann, 1));
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

static redlock_stats stats;

static void look_at_stats(struct sim_player *player)
{
    stats = (redlock_stats)REDLOCK_STATS_INIT;
    redlock_get_stats(player->client, &stats);
}

static uint64_t reconnects_within(struct sim_player *player, int64_t ms)
{
    sim_does(player, look_at_stats);
    uint64_t before = stats.reconnects;
    sim_pass_ms(ms);
    sim_does(player, look_at_stats);
    return stats.reconnects - before;
}

/* ann can do without n2's vote: her lock is renewed on n1 and n3. Then she needs it. */
static void one_address_is_dead(void)
{
    sim_stage_with_spare(3);
    sim_master_share_name(1, true);
    sim_master_kill(3);
    struct sim_player *ann = sim_enters("ann", &for_long);
    sim_watches(ann, true);
    sim_curtain();
    sim_expect(sim_takes(ann, 60000, ONCE) == REDLOCK_OK);
    sim_expect(reconnects_within(ann, 60000) <= 10);
    sim_expect(reconnects_within(ann, 60000) <= 5);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_master_kill(2);
    sim_begins_to_take(ann, 60000, 20000);
    sim_pass_ms(2500);
    sim_master_share_name(1, false);
    sim_pass_ms(2200);
    sim_expect(ann->act == NULL && ann->result == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* cat has the lock while ann waits: her connection for wake-ups meets n4. */
static void two_servers_behind_a_balancer(void)
{
    sim_stage_with_spare(3);
    struct sim_player *ann = sim_is_there("ann", &by_name),
                      *cat = sim_is_there("cat", &by_name);
    sim_master_kill(2);
    sim_curtain();
    sim_expect(sim_takes(cat, 1000, ONCE) == REDLOCK_OK);
    sim_broke(SIM_ONE_SERVER);
    sim_path_lead(ann->proc, 1, 3);
    sim_expect(sim_takes(ann, 1000, 300) != REDLOCK_OK);
    sim_path_lead(ann->proc, 1, 1);
    sim_expect(sim_releases(cat) == REDLOCK_OK);
    sim_expect(sim_takes(ann, 1000, 300) == REDLOCK_ENOQUORUM);
    sim_expect(sim_takes(ann, 1000, 4000) == REDLOCK_OK); /* n2 alone was met for max-ttl */
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

const struct sim_scenario sim_named_two[] = {
    {"two-addresses-and-a-partition",
     "n2's name leads to n4 as well. ann reaches n1 and n2, bob n3 and n4: neither has a "
     "majority, for\nneither knows who answers at the other address.",
     two_addresses_and_a_partition},
    {"two-addresses-of-two-servers",
     "n2's name leads to n4 as well, and n3 is down: no vote, until the name has one address "
     "again and\nall that n4 may have granted is over.",
     two_addresses_of_two_servers},
    {"one-address-is-dead",
     "n2's name leads to n4 as well, which is dead. ann asks less and less often whether that "
     "has changed,\nbut every two seconds where n2's vote is needed.",
     one_address_is_dead},
    {"two-servers-behind-a-balancer",
     "n2's address leads ann's connection for wake-ups to n4: n2 has no vote until it alone "
     "was "
     "met for\nmax-ttl.",
     two_servers_behind_a_balancer},
    {0},
};
