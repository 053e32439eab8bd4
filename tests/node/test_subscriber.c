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

TEST(sub, message_is_heard_over_unix_socket)
{
    expect_a_life();
}

TEST(sub, message_is_heard_over_tcp)
{
    again_at(&masters->node[0].tcp_at);
    expect_a_life();
}

/* With a look-up, which the wake descriptor ends. */
TEST(sub, message_is_heard_from_server_with_name)
{
    sub_rig_end(&rig);
    sub_rig_node(&rig, &masters->node[0].tcp_at);
    rig.node.host = (char *)"localhost";
    sub_rig_begin(&rig);
    expect_a_life();
}

TEST(sub, message_is_heard_over_tls)
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

TEST(sub, only_our_own_members_wake)
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

TEST(sub, ten_thousand_in_burst_are_all_heard)
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

/* ---- who may -------------------------------------------------------------------------- */

static void set_user(const char *channels, const char *commands)
{
    struct reply reply = master_do(masters, 0, "ACL", "SETUSER", "locks", "reset", "on",
                                   ">s3cr3t", "~*", channels, commands, NULL);
    ck_assert_msg(reply.type == '+', "%s", reply.text);
    rig.node.user = (char *)"locks";
    rig.node.password = (char *)"s3cr3t";
}

TEST(sub, user_with_password_listens)
{
    set_user("&" RL_WAKE_PREFIX "*", "+@all");
    sub_rig_expect_listening(&rig);
    const char *list = master_do(masters, 0, "CLIENT", "LIST", "TYPE", "pubsub", NULL).text;
    ck_assert_msg(strstr(list, " user=locks "), "%s", list);
    expect_heard(SUB_RIG_UUID ":1", 1);
}

TEST(sub, user_needs_nothing_but_channel_and_subscribe)
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

TEST(sub, wrong_password_is_told_and_right_one_is_found)
{
    set_user("&*", "+@all");
    rig.node.password = (char *)"wrong";
    sub_rig_want(&rig);
    ck_assert(sub_rig_until(&rig, rig.sub.retry.failures >= 3));
    ck_assert_int_eq(strncmp(rig.sub.why, "authentication failed: WRONGPASS", 32), 0);
    ck_assert(!rl_sub_pending(&rig.sub));
    ck_assert_uint_eq(rig.warnings, 1); /* and not one an attempt */
    ck_assert(rig.sub.retry.refused);   /* by what a person must mend: ever more seldom */
    ck_assert_uint_ge(rig.sub.retry.seldom.failures, 3);
    rig.node.password = (char *)"s3cr3t";
    ck_assert(sub_rig_until(&rig, rl_sub_listens(&rig.sub)));
}

TEST(sub, server_that_wants_password_is_told_of)
{
    master_do(masters, 0, "CONFIG", "SET", "requirepass", "s3cr3t", NULL);
    masters->password = "s3cr3t";
    sub_rig_want(&rig);
    ck_assert(sub_rig_until(&rig, rig.sub.retry.failures > 0));
    ck_assert_msg(strstr(rig.sub.why, "NOAUTH"), "%s", rig.sub.why);
}

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

TEST(sub, without_right_to_channel_it_is_denied_until_there_is)
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

TEST(sub, without_right_to_subscribe_it_is_denied)
{
    set_user("allchannels", "-@all");
    expect_denied();
}

/* ---- and back ------------------------------------------------------------------------- */

static void kill_subscribers(void)
{
    struct reply reply = master_do(masters, 0, "CLIENT", "KILL", "TYPE", "pubsub", NULL);
    ck_assert_msg(reply.number == 1, "%lld %s", reply.number, reply.text);
}

TEST(sub, killed_connection_is_replaced_at_once)
{
    sub_rig_expect_listening(&rig);
    kill_subscribers();
    ck_assert(sub_rig_until(&rig, rig.went == 1));
    ck_assert_uint_eq(rig.sub.connects, 2); /* in the same turn */
    ck_assert(sub_rig_until(&rig, rig.came == 2));
    expect_heard(SUB_RIG_UUID ":1", 1);
}

TEST(sub, restarted_server_is_found)
{
    sub_rig_expect_listening(&rig);
    master_kill(masters, 0);
    ck_assert(sub_rig_until(&rig, rig.went == 1 && rig.sub.retry.failures >= 3));
    ck_assert(!rl_sub_pending(&rig.sub));
    master_restart(masters, 0, true);
    ck_assert(sub_rig_until(&rig, rig.came == 2));
    expect_heard(SUB_RIG_UUID ":1", 1);
}

TEST(sub, stopped_server_is_found_out_by_ping)
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

TEST(sub, server_that_is_there_answers_ping)
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

TEST(sub, nobody_waits_and_nothing_is_done)
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

TEST(sub, reconnecting_leaves_no_descriptor_behind)
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

CASE(sub, .timeout_s = 30, .set_up = set_up, .tear_down = tear_down)

int main(void)
{
    tls_certs_lax_policy();
    return suite_main();
}
