/* test_scripts.c - the scripts: what is embedded is what the files say, their names are the
 * server's own, and on a real server each does what its first lines promise. */
#include "config_auto.h"

#include "../lib/client.h"
#include "masters.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct rl_script *script_of(int verb)
{
    return &rl_kind(REDLOCK_PLAIN)->script[verb];
}

/* ---- the texts ------------------------------------------------------------------------- */

START_TEST(the_embedded_text_is_the_files)
{
    const struct rl_script *script = script_of(_i);
    const char *srcdir = getenv("srcdir");
    char path[512], text[8192];
    snprintf(path, sizeof(path), "%s/lib/scripts/%s.lua", srcdir ? srcdir : ".", script->name);
    FILE *file = fopen(path, "re");
    ck_assert_msg(file, "%s can't be read", path);
    size_t len = fread(text, 1, sizeof(text), file);
    ck_assert(feof(file) && len > 0);
    fclose(file);
    ck_assert_uint_eq(strlen(script->body), len);
    ck_assert_mem_eq(script->body, text, len);
}
END_TEST

/* Arguments come in as data, never into the text: no script is ever made at run time. */
START_TEST(the_texts_are_ascii_and_end_in_a_newline)
{
    const char *body = script_of(_i)->body;
    for (const char *at = body; *at; at++)
        ck_assert(*at == '\n' || (*at >= ' ' && *at <= '~'));
    ck_assert_int_eq(body[strlen(body) - 1], '\n');
    ck_assert_uint_lt(strlen(body), 4096); /* what C11 promises for a literal */
}
END_TEST

/* ---- on a server ----------------------------------------------------------------------- */

static struct masters *masters;

static void start(void)
{
    masters = masters_start(1, NULL);
}

static void stop(void)
{
    masters_stop(masters);
}

/* EVALSHA's name as the library computes it, and as the server does. */
START_TEST(the_names_are_the_servers)
{
    redlock_node node = REDLOCK_NODE_INIT;
    redlock_config config = REDLOCK_CONFIG_INIT;
    redlock_error error = REDLOCK_ERROR_INIT;
    redlock *client;
    node.url = "unix:///nowhere";
    config.nodes = &node;
    config.node_count = 1;
    ck_assert_msg(redlock_open_config(&config, &error, &client) == 0, "%s", error.text);
    for (int verb = 0; verb < RL_VERBS; verb++) {
        struct reply reply =
            master_do(masters, 0, "SCRIPT", "LOAD", script_of(verb)->body, (char *)NULL);
        ck_assert_int_eq(reply.type, '$');
        ck_assert_str_eq(client->sha[verb], reply.text);
    }
    redlock_close(client);
}
END_TEST

static struct reply run(int verb, const char *token, const char *ttl_ms)
{
    const char *body = script_of(verb)->body;
    if (!token)
        return master_do(masters, 0, "EVAL", body, "1", "k", "nonce", (char *)NULL);
    if (!ttl_ms)
        return master_do(masters, 0, "EVAL", body, "1", "k", "nonce", token, (char *)NULL);
    return master_do(masters, 0, "EVAL", body, "1", "k", "nonce", token, ttl_ms, (char *)NULL);
}

#define TOOK "nonce 1"
#define REFUSED "nonce 0"

static void expect(struct reply reply, const char *text)
{
    ck_assert_int_eq(reply.type, '*');
    ck_assert_str_eq(reply.text, text);
}

/* "nonce 0 TTL HOLDER", the TTL just below `ttl_ms`. */
static void expect_holder(struct reply reply, long ttl_ms, const char *holder)
{
    char nonce[16], who[64];
    int no;
    long left;
    ck_assert_int_eq(reply.type, '*');
    ck_assert_int_eq(sscanf(reply.text, "%15s %d %ld %63s", nonce, &no, &left, who), 4);
    ck_assert_str_eq(nonce, "nonce");
    ck_assert_int_eq(no, 0);
    ck_assert_int_le(left, ttl_ms);
    ck_assert_int_gt(left, ttl_ms - 5000);
    ck_assert_str_eq(who, holder);
}

static long left_ms(void)
{
    return (long)master_do(masters, 0, "PTTL", "k", (char *)NULL).number;
}

static void forget(void)
{
    master_do(masters, 0, "DEL", "k", (char *)NULL);
}

START_TEST(acquire_takes_what_is_free_and_names_who_has_it)
{
    expect(run(RL_ACQUIRE, "me", "60000"), TOOK);
    ck_assert_int_le(left_ms(), 60000);
    ck_assert_int_gt(left_ms(), 55000);
    expect_holder(run(RL_ACQUIRE, "you", "60000"), 60000, "me");
    expect_holder(run(RL_ACQUIRE, "me", "90000"), 60000, "me"); /* its own too: CE14, CE16 */
    master_do(masters, 0, "SET", "k", "them", (char *)NULL);
    expect(run(RL_ACQUIRE, "me", "60000"), "nonce 0 -1 them"); /* for ever */
    forget();
}
END_TEST

START_TEST(extend_is_upwards_only_and_for_its_holder)
{
    expect(run(RL_EXTEND, "me", "60000"), REFUSED); /* nobody's */
    expect(run(RL_ACQUIRE, "me", "60000"), TOOK);
    expect(run(RL_EXTEND, "you", "90000"), REFUSED);
    ck_assert_int_le(left_ms(), 60000);
    expect(run(RL_EXTEND, "me", "90000"), TOOK);
    ck_assert_int_gt(left_ms(), 85000);
    expect(run(RL_EXTEND, "me", "1000"), TOOK);
    ck_assert_int_gt(left_ms(), 85000);
    forget();
}
END_TEST

START_TEST(retake_takes_what_is_free_too)
{
    expect(run(RL_RETAKE, "me", "60000"), TOOK);
    ck_assert_int_gt(left_ms(), 55000);
    expect(run(RL_RETAKE, "me", "90000"), TOOK);
    ck_assert_int_gt(left_ms(), 85000);
    expect(run(RL_RETAKE, "me", "1000"), TOOK);
    ck_assert_int_gt(left_ms(), 85000);
    expect(run(RL_RETAKE, "you", "90000"), REFUSED);
    expect_holder(run(RL_INSPECT, NULL, NULL), 90000, "me");
    forget();
}
END_TEST

/* CE19: only the token's own key is deleted. */
START_TEST(release_deletes_ones_own)
{
    expect(run(RL_RELEASE, "me", NULL), REFUSED);
    expect(run(RL_ACQUIRE, "me", "60000"), TOOK);
    expect(run(RL_RELEASE, "you", NULL), REFUSED);
    expect(run(RL_RELEASE, "m", NULL), REFUSED);
    expect_holder(run(RL_INSPECT, NULL, NULL), 60000, "me");
    expect(run(RL_RELEASE, "me", NULL), TOOK);
    expect(run(RL_RELEASE, "me", NULL), REFUSED);
    ck_assert_int_eq(left_ms(), -2);
}
END_TEST

START_TEST(inspect_looks_and_force_deletes)
{
    expect(run(RL_INSPECT, NULL, NULL), TOOK); /* free */
    expect(run(RL_FORCE, NULL, NULL), REFUSED);
    expect(run(RL_ACQUIRE, "me", "60000"), TOOK);
    expect_holder(run(RL_INSPECT, NULL, NULL), 60000, "me");
    expect(run(RL_FORCE, NULL, NULL), TOOK);
    ck_assert_int_eq(left_ms(), -2);
}
END_TEST

/* Somebody's data under the name is an error for every verb, and stays. */
START_TEST(data_of_another_type_is_left_alone)
{
    const struct rl_script *script = script_of(_i);
    master_do(masters, 0, "RPUSH", "k", "data", (char *)NULL);
    struct reply reply = run(_i, script->with_token ? "me" : NULL,
                             script->with_ttl ? "60000" : NULL);
    ck_assert_int_eq(reply.type, '-');
    ck_assert_ptr_nonnull(strstr(reply.text, "WRONGTYPE"));
    ck_assert_int_eq(master_do(masters, 0, "LLEN", "k", (char *)NULL).number, 1);
    ck_assert_int_eq(left_ms(), -1);
    forget();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("scripts");
    TCase *texts = tcase_create("texts");
    tcase_add_loop_test(texts, the_embedded_text_is_the_files, 0, RL_VERBS);
    tcase_add_loop_test(texts, the_texts_are_ascii_and_end_in_a_newline, 0, RL_VERBS);
    suite_add_tcase(suite, texts);
    TCase *server = tcase_create("server");
    tcase_set_timeout(server, 30);
    tcase_add_unchecked_fixture(server, start, stop);
    tcase_add_test(server, the_names_are_the_servers);
    tcase_add_test(server, acquire_takes_what_is_free_and_names_who_has_it);
    tcase_add_test(server, extend_is_upwards_only_and_for_its_holder);
    tcase_add_test(server, retake_takes_what_is_free_too);
    tcase_add_test(server, release_deletes_ones_own);
    tcase_add_test(server, inspect_looks_and_force_deletes);
    tcase_add_loop_test(server, data_of_another_type_is_left_alone, 0, RL_VERBS);
    suite_add_tcase(suite, server);
    return suite_run(suite);
}
