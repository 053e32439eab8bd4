/* rights_play.c - see rights_play.h. */
#include "config_auto.h"

#include "rights_play.h"

#include "kinds/name_set.h"

enum { LEASE_MS = 3 }; /* of one who does not release */

static int64_t run_for(struct rights_player *player, int row, enum rl_verb verb,
                       const char *owner, const char *token, int64_t ttl_ms)
{
    static const redlock_bytes names[] = {{.bytes = "k", .len = 1}, {.bytes = "m", .len = 1}};
    char waiter[RL_WAITER_MAX], packed[RL_NAMES_BYTES_MAX], why[160];
    const struct rl_kind *kind = rl_kind(row);
    struct script_call call = {
        .row = row,
        .name = "k",
        .owner = owner,
        .token = token,
        .waiter = talk_waiter((unsigned)owner[0], 1, waiter),
        .age_us = 1000,
        .ttl_ms = ttl_ms,
        .reserve_ms = 500,
        .queue_ms = 30000,
        .fair_ms = 5000,
        .writer_waiting_ms = 4000,
    };
    if (verb != RL_INSPECT && verb != RL_FORCE && !kind->script[verb].body)
        return 1;
    if (kind->several) {
        call.name = packed;
        call.name_len = rl_names_pack(names, 2, packed, why, sizeof(why));
    }
    struct script_told told = script_run(&player->user, verb, &call);
    player->errors += told.type == '-';
    return told.type == '-' ? -1 : told.yes;
}

int64_t rights_run(struct rights_player *player, int row, enum rl_verb verb, const char *owner,
                   const char *token)
{
    return run_for(player, row, verb, owner, token, 60000);
}

/* Taken, waited for, extended, lost on this master and taken again, handed on. */
static void play_one(struct rights_player *player, int row, bool looks)
{
    rights_run(player, row, RL_ACQUIRE, "a", "t1");
    rights_run(player, row, RL_ACQUIRE_OR_QUEUE, "b", "u1");
    rights_run(player, row, RL_EXTEND, "a", "t1");
    rights_run(player, row, RL_EXTEND, "a", "t0"); /* not its own */
    rights_run(player, row, RL_ACQUIRE_OR_QUEUE, "c", "v1");
    rights_run(player, row, RL_ACQUIRE, "a", "t2"); /* once more, of some kinds */
    if (looks)
        rights_run(player, row, RL_INSPECT, "a", "");
    rights_run(player, row, RL_RELEASE, "a", "t1");
    rights_run(player, row, RL_RELEASE, "a", "t2");
    rights_run(player, row, RL_DEQUEUE, "c", "v1");
    rights_run(player, row, RL_ACQUIRE_OR_QUEUE, "b", "u1");
    talk_do(player->admin, "DEL", "k", (char *)NULL);
    rights_run(player, row, RL_RETAKE, "b", "u1");
    rights_run(player, row, RL_RETAKE, "b", "u1");
    rights_run(player, row, RL_RELEASE, "b", "u1");
    rights_run(player, row, RL_DEQUEUE, "b", "u1");
    talk_do(player->admin, "FLUSHALL", (char *)NULL);
}

/* Readers keep a writer out, it them, and then it is their turn. */
static void play_shared(struct rights_player *player, int reads, int writes, bool looks)
{
    rights_run(player, reads, RL_ACQUIRE, "a", "t1");
    run_for(player, reads, RL_ACQUIRE, "b", "u1", LEASE_MS);
    pause_ms(2 * LEASE_MS);
    rights_run(player, writes, RL_ACQUIRE_OR_QUEUE, "c", "v1");
    rights_run(player, reads, RL_ACQUIRE_OR_QUEUE, "d", "w1");
    rights_run(player, reads, RL_RELEASE, "a", "t1");
    rights_run(player, writes, RL_ACQUIRE_OR_QUEUE, "c", "v1");
    rights_run(player, reads, RL_ACQUIRE_OR_QUEUE, "d", "w1");
    rights_run(player, writes, RL_ACQUIRE, "c", "v2");
    rights_run(player, reads, RL_ACQUIRE, "c", "v3");
    rights_run(player, writes, RL_RELEASE, "c", "v1");
    rights_run(player, writes, RL_RELEASE, "c", "v2");
    rights_run(player, reads, RL_ACQUIRE_OR_QUEUE, "d", "w1");
    rights_run(player, reads, RL_DEQUEUE, "d", "w1");
    rights_run(player, reads, RL_EXTEND, "d", "w1");
    if (looks)
        rights_run(player, reads, RL_INSPECT, "d", "");
    rights_run(player, reads, RL_RELEASE, "d", "w1");
    talk_do(player->admin, "FLUSHALL", (char *)NULL);
}

/* What has another type is no lock of this kind. */
static void play_data(struct rights_player *player, int row)
{
    talk_do(player->admin, "RPUSH", "k", "x", (char *)NULL);
    rights_run(player, row, RL_ACQUIRE, "a", "t1");
    talk_do(player->admin, "FLUSHALL", (char *)NULL);
}

void rights_play_plain(struct rights_player *player)
{
    play_one(player, RL_ROW_PLAIN, false);
    play_one(player, RL_ROW_SEVERAL, false);
}

void rights_play_others(struct rights_player *player)
{
    static const int rows[] = {RL_ROW_REENTRANT, RL_ROW_FAIR,  RL_ROW_READ,
                               RL_ROW_WRITE,     RL_ROW_QREAD, RL_ROW_QWRITE};
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        play_one(player, rows[i], true);
        play_data(player, rows[i]);
        rights_run(player, rows[i], RL_ACQUIRE, "a", "t1");
        rights_run(player, rows[i], RL_FORCE, "a", "");
    }
    play_shared(player, RL_ROW_READ, RL_ROW_WRITE, true);
    play_shared(player, RL_ROW_QREAD, RL_ROW_QWRITE, true);
}

void rights_play_all(struct rights_player *player)
{
    rights_play_plain(player);
    rights_play_others(player);
}

/* A lock of that kind is broken, and what its waiting readers and writers left behind. */
static void play_force(struct rights_player *player, int row)
{
    static const char id[] = "0b7a2c5e-0000-4000-8000-000000000001";
    rights_run(player, row, RL_ACQUIRE, "a", "t1");
    rights_run(player, row, RL_ACQUIRE_OR_QUEUE, "b", "u1");
    rights_run(player, row, RL_INSPECT, "a", "");
    rights_run(player, row, RL_FORCE, "a", "");
    if (row != RL_ROW_PLAIN)
        talk_do(player->admin, "SADD", "{k}:redlock:readers", id, (char *)NULL);
    talk_do(player->admin, "PEXPIRE", "{k}:redlock:readers", "60000", (char *)NULL);
    rights_run(player, row, RL_ACQUIRE, "a", "t1");
    rights_run(player, row, RL_FORCE, "a", "");
    talk_do(player->admin, "FLUSHALL", (char *)NULL);
}

void rights_play_kind(struct rights_player *player, int kind, unsigned masters, bool looks)
{
    int row = (int)rl_kind_row(rl_kind_on(kind, masters));
    bool many = masters > 1;
    rights_play_plain(player);
    if (kind != REDLOCK_PLAIN) {
        play_one(player, row, looks);
        play_data(player, row);
    }
    if (kind == REDLOCK_READ || kind == REDLOCK_WRITE)
        play_shared(player, many ? RL_ROW_QREAD : RL_ROW_READ,
                    many ? RL_ROW_QWRITE : RL_ROW_WRITE, looks);
    if (looks)
        play_force(player, row);
}
