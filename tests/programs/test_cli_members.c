/* tags: long */
/* test_cli_members.c - the list of masters is changed one master at a time, as redlock(7) tells
 * it, and `redlock status --wait` says when the next step may be taken. Clients hold locks all
 * the time: none is lost, and nobody else gets one. */
#include "config_auto.h"

#include "cli_rig.h"
#include "client.h"
#include "told.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MASTERS = 5, CLIENTS = 3, LOCKS = 8, TTL_MS = 3000 };

#define SETTINGS "max-ttl 3s\nguard off"

static struct masters *masters;

/* The list of these masters, a bit each: its file, good until the next call. */
static const char *file_of(unsigned members)
{
    static struct node_list list;
    list = (struct node_list){.len = 0};
    node_list_line(&list, SETTINGS);
    for (unsigned i = 0; i < MASTERS; i++) {
        if (members >> i & 1)
            node_list_line(&list, "node unix://%s", masters->node[i].unix_at.path);
    }
    return node_list_write(&list);
}

/* A program of a fleet: it has locks of its own, by one list after the other. */
struct holder {
    char who;
    redlock *client;
    redlock_lock *lock[LOCKS];
    struct told lost[LOCKS];
};

static const char *name_of(const struct holder *holder, unsigned i)
{
    static char name[8];
    snprintf(name, sizeof(name), "%c%u", holder->who, i);
    return name;
}

static void begin(struct holder *holder, unsigned members)
{
    memset(holder->lost, 0, sizeof(holder->lost));
    holder->client = client_open(file_of(members));
    for (unsigned i = 0; i < LOCKS; i++)
        holder->lock[i] =
            told_take_renewed(holder->client, name_of(holder, i), TTL_MS, &holder->lost[i]);
}

static void end(struct holder *holder)
{
    for (unsigned i = 0; i < LOCKS; i++)
        ck_assert_int_eq(redlock_release(holder->lock[i]), 0);
    redlock_close(holder->client);
}

/* Each asks for what the others have, by whichever list. */
static void expect_all_held(struct holder *holders)
{
    redlock_lock *lock = NULL;
    for (unsigned h = 0; h < CLIENTS; h++) {
        for (unsigned i = 0; i < LOCKS; i++) {
            for (unsigned other = 0; other < CLIENTS; other++) {
                if (other == h)
                    continue;
                int code = client_try(holders[other].client, name_of(&holders[h], i), TTL_MS, 0,
                                      NULL, &lock);
                ck_assert_msg(code == REDLOCK_EHELD, "%c asks for %s: %s", holders[other].who,
                              name_of(&holders[h], i), redlock_err_name(code));
            }
            ck_assert_int_eq(atomic_load(&holders[h].lost[i].calls), 0);
            ck_assert_int_gt(redlock_validity_ms(holders[h].lock[i]), 0);
        }
    }
}

static void expect_other_lists(unsigned members, const char *clients, const char *meet)
{
    setenv("REDLOCK_NODES", file_of(members), 1);
    struct program *program = cli_expect_status(CLI_FIT);
    cli_expect_json(program, "other_lists", clients);
    cli_expect_json(program, "majorities_meet", meet);
}

/* One program after the other is started anew with the new list, and status waits meanwhile. */
static void step(struct holder *holders, unsigned to)
{
    int64_t ended_ms = 0;
    expect_other_lists(to, "3", "true");
    struct program *program = program_start(NULL, REDLOCK("status", "--wait", "120s"));
    for (unsigned i = 0; i < CLIENTS; i++) {
        pause_ms(TTL_MS / 2);
        ck_assert(process_lives(program->pid)); /* it waits for the ones that are left */
        end(&holders[i]);
        ended_ms = now_ms();
        begin(&holders[i], to);
        expect_all_held(holders);
    }
    ck_assert_int_eq(program_wait(program, 60000), CLI_FIT);
    ck_assert_int_ge(now_ms() - ended_ms, TTL_MS);
    expect_all_held(holders);
    expect_other_lists(to, "0", "true");
}

/* A master is added, removed, and replaced: there the second step begins from the first one. */
static const unsigned changes[][3] = {
    {0x07, 0x0f, 0},    /* 3 to 4 */
    {0x0f, 0x1f, 0x1e}, /* the first of 4 is replaced */
    {0x1f, 0x0f, 0x07}, /* 5 to 4 to 3 */
};
#define CHANGES (int)(sizeof(changes) / sizeof(changes[0]))

static void start(void)
{
    masters = masters_start(MASTERS, NULL);
}

TEST(masters, list_changed_master_by_master_costs_no_lock, .rows = CHANGES)
{
    struct holder holders[CLIENTS] = {{.who = 'a'}, {.who = 'b'}, {.who = 'c'}};
    const unsigned *lists = changes[_i];
    for (unsigned i = 0; i < CLIENTS; i++)
        begin(&holders[i], lists[0]);
    for (unsigned k = 1; k < 3 && lists[k] != 0; k++)
        step(holders, lists[k]);
    for (unsigned i = 0; i < CLIENTS; i++)
        end(&holders[i]);
}

/* Lists that may have majorities without a master in common, and one that has not. */
static const struct {
    unsigned theirs, own;
    const char *meet, *remedy;
} pairs[] = {
    {0x07, 0x1f, "false", "two may have a lock"},
    {0x07, 0x0e, "false", "two may have a lock"},   /* the replaced one in one step */
    {0x0f, 0x1e, "true", "before the next change"}, /* the same of an even number */
    {0x07, 0x0f, "true", "before the next change"},
};
#define PAIRS (int)(sizeof(pairs) / sizeof(pairs[0]))

TEST(masters, status_tells_whether_majorities_of_two_lists_meet, .rows = PAIRS)
{
    struct holder holder = {.who = 'a'};
    begin(&holder, pairs[_i].theirs);
    expect_other_lists(pairs[_i].own, "1", pairs[_i].meet);
    struct program *program = cli_expect_status(CLI_FIT);
    unsigned shared = pairs[_i].own & 1 ? 0 : 1; /* of the own list the second, then */
    cli_expect_check(program, shared, "lists", "warn", NULL, pairs[_i].remedy);
    end(&holder);
}

/* Nothing but the old client is amiss. */
TEST(masters, wait_names_clients_that_have_former_list)
{
    struct holder holder = {.who = 'a'};
    struct program *program = NULL;
    begin(&holder, 0x07);
    setenv("REDLOCK_NODES", file_of(0x0f), 1);
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "--wait", "8s"), &program),
                     CLI_DEGRADED);
    ck_assert_ptr_nonnull(strstr(program_err(program), "1 client has another node list: "
                                                       "change nothing before"));
    end(&holder);
}

CASE(masters, .timeout_s = 240, .set_up = start)
