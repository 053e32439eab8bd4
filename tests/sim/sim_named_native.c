/* sim_named_native.c - scenarios of the native pair, SET NX PX and GET. */
#include "config_auto.h"

#include "sim_named.h"

#define ONCE 0

static struct sim_player *native(const char *name)
{
    struct sim_player *player = sim_is_there(name, NULL);
    player->native = true;
    return player;
}

static void native_pair(void)
{
    sim_stage(3);
    struct sim_player *ann = native("ann"), *bob = native("bob");
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(5);
    sim_expect(sim_keys_of(ann) == 3 && sim_taken_by("set") == 3);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_EHELD);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(5);
    sim_expect(sim_keys() == 0);
}

/* Its key stays on n1, which is started again with all its data. */
static void native_pair_cut(void)
{
    sim_stage(3);
    struct sim_player *ann = native("ann");
    sim_master_kill_at(0, "get", false);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(5);
    sim_expect(!sim_master_up(0));
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_master_start(0, SIM_WHOLE);
    sim_expect(sim_has_key(ann, 0));
    sim_pass_ms(800); /* before the key runs out by itself */
    sim_expect(sim_keys() == 0);
}

const struct sim_scenario sim_named_native[] = {
    {"native-pair",
     "A free plain lock is taken by SET and GET: GET shows whose it is. Who is refused by "
     "them\n"
     "has left nothing.",
     native_pair},
    {"native-pair-cut",
     "n1 dies between SET and GET, with the key: the vote is unknown, and the key is released "
     "when\nn1 is back.",
     native_pair_cut},
    {NULL, NULL, NULL},
};
