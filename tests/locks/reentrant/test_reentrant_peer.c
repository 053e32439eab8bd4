/* tags: threads */
/* test_reentrant_peer.c - reentrant locks that others have to do with: whoever takes a detached
 * one up, Redisson under owners of its own and under the same, and what is no such lock. */
#include "config_auto.h"

#include "child.h"
#include "reentrant_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- handles ---------------------------------------------------------------------------- */

TEST(peers, detached_hold_keeps_its_owner, .rows = 2)
{
    char text[REDLOCK_HANDLE_MAX], shown[REDLOCK_HANDLE_MAX], owner[256];
    redlock_lock *again = NULL;
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *outer = take(one, NULL), *inner = take(one, NULL);
    count_becomes(2);
    snprintf(owner, sizeof(owner), "%s", owner_there());
    ck_assert_int_eq(redlock_handle(inner, shown, sizeof(shown)), 0);
    ck_assert_int_eq(redlock_detach(inner, text, sizeof(text)), 0);
    ck_assert_int_eq(redlock_attach(two, text, &again), 0);
    ck_assert_int_gt(redlock_validity_ms(again), 0);
    ck_assert_int_eq(redlock_extend(again, 2 * CLIENT_TTL_MS, NULL), 0);
    ck_assert_int_eq(redlock_release(outer), 0);
    count_becomes(1);
    ck_assert_str_eq(owner_there(), owner);
    ck_assert_int_eq(try_once(two, NULL),
                     REDLOCK_EHELD); /* to have its handle is not to be it */
    ck_assert_int_eq(try_once(one, NULL), 0);
    ck_assert_int_eq(redlock_release(again), 0);
}

/* As whatever it was taken; and while it is held there, nobody else has it. */
TEST(peers, holds_of_every_kind_are_handed_on, .rows = 2)
{
    static const int kinds[] = {REDLOCK_REENTRANT, REDLOCK_READ, REDLOCK_WRITE, REDLOCK_FAIR};
    char text[REDLOCK_HANDLE_MAX];
    OPEN_MASTERS(sizes[_i]);
    for (unsigned k = 0; k < (masters->n == 1 ? 4 : 3); k++) {
        redlock_lock *other = NULL;
        redlock_lock *lock = client_take_as(one, "name", kinds[k], "job");
        ck_assert(wait_until(masters_with(masters, "name") == masters->n, 5000));
        ck_assert_int_eq(redlock_detach(lock, text, sizeof(text)), 0);
        ck_assert_int_eq(redlock_attach(two, text, &lock), 0);
        ck_assert_int_eq(redlock_extend(lock, 2 * CLIENT_TTL_MS, NULL), 0);
        int rival = kinds[k] == REDLOCK_READ ? REDLOCK_WRITE : kinds[k];
        ck_assert_int_eq(client_try_as(two, "name", rival, "rival", 0, &other), REDLOCK_EHELD);
        ck_assert_int_eq(redlock_release(lock), 0);
        ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
    }
}

static int attach_in_child(void *argument)
{
    redlock *client = NULL;
    redlock_lock *lock = NULL;
    /* No threads: sanitizers can't follow them into a child. */
    const char *file = masters_file(masters, "background never\n");
    child_expect(redlock_open(file, NULL, &client) == 0);
    child_expect(redlock_attach(client, argument, &lock) == 0);
    child_expect(redlock_extend(lock, 2 * CLIENT_TTL_MS, NULL) == 0);
    child_expect(redlock_release(lock) == 0);
    redlock_close(client);
    return 0;
}

TEST(peers, another_process_takes_detached_hold_up, .rows = 2)
{
    char text[REDLOCK_HANDLE_MAX];
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *outer = take(one, "job"), *inner = take(one, "job");
    count_becomes(2);
    ck_assert_int_eq(redlock_detach(inner, text, sizeof(text)), 0);
    ck_assert_int_eq(child_run(attach_in_child, text, 20000), 0);
    count_becomes(1);
    ck_assert_int_eq(redlock_release(outer), 0);
}

/* ---- Redisson, and what else stands there ----------------------------------------------- */

/* Its tryLock() and unlock(), at one master: true where it had to be asked no more. */
static bool peer_locks_for(unsigned node, const char *owner, const char *ttl)
{
    static const char script[] = "if ((redis.call('exists', KEYS[1]) == 0) or"
                                 "    (redis.call('hexists', KEYS[1], ARGV[2]) == 1)) then"
                                 "  redis.call('hincrby', KEYS[1], ARGV[2], 1);"
                                 "  redis.call('pexpire', KEYS[1], ARGV[1]);"
                                 "  return nil; end;"
                                 "return redis.call('pttl', KEYS[1]);";
    struct reply reply =
        master_do(masters, node, "EVAL", script, "1", "name", ttl, owner, NULL);
    ck_assert(reply.type == '$' || reply.type == ':');
    return reply.type == '$';
}

static bool peer_lock(unsigned node, const char *owner)
{
    return peer_locks_for(node, owner, "30000");
}

static bool peer_unlock(unsigned node, const char *owner)
{
    static const char script[] =
        "if (redis.call('hexists', KEYS[1], ARGV[3]) == 0) then return -1; end;"
        "local counter = redis.call('hincrby', KEYS[1], ARGV[3], -1);"
        "if (counter > 0) then redis.call('pexpire', KEYS[1], ARGV[2]); return 0;"
        "else redis.call('del', KEYS[1]);"
        "  redis.call(ARGV[4], KEYS[2], ARGV[1]); return 1; end;";
    return master_do(masters, node, "EVAL", script, "2", "name",
                     "redisson_lock__channel:{name}", "0", "30000", owner, "publish", NULL)
               .number == 1;
}

#define PEER "11111111-2222-3333-4444-555555555555:7"

TEST(peers, redisson_excludes_us_and_we_exclude_redisson, .rows = 2)
{
    OPEN_MASTERS(sizes[_i]);
    for (unsigned i = 0; i < masters->n; i++)
        ck_assert(peer_lock(i, PEER));
    ck_assert_int_eq(try_once(one, NULL), REDLOCK_EHELD);
    for (unsigned i = 0; i < masters->n; i++)
        ck_assert_int_eq(count_at(i), 1); /* and nothing of ours is left in it */
    waiter_start_as(&waiter, one, "name", REDLOCK_REENTRANT, NULL, 30000);
    for (unsigned i = 0; i < masters->n; i++)
        ck_assert(peer_unlock(i, PEER));
    waiter_expect_lock(&waiter, 10000);
    redlock_lock *lock = take(one, NULL), *inner = take(one, NULL);
    count_becomes(2);
    for (unsigned i = 0; i < masters->n; i++) {
        ck_assert(!peer_lock(i, PEER));
        ck_assert(!peer_unlock(i, PEER));
    }
    ck_assert_int_eq(redlock_release(inner), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    count_becomes(0);
    ck_assert(peer_lock(0, PEER) && peer_unlock(0, PEER));
}

/* A minority of RedissonRedLock's is no obstacle, as ours is none to it. */
TEST(peers, minority_of_redissons_does_not_exclude)
{
    OPEN_MASTERS(3);
    ck_assert(peer_lock(1, PEER));
    redlock_lock *lock = take(one, NULL);
    ck_assert(wait_until(count_at(0) == 1 && count_at(2) == 1, 5000));
    ck_assert(!peer_lock(0, "22222222-2222-3333-4444-555555555555:7"));
    ck_assert(!peer_lock(2, "22222222-2222-3333-4444-555555555555:7"));
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert(peer_unlock(1, PEER));
}

/* By the same name it is one owner: what each has added is what it takes away. */
TEST(peers, one_owner_in_both_worlds_counts_both, .rows = 2)
{
    OPEN_MASTERS(sizes[_i]);
    for (unsigned i = 0; i < masters->n; i++)
        ck_assert(peer_lock(i, PEER));
    redlock_lock *lock = take(one, PEER);
    for (unsigned i = 0; i < masters->n; i++) {
        ck_assert(wait_until(count_at(i) == 2, 5000));
        ck_assert(!peer_unlock(i, PEER)); /* one is left */
    }
    ck_assert_int_eq(try_once(two, NULL), REDLOCK_EHELD);
    ck_assert_int_gt(redlock_validity_ms(lock), 0);
    for (unsigned i = 0; i < masters->n; i++)
        ck_assert(peer_lock(i, PEER));
    ck_assert_int_eq(redlock_release(lock), 0);
    for (unsigned i = 0; i < masters->n; i++) {
        ck_assert(wait_until(count_at(i) == 1, 5000));
        ck_assert(peer_unlock(i, PEER));
    }
}

/* The keys of its tokens tell: they end with the lease that it was given. */
TEST(peers, hold_whose_lock_peer_shortened_is_not_extended, .rows = 2)
{
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *lock = take_for(one, PEER, 20000);
    count_becomes(1);
    for (unsigned i = 0; i < masters->n; i++)
        ck_assert(peer_locks_for(i, PEER, "15000"));
    ck_assert_int_eq(redlock_extend(lock, 20000, NULL), REDLOCK_EEXPIRED);
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    for (unsigned i = 0; i < masters->n; i++) {
        ck_assert_int_ge(count_at(i), 1); /* the peer has it still */
        ck_assert_int_le(master_do(masters, i, "PTTL", "name", NULL).number, 15000);
        master_do(masters, i, "DEL", "name", "{name}:redlock:holds", NULL);
    }
}

/* A longer one does no harm. */
TEST(peers, hold_whose_lock_peer_made_longer_is_extended, .rows = 2)
{
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *lock = take_for(one, PEER, 20000);
    count_becomes(1);
    for (unsigned i = 0; i < masters->n; i++)
        ck_assert(peer_lock(i, PEER));
    ck_assert_int_eq(redlock_extend(lock, 22000, NULL), 0);
    ck_assert_int_gt(redlock_validity_ms(lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    for (unsigned i = 0; i < masters->n; i++) {
        ck_assert(wait_until(count_at(i) == 1, 5000));
        ck_assert(peer_unlock(i, PEER));
    }
}

/* Said at once, however long one would wait, and left as it is. */
TEST(peers, key_that_is_no_reentrant_lock_is_left_alone, .rows = 2)
{
    static const char *const there[][5] = {
        {"SET", "name", "0123456789abcdef0123456789abcdef:plain", NULL},
        {"HSET", "name", "mode", "read", NULL},
        {"HSET", "name", "field", "value", NULL},
        {"HSET", "name", "me", "5", NULL}, /* for ever: no lock, if the owner's own field */
        {"RPUSH", "name", "a", "b", NULL},
    };
    redlock_node_vote report_votes[REDLOCK_NODES_MAX];
    redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock = NULL;
    options.kind = REDLOCK_REENTRANT;
    options.wait_ms = -1;
    options.owner = "me";
    options.report = &report;
    OPEN_MASTERS(sizes[_i]);
    for (size_t k = 0; k < sizeof(there) / sizeof(there[0]); k++) {
        const char *const *word = there[k];
        struct reply before = {.type = 0};
        for (unsigned i = 0; i < masters->n; i++) {
            master_do(masters, i, word[0], word[1], word[2], word[3], word[4], NULL);
            before = master_do(masters, i, "DUMP", "name", NULL);
        }
        ck_assert_int_eq(redlock_try(one, "name", &options, &lock), REDLOCK_EWRONGTYPE);
        for (unsigned i = 0; i < masters->n; i++) {
            struct reply after = master_do(masters, i, "DUMP", "name", NULL);
            ck_assert(after.len == before.len &&
                      memcmp(after.text, before.text, after.len) == 0);
            ck_assert_int_eq(master_do(masters, i, "DBSIZE", NULL).number, 1);
            ck_assert_int_eq(master_do(masters, i, "DEL", "name", NULL).number, 1);
        }
    }
}

CASE(peers, .timeout_s = 60)
