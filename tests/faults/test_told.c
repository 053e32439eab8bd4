/* test_told.c - what the log and redlock_get_hold() tell of locks that can't be renewed: few
 * lines, and each has a lock's name and the reason. */
#include "config_auto.h"

#include "masters.h"
#include "told.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { LOCKS = 200, LINES = 400 };

static struct masters *masters;
static char line[LINES][1400];
static atomic_uint lines;

static void log_line(void *context, int level, const char *text)
{
    (void)context;
    unsigned at = atomic_load(&lines);
    if (level > REDLOCK_LOG_WARNING || at == LINES)
        return;
    snprintf(line[at], sizeof(line[at]), "%s", text);
    atomic_store(&lines, at + 1);
}

static redlock *open_client(void)
{
    redlock *client;
    redlock_config config = REDLOCK_CONFIG_INIT;
    config.file = masters_file(masters, "background always\n");
    config.log = log_line;
    ck_assert_int_eq(redlock_open_config(&config, NULL, &client), 0);
    atomic_store(&lines, 0);
    return client;
}

static unsigned lines_with(const char *text)
{
    unsigned count = 0;
    for (unsigned i = 0; i < atomic_load(&lines); i++)
        count += strstr(line[i], text) != NULL;
    return count;
}

static const char *line_with(const char *text)
{
    for (unsigned i = 0; i < atomic_load(&lines); i++) {
        if (strstr(line[i], text))
            return line[i];
    }
    return "";
}

static void take(redlock *client, unsigned number, redlock_lost_fn *on_lost, void *context,
                 redlock_lock **ret_lock)
{
    char name[32];
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.auto_renew = 1;
    options.ttl_ms = 3000;
    options.wait_ms = 10000;
    options.on_lost = on_lost;
    options.lost_context = context;
    snprintf(name, sizeof(name), "flood%u", number);
    ck_assert_int_eq(redlock_try(client, name, &options, ret_lock), 0);
}

TEST(told, many_locks_that_are_not_renewed_share_a_line_a_second)
{
    redlock_lock *lock[LOCKS];
    masters = masters_start(3, NULL);
    redlock *client = open_client();
    for (unsigned i = 0; i < LOCKS; i++)
        take(client, i, NULL, NULL, &lock[i]);
    int64_t began_ms = now_ms();
    master_kill(masters, 1);
    master_kill(masters, 2);
    ck_assert(wait_until(client_stats(client).lost == LOCKS, 20000));
    ck_assert(wait_until(lines_with(" locks were lost, for example 'flood"), 5000));
    unsigned seconds = (unsigned)((now_ms() - began_ms) / 1000 + 1);
    ck_assert_uint_le(lines_with("not renewed"), seconds + 1);
    ck_assert_uint_le(lines_with(" lost"), seconds + 1);
    ck_assert_ptr_nonnull(strstr(line_with("not renewed"), "'flood"));
    ck_assert_ptr_nonnull(strstr(line_with("not renewed"), "refused"));
    ck_assert_ptr_nonnull(strstr(line_with("not renewed"), "2 of 3 masters did not confirm"));
    ck_assert_uint_le(atomic_load(&lines), 3 * seconds + 6);
    redlock_close(client);
}

/* ---- what on_lost can ask ---------------------------------------------------------------- */

struct asked {
    int result;
    redlock_node_hold node[3];
    redlock_hold_report report;
    atomic_int calls;
};

static void on_lost(void *context, redlock_lock *lock)
{
    struct asked *asked = context;
    asked->report = (redlock_hold_report)REDLOCK_HOLD_REPORT_INIT(asked->node, 3);
    asked->result = redlock_get_hold(lock, &asked->report);
    atomic_fetch_add(&asked->calls, 1);
}

TEST(told, callback_of_loss_can_ask_why)
{
    redlock_lock *lock;
    struct asked asked = {.calls = 0};
    masters = masters_start(3, NULL);
    redlock *client = open_client();
    take(client, 0, on_lost, &asked, &lock);
    redlock_hold_report before = REDLOCK_HOLD_REPORT_INIT(NULL, 0);
    ck_assert_int_eq(redlock_get_hold(lock, &before), 0);
    ck_assert_int_eq(before.loss, REDLOCK_LOSS_NONE);
    ck_assert_int_eq(before.lost_ago_ms, -1);
    ck_assert_uint_ge(before.confirmed, 2);
    master_kill(masters, 1);
    master_kill(masters, 2);
    ck_assert(wait_until(atomic_load(&asked.calls) == 1, 20000));
    ck_assert_int_eq(asked.result, 0);
    ck_assert_int_eq(asked.report.loss, REDLOCK_LOSS_MASTERS);
    ck_assert_int_ge(asked.report.lost_ago_ms, 0);
    ck_assert_int_ge(asked.report.held_ms, asked.report.confirmed_ms);
    ck_assert_int_ge(asked.report.confirmed_ms, 1000);
    ck_assert_uint_eq(asked.report.node_count, 3);
    ck_assert_int_ne(asked.node[0].vote, REDLOCK_VOTE_FAILED);
    ck_assert_int_eq(asked.node[1].vote, REDLOCK_VOTE_FAILED);
    ck_assert_int_ge(asked.node[1].since_ms, 500);
    ck_assert_ptr_nonnull(strstr(asked.node[1].text, "refused"));
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    redlock_close(client);
}

TEST(told, lock_that_ran_out_by_itself_says_so)
{
    redlock_lock *lock;
    redlock_hold_report report = REDLOCK_HOLD_REPORT_INIT(NULL, 0);
    masters = masters_start(3, NULL);
    redlock *client = open_client();
    ck_assert_int_eq(client_try(client, "short", 200, 10000, NULL, &lock), 0);
    ck_assert(wait_until(redlock_validity_ms(lock) == 0, 5000));
    ck_assert_int_eq(redlock_get_hold(lock, &report), 0);
    ck_assert_int_eq(report.loss, REDLOCK_LOSS_RAN_OUT);
    ck_assert_int_ge(report.lost_ago_ms, 0); /* though nobody has looked at it since */
    report.size = 3;
    ck_assert_int_eq(redlock_get_hold(lock, &report), REDLOCK_EINVAL);
    redlock_release(lock);
    report.size = sizeof(report);
    ck_assert_int_eq(redlock_get_hold(lock, &report), REDLOCK_ENOTHELD);
    ck_assert_int_eq(redlock_get_hold(NULL, &report), REDLOCK_EINVAL);
    redlock_close(client);
}

CASE(told, .timeout_s = 60)
