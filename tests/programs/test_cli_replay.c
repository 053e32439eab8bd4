/* tags: long unsanitized */
/* test_cli_replay.c - masters that write all to their disks first, are killed, and read their
 * append-only files as a default user who is off. Some servers then drop what scripts wrote,
 * and keep the rest. A guard lets no second holder in for that; without one, status tells. */
#include "config_auto.h"

#include "cli_rig.h"
#include "client.h"
#include "marks.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMES "max-ttl 3s\nttl 3s\nconnect-timeout 10s\n"

enum { N = 3, KINDS = 6 };

static struct masters *masters;
static char acl_dir[SUITE_PATH_MAX], acl_file[SUITE_PATH_MAX + 8];

/* `rights` are those of the default user, who is off. */
static void start(const char *rights)
{
    static const char *extra[] = {"--appendonly", "yes",       "--appendfsync", "always",
                                  "--aclfile",    acl_file,    NULL};
    suite_new_dir(acl_dir);
    snprintf(acl_file, sizeof(acl_file), "%s/acl", acl_dir);
    FILE *file = fopen(acl_file, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "user default off %s\nuser admin on >secret ~* &* +@all\n", rights);
    ck_assert_int_eq(fclose(file), 0);
    masters = masters_start_as(N, extra, "admin", "secret");
}

static void stop(void)
{
    masters_stop(masters);
    suite_remove_dir(acl_dir);
}

static const char *list_with(const char *settings)
{
    static struct node_list list;
    list.len = 0;
    for (unsigned i = 0; i < N; i++)
        node_list_line(&list, "node unix://admin@%s password-env=TEST_REDLOCK_SECRET",
                       masters->node[i].unix_at.path);
    node_list_line(&list, "%s", settings);
    setenv("TEST_REDLOCK_SECRET", "secret", 1);
    setenv("REDLOCK_NODES", node_list_write(&list), 1);
    return list.path;
}

static void restart_all(void)
{
    for (unsigned i = 0; i < N; i++)
        master_kill(masters, i);
    for (unsigned i = 0; i < N; i++)
        master_restart(masters, i, false);
}

/* ---- every kind of lock ------------------------------------------------------------------ */

static const struct {
    const char *name;
    int kind, then; /* who comes later wants to write where others read */
    bool fenced, several;
} kinds[KINDS] = {
    {"plain", REDLOCK_PLAIN, REDLOCK_PLAIN, false, false},
    {"fenced", REDLOCK_PLAIN, REDLOCK_PLAIN, true, false},
    {"reentrant", REDLOCK_REENTRANT, REDLOCK_REENTRANT, false, false},
    {"read", REDLOCK_READ, REDLOCK_WRITE, false, false},
    {"write", REDLOCK_WRITE, REDLOCK_READ, false, false},
    {"several", REDLOCK_PLAIN, REDLOCK_PLAIN, false, true},
};

static int try(redlock *client, unsigned which, bool later, int64_t wait_ms,
               redlock_lock **ret_lock)
{
    const char *const names[] = {kinds[which].name, "another"};
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.kind = later ? kinds[which].then : kinds[which].kind;
    options.fenced = kinds[which].fenced;
    options.wait_ms = wait_ms;
    if (options.kind != REDLOCK_PLAIN)
        options.owner = later ? "later" : "first";
    return kinds[which].several ? redlock_try_names(client, names, 2, &options, ret_lock)
                                : redlock_try(client, names[0], &options, ret_lock);
}

static void take_all(redlock *client, redlock_lock *locks[KINDS])
{
    for (unsigned i = 0; i < KINDS; i++)
        ck_assert_int_eq(try(client, i, false, 0, &locks[i]), 0);
    for (unsigned i = 0; i < N; i++)
        master_do(masters, i, "EVAL", "for i = 1, 2 do redis.call('SET', KEYS[i], '') end", "2",
                  "by two", "commands", NULL);
}

/* Does this server drop what scripts wrote? Then it must be seen to have done so here. */
static bool has_dropped(void)
{
    struct reply info = master_do(masters, 0, "INFO", "stats", NULL);
    const char *at = strstr(info.text, "unexpected_error_replies:");
    ck_assert_ptr_nonnull(at);
    bool dropped = strtol(strchr(at, ':') + 1, NULL, 10) > 0;
    ck_assert_uint_eq(masters_with(masters, "by two"), dropped ? 0 : N);
    return dropped;
}

static const char *const guards[] = {TIMES, "guard marker\n" TIMES, "guard strict\n" TIMES};

TEST(replay, restart_that_drops_what_scripts_wrote_makes_no_second_holder, .rows = 3)
{
    redlock_lock *locks[KINDS], *other = NULL;
    start("");
    masters_mark(masters);
    const char *path = list_with(guards[_i]);
    redlock *first = client_open(path);
    ck_assert_int_eq(client_try(first, "warm", 1000, 20000, NULL, &other), 0); /* `guard on` waits */
    ck_assert_int_eq(redlock_release(other), 0);
    take_all(first, locks);
    restart_all();
    has_dropped();
    redlock *later = client_open(path);
    for (unsigned i = 0; i < KINDS; i++) {
        int code = try(later, i, true, 0, &other);
        ck_assert_msg(code == REDLOCK_ENOQUORUM || redlock_validity_ms(locks[i]) == 0, "%s: %d",
                      kinds[i].name, code);
    }
    for (unsigned i = 0; i < KINDS; i++) {
        ck_assert_int_eq(try(later, i, true, 20000, &other), 0);
        ck_assert_int_eq(redlock_validity_ms(locks[i]), 0);
    }
    redlock_close(later);
    redlock_close(first);
    stop();
}

/* ---- what status says --------------------------------------------------------------------- */

static void expect_restart(const char *result, const char *reason, const char *remedy)
{
    struct program *program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 1, "restart", result, reason, remedy);
}

TEST(replay, default_user_without_rights_is_warning_where_nothing_guards, .rows = 3)
{
    static const char *const lacking[] = {"", "~names* &* +@all", "~* &* +@read +set"};
    static const char *const words[] = {"may not run SET", "may not run SET",
                                        "may not run HINCRBY"};
    start(lacking[_i]);
    list_with("guard off\n" TIMES);
    expect_restart("warn", words[_i], "ACL SETUSER default off ~* &* +@all");
    stop();
}

TEST(replay, default_user_with_rights_keeps_what_scripts_wrote)
{
    redlock_lock *locks[KINDS], *other = NULL;
    start("~* &* +@all");
    const char *path = list_with("guard off\n" TIMES);
    redlock *first = client_open(path), *later;
    take_all(first, locks);
    restart_all();
    ck_assert(!has_dropped());
    later = client_open(path);
    for (unsigned i = 0; i < KINDS; i++) {
        int code = try(later, i, true, 0, &other);
        ck_assert_msg(code == REDLOCK_EHELD || redlock_validity_ms(locks[i]) == 0, "%s: %d",
                      kinds[i].name, code);
    }
    expect_restart("ok", NULL, NULL);
    redlock_close(later);
    redlock_close(first);
    stop();
}

/* Whatever the guard: locks are gone that a majority had granted. */
TEST(replay, what_was_dropped_at_start_is_warning, .rows = 2)
{
    redlock_lock *locks[KINDS];
    start("");
    const char *path = list_with("guard off\n" TIMES);
    redlock *first = client_open(path);
    take_all(first, locks);
    restart_all();
    if (has_dropped()) {
        if (_i)
            list_with("max-ttl 500ms\nttl 500ms\n");
        ck_assert(wait_until(program_run(NULL, REDLOCK("status"), NULL) == CLI_FIT, 20000));
        expect_restart("warn", "unexpected_error_replies is", "set guard on");
    }
    redlock_close(first);
    stop();
}

/* Its rights to ask are not there, or the server can't tell: that is not known, and no fault. */
TEST(replay, rights_of_default_user_that_can_not_be_asked_are_not_known)
{
    struct program *program;
    start("");
    for (unsigned i = 0; i < N; i++)
        master_do(masters, i, "ACL", "SETUSER", "admin", "-acl|dryrun", NULL);
    list_with("guard off\n" TIMES);
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "-v"), &program), CLI_FIT);
    ck_assert_msg(program_printed(program, "restart") && program_printed(program, "acl|dryrun"),
                  "%s", program_out(program));
    stop();
}

CASE(replay, .timeout_s = 120)
