/* tags: threads */
/* test_hold_real.c - a lock in hand, on real masters: extended, lost, detached, attached,
 * looked at and taken away. */
#include "config_auto.h"

#include "clients.h"
#include "fake.h"
#include "look.h"
#include "kinds/handle_text.h"
#include "waiter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static redlock_node_vote report_votes[REDLOCK_NODES_MAX];
static redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);

static long long pttl(unsigned node)
{
    return master_do(masters, node, "PTTL", "name", NULL).number;
}

/* ---- extend ----------------------------------------------------------------------------- */

TEST(hold_real, extend_lengthens_everywhere)
{
    redlock_lock *lock = NULL;
    OPEN_CLIENTS(3, NULL);
    ck_assert_int_eq(client_try(one, "name", 3000, 0, NULL, &lock), 0);
    ck_assert(wait_until(masters_with(masters, "name") == 3, 5000));
    client_ready(one); /* a grant that came late is heard */
    ck_assert_int_eq(redlock_extend(lock, 20000, &report), 0);
    ck_assert_uint_ge(report.granted, 2);
    ck_assert_int_gt(redlock_validity_ms(lock), 15000);
    ck_assert_int_le(redlock_validity_ms(lock), 20000 - 200 - 2);
    for (unsigned i = 0; i < 3; i++)
        ck_assert(wait_until(pttl(i) > 15000, 5000));
    ck_assert_int_eq(redlock_release(lock), 0);
}

TEST(hold_real, extend_goes_upwards_only)
{
    OPEN_CLIENTS(3, NULL);
    redlock_lock *lock = client_take(one, "name");
    ck_assert(wait_until(masters_with(masters, "name") == 3, 5000));
    int64_t before = redlock_validity_ms(lock);
    uint64_t sent = client_stats(one).commands;
    ck_assert_int_eq(redlock_extend(lock, 1000, NULL), 0);
    ck_assert_uint_eq(client_stats(one).commands, sent);
    ck_assert_int_gt(redlock_validity_ms(lock), before - 1000);
    ck_assert_int_gt(pttl(0), 5000);
    ck_assert_int_eq(redlock_release(lock), 0);
}

TEST(hold_real, extend_without_ttl_repeats_first)
{
    redlock_lock *lock = NULL;
    OPEN_COLD_CLIENTS(3, NULL);
    ck_assert_int_eq(client_try(one, "name", 2000, 0, NULL, &lock), 0);
    ck_assert(wait_until(redlock_validity_ms(lock) < 1500, 5000));
    ck_assert_int_eq(redlock_extend(lock, 0, NULL), 0);
    ck_assert_int_gt(redlock_validity_ms(lock), 1500);
    ck_assert_int_eq(redlock_release(lock), 0);
}

/* Two grants were a majority, the third has come meanwhile: it is a node like the others. */
TEST(hold_real, extend_hears_late_grants_first)
{
    OPEN_CLIENTS(3, NULL);
    for (int i = 0; i < 30; i++) {
        redlock_lock *lock = client_take(one, "name");
        ck_assert(wait_until(masters_with(masters, "name") == 3, 5000));
        master_do(masters, (unsigned)i % 3, "DEL", "name", NULL);
        ck_assert_int_eq(redlock_extend(lock, 20000, NULL), 0);
        ck_assert_int_eq(redlock_release(lock), 0);
        ck_assert(wait_until((client_ready(one), masters_with(masters, "name") == 0), 5000));
    }
}

TEST(hold_real, extend_finds_lock_lost_on_majority)
{
    OPEN_CLIENTS(3, NULL);
    redlock_lock *lock = client_take(one, "name");
    ck_assert(wait_until(masters_with(masters, "name") == 3, 5000));
    client_ready(one); /* a grant that came late is heard */
    master_do(masters, 0, "DEL", "name", NULL);
    master_do(masters, 2, "SET", "name", "rival", NULL);
    ck_assert_int_eq(redlock_extend(lock, 20000, NULL), REDLOCK_EEXPIRED);
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    /* It is dead and never extended again. Where it still stands it stays, for who was told
     * how long it is valid may rely on it; until it is released. */
    ck_assert_int_eq(redlock_extend(lock, 20000, NULL), REDLOCK_EEXPIRED);
    ck_assert(master_has(masters, 1, "name"));
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    ck_assert(wait_until((client_ready(one), !master_has(masters, 1, "name")), 5000));
    ck_assert_str_eq(master_do(masters, 2, "GET", "name", NULL).text, "rival");
    ck_assert_uint_eq(client_stats(one).lost, 1);
}

TEST(hold_real, extend_fills_in_minority_but_nothing_foreign)
{
    char token[200];
    OPEN_CLIENTS(3, NULL);
    redlock_lock *lock = client_take(one, "name");
    ck_assert(wait_until(masters_with(masters, "name") == 3, 5000));
    client_ready(one);
    snprintf(token, sizeof(token), "%s", redlock_token(lock));
    master_do(masters, 1, "DEL", "name", NULL);
    ck_assert_int_eq(redlock_extend(lock, 20000, NULL), 0);
    ck_assert(wait_until((client_ready(one), master_has(masters, 1, "name")), 5000));
    ck_assert_str_eq(master_do(masters, 1, "GET", "name", NULL).text, token);
    ck_assert_int_gt(pttl(1), 10000);

    master_do(masters, 1, "SET", "name", "rival", NULL);
    ck_assert_int_eq(redlock_extend(lock, 25000, NULL), 0);
    client_ready(one);
    ck_assert_str_eq(master_do(masters, 1, "GET", "name", NULL).text, "rival");
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert(wait_until(masters_with(masters, "name") == 1, 5000));
    ck_assert_str_eq(master_do(masters, 1, "GET", "name", NULL).text, "rival");
}

TEST(hold_real, lock_that_ran_out_stays_dead)
{
    redlock_lock *lock = NULL;
    OPEN_COLD_CLIENTS(3, NULL);
    ck_assert_int_eq(client_try(one, "name", 300, 0, NULL, &lock), 0);
    ck_assert(wait_until(redlock_validity_ms(lock) == 0, 5000));
    ck_assert_int_eq(redlock_extend(lock, 20000, NULL), REDLOCK_EEXPIRED);
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_int_lt(pttl(i), 301);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
}

/* More releases at once than a connection has room for. */
TEST(hold_real, close_gives_up_hundreds_of_locks)
{
    OPEN_COLD_CLIENTS(3, NULL);
    for (int i = 0; i < 500; i++) {
        char name[16];
        redlock_lock *lock = NULL;
        snprintf(name, sizeof(name), "name%d", i);
        ck_assert_int_eq(client_try(one, name, 20000, 1000, NULL, &lock), 0);
    }
    redlock_close(one);
    one = NULL;
    for (unsigned i = 0; i < 3; i++)
        ck_assert(wait_until(master_do(masters, i, "DBSIZE", NULL).number == 0, 5000));
}

/* Whoever has seen a 0 has stopped: not even in the last fraction of a millisecond may an
 * extension bring the lock back. */
TEST(hold_real, validity_of_0_is_final)
{
    OPEN_COLD_CLIENTS(3, NULL);
    for (int i = 0; i < 50; i++) {
        redlock_lock *lock = NULL;
        /* A busy machine may need longer than such a lease is to take it. */
        ck_assert(wait_until(client_try(one, "name", 25, 1000, NULL, &lock) == 0, 20000));
        while (redlock_validity_ms(lock) > 0)
            continue;
        int code = redlock_extend(lock, 20000, NULL);
        ck_assert_int_eq(redlock_validity_ms(lock), 0);
        ck_assert_int_eq(code, REDLOCK_EEXPIRED);
        ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
        ck_assert(wait_until((client_ready(one), masters_with(masters, "name") == 0), 5000));
    }
}

/* The server extended the key, and says so when the old deadline has passed: somebody else
 * could have had it in between. */
TEST(hold_real, extension_that_comes_too_late_is_none)
{
    struct fake *fake;
    redlock_lock *lock = NULL;
    fakes_start(&fake, 1);
    redlock *client = client_open(fakes_file(&fake, 1, NULL));
    ck_assert(wait_until(client_ready(client) == 1, 5000));
    ck_assert_int_eq(client_try(client, "name", 1500, 0, NULL, &lock), 0);
    fake_rule(fake, &(struct fake_rule){.match = "extend *", .delay_ms = 1600});
    ck_assert_int_eq(redlock_extend(lock, 20000, NULL), REDLOCK_EEXPIRED);
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    ck_assert_uint_eq(fake_count(fake, "extend *"), 1);
    ck_assert(wait_until((client_ready(client), fake_count(fake, "release *") == 1), 5000));
    ck_assert(wait_until(!fake_has(fake, "name"), 5000));
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    redlock_close(client);
}

/* No majority answers the extension: not extended, but ours while the old deadline lasts. A
 * master that was never asked would count as one that has nothing of it. */
TEST(hold_real, extend_without_quorum_keeps_validity_left)
{
    OPEN_CLIENTS(3, NULL);
    redlock_lock *lock = take_everywhere(masters, one, "name");
    master_kill(masters, 0);
    master_kill(masters, 1);
    ck_assert_int_eq(redlock_extend(lock, 20000, NULL), REDLOCK_ENOQUORUM);
    ck_assert_int_gt(redlock_validity_ms(lock), 0);
    ck_assert_int_lt(redlock_validity_ms(lock), CLIENT_TTL_MS);
    int code = redlock_release(lock);
    ck_assert_int_eq(code, REDLOCK_EUNCONFIRMED);
    ck_assert(wait_until(!master_has(masters, 2, "name"), 5000));
}

/* ---- detach and attach ------------------------------------------------------------------ */

TEST(hold_real, detached_lock_goes_on_in_another_client)
{
    char text[REDLOCK_HANDLE_MAX], token[200];
    redlock_lock *lock, *taken = NULL, *other = NULL;
    OPEN_COLD_CLIENTS(3, NULL);
    lock = client_take(one, "name");
    snprintf(token, sizeof(token), "%s", redlock_token(lock));
    ck_assert_int_eq(redlock_detach(lock, text, 4), REDLOCK_EINVAL);
    ck_assert_int_gt(redlock_validity_ms(lock), 0); /* too small: still ours */
    ck_assert_int_eq(redlock_detach(lock, text, sizeof(text)), 0);
    ck_assert_int_eq(redlock_detach(lock, text, sizeof(text)), REDLOCK_ENOTHELD);
    redlock_close(one);
    one = NULL;
    ck_assert_uint_ge(masters_with(masters, "name"), 2); /* close did not release it */

    ck_assert_int_eq(client_try(two, "name", 0, 0, NULL, &other), REDLOCK_EHELD);
    ck_assert_int_eq(redlock_attach(two, text, &taken), 0);
    ck_assert_str_eq(redlock_token(taken), token);
    size_t len;
    ck_assert(memcmp(redlock_name_at(taken, 0, &len), "name", 4) == 0 && len == 4);
    ck_assert_int_gt(redlock_validity_ms(taken), CLIENT_TTL_MS / 2);
    ck_assert_int_lt(redlock_validity_ms(taken), CLIENT_TTL_MS - 100);
    ck_assert_int_eq(redlock_extend(taken, 20000, NULL), 0);
    ck_assert_int_gt(redlock_validity_ms(taken), 15000);
    ck_assert_int_eq(redlock_release(taken), 0);
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
}

TEST(hold_real, handles_that_are_not_ours_are_refused)
{
    char text[REDLOCK_HANDLE_MAX], bad[REDLOCK_HANDLE_MAX + 8];
    redlock_lock *lock = NULL;
    OPEN_COLD_CLIENTS(3, NULL);
    ck_assert_int_eq(client_try(one, "a {name} %s", 500, 0, NULL, &lock), 0);
    ck_assert_int_eq(redlock_detach(lock, text, sizeof(text)), 0);
    size_t len = strlen(text);
    lock = NULL;
    for (size_t cut = 0; cut < len; cut++) {
        memcpy(bad, text, cut);
        bad[cut] = '\0';
        ck_assert_int_eq(redlock_attach(two, bad, &lock), REDLOCK_EHANDLE);
    }
    /* Any one character changed: refused, or expired, and never a crash or another's lock. */
    for (size_t i = 0; i < len; i++) {
        memcpy(bad, text, len + 1);
        bad[i] = bad[i] == 'z' ? 'y' : 'z';
        int code = redlock_attach(two, bad, &lock);
        ck_assert_msg(code != 0, "changed at %zu: %s", i, bad);
    }
    snprintf(bad, sizeof(bad), "%s ", text);
    ck_assert_int_eq(redlock_attach(two, bad, &lock), REDLOCK_EHANDLE);
    memset(bad, 'a', sizeof(bad) - 1);
    bad[sizeof(bad) - 1] = '\0';
    ck_assert_int_eq(redlock_attach(two, bad, &lock), REDLOCK_EHANDLE);
    ck_assert_int_ne(redlock_attach(two, NULL, &lock), 0);
    ck_assert_ptr_null(lock);

    ck_assert(
        wait_until(redlock_attach(two, text, &lock) != 0 || redlock_release(lock) > 0, 5000));
}

TEST(hold_real, handle_has_one_text_only)
{
    static const char *const names[] = {"a", "ab", "abc"}; /* every length of the rest */
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    char text[REDLOCK_HANDLE_MAX];
    OPEN_COLD_CLIENTS(3, NULL);
    for (int i = 0; i < 3; i++) {
        redlock_lock *lock = client_take(one, names[i]);
        ck_assert_int_eq(redlock_detach(lock, text, sizeof(text)), 0);
        char *last = text + strlen(text) - 1, own = *last;
        for (const char *digit = digits; *digit; digit++) {
            *last = *digit;
            int code = redlock_attach(two, text, &lock);
            ck_assert_int_eq(code, *digit == own ? 0 : REDLOCK_EHANDLE);
        }
    }
}

TEST(hold_real, handle_past_its_deadline_is_refused)
{
    char text[REDLOCK_HANDLE_MAX];
    redlock_lock *lock = NULL;
    OPEN_COLD_CLIENTS(3, NULL);
    ck_assert_int_eq(client_try(one, "name", 300, 0, NULL, &lock), 0);
    ck_assert_int_eq(redlock_detach(lock, text, sizeof(text)), 0);
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
    ck_assert_int_eq(redlock_attach(two, text, &lock), REDLOCK_EEXPIRED);
}

TEST(hold_real, handle_of_another_number_of_masters_is_refused)
{
    char text[REDLOCK_HANDLE_MAX];
    redlock_lock *lock;
    OPEN_COLD_CLIENTS(3, NULL);
    struct masters *others = masters_start(1, NULL);
    redlock *stranger = client_open(masters_file(others, NULL));
    lock = client_take(one, "name");
    ck_assert_int_eq(redlock_detach(lock, text, sizeof(text)), 0);
    ck_assert_int_eq(redlock_attach(stranger, text, &lock), REDLOCK_EHANDLE);
    redlock_close(stranger);
    masters_stop(others);
}

static char attach_said[512];

static void note(void *context, int level, const char *text)
{
    (void)context;
    ck_assert_int_eq(level, REDLOCK_LOG_ERROR);
    snprintf(attach_said, sizeof(attach_said), "%s", text);
}

/* By a client of a list of these; `own` of them are the masters of this test, by the name that
 * its clients have for them. */
static int attach_at(const char *text, unsigned own, struct masters *others, redlock_lock **ret)
{
    redlock *client;
    struct node_list list = {.len = 0};
    redlock_config config = REDLOCK_CONFIG_INIT;
    node_list_line(&list, "guard off");
    for (unsigned i = others->n; i-- > 0;) /* the order is no matter */
        node_list_add(&list, i < own ? &masters->node[i].unix_at : &others->node[i].tcp_at);
    config.file = node_list_write(&list);
    config.log = note;
    config.log_level = REDLOCK_LOG_ERROR;
    attach_said[0] = '\0';
    ck_assert_int_eq(redlock_open_config(&config, NULL, &client), 0);
    int code = redlock_attach(client, text, ret);
    if (code == 0)
        ck_assert_int_eq(redlock_release(*ret), 0);
    redlock_close(client);
    return code;
}

/* As many, but other ones: it would be found lost there. */
TEST(hold_real, handle_of_other_masters_is_refused)
{
    char text[REDLOCK_HANDLE_MAX];
    OPEN_CLIENTS(3, NULL);
    struct masters *others = masters_start(3, NULL);
    redlock_lock *lock = client_take(one, "name");
    ck_assert_int_eq(redlock_detach(lock, text, sizeof(text)), 0);
    ck_assert_int_eq(attach_at(text, 0, others, &lock), REDLOCK_EHANDLE);
    ck_assert_ptr_nonnull(strstr(attach_said, "other masters, only 0 of its 3"));
    ck_assert_int_eq(attach_at(text, 1, others, &lock), REDLOCK_EHANDLE);
    ck_assert_ptr_nonnull(strstr(attach_said, "only 1 of its 3"));
    ck_assert(
        wait_until(masters_with(masters, "name") == 3, 5000)); /* a late grant, and none gone */
    /* One has another name in this list, or is another one: there is a majority without it. */
    ck_assert_int_eq(attach_at(text, 2, others, &lock), 0);
    ck_assert_str_eq(attach_said, "");
    masters_stop(others);
}

/* No lock of these masters can have such a deadline, whoever wrote it. */
TEST(hold_real, handle_that_lasts_too_long_is_refused, .rows = 2)
{
    static const int64_t later_ms[] = {40000, INT64_MAX / 1000000};
    struct rl_handle handle;
    char text[REDLOCK_HANDLE_MAX];
    redlock_lock *lock = NULL;
    OPEN_COLD_CLIENTS(3, "max-ttl 30s\n");
    lock = client_take(one, "name");
    ck_assert_int_eq(redlock_detach(lock, text, sizeof(text)), 0);
    ck_assert_int_eq(rl_handle_decode(text, &handle), 0);
    int64_t deadline_ns = handle.deadline_ns;
    handle.deadline_ns = _i == 0 ? deadline_ns + later_ms[0] * 1000000 : later_ms[1] * 1000000;
    ck_assert_int_eq(rl_handle_encode(&handle, text, sizeof(text)), 0);
    ck_assert_int_eq(redlock_attach(two, text, &lock), REDLOCK_EHANDLE);
    handle.deadline_ns = deadline_ns;
    ck_assert_int_eq(rl_handle_encode(&handle, text, sizeof(text)), 0);
    ck_assert_int_eq(redlock_attach(two, text, &lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
}

/* By its lease, also where less than max-ttl is left of it. */
TEST(hold_real, handle_whose_lease_is_above_max_ttl_is_refused)
{
    char text[REDLOCK_HANDLE_MAX], list[SUITE_PATH_MAX];
    redlock_lock *lock = NULL, *taken = NULL;
    OPEN_COLD_CLIENTS(3, "max-ttl 20s\n");
    redlock *shorter = client_open(masters_file(masters, "max-ttl 5s\n"));
    snprintf(list, sizeof(list), "%s", masters_file(masters, "max-ttl 6s\n"));
    CLIENT same = client_open(list);
    ck_assert(wait_until(client_ready(same) == 3, 10000));
    ck_assert_int_eq(client_try(one, "name", 6000, 0, NULL, &lock), 0);
    ck_assert(wait_until(redlock_validity_ms(lock) < 4500, 5000));
    ck_assert_int_eq(redlock_handle(lock, text, sizeof(text)), 0);
    ck_assert_int_eq(redlock_attach(shorter, text, &taken), REDLOCK_EHANDLE);
    ck_assert_int_eq(redlock_attach(same, text, &taken), 0);
    ck_assert_int_eq(redlock_release(taken), 0);
    redlock_close(shorter);
}

/* What it says is changed: it is of another clock; it is from the future; it lasts for longer
 * than any lock; or none of these. */
TEST(hold_real, handle_lasts_no_longer_than_when_it_was_written, .rows = 5)
{
    struct rl_handle handle;
    char text[REDLOCK_HANDLE_MAX];
    redlock_lock *lock = NULL;
    OPEN_COLD_CLIENTS(3, "max-ttl 30s\n");
    lock = client_take(one, "name");
    ck_assert_int_eq(redlock_detach(lock, text, sizeof(text)), 0);
    ck_assert_int_eq(rl_handle_decode(text, &handle), 0);
    switch (_i) {
    case 0:
        handle.clock_offset += 20 * RL_NS_PER_S;
        break;
    case 1: /* by a clock that was 15 s ahead, or went back so far since */
        handle.written_ns += 15 * RL_NS_PER_S;
        handle.deadline_ns += 15 * RL_NS_PER_S;
        break;
    case 2:
        handle.written_ns -= 25 * RL_NS_PER_S;
        break;
    case 3:
        handle.written_ns = INT64_MIN;
        break;
    default:
        break;
    }
    ck_assert_int_eq(rl_handle_encode(&handle, text, sizeof(text)), 0);
    ck_assert_int_eq(redlock_attach(two, text, &lock), _i < 4 ? REDLOCK_EHANDLE : 0);
    if (_i == 4)
        ck_assert_int_eq(redlock_release(lock), 0);
}

/* ---- looking, and taking away ----------------------------------------------------------- */

TEST(hold_real, inspect_tells_holder)
{
    OPEN_CLIENTS(3, NULL);
    static struct look look;
    ck_assert_int_eq(look_at(&look, two, "name", NULL), 0);
    ck_assert_int_eq(look.all.state, REDLOCK_STATE_FREE);
    redlock_lock *lock = client_take(one, "name");
    ck_assert(wait_until(masters_with(masters, "name") == 3, 5000));
    ck_assert_int_eq(look_at(&look, two, "name", NULL), 0);
    ck_assert_int_eq(look.all.held, 1);
    ck_assert_str_eq(look_holder(&look, -1, 0)->owner, redlock_token(lock));
    ck_assert_int_gt(look.all.ttl_ms, 0);

    master_do(masters, 0, "SET", "name", "rival", NULL); /* for ever */
    master_do(masters, 1, "DEL", "name", NULL);
    ck_assert_int_eq(look_at(&look, two, "name", NULL), 0);
    ck_assert_int_eq(look.all.held, 1); /* nobody has a majority, nor could anybody get one */
    ck_assert_uint_eq(look.all.holders, 0);
    ck_assert_str_eq(look_holder(&look, 0, 0)->owner, "rival");
    ck_assert_int_eq(look.node[0].ttl_ms, -1);
    ck_assert_int_eq(look.node[1].state, REDLOCK_STATE_FREE);
    redlock_release(lock);

    master_kill(masters, 0);
    master_kill(masters, 1);
    ck_assert_int_eq(look_at(&look, two, "name", NULL), REDLOCK_ENOQUORUM);
    ck_assert_int_eq(look.node[2].state, REDLOCK_STATE_FREE);
}

TEST(hold_real, force_release_frees_lock_of_any_holder)
{
    OPEN_CLIENTS(3, NULL);
    redlock_lock *lock = client_take(one, "name");
    ck_assert(wait_until(masters_with(masters, "name") == 3, 5000));
    ck_assert_int_eq(redlock_force_release_n(two, "name", 4, REDLOCK_OFF, NULL), 0);
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);

    ck_assert_int_eq(redlock_force_release_n(two, "name", 4, REDLOCK_OFF, &report),
                     0); /* nobody had it */
    ck_assert_uint_eq(report.granted, 0);
    for (unsigned i = 0; i < 3; i++)
        master_do(masters, i, "RPUSH", "name", "not a lock", NULL);
    ck_assert_int_ne(redlock_force_release_n(two, "name", 4, REDLOCK_OFF, &report), 0);
    ck_assert_uint_eq(masters_with(masters, "name"), 3); /* and never other data */
}

TEST(hold_real, close_releases_held_locks)
{
    OPEN_COLD_CLIENTS(3, NULL);
    client_take(one, "name");
    client_take(one, "other");
    redlock_close(one);
    one = NULL;
    ck_assert_uint_eq(masters_with(masters, "name"), 0); /* confirmed before it returned */
    ck_assert_uint_eq(masters_with(masters, "other"), 0);
}

CASE(hold_real, .timeout_s = 60)
