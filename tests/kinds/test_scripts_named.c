/* test_scripts_named.c - marker_named.lua on a real server: the marker of a master that can fail
 * over, whose term is compared first. */
#include "config_auto.h"

#include "core/marker.h"
#include "kinds/marker.h"
#include "masters.h"

#include <stdio.h>
#include <string.h>

static struct masters *masters;
static char run_id[64], replication[64];

struct said {
    char run_id[64], why[32];
    long long left_ms;
    char marker[200];
};

static struct said join(const char *how, const char *term)
{
    struct said said = {.marker = ""};
    struct reply reply =
        master_do(masters, 0, "EVAL", rl_marker_named, "2", RL_MARKER_KEY, RL_QUARANTINE_KEY,
                  "nonce", "0", "20000", how, term, NULL);
    int got = sscanf(reply.text, "nonce %63s %31s %lld %199[^\n]", said.run_id, said.why,
                     &said.left_ms, said.marker);
    ck_assert_msg(got >= 3, "%s", reply.text);
    return said;
}

static const char *marker(void)
{
    static struct reply reply;
    reply = master_do(masters, 0, "GET", RL_MARKER_KEY, NULL);
    return reply.text;
}

/* A marker of this server, with what stands behind its database. */
static const char *own(const char *rest)
{
    static char text[400];
    snprintf(text, sizeof(text), "%s %s 0 %s", run_id, replication, rest);
    return text;
}

static void set(const char *text)
{
    master_do(masters, 0, "SET", RL_MARKER_KEY, text, NULL);
    master_do(masters, 0, "DEL", RL_QUARANTINE_KEY, NULL);
}

static void expect_quarantine(const char *how, const char *term, const char *why)
{
    char rest[64];
    struct said said = join(how, term);
    ck_assert_str_eq(said.why, why);
    ck_assert_int_eq(said.left_ms, 20000);
    snprintf(rest, sizeof(rest), "%s @%s", why, term);
    ck_assert_str_eq(marker(), own(rest));
    ck_assert_str_eq(said.marker, own(rest));
    ck_assert(master_has(masters, 0, RL_QUARANTINE_KEY));
}

static void start(void)
{
    masters = masters_start(1, NULL);
    ck_assert_int_eq(
        sscanf(strstr(master_do(masters, 0, "INFO", "server", NULL).text, "run_id:"), "run_id:%40s",
               run_id),
        1);
    ck_assert_int_eq(
        sscanf(strstr(master_do(masters, 0, "INFO", "replication", NULL).text, "master_replid:"),
               "master_replid:%40s", replication),
        1);
}

TEST(named, marker_names_its_term)
{
    expect_quarantine("vote", "7", "missing");
    struct said said = join("vote", "7");
    ck_assert_str_eq(said.why, "missing");
    ck_assert_int_gt(said.left_ms, 10000);
    master_do(masters, 0, "DEL", RL_QUARANTINE_KEY, NULL);
    said = join("vote", "7");
    ck_assert_int_eq(said.left_ms, 0);
    ck_assert_str_eq(said.marker, own("missing @7"));
    ck_assert(!master_has(masters, 0, RL_QUARANTINE_KEY));
}

static const struct {
    const char *its, *mine;
} lower[] = {
    {"0", "1"},
    {"6", "7"},
    {"9", "10"},
    {"999999999999999", "1000000000000000"},
    {"1999999999999999", "2000000000000000"},
    {"1000000000000000", "1000000000000001"},
    {"9223372036854775806", "9223372036854775807"}, /* as floating-point numbers they are equal */
    {"9223372036854775807", "9223372036854775808"},
    {"1000000000000000000", "9000000000000000000"},
};

/* R22: M, P, M again without a sync: its own marker, and a lock that stands at P. */
TEST(named, marker_of_lower_term_is_failover, .rows = ROWS(lower))
{
    char rest[64];
    snprintf(rest, sizeof(rest), "init @%s", lower[_i].its);
    set(own(rest));
    expect_quarantine("vote", lower[_i].mine, "failover");
}

/* R22: Whoever it is that looks so late changes nothing. */
TEST(named, marker_of_higher_term_is_left_alone, .rows = ROWS(lower))
{
    char rest[64];
    snprintf(rest, sizeof(rest), "init @%s", lower[_i].mine);
    set(own(rest));
    for (int how = 0; how < 2; how++) {
        struct said said = join(how ? "look" : "vote", lower[_i].its);
        ck_assert_str_eq(said.why, "later");
        ck_assert_int_eq(said.left_ms, 0);
        ck_assert_str_eq(said.marker, own(rest));
        ck_assert_str_eq(marker(), own(rest));
        ck_assert(!master_has(masters, 0, RL_QUARANTINE_KEY));
    }
}

/* R22: Terms before all else: another process's marker of a later term, too. */
TEST(named, marker_of_another_server_in_later_term_is_left_alone)
{
    static const char later[] = "abc def 3 failover @8";
    set(later);
    ck_assert_str_eq(join("vote", "7").why, "later");
    ck_assert_str_eq(marker(), later);
    expect_quarantine("vote", "9", "failover");
}

/* R22: Else a majority that has lost its memory locks out for ever, or hands out what stands. */
TEST(named, forgotten_term_is_quarantined_whatever_stands, .rows = 4)
{
    static const char *const stands[] = {"init @9", "init @7", "init @5", "init"};
    set(own(stands[_i]));
    expect_quarantine("forgot", "7", "forgotten");
}

TEST(named, in_one_term_loss_is_found_as_ever)
{
    set("abc def 0 init @7");
    expect_quarantine("vote", "7", "restarted");
    char moved[400];
    snprintf(moved, sizeof(moved), "%s %s 3 init @7", run_id, replication);
    set(moved);
    expect_quarantine("vote", "7", "moved");
    set(own("init @7"));
    master_do(masters, 0, "REPLICAOF", "127.0.0.1", "1", NULL);
    ck_assert_str_eq(join("vote", "7").why, "replica");
    master_do(masters, 0, "REPLICAOF", "NO", "ONE", NULL);
    ck_assert_str_eq(join("vote", "7").why, "resynced");
    ck_assert(master_has(masters, 0, RL_QUARANTINE_KEY));
}

static const char *const termless[] = {"init", "init 7", "init more @7", "init @07", "init @",
                                       "init @x", "init @99999999999999999999"};

TEST(named, marker_without_term_is_quarantined, .rows = ROWS(termless))
{
    set(own(termless[_i]));
    expect_quarantine("vote", "7", "termless");
}

TEST(named, what_is_no_marker_stays)
{
    static const char *const hows[] = {"vote", "forgot"};
    for (unsigned i = 0; i < 2; i++) {
        set("something else");
        ck_assert_str_eq(join(hows[i], "7").why, "foreign");
        ck_assert_str_eq(marker(), "something else");
        ck_assert(!master_has(masters, 0, RL_QUARANTINE_KEY));
    }
}

/* What a later version writes stays for as long as the keys do. */
TEST(named, more_words_stay)
{
    set(own("init @7 more of it;x=1"));
    struct said said = join("vote", "7");
    ck_assert_int_eq(said.left_ms, 0);
    ck_assert_str_eq(said.marker, own("init @7 more of it;x=1"));
    ck_assert_str_eq(marker(), own("init @7 more of it;x=1"));
    set(own("awordofmorethanfifteenletters @7 x"));
    said = join("vote", "7");
    ck_assert_str_eq(said.why, "awordofmorethan");
    ck_assert_str_eq(marker(), own("awordofmorethanfifteenletters @7 x"));
    expect_quarantine("vote", "8", "failover");
}

/* R22: `status` begins no quarantine. */
TEST(named, look_changes_nothing, .rows = 3)
{
    static const char *const stands[] = {"init @6", "init", "init @7"};
    set(own(stands[_i]));
    struct said said = join("look", "7");
    ck_assert_int_eq(said.left_ms, _i == 2 ? 0 : 20000);
    ck_assert_str_eq(said.marker, _i == 2 ? own("init @7") : "");
    ck_assert_str_eq(marker(), own(stands[_i]));
    ck_assert(!master_has(masters, 0, RL_QUARANTINE_KEY));
}

/* A client without Sentinels leaves the term as it is where the keys are those that they were. */
TEST(named, client_without_terms_keeps_it)
{
    set(own("init @7"));
    struct reply reply = master_do(masters, 0, "EVAL", rl_marker_join, "2", RL_MARKER_KEY,
                                   RL_QUARANTINE_KEY, "nonce", "0", "20000", NULL);
    ck_assert_ptr_nonnull(strstr(reply.text, "init @7"));
    ck_assert_str_eq(marker(), own("init @7"));
    ck_assert(!master_has(masters, 0, RL_QUARANTINE_KEY));
}

CASE(named, .timeout_s = 60, .set_up = start)
