/* test_sim_master_durable.c - a model master and a real one that write all to their disks
 * first. They are asked for their settings, stamped, and joined where a stamp stands: both must
 * say the same. */
#include "config_auto.h"

#include "sim_real_pair.h"

#include "kinds/marker.h"
#include "suite.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NONCE "0123456789abcdef"
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const char *const always[] = {"--appendonly",
                                     "yes",
                                     "--appendfsync",
                                     "always",
                                     "--auto-aof-rewrite-percentage",
                                     "0",
                                     "--repl-backlog-ttl",
                                     "0",
                                     NULL};

static struct masters *masters;
static struct pair_run run;
static char run_id[64], replication[64];

static void both(const char *first, ...) __attribute__((sentinel));
static void both(const char *first, ...)
{
    struct pair_words words = {0};
    va_list more;
    pair_word(&words, first);
    va_start(more, first);
    pair_words_add(&words, more);
    va_end(more);
    pair_send(&run, 0, &words);
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

static void be_as_one(void)
{
    told("server", "run_id:", run_id);
    told("replication", "master_replid:", replication);
    sim_master_run_id(0, run_id);
    sim_master_replication(0, replication);
}

static void start(void)
{
    masters = masters_start(1, always);
    pair_begin(&run, 1, 1, masters, NULL);
    sim_master_disk(0, &(struct sim_disk){.appendonly = true});
    be_as_one();
}

static void stop(void)
{
    pair_end(&run);
    masters_stop(masters);
}

/* ---- the settings ----------------------------------------------------------------------- */

static bool shows(const char *text, const char *setting, const char *value)
{
    char pair[64];
    snprintf(pair, sizeof(pair), "%s %s", setting, value);
    return strstr(text, pair) != NULL;
}

/* As the library asks. In which order they are told is nobody's business. */
static void both_show(const char *fsync, const char *unsynced)
{
    char model[256], wanted[2][64];
    snprintf(model, sizeof(model), "%s",
             ask(run.pair[0].model, "CONFIG", "GET", "*appendfsync*", NULL));
    struct reply real = master_do(masters, 0, "CONFIG", "GET", "*appendfsync*", NULL);
    snprintf(wanted[0], sizeof(wanted[0]), "appendfsync\r\n$%zu\r\n%s\r\n", strlen(fsync),
             fsync);
    snprintf(wanted[1], sizeof(wanted[1]), "no-appendfsync-on-rewrite\r\n$%zu\r\n%s\r\n",
             strlen(unsynced), unsynced);
    ck_assert_msg(strncmp(model, "*4\r\n", 4) == 0 && strstr(model, wanted[0]) &&
                      strstr(model, wanted[1]),
                  "%s", model);
    ck_assert_msg(shows(real.text, "appendfsync", fsync) &&
                      shows(real.text, "no-appendfsync-on-rewrite", unsynced),
                  "%s", real.text);
}

START_TEST(settings_are_told_alike)
{
    static const char *const names[] = {"appendonly", "appendfsync",
                                        "no-appendfsync-on-rewrite", "nothing"};
    static const char *const values[] = {"x", "", "everysec", "always", "yes", "no"};
    both_show("always", "no");
    for (unsigned i = 0; i < COUNT(names); i++) {
        both("CONFIG", "GET", names[i], NULL);
        for (unsigned k = 0; k < COUNT(values); k++) {
            if (i == 1 && k == 5) /* as every second, for a model */
                continue;
            both("CONFIG", "SET", names[i], values[k], NULL);
            both("CONFIG", "GET", names[i], NULL);
        }
    }
    both("CONFIG", "SET", "appendfsync", "everysec", NULL);
    both("CONFIG", "SET", "no-appendfsync-on-rewrite", "yes", NULL);
    both_show("everysec", "yes");
    both("CONFIG", "SET", "appendfsync", NULL);
    both("CONFIG", "GET", NULL);
    both("CONFIG", "nothing", NULL);
    both("CONFIG", NULL);
}
END_TEST

/* ---- the stamp -------------------------------------------------------------------------- */

static void both_stamp(const char *of, const char *wrong)
{
    both("EVAL", rl_marker_stamp, "2", RL_MARKER_KEY, RL_DURABLE_KEY, NONCE, of, wrong, NULL);
    both("GET", RL_DURABLE_KEY, NULL);
}

/* R: its run id; I: its replication id. */
static void both_mark(const char *text)
{
    char marker[192] = "";
    for (; *text; text++) {
        size_t len = strlen(marker);
        if (*text == 'R' || *text == 'I')
            snprintf(marker + len, sizeof(marker) - len, "%s",
                     *text == 'R' ? run_id : replication);
        else
            snprintf(marker + len, sizeof(marker) - len, "%c", *text);
    }
    both("SET", RL_MARKER_KEY, marker, NULL);
}

START_TEST(stamp_is_set_and_withdrawn_alike)
{
    static const char *const texts[] = {
        "by hand", "R x 0", "R  0 init", "R I x", "R I", "R I 0x", "R I 0 durable former",
        "x I 0 init"};
    both_stamp(run_id, "");
    both_mark("R I 0 init");
    both_stamp(run_id, "");
    both_stamp(run_id, "");
    both_stamp(run_id, "fsync");
    both_stamp(run_id, "");
    both_stamp(replication, "");
    for (unsigned i = 0; i < COUNT(texts); i++) {
        both_mark(texts[i]);
        both_stamp(run_id, "");
        both_stamp(run_id, "denied");
    }
    both_mark("R I 0 init");
    both("DEL", RL_DURABLE_KEY, NULL);
    both("ZADD", RL_DURABLE_KEY, "1", "x", NULL);
    both_stamp(run_id, "");
    both("DEL", RL_MARKER_KEY, NULL);
    both("ZADD", RL_MARKER_KEY, "1", "x", NULL);
    both_stamp(run_id, "");
}
END_TEST

/* ---- any client finds it --------------------------------------------------------------- */

static void both_join(bool durable)
{
    if (durable)
        both("EVAL", rl_marker_join, "3", RL_MARKER_KEY, RL_QUARANTINE_KEY, RL_DURABLE_KEY,
             NONCE, "0", "20000", NULL);
    else
        both("EVAL", rl_marker_join, "2", RL_MARKER_KEY, RL_QUARANTINE_KEY, NONCE, "0", "20000",
             NULL);
}

/* As a process finds it that has followed "former". */
static void both_follow(const char *marker, const char *stamp)
{
    both("FLUSHALL", NULL);
    both("SET", RL_MARKER_KEY, marker, NULL);
    if (stamp)
        both("SET", RL_DURABLE_KEY, stamp, NULL);
    both_join(true);
    both_join(true);
    both_join(false);
    both_stamp(run_id, "");
    both_join(true);
}

static const struct {
    const char *marker, *stamp;
} followed[] = {
    {"former id 0 init", "former id 0"},
    {"former id 0 durable another", "former id 0"},
    {"former  0 init", "former  0"},
    {"former id 0 init", NULL},
    {"former id 0 init", "another id 0"},
    {"former id 0 init", "former id 0 init"},
    {"former id 0 init", "former other 0"},
    {"former id 1 init", "former id 1"},
    {"former id 0 ", "former id 0"},
    {"former id 0 init one two", "former id 0"},
};

START_TEST(process_that_followed_is_read_alike)
{
    char own[192];
    for (unsigned i = 0; i < COUNT(followed); i++)
        both_follow(followed[i].marker, followed[i].stamp);
    snprintf(own, sizeof(own), "%s %s 0 durable former", run_id, replication);
    both_follow(own, NULL);
    both_follow(own, "former id 0");
    snprintf(own, sizeof(own), "%s other 0 durable former", run_id);
    both_follow(own, NULL);
    both("SET", RL_QUARANTINE_KEY, "1", "PX", "600000", NULL);
    both("SET", RL_MARKER_KEY, "former id 0 init", NULL);
    both("SET", RL_DURABLE_KEY, "former id 0", NULL);
    both_join(true);
}
END_TEST

static bool real_says(const char *line)
{
    return strstr(master_do(masters, 0, "INFO", "persistence", NULL).text, line) != NULL;
}

/* While it is rewritten, and afterwards. */
START_TEST(file_that_was_switched_on_is_judged_alike)
{
    both("SET", "key", "value", NULL);
    master_do(masters, 0, "CONFIG", "SET", "rdb-key-save-delay", "2000000", NULL);
    both("CONFIG", "SET", "appendonly", "no", NULL);
    both_follow("former id 0 init", "former id 0");
    both("SET", "key", "value", NULL);
    both("CONFIG", "SET", "appendonly", "yes", NULL);
    ck_assert(wait_until(real_says("aof_rewrite_in_progress:1"), 10000));
    sim_master_rewrite(0, true);
    both_follow("former id 0 init", "former id 0");
    ck_assert_msg(real_says("aof_rewrite_in_progress:1"), "it was asked too late");
    master_do(masters, 0, "CONFIG", "SET", "rdb-key-save-delay", "0", NULL);
    ck_assert(wait_until(real_says("aof_rewrite_in_progress:0") &&
                             real_says("aof_rewrite_scheduled:0"),
                         60000));
    sim_master_rewrite(0, false);
    both_follow("former id 0 init", "former id 0");
}
END_TEST

START_TEST(former_replica_is_judged_alike)
{
    master_do(masters, 0, "REPLICAOF", "127.0.0.1", "1", NULL);
    master_do(masters, 0, "REPLICAOF", "NO", "ONE", NULL);
    sim_master_role(0, "slave");
    sim_master_role(0, "master");
    be_as_one();
    both_follow("former id 0 init", "former id 0");
}
END_TEST

int main(void)
{
    if (!masters_are_redis_7_0())
        return 77; /* skipped, to automake */
    Suite *suite = suite_create("sim_master_durable");
    TCase *tcase = tcase_create("durable");
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_test(tcase, settings_are_told_alike);
    tcase_add_test(tcase, stamp_is_set_and_withdrawn_alike);
    tcase_add_test(tcase, process_that_followed_is_read_alike);
    tcase_add_test(tcase, file_that_was_switched_on_is_judged_alike);
    tcase_add_test(tcase, former_replica_is_judged_alike);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
