/* test_wiped.c - memory that is given back has no password in it: of the node list, of a login,
 * of what is kept to blank it out. What libredlock frees comes by here (--wrap=free). */
#include "config_auto.h"

#include "client.h"
#include "masters.h"
#include "net/tls_internal.h"
#include "tls_pair.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECRET "Xyzzy-hunter2-plugh"

void __real_free(void *memory);
void __wrap_free(void *memory);

static atomic_bool watched;
static atomic_uint freed, told;

/* Also bytes behind those that were asked for: nothing of it is anybody else's. */
void __wrap_free(void *memory)
{
    if (memory && atomic_load(&watched)) {
        atomic_fetch_add(&freed, 1);
        if (memmem(memory, malloc_usable_size(memory), SECRET, sizeof(SECRET) - 1))
            atomic_fetch_add(&told, 1);
    }
    __real_free(memory);
}

static void watch(void)
{
    atomic_store(&freed, 0);
    atomic_store(&told, 0);
    atomic_store(&watched, true);
}

static void expect_no_secret(void)
{
    atomic_store(&watched, false);
    ck_assert_uint_gt(atomic_load(&freed), 0);
    ck_assert_uint_eq(atomic_load(&told), 0);
}

TEST(wiped, password_in_freed_memory_is_seen)
{
    static char secret[] = SECRET;
    watch();
    char *copy = strdup(secret);
    ck_assert_ptr_nonnull(copy);
    free(copy);
    atomic_store(&watched, false);
    ck_assert_uint_eq(atomic_load(&told), 1);
}

static struct masters *masters;

static const char *list_with_passwords(void)
{
    static struct node_list list;
    char path[SUITE_PATH_MAX + 16];
    list.len = 0;
    snprintf(path, sizeof(path), "%s/secret", masters->node[0].dir);
    FILE *file = fopen(path, "we");
    ck_assert(file && fputs(SECRET "\n", file) >= 0 && fclose(file) == 0);
    setenv("TEST_REDLOCK_SECRET", SECRET, 1);
    node_list_line(&list, "guard off");
    node_list_line(&list, "node redis://:" SECRET "@127.0.0.1:%d",
                   masters->node[0].tcp_at.port);
    node_list_line(&list, "node redis://127.0.0.1:%d password-file=%s",
                   masters->node[1].tcp_at.port, path);
    node_list_line(&list, "node redis://127.0.0.1:%d password-env=TEST_REDLOCK_SECRET",
                   masters->node[2].tcp_at.port);
    return node_list_write(&list);
}

/* It logs in, and again; waits, and so listens; and is closed. */
TEST(wiped, client_leaves_no_password_behind)
{
    redlock_lock *other = NULL;
    masters = masters_start(3, NULL);
    for (unsigned i = 0; i < masters->n; i++)
        master_do(masters, i, "CONFIG", "SET", "requirepass", SECRET, NULL);
    masters->password = SECRET;
    const char *file = list_with_passwords();
    watch();
    redlock *client = client_open(file);
    redlock_lock *lock = client_take(client, "name");
    ck_assert_int_eq(client_try(client, "name", 0, 200, NULL, &other), REDLOCK_EHELD);
    ck_assert_int_eq(redlock_release(lock), 0);
    atomic_store(&watched, false); /* to talk to masters ourselves takes the password as well */
    for (unsigned i = 0; i < masters->n; i++)
        master_do(masters, i, "CLIENT", "KILL", "TYPE", "normal", NULL);
    atomic_store(&watched, true);
    ck_assert(wait_until(client_ready(client) == 3, 10000));
    ck_assert_int_eq(redlock_release(client_take(client, "name")), 0);
    redlock_close(client);
    expect_no_secret();
}

/* Send logins until the socket has no room for one: it stands in the session's own buffer. */
static struct rl_tls *tls_holding(struct tls_pair *pair)
{
    static char login[sizeof(((struct rl_tls *)0)->held)];
    struct tls_world world;
    tls_world_make(&world);
    tls_pair_begin_shaken(pair, &world, TLS1_3_VERSION);
    memcpy(login, SECRET, sizeof(SECRET) - 1);
    while (pair->client->held_len == 0) {
        size_t sent;
        ck_assert_int_ne(rl_tls_send(pair->client, login, sizeof(login), &sent), RL_TLS_FAILED);
    }
    return pair->client;
}

static bool holds_secret(const struct rl_tls *tls)
{
    return memmem(tls->held, sizeof(tls->held), SECRET, sizeof(SECRET) - 1) != NULL;
}

TEST(wiped, login_that_tls_held_is_wiped, .rows = 2)
{
    static char heard[16384];
    struct tls_pair pair;
    size_t sent;
    struct rl_tls *tls = tls_holding(&pair);
    ck_assert(holds_secret(tls));
    watch();
    if (_i == 0) { /* when it has left; else with the session */
        while (tls->held_len > 0) {
            (void)tls_pair_hear(&pair, heard, sizeof(heard));
            ck_assert_int_ne(rl_tls_send(tls, NULL, 0, &sent), RL_TLS_FAILED);
        }
        ck_assert(!holds_secret(tls));
    }
    tls_pair_end(&pair);
    expect_no_secret();
}

CASE(wiped, .timeout_s = 60)
