/* tags: valgrind */
/* test_identity.c - which news INFO brings of who answers at an address: a restart, another
 * server, other keys; and what is none. */
#include "config_auto.h"

#include "core/identity.h"
#include "base/limits.h"
#include "base/prng.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

#define S RL_NS_PER_S
#define START (1000 * S)

static struct rl_info info_of(const char *run_id, int64_t uptime_s)
{
    struct rl_info info;
    rl_info_parse("", 0, &info);
    snprintf(info.run_id, sizeof(info.run_id), "%s", run_id);
    snprintf(info.replication, sizeof(info.replication), "first");
    snprintf(info.role, sizeof(info.role), "master");
    info.uptime_s = uptime_s;
    return info;
}

static struct rl_identity known(const char *run_id)
{
    struct rl_identity identity = {.run_id = ""};
    struct rl_info info = info_of(run_id, 5);
    ck_assert_int_eq(rl_identity_learn(&identity, &info, 0, START), RL_SAME);
    return identity;
}

TEST(identity, first_one_is_no_news)
{
    struct rl_identity identity = known("a");
    ck_assert_str_eq(identity.run_id, "a");
    ck_assert_int_eq(identity.seen_ns, START);
    ck_assert_int_eq(identity.heard_ns, START);
    struct rl_info info = info_of("a", 6);
    ck_assert_int_eq(rl_identity_learn(&identity, &info, 0, START + S), RL_SAME);
    ck_assert_int_eq(identity.seen_ns, START);
    ck_assert_int_eq(identity.heard_ns, START + S);
}

static const struct {
    int64_t silent_ns, uptime_s;
    enum rl_news news;
} others[] = {
    {10 * S, 9, RL_RESTARTED},
    {10 * S, 10, RL_ANOTHER}, /* may have been up for 10.9 s */
    {10 * S - 1, 9, RL_ANOTHER},
    {11 * S - 1, 9, RL_RESTARTED},
    {S, 0, RL_RESTARTED},
    {S - 1, 0, RL_ANOTHER},
    {0, 0, RL_ANOTHER},
    {10 * S, 1000000, RL_ANOTHER},
    {10 * S, -1, RL_ANOTHER}, /* it does not tell */
};

TEST(identity, uptime_proves_restart_or_nothing, .rows = ROWS(others))
{
    struct rl_identity identity = known("a");
    struct rl_info info = info_of("b", others[_i].uptime_s);
    rl_identity_heard(&identity, START + 5 * S);
    int64_t now = START + 5 * S + others[_i].silent_ns;
    ck_assert_int_eq(rl_identity_learn(&identity, &info, 0, now), others[_i].news);
    ck_assert_str_eq(identity.run_id, "b");
    ck_assert_int_eq(identity.seen_ns, now);
    /* And back: whoever was here meanwhile may have been asked. */
    info = info_of("a", 1000000);
    ck_assert_int_eq(rl_identity_learn(&identity, &info, 0, now + S), RL_ANOTHER);
}

/* Whatever of a second either clock was read in: a restart was after the last word. */
TEST(identity, restart_was_after_last_word)
{
    struct rl_prng prng;
    unsigned restarts = 0, before = 0;
    rl_prng_seed(&prng, 21);
    const struct rl_identity former = known("a");
    for (int i = 0; i < 50000; i++) {
        struct rl_identity identity = former;
        int64_t silent = (int64_t)rl_prng_below(&prng, 20 * (uint64_t)S);
        int64_t up = (int64_t)rl_prng_below(&prng, 20 * (uint64_t)S);
        int64_t wall = (int64_t)rl_prng_below(&prng, (uint64_t)S) + 100 * S;
        struct rl_info info = info_of("b", wall / S - (wall - up) / S);
        bool restart = rl_identity_learn(&identity, &info, 0, START + silent) == RL_RESTARTED;
        if (restart && up > silent)
            ck_abort_msg("up for %lld ns, silent for %lld", (long long)up, (long long)silent);
        restarts += restart;
        before += !restart && up > silent;
    }
    ck_assert(restarts > 0 && before > 0);
}

static const struct {
    bool was, is;
    const char *replication;
    int64_t second;
    enum rl_news news;
} changes[] = {
    {false, false, "first", -1, RL_SAME},
    {false, false, "first", 100, RL_SAME},  /* was a replica before we knew it */
    {false, false, "other", -1, RL_SAME},   /* a first replica came, the backlog was freed */
    {false, false, "other", 100, RL_RESYNCED},
    {false, false, "other", 0, RL_RESYNCED},
    {true, false, "other", -1, RL_RESYNCED},
    {false, true, "other", -1, RL_RESYNCED},
    {true, false, "first", -1, RL_SAME},
    {false, false, "", 100, RL_SAME}, /* not told */
};

TEST(identity, replication_id_tells_of_other_keys, .rows = ROWS(changes))
{
    struct rl_identity identity = known("a");
    struct rl_info info = info_of("a", 6);
    identity.replica = changes[_i].was;
    snprintf(info.replication, sizeof(info.replication), "%s", changes[_i].replication);
    snprintf(info.role, sizeof(info.role), "%s", changes[_i].is ? "slave" : "master");
    info.second_offset = changes[_i].second;
    ck_assert_int_eq(rl_identity_learn(&identity, &info, 0, START + S), changes[_i].news);
    ck_assert_int_eq(identity.seen_ns, START);
    ck_assert_int_eq(identity.replica, changes[_i].is);
}

TEST(identity, without_run_id_nothing_is_learnt)
{
    struct rl_identity identity = known("a"), before = identity;
    struct rl_info info = info_of("", 1000000);
    snprintf(info.replication, sizeof(info.replication), "other");
    info.second_offset = 7;
    ck_assert_int_eq(rl_identity_learn(&identity, &info, 0, START + S), RL_SAME);
    ck_assert_mem_eq(&identity, &before, sizeof(identity));
}

CASE(identity, .timeout_s = 60)
