/* tags: threads */
/* test_quorum_real.c - taking, refusing and giving back on a majority of real masters, for
 * every number of masters, and everything a name or a ttl may be. */
#include "config_auto.h"

#include "clients.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const unsigned sizes[] = {1, 2, 3, 4, 5, 7, 31};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static redlock_node_vote report_votes[REDLOCK_NODES_MAX];
static redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);

/* ---- every number of masters ------------------------------------------------------------ */

TEST(quorum_real, majority_grants_and_excludes, .rows = SIZES)
{
    unsigned n = sizes[_i], needed = n / 2 + 1;
    redlock_lock *lock = NULL, *other = NULL;
    OPEN_COLD_CLIENTS(n, NULL);
    /* A cold client does not wait for all of them. */
    ck_assert(wait_until(client_ready(one) == n, 10000));

    int code = client_try(one, "name", 0, 0, &report, &lock);
    ck_assert_msg(code == 0, "%d: %s", code, client_told(&report));
    ck_assert_uint_eq(report.nodes, n);
    ck_assert_uint_eq(report.needed, needed);
    ck_assert_uint_ge(report.granted, needed);
    ck_assert_uint_eq(report.rounds, 1);
    ck_assert_int_le(redlock_validity_ms(lock), CLIENT_TTL_MS - CLIENT_TTL_MS / 100 - 2);
    ck_assert_int_gt(redlock_validity_ms(lock), CLIENT_TTL_MS / 2);
    ck_assert(wait_until(masters_with(masters, "name") == n, 5000));

    code = client_try(two, "name", 0, 0, &report, &other);
    ck_assert_int_eq(code, REDLOCK_EHELD);
    ck_assert_ptr_null(other);
    ck_assert_uint_ge(report.held, n - needed + 1);
    for (unsigned i = 0; i < n; i++) {
        if (report.node[i].vote != REDLOCK_VOTE_HELD)
            continue;
        ck_assert_str_eq(report.node[i].holder, redlock_token(lock));
        ck_assert_int_gt(report.node[i].ttl_ms, 0);
        ck_assert_int_le(report.node[i].ttl_ms, CLIENT_TTL_MS);
    }
    ck_assert_int_gt(redlock_validity_ms(lock), 0);

    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
    other = client_take(two, "name");
    ck_assert_int_eq(redlock_release(other), 0);
}

TEST(quorum_real, minority_may_die_and_majority_may_not, .rows = SIZES)
{
    unsigned n = sizes[_i], needed = n / 2 + 1;
    redlock_lock *lock = NULL;
    OPEN_COLD_CLIENTS(n, NULL);
    redlock_release(client_take(one, "warm"));

    for (unsigned i = 0; i < n - needed; i++)
        master_kill(masters, i);
    lock = client_take(one, "name");
    ck_assert_int_eq(redlock_release(lock), 0);

    master_kill(masters, n - needed);
    int64_t begun = now_ms();
    lock = NULL;
    int code = client_try(one, "name", 0, 0, &report, &lock);
    ck_assert_msg(code == REDLOCK_ENOQUORUM, "%d: %s", code, client_told(&report));
    ck_assert_int_lt(now_ms() - begun, 1000); /* known to be dead: not waited for */
    ck_assert_ptr_null(lock);
    ck_assert_uint_ge(report.failed, n - needed + 1);
    ck_assert(report.node[0].vote == REDLOCK_VOTE_FAILED && report.node[0].text[0] != '\0');
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));

    for (unsigned i = 0; i <= n - needed; i++)
        master_restart(masters, i, true);
    code = client_try(one, "name", 0, 10000, &report, &lock);
    ck_assert_msg(code == 0, "%d: %s", code, client_told(&report));
    ck_assert_int_eq(redlock_release(lock), 0);
}

/* Half the keys are another's: one short of a majority for either. */
/* A cold client waits for nodes that may come, and not for those that have refused. */
TEST(quorum_real, masters_that_all_refuse_are_not_waited_for)
{
    enum { CONNECT_TIMEOUT_MS = 60000 };
    masters = masters_start(3, NULL);
    const char *file = masters_file(masters, "connect-timeout 60s\n");
    for (unsigned i = 0; i < 3; i++)
        master_kill(masters, i);
    one = client_open(file);
    int64_t begun = now_ms();
    redlock_lock *lock = NULL;
    ck_assert_int_eq(client_try(one, "name", 0, 0, &report, &lock), REDLOCK_ENOQUORUM);
    ck_assert_int_lt(now_ms() - begun, CONNECT_TIMEOUT_MS / 4);
    redlock_close(one);
}

TEST(quorum_real, lost_round_leaves_no_key_on_any_node, .rows = SIZES)
{
    unsigned n = sizes[_i], needed = n / 2 + 1;
    redlock_lock *lock = NULL;
    OPEN_COLD_CLIENTS(n, NULL);
    redlock_release(client_take(one, "warm"));
    for (unsigned i = 0; i < n - needed + 1; i++)
        master_do(masters, i, "SET", "name", "rival", NULL);
    for (int round = 0; round < 5; round++) {
        ck_assert_int_eq(client_try(one, "name", 0, 0, &report, &lock), REDLOCK_EHELD);
        ck_assert_ptr_null(lock);
        /* No further call of the library: the releases have left already. */
        ck_assert(wait_until(masters_with(masters, "name") == n - needed + 1, 2000));
    }
    for (unsigned i = 0; i < n - needed + 1; i++)
        ck_assert_str_eq(master_do(masters, i, "GET", "name", NULL).text, "rival");
}

/* ---- what is asked for ------------------------------------------------------------------ */

static void take_and_give_back(const void *name, size_t len)
{
    redlock_lock *lock = NULL, *other = NULL;
    redlock_options options = REDLOCK_OPTIONS_INIT;
    const char *const words[] = {"GET", name};
    const size_t lens[] = {3, len};
    size_t got;
    ck_assert_int_eq(redlock_try_n(one, name, len, &options, &lock), 0);
    ck_assert(memcmp(redlock_name_at(lock, 0, &got), name, len) == 0 && got == len);
    ck_assert(wait_until(
        strcmp(master_do_n(masters, 0, 2, words, lens).text, redlock_token(lock)) == 0, 5000));
    ck_assert_int_eq(redlock_try_n(two, name, len, &options, &other), REDLOCK_EHELD);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert(wait_until(master_do_n(masters, 0, 2, words, lens).number == -1, 5000));
}

TEST(quorum_real, names_are_bytes)
{
    static const struct {
        const char *bytes;
        size_t len;
    } names[] = {{"plain", 5},   {"with space", 10},   {"nul\0inside", 10},
                 {"\0", 1},      {"line\r\nfeed", 10}, {"{braces}:x", 10},
                 {"%s%n%d", 6},  {"\xff\xfe\x80", 3},  {"*2\r\n$1\r\na\r\n", 11},
                 {"quo\"te'", 7}};
    OPEN_COLD_CLIENTS(3, NULL);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        take_and_give_back(names[i].bytes, names[i].len);
    char *longest = calloc(1, 1 << 20);
    memset(longest, 'x', 1 << 20);
    take_and_give_back(longest, REDLOCK_NAME_MAX);

    redlock_lock *lock = NULL;
    redlock_options options = REDLOCK_OPTIONS_INIT;
    ck_assert_int_eq(redlock_try_n(one, longest, REDLOCK_NAME_MAX + 1, &options, &lock),
                     REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_try_n(one, longest, 1 << 20, &options, &lock), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_try_n(one, "", 0, &options, &lock), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_try(one, "", &options, &lock), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_try(one, NULL, &options, &lock), REDLOCK_EINVAL);
    redlock_lock_info info = REDLOCK_LOCK_INFO_INIT(NULL, 0, NULL, 0);
    ck_assert_int_eq(redlock_inspect_n(one, longest, 1 << 20, NULL, &info), REDLOCK_EINVAL);
    ck_assert_ptr_null(lock);
    free(longest);
}

TEST(quorum_real, ttls_are_checked)
{
    static const int64_t bad[] = {1, 2, 9, -1, -10000, 5001, INT64_MAX, INT64_MIN};
    redlock_lock *lock = NULL;
    OPEN_COLD_CLIENTS(1, "max-ttl 5s\nttl 3s\n");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_int_eq(client_try(one, "name", bad[i], 0, NULL, &lock), REDLOCK_EINVAL);
    ck_assert_ptr_null(lock);
    ck_assert_uint_eq(masters_with(masters, "name"), 0);

    ck_assert_int_eq(client_try(one, "name", 5000, 0, NULL, &lock), 0);
    ck_assert_int_gt(redlock_validity_ms(lock), 3000);
    ck_assert_int_eq(redlock_extend(lock, 5001, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_extend(lock, -1, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_release(lock), 0);

    lock = NULL; /* none given: the file's */
    ck_assert_int_eq(redlock_try(one, "name", NULL, &lock), 0);
    ck_assert_int_gt(redlock_validity_ms(lock), 2000);
    ck_assert_int_le(redlock_validity_ms(lock), 3000 - 30 - 2);
    ck_assert_int_eq(redlock_release(lock), 0);
}

TEST(quorum_real, options_are_checked)
{
    redlock_lock *lock = NULL;
    OPEN_COLD_CLIENTS(1, NULL);
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.size = 1;
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), REDLOCK_EINVAL);
    options = (redlock_options)REDLOCK_OPTIONS_INIT;
    options.kind = 77;
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), REDLOCK_EINVAL);
    options = (redlock_options)REDLOCK_OPTIONS_INIT;
    options.wait_ms = -2;
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), REDLOCK_EINVAL);
    report.size = 3;
    options = (redlock_options)REDLOCK_OPTIONS_INIT;
    options.report = &report;
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_try(one, "name", NULL, NULL), REDLOCK_EINVAL);
    ck_assert_ptr_null(lock);
    redlock_stats stats = {.size = 1};
    ck_assert_int_eq(redlock_get_stats(one, &stats), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_validity_ms(NULL), 0);
}

/* ---- scripts ---------------------------------------------------------------------------- */

TEST(quorum_real, flushed_scripts_are_sent_again)
{
    redlock_lock *lock;
    OPEN_COLD_CLIENTS(3, NULL);
    for (int round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 3; i++)
            master_do(masters, i, "SCRIPT", "FLUSH", NULL);
        lock = client_take(one, "name");
        client_ready(one);
        for (unsigned i = 0; i < 3; i++)
            master_do(masters, i, "SCRIPT", "FLUSH", NULL);
        ck_assert_int_eq(redlock_extend(lock, CLIENT_TTL_MS + 5000, NULL), 0);
        ck_assert_int_gt(redlock_validity_ms(lock), CLIENT_TTL_MS);
        for (unsigned i = 0; i < 3; i++)
            master_do(masters, i, "SCRIPT", "FLUSH", NULL);
        ck_assert_int_eq(redlock_release(lock), 0);
        ck_assert(wait_until((client_ready(one), masters_with(masters, "name") == 0), 5000));
    }
}

TEST(quorum_real, tokens_are_never_used_twice)
{
    enum { TAKES = 200 };
    static char tokens[TAKES][160];
    OPEN_COLD_CLIENTS(1, "client-name here\n");
    for (int i = 0; i < TAKES; i++) {
        redlock_lock *lock = client_take(i % 2 ? one : two, "name");
        snprintf(tokens[i], sizeof(tokens[i]), "%s", redlock_token(lock));
        ck_assert_int_eq(redlock_release(lock), 0);
        for (int k = 0; k < i; k++)
            ck_assert_str_ne(tokens[k], tokens[i]);
    }
    ck_assert_ptr_nonnull(strstr(tokens[0], "here"));
}

CASE(quorum_real, .timeout_s = 120)
