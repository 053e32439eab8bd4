/* test_sim_sentinel.c - model services: replicas and what they have, Sentinels and what they say.
 * The words are those of redis-server 7.0.15 with --sentinel. */
#include "config_auto.h"

#include "sim_master_rig.h"
#include "sim_sentinel.h"

#include "suite.h"

#include <stdio.h>
#include <string.h>

enum { M, P, P2, S1, S2, S3 }; /* of one service */
#define NONCE "0123456789abcdef"

static struct sim_stated last_stated;
static unsigned n_stated;
static struct sim_conn *conn;

static void keep_stated(const struct sim_stated *stated)
{
    last_stated = *stated;
    n_stated++;
}

static void begin_with(struct sim_masters_options options)
{
    options.stated = keep_stated;
    n_stated = 0;
    sim_begin(1);
    sim_masters_begin(&options);
    for (unsigned i = 0; i < sim_server_count(); i++)
        sim_master_uptime(i, 86400);
}

static void begin(void)
{
    begin_with((struct sim_masters_options){.count = 1, .replicas = 2, .sentinels = 3});
}

static void end(void)
{
    sim_sentinels_rest();
    rig_end();
}

CASE(sentinels, .set_up = begin, .tear_down = end)

/* What a connection of its own is answered. */
static const char *ask_once(unsigned server, const char *a, const char *b, const char *c)
{
    static char text[4096]; /* longer than any */
    struct sim_conn *once = dial(server);
    snprintf(text, sizeof(text), "%s", ask(once, a, b, c, NULL));
    hang_up(once);
    return text;
}

static const char *get(unsigned server, const char *name)
{
    return ask_once(server, "GET", name, NULL);
}

static void set(unsigned server, const char *name, const char *value)
{
    struct sim_conn *once = dial(server);
    ck_assert_str_eq(ask(once, "SET", name, value, "PX", "60000", NULL), "+OK\r\n");
    hang_up(once);
}

static void expect_says(unsigned sentinel, unsigned master, uint64_t term)
{
    unsigned said;
    uint64_t said_term;
    ck_assert(sim_sentinel_says(sentinel, 0, &said, &said_term));
    ck_assert_uint_eq(said, master);
    ck_assert_uint_eq(said_term, term);
}

/* "$5\r\nflags\r\n$6\r\nmaster\r\n" */
static void expect_field(const char *text, const char *name, const char *value)
{
    char field[128];
    snprintf(field, sizeof(field), "$%zu\r\n%s\r\n$%zu\r\n%s\r\n", strlen(name), name,
             strlen(value), value);
    if (!strstr(text, field))
        ck_abort_msg("no %s %s in %s", name, value, text);
}

/* ---- who there is ----------------------------------------------------------------------- */

TEST(sentinels, servers_of_service_are_told_apart)
{
    ck_assert_uint_eq(sim_server_count(), 6);
    ck_assert_uint_eq(sim_master_count(), 1);
    ck_assert_uint_eq(sim_replica_at(0, 1), P2);
    ck_assert_uint_eq(sim_sentinel_at(0, 2), S3);
    ck_assert(sim_is_replica(P) && !sim_is_replica(M) && sim_is_sentinel(S1));
    ck_assert(!sim_is_sentinel(P2));
    ck_assert_uint_eq(sim_service_of(P2), 0);
    ck_assert_uint_eq(sim_service_of(S1), S1);
    ck_assert_uint_eq(sim_service_master(0), M);
}

static void begin_three(void)
{
    begin_with((struct sim_masters_options){
        .count = 3, .replicas = 1, .sentinels = 4, .same_sentinels = true});
}
CASE(services, .set_up = begin_three, .tear_down = end)

TEST(services, sentinels_may_be_the_same_for_all)
{
    ck_assert_uint_eq(sim_server_count(), 10);
    ck_assert_uint_eq(sim_sentinel_at(2, 3), 9);
    ck_assert_uint_eq(sim_service_of(4), 1);
    sim_sentinel_fails_over(6, 1, 4);
    unsigned said;
    uint64_t term;
    ck_assert(sim_sentinel_says(6, 1, &said, &term) && said == 4 && term == 1);
    ck_assert(sim_sentinel_says(6, 2, &said, &term) && said == 2 && term == 0);
    expect_field(ask_once(6, "SENTINEL", "MASTER", "s2"), "ip", "10.0.0.5");
    expect_field(ask_once(6, "SENTINEL", "MASTER", "s3"), "ip", "10.0.0.3");
}

/* ---- replication ------------------------------------------------------------------------ */

TEST(sentinels, replica_refuses_writes_and_says_what_it_is)
{
    ck_assert_ptr_nonnull(strstr(ask_once(P, "SET", "k", "v"), "READONLY"));
    ck_assert_ptr_nonnull(strstr(ask_once(P, "INFO", NULL, NULL), "role:slave\r\n"));
    ck_assert_ptr_nonnull(strstr(ask_once(M, "INFO", NULL, NULL),
                                 "role:master\r\nconnected_slaves:2\r\n"));
}

TEST(sentinels, promoted_replica_lacks_the_last_writes)
{
    set(M, "old", "1");
    set(M, "both", "1");
    pass(SIM_S);
    set(M, "both", "2");
    set(M, "new", "1");
    pass(5 * SIM_MS);
    sim_replica_promoted(P, 100 * SIM_MS);
    sim_replica_promoted(P2, 0);
    ck_assert_str_eq(get(P, "old"), "$1\r\n1\r\n");
    ck_assert_str_eq(get(P, "both"), "$1\r\n1\r\n");
    ck_assert_str_eq(get(P, "new"), "$-1\r\n");
    ck_assert_str_eq(get(P2, "both"), "$1\r\n2\r\n");
    ck_assert_str_eq(get(P2, "new"), "$1\r\n1\r\n");
    set(P, "k", "v");
    ck_assert_str_eq(get(M, "k"), "$-1\r\n");
    const char *info = ask_once(P, "INFO", NULL, NULL);
    ck_assert_ptr_nonnull(strstr(info, "role:master\r\n"));
    ck_assert_ptr_nonnull(strstr(info, "second_repl_offset:1\r\n"));
}

static void replication_of(unsigned server, char ret_id[41])
{
    const char *info = ask_once(server, "INFO", NULL, NULL);
    const char *id = strstr(info, "master_replid:");
    ck_assert_int_eq(sscanf(id, "master_replid:%40[0-9a-f]", ret_id), 1);
}

TEST(sentinels, replication_ids_are_shared_and_change_at_promotions)
{
    char of_m[41], of_p[41], promoted[41], other[41];
    replication_of(M, of_m);
    replication_of(P, of_p);
    ck_assert_str_eq(of_m, of_p);
    sim_replica_promoted(P, 0);
    sim_replica_promoted(P2, 0);
    replication_of(P, promoted);
    replication_of(P2, other);
    ck_assert(strcmp(promoted, of_m) != 0 && strcmp(promoted, other) != 0);
    sim_replica_promoted(M, 0); /* it is one: nothing changes */
    replication_of(M, other);
    ck_assert_str_eq(other, of_m);
    ck_assert_ptr_nonnull(strstr(ask_once(M, "INFO", NULL, NULL), "second_repl_offset:-1\r\n"));
}

TEST(sentinels, former_master_has_its_own_data_until_it_is_linked)
{
    set(M, "of-m", "1");
    sim_replica_promoted(P, 0);
    set(P, "of-p", "1");
    conn = dial(M);
    ck_assert(sim_replica_follows(M, P, true));
    ck_assert(conn->ended);
    hang_up(conn);
    ck_assert(!sim_replica_follows(M, P, true)); /* it does */
    ck_assert_str_eq(get(M, "of-m"), "$1\r\n1\r\n");
    sim_replica_promoted(M, 0); /* before it had P's */
    ck_assert_str_eq(get(M, "of-p"), "$-1\r\n");
    ck_assert(sim_replica_follows(M, P, true));
    ck_assert(sim_replica_linked(M, true));
    sim_replica_promoted(M, 0);
    ck_assert_str_eq(get(M, "of-p"), "$1\r\n1\r\n");
}

TEST(sentinels, demotion_may_leave_connections_alone)
{
    conn = dial(M);
    sim_replica_promoted(P, 0);
    ck_assert(sim_replica_follows(M, P, false));
    ck_assert(!conn->ended);
    ck_assert_ptr_nonnull(strstr(ask(conn, "SET", "k", "v", NULL), "READONLY"));
    hang_up(conn);
}

TEST(sentinels, paused_former_master_executes_what_it_was_sent)
{
    conn = dial(M);
    sim_master_pause(M, SIM_S);
    send_words(conn, "SET", "k", "v", NULL);
    sim_sentinel_fails_over(S1, 0, P);
    ck_assert(!sim_sentinel_corrects(S1, 0, M)); /* it stands */
    pass(SIM_S + SIM_MS);
    ck_assert_str_eq(heard(conn), "+OK\r\n");
    ck_assert_str_eq(get(P, "k"), "$-1\r\n");
    ck_assert(sim_sentinel_corrects(S1, 0, M));
    ck_assert(conn->ended);
    hang_up(conn);
}

TEST(sentinels, replica_of_dead_master_has_what_that_had)
{
    set(M, "k", "v");
    pass(SIM_S);
    sim_master_kill(M);
    sim_master_start(M, SIM_EMPTY);
    sim_replica_promoted(P, 0);
    ck_assert_str_eq(get(P, "k"), "$1\r\nv\r\n");
    ck_assert_str_eq(get(M, "k"), "$-1\r\n");
}

TEST(sentinels, link_that_is_lost_leaves_it_behind)
{
    set(M, "k", "1");
    sim_replica_lost(P, 0);
    set(M, "k", "2");
    sim_replica_promoted(P, 0);
    ck_assert_str_eq(get(P, "k"), "$1\r\n1\r\n");
}

/* ---- what Sentinels say ----------------------------------------------------------------- */

/* Fields and order as measured, but for the numbers of times. */
TEST(sentinels, answer_is_that_of_redis_7_0)
{
    static const char master[] =
        "*40\r\n$4\r\nname\r\n$2\r\ns1\r\n$2\r\nip\r\n$8\r\n10.0.0.1\r\n$4\r\nport\r\n$4\r\n6379"
        "\r\n$5\r\nrunid\r\n$40\r\n%s\r\n$5\r\nflags\r\n$6\r\nmaster\r\n"
        "$21\r\nlink-pending-commands\r\n$1\r\n0\r\n$13\r\nlink-refcount\r\n$1\r\n1\r\n"
        "$14\r\nlast-ping-sent\r\n$1\r\n0\r\n$18\r\nlast-ok-ping-reply\r\n$3\r\n353\r\n"
        "$15\r\nlast-ping-reply\r\n$3\r\n353\r\n$23\r\ndown-after-milliseconds\r\n$4\r\n2000\r\n"
        "$12\r\ninfo-refresh\r\n$4\r\n2862\r\n$13\r\nrole-reported\r\n$6\r\nmaster\r\n"
        "$18\r\nrole-reported-time\r\n$5\r\n22928\r\n$12\r\nconfig-epoch\r\n$1\r\n0\r\n"
        "$10\r\nnum-slaves\r\n$1\r\n2\r\n$19\r\nnum-other-sentinels\r\n$1\r\n2\r\n"
        "$6\r\nquorum\r\n$1\r\n2\r\n$16\r\nfailover-timeout\r\n$6\r\n180000\r\n"
        "$14\r\nparallel-syncs\r\n$1\r\n1\r\n";
    char run_id[41], text[sizeof(master) + 64];
    const char *info = ask_once(M, "INFO", NULL, NULL);
    ck_assert_int_eq(sscanf(strstr(info, "run_id:"), "run_id:%40[0-9a-f]", run_id), 1);
    snprintf(text, sizeof(text), master, run_id);
    ck_assert_str_eq(ask_once(S1, "SENTINEL", "MASTER", "s1"), text);
    ck_assert_str_eq(ask_once(S1, "sentinel", "get-master-addr-by-name", "s1"),
                     "*2\r\n$8\r\n10.0.0.1\r\n$4\r\n6379\r\n");
    ck_assert_str_eq(ask_once(S1, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", "nope"), "*-1\r\n");
    ck_assert_str_eq(ask_once(S1, "SENTINEL", "MASTER", "nope"),
                     "-ERR No such master with that name\r\n");
    ck_assert_str_eq(ask_once(S1, "SENTINEL", "FOO", NULL),
                     "-ERR unknown subcommand 'FOO'. Try SENTINEL HELP.\r\n");
    ck_assert_str_eq(ask_once(S1, "SENTINEL", "MASTER", NULL),
                     "-ERR wrong number of arguments for 'sentinel|master' command\r\n");
    ck_assert_str_eq(ask_once(S1, "SENTINEL", NULL, NULL),
                     "-ERR wrong number of arguments for 'sentinel' command\r\n");
    ck_assert_str_eq(ask_once(S1, "GET", "x", NULL),
                     "-ERR unknown command 'GET', with args beginning with: 'x' \r\n");
    ck_assert_str_eq(ask_once(S1, "PING", NULL, NULL), "+PONG\r\n");
    ck_assert_str_eq(ask_once(M, "SENTINEL", "MYID", NULL),
                     "-ERR unknown command 'SENTINEL', with args beginning with: 'MYID' \r\n");
}

TEST(sentinels, replicas_are_told_with_their_processes)
{
    const char *text = ask_once(S1, "SENTINEL", "REPLICAS", "s1");
    static const char begins[] = "*2\r\n*42\r\n$4\r\nname\r\n$13\r\n10.0.0.2:6379\r\n";
    ck_assert_int_eq(strncmp(text, begins, strlen(begins)), 0);
    expect_field(text, "flags", "slave");
    expect_field(text, "master-host", "10.0.0.1");
    sim_sentinel_fails_over(S1, 0, P);
    text = ask_once(S1, "SENTINEL", "REPLICAS", "s1");
    expect_field(text, "name", "10.0.0.1:6379");
    expect_field(text, "role-reported", "master");
}

TEST(sentinels, id_stays_and_process_changes)
{
    char id[4096];
    snprintf(id, sizeof(id), "%s", ask_once(S1, "SENTINEL", "MYID", NULL));
    ck_assert_int_eq(strncmp(id, "$40\r\n", 5), 0);
    ck_assert_str_ne(id, ask_once(S2, "SENTINEL", "MYID", NULL));
    const char *info = ask_once(S1, "INFO", "server", NULL);
    ck_assert_ptr_nonnull(strstr(info, "redis_mode:sentinel\r\n"));
    ck_assert_ptr_nonnull(strstr(info, "uptime_in_seconds:86400\r\n"));
    sim_master_kill(S1);
    sim_master_start(S1, SIM_WHOLE);
    ck_assert_str_eq(id, ask_once(S1, "SENTINEL", "MYID", NULL));
    ck_assert_ptr_nonnull(strstr(ask_once(S1, "INFO", "server", NULL), "uptime_in_seconds:0\r\n"));
    ck_assert_ptr_nonnull(strstr(ask_once(S1, "INFO", NULL, NULL), "sentinel_masters:1\r\n"));
}

static void begin_with_password(void)
{
    begin_with((struct sim_masters_options){.count = 1,
                                            .replicas = 1,
                                            .sentinels = 3,
                                            .password = "of-masters",
                                            .sentinel_password = "of-sentinels"});
}
CASE(passwords, .set_up = begin_with_password, .tear_down = end)

TEST(passwords, sentinels_have_their_own)
{
    conn = dial(2);
    ck_assert_str_eq(ask(conn, "SENTINEL", "MASTER", "s1", NULL),
                     "-NOAUTH Authentication required.\r\n");
    ck_assert_ptr_nonnull(strstr(ask(conn, "AUTH", "of-masters", NULL), "WRONGPASS"));
    ck_assert_str_eq(ask(conn, "AUTH", "of-sentinels", NULL), "+OK\r\n");
    expect_field(ask(conn, "SENTINEL", "MASTER", "s1", NULL), "port", "6379");
    hang_up(conn);
}

/* ---- failovers -------------------------------------------------------------------------- */

TEST(sentinels, failover_is_told_as_it_goes_on)
{
    static const char *const states[] = {"wait_start", "select_slave", "send_slaveof_noone",
                                         "wait_promotion"};
    ck_assert(sim_sentinel_begins(S1, 0, P, true));
    ck_assert(!sim_sentinel_begins(S1, 0, P2, true));
    for (unsigned i = 0; i < 4; i++) {
        const char *text = ask_once(S1, "SENTINEL", "MASTER", "s1");
        ck_assert_int_eq(strncmp(text, "*42\r\n", 5), 0);
        expect_field(text, "failover-state", states[i]);
        expect_field(text, "flags", "master,failover_in_progress");
        expect_field(text, "config-epoch", "0");
        expect_field(text, "ip", "10.0.0.1");
        ck_assert(last_stated.told && last_stated.master == M && last_stated.term == 0);
        ck_assert(sim_is_replica(P) == (i < 3));
        ck_assert(sim_sentinel_steps(S1, 0, 0));
    }
    /* As measured: MASTER still has the former address, and the new term. */
    const char *text = ask_once(S1, "SENTINEL", "MASTER", "s1");
    expect_field(text, "failover-state", "reconf_slaves");
    expect_field(text, "config-epoch", "1");
    expect_field(text, "ip", "10.0.0.1");
    ck_assert(last_stated.told && last_stated.master == P && last_stated.term == 1);
    ck_assert_str_eq(ask_once(S1, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", "s1"),
                     "*2\r\n$8\r\n10.0.0.2\r\n$4\r\n6379\r\n");
    expect_says(S2, M, 0);
    ck_assert(sim_sentinel_steps(S1, 0, 0) && sim_sentinel_steps(S1, 0, 0));
    ck_assert(!sim_sentinel_steps(S1, 0, 0));
    text = ask_once(S1, "SENTINEL", "MASTER", "s1");
    expect_field(text, "ip", "10.0.0.2");
    expect_field(text, "runid", ""); /* until its next INFO */
    sim_sentinel_looks(S1, 0);
    ck_assert_ptr_null(strstr(ask_once(S1, "SENTINEL", "MASTER", "s1"), "$5\r\nrunid\r\n$0\r\n"));
    ck_assert_uint_eq(sim_service_master(0), P);
}

TEST(sentinels, failover_is_forced_by_hand)
{
    ck_assert(sim_sentinel_begins(S1, 0, P, false));
    const char *text = ask_once(S1, "SENTINEL", "MASTER", "s1");
    expect_field(text, "flags", "master,failover_in_progress,force_failover");
    expect_field(text, "failover-state", "select_slave");
}

TEST(sentinels, newer_term_is_heard_and_an_equal_one_is_not)
{
    sim_sentinel_fails_over(S1, 0, P);
    conn = dial(S2);
    ask(conn, "SUBSCRIBE", "+switch-master", NULL);
    ck_assert(sim_sentinel_hears(S2, 0, S1));
    ck_assert_ptr_nonnull(strstr(heard(conn), "s1 10.0.0.1 6379 10.0.0.2 6379"));
    hang_up(conn);
    ck_assert(!sim_sentinel_hears(S2, 0, S1));
    expect_says(S2, P, 1);
    expect_says(S3, M, 0);
    ck_assert(!sim_sentinel_hears(S2, 0, S3));
    /* Two by hand in one term. */
    ck_assert(sim_sentinel_begins(S1, 0, P2, false) && sim_sentinel_begins(S2, 0, M, false));
    for (unsigned i = 0; i < 5; i++) {
        sim_sentinel_steps(S1, 0, 0);
        sim_sentinel_steps(S2, 0, 0);
    }
    expect_says(S1, P2, 2);
    expect_says(S2, M, 2);
    ck_assert(!sim_sentinel_hears(S2, 0, S1) && !sim_sentinel_hears(S1, 0, S2));
}

TEST(sentinels, elected_leaders_have_terms_of_their_own)
{
    ck_assert(sim_sentinel_begins(S1, 0, P, true));
    ck_assert(sim_sentinel_begins(S2, 0, P2, true));
    for (unsigned i = 0; i < 6; i++) {
        sim_sentinel_steps(S1, 0, 0);
        sim_sentinel_steps(S2, 0, 0);
    }
    expect_says(S1, P, 1);
    expect_says(S2, P2, 2);
    sim_master_kill(S2);
    sim_master_kill(S3);
    ck_assert(!sim_sentinel_begins(S1, 0, M, true)); /* there is no majority */
    ck_assert(sim_sentinel_begins(S1, 0, M, false));
}

TEST(sentinels, one_that_is_down_or_stands_does_nothing)
{
    sim_sentinel_fails_over(S1, 0, P);
    sim_master_pause(S2, SIM_S);
    sim_master_kill(S3);
    ck_assert(!sim_sentinel_hears(S2, 0, S1) && !sim_sentinel_hears(S3, 0, S1));
    ck_assert(!sim_sentinel_corrects(S2, 0, P2));
    pass(SIM_S);
    ck_assert(sim_sentinel_hears(S2, 0, S1));
}

TEST(sentinels, restarted_one_knows_its_file_or_its_template)
{
    sim_sentinel_fails_over(S1, 0, P);
    sim_sentinels_hear(0);
    sim_master_kill(S2);
    sim_master_start(S2, SIM_WHOLE);
    expect_says(S2, P, 1);
    sim_master_kill(S2);
    sim_master_start(S2, SIM_EMPTY);
    expect_says(S2, M, 0);
    ck_assert(sim_sentinel_up_ns(S2) < SIM_S);
    ck_assert(!sim_sentinel_may_forget(S3)); /* it would be one of a majority */
    sim_master_kill(S3);
    sim_master_start(S3, SIM_EMPTY);
    expect_says(S3, P, 1);
    sim_sentinel_forgets(S3); /* it does all the same */
    sim_master_start(S3, SIM_WHOLE);
    expect_says(S3, M, 0);
    sim_sentinels_hear(0);
    expect_says(S3, P, 1);
}

TEST(sentinels, leader_that_is_restarted_finds_what_it_had_raised)
{
    sim_sentinel_begins(S1, 0, P, true);
    for (unsigned i = 0; i < 3; i++)
        sim_sentinel_steps(S1, 0, 0);
    sim_master_start(S1, SIM_WHOLE);
    expect_says(S1, M, 0); /* P says master, and nobody names it */
    sim_sentinel_begins(S1, 0, P, true);
    for (unsigned i = 0; i < 4; i++)
        sim_sentinel_steps(S1, 0, 0);
    sim_master_start(S1, SIM_WHOLE);
    expect_says(S1, P, 2);
}

TEST(sentinels, others_are_made_replicas_of_whom_it_names)
{
    sim_sentinel_fails_over(S1, 0, P);
    ck_assert(sim_sentinel_corrects(S1, 0, M) && sim_sentinel_corrects(S1, 0, P2));
    ck_assert(!sim_sentinel_corrects(S1, 0, P));
    ck_assert(sim_is_replica(M));
    ck_assert(!sim_sentinel_corrects(S3, 0, P)); /* its master, M, is none */
}

/* ---- by themselves ---------------------------------------------------------------------- */

TEST(sentinels, ticking_ones_settle)
{
    sim_sentinels_tick();
    for (unsigned i = 0; i < 200; i++) {
        unsigned sentinel = S1 + i % 3, to = i % 2 ? P : i % 3 ? P2 : M;
        sim_sentinel_begins(sentinel, 0, to, i % 5);
        pass(100 * SIM_MS);
        if (i % 40 == 39) {
            sim_master_kill(i % 3);
            pass(SIM_S);
            sim_master_start(i % 3, i % 4 ? SIM_WHOLE : SIM_EMPTY);
        }
    }
    sim_sentinels_settle();
    unsigned master = sim_service_master(0), said;
    uint64_t term, first;
    ck_assert(!sim_is_replica(master));
    ck_assert(sim_sentinel_says(S1, 0, &said, &first) && said == master && first > 3);
    for (unsigned i = S2; i <= S3; i++) {
        ck_assert(sim_sentinel_says(i, 0, &said, &term));
        ck_assert(said == master && term == first);
    }
    for (unsigned i = M; i <= P2; i++)
        ck_assert(sim_is_replica(i) == (i != master));
}
