/* test_sim_master_disk.c - what model masters have of their keys after a restart, by what they
 * have written to their disks; and whether that may be vouched for. */
#include "config_auto.h"

#include "sim_master_one.h"

#include "kinds/marker.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

static const struct sim_disk always = {.appendonly = true};
static const struct sim_disk everysec = {.appendonly = true, .everysec = true};
static const struct sim_disk unsynced = {.appendonly = true, .unsynced = true};
static const struct sim_disk no_file = {.appendonly = false};

static void restart(enum sim_restart how)
{
    sim_master_kill(0);
    pass(10 * SIM_MS);
    sim_master_start(0, how);
    hang_up(conn);
    conn = dial(0);
}

static void own_run_id(char ret_run_id[41])
{
    const char *text = ask(conn, "INFO", NULL);
    const char *at = strstr(text, "run_id:");
    ck_assert_ptr_nonnull(at);
    snprintf(ret_run_id, 41, "%s", at + strlen("run_id:"));
}

/* A client's look, all of it; or without its first request. */
static const char *look(bool asks_config)
{
    char run_id[41];
    own_run_id(run_id);
    if (asks_config)
        ask(conn, "CONFIG", "GET", "*appendfsync*", NULL);
    ask(conn, "EVAL", rl_marker_join, "3", RL_MARKER_KEY, RL_QUARANTINE_KEY, RL_DURABLE_KEY,
        NONCE, "0", "20000", NULL);
    const char *wrong = sim_master_disk_now(0)->everysec ? "fsync" : "";
    return ask(conn, "EVAL", rl_marker_stamp, "2", RL_MARKER_KEY, RL_DURABLE_KEY, NONCE, run_id,
               wrong, NULL);
}

START_TEST(what_is_kept_goes_by_settings)
{
    sim_master_disk(0, &no_file);
    ck_assert(!sim_master_keeps_all(0));
    sim_master_disk(0, &everysec);
    ck_assert(!sim_master_keeps_all(0));
    sim_master_disk(0, &unsynced);
    ck_assert(sim_master_keeps_all(0));
    sim_master_rewrite(0, true);
    ck_assert(!sim_master_keeps_all(0));
    sim_master_disk(0, &always);
    sim_master_rewrite(0, true);
    ck_assert(sim_master_keeps_all(0));
}
END_TEST

START_TEST(process_begins_with_its_configuration_file)
{
    sim_master_disk(0, &always);
    sim_master_config(0, &everysec);
    ck_assert(sim_master_disk_now(0)->everysec);
    sim_master_rewrite(0, true);
    restart(SIM_WHOLE);
    ck_assert(!sim_master_disk_now(0)->everysec);
    ck_assert(strstr(ask(conn, "INFO", NULL), "aof_rewrite_in_progress:0\r\n"));
    ck_assert(strstr(ask(conn, "INFO", NULL), "aof_last_rewrite_time_sec:-1\r\n"));
}
END_TEST

/* Keys end when they would have ended. */
START_TEST(durable_master_has_its_keys_for_as_long)
{
    int64_t left_ns;
    sim_master_disk(0, &always);
    acquire("k", "one", "10000");
    restart(SIM_WHOLE);
    ck_assert_str_eq(sim_master_get(0, "k", &left_ns), "one");
    ck_assert(left_ns > 9900 * SIM_MS && left_ns < 9995 * SIM_MS);
}
END_TEST

/* Nothing of what was done since it was off is in it, however long ago that was. */
START_TEST(file_that_was_switched_off_is_old)
{
    sim_master_disk(0, &always);
    acquire("old", "one", "60000");
    pass(1500 * SIM_MS);
    sim_master_config(0, &no_file);
    ck_assert(sim_master_file_is_old(0));
    for (int i = 0; i < 300; i++) {
        acquire("young", "two", "60000");
        ask_script(conn, "release", "young", "none", NONCE, "two", "0", NULL);
    }
    ask_script(conn, "release", "old", "none", NONCE, "one", "0", NULL);
    acquire("young", "two", "60000");
    pass(5 * SIM_S);
    restart(SIM_LATE);
    ck_assert_str_eq(sim_master_get(0, "old", NULL), "one");
    ck_assert_ptr_null(sim_master_get(0, "young", NULL));
    ck_assert(!sim_master_file_is_old(0));
}
END_TEST

/* ---- looks ------------------------------------------------------------------------------ */

START_TEST(look_vouches_for_durable_master)
{
    sim_master_disk(0, &always);
    ck_assert(!sim_master_vouched(0));
    look(false);
    pass(2 * SIM_S);
    ck_assert(!sim_master_vouched(0)); /* whatever the client told */
    look(true);
    ck_assert(!sim_master_vouched(0)); /* it could be lost */
    pass(2 * SIM_S);
    ck_assert(sim_master_vouched(0));
}
END_TEST

START_TEST(look_doubts_what_has_changed)
{
    sim_master_disk(0, &always);
    look(true);
    pass(2 * SIM_S);
    sim_master_config(0, &everysec);
    pass(2 * SIM_S);
    ck_assert(sim_master_vouched(0)); /* nobody has looked */
    look(true);
    ck_assert(sim_master_vouched(0)); /* that could be lost */
    pass(2 * SIM_S);
    ck_assert(!sim_master_vouched(0));
}
END_TEST

START_TEST(look_is_of_one_process)
{
    sim_master_disk(0, &always);
    look(true);
    pass(2 * SIM_S);
    restart(SIM_WHOLE);
    ck_assert(sim_master_vouched(0));
    ask(conn, "EVAL", rl_marker_join, "3", RL_MARKER_KEY, RL_QUARANTINE_KEY, RL_DURABLE_KEY,
        NONCE, "0", "20000", NULL);
    pass(2 * SIM_S);
    ck_assert(!sim_master_vouched(0));
    look(true);
    pass(2 * SIM_S);
    ck_assert(sim_master_vouched(0));
}
END_TEST

START_TEST(doubt_is_not_in_file_that_is_off)
{
    sim_master_disk(0, &always);
    look(true);
    pass(2 * SIM_S);
    sim_master_config(0, &no_file);
    pass(2 * SIM_S);
    ck_assert(strstr(look(true), "off"));
    pass(2 * SIM_S);
    ck_assert(sim_master_vouched(0));
    sim_master_config(0, &always);
    pass(2 * SIM_S);
    ck_assert(!sim_master_vouched(0));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sim_master_disk");
    TCase *tcase = tcase_create("disk");
    tcase_add_checked_fixture(tcase, one_begin, one_end);
    tcase_add_test(tcase, what_is_kept_goes_by_settings);
    tcase_add_test(tcase, process_begins_with_its_configuration_file);
    tcase_add_test(tcase, durable_master_has_its_keys_for_as_long);
    tcase_add_test(tcase, file_that_was_switched_off_is_old);
    tcase_add_test(tcase, look_vouches_for_durable_master);
    tcase_add_test(tcase, look_doubts_what_has_changed);
    tcase_add_test(tcase, look_is_of_one_process);
    tcase_add_test(tcase, doubt_is_not_in_file_that_is_off);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
