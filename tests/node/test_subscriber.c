/* tags: threads */
/* test_subscriber.c - a subscriber and real servers: what is heard, who may listen, and how it
 * comes back from everything that ends a connection. */
#include "config_auto.h"

#include "base/clock.h"
#include "net/link_internal.h"
#include "masters.h"
#include "rig.h"
#include "sub_rig.h"
#include "tls_certs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DENIED_NS (RL_DENIED_AGAIN_MS * RL_NS_PER_MS)

static struct masters *masters;
static struct sub_rig rig;

static void set_up(void)
{
    masters = masters_start(1, NULL);
    sub_rig_node(&rig, &masters->node[0].unix_at);
    sub_rig_begin(&rig);
}

static void tear_down(void)
{
    sub_rig_end(&rig);
    masters_stop(masters);
}

static void again_at(const struct endpoint *at)
{
    sub_rig_end(&rig);
    sub_rig_node(&rig, at);
    sub_rig_begin(&rig);
}

/* How many the server knows to be listening there. */
static long long publish(const char *channel, const char *payload)
{
    struct reply reply = master_do(masters, 0, "PUBLISH", channel, payload, NULL);
    ck_assert_msg(reply.type == ':', "%s", reply.text);
    return reply.number;
}

static void expect_heard(const char *payload, uint64_t seq)
{
    unsigned before = rig.woken;
    ck_assert_int_eq(publish(SUB_RIG_CHANNEL, payload), 1);
    ck_assert(sub_rig_until(&rig, rig.woken > before));
    ck_assert_uint_eq(rig.woken, before + 1);
    ck_assert_uint_eq(rig.seq, seq);
}

static void expect_a_life(void)
{
    ck_assert(rl_sub_due_ns(&rig.sub) == INT64_MAX);
    sub_rig_want(&rig);
    ck_assert(rl_sub_pending(&rig.sub));
    sub_rig_expect_listening(&rig);
    ck_assert(!rl_sub_pending(&rig.sub));
    ck_assert_uint_eq(rig.came, 1);
    expect_heard(SUB_RIG_UUID ":42", 42);
    expect_heard(SUB_RIG_UUID ":0", 0);
    expect_heard(SUB_RIG_UUID ":18446744073709551615", UINT64_MAX);
    const char *list = master_do(masters, 0, "CLIENT", "LIST", NULL).text;
    ck_assert_msg(strstr(list, " name=redlock-rig "), "%s", list);
    ck_assert_uint_eq(rig.warnings + rig.went, 0);
    ck_assert_uint_eq(rig.sub.connects, 1);
}

START_TEST(message_is_heard_over_unix_socket)
{
    expect_a_life();
}
END_TEST

START_TEST(message_is_heard_over_tcp)
{
    again_at(&masters->node[0].tcp_at);
    expect_a_life();
}
END_TEST

/* With a look-up, which the wake descriptor ends. */
START_TEST(message_is_heard_from_server_with_name)
{
    sub_rig_end(&rig);
    sub_rig_node(&rig, &masters->node[0].tcp_at);
    rig.node.host = (char *)"localhost";
    sub_rig_begin(&rig);
    expect_a_life();
}
END_TEST

START_TEST(message_is_heard_over_tls)
{
    static char dir[SUITE_PATH_MAX], port[8];
    static char ca[TLS_CERTS_PATH_MAX], crt[TLS_CERTS_PATH_MAX], key[TLS_CERTS_PATH_MAX];
    static const char *const extra[] = {
        "--tls-port",
        port,
        "--tls-cert-file",
        crt,
        "--tls-key-file",
        key,
        "--tls-ca-cert-file",
        ca,
        "--tls-auth-clients",
        "no",
        NULL,
    };
    suite_new_dir(dir);
    tls_certs_make(dir, &(struct tls_cert){.name = "ca", .ca = true});
    tls_certs_make(dir,
                   &(struct tls_cert){.name = "server", .issuer = "ca", .san = "IP:127.0.0.1"});
    tls_certs_path(ca, dir, "ca.crt");
    tls_certs_path(crt, dir, "server.crt");
    tls_certs_path(key, dir, "server.key");
    snprintf(port, sizeof(port), "%d", net_free_port());
    masters_stop(masters);
    masters = masters_start(1, extra);
    sub_rig_end(&rig);
    sub_rig_node(&rig, &masters->node[0].tcp_at);
    rig.node.transport = RL_TLS;
    sscanf(port, "%d", &rig.node.port);
    rig.node.ca_file = ca;
    sub_rig_begin(&rig);
    expect_a_life();
}
END_TEST

START_TEST(only_our_own_members_wake)
{
    static const char *const odd[] = {
        "",
        ":",
        "7",
        SUB_RIG_UUID,
        SUB_RIG_UUID ":",
        SUB_RIG_UUID ":-1",
        SUB_RIG_UUID ":+1",
        SUB_RIG_UUID ": 1",
        SUB_RIG_UUID ":1 ",
        SUB_RIG_UUID ":1\n",
        SUB_RIG_UUID ":1x",
        SUB_RIG_UUID ":0x1",
        SUB_RIG_UUID ":18446744073709551616",
        SUB_RIG_UUID ":99999999999999999999999",
        SUB_RIG_UUID "-1",
        "x" SUB_RIG_UUID ":1",
        "1f0e0d0c-0b0a-4908-8706-050403020100:1",
        "0F0E0D0C-0B0A-4908-8706-050403020100:1",
    };
    unsigned count = sizeof(odd) / sizeof(odd[0]);
    char longest[RL_REPLY_TEXT_MAX + 100];
    memset(longest, '0', sizeof(longest) - 1); /* longer than what is kept of a reply */
    memcpy(longest, SUB_RIG_UUID ":", RL_UUID_LEN + 1);
    longest[sizeof(longest) - 1] = '\0';
    sub_rig_expect_listening(&rig);
    publish(RL_WAKE_PREFIX "1f0e0d0c-0b0a-4908-8706-050403020100", SUB_RIG_UUID ":1");
    publish(RL_WAKE_PREFIX, SUB_RIG_UUID ":1");
    for (unsigned i = 0; i < count; i++)
        publish(SUB_RIG_CHANNEL, odd[i]);
    publish(SUB_RIG_CHANNEL, longest);
    expect_heard(SUB_RIG_UUID ":5", 5);
    ck_assert_uint_eq(rig.debugs, count + 1);
    ck_assert_uint_eq(rig.woken, 1);
    ck_assert_uint_eq(rig.went, 0);
}
END_TEST

START_TEST(ten_thousand_in_burst_are_all_heard)
{
    sub_rig_expect_listening(&rig);
    struct reply reply = master_do(masters, 0, "EVAL",
                                   "for i = 1, 10000 do "
                                   "redis.call('PUBLISH', ARGV[1], ARGV[2] .. ':' .. i) end",
                                   "0", SUB_RIG_CHANNEL, SUB_RIG_UUID, NULL);
    ck_assert_msg(reply.type == '$', "%s", reply.text);
    ck_assert(sub_rig_until(&rig, rig.woken >= 10000));
    ck_assert_uint_eq(rig.woken, 10000);
    ck_assert_uint_eq(rig.sum, 10000 * 10001 / 2);
    ck_assert_uint_eq(rig.seq, 10000);
}
END_TEST

/* ---- who may -------------------------------------------------------------------------- */

static void set_user(const char *channels, const char *commands)
{
    struct reply reply = master_do(masters, 0, "ACL", "SETUSER", "locks", "reset", "on",
                                   ">s3cr3t", "~*", channels, commands, NULL);
    ck_assert_msg(reply.type == '+', "%s", reply.text);
    rig.node.user = (char *)"locks";
    rig.node.password = (char *)"s3cr3t";
}

START_TEST(user_with_password_listens)
{
    set_user("&" RL_WAKE_PREFIX "*", "+@all");
    sub_rig_expect_listening(&rig);
    const char *list = master_do(masters, 0, "CLIENT", "LIST", "TYPE", "pubsub", NULL).text;
    ck_assert_msg(strstr(list, " user=locks "), "%s", list);
    expect_heard(SUB_RIG_UUID ":1", 1);
}
END_TEST

START_TEST(user_needs_nothing_but_channel_and_subscribe)
{
    set_user("&" SUB_RIG_CHANNEL, "+subscribe");
    sub_rig_expect_listening(&rig);
    expect_heard(SUB_RIG_UUID ":1", 1);
    /* Not even PING: to be refused is an answer. */
    rig.sub.connection.heard_ns -= RL_PING_AFTER_MS * RL_NS_PER_MS;
    int64_t before = rig.sub.connection.heard_ns;
    ck_assert(sub_rig_until(&rig, rig.sub.connection.heard_ns > before && !rig.sub.pinged_ns));
    expect_heard(SUB_RIG_UUID ":2", 2);
    ck_assert_uint_eq(rig.went, 0);
}
END_TEST

START_TEST(wrong_password_is_told_and_right_one_is_found)
{
    set_user("&*", "+@all");
    rig.node.password = (char *)"wrong";
    sub_rig_want(&rig);
    ck_assert(sub_rig_until(&rig, rig.sub.retry.failures >= 3));
    ck_assert_int_eq(strncmp(rig.sub.why, "authentication failed: WRONGPASS", 32), 0);
    ck_assert(!rl_sub_pending(&rig.sub));
    ck_assert_uint_eq(rig.warnings, 1); /* and not one an attempt */
    rig.node.password = (char *)"s3cr3t";
    ck_assert(sub_rig_until(&rig, rl_sub_listens(&rig.sub)));
}
END_TEST

START_TEST(server_that_wants_password_is_told_of)
{
    master_do(masters, 0, "CONFIG", "SET", "requirepass", "s3cr3t", NULL);
    masters->password = "s3cr3t";
    sub_rig_want(&rig);
    ck_assert(sub_rig_until(&rig, rig.sub.retry.failures > 0));
    ck_assert_msg(strstr(rig.sub.why, "NOAUTH"), "%s", rig.sub.why);
}
END_TEST

static void expect_denied(void)
{
    sub_rig_want(&rig);
    ck_assert(sub_rig_until(&rig, rig.sub.mode == RL_SUB_DENIED));
    ck_assert(!rl_sub_listens(&rig.sub) && !rl_sub_pending(&rig.sub));
    ck_assert_uint_eq(rig.warnings, 1);
    ck_assert_msg(strstr(rig.warning, "NOPERM") && strstr(rig.warning, RL_WAKE_PREFIX "*"),
                  "%s", rig.warning);
    ck_assert_int_eq(rig.sub.connection.link->fd, -1); /* no descriptor is spent on it */
}

START_TEST(without_right_to_channel_it_is_denied_until_there_is)
{
    set_user("resetchannels", "+@all");
    expect_denied();
    /* Whoever waits anew does not hurry it, */
    uint64_t connects = rig.sub.connects;
    int64_t since_ns = rig.sub.since_ns;
    rl_sub_unwant(&rig.sub);
    ck_assert_int_eq(rl_sub_due_ns(&rig.sub), INT64_MAX);
    rl_sub_want(&rig.sub, since_ns + DENIED_NS - 1);
    rl_sub_tick(&rig.sub, since_ns + DENIED_NS - 1);
    ck_assert_uint_eq(rig.sub.connects, connects);
    ck_assert_int_eq(rl_sub_due_ns(&rig.sub), since_ns + DENIED_NS);
    /* it is asked again in its time, told once, */
    rl_sub_tick(&rig.sub, since_ns + DENIED_NS);
    ck_assert_uint_eq(rig.sub.connects, connects + 1);
    ck_assert(!rl_sub_pending(&rig.sub));
    ck_assert(sub_rig_until(&rig, rig.sub.mode == RL_SUB_DENIED));
    ck_assert_uint_eq(rig.warnings, 1);
    /* and allowed at last. */
    set_user("&" RL_WAKE_PREFIX "*", "+@all");
    rl_sub_tick(&rig.sub, rig.sub.since_ns + DENIED_NS);
    ck_assert(sub_rig_until(&rig, rl_sub_listens(&rig.sub)));
    expect_heard(SUB_RIG_UUID ":1", 1);
    ck_assert(!rig.sub.denied_told);
}
END_TEST

START_TEST(without_right_to_subscribe_it_is_denied)
{
    set_user("allchannels", "-@all");
    expect_denied();
}
END_TEST

/* ---- and back ------------------------------------------------------------------------- */

static void kill_subscribers(void)
{
    struct reply reply = master_do(masters, 0, "CLIENT", "KILL", "TYPE", "pubsub", NULL);
    ck_assert_msg(reply.number == 1, "%lld %s", reply.number, reply.text);
}

START_TEST(killed_connection_is_replaced_at_once)
{
    sub_rig_expect_listening(&rig);
    kill_subscribers();
    ck_assert(sub_rig_until(&rig, rig.went == 1));
    ck_assert_uint_eq(rig.sub.connects, 2); /* in the same turn */
    ck_assert(sub_rig_until(&rig, rig.came == 2));
    expect_heard(SUB_RIG_UUID ":1", 1);
}
END_TEST

START_TEST(restarted_server_is_found)
{
    sub_rig_expect_listening(&rig);
    master_kill(masters, 0);
    ck_assert(sub_rig_until(&rig, rig.went == 1 && rig.sub.retry.failures >= 3));
    ck_assert(!rl_sub_pending(&rig.sub));
    master_restart(masters, 0, true);
    ck_assert(sub_rig_until(&rig, rig.came == 2));
    expect_heard(SUB_RIG_UUID ":1", 1);
}
END_TEST

START_TEST(stopped_server_is_found_out_by_ping)
{
    rig.settings.connect_timeout_ns = RL_NS_PER_S / 5;
    sub_rig_expect_listening(&rig);
    master_pause(masters, 0);
    rig.sub.connection.heard_ns -= RL_PING_AFTER_MS * RL_NS_PER_MS;
    int64_t begun_ns = rl_clock_now_ns();
    ck_assert(sub_rig_until(&rig, rig.went == 1));
    ck_assert_int_ge(rl_clock_now_ns() - begun_ns, rig.settings.stall_limit_ns);
    ck_assert_str_eq(rig.sub.why, "does not answer");
    /* The kernel still lets newcomers in, and nobody talks to them. */
    ck_assert(sub_rig_until(&rig, rig.sub.retry.failures >= 2));
    ck_assert_str_eq(rig.sub.why, "connected, but no answer within connect-timeout");
    master_resume(masters, 0);
    ck_assert(sub_rig_until(&rig, rig.came == 2));
    expect_heard(SUB_RIG_UUID ":1", 1);
}
END_TEST

START_TEST(server_that_is_there_answers_ping)
{
    sub_rig_expect_listening(&rig);
    for (int i = 0; i < 5; i++) {
        rig.sub.connection.heard_ns -= RL_PING_AFTER_MS * RL_NS_PER_MS;
        sub_rig_turn(&rig, 0);
        ck_assert_int_ne(rig.sub.pinged_ns, 0);
        ck_assert(sub_rig_until(&rig, !rig.sub.pinged_ns));
    }
    expect_heard(SUB_RIG_UUID ":1", 1);
    ck_assert_uint_eq(rig.went, 0);
}
END_TEST

START_TEST(nobody_waits_and_nothing_is_done)
{
    sub_rig_expect_listening(&rig);
    rl_sub_unwant(&rig.sub);
    ck_assert_int_eq(rl_sub_due_ns(&rig.sub), INT64_MAX); /* no PING either */
    rl_sub_tick(&rig.sub, rl_clock_now_ns() + 3600 * RL_NS_PER_S);
    ck_assert(rl_sub_listens(&rig.sub)); /* it stays */
    kill_subscribers();
    ck_assert(sub_rig_until(&rig, rig.went == 1)); /* and that is told */
    ck_assert_int_eq(rl_sub_due_ns(&rig.sub), INT64_MAX);
    rl_sub_tick(&rig.sub, rl_clock_now_ns() + 3600 * RL_NS_PER_S);
    ck_assert_int_eq(rig.sub.mode, RL_SUB_DOWN);
    sub_rig_expect_listening(&rig);
    ck_assert_uint_eq(rig.sub.connects, 2);
}
END_TEST

START_TEST(reconnecting_leaves_no_descriptor_behind)
{
    sub_rig_expect_listening(&rig);
    unsigned before = rig_descriptors();
    for (unsigned i = 1; i <= 200; i++) {
        kill_subscribers();
        ck_assert(sub_rig_until(&rig, rig.went == i));
        rl_sub_unwant(&rig.sub); /* so as not to wait for the backoff each time */
        sub_rig_expect_listening(&rig);
    }
    ck_assert_uint_eq(rig_descriptors(), before);
    rl_sub_done(&rig.sub, false);
    ck_assert_uint_eq(rig_descriptors(), before - 1);
}
END_TEST

int main(void)
{
    tls_certs_lax_policy();
    Suite *suite = suite_create("sub");
    TCase *tcase = tcase_create("sub");
    tcase_set_timeout(tcase, 30);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, message_is_heard_over_unix_socket);
    tcase_add_test(tcase, message_is_heard_over_tcp);
    tcase_add_test(tcase, message_is_heard_from_server_with_name);
    tcase_add_test(tcase, message_is_heard_over_tls);
    tcase_add_test(tcase, only_our_own_members_wake);
    tcase_add_test(tcase, ten_thousand_in_burst_are_all_heard);
    tcase_add_test(tcase, user_with_password_listens);
    tcase_add_test(tcase, user_needs_nothing_but_channel_and_subscribe);
    tcase_add_test(tcase, wrong_password_is_told_and_right_one_is_found);
    tcase_add_test(tcase, server_that_wants_password_is_told_of);
    tcase_add_test(tcase, without_right_to_channel_it_is_denied_until_there_is);
    tcase_add_test(tcase, without_right_to_subscribe_it_is_denied);
    tcase_add_test(tcase, killed_connection_is_replaced_at_once);
    tcase_add_test(tcase, restarted_server_is_found);
    tcase_add_test(tcase, stopped_server_is_found_out_by_ping);
    tcase_add_test(tcase, server_that_is_there_answers_ping);
    tcase_add_test(tcase, nobody_waits_and_nothing_is_done);
    tcase_add_test(tcase, reconnecting_leaves_no_descriptor_behind);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
