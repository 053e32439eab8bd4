/* test_cli_assume.c - redlock status asks what a lock rests on and no probe can prove: clocks,
 * memory, connections, hosts; and prints it for Prometheus. */
#include "config_auto.h"

#include "cli_rig.h"
#include "fake.h"
#include "kinds/fencing.h"
#include "masters.h"
#include "redlock/status_facts.h"
#include "stepped.h"
#include "suite.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct masters *masters;

static void start(void)
{
    masters = masters_start(3, NULL);
    setenv("REDLOCK_NODES", masters_file(masters, NULL), 1);
}

/* ---- what two looks at a clock prove ----------------------------------------------------- */

#define MS INT64_C(1000000)

/* The master's clock shows `master_us` when it is read `at_ns` after our own zero. */
static struct status_look look(int64_t asked_ms, int64_t told_ms, int64_t master_us)
{
    return (struct status_look){{master_us, asked_ms * MS, told_ms * MS}, told_ms * MS};
}

TEST(facts, bounds_hold_wherever_clock_was_read_between_request_and_reply)
{
    static const double rates[] = {0, 0.5, 0.99, 1, 1.01, 2};
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        for (int at = 0; at < 4; at++) {
            struct status_clock clock = {.rate.known = false};
            int64_t first_ms = at & 1 ? 0 : 40, last_ms = at & 2 ? 100 : 160;
            struct status_look first =
                look(0, 40, (int64_t)(rates[i] * (double)first_ms * 1e3));
            struct status_look last =
                look(100, 160, (int64_t)(rates[i] * (double)last_ms * 1e3));
            status_clock_judge(&clock, &first, &last);
            ck_assert(clock.rate.known);
            ck_assert(clock.rate.least <= rates[i] + 1e-6);
            ck_assert(clock.rate.most >= rates[i] - 1e-6);
            int64_t offset_us = (int64_t)((rates[i] - 1) * (double)last_ms * 1e3);
            ck_assert(clock.offset_us.least <= (double)offset_us + 1);
            ck_assert(clock.offset_us.most >= (double)offset_us - 1);
        }
    }
}

TEST(facts, quick_answers_give_close_bounds)
{
    struct status_clock clock = {.rate.known = false};
    struct status_look first = look(0, 1, 500), last = look(1001, 1002, 1101 * 1000);
    status_clock_judge(&clock, &first, &last);
    ck_assert(clock.rate.least > 1.09 && clock.rate.most < 1.11);
    ck_assert(clock.offset_us.least >= 98999);
    ck_assert(clock.offset_us.most <= 100001);
}

TEST(facts, looks_at_one_instant_prove_nothing)
{
    struct status_clock clock = {.rate.known = true};
    struct status_look first = look(0, 10, 0), last = look(10, 20, 0);
    status_clock_judge(&clock, &first, &last);
    ck_assert(!clock.rate.known);
}

/* What the library measured beside two looks that say 1 to 3 ms and a rate of 0.9 to 1.1. */
TEST(facts, figures_of_library_make_bounds_closer_and_never_wrong)
{
    static const struct {
        int64_t offset_us, offset_by_us, ppm, ppm_by;
        double offset_least, offset_most, rate_least, rate_most;
    } cases[] = {
        {0, 0, 0, 0, 1000, 3000, 0.9, 1.1}, /* nothing is known */
        {1500, 100, 20000, 10000, 1400, 1600, 1.01, 1.03},
        {500, 1000, -100000, 50000, 1000, 1500, 0.9, 0.95},
        {9000, 100, 500000, 10, 1000, 3000, 0.9, 1.1}, /* it has changed since */
        {0, 90000, 0, 900000, 1000, 3000, 0.9, 1.1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct status_clock clock = {{true, 1000, 3000}, {true, 0.9, 1.1}};
        redlock_node_status node = {.clock_offset_us = cases[i].offset_us,
                                    .clock_offset_bound_us = cases[i].offset_by_us,
                                    .clock_rate_ppm = cases[i].ppm,
                                    .clock_rate_bound_ppm = cases[i].ppm_by};
        status_clock_take(&clock, &node);
        ck_assert_double_eq_tol(clock.offset_us.least, cases[i].offset_least, 1e-6);
        ck_assert_double_eq_tol(clock.offset_us.most, cases[i].offset_most, 1e-6);
        ck_assert_double_eq_tol(clock.rate.least, cases[i].rate_least, 1e-6);
        ck_assert_double_eq_tol(clock.rate.most, cases[i].rate_most, 1e-6);
        clock = (struct status_clock){.rate.known = false};
        status_clock_take(&clock, &node);
        ck_assert_int_eq(clock.offset_us.known, i > 0);
        ck_assert_int_eq(clock.rate.known, i > 0);
    }
}

/* ---- INFO ------------------------------------------------------------------------------- */

TEST(facts, numbers_are_read_and_nothing_else)
{
    static const char text[] = "# Clients\r\nconnected_clients:7\r\nmaxclients:10000\r\n"
                               "evicted_keys:12x\r\nxaof_enabled:1\r\naof_enabled:0";
    struct status_facts facts;
    status_facts_init(&facts);
    status_facts_heard(&facts, text, sizeof(text) - 1);
    ck_assert_int_eq(facts.clients, 7);
    ck_assert_int_eq(facts.clients_max, 10000);
    ck_assert_int_eq(facts.evicted, -1);
    ck_assert_int_eq(facts.aof, 0);
}

/* ---- clocks of real masters ------------------------------------------------------------- */

/* Moves the masters' time of day, as if a second of ours were `rate` of theirs. */
struct mover {
    volatile int64_t *step_ns;
    double rate;
    atomic_bool ends;
    pthread_t thread;
};

static void *move(void *argument)
{
    struct mover *mover = argument;
    int64_t begun_ms = now_ms();
    while (!atomic_load(&mover->ends)) {
        *mover->step_ns = (int64_t)((double)((now_ms() - begun_ms) * MS) * (mover->rate - 1));
        pause_ms(1);
    }
    return NULL;
}

static const struct pace {
    double rate;
    int status;
    const char *result, *reason;
} paces[] = {
    {1.5, CLI_DEGRADED, "fail", "runs ahead"},
    {0, CLI_DEGRADED, "fail", "stands still"},
    {0.7, CLI_FIT, "warn", "lags"},
};
#define PACES (int)(sizeof(paces) / sizeof(paces[0]))

/* One of three masters; the locks of a majority are sound. */
TEST(times, clock_that_runs_otherwise_is_named, .rows = PACES)
{
    const struct pace *pace = &paces[_i];
    struct mover mover = {.rate = pace->rate};
    struct masters *stepped = masters_start_stepped(1, &mover.step_ns);
    struct node_list list = {.len = 0};
    masters = masters_start(2, NULL);
    node_list_line(&list, "guard off");
    node_list_add(&list, &stepped->node[0].unix_at);
    node_list_add(&list, &masters->node[0].unix_at);
    node_list_add(&list, &masters->node[1].unix_at);
    setenv("REDLOCK_NODES", node_list_write(&list), 1);
    ck_assert_int_eq(pthread_create(&mover.thread, NULL, move, &mover), 0);
    struct program *program = cli_expect_status(pace->status);
    cli_expect_check(program, 0, "clock", pace->result, pace->reason, "clock");
    cli_expect_check(program, 1, "clock", "ok", NULL, NULL);
    cli_expect_json(program, "nodes.0.votes", pace->status == CLI_FIT ? "true" : "false");
    atomic_store(&mover.ends, true);
    pthread_join(mover.thread, NULL);
}

/* 0: an hour ahead; 1: behind; 2: a second, which is no matter, 3: but with a small max-ttl. */
TEST(times, time_of_day_that_is_far_off_is_warning, .rows = 4)
{
    static const int64_t offs_s[] = {3600, -3600, 1, 1};
    bool warns = _i != 2;
    volatile int64_t *step_ns;
    struct node_list list = {.len = 0};
    struct masters *right = masters_start(1, NULL);
    masters = masters_start_stepped(3, &step_ns);
    node_list_line(&list, "guard off\n%s", _i == 3 ? "max-ttl 2s\n" : "");
    for (unsigned i = 0; i < 3; i++)
        node_list_add(&list, &masters->node[i].unix_at);
    node_list_add(&list, &right->node[0].unix_at);
    setenv("REDLOCK_NODES", node_list_write(&list), 1);
    *step_ns = offs_s[_i] * 1000 * MS;
    struct program *program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 2, "clock", warns ? "warn" : "ok",
                     _i == 1 ? "behind ours"
                     : warns ? "ahead of ours"
                             : NULL,
                     warns ? "stop that server before" : NULL);
    cli_expect_check(program, 3, "clock", "ok", NULL, NULL);
}

/* Who sets the masters' clocks by it makes them wrong. */
TEST(times, clock_of_this_machine_is_named_where_all_masters_differ, .rows = 2)
{
    static const int64_t offs_s[] = {3600, -3600};
    volatile int64_t *step_ns;
    masters = masters_start_stepped(3, &step_ns);
    setenv("REDLOCK_NODES", masters_file(masters, NULL), 1);
    *step_ns = offs_s[_i] * 1000 * MS;
    struct program *program = cli_expect_status(CLI_FIT);
    for (unsigned i = 0; i < 3; i++)
        cli_expect_check(program, i, "clock", "warn", "ours", "set this machine's clock");
}

/* Each client that comes waits for max-ttl, however long they have run: that is no restart, and
 * no wait for it helps the next one. */
TEST(times, clock_that_is_behind_its_start_is_named_with_its_remedy)
{
    volatile int64_t *step_ns;
    masters = masters_start_stepped(3, &step_ns);
    setenv("REDLOCK_NODES", masters_guarded_file(masters, "max-ttl 1h\n"), 1);
    *step_ns = -86400 * 1000 * MS;
    for (unsigned i = 0; i < 3; i++)
        ck_assert(wait_until(strstr(master_do(masters, i, "INFO", "server", NULL).text,
                                    "uptime_in_seconds:-"),
                             CLI_MOMENT_MS));
    struct program *program = cli_expect_status(CLI_NOT_FIT);
    cli_expect_check(program, 0, "guard", "warn", "tells no uptime", "stop that server");
    ck_assert_ptr_null(strstr(program_out(program), "votes in "));
    ck_assert_ptr_null(strstr(program_out(program), "less than max-ttl ago"));
}

/* Within half of a second: the machine may be busy. */
static void expect_offset(double ms, double offset_s, const char *what)
{
    ck_assert_msg(ms > offset_s * 1000 - 500 && ms < offset_s * 1000 + 500, "%s: %f ms", what,
                  ms);
}

TEST(times, offset_and_rate_are_told)
{
    struct program *program = NULL;
    double value = 0;
    volatile int64_t *step_ns;
    masters = masters_start_stepped(1, &step_ns);
    setenv("REDLOCK_NODES", masters_file(masters, NULL), 1);
    *step_ns = 2 * 1000 * MS;
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "-v"), &program), CLI_FIT);
    const char *line = strstr(program_out(program), "clock: ");
    ck_assert_ptr_nonnull(line);
    ck_assert_int_eq(sscanf(line, "clock: %lf ms to ours, within", &value), 1);
    expect_offset(value, 2, line);
    ck_assert_ptr_nonnull(strstr(line, "clock: gains "));
    program = cli_expect_status(CLI_FIT);
    line = strstr(program_out(program), "\"clock_offset_ms\":");
    ck_assert_ptr_nonnull(line);
    ck_assert_int_eq(sscanf(line, "\"clock_offset_ms\":%lf,", &value), 1);
    expect_offset(value, 2, line);
    ck_assert_ptr_nonnull(strstr(line, "\"clock_offset_bound_ms\":0."));
    ck_assert_ptr_nonnull(strstr(line, "\"clock_rate_bound\":0."));
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "--prometheus"), &program), CLI_FIT);
    line = strstr(program_out(program), "redlock_master_clock_offset_seconds{");
    ck_assert_ptr_nonnull(line);
    ck_assert_int_eq(sscanf(strstr(line, "} "), "} %lf", &value), 1);
    expect_offset(value * 1000, 2, line);
    ck_assert_ptr_nonnull(strstr(line, "redlock_master_clock_offset_bound_seconds{"));
    ck_assert_ptr_nonnull(strstr(line, "redlock_master_clock_rate_bound{"));
}

/* INFO tells the time, too: only the rate is not known. */
TEST(times, offset_is_judged_where_time_may_not_be_asked_for)
{
    volatile int64_t *step_ns;
    masters = masters_start_stepped(1, &step_ns);
    setenv("REDLOCK_NODES", masters_file(masters, NULL), 1);
    (void)master_do(masters, 0, "ACL", "SETUSER", "default", "-time", NULL);
    *step_ns = 3600 * 1000 * MS;
    struct program *program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 0, "clock", "warn", "ahead of ours", "stop that server before");
    ck_assert_ptr_nonnull(strstr(program_out(program), "\"clock_offset_ms\":"));
    ck_assert_ptr_null(strstr(program_out(program), "\"clock_rate\":"));
}

/* ---- what else is a warning -------------------------------------------------------------- */

static void set(unsigned node, const char *what, const char *value)
{
    struct reply reply = master_do(masters, node, "CONFIG", "SET", what, value, NULL);
    ck_assert_msg(reply.type == '+', "%s %s: %s", what, value, reply.text);
}

TEST(masters, keys_that_were_evicted_are_warning)
{
    set(1, "maxmemory-policy", "allkeys-lru");
    (void)master_do(masters, 1, "SET", "theirs", "kept", NULL);
    set(1, "maxmemory", "1");
    (void)master_do(masters, 1, "SET", "theirs", "lost", NULL);
    set(1, "maxmemory", "0");
    set(1, "maxmemory-policy", "noeviction");
    struct program *program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 0, "memory", "ok", NULL, NULL);
    cli_expect_check(program, 1, "memory", "warn", "evicted", "restart it");
    (void)master_do(masters, 1, "CONFIG", "RESETSTAT", NULL);
    program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 1, "memory", "ok", NULL, NULL);
}

TEST(masters, connections_that_run_out_are_warning)
{
    enum { IDLE = 34 }; /* and a few of status and of this test */
    int idle[IDLE];
    set(1, "maxclients", "40");
    for (int i = 0; i < IDLE; i++)
        idle[i] = net_connect(&masters->node[1].unix_at);
    struct program *program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 0, "clients", "ok", NULL, NULL);
    cli_expect_check(program, 1, "clients", "warn", "of 40 connections", "maxclients");
    for (int i = 0; i < IDLE; i++)
        close(idle[i]);
}

/* They are there before the limit is: it holds for all that come. */
TEST(masters, master_whose_connections_are_used_up_is_not_down)
{
    enum { IDLE = 4 };
    int idle[IDLE];
    char limit[8];
    for (int i = 0; i < IDLE; i++)
        idle[i] = net_connect(&masters->node[1].unix_at);
    snprintf(limit, sizeof(limit), "%d", IDLE);
    set(1, "maxclients", limit);
    struct program *program = cli_expect_status(CLI_DEGRADED);
    cli_expect_json(program, "nodes.0.state", "ready");
    cli_expect_json(program, "nodes.1.state", "refused");
    cli_expect_json(program, "nodes.1.votes", "false");
    cli_expect_check(program, 1, "connection", "fail", "max number of clients", "maxclients");
    master_kill(masters, 2);
    program = cli_expect_status(CLI_NOT_FIT);
    cli_expect_json(program, "nodes.1.state", "refused");
    cli_expect_json(program, "nodes.2.state", "down");
    for (int i = 0; i < IDLE; i++)
        close(idle[i]);
}

static void list_with(const char *setting, const char *const urls[2])
{
    struct node_list list = {.len = 0};
    node_list_line(&list, "%s", setting);
    for (unsigned i = 0; i < 3; i++)
        node_list_add(&list, &masters->node[i].unix_at);
    for (unsigned i = 0; urls && i < 2; i++)
        node_list_line(&list, "node %s", urls[i]);
    setenv("REDLOCK_NODES", node_list_write(&list), 1);
}

TEST(masters, masters_of_one_host_are_warning)
{
    static const char *const urls[] = {"redis://nowhere.invalid:7001",
                                       "redis://nowhere.invalid:7002"};
    list_with("guard off", urls);
    struct program *program = cli_expect_status(CLI_DEGRADED);
    cli_expect_check(program, 0, "host", "ok", NULL, NULL);
    cli_expect_check(program, 3, "host", "ok", NULL, NULL);
    cli_expect_check(program, 4, "host", "warn", "same host as node 4", "Changing the list");
}

TEST(masters, master_that_forgets_is_warning_where_nothing_guards)
{
    list_with("guard off", NULL);
    struct program *program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 0, "restart", "warn", "forgets",
                     "by CONFIG SET and with no restart");
    set(0, "appendonly", "yes");
    program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 0, "restart", "warn", "forgets the last locks", "always");
    set(0, "appendfsync", "always");
    program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 0, "restart", "ok", NULL, NULL);
    list_with("max-ttl 500ms", NULL);
    ck_assert(wait_until(program_run(NULL, REDLOCK("status"), NULL) == CLI_FIT, CLI_MOMENT_MS));
    program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 1, "restart", "ok", NULL, NULL);
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "-v"), &program), CLI_FIT);
    ck_assert(program_printed(program, "         disk: appendonly yes\n"));
    ck_assert(program_printed(program, "         disk: appendonly no\n"));
}

/* More than half of the time for an answer goes by. */
TEST(times, time_for_answers_that_is_short_is_warning)
{
    static const struct fake_rule slow = {.match = "PING", .delay_ms = 300};
    struct fake *fakes[3];
    struct program *program = NULL;
    fakes_start(fakes, 3);
    setenv("REDLOCK_NODES", fakes_file(fakes, 3, "node-timeout 500ms\nconnect-timeout 10s\n"),
           1);
    fake_rule(fakes[0], &slow);
    (void)program_run(NULL, REDLOCK("status", "--json"), &program);
    cli_expect_check(program, 0, "latency", "warn", "500ms to answer", "node-timeout");
    cli_expect_check(program, 1, "latency", "ok", NULL, NULL);
}

static const struct untold {
    const char *denied, *check, *told;
} untold[] = {
    {"-time", "clock", "lists"},
    {"-config|get", "restart", "lists"}, /* where it has an append-only file */
};
#define UNTOLD (int)(sizeof(untold) / sizeof(untold[0]))

/* A user of the least rights may not ask for the time: that is no fault of the lock's. */
TEST(masters, what_master_does_not_tell_is_unknown, .rows = UNTOLD)
{
    list_with("guard off", NULL);
    set(0, "appendonly", "yes");
    (void)master_do(masters, 0, "ACL", "SETUSER", "default", untold[_i].denied, NULL);
    struct program *program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 0, untold[_i].check, "unknown", "NOPERM", NULL);
    cli_expect_check(program, 0, untold[_i].told, "ok", NULL, NULL);
}

/* A foreign name, and a Sentinel's. */
TEST(masters, sentinel_that_watches_is_warning)
{
    static const struct {
        const char *name, *result;
    } names[] = {
        {"sentinel-1a2b3c4d-cmdx", "ok"},
        {"sentinel-cmd", "ok"},
        {"sentinel-1a2b3c4d-cmd", "warn"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        bool warns = strcmp(names[i].result, "warn") == 0;
        int fd = master_connect_as(masters, 1, names[i].name, strlen(names[i].name));
        struct program *program = cli_expect_status(CLI_FIT);
        cli_expect_check(program, 0, "failover", "ok", NULL, NULL);
        cli_expect_check(program, 1, "failover", names[i].result,
                         warns ? "Sentinel watches it" : NULL,
                         warns ? "write failover=yes" : NULL);
        close(fd);
    }
}

TEST(masters, sentinel_that_watches_is_no_news_where_line_says_failover)
{
    static const char name[] = "sentinel-1a2b3c4d-cmd";
    struct node_list list = {.len = 0};
    int fd = master_connect_as(masters, 1, name, strlen(name));
    for (unsigned i = 0; i < 3; i++)
        node_list_line(&list, "node unix://%s failover=%s", masters->node[i].unix_at.path,
                       i == 1 ? "yes" : "no");
    node_list_line(&list, "max-ttl 1s");
    setenv("REDLOCK_NODES", node_list_write(&list), 1);
    ck_assert_int_eq(program_run(NULL, REDLOCK("init"), NULL), 0);
    cli_expect_check(cli_expect_status(CLI_FIT), 1, "failover", "ok", NULL, NULL);
    close(fd);
}

static int replicas_of(unsigned node)
{
    static const char field[] = "connected_slaves:";
    const char *at = strstr(master_do(masters, node, "INFO", "replication", NULL).text, field);
    return at ? atoi(at + sizeof(field) - 1) : -1;
}

TEST(masters, replica_that_is_attached_is_warning)
{
    struct masters *replica = masters_start(1, NULL);
    char port[16];
    snprintf(port, sizeof(port), "%d", masters->node[1].tcp_at.port);
    (void)master_do(replica, 0, "REPLICAOF", "127.0.0.1", port, NULL);
    ck_assert(wait_until(replicas_of(1) == 1, CLI_MOMENT_MS));
    struct program *program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 0, "server", "ok", NULL, NULL);
    cli_expect_check(program, 1, "server", "warn", "replicas are attached (1)", NULL);
}

/* ---- certificates for fencing tokens ---------------------------------------------------- */

#define STRICT "guard off\nfencing strict\nmax-ttl 1s"

static void strict_masters(void)
{
    list_with(STRICT, NULL);
    ck_assert_int_eq(program_run(NULL, REDLOCK("init"), NULL), 0);
}

/* The first to look may be the one that certifies it. */
TEST(masters, certified_master_is_told)
{
    struct program *program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 0, "fencing", "none", NULL, NULL); /* `fencing clock` */
    strict_masters();
    (void)master_do(masters, 1, "FLUSHALL", NULL);
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "--wait", "1m"), NULL), CLI_FIT);
    program = cli_expect_status(CLI_FIT);
    for (unsigned i = 0; i < 3; i++)
        cli_expect_check(program, i, "fencing", "ok", NULL, NULL);
}

/* Of three, one that is left certifies none. */
TEST(masters, master_without_certificate_is_warning_until_operator_gives_one)
{
    strict_masters();
    for (unsigned i = 0; i < 2; i++)
        (void)master_do(masters, i, "FLUSHALL", NULL);
    struct program *program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 0, "fencing", "warn", "it was emptied", "--tokens-above");
    cli_expect_check(program, 2, "fencing", "ok", NULL, NULL);
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("init", "--tokens-above", "4000000000000000"), NULL), 0);
    program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 0, "fencing", "ok", NULL, NULL);
}

/* The one that is left has two names: that makes it no majority. */
TEST(masters, server_of_two_names_certifies_as_one)
{
    struct node_list list = {.len = 0};
    strict_masters();
    node_list_line(&list, STRICT);
    node_list_add(&list, &masters->node[0].unix_at);
    node_list_add(&list, &masters->node[0].tcp_at);
    node_list_add(&list, &masters->node[1].unix_at);
    setenv("REDLOCK_NODES", node_list_write(&list), 1);
    (void)master_do(masters, 1, "FLUSHALL", NULL);
    struct program *program = cli_expect_status(CLI_DEGRADED);
    cli_expect_check(program, 0, "fencing", "ok", NULL, NULL);
    cli_expect_check(program, 1, "fencing", "ok", NULL, NULL);
    cli_expect_check(program, 2, "fencing", "warn", "it was emptied", "--tokens-above");
}

/* What comes behind is asked all the same. */
TEST(masters, certificate_that_can_not_be_read_is_warning)
{
    strict_masters();
    (void)master_do(masters, 1, "ACL", "SETUSER", "default", "resetkeys", "~redlock:probe*",
                    "~{redlock:probe*", "~redlock:wake*", NULL);
    struct program *program = cli_expect_status(CLI_DEGRADED); /* `rights` counts it */
    cli_expect_check(program, 0, "fencing", "ok", NULL, NULL);
    cli_expect_check(program, 1, "fencing", "warn", "its certificate can't be read: NOPERM",
                     "permissions");
    cli_expect_check(program, 1, "lists", "ok", NULL, NULL);
}

TEST(masters, certificate_is_looked_at_in_its_own_database)
{
    struct node_list list = {.len = 0};
    node_list_line(&list, STRICT);
    node_list_line(&list, "node redis://127.0.0.1:%d/3", masters->node[0].tcp_at.port);
    setenv("REDLOCK_NODES", node_list_write(&list), 1);
    ck_assert_int_eq(program_run(NULL, REDLOCK("init"), NULL), 0);
    struct program *program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 0, "fencing", "ok", NULL, NULL);
    cli_expect_check(program, 0, "lists", "ok", NULL, NULL);
    ck_assert(!master_has(masters, 0, RL_FENCING_KEY)); /* in database 0 */
}

/* All vote, and for long enough, but two of them give no fencing token. */
TEST(masters, wait_is_over_when_all_are_certified)
{
    struct program *program = NULL;
    strict_masters();
    for (unsigned i = 0; i < 2; i++)
        (void)master_do(masters, i, "FLUSHALL", NULL);
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "--wait", "6s"), &program),
                     CLI_DEGRADED);
    ck_assert_ptr_nonnull(strstr(program_err(program), "2 of the masters are not certified"));
    ck_assert_ptr_nonnull(strstr(program_out(program), "fit: 3 of 3 masters vote"));
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("init", "--tokens-above", "4000000000000000"), NULL), 0);
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "--wait", "1m"), NULL), CLI_FIT);
}

/* ---- Prometheus ------------------------------------------------------------------------- */

static void expect_metric(struct program *program, const char *line)
{
    ck_assert_msg(strstr(program_out(program), line) != NULL, "no '%s' in %s", line,
                  program_out(program));
}

/* Every line is a comment or "name value" or "name{labels} value". */
static void expect_form(const char *text)
{
    char name[64], rest[16];
    double value;
    for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
        const char *close = memchr(text, '}', (size_t)(end - text));
        if (*text == '#')
            continue;
        ck_assert_msg(sscanf(text, "redlock_%63[a-z_]%1[{ ]", name, rest) == 2, "%s", text);
        ck_assert_msg(sscanf(close ? close + 1 : strchr(text, ' '), " %lf", &value) == 1, "%s",
                      text);
    }
    ck_assert_str_eq(text, "");
}

TEST(masters, metrics_tell_what_status_says)
{
    struct program *program = NULL;
    char line[256];
    master_kill(masters, 2);
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "--prometheus"), &program),
                     CLI_DEGRADED);
    expect_form(program_out(program));
    expect_metric(program, "\nredlock_fit 1\n");
    expect_metric(program, "\nredlock_masters 3\n");
    expect_metric(program, "\nredlock_masters_needed 2\n");
    expect_metric(program, "\nredlock_masters_voting 2\n");
    snprintf(line, sizeof(line), "redlock_master_votes{number=\"1\",master=\"unix://%s\"} 1\n",
             masters->node[0].unix_at.path);
    expect_metric(program, line);
    snprintf(line, sizeof(line), "redlock_master_votes{number=\"3\",master=\"unix://%s\"} 0\n",
             masters->node[2].unix_at.path);
    expect_metric(program, line);
    snprintf(line, sizeof(line), "master=\"unix://%s\",check=\"connection\"} 2\n",
             masters->node[2].unix_at.path);
    expect_metric(program, line);
    ck_assert_ptr_null(strstr(program_out(program), "uptime_seconds{number=\"3\""));
    expect_metric(program, "\n# TYPE redlock_client_commands_total counter\n");
    const char *commands = strstr(program_out(program), "\nredlock_client_commands_total ");
    ck_assert_ptr_nonnull(commands);
    ck_assert_int_ge(atoi(strchr(commands, ' ')), 2); /* of two masters at least */
    master_kill(masters, 1);
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "--prometheus"), &program),
                     CLI_NOT_FIT);
    expect_metric(program, "\nredlock_fit 0\n");
}

TEST(masters, metrics_are_one_look_in_their_own_form, .rows = 2)
{
    static const char *const others[] = {"--json", "--watch"};
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "--prometheus", others[_i]), &program),
                     64);
    ck_assert(strstr(program_err(program), "--prometheus goes with neither") != NULL);
}

CASE(masters, .timeout_s = 90, .set_up = start)
CASE(times, .timeout_s = 90)
