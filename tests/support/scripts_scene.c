/* scripts_scene.c - see scripts_scene.h. */
#include "config_auto.h"

#include "scripts_scene.h"

#include <stdio.h>
#include <string.h>

struct masters *scripts_masters;
struct talk talk;
struct talk ears[CLIENTS + 1];
unsigned listening;

#define S INT64_C(1000000) /* in us */

void scripts_start(void)
{
    scripts_masters = masters_start(2, NULL);
}

void scripts_stop(void)
{
    masters_stop(scripts_masters);
}

void scripts_begin(void)
{
    talk_open(&talk, scripts_masters, 0);
    talk_do(&talk, "FLUSHALL", (char *)NULL);
    listening = 0;
}

void scripts_end(void)
{
    talk_close(&talk);
    for (unsigned client = 1; client <= CLIENTS; client++)
        if (listening & 1u << client)
            talk_close(&ears[client]);
}

void listen_as(unsigned client)
{
    char waiter[RL_WAITER_MAX];
    talk_open(&ears[client], scripts_masters, 0);
    talk_listen(&ears[client], talk_waiter(client, 1, waiter));
    listening |= 1u << client;
}

struct script_told as(struct talk *via, unsigned client, enum rl_verb verb, int64_t reserve_ms)
{
    char waiter[RL_WAITER_MAX];
    struct script_call call = {
        .name = LOCK,
        .token = talk_waiter(client, 1, waiter),
        .ttl_ms = TTL_MS,
        .waiter = waiter,
        .age_us = (100 - (int64_t)client) * S,
        .queue_ms = 30000,
        .reserve_ms = reserve_ms,
    };
    return script_run(via, verb, &call);
}

int yes(unsigned client, enum rl_verb verb)
{
    struct script_told told = as(&talk, client, verb, KEEP_MS);
    ck_assert_msg(told.type == '*', "%s", told.text);
    return (int)told.yes;
}

void contend(void)
{
    ck_assert_int_eq(yes(1, RL_ACQUIRE), 1);
    for (unsigned client = 2; client <= CLIENTS; client++)
        ck_assert_int_eq(as(&talk, client, RL_ACQUIRE_OR_QUEUE, KEEP_MS).place, client - 2);
}

unsigned called(void)
{
    unsigned who = 0;
    for (unsigned client = 1; client <= CLIENTS; client++) {
        char waiter[RL_WAITER_MAX];
        const char *name = listening & 1u << client ? talk_called(&ears[client]) : "";
        if (!*name)
            continue;
        ck_assert_str_eq(name, talk_waiter(client, 1, waiter));
        ck_assert_uint_eq(who, 0);
        who = client;
    }
    return who;
}

int64_t lock_left_ms(void)
{
    return talk_do(&talk, "PTTL", LOCK, (char *)NULL).number;
}

int64_t queue_len(void)
{
    return talk_do(&talk, "ZCARD", QUEUE, (char *)NULL).number;
}

unsigned kept_for(void)
{
    struct script_told told = as(&talk, 1, RL_INSPECT, 0);
    if (told.yes == 1)
        return 0;
    for (unsigned client = 1; client <= CLIENTS; client++) {
        char waiter[RL_WAITER_MAX], kept[2 * RL_WAITER_MAX];
        snprintf(kept, sizeof(kept), "%s%s", RL_RESERVED_PREFIX,
                 talk_waiter(client, 1, waiter));
        if (strcmp(told.holder, kept) == 0) {
            ck_assert(told.left_ms > KEEP_MS - 10000 && told.left_ms <= KEEP_MS);
            return client;
        }
    }
    ck_abort_msg("the lock is not kept but held, by %s", told.holder);
}
