/* test_hold_random.c - random histories of contending holds in a model world, checked in true
 * time after every step. HOLD_SEED=n HOLD_SEEDS=count in the environment choose histories:
 * a failure names its seed, and a seed is one history. */
#include "config_auto.h"

#include "hold_world.h"
#include "suite.h"

#include <stdlib.h>

static unsigned long setting(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

static void jump(struct world *world, struct client *client)
{
    client->offset_ns += (int64_t)world_draw(world, 2000) * MS;
    for (unsigned i = 0; i < ATTEMPTS_MAX; i++)
        client->attempt[i].excused = true;
}

/* What a client may do of its own accord. */
static void act(struct world *world, struct client *client)
{
    if (client->paused)
        return;
    if (!client->current) {
        if (world_chance(world, 60))
            client_ask(world, client);
        return;
    }
    const struct rl_hold *hold = &client->current->hold;
    unsigned what = (unsigned)world_draw(world, 100);
    if (hold->phase == RL_HOLD_ASKING) {
        if (what < 3)
            client_release(world, client); /* cancelled */
    } else if (!hold->extending && what < 60) {
        client_extend(world, client);
    } else if (what > 85) {
        client_release(world, client);
    }
}

static void go_wrong(struct world *world, struct client *client, unsigned node)
{
    switch (world_draw(world, 8)) {
    case 0:
        if (world->breaks)
            link_break(world, client, node, (unsigned)world_draw(world, RL_SLOTS));
        break;
    case 1:
        if (world->drains && client->link[node][client->current_slot[node]].count > 0)
            link_drain(world, client, node);
        break;
    case 2:
        if (world->restarts && world_chance(world, 30))
            world_master_restart(world, node);
        break;
    case 3:
        if (world->pauses)
            client->paused = !client->paused;
        break;
    case 4:
        if (world->jumps && world_chance(world, 30))
            jump(world, client);
        break;
    case 5:
        if (world->vanishes)
            world->master[node].token = 0;
        break;
    default:
        stray_execute(world);
    }
}

static void some_time(struct world *world)
{
    static const int64_t scales[] = {1, MS, 10 * MS, 100 * MS, 1000 * MS};
    int64_t scale = scales[world_draw(world, 5)];
    world_pass(world, 1 + (int64_t)world_draw(world, (uint64_t)scale));
}

static void step(struct world *world)
{
    struct client *client = &world->client[world_draw(world, world->clients)];
    unsigned node = (unsigned)world_draw(world, world->n);
    unsigned slot = client->current_slot[node];
    if (world_chance(world, 20))
        slot = 1 - slot;
    switch (world_draw(world, 16)) {
    case 0:
        act(world, client);
        break;
    case 1:
        go_wrong(world, client, node);
        break;
    case 2:
        if (world_chance(world, 40))
            some_time(world);
        break;
    case 3:
        if (!client->paused && !link_in_use(client, node))
            link_connect(world, client, node);
        break;
    case 4:
        if (!client->paused)
            client_look(world, client);
        break;
    default:
        for (unsigned i = 0; i <= world->n / 8; i++) {
            link_execute(world, client, (node + i) % world->n, slot);
            if (!client->paused && world_chance(world, 70))
                link_deliver(world, client, (node + i) % world->n, slot);
        }
    }
    check_world(world);
}

/* Nothing goes wrong any more: everybody gives up, and everything must come to its end. */
static void come_to_rest(struct world *world)
{
    world->errors = world->odd_errors = world->noscripts = world->full = false;
    while (world->stray_count > 0)
        stray_execute(world);
    for (unsigned c = 0; c < world->clients; c++) {
        struct client *client = &world->client[c];
        client->paused = false;
        if (client->current)
            client_release(world, client);
        check_world(world);
    }
    for (unsigned turn = 0; turn < 6; turn++) {
        for (unsigned c = 0; c < world->clients; c++) {
            struct client *client = &world->client[c];
            for (unsigned node = 0; node < world->n; node++) {
                link_connect(world, client, node);
                for (unsigned slot = 0; slot < RL_SLOTS; slot++) {
                    while (link_execute(world, client, node, slot) ||
                           link_deliver(world, client, node, slot))
                        check_world(world);
                }
            }
        }
        world_pass(world, 150 * MS); /* longer than a refused release waits */
        check_world(world);
    }
    for (unsigned c = 0; c < world->clients; c++) {
        for (unsigned i = 0; i < ATTEMPTS_MAX; i++)
            CHECK(world, !world->client[c].attempt[i].used);
    }
    for (unsigned node = 0; node < world->n; node++)
        CHECK(world, world->master[node].token == 0 || world->master[node].stray ||
                         world->jumps);
}

static void history(uint64_t seed, unsigned n, unsigned clients, unsigned steps)
{
    static struct world world;
    world_begin(&world, seed, n, clients);
    for (unsigned i = 0; i < steps; i++)
        step(&world);
    come_to_rest(&world);
}

TEST(histories, histories_of_few_nodes)
{
    unsigned long first = setting("HOLD_SEED", 1), count = setting("HOLD_SEEDS", 6000);
    for (unsigned long seed = first; seed < first + count; seed++)
        history(seed, 1 + (unsigned)(seed % 7), 2 + (unsigned)(seed / 7 % 2), 600);
    if (count < 6000)
        return;
    /* They were not dull: everything that can happen did, many times. */
    const unsigned long least = count / 30;
    ck_assert_uint_gt(tally.wins, least);
    ck_assert_uint_gt(tally.losses, least);
    ck_assert_uint_gt(tally.extends, least);
    ck_assert_uint_gt(tally.not_extends, least);
    ck_assert_uint_gt(tally.dies, least);
    ck_assert_uint_gt(tally.rests, least);
    ck_assert_uint_gt(tally.retakes, least);
    ck_assert_uint_gt(tally.released[0], least);
    ck_assert_uint_gt(tally.released[1], least);
    ck_assert_uint_gt(tally.released[2], least);
    ck_assert_uint_gt(tally.abandoned, least);
    ck_assert_uint_gt(tally.strays, 10);
    ck_assert_uint_gt(tally.guarded, least);
    ck_assert_uint_gt(tally.late_yes, least);
}

TEST(histories, histories_of_many_nodes)
{
    static const unsigned sizes[] = {31, 63, 64};
    unsigned long first = setting("HOLD_SEED", 1), count = setting("HOLD_SEEDS", 6000) / 100;
    for (unsigned long seed = first; seed < first + count; seed++)
        history(seed, sizes[seed % 3], 2, 4000);
    ck_assert(count < 60 || tally.wins >= 20);
}

CASE(histories, .timeout_s = 60)
