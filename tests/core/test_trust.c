/* tags: valgrind */
/* test_trust.c - may a master vote, and if not, why and until when: each cause alone, the pairs
 * of causes that meet, and the exact edges of each wait. */
#include "config_auto.h"

#include "core/trust.h"
#include "base/limits.h"
#include "base/prng.h"
#include "core/refusal.h"
#include "suite.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define MS RL_NS_PER_MS
#define S RL_NS_PER_S
#define NOW (1000 * S)
#define WINDOW (30 * S + 3 * S / 10 + 1) /* 31 whole seconds */
#define CHECK (10 * S)
#define ASKED (20 * MS) /* ago */

static struct rl_info info;
static struct rl_identity identity;
static struct rl_marker marker;
static struct rl_trust_known known;
static struct rl_trust trust;

/* A master that votes: it has been up for long, and this client has just met it. */
static void begin(void)
{
    static const char told[] = "run_id:one\nrole:master\nuptime_in_seconds:1000\n";
    rl_info_parse(told, strlen(told), &info);
    identity = (struct rl_identity){.run_id = "one", .seen_ns = NOW, .heard_ns = NOW};
    marker = (struct rl_marker){.why = "it was a replica", .text = "m"};
    known = (struct rl_trust_known){
        .info = &info,
        .identity = &identity,
        .guard = true,
        .window_ns = WINDOW,
        .check_ns = CHECK,
        .asked_ns = NOW - ASKED,
        .ask_ns = INT64_MAX,
    };
}

static void judge(void)
{
    rl_trust_judge(&known, NOW, &trust);
}

/* ---- each cause, and those that meet ---------------------------------------------------- */

static void found_two(void)
{
    known.found = RL_CAUSE_TWO_SERVERS;
}

static void found_replaced(void)
{
    known.found = RL_CAUSE_REPLACED;
}

static void found_unmarked(void)
{
    known.found = RL_CAUSE_UNMARKED;
}

static void found_unnamed(void)
{
    known.found = RL_CAUSE_UNNAMED;
    known.unnamed = "2 of 3 Sentinels don't answer";
}

static void marker_denied(void)
{
    known.denied = RL_CAUSE_MARKER_DENIED;
    known.error = "NOPERM no";
}

static void info_denied(void)
{
    rl_info_parse("", 0, &info);
    known.denied = RL_CAUSE_INFO_DENIED;
    known.error = "NOPERM no";
}

static void replica(void)
{
    snprintf(info.role, sizeof(info.role), "slave");
}

static void loads(void)
{
    info.loading = true;
}

static void two_servers(void)
{
    known.two_servers = true;
}

static void unmet(void)
{
    known.unmet = "x, another address of its name, does not show the same server: no vote";
}

static void no_run_id(void)
{
    info.run_id[0] = '\0';
}

static void marker_is_unfit(void)
{
    known.marker = &marker;
    known.marker_says = RL_MARKER_UNFIT;
}

static void quarantined(void)
{
    known.marker = &marker;
    known.marker_says = RL_MARKER_QUARANTINED;
    marker.ends_ns = NOW + 7 * S;
    marker.until_ns = NOW + 5 * S;
}

static void was_replica(void)
{
    known.replaced = RL_CAUSE_WAS_REPLICA;
    known.replaced_ns = NOW - 10 * S;
}

static void took_place(void)
{
    known.replaced = RL_CAUSE_TOOK_PLACE;
    known.replaced_ns = NOW - 10 * S;
}

static void restarted(void)
{
    info.uptime_s = 20;
}

static void no_uptime(void)
{
    info.uptime_s = -1;
}

static void other_list(void)
{
    known.other_list = "another list of nodes is in use here";
}

/* In the order in which they are told. */
static const struct {
    void (*applies)(void);
    enum rl_cause cause;
    enum rl_fitness fitness;
    int64_t until_in, ask_in;
    enum rl_wait wait;
    const char *why; /* so it begins */
} causes[] = {
    {found_two, RL_CAUSE_TWO_SERVERS, RL_UNFIT, -NOW, S, RL_WAIT_SEEN, "two servers answer at"},
    {found_replaced, RL_CAUSE_REPLACED, RL_GUARDED, 0, 0, RL_WAIT_ASKED, "is a replica or"},
    {found_unmarked, RL_CAUSE_UNMARKED, RL_GUARDED, 0, 0, RL_WAIT_ASKED, "its marker has changed"},
    {found_unnamed, RL_CAUSE_UNNAMED, RL_UNFIT, -NOW, S, RL_WAIT_ASKED, "2 of 3 Sentinels don't"},
    {marker_denied, RL_CAUSE_MARKER_DENIED, RL_UNFIT, -NOW, CHECK, RL_WAIT_ASKED,
     "its marker can't be read, so lost keys could not be seen: no vote (NOPERM no)"},
    {info_denied, RL_CAUSE_INFO_DENIED, RL_UNFIT, -NOW, CHECK, RL_WAIT_ASKED,
     "INFO was refused, so a restart could not be seen: no vote (NOPERM no)"},
    {loads, RL_CAUSE_SERVER, RL_UNFIT, -NOW, 100 * MS, RL_WAIT_ASKED, "loading its data set"},
    {replica, RL_CAUSE_SERVER, RL_UNFIT, -NOW, S, RL_WAIT_ASKED, "is a replica, so"},
    {two_servers, RL_CAUSE_TWO_SERVERS, RL_UNFIT, -NOW, S, RL_WAIT_SEEN, "two servers answer at"},
    {unmet, RL_CAUSE_ADDRESS, RL_UNFIT, -NOW, S, RL_WAIT_ASKED, "x, another address"},
    {no_run_id, RL_CAUSE_NO_RUN_ID, RL_UNFIT, -NOW, CHECK, RL_WAIT_ASKED, "INFO names no run_id"},
    {marker_is_unfit, RL_CAUSE_MARKER, RL_UNFIT, -NOW, S, RL_WAIT_ASKED, "it was a replica"},
    {quarantined, RL_CAUSE_QUARANTINED, RL_GUARDED, 7 * S, 5 * S, RL_WAIT_QUARANTINE,
     "quarantined, because it was a replica"},
    {was_replica, RL_CAUSE_WAS_REPLICA, RL_GUARDED, WINDOW - 10 * S, WINDOW - 10 * S,
     RL_WAIT_SEEN, "was a replica or loaded its keys anew less than max-ttl ago: its vote is"},
    {took_place, RL_CAUSE_TOOK_PLACE, RL_GUARDED, WINDOW - 10 * S, WINDOW - 10 * S,
     RL_WAIT_SEEN, "may have taken the place of another server less than max-ttl ago: its"},
    {restarted, RL_CAUSE_RESTARTED, RL_GUARDED, 12 * S, 12 * S, RL_WAIT_UPTIME,
     "restarted less than max-ttl ago: its vote is withheld by the restart guard"},
    {no_uptime, RL_CAUSE_NO_UPTIME, RL_GUARDED, WINDOW, WINDOW, RL_WAIT_SEEN,
     "tells no uptime (was its clock set back behind its start?), so each new client waits"},
    {other_list, RL_CAUSE_LISTS, RL_UNFIT, -NOW, S, RL_WAIT_ASKED, "another list of nodes is"},
};

TEST(causes, each_alone, .rows = ROWS(causes))
{
    begin();
    causes[_i].applies();
    judge();
    ck_assert_int_eq(trust.cause, causes[_i].cause);
    ck_assert_int_eq(trust.fitness, causes[_i].fitness);
    ck_assert_int_eq(trust.until_ns, NOW + causes[_i].until_in);
    ck_assert_int_eq(trust.ask_ns, NOW + causes[_i].ask_in);
    ck_assert_msg(strncmp(trust.why, causes[_i].why, strlen(causes[_i].why)) == 0, "%s",
                  trust.why);
    const char *words = rl_trust_words(trust.cause);
    if (words)
        ck_assert_str_eq(trust.why, words);
}

/* What users read leads to the row with its wait. */
TEST(causes, each_has_its_wait_in_the_table_of_refusals, .rows = ROWS(causes))
{
    begin();
    causes[_i].applies();
    judge();
    const struct rl_refusal *refusal = rl_refusal_of(trust.why);
    ck_assert_int_eq(refusal ? refusal->wait : RL_WAIT_ASKED, causes[_i].wait);
}

/* The text of INFO is empty where it was denied; one thing at most is found or denied; and the
 * waits of the guard add up, see below. */
static bool meet(int first, int second)
{
    enum rl_cause a = causes[first].cause, b = causes[second].cause;
    bool by_guard = a >= RL_CAUSE_QUARANTINED && b >= RL_CAUSE_QUARANTINED;
    bool one_marker = a >= RL_CAUSE_MARKER && a <= RL_CAUSE_QUARANTINED &&
                      b >= RL_CAUSE_MARKER && b <= RL_CAUSE_QUARANTINED;
    return first < second && causes[second].applies != info_denied &&
           causes[second].applies != marker_denied && (second > 3) &&
           (!by_guard || first < 4 || a == RL_CAUSE_QUARANTINED) && (!one_marker || first < 4);
}

TEST(causes, first_one_is_told, .rows = ROWS(causes))
{
    unsigned met = 0;
    for (int second = 0; second < ROWS(causes); second++) {
        if (!meet(_i, second))
            continue;
        for (int turn = 0; turn < 2; turn++) {
            begin();
            causes[turn ? _i : second].applies();
            causes[turn ? second : _i].applies();
            if (causes[_i].applies == info_denied)
                rl_info_parse("", 0, &info);
            judge();
            ck_assert_msg(trust.cause == causes[_i].cause, "%d beside %d: %d", _i, second,
                          (int)trust.cause);
        }
        met++;
    }
    ck_assert(met > 0 || _i == ROWS(causes) - 1 || causes[_i].cause > RL_CAUSE_QUARANTINED);
}

/* Without the guard a restart is nobody's business, and what INFO would say is not needed. */
TEST(causes, guard_off)
{
    begin();
    known.guard = false;
    two_servers();
    judge();
    ck_assert_int_eq(trust.cause, RL_CAUSE_TWO_SERVERS);
    begin();
    known.guard = false;
    restarted();
    no_run_id();
    was_replica();
    judge();
    ck_assert_int_eq(trust.fitness, RL_FIT);
    begin();
    known.guard = false;
    info_denied();
    judge();
    ck_assert_int_eq(trust.fitness, RL_FIT);
    ck_assert_int_eq(trust.ask_ns, INT64_MAX);
    ck_assert_str_eq(trust.why, "warning: INFO was refused (NOPERM no)");
    unmet();
    judge();
    ck_assert_int_eq(trust.cause, RL_CAUSE_ADDRESS);
}

/* ---- the guard: which wait counts ------------------------------------------------------- */

static void expect_guard(enum rl_cause cause, int64_t until_in)
{
    judge();
    ck_assert_int_eq(trust.cause, cause);
    ck_assert_int_eq(trust.until_ns, cause == RL_CAUSE_NONE ? 0 : NOW + until_in);
}

TEST(guard, replaced_and_restarted_wait_for_the_later_one)
{
    begin();
    restarted(); /* 12 s more */
    was_replica();
    expect_guard(RL_CAUSE_WAS_REPLICA, WINDOW - 10 * S);
    known.replaced_ns = NOW - 25 * S;
    expect_guard(RL_CAUSE_WAS_REPLICA, 12 * S);
    known.replaced_ns = NOW - WINDOW + 1;
    expect_guard(RL_CAUSE_WAS_REPLICA, 12 * S);
    known.replaced_ns = NOW - WINDOW;
    expect_guard(RL_CAUSE_RESTARTED, 12 * S);
    info.uptime_s = 32;
    expect_guard(RL_CAUSE_NONE, 0);
    known.replaced_ns = NOW - WINDOW + 1;
    expect_guard(RL_CAUSE_WAS_REPLICA, 1);
}

/* Nothing proves that it ran beside the former one, and users know of the restart. */
TEST(guard, young_server_in_another_place_was_restarted)
{
    begin();
    restarted();
    took_place();
    expect_guard(RL_CAUSE_RESTARTED, WINDOW - 10 * S);
    info.uptime_s = 32; /* no longer young */
    expect_guard(RL_CAUSE_TOOK_PLACE, WINDOW - 10 * S);
    no_uptime(); /* young, for all that is known */
    expect_guard(RL_CAUSE_NO_UPTIME, WINDOW);
}

TEST(guard, process_that_is_known_for_the_window)
{
    begin();
    restarted();
    identity.seen_ns = NOW - WINDOW + 1;
    expect_guard(RL_CAUSE_RESTARTED, 1);
    identity.seen_ns = NOW - WINDOW;
    expect_guard(RL_CAUSE_NONE, 0);
}

TEST(guard, successor_without_an_uptime_was_restarted)
{
    begin();
    no_uptime();
    identity.successor = true;
    expect_guard(RL_CAUSE_RESTARTED, WINDOW);
}

TEST(guard, marker_proves_the_first_process_alone)
{
    begin();
    restarted();
    known.marker = &marker;
    known.marker_says = RL_MARKER_FREE;
    expect_guard(RL_CAUSE_NONE, 0);
    identity.successor = true;
    expect_guard(RL_CAUSE_RESTARTED, 12 * S);
    identity.successor = false;
    was_replica();
    expect_guard(RL_CAUSE_WAS_REPLICA, WINDOW - 10 * S);
}

TEST(guard, quarantine_that_nobody_has_set)
{
    begin();
    quarantined();
    marker.text[0] = '\0';
    judge();
    ck_assert_str_eq(trust.why, "to be quarantined, because it was a replica");
    ck_assert_int_eq(trust.ask_ns, NOW + 5 * S);
    known.wanted = true;
    judge();
    ck_assert_int_eq(trust.ask_ns, NOW);
    marker.text[0] = 'm';
    judge();
    ck_assert_int_eq(trust.ask_ns, NOW + 5 * S);
}

/* ---- when it is asked again ------------------------------------------------------------- */

TEST(asked, master_that_votes)
{
    begin();
    judge();
    ck_assert_int_eq(trust.cause, RL_CAUSE_NONE);
    ck_assert_int_eq(trust.fitness, RL_FIT);
    ck_assert_int_eq(trust.ask_ns, NOW - ASKED + CHECK);
    ck_assert_str_eq(trust.why, "");
    info.aof_failed = true;
    judge();
    ck_assert_int_eq(trust.fitness, RL_FIT);
    ck_assert_msg(strncmp(trust.why, "warning: MISCONF", 16) == 0, "%s", trust.why);
}

/* What its line says of them is enough, whichever it is. */
TEST(asked, replicas_that_are_attached_are_told_unless_line_speaks_of_them)
{
    static const char told[] = "run_id:one\nuptime_in_seconds:1000\nconnected_slaves:2\n";
    begin();
    rl_info_parse(told, strlen(told), &info);
    judge();
    ck_assert_int_eq(trust.fitness, RL_FIT);
    ck_assert_ptr_nonnull(strstr(trust.why, "warning: replicas are attached (2)"));
    ck_assert_ptr_nonnull(strstr(trust.why, "failover=no if none ever does"));
    known.replicas_told = true;
    judge();
    ck_assert_str_eq(trust.why, "");
}

/* A short window is looked at more often. */
TEST(asked, two_servers_by_the_window)
{
    begin();
    found_two();
    known.window_ns = 8 * S;
    judge();
    ck_assert_int_eq(trust.ask_ns, NOW + S / 2);
}

/* Loading or not: the pause is between connections. */
TEST(asked, unmet_address_after_its_pause)
{
    begin();
    unmet();
    known.unmet_pause_ns = 4 * S;
    loads();
    judge();
    ck_assert_int_eq(trust.cause, RL_CAUSE_SERVER);
    ck_assert_int_eq(trust.ask_ns, NOW + 4 * S);
    two_servers();
    info.loading = false;
    judge();
    ck_assert_int_eq(trust.cause, RL_CAUSE_TWO_SERVERS);
    ck_assert_int_eq(trust.ask_ns, NOW + S);
}

TEST(asked, lists_are_compared_whether_it_votes_or_not)
{
    begin();
    known.check_ns = 2 * S;
    info_denied();
    judge();
    ck_assert_int_eq(trust.ask_ns, NOW + 10 * S);
    known.lists_wanted = true;
    judge();
    ck_assert_int_eq(trust.ask_ns, NOW + 2 * S);
    begin();
    known.lists_wanted = true;
    replica();
    judge();
    ck_assert_int_eq(trust.ask_ns, NOW + S);
}

TEST(asked, at_once_where_it_is_not_settled_who_answers)
{
    begin();
    known.unsettled = true;
    judge();
    ck_assert_int_eq(trust.fitness, RL_FIT);
    ck_assert_int_eq(trust.ask_ns, NOW);
}

/* ---- who answers ------------------------------------------------------------------------ */

static const struct {
    const char *before, *after;
    bool lost, process;
    enum rl_cause replaced;
} answers[] = {
    {"run_id:one\nmaster_replid:a\n", "run_id:one\nmaster_replid:a\n", false, false,
     RL_CAUSE_NONE},
    {"run_id:one\n", "run_id:two\nuptime_in_seconds:5\n", true, true, RL_CAUSE_NONE},
    {"run_id:one\n", "run_id:two\nuptime_in_seconds:500\n", true, true, RL_CAUSE_TOOK_PLACE},
    {"run_id:one\nmaster_replid:a\n", "run_id:one\nmaster_replid:b\nsecond_repl_offset:1\n",
     true, false, RL_CAUSE_WAS_REPLICA},
    {"run_id:one\n", "", false, false, RL_CAUSE_NONE},
};

TEST(learnt, what_follows_from_who_answers, .rows = ROWS(answers))
{
    identity = (struct rl_identity){.seen_ns = 0};
    rl_info_parse(answers[_i].before, strlen(answers[_i].before), &info);
    rl_trust_learn(&identity, &info, 0, NOW - 100 * S);
    rl_info_parse(answers[_i].after, strlen(answers[_i].after), &info);
    struct rl_trust_news news = rl_trust_learn(&identity, &info, 0, NOW);
    ck_assert_int_eq(news.lost, answers[_i].lost);
    ck_assert_int_eq(news.process, answers[_i].process);
    ck_assert_int_eq(news.replaced, answers[_i].replaced);
}

/* R22: A hold by the former server is safe to its end, and this one's own look decides. */
static const struct {
    const char *before, *after;
} terms[] = {
    {"run_id:one\n", "run_id:two\nuptime_in_seconds:5\n"},
    {"run_id:one\n", "run_id:two\nuptime_in_seconds:500\n"},
    {"run_id:one\nmaster_replid:a\n", "run_id:one\nmaster_replid:b\nsecond_repl_offset:1\n"},
    {"run_id:one\n", "run_id:one\n"},
};

TEST(learnt, server_of_another_term_takes_nobodys_place, .rows = ROWS(terms))
{
    for (uint64_t term = 6; term <= 8; term += 2) { /* the Sentinels may forget */
        identity = (struct rl_identity){.seen_ns = 0};
        rl_info_parse(terms[_i].before, strlen(terms[_i].before), &info);
        rl_trust_learn(&identity, &info, 7, NOW - 100 * S);
        identity.successor = true;
        rl_info_parse(terms[_i].after, strlen(terms[_i].after), &info);
        struct rl_trust_news news = rl_trust_learn(&identity, &info, term, NOW);
        ck_assert(news.lost && news.process && news.failed_over);
        ck_assert_int_eq(news.replaced, RL_CAUSE_NONE);
        ck_assert(!identity.successor);
        ck_assert_int_eq(identity.seen_ns, NOW);
        ck_assert_uint_eq(identity.term, term);
        news = rl_trust_learn(&identity, &info, term, NOW);
        ck_assert(!news.lost && !news.failed_over);
    }
}

/* Two failovers by hand may have one term. */
TEST(learnt, another_server_in_one_term_is_a_loss)
{
    static const char two[] = "run_id:two\nuptime_in_seconds:500\n";
    identity = (struct rl_identity){.seen_ns = 0};
    rl_info_parse("run_id:one\n", 11, &info);
    rl_trust_learn(&identity, &info, 7, NOW - 100 * S);
    rl_info_parse(two, strlen(two), &info);
    struct rl_trust_news news = rl_trust_learn(&identity, &info, 7, NOW);
    ck_assert(news.lost && !news.failed_over);
    ck_assert_int_eq(news.replaced, RL_CAUSE_TOOK_PLACE);
    ck_assert(identity.successor);
}

/* A part of a second that its clock was set forward costs a whole one. */
TEST(learnt, uptime_by_a_clock_that_was_set)
{
    ck_assert_int_eq(rl_trust_uptime_s(-1, 5 * S), -1);
    ck_assert_int_eq(rl_trust_uptime_s(10, 0), 10);
    ck_assert_int_eq(rl_trust_uptime_s(10, 1), 9);
    ck_assert_int_eq(rl_trust_uptime_s(10, S), 9);
    ck_assert_int_eq(rl_trust_uptime_s(10, S + 1), 8);
    ck_assert_int_eq(rl_trust_uptime_s(10, 11 * S), 0);
    ck_assert_int_eq(rl_trust_uptime_s(0, S), 0);
}

TEST(learnt, uptime_by_a_clock_that_was_set_by_less_than_nothing, .signal = SIGABRT)
{
    rl_trust_uptime_s(10, -1);
}

TEST(learnt, twins_have_words)
{
    ck_assert_ptr_nonnull(strstr(rl_trust_words(RL_CAUSE_TWIN), "the same server"));
    ck_assert_ptr_nonnull(strstr(rl_trust_words(RL_CAUSE_MAYBE_TWIN), "may be the same server"));
    ck_assert_ptr_null(rl_trust_words(RL_CAUSE_NONE));
}

/* ---- the window, and the edge of each wait ---------------------------------------------- */

TEST(window, window_is_max_ttl_and_its_drift)
{
    ck_assert_int_eq(rl_guard_window_ns(30 * S, 0.0), 30 * S + 1);
    ck_assert_int_eq(rl_guard_window_ns(30 * S, 0.01), 30 * S + S * 3 / 10 + 1);
    ck_assert_int_gt(rl_guard_window_ns(RL_TTL_LIMIT_MS * RL_NS_PER_MS, 0.999),
                     RL_TTL_LIMIT_MS * RL_NS_PER_MS);
}

static const struct {
    int64_t window_ns, uptime_s, seen_ns, wait_ns;
} edges[] = {
    /* by uptime: uptime - 1 >= ceil(window) */
    {30 * S, 31, 0, 0},
    {30 * S, 30, 0, S}, /* a second less */
    {30 * S, 0, 0, 30 * S},
    {30 * S, 1, 0, 30 * S},
    {30 * S, 2, 0, 29 * S},
    {30 * S + 1, 31, 0, S}, /* a nanosecond over is a second more */
    {30 * S + 1, 32, 0, 0},
    {30 * S - 1, 31, 0, 0},
    {101 * S + 1, 102, 0, S}, /* max-ttl 100 s, as redlock-cluster says */
    {101 * S + 1, 103, 0, 0},
    {1, 1, 0, 1},
    {1, 2, 0, 0},
    {30 * S, INT64_C(999999999999999999), 0, 0},
    /* by what this client has seen itself: to the nanosecond */
    {30 * S, 0, 30 * S, 0},
    {30 * S, 0, 30 * S - 1, 1},
    {30 * S, -1, 30 * S, 0},
    {30 * S, -1, 30 * S - 1, 1},
    {30 * S, -1, 0, 30 * S}, /* uptime not told */
    {30 * S, 5, 29 * S, S},
    /* whichever comes first */
    {30 * S, 30, 10 * S, S},
    {30 * S, 20, 25 * S, 5 * S},
};

TEST(window, exact_edges, .rows = ROWS(edges))
{
    int64_t wait = rl_guard_wait_ns(edges[_i].window_ns, edges[_i].uptime_s, edges[_i].seen_ns);
    ck_assert_int_eq(wait, edges[_i].wait_ns);
}

/* The uptime that a server reports is a difference of two truncated clocks: up to a second
 * more than the truth, or less. Whatever it reports, a vote means that it has been up for
 * the whole window; and a guard one second laxer would let through one that was not. */
TEST(window, second_less_is_hole)
{
    struct rl_prng prng;
    bool hole = false;
    rl_prng_seed(&prng, 11);
    for (int i = 0; i < 400000; i++) {
        int64_t max_ttl = (int64_t)(1 + rl_prng_below(&prng, 40)) * S / 4;
        int64_t window = rl_guard_window_ns(max_ttl, 0.01);
        int64_t began = (int64_t)rl_prng_below(&prng, 100 * (uint64_t)S);
        int64_t up = window - 2 * S + (int64_t)rl_prng_below(&prng, 4 * (uint64_t)S);
        if (up < 0)
            continue;
        int64_t reported = (began + up) / S - began / S;
        if (rl_guard_wait_ns(window, reported, 0) == 0)
            ck_assert_int_ge(up, window);
        hole |= rl_guard_wait_ns(window, reported + 1, 0) == 0 && up < window;
    }
    ck_assert(hole);
}

/* Asking again after the time that was named finds a vote; a nanosecond before, none. */
TEST(window, wait_is_enough_and_not_too_long)
{
    struct rl_prng prng;
    rl_prng_seed(&prng, 12);
    for (int i = 0; i < 200000; i++) {
        int64_t window = 1 + (int64_t)rl_prng_below(&prng, 60 * (uint64_t)S);
        int64_t uptime = (int64_t)rl_prng_below(&prng, 70) - 1;
        int64_t seen = (int64_t)rl_prng_below(&prng, 70 * (uint64_t)S);
        int64_t wait = rl_guard_wait_ns(window, uptime, seen);
        if (wait == 0)
            continue;
        int64_t later = uptime < 0 ? -1 : uptime + wait / S;
        ck_assert_int_eq(rl_guard_wait_ns(window, later, seen + wait), 0);
        if (wait > 1)
            ck_assert_int_ne(rl_guard_wait_ns(window, later - (later > 0), seen + wait - 1), 0);
    }
}

TEST(window, window_of_nothing, .signal = SIGABRT)
{
    rl_guard_wait_ns(0, 5, 0);
}

TEST(window, run_that_was_seen_before_now, .signal = SIGABRT)
{
    rl_guard_wait_ns(S, 5, -1);
}

TEST(window, window_for_no_ttl, .signal = SIGABRT)
{
    rl_guard_window_ns(0, 0.01);
}

TEST(window, window_with_drift_of_everything, .signal = SIGABRT)
{
    rl_guard_window_ns(S, 1.0);
}

TEST(window, window_with_negative_drift, .signal = SIGABRT)
{
    rl_guard_window_ns(S, -0.5);
}

