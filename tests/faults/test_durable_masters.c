/* tags: long unsanitized */
/* test_durable_masters.c - `durable on` with real masters that are killed and restarted: those
 * that write each answer to their disk first vote at once, and have their keys; all others wait
 * as ever. So do those whose append-only file has failed, or was being rewritten. */
#include "config_auto.h"

#include "client.h"
#include "kinds/marker.h"
#include "marks.h"
#include "proxy.h"
#include "stall.h"
#include "told.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define SETTINGS "max-ttl 40s\nttl 30s\n"
#define DURABLE "guard marker\ndurable on\n" SETTINGS

static const char *const always[] = {"--appendonly", "yes", "--appendfsync", "always", NULL};
/* It reads its file for so long that clients come meanwhile, and are refused. */
static const char *const slow_start[] = {
    "--appendonly", "yes", "--appendfsync", "always", "--key-load-delay", "10000",
    "--loading-process-events-interval-bytes", "1024", NULL};
static const char *const everysec[] = {"--appendonly", "yes", "--appendfsync", "everysec", NULL};
static const char *const unsynced[] = {
    "--appendonly", "yes", "--appendfsync", "always", "--no-appendfsync-on-rewrite", "yes", NULL};
static const char *const no_file[] = {"--appendonly", "no", "--save", "3600 1", NULL};

static struct masters *masters;
static char text[192];

static void start_marked(unsigned n, const char *const *extra)
{
    masters = masters_start(n, extra);
    masters_mark(masters);
}

static redlock *open_with(const char *settings, unsigned n)
{
    redlock *client = client_open(masters_guarded_file(masters, settings));
    ck_assert(wait_until(client_ready(client) == n, 10000));
    return client;
}

static bool all_stamped(void)
{
    return masters_with(masters, RL_DURABLE_KEY) == masters->n;
}

/* The client's next look. */
static const char *said_of(redlock *client, unsigned node)
{
    client_state(client, node, text);
    return text;
}

static const char *said_of_all(redlock *client)
{
    static char all[3 * 192];
    snprintf(all, sizeof(all), "%s", "");
    for (unsigned i = 0; i < masters->n; i++)
        snprintf(all + strlen(all), sizeof(all) - strlen(all), "%u: %s; ", i, said_of(client, i));
    return all;
}

/* Killed, and started again at once. Who comes then is told that it waits. */
static void expect_wait(unsigned node, const char *settings)
{
    master_restart(masters, node, false);
    redlock *client = client_open(masters_guarded_file(masters, settings));
    ck_assert(wait_until(client_state(client, node, text) == REDLOCK_NODE_GUARDED, 10000));
    ck_assert_msg(strstr(text, "it was restarted") != NULL, "%s", text);
    redlock_close(client);
}

/* Two of three. Whoever has the lock keeps it, and nobody else gets it. */
START_TEST(durable_masters_vote_at_once_and_have_their_keys)
{
    struct told lost = {0};
    redlock_lock *other = NULL;
    char value[1001];
    memset(value, 'x', sizeof(value) - 1);
    value[sizeof(value) - 1] = '\0';
    start_marked(3, _i ? slow_start : always);
    redlock *one = open_with(DURABLE, 3);
    ck_assert(wait_until(all_stamped(), 5000));
    for (unsigned i = 0; _i && i < 100; i++)
        master_do(masters, i % 2, "SET", i < 50 ? "a" : "b", value, NULL);
    redlock_lock *lock = told_take_renewed(one, "name", 30000, &lost);
    int64_t begun = now_ms();
    master_restart(masters, 0, false);
    master_restart(masters, 1, false);
    redlock *two = open_with(DURABLE, 3);
    ck_assert_uint_eq(masters_with(masters, "name"), 3);
    ck_assert_int_eq(client_try(two, "name", 1000, 0, NULL, &other), REDLOCK_EHELD);
    ck_assert_msg(wait_until(client_ready(one) == 3, 10000), "%s", said_of_all(one));
    ck_assert_int_eq(redlock_extend(lock, 30000, NULL), 0);
    ck_assert_int_eq(atomic_load(&lost.calls), 0);
    ck_assert_int_gt(redlock_validity_ms(lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert(client_can_take(two, "name"));
    ck_assert_int_lt(now_ms() - begun, 40000 - 5000); /* nobody has waited for max-ttl */
    redlock_close(two);
    redlock_close(one);
    masters_stop(masters);
}
END_TEST

/* Each process is stamped anew, so that the next restart costs nothing either. */
START_TEST(durable_master_may_be_restarted_again_and_again)
{
    redlock_lock *lock = NULL;
    start_marked(1, always);
    redlock *client = open_with(DURABLE, 1);
    ck_assert_int_eq(client_try(client, "name", 30000, 0, NULL, &lock), 0);
    for (int i = 0; i < 3; i++) {
        char run[64], stamp[64];
        ck_assert(wait_until(
            sscanf(master_do(masters, 0, "GET", RL_DURABLE_KEY, NULL).text, "%63s", stamp) == 1 &&
                sscanf(master_do(masters, 0, "GET", RL_MARKER_KEY, NULL).text, "%63s", run) == 1 &&
                strcmp(run, stamp) == 0 && client_ready(client) == 1,
            10000));
        master_restart(masters, 0, false);
        ck_assert(wait_until(client_ready(client) == 1, 10000));
        ck_assert(master_has(masters, 0, "name"));
        ck_assert_int_eq(redlock_extend(lock, 30000, NULL), 0);
    }
    ck_assert_int_eq(redlock_release(lock), 0);
    redlock_close(client);
    masters_stop(masters);
}
END_TEST

/* ---- that wait ------------------------------------------------------------------------------ */

static const struct {
    const char *const *extra;
    const char *settings, *said;
} others[] = {
    {everysec, DURABLE, "not durable: appendfsync is not always"},
    {unsynced, DURABLE, "not durable: no-appendfsync-on-rewrite is not no"},
    {no_file, DURABLE, "not durable: appendfsync is not always"},
    {always, "guard marker\n" SETTINGS, ""},
};

START_TEST(master_that_is_not_durable_waits)
{
    redlock_lock *lock = NULL;
    start_marked(1, others[_i].extra);
    redlock *client = open_with(others[_i].settings, 1);
    ck_assert_int_eq(client_try(client, "name", 30000, 0, NULL, &lock), 0);
    ck_assert_msg(wait_until(strcmp(said_of(client, 0), others[_i].said) == 0, 5000), "%s", text);
    ck_assert(!master_has(masters, 0, RL_DURABLE_KEY));
    master_do(masters, 0, "SAVE", NULL);
    expect_wait(0, DURABLE);
    redlock_close(client);
    masters_stop(masters);
}
END_TEST

/* A client that does not ask for it does not go by a stamp of others. */
START_TEST(client_without_setting_waits)
{
    start_marked(1, always);
    redlock *client = open_with(DURABLE, 1);
    ck_assert(wait_until(all_stamped(), 5000));
    redlock_close(client);
    expect_wait(0, "guard marker\n" SETTINGS);
    masters_stop(masters);
}
END_TEST

/* Without the right nobody knows. It is said once, and in the status. */
START_TEST(master_that_refuses_config_waits)
{
    start_marked(1, always);
    master_do(masters, 0, "ACL", "SETUSER", "default", "-config", NULL);
    redlock *client = open_with(DURABLE, 1);
    ck_assert_msg(wait_until(strstr(said_of(client, 0), "CONFIG GET was refused"), 5000), "%s",
                  text);
    ck_assert(!master_has(masters, 0, RL_DURABLE_KEY));
    expect_wait(0, DURABLE);
    redlock_close(client);
    masters_stop(masters);
}
END_TEST

static const char *const changes[][3] = {
    {"appendfsync", "everysec", "not durable: appendfsync is not always"},
    {"no-appendfsync-on-rewrite", "yes", "not durable: no-appendfsync-on-rewrite is not no"},
    {"appendonly", "no", "not durable: appendonly is not yes"},
};

/* The stamp is withdrawn by the next look, half of max-ttl later at most. */
START_TEST(stamp_is_withdrawn_when_look_finds_change)
{
    struct told lost = {0};
    start_marked(1, always);
    redlock *client = open_with("guard marker\ndurable on\nmax-ttl 2s\nttl 1s\n", 1);
    ck_assert(wait_until(all_stamped(), 5000));
    redlock_lock *lock = told_take_renewed(client, "name", 1000, &lost);
    int64_t begun = now_ms();
    master_do(masters, 0, "CONFIG", "SET", changes[_i][0], changes[_i][1], NULL);
    ck_assert(wait_until(!all_stamped(), 10000));
    ck_assert_int_le(now_ms() - begun, 1000 + 500);
    ck_assert_msg(wait_until(strcmp(said_of(client, 0), changes[_i][2]) == 0, 5000), "%s", text);
    redlock_release(lock);
    redlock_close(client);
    masters_stop(masters);
}
END_TEST

/* ---- what a stamp does not prove ------------------------------------------------------------ */

static char join_why[32];

static const char *join_by_hand(void)
{
    struct reply reply =
        master_do(masters, 0, "EVAL", rl_marker_join, "3", RL_MARKER_KEY, RL_QUARANTINE_KEY,
                  RL_DURABLE_KEY, "nonce", "0", "20000", NULL);
    ck_assert_msg(sscanf(reply.text, "nonce %*s %31s", join_why) == 1, "%s", reply.text);
    return join_why;
}

static void stamp(void)
{
    redlock *client = open_with(DURABLE, 1);
    ck_assert(wait_until(all_stamped(), 5000));
    redlock_close(client);
}

/* The process in between was looked at by nobody. */
START_TEST(stamp_is_good_for_one_process)
{
    start_marked(1, always);
    stamp();
    master_restart(masters, 0, false);
    ck_assert_str_eq(join_by_hand(), "durable");
    ck_assert_str_eq(join_by_hand(), "durable");
    master_restart(masters, 0, false);
    ck_assert_str_eq(join_by_hand(), "restarted");
    masters_stop(masters);
}
END_TEST

/* It has read an older file, which has the stamp, too; and then it began a new one. */
START_TEST(process_that_did_not_read_append_only_file_waits)
{
    start_marked(1, always);
    stamp();
    ck_assert_str_eq(master_do(masters, 0, "SAVE", NULL).text, "OK");
    masters->extra = no_file;
    master_restart(masters, 0, false);
    ck_assert(master_has(masters, 0, RL_DURABLE_KEY));
    if (_i == 1)
        master_do(masters, 0, "CONFIG", "SET", "appendonly", "yes", NULL);
    if (_i == 1)
        ck_assert(wait_until(strstr(master_do(masters, 0, "INFO", "persistence", NULL).text,
                                    "aof_last_rewrite_time_sec:-1") == NULL,
                             10000));
    ck_assert_str_eq(join_by_hand(), "restarted");
    masters_stop(masters);
}
END_TEST

START_TEST(flushed_and_promoted_masters_wait)
{
    start_marked(1, always);
    stamp();
    master_do(masters, 0, "FLUSHALL", NULL);
    ck_assert_str_eq(join_by_hand(), "missing");
    master_do(masters, 0, "FLUSHALL", NULL);
    master_do(masters, 0, "DEL", RL_QUARANTINE_KEY, NULL);
    masters_stop(masters);
    start_marked(1, always);
    stamp();
    master_restart(masters, 0, false);
    master_do(masters, 0, "REPLICAOF", "127.0.0.1", "1", NULL);
    master_do(masters, 0, "REPLICAOF", "NO", "ONE", NULL);
    ck_assert_str_eq(join_by_hand(), "restarted");
    masters_stop(masters);
}
END_TEST

/* Its end can't be written to a file that is off, and that is read at the next start. Nothing
 * tells: docs/MARKERS.md says so. */
START_TEST(stamp_stays_in_file_that_was_switched_off)
{
    start_marked(1, always);
    stamp();
    master_do(masters, 0, "CONFIG", "SET", "appendonly", "no", NULL);
    redlock *client = open_with(DURABLE, 1);
    ck_assert(wait_until(!all_stamped(), 5000));
    redlock_close(client);
    master_restart(masters, 0, false);
    ck_assert_str_eq(join_by_hand(), "durable");
    masters_stop(masters);
}
END_TEST

/* A replica writes its master's stamp to a file of its own. Nor does that tell. */
START_TEST(replica_that_is_restarted_has_its_masters_stamp)
{
    char port[16];
    start_marked(2, always);
    redlock *client = open_with(DURABLE, 2);
    ck_assert(wait_until(all_stamped(), 5000));
    redlock_close(client);
    snprintf(port, sizeof(port), "%d", masters->node[1].tcp_at.port);
    master_do(masters, 1, "CONFIG", "SET", "repl-diskless-sync-delay", "0", NULL);
    master_do(masters, 0, "REPLICAOF", "127.0.0.1", port, NULL);
    ck_assert(wait_until(strstr(master_do(masters, 0, "INFO", "replication", NULL).text,
                                "master_link_status:up") != NULL,
                         20000));
    master_restart(masters, 0, false);
    ck_assert_str_eq(join_by_hand(), "durable");
    masters_stop(masters);
}
END_TEST

/* Another server in the place of the one that a client knows: its marker says that it has all
 * keys of some process. That must have been the one which was known. */
START_TEST(stamp_of_another_master_proves_nothing)
{
    struct node_list list = {.len = 0};
    char marker[256], run[64], former[64];
    start_marked(1, always);
    struct masters *known = masters;
    struct proxy *proxy = proxy_start(&known->node[0].tcp_at, false);
    node_list_line(&list, "guard marker");
    node_list_line(&list, "durable on");
    node_list_line(&list, "max-ttl 40s");
    node_list_add(&list, proxy_endpoint(proxy));
    redlock *client = client_open(node_list_write(&list));
    ck_assert(wait_until(client_ready(client) == 1, 10000));
    sscanf(master_do(known, 0, "GET", RL_MARKER_KEY, NULL).text, "%63s", former);
    pause_ms(1500); /* the other one is not younger than what was heard last of this one */
    start_marked(1, always);
    struct reply reply = master_do(masters, 0, "GET", RL_MARKER_KEY, NULL);
    snprintf(marker, sizeof(marker), "%.*s durable %s", (int)(strlen(reply.text) - 5), reply.text,
             _i == 0 ? "0123456789012345678901234567890123456789" : former);
    ck_assert_int_eq(sscanf(marker, "%63s", run), 1);
    master_do(masters, 0, "SET", RL_MARKER_KEY, marker, NULL);
    proxy_cut(proxy, PROXY_ALL, false);
    proxy_lead(proxy, &masters->node[0].tcp_at);
    int wanted = _i == 0 ? REDLOCK_NODE_GUARDED : REDLOCK_NODE_READY;
    ck_assert(wait_until(strcmp(master_do(masters, 0, "GET", RL_DURABLE_KEY, NULL).text, "") != 0,
                         10000));
    ck_assert_msg(wait_until(client_state(client, 0, text) == wanted, 5000), "%s", text);
    redlock_close(client);
    proxy_stop(proxy);
    masters_stop(known);
    masters_stop(masters);
}
END_TEST

/* ---- a file that fails, or is rewritten ---------------------------------------------------- */

#define LOOKS_OFTEN "guard marker\ndurable on\nmax-ttl 2s\nttl 1s\n"

enum { LIMIT = 32768 };

/* A file that may not grow any more is an error for the master, as a full disk is. By default
 * it would be a signal that ends it. */
static void start_where_files_may_be_full(void)
{
    signal(SIGXFSZ, SIG_IGN);
    start_marked(1, always);
}

/* The largest size of any of its files from now on; those that it starts have it, too. */
static void limit_files(rlim_t size)
{
    struct rlimit limit;
    ck_assert_int_eq(prlimit(masters->node[0].pid, RLIMIT_FSIZE, NULL, &limit), 0);
    limit.rlim_cur = size < limit.rlim_max ? size : limit.rlim_max;
    ck_assert_int_eq(prlimit(masters->node[0].pid, RLIMIT_FSIZE, &limit, NULL), 0);
}

static bool file_says(const char *line)
{
    return strstr(master_do(masters, 0, "INFO", "persistence", NULL).text, line) != NULL;
}

/* "big" is larger than the limit, in every file. */
static struct reply set_big(void)
{
    static char value[2 * LIMIT];
    const char *const words[] = {"SET", "big", value};
    const size_t lens[] = {3, 3, sizeof(value)};
    return master_do_n(masters, 0, 3, words, lens);
}

/* The command that makes "big" of zeros is short: only the rewritten file is too large. */
static void fail_rewrite(void)
{
    char last[16];
    snprintf(last, sizeof(last), "%d", 2 * LIMIT);
    master_do(masters, 0, "CONFIG", "SET", "rdbcompression", "no", NULL);
    master_do(masters, 0, "SETRANGE", "big", last, "x", NULL);
    limit_files(LIMIT);
    master_do(masters, 0, "BGREWRITEAOF", NULL);
    ck_assert(wait_until(file_says("aof_last_bgrewrite_status:err"), 20000));
    ck_assert(file_says("aof_last_write_status:ok"));
}

/* Whoever takes locks looks at the marker every half of max-ttl. */
static bool has_stamp_by_looks(redlock *client)
{
    client_can_take(client, "looking");
    return all_stamped();
}

/* The stamp is withdrawn in the file that is still written to, so the next process waits. */
START_TEST(stamp_is_withdrawn_when_rewrite_has_failed)
{
    const char *said = "not durable: its append-only file could not be written";
    start_where_files_may_be_full();
    redlock *client = open_with(LOOKS_OFTEN, 1);
    ck_assert(wait_until(all_stamped(), 5000));
    fail_rewrite();
    ck_assert_msg(wait_until(!has_stamp_by_looks(client), 10000), "it kept its stamp");
    ck_assert_msg(wait_until(strcmp(said_of(client, 0), said) == 0, 5000), "%s", text);
    redlock_close(client);
    client = open_with(DURABLE, 1); /* which finds no stamp, and sets none */
    ck_assert_msg(wait_until(strcmp(said_of(client, 0), said) == 0, 5000), "%s", text);
    ck_assert(!all_stamped());
    redlock_close(client);
    expect_wait(0, DURABLE);
    ck_assert(master_has(masters, 0, "big"));
    masters_stop(masters);
}
END_TEST

START_TEST(stamp_comes_back_when_rewrite_succeeds)
{
    start_where_files_may_be_full();
    redlock *client = open_with(LOOKS_OFTEN, 1);
    ck_assert(wait_until(all_stamped(), 5000));
    fail_rewrite();
    ck_assert(wait_until(!has_stamp_by_looks(client), 10000));
    limit_files(RLIM_INFINITY);
    master_do(masters, 0, "BGREWRITEAOF", NULL);
    ck_assert(wait_until(has_stamp_by_looks(client), 20000));
    ck_assert(file_says("aof_last_bgrewrite_status:ok"));
    ck_assert_msg(wait_until(strcmp(said_of(client, 0), "") == 0, 5000), "%s", text);
    redlock_close(client);
    master_restart(masters, 0, false);
    ck_assert_str_eq(join_by_hand(), "durable");
    masters_stop(masters);
}
END_TEST

static const char *const under_way[] = {"aof_rewrite_in_progress:1", "aof_rewrite_scheduled:1"};

/* A rewrite that takes two seconds for each key: the marker and the stamp at least. Or one that
 * waits for such a dump. Looks come each second: is the stamp withdrawn before it is over? */
static bool is_withdrawn_in_rewrite(redlock *client, unsigned which)
{
    ck_assert(wait_until(has_stamp_by_looks(client), 60000));
    master_do(masters, 0, "CONFIG", "SET", "rdb-key-save-delay", "2000000", NULL);
    if (which == 1)
        master_do(masters, 0, "BGSAVE", NULL);
    master_do(masters, 0, "BGREWRITEAOF", NULL);
    bool begun = wait_until(file_says(under_way[which]), 10000);
    master_do(masters, 0, "CONFIG", "SET", "rdb-key-save-delay", "0", NULL);
    (void)wait_until(!has_stamp_by_looks(client) || !file_says(under_way[which]), 60000);
    bool withdrawn = !all_stamped();
    return begun && withdrawn && file_says(under_way[which]);
}

/* It may be the first rewrite since the file was switched on. */
START_TEST(stamp_is_withdrawn_while_file_is_rewritten)
{
    const char *said = "not durable now: its append-only file is being rewritten";
    unsigned which = (unsigned)_i;
    start_marked(1, always);
    redlock *client = open_with(LOOKS_OFTEN, 1);
    ck_assert(met_unless_stalled(is_withdrawn_in_rewrite(client, which), 1000, 2));
    ck_assert_msg(wait_until(strcmp(said_of(client, 0), said) == 0, 5000), "%s", text);
    ck_assert_msg(wait_until(has_stamp_by_looks(client), 60000), "%s", said_of(client, 0));
    ck_assert_msg(wait_until(strcmp(said_of(client, 0), "") == 0, 5000), "%s", text);
    redlock_close(client);
    masters_stop(masters);
}
END_TEST

/* With appendfsync always it does not answer what it could not write. So its stamp is right. */
START_TEST(durable_master_that_can_not_write_ends_and_has_its_keys)
{
    start_where_files_may_be_full();
    stamp();
    ck_assert_str_eq(master_do(masters, 0, "SET", "answered", "x", NULL).text, "OK");
    limit_files(LIMIT);
    ck_assert_int_eq(set_big().type, 0);
    master_restart(masters, 0, false);
    ck_assert_str_eq(join_by_hand(), "durable");
    ck_assert(master_has(masters, 0, "answered"));
    ck_assert(!master_has(masters, 0, "big"));
    masters_stop(masters);
}
END_TEST

/* As a client asks that was told of the settings before they were changed. */
static struct reply stamp_by_hand(void)
{
    char run[64];
    ck_assert_int_eq(
        sscanf(master_do(masters, 0, "GET", RL_MARKER_KEY, NULL).text, "%63s", run), 1);
    return master_do(masters, 0, "EVAL", rl_marker_stamp, "2", RL_MARKER_KEY, RL_DURABLE_KEY,
                     "nonce", run, "", NULL);
}

/* With everysec it goes on, and refuses every write: the end of its stamp, too. What it could
 * not write was answered. Nothing tells the next process: docs/MARKERS.md says so. */
START_TEST(stamp_stays_where_nothing_can_be_written)
{
    const char *said = "MISCONF: its last write to the append only file failed";
    start_where_files_may_be_full();
    stamp();
    ck_assert_str_eq(stamp_by_hand().text, "nonce ");
    master_do(masters, 0, "CONFIG", "SET", "appendfsync", "everysec", NULL);
    limit_files(LIMIT);
    ck_assert_str_eq(set_big().text, "OK");
    ck_assert(wait_until(file_says("aof_last_write_status:err"), 20000));
    struct reply reply = stamp_by_hand();
    ck_assert_msg(reply.type == '-' && strstr(reply.text, "MISCONF"), "%s", reply.text);
    redlock *client = open_with(DURABLE, 1);
    ck_assert_msg(wait_until(strstr(said_of(client, 0), said) != NULL, 5000), "%s", text);
    ck_assert(all_stamped());
    redlock_close(client);
    master_restart(masters, 0, false);
    ck_assert(!master_has(masters, 0, "big"));
    ck_assert_str_eq(join_by_hand(), "durable");
    masters_stop(masters);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("durable_masters");
    TCase *tcase = tcase_create("durable");
    tcase_set_timeout(tcase, 90);
    tcase_add_loop_test(tcase, durable_masters_vote_at_once_and_have_their_keys, 0, 2);
    tcase_add_test(tcase, durable_master_may_be_restarted_again_and_again);
    tcase_add_loop_test(tcase, master_that_is_not_durable_waits, 0,
                        (int)(sizeof(others) / sizeof(others[0])));
    tcase_add_test(tcase, client_without_setting_waits);
    tcase_add_test(tcase, master_that_refuses_config_waits);
    tcase_add_loop_test(tcase, stamp_is_withdrawn_when_look_finds_change, 0, 3);
    tcase_add_test(tcase, stamp_is_good_for_one_process);
    tcase_add_loop_test(tcase, process_that_did_not_read_append_only_file_waits, 0, 2);
    tcase_add_test(tcase, flushed_and_promoted_masters_wait);
    tcase_add_test(tcase, stamp_stays_in_file_that_was_switched_off);
    tcase_add_test(tcase, replica_that_is_restarted_has_its_masters_stamp);
    tcase_add_loop_test(tcase, stamp_of_another_master_proves_nothing, 0, 2);
    suite_add_tcase(suite, tcase);
    TCase *file = tcase_create("file");
    tcase_set_timeout(file, 90);
    tcase_add_test(file, stamp_is_withdrawn_when_rewrite_has_failed);
    tcase_add_test(file, stamp_comes_back_when_rewrite_succeeds);
    tcase_add_loop_test(file, stamp_is_withdrawn_while_file_is_rewritten, 0, 2);
    tcase_add_test(file, durable_master_that_can_not_write_ends_and_has_its_keys);
    tcase_add_test(file, stamp_stays_where_nothing_can_be_written);
    suite_add_tcase(suite, file);
    return suite_run(suite);
}
