/* rw_scene.c - see rw_scene.h. */
#include "config_auto.h"

#include "rw_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOMENT_MS = 10000, OWNERS = 64, READERS = 8 };

#define CHANNEL "redisson_rwlock:{" NAME "}"

const char *owner(int number)
{
    static char names[OWNERS][16];
    ck_assert(number >= 0 && number < OWNERS);
    snprintf(names[number], sizeof(names[number]), "owner-%d", number);
    return names[number];
}

int try_read(redlock *client, const char *owner, int64_t wait_ms, redlock_lock **ret_lock)
{
    return client_try_as(client, NAME, REDLOCK_READ, owner, wait_ms, ret_lock);
}

int try_write(redlock *client, const char *owner, int64_t wait_ms, redlock_lock **ret_lock)
{
    return client_try_as(client, NAME, REDLOCK_WRITE, owner, wait_ms, ret_lock);
}

redlock_lock *read_as(redlock *client, const char *owner)
{
    return client_take_as(client, NAME, REDLOCK_READ, owner);
}

redlock_lock *write_as(redlock *client, const char *owner)
{
    return client_take_as(client, NAME, REDLOCK_WRITE, owner);
}

redlock_lock *rw_take_for(redlock *client, bool write, const char *owner, int64_t ttl_ms)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock = NULL;
    options.kind = write ? REDLOCK_WRITE : REDLOCK_READ;
    options.owner = owner;
    options.ttl_ms = ttl_ms;
    int code = redlock_try(client, NAME, &options, &lock);
    ck_assert_msg(code == 0, "%s", redlock_err_name(code));
    return lock;
}

void readers_share_and_writer_does_not(unsigned n)
{
    redlock_lock *reads[READERS], *write = NULL;
    open_masters(n);
    for (int i = 0; i < READERS; i++)
        reads[i] = everywhere(read_as(i % 2 ? one : two, owner(i)), i + 1);
    for (int i = 0; i < READERS; i++) {
        ck_assert_int_eq(try_write(one, "writer", 0, &write), REDLOCK_EHELD);
        ck_assert_int_eq(redlock_release(reads[i]), 0);
    }
    write = write_as(one, "writer");
    ck_assert_int_eq(try_write(two, owner(0), 0, &reads[0]), REDLOCK_EHELD);
    ck_assert_int_eq(try_read(two, owner(0), 0, &reads[0]), REDLOCK_EHELD);
    ck_assert_int_eq(redlock_release(write), 0);
    reads[0] = read_as(two, owner(0));
    ck_assert_int_eq(redlock_release(reads[0]), 0);
    close_all();
}

int held_by(const char *owner, bool write)
{
    char field[64];
    snprintf(field, sizeof(field), "%s%s", owner, write ? ":write" : "");
    struct reply reply = master_do(masters, 0, "HGET", NAME, field, NULL);
    return reply.number < 0 ? 0 : atoi(reply.text);
}

void expect_left(int64_t least_ms, int64_t most_ms)
{
    int64_t left_ms = master_do(masters, 0, "PTTL", NAME, NULL).number;
    ck_assert_msg(left_ms >= least_ms && left_ms <= most_ms, "it lasts for %d ms",
                  (int)left_ms);
}

int64_t lease_left(const char *owner, int index)
{
    char key[128];
    snprintf(key, sizeof(key), "{" NAME "}:%s:rwlock_timeout:%d", owner, index);
    return master_do(masters, 0, "PTTL", key, NULL).number;
}

void await_listeners(int count)
{
    char expected[64];
    snprintf(expected, sizeof(expected), CHANNEL " %d", count);
    ck_assert(wait_until(
        strcmp(master_do(masters, 0, "PUBSUB", "NUMSUB", CHANNEL, NULL).text, expected) == 0,
        MOMENT_MS));
}

void await_mark(bool there)
{
    ck_assert(wait_until(masters_with(masters, MARK) == (there ? masters->n : 0), MOMENT_MS));
}

bool marked(void)
{
    return masters_with(masters, MARK) > masters->n / 2;
}

bool held_everywhere(int count)
{
    for (unsigned i = 0; i < masters->n; i++) {
        if (masters->node[i].pid != 0 && !masters->node[i].paused &&
            master_do(masters, i, "ZCARD", NAME, NULL).number != count)
            return false;
    }
    return true;
}

redlock_lock *everywhere(redlock_lock *lock, int count)
{
    ck_assert(masters->n == 1 || wait_until(held_everywhere(count), MOMENT_MS));
    return lock;
}

void rw_peer_takes(const char *field, const char *mode)
{
    master_do(masters, 0, "HSET", NAME, "mode", mode, field, "1", NULL);
    master_do(masters, 0, "PEXPIRE", NAME, "30000", NULL);
}
