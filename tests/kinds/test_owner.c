/* test_owner.c - who a lock is for: threads and clients are never taken for each other, and only
 * texts that Redisson would not take for something else are allowed. */
#include "config_auto.h"

#include "engine/client/owner.h"
#include "suite.h"

#include <pthread.h>
#include <string.h>

enum { THREADS = 8 };

static redlock *open_nowhere(void)
{
    redlock_node node = REDLOCK_NODE_INIT;
    redlock_config config = REDLOCK_CONFIG_INIT;
    redlock_error error = REDLOCK_ERROR_INIT;
    redlock *client = NULL;
    node.url = "unix:///nowhere";
    config.nodes = &node;
    config.node_count = 1;
    ck_assert_msg(redlock_open_config(&config, &error, &client) == 0, "%s", error.text);
    return client;
}

struct told {
    redlock *client;
    char text[RL_OWNER_MAX + 1];
};

static void *tell(void *argument)
{
    struct told *told = argument;
    rl_owner_text(&told->client->identity, told->text);
    return NULL;
}

/* One after the other, so that the system gives each the number of the one before. */
TEST(owner, no_two_threads_are_one_owner)
{
    struct told told[THREADS];
    redlock *client = open_nowhere();
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        told[i].client = client;
        ck_assert_int_eq(pthread_create(&thread, NULL, tell, &told[i]), 0);
        pthread_join(thread, NULL);
        for (int k = 0; k < i; k++)
            ck_assert_str_ne(told[i].text, told[k].text);
    }
    redlock_close(client);
}

TEST(owner, thread_stays_same_owner_and_clients_differ)
{
    char first[RL_OWNER_MAX + 1], again[RL_OWNER_MAX + 1], other[RL_OWNER_MAX + 1];
    redlock *one = open_nowhere(), *two = open_nowhere();
    ck_assert_uint_eq(rl_owner_text(&one->identity, first), strlen(first));
    rl_owner_text(&one->identity, again);
    rl_owner_text(&two->identity, other);
    ck_assert_str_eq(first, again);
    ck_assert_str_ne(first, other);
    redlock_close(one);
    redlock_close(two);
}

/* As Redisson's: an identity of 36 characters, a colon, a decimal number. */
TEST(owner, form_is_redissons)
{
    char text[RL_OWNER_MAX + 1];
    redlock *client = open_nowhere();
    size_t len = rl_owner_text(&client->identity, text);
    ck_assert_uint_gt(len, 37);
    ck_assert_uint_eq(strspn(text, "0123456789abcdef-"), 36);
    ck_assert_int_eq(text[36], ':');
    ck_assert_uint_eq(strspn(text + 37, "0123456789"), len - 37);
    redlock_close(client);
}

static const struct {
    const char *owner;
    bool allowed;
} owners[] = {
    {"a", true},
    {"mode", false},
    {"modes", true},
    {"a:write", false},
    {":write", false},
    {"a:write:1", true},
    {"write", true},
    {"", false},
};

TEST(owner, ambiguous_text_is_refused, .rows = ROWS(owners))
{
    const char *why = NULL;
    ck_assert_int_eq(rl_owner_allowed(owners[_i].owner, &why), owners[_i].allowed);
    ck_assert_ptr_nonnull(why);
}

TEST(owner, owner_has_at_most_so_many_bytes)
{
    char owner[RL_OWNER_MAX + 2];
    const char *why;
    memset(owner, 'x', sizeof(owner));
    owner[RL_OWNER_MAX] = '\0';
    ck_assert(rl_owner_allowed(owner, &why));
    owner[RL_OWNER_MAX] = 'x';
    owner[RL_OWNER_MAX + 1] = '\0';
    ck_assert(!rl_owner_allowed(owner, &why));
}
