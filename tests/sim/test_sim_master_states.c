/* test_sim_master_states.c - states in which redis-server refuses commands, brought about on a
 * real one, and the same troubles of a model master: both must refuse the same commands, in
 * the same words, and do the others alike. */
#include "config_auto.h"

#include "sim_real_pair.h"

#include "core/server_info.h"
#include "kinds/fencing.h"
#include "kinds/kind.h"
#include "kinds/lists.h"
#include "kinds/marker.h"
#include "net.h"
#include "script_text.h"
#include "suite.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define NONCE "0123456789abcdef"
#define WAITER "00000001-aaaa-bbbb-cccc-123456789abc:1"
#define OTHER "00000002-aaaa-bbbb-cccc-123456789abc:7"
#define HOURS "7200000"

static const char *const with_debug[] = {"--enable-debug-command", "yes",
                                         "--enable-protected-configs", "yes", NULL};
static struct masters *masters;
static struct pair_run run;

#define both(...) pair_say(&run, 0, __VA_ARGS__)

static void begin(const char *password)
{
    pair_begin(&run, 1, 2, masters, password);
    if (password)
        return;
    both("FLUSHALL", NULL);
    both("SET", "held", "mine", "PX", "3600000", NULL);
    both("SET", "kept", "redlock:next:" WAITER, "PX", "3600000", NULL);
    both("ZADD", "q", "5", OTHER, NULL);
    both("ZADD", "q2", "5", OTHER, NULL);
    both("SCRIPT", "LOAD", script_body("extend"), NULL);
    pair_compare(&run, 0);
    pair_send_bytes(&run, 1, "SUBSCRIBE redlock:wake:00000002-aaaa-bbbb-cccc-123456789abc\r\n");
    pair_compare(&run, 1);
}

/* Sent at once, so that a state need not last for long. */
static void ask_scripts(void)
{
    both("EVALSHA", script_sha("extend"), "1", "held", NONCE, "mine", HOURS, NULL);
    both("EVAL", script_body("acquire"), "1", "new", NONCE, "t", HOURS, NULL);
    both("EVAL", script_body("acquire"), "1", "held", NONCE, "t", HOURS, NULL);
    both("EVAL", script_body("extend"), "1", "held", NONCE, "mine", "1", NULL);
    both("EVAL", script_body("retake"), "1", "new2", NONCE, "t", HOURS, NULL);
    both("EVAL", script_body("retake"), "1", "held", NONCE, "mine", "9000000", NULL);
    both("EVAL", script_body("wait"), "2", "new3", "nq", NONCE, "t", HOURS, WAITER, "5", HOURS,
         NULL);
    both("EVAL", script_body("wait"), "2", "held", "q", NONCE, "t", HOURS, WAITER, "5", HOURS,
         NULL);
    both("EVAL", script_body("release"), "2", "nobodys", "q2", "t", HOURS, NULL);
    both("EVAL", script_body("leave"), "2", "kept", "q", NONCE, WAITER, HOURS, NULL);
    both("EVAL", script_body("release"), "2", "held", "q", "mine", HOURS, NULL);
}

/* Two names at once; "two" is held, too, where it can be. */
static void ask_several(void)
{
    both("SET", "two", "mine", "PX", "3600000", NULL);
    both("EVAL", script_body("several_extend"), "2", "held", "two", NONCE, "mine", HOURS, NULL);
    both("EVAL", script_body("several_extend"), "2", "held", "two", NONCE, "mine", "1", NULL);
    both("EVAL", script_body("several_acquire"), "2", "new4", "new5", NONCE, "t", HOURS, NULL);
    both("EVAL", script_body("several_acquire"), "2", "new6", "two", NONCE, "t", HOURS, NULL);
    both("EVAL", script_body("several_retake"), "2", "new6", "two", NONCE, "mine", HOURS, NULL);
    both("EVAL", script_body("several_wait"), "4", "new7", "new8", "q3", "q4", NONCE, "t",
         HOURS, WAITER, "5", HOURS, HOURS, NULL);
    both("EVAL", script_body("several_wait"), "4", "kept", "two", "q3", "q4", NONCE, "t", HOURS,
         WAITER, "5", HOURS, HOURS, NULL);
    both("EVAL", script_body("several_wait"), "4", "free", "two", "q2", "q4", NONCE, "t", HOURS,
         WAITER, "5", HOURS, HOURS, NULL);
    both("EVAL", script_body("several_release"), "4", "new7", "two", "q3", "q4", NONCE, "mine",
         HOURS, NULL);
    both("EVAL", script_body("several_leave"), "4", "two", "free2", "q3", "q4", NONCE, WAITER,
         HOURS, NULL);
}

static void ask_commands(void)
{
    both("PING", NULL);
    both("GET", "held", NULL);
    both("SET", "x", "y", NULL);
    both("PTTL", "held", NULL);
    both("ZADD", "zz", "1", "m", NULL);
    both("ZREM", "q", OTHER, NULL);
    both("ZCARD", "q", NULL);
    both("ZRANGE", "q", "0", "-1", NULL);
    both("EXISTS", "held", NULL);
    both("TYPE", "held", NULL);
    both("PEXPIRE", "held", HOURS, NULL);
    both("DEL", "held", NULL);
    both("SELECT", "0", NULL);
    both("CLIENT", "SETNAME", "me", NULL);
    both("SCRIPT", "EXISTS", script_sha("extend"), NULL);
    both("EVALSHA", "ffffffffffffffffffffffffffffffffffffffff", "0", NULL);
    both("EVALSHA", "ffffffffffffffffffffffffffffffffffffffff", "9", NULL);
    both("DBSIZE", NULL);
    both("FOO", NULL);
    both("GET", NULL);
}

/* All of it; what may be said is too much for one batch of the real one's buffers otherwise. */
static void ask_all(void)
{
    ask_several();
    pair_compare(&run, 0);
    ask_scripts();
    pair_compare(&run, 0);
    ask_commands();
    pair_compare(&run, 0);
}

static void real_do(const char *a, const char *b, const char *c, const char *d)
{
    struct reply reply = master_do(masters, 0, a, b, c, d, (char *)NULL);
    ck_assert_msg(reply.type && reply.type != '-', "%s %s: %s", a, b ? b : "", reply.text);
}

/* ---- INFO ------------------------------------------------------------------------------- */

static void real_info(struct rl_info *ret_info)
{
    static char bytes[16384];
    size_t len = 0;
    int fd = net_connect(&masters->node[0].unix_at);
    ck_assert(fd >= 0 && net_send(fd, "INFO\r\n", 6));
    while (len < 2 || memcmp(bytes + len - 2, "\r\n", 2) != 0 || !strstr(bytes, "# Keyspace")) {
        ssize_t got = recv(fd, bytes + len, sizeof(bytes) - 1 - len, 0);
        ck_assert(got > 0);
        len += (size_t)got;
        bytes[len] = '\0';
    }
    close(fd);
    rl_info_parse(bytes, len, ret_info);
}

static void compare_info(void)
{
    struct rl_info model, real;
    const char *text = ask(run.pair[0].model, "INFO", NULL);
    rl_info_parse(text, strlen(text), &model);
    real_info(&real);
    ck_assert_str_eq(model.role, real.role);
    ck_assert_str_eq(model.version, real.version);
    ck_assert_str_eq(model.policy, real.policy);
    ck_assert_uint_eq(strlen(model.run_id), strlen(real.run_id));
    ck_assert_int_eq(model.maxmemory, real.maxmemory);
    ck_assert_int_eq(model.cluster, real.cluster);
    ck_assert_int_eq(model.loading, real.loading);
    ck_assert_uint_eq(strlen(model.replication), strlen(real.replication));
    ck_assert_int_eq(model.second_offset >= 0, real.second_offset >= 0);
    ck_assert_int_eq(model.sentinel, real.sentinel);
    ck_assert_int_eq(model.rdb_failed, real.rdb_failed);
    ck_assert_int_eq(model.aof_failed, real.aof_failed);
    ck_assert_int_eq(model.good_replicas, real.good_replicas);
    ck_assert_int_eq(rl_info_refusal(&model) != NULL, rl_info_refusal(&real) != NULL);
    ck_assert(model.uptime_s >= 0 && real.uptime_s >= 0);
    ck_assert(model.time_us > 0 && real.time_us > 0);
}

/* ---- the states ------------------------------------------------------------------------- */

static void in_state(enum sim_trouble trouble)
{
    sim_master_trouble(0, trouble, 1000000);
    ask_all();
    ck_assert_uint_gt(sim_master_troubled(0), 3);
}

static void out_of_state(void)
{
    sim_master_trouble(0, SIM_NO_TROUBLE, 0);
    ask_all();
    pair_end(&run);
}

TEST(states, without_trouble)
{
    begin(NULL);
    compare_info();
    ask_all();
    ck_assert_uint_eq(sim_master_troubled(0), 0);
    ck_assert_uint_gt(run.tally.messages, 0);
    pair_end(&run);
}

TEST(states, out_of_memory)
{
    begin(NULL);
    real_do("CONFIG", "SET", "maxmemory", "1");
    in_state(SIM_OOM);
    compare_info();
    real_do("CONFIG", "SET", "maxmemory", "0");
    out_of_state();
}

static bool save_failed(void)
{
    return strstr(master_do(masters, 0, "INFO", "persistence", (char *)NULL).text,
                  "rdb_last_bgsave_status:err") != NULL;
}

TEST(states, disk_that_takes_nothing)
{
    char dir[SUITE_PATH_MAX];
    suite_new_dir(dir);
    begin(NULL);
    real_do("CONFIG", "SET", "dir", dir);
    suite_remove_dir(dir);
    real_do("CONFIG", "SET", "save", "3600 1");
    real_do("BGSAVE", NULL, NULL, NULL);
    ck_assert(wait_until(save_failed(), 10000));
    in_state(SIM_MISCONF);
    compare_info();
    real_do("CONFIG", "SET", "stop-writes-on-bgsave-error", "no");
    out_of_state();
}

TEST(states, replica_that_is_read_only)
{
    begin(NULL);
    real_do("REPLICAOF", "127.0.0.1", "1", NULL);
    in_state(SIM_READONLY);
    compare_info();
    real_do("REPLICAOF", "NO", "ONE", NULL);
    out_of_state();
}

TEST(states, replica_without_its_master)
{
    begin(NULL);
    real_do("CONFIG", "SET", "replica-serve-stale-data", "no");
    real_do("REPLICAOF", "127.0.0.1", "1", NULL);
    in_state(SIM_MASTERDOWN);
    compare_info();
    real_do("REPLICAOF", "NO", "ONE", NULL);
    out_of_state();
}

TEST(states, no_right_to_scripts)
{
    begin(NULL);
    real_do("ACL", "SETUSER", "default", "-@scripting");
    in_state(SIM_NOPERM);
    real_do("ACL", "SETUSER", "default", "+@all");
    out_of_state();
}

/* What is left of the answer comes when the state is over. */
static int begin_to_ask(const char *request)
{
    int fd = net_connect(&masters->node[0].unix_at);
    ck_assert(fd >= 0 && net_send(fd, request, strlen(request)));
    return fd;
}

static bool refuses_with(const char *text)
{
    return strncmp(master_do(masters, 0, "GET", "x", (char *)NULL).text, text, strlen(text)) ==
           0;
}

TEST(states, busy_with_script)
{
    begin(NULL);
    real_do("CONFIG", "SET", "lua-time-limit", "1");
    int fd = begin_to_ask("*3\r\n$4\r\nEVAL\r\n$17\r\nwhile true do end\r\n$1\r\n0\r\n");
    ck_assert(wait_until(refuses_with("BUSY"), 10000));
    in_state(SIM_BUSY);
    real_do("SCRIPT", "KILL", NULL, NULL);
    ck_assert(wait_until(!refuses_with("BUSY"), 10000));
    close(fd);
    out_of_state();
}

TEST(states, loading_its_data)
{
    begin(NULL);
    real_do("DEBUG", "POPULATE", "40000", NULL);
    real_do("CONFIG", "SET", "key-load-delay", "200");
    real_do("CONFIG", "SET", "loading-process-events-interval-bytes", "1024");
    int fd = begin_to_ask("DEBUG RELOAD\r\n");
    ck_assert(wait_until(refuses_with("LOADING"), 10000));
    in_state(SIM_LOADING);
    compare_info();
    ck_assert_msg(refuses_with("LOADING"), "it has loaded all before it was asked all");
    close(fd);
    pair_end(&run);
}

/* Nobody has said who he is. */
TEST(states, strangers)
{
    real_do("CONFIG", "SET", "requirepass", "secret");
    begin("secret");
    ask_commands();
    both("AUTH", "wrong", NULL);
    both("AUTH", "default", "wrong", NULL);
    both("AUTH", "nobody", "secret", NULL);
    both("AUTH", "a", "b", "c", NULL);
    both("GET", "held", NULL);
    both("AUTH", "secret", NULL);
    both("GET", "held", NULL);
    pair_compare(&run, 0);
    ask_all();
    pair_send_bytes(&run, 1, "*11\r\n$1\r\n");
    pair_compare_end(&run, 1);
    pair_send_bytes(&run, 1, "*1\r\n$16385\r\n");
    pair_compare_end(&run, 1);
    both("AUTH", "default", "secret", NULL);
    pair_compare(&run, 0);
    pair_end(&run);
}

static void start(void)
{
    masters = masters_start(1, with_debug);
}

/* ---- node lists -------------------------------------------------------------------------- */

#define MARK(n, hash) "n" #n "-ttl30000-keys2-drift10000-guard-" hash

static void both_show(const char *mark)
{
    both("EVAL", rl_lists_join, "1", RL_LISTS_KEY, NONCE, mark, "30000", NULL);
    pair_compare(&run, 0);
}

TEST(states, lists_are_shown_alike)
{
    static const char *const fields[] = {MARK(5, "00000005"), MARK(7, "0000000g"),
                                         "n9-ttl-drift1-guard-00000000", "by hand", ""};
    static const char *const values[] = {"1", "yesterday", "99999999999999", ""};
    begin(NULL);
    for (unsigned i = 0; i < 6; i++) {
        static const char *const marks[] = {MARK(3, "00000003"), MARK(4, "00000004"),
                                            MARK(5, "00000005"), MARK(6, "00000006"),
                                            MARK(7, "00000007"), MARK(8, "00000008")};
        both_show(marks[5 - i]);
    }
    both_show(MARK(3, "00000003"));
    for (unsigned i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        for (unsigned k = 0; k < sizeof(values) / sizeof(values[0]); k++) {
            both("DEL", RL_LISTS_KEY, NULL);
            both("HSET", RL_LISTS_KEY, fields[i], values[k], NULL);
            both_show(MARK(3, "00000003"));
            both_show(MARK(5, "00000005"));
        }
    }
    for (unsigned i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        both("DEL", "redlock:lists", NULL);
        both("HSET", "redlock:lists", fields[i], "1", fields[0], "99999999999999", NULL);
        both_show(MARK(3, "00000003"));
    }
    both("DEL", "redlock:lists", NULL);
    both("SET", "redlock:lists", "x", NULL);
    both_show(MARK(3, "00000003"));
    both("DEL", RL_LISTS_KEY, NULL);
    both("SET", RL_LISTS_KEY, "x", NULL);
    both_show(MARK(3, "00000003"));
    pair_end(&run);
}

/* ---- markers ---------------------------------------------------------------------------- */

static void both_join(const char *db, const char *window_ms)
{
    both("EVAL", rl_marker_join, "2", RL_MARKER_KEY, RL_QUARANTINE_KEY, NONCE, db, window_ms,
         NULL);
    pair_compare(&run, 0);
}

static void both_look(const char *window_ms)
{
    both("EVAL", rl_marker_join, "2", RL_MARKER_KEY, RL_QUARANTINE_KEY, NONCE, "0", window_ms,
         "look", NULL);
    pair_compare(&run, 0);
}

static void both_named(const char *how, const char *term)
{
    both("EVAL", rl_marker_named, "2", RL_MARKER_KEY, RL_QUARANTINE_KEY, NONCE, "0", "20000", how,
         term, NULL);
    pair_compare(&run, 0);
}

/* The field's value in what the real one tells. */
static void told(const char *section, const char *field, char ret_id[64])
{
    struct reply info = master_do(masters, 0, "INFO", section, NULL);
    const char *at = strstr(info.text, field);
    ck_assert_ptr_nonnull(at);
    snprintf(ret_id, 64, "%.40s", at + strlen(field));
}

/* A client that reads the ids takes them for one server. */
static void begin_as_one(char ret_run_id[64], char ret_replication[64])
{
    begin(NULL);
    told("server", "run_id:", ret_run_id);
    told("replication", "master_replid:", ret_replication);
    sim_master_run_id(0, ret_run_id);
    sim_master_replication(0, ret_replication);
}

TEST(states, terms_are_read_alike)
{
    static const char *const hows[] = {"look", "vote", "forgot"};
    static const char *const rests[] = {
        "init @7", "init @6", "init @8", "init @10", "init", "init 7", "init @07", "init @0",
        "init @9223372036854775808", "init @99999999999999999999", "init @7 more", "init @7x",
        "init more @7", "init @", "Init @7"};
    char run_id[64], replication[64], marker[160];
    begin_as_one(run_id, replication);
    both_named("look", "7");
    both_named("vote", "7");
    both_named("vote", "8");
    both_named("vote", "7");
    both_named("forgot", "7");
    for (unsigned i = 0; i < sizeof(rests) / sizeof(rests[0]); i++) {
        for (unsigned how = 0; how < 3; how++) {
            both("DEL", RL_QUARANTINE_KEY, NULL);
            snprintf(marker, sizeof(marker), "%s %s 0 %s", i % 4 == 3 ? "other" : run_id,
                     replication, rests[i]);
            both("SET", RL_MARKER_KEY, marker, NULL);
            both_named(hows[how], "7");
            both_named("vote", "7");
        }
    }
    pair_end(&run);
}

TEST(states, marker_is_read_alike)
{
    static const char *const values[] = {"by hand", "1", "99999999999999", "-5", ""};
    char run_id[64], replication[64];
    begin_as_one(run_id, replication);
    both_look("20000");
    both_join("0", "20000");
    both_look("40000");
    both_join("0", "30000");
    both_join("0", "10000");
    both_join("1", "10000");
    both("DEL", RL_QUARANTINE_KEY, NULL);
    both_join("1", "10000");
    for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        both("SET", RL_QUARANTINE_KEY, values[i], "PX", "5000", NULL);
        both_join("1", "20000");
        both("SET", RL_QUARANTINE_KEY, values[i], NULL);
        both_join("1", "20000");
        both("DEL", RL_QUARANTINE_KEY, NULL);
        both("SET", RL_MARKER_KEY, values[i], NULL);
        both_join("1", "20000");
        both("DEL", RL_QUARANTINE_KEY, NULL);
        both_join("1", "20000");
    }
    both("FLUSHALL", NULL);
    both("SET", RL_QUARANTINE_KEY, "by hand", "PX", "5000", NULL);
    both_join("0", "20000");
    both_look("20000");
    both("FLUSHALL", NULL);
    both("ZADD", RL_MARKER_KEY, "1", "x", NULL);
    both_join("0", "20000");
    pair_end(&run);
}

static void both_take(const char *marker)
{
    char body[4096];
    snprintf(body, sizeof(body), "%s%s", rl_marker_strict,
             script_text(rl_kind(RL_ROW_PLAIN)->script[RL_ACQUIRE].body));
    both("EVAL", body, "1", "jobs", NONCE, "token", "10000", marker, NULL);
    pair_compare(&run, 0);
}

TEST(states, strict_script_looks_alike)
{
    char run_id[64], replication[64], marker[160], other[160];
    begin_as_one(run_id, replication);
    snprintf(marker, sizeof(marker), "%s %s 0 init", run_id, replication);
    both_take(marker);
    both("SET", RL_MARKER_KEY, marker, NULL);
    both_take(marker);
    both_take(marker);
    both_take("");
    both("SET", RL_QUARANTINE_KEY, "1", "PX", "60000", NULL);
    both_take(marker);
    both("DEL", RL_QUARANTINE_KEY, "jobs", NULL);
    snprintf(other, sizeof(other), "%s %s 0 init", run_id, run_id);
    both("SET", RL_MARKER_KEY, other, NULL);
    both_take(other);
    both("DEL", RL_MARKER_KEY, NULL);
    both("ZADD", RL_MARKER_KEY, "1", "x", NULL);
    both_take(marker);
    pair_end(&run);
}

/* ---- certificates ------------------------------------------------------------------------ */

#define LOSS "00000000000000aa"
#define LATER "00000000000000bb"

static void both_certify(const char *nonce, const char *what, const char *loss,
                         const char *number)
{
    both("EVAL", rl_fence_join, "1", RL_FENCING_KEY, nonce, what, loss, number, NULL);
    pair_compare(&run, 0);
}

TEST(states, certificate_is_read_alike)
{
    static const char *const values[] = {"by hand",
                                         "",
                                         "certified 00 1 2 ab cd",
                                         "certified 00 1 2 ab",
                                         "certified 00 1 2  cd",
                                         "Certified 00 1 2 ab cd",
                                         "certified 0g 1 2 ab cd",
                                         "certified 00 1 2 ab cd ",
                                         "certified " LOSS LOSS " 1 2 ab cd",
                                         "certified " LOSS LOSS " 1 2 ab ",
                                         "certified " LOSS LOSS " 1 2 ab",
                                         "certified " LOSS " 1 2 ab cd",
                                         "certified " LOSS LOSS " 1 9007199254740992 ab cd",
                                         "certified " LOSS LOSS " 9007199254740992 1 ab cd",
                                         "certified AA" LOSS "00000000000000 1 2 ab cd",
                                         "averyverylongword " LOSS " 1 2 ab cd",
                                         "missing " LOSS " 1 2 ab cd",
                                         "missing " LOSS LOSS " 1 2 ab cd"};
    char run_id[64], replication[64], text[160];
    begin_as_one(run_id, replication);
    both_certify(LOSS, "look", "", "0");
    both_certify(LOSS, "lose", "", "0");
    both_certify(LATER, "look", "", "0");
    both_certify(LATER, "lose", "", "0");
    both_certify(LATER, "read", LATER, "0");
    both_certify(LATER, "certify", LATER, "5");
    both_certify(LATER, "certify", LOSS, "5");
    both_certify(LATER, "certify", LOSS, "7");
    both_certify(LATER, "read", LOSS, "0");
    both_certify(LOSS, "read", LATER, "0");
    both_certify(LATER, "read", LATER, "0");
    both_certify(LATER, "look", "", "0");
    for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        both("SET", RL_FENCING_KEY, values[i], NULL);
        both_certify(LOSS, "look", "", "0");
        both_certify(LATER, "lose", "", "0");
        both_certify(LATER, "certify", LATER, "5");
    }
    both("DEL", RL_FENCING_KEY, NULL);
    both("ZADD", RL_FENCING_KEY, "1", "x", NULL);
    both_certify(LOSS, "lose", "", "0");
    both("DEL", RL_FENCING_KEY, NULL);
    snprintf(text, sizeof(text), "certified " LOSS LOSS " 5 9 %s other", run_id);
    both("SET", RL_FENCING_KEY, text, NULL);
    both_certify(LATER, "look", "", "0");
    pair_end(&run);
}

/* A grant, and a write-back of a token. */
static void both_grant(const char *id, const char *proposed, const char *told)
{
    const struct rl_kind *kind = rl_kind(RL_ROW_PLAIN);
    both("EVAL", script_text(kind->script[RL_ACQUIRE].fenced_body), "2", "name",
         "{name}:redlock:fence", NONCE, "token", "20000", "1", proposed,
         "9000000000000000", "90000", RL_FENCING_KEY, id, NULL);
    pair_compare(&run, 0);
    both("EVAL", script_text(kind->script[RL_EXTEND].fenced_body), "2", "name",
         "{name}:redlock:fence", NONCE, "token", "20000", "1", told, "1000", "1",
         "90000", RL_FENCING_KEY, id, NULL);
    pair_compare(&run, 0);
    both("GET", "{name}:redlock:fence", NULL);
    pair_compare(&run, 0);
    both_certify(NONCE, "look", "", "0");
}

TEST(states, certificate_is_shown_alike)
{
    static const char *const counters[] = {NULL,
                                           "2000000000000005",
                                           "5000000000000005",
                                           "4503599627370496",
                                           "9007199254740990",
                                           "9007199254740991"};
    static const char *const greatest[] = {"4000000000000009", "9007199254740990",
                                           "9007199254740991"};
    char run_id[64], replication[64], text[160];
    begin_as_one(run_id, replication);
    both_grant(LOSS LOSS, "3000000000000001", "3000000000000002");
    enum { COUNTERS = sizeof(counters) / sizeof(counters[0]) };
    for (unsigned i = 0; i < 3 * COUNTERS; i++) {
        both("FLUSHALL", NULL);
        snprintf(text, sizeof(text), "certified " LOSS LOSS " 3000000000000005 %s %s x",
                 greatest[i / COUNTERS], run_id);
        both("SET", RL_FENCING_KEY, text, NULL);
        if (counters[i % COUNTERS])
            both("SET", "{name}:redlock:fence", counters[i % COUNTERS], NULL);
        both_grant(LOSS LATER, "3000000000000001", "6000000000000001");
        both_grant(LOSS LOSS, "3000000000000001", "3000000000000002");
        both("DEL", "name", NULL);
        both_grant(LOSS LOSS, "6000000000000001", "7000000000000001");
        both("DEL", "name", NULL);
        both_grant(LOSS LOSS, "6000000000000001", "9007199254740991");
    }
    both("DEL", RL_FENCING_KEY, NULL);
    both("ZADD", RL_FENCING_KEY, "1", "x", NULL);
    both("EVAL", script_text(rl_kind(RL_ROW_PLAIN)->script[RL_ACQUIRE].fenced_body), "2",
         "other", "{other}:redlock:fence", NONCE, "token", "20000", "1",
         "3000000000000001", "9000000000000000", "90000", RL_FENCING_KEY, LOSS LOSS, NULL);
    pair_compare(&run, 0);
    pair_end(&run);
}

CASE(states, .timeout_s = 60, .set_up = start)

int main(void)
{
    return pair_main();
}
