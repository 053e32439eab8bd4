/* tags: long threads */
/* test_renew.c - locks that are renewed by themselves: when, through which faults, beside the
 * user's own calls, and not behind a release. How they are lost is test_loss.c's. */
#include "config_auto.h"

#include "fake.h"
#include "masters.h"
#include "script_text.h"
#include "stall.h"
#include "told.h"

#include "base/sha1.h"
#include "kinds/kind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct masters *masters;
static struct fake *fakes[3];
static redlock *client;
static redlock_lock *lock;
static struct told lost;

static void open_masters(const char *settings)
{
    masters = masters_start(3, NULL);
    client = client_open(masters_file(masters, settings));
    ck_assert(wait_until(client_ready(client) == 3, 10000));
}

static void open_fakes(const char *settings)
{
    fakes_start(fakes, 3);
    client = client_open(fakes_file(fakes, 3, settings));
    ck_assert(wait_until(client_ready(client) == 3, 10000));
}

static void close_masters(void)
{
    redlock_close(client);
}

static void close_fakes(void)
{
    redlock_close(client);
}

/* It is held all the while, and nobody says that it is lost. */
static bool is_held_for(int64_t ms)
{
    int64_t end = now_ms() + ms;
    while (now_ms() < end) {
        if (redlock_validity_ms(lock) == 0)
            return false;
        pause_ms(2);
    }
    return lost.calls == 0;
}

/* A play says with false that the lock was lost. That is no fault where the machine stalled:
 * then it is played again, with leases three times as long. */
static bool play_with_lease(bool (*play)(int64_t ttl_ms), int64_t *ttl_ms)
{
    memset(&lost, 0, sizeof(lost));
    bool held = play(*ttl_ms);
    if (!held)
        *ttl_ms *= 3;
    return held;
}

static void play_with_leases(bool (*play)(int64_t ttl_ms), int64_t ttl_ms)
{
    bool held = met_unless_stalled(play_with_lease(play, &ttl_ms), STALL_MS, 2);
    ck_assert_msg(held, "lost in spite of a lease of %d ms", (int)ttl_ms / 3);
}

/* ---- when ------------------------------------------------------------------------------- */

/* By the requests that the first one had: never too early; false where one came too late. */
static bool are_thirds(unsigned renewals, int64_t ttl_ms)
{
    struct fake_record one, next;
    bool in_time = true;
    for (unsigned i = 1; i < renewals; i++) {
        ck_assert(fake_find(fakes[0], "extend name *", i - 1, &one));
        ck_assert(fake_find(fakes[0], "extend name *", i, &next));
        in_time = in_time && next.at_ms - one.at_ms >= ttl_ms / 6 &&
                  next.at_ms - one.at_ms < ttl_ms * 2 / 3;
    }
    return in_time;
}

static bool is_renewed_in_thirds(int64_t ttl_ms)
{
    enum { TTLS = 3 };
    open_fakes(NULL);
    int64_t begun = now_ms();
    lock = told_take_renewed(client, "name", ttl_ms, &lost);
    ck_assert_uint_eq(client_stats(client).renewing, 1);
    bool held = is_held_for(TTLS * ttl_ms);
    held = redlock_release(lock) == 0 && held;
    int64_t thirds = (now_ms() - begun) / (ttl_ms / 3);
    ck_assert_uint_eq(client_stats(client).renewing, 0);
    unsigned renewals = fake_count(fakes[0], "extend name *");
    ck_assert_msg((int64_t)renewals <= thirds, "%u", renewals);
    held = held && renewals >= 2 * TTLS && are_thirds(renewals, ttl_ms);
    close_fakes();
    return held;
}

TEST(renew, renewed_at_every_third_of_ttl)
{
    play_with_leases(is_renewed_in_thirds, 1200);
}

/* A third of the shortest lease is over half a millisecond before the lock would be given up,
 * and who sleeps does so for whole ones. */
TEST(renew, lease_that_is_mostly_margin_is_renewed_in_time)
{
    enum { TTL_MS = 10, MARGIN_MS = 3 };
    redlock_options options = REDLOCK_OPTIONS_INIT;
    open_fakes("background never\n");
    options.ttl_ms = TTL_MS;
    options.auto_renew = 1;
    ck_assert(wait_until(redlock_try(client, "name", &options, &lock) == 0, 10000));
    ck_assert_int_le(redlock_timeout_ms(client), (TTL_MS - 2 - MARGIN_MS) / 2);
    (void)redlock_release(lock);
    close_fakes();
}

TEST(renew, without_auto_renew_nothing_is_renewed)
{
    open_fakes(NULL);
    ck_assert_int_eq(client_try(client, "name", 600, 0, NULL, &lock), 0);
    ck_assert(wait_until(redlock_validity_ms(lock) == 0, 5000));
    ck_assert_uint_eq(fake_count(fakes[0], "extend *"), 0);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    close_fakes();
}

/* Nobody drives the client but redlock_process(). */
TEST(renew, background_never_renews_in_process_only)
{
    enum { TTL_MS = 1200 };
    open_fakes("background never\n");
    lock = told_take_renewed(client, "name", TTL_MS, &lost);
    ck_assert(!turn_until(client, redlock_validity_ms(lock) == 0, 2 * TTL_MS));
    /* The last one may have been sent just now. */
    ck_assert(wait_until(redlock_validity_ms(lock) < TTL_MS / 2, 2 * TTL_MS));
    unsigned renewals = fake_count(fakes[0], "extend *");
    ck_assert_uint_ge(renewals, 4);
    ck_assert(wait_until(redlock_validity_ms(lock) == 0, 2 * TTL_MS));
    ck_assert_uint_eq(fake_count(fakes[0], "extend *"), renewals);
    ck_assert_int_eq(lost.calls, 0);
    ck_assert_int_eq(redlock_process(client), 0);
    ck_assert_int_eq(lost.calls, 1);
    ck_assert_uint_eq(fake_count(fakes[0], "extend *"), renewals);
    ck_assert_int_eq(redlock_release_async(lock, NULL, NULL), 0);
    close_fakes();
}

/* ---- through faults --------------------------------------------------------------------- */

static bool survives(int64_t ttl_ms, bool kill)
{
    open_masters(NULL);
    lock = told_take_renewed(client, "name", ttl_ms, &lost);
    bool held = wait_until(masters_with(masters, "name") == 3, ttl_ms);
    if (kill)
        master_kill(masters, 1);
    else
        master_pause(masters, 1);
    held = held && is_held_for(2 * ttl_ms);
    if (!kill)
        master_resume(masters, 1);
    held = redlock_release(lock) == 0 && held;
    close_masters();
    return held;
}

static bool survives_a_kill(int64_t ttl_ms)
{
    return survives(ttl_ms, true);
}

static bool survives_a_pause(int64_t ttl_ms)
{
    return survives(ttl_ms, false);
}

TEST(renew, renewal_survives_one_node_that_is_down, .rows = 2)
{
    play_with_leases(_i == 0 ? survives_a_kill : survives_a_pause, 1200);
}

/* Each in turn loses all it had: what fills it in again is the renewals. */
static bool survives_restarts(int64_t ttl_ms)
{
    bool held = true;
    open_masters(NULL);
    lock = told_take_renewed(client, "name", ttl_ms, &lost);
    for (unsigned i = 0; held && i < 3; i++) {
        held = wait_until(masters_with(masters, "name") == 3, 5000);
        if (held)
            master_restart(masters, i, true);
        held = held && redlock_validity_ms(lock) > 0;
    }
    held = held && wait_until(masters_with(masters, "name") == 3, 5000) && lost.calls == 0;
    held = redlock_release(lock) == 0 && held;
    ck_assert(wait_until(masters_with(masters, "name") == 0, 10000));
    close_masters();
    return held;
}

TEST(renew, renewal_survives_restart_of_one_after_other)
{
    play_with_leases(survives_restarts, 1500);
}

static bool outlives(int64_t ttl_ms)
{
    open_masters(NULL);
    lock = told_take_renewed(client, "name", ttl_ms, &lost);
    int64_t begun = now_ms();
    uint64_t before = client_stats(client).extended;
    master_pause(masters, 0);
    master_pause(masters, 1);
    bool held = is_held_for(ttl_ms * 6 / 10) && client_stats(client).extended == before;
    master_resume(masters, 0);
    master_resume(masters, 1);
    held = held && is_held_for(ttl_ms * 3 / 2 - (now_ms() - begun));
    held = held && client_stats(client).extended > before;
    held = redlock_release(lock) == 0 && held;
    close_masters();
    return held;
}

TEST(renew, outage_shorter_than_validity_is_outlived)
{
    play_with_leases(outlives, 1500);
}

/* The renewals are refused for half a second, and asked for again less and less often. */
static bool is_tried_again(int64_t ttl_ms)
{
    struct fake_rule broken = {.match = "extend *", .reply = "-ERR broken\r\n"};
    open_fakes(NULL);
    fake_rule(fakes[0], &broken);
    fake_rule(fakes[1], &broken);
    lock = told_take_renewed(client, "name", ttl_ms, &lost);
    bool held = wait_until(fake_count(fakes[0], "extend *") > 0, ttl_ms) && is_held_for(500);
    unsigned tries = fake_count(fakes[0], "extend *");
    ck_assert_msg(tries <= 50, "%u", tries);
    fake_clear_rules(fakes[0]);
    fake_clear_rules(fakes[1]);
    held = held && tries >= 2 &&
           wait_until(redlock_validity_ms(lock) > ttl_ms * 4 / 5, ttl_ms) &&
           is_held_for(ttl_ms / 2);
    held = redlock_release(lock) == 0 && held;
    close_fakes();
    return held;
}

TEST(renew, failed_renewal_is_tried_again_with_backoff)
{
    play_with_leases(is_tried_again, 1500);
}

/* ---- beside the user's own calls -------------------------------------------------------- */

/* The answers take 20 ms: most of these meet a renewal that is under way. */
static bool meets_renewals(int64_t ttl_ms)
{
    enum { TIMES = 12 };
    bool held = true;
    struct fake_rule slow = {.match = "extend *", .delay_ms = 20};
    open_fakes(NULL);
    for (int i = 0; i < 3; i++)
        fake_rule(fakes[i], &slow);
    lock = told_take_renewed(client, "name", ttl_ms, &lost);
    for (int i = 0; held && i < TIMES; i++) {
        pause_ms(ttl_ms / 3 - 18 + i);
        held = redlock_extend(lock, 0, NULL) == 0 && redlock_validity_ms(lock) > ttl_ms / 2;
    }
    held = held && client_stats(client).extended > TIMES + TIMES / 4;
    held = redlock_release(lock) == 0 && held;
    close_fakes();
    return held;
}

TEST(renew, extension_meets_renewal_and_both_are_well)
{
    play_with_leases(meets_renewals, 900);
}

/* The lock is lost by the renewal, before the extension was its turn: its report tells of no
 * round, and not of the renewal's. */
TEST(renew, extension_that_asked_nobody_reports_no_round)
{
    redlock_node_vote votes[3];
    redlock_report report = REDLOCK_REPORT_INIT(votes, 3);
    open_fakes("linger 0ms\nguard off\n");
    lock = told_take_renewed(client, "name", 3000, &lost);
    for (int i = 0; i < 3; i++) {
        fake_rule(fakes[i], &(struct fake_rule){.match = "extend *", .delay_ms = 500});
        fake_forget_keys(fakes[i]);
    }
    ck_assert(wait_until(fake_count(fakes[0], "extend *") > 0, 5000));
    ck_assert_int_eq(redlock_extend(lock, 10000, &report), REDLOCK_EEXPIRED);
    ck_assert_uint_eq(report.rounds, 0);
    ck_assert_int_eq(report.elapsed_ms, 0);
    ck_assert_uint_eq(report.failed, 0);
    close_fakes();
}

TEST(renew, longer_lease_puts_renewal_off)
{
    open_fakes(NULL);
    lock = told_take_renewed(client, "name", 1500, &lost);
    ck_assert_int_eq(redlock_extend(lock, 9000, NULL), 0);
    ck_assert_int_gt(redlock_validity_ms(lock), 8000);
    ck_assert(is_held_for(900));
    for (int i = 0; i < 3; i++) /* who still owed an answer was not asked */
        ck_assert_uint_le(fake_count(fakes[i], "extend *"), 1);
    ck_assert_int_eq(redlock_release(lock), 0);
    close_fakes();
}

static bool is_detached(int64_t ttl_ms)
{
    char text[REDLOCK_HANDLE_MAX];
    open_masters(NULL);
    lock = told_take_renewed(client, "name", ttl_ms, &lost);
    bool held = is_held_for(ttl_ms + ttl_ms / 6);
    if (redlock_detach(lock, text, sizeof(text)) != 0) {
        held = false; /* it was over: the handle is ours still */
        (void)redlock_release(lock);
    }
    ck_assert_uint_eq(client_stats(client).renewing, 0);
    uint64_t extended = client_stats(client).extended;
    ck_assert(wait_until(masters_with(masters, "name") == 0, ttl_ms + 10000));
    ck_assert_uint_eq(client_stats(client).extended, extended);
    held = held && lost.calls == 0;
    close_masters();
    return held;
}

TEST(renew, detached_lock_is_renewed_no_more)
{
    play_with_leases(is_detached, 1200);
}

static bool is_renewed_again(int64_t ttl_ms)
{
    bool held = true;
    open_masters(NULL);
    for (int i = 0; held && i < 2; i++) {
        memset(&lost, 0, sizeof(lost));
        lock = told_take_renewed(client, "name", ttl_ms, &lost);
        held = is_held_for(ttl_ms * 3 / 2);
        for (unsigned node = 0; node < 3; node++)
            master_do(masters, node, "DEL", "name", NULL);
        held = wait_until(lost.calls == 1, ttl_ms) && held;
        ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    }
    ck_assert_uint_eq(client_stats(client).renewing, 0);
    close_masters();
    return held;
}

TEST(renew, lock_that_was_lost_and_taken_again_is_renewed_again)
{
    play_with_leases(is_renewed_again, 1200);
}

/* ---- racing a release ------------------------------------------------------------------- */

enum { RACERS = 50, RACES_MAX = 10000 };
static int races_each, race_ttl_ms;
static atomic_int released, late;

/* What a master executes, as MONITOR tells it, until the end mark. */
static struct monitor {
    pthread_t thread;
    int fd;
    size_t len, size;
    char *text;
} monitor;

static void *listen_to_master(void *argument)
{
    (void)argument;
    ssize_t got;
    do {
        if (monitor.size - monitor.len < 65536)
            monitor.text = realloc(monitor.text, monitor.size = 2 * monitor.size + 131072);
        got = monitor.text ? read(monitor.fd, monitor.text + monitor.len, 65535) : -1;
        if (got <= 0)
            suite_die("MONITOR ended");
        size_t look = monitor.len > 32 ? monitor.len - 32 : 0;
        monitor.len += (size_t)got;
        monitor.text[monitor.len] = '\0';
        got = strstr(monitor.text + look, "\"that is all\"") ? 0 : got;
    } while (got > 0);
    return NULL;
}

static void monitor_start(void)
{
    char ok[5];
    monitor.fd = net_connect(&masters->node[0].unix_at);
    ck_assert(net_send(monitor.fd, "MONITOR\r\n", 9));
    ck_assert_int_eq(read(monitor.fd, ok, 5), 5);
    ck_assert_int_eq(pthread_create(&monitor.thread, NULL, listen_to_master, NULL), 0);
}

/* Released just when the renewal is due, or about. */
static void *race(void *argument)
{
    int racer = (int)(intptr_t)argument;
    unsigned seed = (unsigned)racer + 1;
    for (int i = 0; i < races_each; i++) {
        char name[32];
        redlock_options options = REDLOCK_OPTIONS_INIT;
        redlock_lock *mine = NULL;
        options.ttl_ms = race_ttl_ms;
        options.auto_renew = 1;
        snprintf(name, sizeof(name), "race-%d-%d", racer, i);
        if (redlock_try(client, name, &options, &mine) != 0) {
            atomic_fetch_add(&late, 1);
            continue;
        }
        usleep((useconds_t)(race_ttl_ms * 1000 / 3 - 3000 + rand_r(&seed) % 6000));
        int code = redlock_release(mine);
        atomic_fetch_add(code == 0 ? &released : &late, 1);
    }
    return NULL;
}

/* After the release of a name nothing else comes for it, but a release once more where the
 * first one's answer was late. How many were renewed before; -1 where a majority did without
 * this master most often, since that stood still. */
static int check_race(void)
{
    static unsigned char gone[RACERS][RACES_MAX], renewed[RACERS][RACES_MAX],
        taken[RACERS][RACES_MAX];
    int renewals = 0, deleted = 0, set = 0;
    char *rest = NULL, release[RL_SHA1_TEXT];
    bool once_more = false;
    const char *body = script_text(rl_kind(RL_ROW_PLAIN)->script[RL_RELEASE].body);
    ck_assert_int_eq(rl_sha1_text(body, release), 0);
    memset(gone, 0, sizeof(gone));
    memset(renewed, 0, sizeof(renewed));
    for (char *line = strtok_r(monitor.text, "\r\n", &rest); line;
         line = strtok_r(NULL, "\r\n", &rest)) {
        int racer, i;
        char quote = 0;
        const char *name = strstr(line, "\"race-");
        if (!name || sscanf(name, "\"race-%d-%d%c", &racer, &i, &quote) != 3 || quote != '"')
            continue;
        once_more =
            strstr(line, " lua] ") ? once_more : gone[racer][i] && strstr(line, release);
        if (once_more)
            continue;
        ck_assert_msg(!gone[racer][i], "after its release: %s", line);
        set += strstr(line, "\"SET\"") && !taken[racer][i];
        taken[racer][i] |= strstr(line, "\"SET\"") != NULL;
        gone[racer][i] = strstr(line, "\"DEL\"") != NULL;
        deleted += gone[racer][i];
        renewals += strstr(line, "\"PEXPIRE\"") && !renewed[racer][i];
        renewed[racer][i] |= strstr(line, "\"PEXPIRE\"") != NULL;
    }
    ck_assert_int_ge(deleted + late, set);
    return set > released / 2 ? renewals : -1;
}

static int play_races(void)
{
    pthread_t racers[RACERS];
    released = late = 0;
    open_masters(NULL);
    monitor_start();
    for (intptr_t i = 0; i < RACERS; i++)
        ck_assert_int_eq(pthread_create(&racers[i], NULL, race, (void *)i), 0);
    for (int i = 0; i < RACERS; i++)
        pthread_join(racers[i], NULL);
    ck_assert(wait_until(client_stats(client).pending_releases == 0, 5000));
    redlock_stats stats = client_stats(client);
    ck_assert_uint_eq(stats.renewing, 0);
    ck_assert_uint_eq(stats.held, 0);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_int_eq(master_do(masters, i, "DBSIZE", NULL).number, 0);
    master_do(masters, 0, "ECHO", "that is all", NULL);
    pthread_join(monitor.thread, NULL);
    close(monitor.fd);
    int renewals = check_race();
    free(monitor.text);
    monitor = (struct monitor){.fd = -1};
    close_masters();
    return renewals;
}

/* Few are late, so that there is a race. Else the machine stalled for so long that leases
 * ended, and longer ones are raced for. */
static bool races(int *ret_renewals)
{
    *ret_renewals = play_races();
    bool raced = late * 4 < released && *ret_renewals >= 0;
    if (!raced)
        race_ttl_ms *= 3;
    return raced;
}

TEST(renew, nothing_of_renewal_comes_behind_release)
{
    const char *wanted = getenv("RENEW_RACES");
    races_each = (wanted ? atoi(wanted) : 1000) / RACERS;
    ck_assert(races_each > 0 && races_each <= RACES_MAX);
    race_ttl_ms = 450;
    int renewals = 0;
    bool raced = met_unless_stalled(races(&renewals), STALL_MS, 2);
    ck_assert_msg(raced, "%d released, %d late", released, late);
    ck_assert_msg(renewals > released / 10 && renewals < released, "%d of %d renewed before",
                  renewals, released);
}

CASE(renew, .timeout_s = 300)
