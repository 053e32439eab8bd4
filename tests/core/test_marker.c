/* tags: valgrind */
/* test_marker.c - by what was read of a master's marker and quarantine: may it vote, and when?
 */
#include "config_auto.h"

#include "core/marker.h"
#include "base/limits.h"
#include "core/statement.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

#define MS RL_NS_PER_MS
#define WINDOW (10000 * MS)
#define NOW (500 * RL_NS_PER_S)

static struct rl_marker marker;

static enum rl_marker_says read_at(const char *run_id, const char *why, int64_t left_ms,
                                   int64_t now_ns)
{
    struct rl_marker_reading reading = {.left_ms = left_ms};
    snprintf(reading.run_id, sizeof(reading.run_id), "%s", run_id);
    snprintf(reading.why, sizeof(reading.why), "%s", why);
    return rl_marker_learn(&marker, &reading, "one", WINDOW, now_ns);
}

static void begin(void)
{
    marker = (struct rl_marker){.until_ns = 0};
}

TEST(marker, marker_that_matches_votes_at_once)
{
    begin();
    ck_assert_int_eq(read_at("one", "init", 0, NOW), RL_MARKER_FREE);
    ck_assert_int_eq(read_at("one", "restarted", 0, NOW), RL_MARKER_FREE);
}

/* The key's end is asked for by the server's clock, and waited for by ours: one that is set
 * forward opens nothing. */
TEST(marker, quarantine_lasts_by_both_clocks)
{
    begin();
    ck_assert_int_eq(read_at("one", "missing", 8000, NOW), RL_MARKER_QUARANTINED);
    ck_assert_int_eq(marker.until_ns, NOW + 8000 * MS);
    ck_assert_int_eq(marker.ends_ns, NOW + 8000 * MS);
    ck_assert_int_eq(read_at("one", "missing", 0, NOW + 1000 * MS), RL_MARKER_QUARANTINED);
    ck_assert_int_eq(marker.until_ns, NOW + 8000 * MS);
    ck_assert_int_eq(marker.ends_ns, NOW + 8000 * MS);
    ck_assert_int_eq(read_at("one", "missing", 0, NOW + 8000 * MS - 1), RL_MARKER_QUARANTINED);
    ck_assert_int_eq(read_at("one", "missing", 1, NOW + 8000 * MS), RL_MARKER_QUARANTINED);
    ck_assert_int_eq(read_at("one", "missing", 0, NOW + 8001 * MS - 1), RL_MARKER_QUARANTINED);
    ck_assert_int_eq(read_at("one", "missing", 0, NOW + 8001 * MS), RL_MARKER_FREE);
}

/* The server's clock was set forward, or somebody has put a shorter key there. */
TEST(marker, later_reading_makes_no_wait_shorter)
{
    begin();
    ck_assert_int_eq(read_at("one", "missing", 8000, NOW), RL_MARKER_QUARANTINED);
    ck_assert_int_eq(read_at("one", "missing", 10, NOW + 1000 * MS), RL_MARKER_QUARANTINED);
    ck_assert_int_eq(marker.until_ns, NOW + 8000 * MS);
    ck_assert_int_eq(read_at("one", "missing", 0, NOW + 8000 * MS - 1), RL_MARKER_QUARANTINED);
    ck_assert_int_eq(read_at("one", "missing", 0, NOW + 8000 * MS), RL_MARKER_FREE);
}

/* Another client's longest lease is longer: its quarantine is asked for to the end. */
TEST(marker, longer_quarantine_of_another_client_is_waited_for)
{
    begin();
    ck_assert_int_eq(read_at("one", "missing", 60000, NOW), RL_MARKER_QUARANTINED);
    ck_assert_int_eq(marker.until_ns, NOW + WINDOW);
    ck_assert_int_eq(marker.ends_ns, NOW + 60000 * MS);
    ck_assert_int_eq(read_at("one", "missing", 50000, NOW + WINDOW), RL_MARKER_QUARANTINED);
    /* Somebody has deleted it: our own window is over. */
    ck_assert_int_eq(read_at("one", "missing", 0, NOW + 2 * WINDOW), RL_MARKER_FREE);
}

TEST(marker, quarantine_without_end_is_asked_for_again, .rows = 2)
{
    begin();
    ck_assert_int_eq(read_at("one", "init", _i ? -1 : INT64_MAX, NOW), RL_MARKER_QUARANTINED);
    ck_assert_int_eq(marker.ends_ns, INT64_MAX);
    ck_assert_int_eq(marker.until_ns, NOW + WINDOW);
    ck_assert_ptr_nonnull(strstr(marker.why, "by hand"));
}

static const struct {
    const char *run_id, *why, *text;
} strangers[] = {
    {"two", "init", "two servers answer"},
    {"on", "init", "two servers answer"},
    {"", "init", "no run_id"},
    {"one", "replica", "is a replica"},
    {"one", "later", "knows of a later failover than its Sentinels"},
};

TEST(marker, another_server_proves_nothing, .rows = ROWS(strangers))
{
    begin();
    ck_assert_int_eq(read_at(strangers[_i].run_id, strangers[_i].why, 0, NOW), RL_MARKER_UNFIT);
    ck_assert_ptr_nonnull(strstr(marker.why, strangers[_i].text));
    ck_assert_int_eq(marker.until_ns, 0);
}

/* What was seen before is not forgotten over it. */
TEST(marker, quarantine_outlasts_what_is_unfit)
{
    begin();
    ck_assert_int_eq(read_at("one", "missing", 8000, NOW), RL_MARKER_QUARANTINED);
    ck_assert_int_eq(read_at("two", "init", 0, NOW + 1), RL_MARKER_UNFIT);
    ck_assert_int_eq(read_at("one", "init", 0, NOW + 2), RL_MARKER_QUARANTINED);
}

static const struct {
    const char *word, *text;
} reasons[] = {
    {"missing", "it has no marker: it was emptied, lost it in a restart"},
    {"moved", "another database"},
    {"restarted", "it was restarted"},
    {"resynced", "it was a replica"},
    {"strange", "another program's, or was set by hand"},
    {"init", "by hand"},
    {"failover", "there was a failover"},
    {"termless", "ask no Sentinels"},
    {"forgotten", "its Sentinels have forgotten"},
    {"unheard", "another client found"},
};

TEST(marker, other_programs_marker_is_no_vote)
{
    begin();
    ck_assert_int_eq(read_at("one", "foreign", 5, NOW), RL_MARKER_UNFIT);
    ck_assert_ptr_nonnull(strstr(marker.why, "another program's"));
}

TEST(marker, reason_is_told, .rows = ROWS(reasons))
{
    begin();
    ck_assert_int_eq(read_at("one", reasons[_i].word, 5, NOW), RL_MARKER_QUARANTINED);
    ck_assert_ptr_nonnull(strstr(marker.why, reasons[_i].text));
}

static const struct {
    const char *text;
    uint64_t term;
} terms[] = {
    {"one two 0 init", 0},
    {"one two 0 init @7", 7},
    {"one  0 failover @0", 0},
    {"one two 0 init @7 more", 7},
    {"one two 0 init @9223372036854775808", RL_TERM_MAX},
    {"one two 0 init @9223372036854775809", RL_TERM_MAX}, /* later than any */
    {"one two 0 init 7", 0},
    {"one two 0 init more @7", 0},
    {"one two 0 @7", 0},
    {"", 0},
};

/* R22: Whom the Sentinels must not be below. */
TEST(marker, term_of_marker_is_read, .rows = ROWS(terms))
{
    struct rl_marker_reading reading = {.run_id = "one", .why = "later"};
    begin();
    snprintf(reading.text, sizeof(reading.text), "%s", terms[_i].text);
    ck_assert_int_eq(rl_marker_learn(&marker, &reading, "one", WINDOW, NOW), RL_MARKER_UNFIT);
    ck_assert_uint_eq(marker.term, terms[_i].term);
}

/* What was sent before it was read last is answered by what is known. */
TEST(marker, older_request_tells_no_news_of_marker)
{
    begin();
    read_at("one", "init", 0, NOW);
    ck_assert(!rl_marker_gone(&marker, NOW - 1));
    ck_assert(rl_marker_gone(&marker, NOW));
    ck_assert(rl_marker_gone(&marker, NOW + 1));
}

TEST(marker, marker_is_read_twice_within_longest_lease)
{
    ck_assert_int_eq(rl_marker_check_ns(30000 * MS), 15000 * MS);
}

