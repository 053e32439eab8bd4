/* tags: long
 * test_sentinels.c - the tests' own Sentinels do what tests of failovers take for granted. */
#include "config_auto.h"

#include "sentinels.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

/* The first master is gone, another is named: that one, and its term. */
static int fail_over(struct sentinels *sentinels, unsigned long long *ret_term)
{
    master_kill(sentinels->servers, 0);
    int other = sentinels_await_other(sentinels, 0);
    ck_assert_int_eq(sentinels_named(sentinels, ret_term), other);
    return other;
}

TEST(sentinels, replica_is_named_in_a_higher_term_when_master_is_killed)
{
    struct sentinels *sentinels = sentinels_start(3, 3, "orders");
    unsigned long long term = 99;
    ck_assert_int_eq(sentinels_named(sentinels, &term), 0);
    ck_assert_uint_eq(term, 0);
    ck_assert_str_eq(master_do(sentinels->servers, 0, "SET", "kept", "1", NULL).text, "OK");
    ck_assert(wait_until(masters_with(sentinels->servers, "kept") == 3, 10000));
    int other = fail_over(sentinels, &term);
    ck_assert_uint_ge(term, 1);
    struct reply role = master_do(sentinels->servers, (unsigned)other, "ROLE", NULL);
    ck_assert_msg(strncmp(role.text, "master", 6) == 0, "%s", role.text);
    ck_assert(master_has(sentinels->servers, (unsigned)other, "kept"));
}

/* The others are silent meanwhile, so that it learns nothing from them. */
TEST(sentinels, one_that_begins_with_its_first_lines_names_the_first_master, .rows = 2)
{
    struct sentinels *sentinels = sentinels_start(3, 3, "orders");
    unsigned long long term;
    int other = fail_over(sentinels, &term);
    ck_assert(wait_until(sentinels_ask(sentinels, 2).server == other, 10000));
    master_pause(sentinels->watchers, 0);
    master_pause(sentinels->watchers, 1);
    ck_assert_int_eq(sentinels_named(sentinels, &term), -1); /* one of three is no majority */
    bool empty = _i == 1;
    master_restart(sentinels->watchers, 2, empty);
    struct sentinel_says says = sentinels_ask(sentinels, 2);
    ck_assert_int_eq(says.server, empty ? 0 : other);
    ck_assert(empty ? says.term == 0 : says.term >= 1);
    master_resume(sentinels->watchers, 0);
    master_resume(sentinels->watchers, 1);
    sentinels_await(sentinels, other);
}

TEST(sentinels, node_list_names_the_service_and_each_sentinel)
{
    struct sentinels *sentinels = sentinels_start(3, 1, "orders");
    char text[512] = "", url[64];
    FILE *file = fopen(sentinels_file(sentinels, "max-ttl 2s"), "r");
    ck_assert(file && fread(text, 1, sizeof(text) - 1, file) > 0 && fclose(file) == 0);
    ck_assert(strncmp(text, "node redis+sentinel://127.0.0.1:", 32) == 0);
    for (unsigned i = 0; i < 3; i++) {
        snprintf(url, sizeof(url), "127.0.0.1:%d%s", sentinels->watchers->node[i].tcp_at.port,
                 i == 2 ? "/orders\nmax-ttl 2s\n" : ",");
        ck_assert_msg(strstr(text, url) != NULL, "%s", text);
    }
}

CASE(sentinels, .timeout_s = 120)
