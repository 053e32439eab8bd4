/* test_hold_every.c - every state that a hold, or two that contend, can come to in a small
 * world, by every order of events: nothing may be wrong in any. See hold_space.h. */
#include "config_auto.h"

#include "hold_space.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

/* ---- a set of hashes, and a stack of states that are still to be left ------------------- */

#define SEEN_SIZE (1u << 21)
static uint64_t seen[SEEN_SIZE];
static unsigned long seen_count;

/* False: seen before. */
static bool see(uint64_t hash)
{
    unsigned at = (unsigned)(hash & (SEEN_SIZE - 1));
    hash |= hash == 0;
    while (seen[at]) {
        if (seen[at] == hash)
            return false;
        at = (at + 1) & (SEEN_SIZE - 1);
    }
    seen[at] = hash;
    seen_count++;
    if (seen_count > SEEN_SIZE / 2)
        ck_abort_msg("more states than there is room for");
    return true;
}

static struct space_state *stack;
static size_t stack_count, stack_size;

static void push(const struct space_state *state)
{
    if (stack_count == stack_size) {
        stack_size = stack_size ? 2 * stack_size : 1024;
        stack = realloc(stack, stack_size * sizeof(*stack));
        if (!stack)
            suite_die("no memory for %zu states", stack_size);
    }
    stack[stack_count++] = *state;
}

/* ---- the search ------------------------------------------------------------------------ */

struct found {
    unsigned long states, moves;
    unsigned did; /* all that holds ever did */
    const char *wrong;
};

static struct found search(const struct space *space)
{
    struct found found = {0};
    struct space_state state;
    memset(seen, 0, sizeof(seen));
    seen_count = stack_count = 0;
    space_begin(space, &state);
    see(space_hash(space, &state));
    push(&state);
    while (stack_count > 0 && !found.wrong) {
        struct space_state from = stack[--stack_count];
        for (unsigned number = 0; !found.wrong; number++) {
            unsigned did = 0;
            state = from;
            if (!space_move(space, &state, number, &did))
                break;
            found.moves++;
            found.did |= did;
            found.wrong = space_wrong(space, &state);
            if (see(space_hash(space, &state)))
                push(&state);
        }
    }
    found.states = seen_count;
    return found;
}

#define NODE(i) (UINT64_C(1) << (i))
#define SHORT .ttl_ns = 2 * STEP, .node_ns = STEP
#define PATIENT .ttl_ns = 2 * STEP, .node_ns = 2 * STEP /* answers may come a step later */
#define ASKS (RL_EV_ACQUIRED | RL_EV_REFUSED)
#define EXTENDS (RL_EV_EXTENDED | RL_EV_NOT_EXTENDED | RL_EV_LOST)
#define FILLS RL_DO_RETAKE

/* What holds must do somewhere in a world, and no more than that, so that no world is dull. */
static const struct {
    unsigned did;
    struct space space;
} worlds[] = {
    /* one hold, and whatever others do with the keys */
    {ASKS | RL_EV_RELEASED,
     {.name = "released", .holds = 1, .n = 3, PATIENT, .strangers = true, .waits = true}},
    {ASKS | RL_DO_ASK_REST,
     {.name = "in order", .holds = 1, .n = 3, SHORT, .strangers = true, .ordered = true}},
    {ASKS | RL_EV_EXTENDED | RL_EV_LOST | FILLS,
     {.name = "extended", .holds = 1, .n = 3, PATIENT, .strangers = true, .extends = true,
      .prompt = true}},
    {ASKS | EXTENDS | FILLS,
     {.name = "held for long", .holds = 1, .n = 3, .ttl_ns = 3 * STEP, .node_ns = STEP,
      .strangers = true, .extends = true, .prompt = true}},
    /* one hold, and whatever goes wrong on its way */
    {ASKS,
     {.name = "errors", .holds = 1, .n = 3, SHORT, .errors = true, .breaks = NODE(0)}},
    {ASKS,
     {.name = "links that break and stay down", .holds = 1, .n = 3, SHORT,
      .breaks = NODE(0) | NODE(1), .downs = NODE(0)}},
    {ASKS | EXTENDS | FILLS,
     {.name = "extended over links that break", .holds = 1, .n = 3, SHORT, .extends = true,
      .breaks = NODE(0) | NODE(1), .prompt = true}},
    {ASKS | EXTENDS | FILLS,
     {.name = "extended over links that drain", .holds = 1, .n = 3, SHORT, .extends = true,
      .drains = NODE(0), .breaks = NODE(0), .prompt = true}},
    {ASKS | EXTENDS,
     {.name = "scripts that are not known", .holds = 1, .n = 2, SHORT, .extends = true,
      .scripts = true, .breaks = NODE(0), .drains = NODE(0), .prompt = true}},
    {ASKS,
     {.name = "releases that find no room", .holds = 1, .n = 3, SHORT, .drains = NODE(0),
      .lazy = NODE(0)}},
    {ASKS | EXTENDS | RL_EV_RELEASED,
     {.name = "everything on one node", .holds = 1, .n = 1, SHORT, .strangers = true,
      .extends = true, .waits = true, .errors = true, .scripts = true, .breaks = NODE(0),
      .downs = NODE(0), .drains = NODE(0), .lazy = NODE(0)}},
    {ASKS | EXTENDS,
     {.name = "everything on two nodes", .holds = 1, .n = 2, SHORT, .extends = true,
      .errors = true, .breaks = NODE(0), .downs = NODE(0), .drains = NODE(0),
      .lazy = NODE(0), .prompt = true}},
    /* two holds that contend */
    {ASKS, {.name = "two on three nodes", .holds = 2, .n = 3, SHORT, .prompt = true}},
    {ASKS | RL_EV_RELEASED,
     {.name = "two that are patient", .holds = 2, .n = 2, PATIENT, .waits = true,
      .prompt = true}},
    {ASKS | EXTENDS,
     {.name = "two on two nodes", .holds = 2, .n = 2, SHORT, .extends = true,
      .prompt = true}},
    {ASKS | RL_DO_ASK_REST,
     {.name = "two in order", .holds = 2, .n = 2, SHORT, .ordered = true, .breaks = NODE(0),
      .prompt = true}},
    {ASKS | EXTENDS | RL_EV_RELEASED,
     {.name = "two on one node", .holds = 2, .n = 1, SHORT, .extends = true, .waits = true,
      .errors = true, .breaks = NODE(0), .prompt = true}},
};
#define WORLDS ((int)(sizeof(worlds) / sizeof(worlds[0])))

TEST(states, every_state_of_small_world, .rows = WORLDS)
{
    const struct space *space = &worlds[_i].space;
    struct found found = search(space);
    ck_assert_msg(!found.wrong, "%s: %s, after %lu states", space->name, found.wrong,
                  found.states);
    ck_assert_msg(found.did == worlds[_i].did, "%s: did %#x in %lu states", space->name,
                  found.did, found.states);
    ck_assert_uint_gt(found.states, 1000);
}

/* The search does find what there is to be found: masters that forget are beyond a lease. */
TEST(states, masters_that_forget_are_found_out)
{
    struct space space = {.name = "amnesia", .holds = 2, .n = 3, SHORT, .amnesia = true};
    ck_assert_ptr_nonnull(search(&space).wrong);
}

CASE(states, .timeout_s = 60)
