/* tags: long unsanitized */
/* test_other_lists.c - config-agreement with real masters: clients with another node list meet
 * there. What they are told, who votes no more and for how long, and what is not seen. */
#include "config_auto.h"

#include "base/limits.h"
#include "kinds/lists.h"
#include "masters.h"
#include "told.h"

#include <stdio.h>
#include <string.h>

#define WARN "guard off\nmax-ttl 3s\nttl 1s\nconfig-agreement warn\n"
#define REFUSE "guard off\nmax-ttl 3s\nttl 1s\nconfig-agreement refuse\n"

enum { SOON_MS = 10000 };

static struct masters *masters; /* five */
static struct node_list list;
static redlock_node_vote report_votes[REDLOCK_NODES_MAX];
static redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
static char text[192];

/* ---- what a client logs ----------------------------------------------------------------- */

#define LINES_MAX 64
struct lines {
    unsigned count;
    char line[LINES_MAX][512];
};

static void note(void *context, int level, const char *line)
{
    struct lines *lines = context;
    ck_assert_int_eq(level, REDLOCK_LOG_WARNING);
    ck_assert_uint_lt(lines->count, LINES_MAX);
    snprintf(lines->line[lines->count++], sizeof(lines->line[0]), "%s", line);
}

/* How many lines have that. Nobody else must run the client: there is no background. */
static unsigned lines_with(const struct lines *lines, const char *part)
{
    unsigned count = 0;
    for (unsigned i = 0; i < lines->count; i++)
        count += strstr(lines->line[i], part) != NULL;
    return count;
}

/* ---- clients ---------------------------------------------------------------------------- */

static redlock *open_noting(const char *settings, unsigned first, unsigned last,
                            const char *query, struct lines *lines)
{
    redlock *client;
    redlock_config config = REDLOCK_CONFIG_INIT;
    list = (struct node_list){.len = 0};
    node_list_line(&list, "connect-timeout 10s\n%s", settings);
    for (unsigned i = first; i <= last; i++)
        node_list_line(&list, "node unix://%s%s", masters->node[i].unix_at.path, query);
    config.file = node_list_write(&list);
    if (lines) {
        lines->count = 0;
        config.log = note;
        config.log_context = lines;
        config.background = REDLOCK_BACKGROUND_NEVER;
    }
    ck_assert_int_eq(redlock_open_config(&config, NULL, &client), 0);
    return client;
}

static redlock *open_list(const char *settings, unsigned first, unsigned last)
{
    return open_noting(settings, first, last, "", NULL);
}

/* It votes everywhere, and has asked everywhere. */
static redlock *open_ready(const char *settings, unsigned first, unsigned last)
{
    redlock *client = open_list(settings, first, last);
    ck_assert(wait_until(client_ready(client) == last - first + 1, SOON_MS));
    return client;
}

static void expect_lock(redlock *client, int64_t wait_ms)
{
    redlock_lock *lock = NULL;
    int code = client_try(client, "name", 1000, wait_ms, &report, &lock);
    ck_assert_msg(code == 0, "%d: %s", code, client_told(&report));
    ck_assert_int_eq(redlock_release(lock), 0);
}

/* No lock, once the first node is known. */
static void expect_none(redlock *client, const char *part)
{
    redlock_lock *lock = NULL;
    ck_assert(wait_until(client_state(client, 0, text) == REDLOCK_NODE_REFUSED, SOON_MS));
    int code = client_try(client, "name", 1000, 0, &report, &lock);
    ck_assert_msg(code == REDLOCK_ENOQUORUM, "%d: %s", code, client_told(&report));
    ck_assert_msg(strstr(report.node[0].text, part) != NULL, "'%s' in '%s'", part,
                  report.node[0].text);
}

static void expect_text(const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "'%s' in '%s'", part, text);
}

static void forget_lists(void)
{
    for (unsigned i = 0; i < masters->n; i++)
        master_do(masters, i, "DEL", RL_LISTS_KEY, NULL);
}

static void start(void)
{
    masters = masters_start(5, NULL);
}

/* ---- warn -------------------------------------------------------------------------------- */

TEST(warn, clients_of_one_list_are_told_nothing)
{
    static struct lines lines;
    redlock *one = open_ready(WARN, 0, 2);
    redlock *two = open_noting(WARN, 0, 2, "", &lines);
    ck_assert_uint_eq(client_ready(two), 3);
    expect_lock(two, 0);
    ck_assert_int_eq(client_state(two, 0, text), REDLOCK_NODE_READY);
    ck_assert_str_eq(text, "");
    ck_assert_uint_eq(lines.count, 0);
    ck_assert_uint_eq(client_stats(two).other_lists, 0);
    ck_assert_uint_eq(masters_with(masters, RL_LISTS_KEY), 3);
    redlock_close(one);
    redlock_close(two);
}

static const struct other {
    const char *settings;
    unsigned last;
    const char *difference;
} others[] = {
    {WARN, 4, "its list has 5 masters, this one 3"},
    {"guard off\nmax-ttl 5s\nttl 1s\nconfig-agreement warn\n", 2, "its max-ttl is 5s, here 3s"},
    {"max-ttl 3s\nttl 1s\nconfig-agreement warn\n", 2, "its guard is on, here off"},
    {WARN "drift-factor 0.05\n", 2, "its drift-factor is 0.050000, here 0.010000"},
};
#define OTHERS (int)(sizeof(others) / sizeof(others[0]))

TEST(warn, other_list_is_told_once_and_costs_no_vote, .rows = OTHERS)
{
    static struct lines lines;
    redlock *other = open_list(others[_i].settings, 0, others[_i].last);
    ck_assert(wait_until(client_ready(other) == others[_i].last + 1, SOON_MS));
    redlock *client = open_noting(WARN, 0, 2, "", &lines);
    ck_assert_uint_eq(client_ready(client), 3);
    expect_lock(client, 0);
    ck_assert_uint_eq(lines.count, 1);
    ck_assert_uint_eq(lines_with(&lines, others[_i].difference), 1);
    ck_assert_uint_eq(client_stats(client).other_lists, 1);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(client_state(client, i, text), REDLOCK_NODE_READY);
        expect_text("warning: another list of nodes is in use here: n");
        expect_text(others[_i].difference);
    }
    redlock_close(other);
    redlock_close(client);
}

TEST(warn, each_other_list_is_told)
{
    static struct lines lines;
    redlock *five = open_ready(WARN, 0, 4), *four = open_ready(WARN, 0, 3);
    redlock *client = open_noting(WARN, 0, 2, "", &lines);
    ck_assert_uint_eq(client_ready(client), 3);
    expect_lock(client, 0);
    ck_assert_uint_eq(lines_with(&lines, "its list has 5 masters"), 1);
    ck_assert_uint_eq(lines_with(&lines, "its list has 4 masters"), 1);
    ck_assert_uint_eq(client_stats(client).other_lists, 2);
    ck_assert_int_eq(client_state(client, 2, text), REDLOCK_NODE_READY);
    expect_text(", and 1 more");
    redlock_close(five);
    redlock_close(four);
    redlock_close(client);
}

/* What a later version may leave there. */
static const char *const later[] = {
    "n3-ttl3000-keys2-drift10000-paranoid-1f2e3d4c",
    "n65-ttl3000-keys2-drift10000-guard-1f2e3d4c",
    "n3-ttl9999999999999-drift1-later-00000000",
    "n3-ttl3000-sentinels3-drift10000-guard-1f2e3d4c",
};
#define LATER (int)(sizeof(later) / sizeof(later[0]))

static void show_mark(const char *mark)
{
    char value[32];
    for (unsigned i = 0; i < masters->n; i++) {
        snprintf(value, sizeof(value), "%.10s000",
                 master_do(masters, i, "TIME", NULL).text); /* seconds come first */
        ck_assert_int_eq(
            master_do(masters, i, "HSET", RL_LISTS_KEY, mark, value, NULL).number, 1);
    }
}

TEST(warn, later_version_is_told_once_and_costs_no_vote, .rows = LATER)
{
    static struct lines lines;
    show_mark(later[_i]);
    redlock *client = open_noting(WARN, 0, 2, "", &lines);
    ck_assert_uint_eq(client_ready(client), 3);
    expect_lock(client, 0);
    ck_assert_uint_eq(lines.count, 1);
    ck_assert_uint_eq(lines_with(&lines, later[_i]), 1);
    ck_assert_uint_eq(lines_with(&lines, "it is of another version of this library"), 1);
    ck_assert_uint_eq(client_stats(client).other_lists, 1);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(client_state(client, i, text), REDLOCK_NODE_READY);
        expect_text("warning: another list of nodes is in use here: n");
    }
    redlock_close(client);
}

/* A client of the former format of keys has shown its mark, in the key that it knows. */
static void show_former(void)
{
    char value[32];
    for (unsigned i = 0; i < masters->n; i++) {
        snprintf(value, sizeof(value), "%.10s000", master_do(masters, i, "TIME", NULL).text);
        master_do(masters, i, "HSET", "redlock:lists", "n3-ttl1000-drift10000-guard-1f2e3d4c",
                  value, NULL);
    }
}

TEST(warn, client_of_former_version_is_told_and_costs_no_vote)
{
    static struct lines lines;
    show_former();
    redlock *client = open_noting(WARN, 0, 2, "", &lines);
    ck_assert_uint_eq(client_ready(client), 3);
    expect_lock(client, 0);
    ck_assert_uint_eq(lines_with(&lines, "it is of a former version, whose keys have other"), 1);
    ck_assert_int_eq(client_state(client, 0, text), REDLOCK_NODE_READY);
    expect_text("it is of a former version, whose keys have other names");
    redlock_close(client);
}

/* The same number of masters, of which two are the same ones. */
TEST(warn, other_masters_are_told_where_lists_meet)
{
    redlock *other = open_ready(WARN, 2, 4), *client = open_ready(WARN, 1, 3);
    ck_assert_int_eq(client_state(client, 0, text), REDLOCK_NODE_READY);
    ck_assert_str_eq(text, "");
    ck_assert_int_eq(client_state(client, 1, text), REDLOCK_NODE_READY);
    expect_text("it names other masters, or other databases of them");
    ck_assert_int_eq(client_state(client, 2, text), REDLOCK_NODE_READY);
    expect_text("it names other masters, or other databases of them");
    redlock_close(other);
    redlock_close(client);
}

/* ---- refuse ------------------------------------------------------------------------------ */

TEST(refuse, master_that_has_met_another_list_does_not_vote)
{
    redlock *five = open_ready(REFUSE, 0, 4);
    redlock *three = open_list(REFUSE, 0, 2);
    expect_none(three, "another list of nodes is in use here: n5-ttl3000-");
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(client_state(three, i, text), REDLOCK_NODE_REFUSED);
        expect_text("its list has 5 masters, this one 3");
    }
    redlock_close(five);
    redlock_close(three);
}

/* Nobody can say whether its list is the same. */
TEST(refuse, later_version_has_another_list, .rows = LATER)
{
    show_mark(later[_i]);
    redlock *client = open_list(REFUSE, 0, 2);
    expect_none(client, "it is of another version of this library");
    redlock_close(client);
}

TEST(refuse, former_version_has_another_list)
{
    show_former();
    redlock *client = open_list(REFUSE, 0, 2);
    expect_none(client, "it is of a former version, whose keys have other names");
    redlock_close(client);
}

/* The first one sees the other at its next look, and both wait for each other. */
TEST(refuse, both_refuse_while_both_run)
{
    redlock *five = open_ready(REFUSE, 0, 4);
    redlock *three = open_list(REFUSE, 0, 2);
    redlock_lock *lock = NULL;
    expect_none(three, "another list of nodes is in use here: n5-");
    expect_lock(five, 0); /* it has not looked again */
    pause_ms(RL_ASK_INFO_MS);
    ck_assert_int_eq(client_try(five, "name", 1000, 0, &report, &lock), REDLOCK_ENOQUORUM);
    ck_assert_uint_eq(client_ready(five), 2);
    ck_assert_int_eq(client_state(five, 0, text), REDLOCK_NODE_REFUSED);
    expect_text("its list has 3 masters, this one 5");
    redlock_close(three);
    forget_lists(); /* as when its mark has ended */
    ck_assert(wait_until(client_ready(five) == 5, SOON_MS));
    expect_lock(five, 0);
    redlock_close(five);
}

/* The look comes before the votes that an idle client asks for, in the same write. */
TEST(refuse, idle_client_looks_before_it_asks_for_votes)
{
    redlock *five = open_ready(REFUSE, 0, 4);
    expect_lock(five, 0);
    pause_ms(RL_ASK_INFO_MS);
    forget_lists(); /* it was silent for long */
    redlock *three = open_ready(REFUSE, 0, 2);
    redlock_lock *lock = NULL, *both = NULL;
    ck_assert_int_eq(client_try(three, "name", 1000, 0, NULL, &lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_int_eq(client_try(five, "name", 1000, 0, &report, &both), REDLOCK_ENOQUORUM);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_int_eq(report.node[i].vote, REDLOCK_VOTE_FAILED);
    redlock_close(five);
    redlock_close(three);
}

/* It may have held locks until the last moment: so long its mark stays. */
TEST(refuse, mark_outlives_its_client_by_longest_lease)
{
    redlock *five = open_ready(REFUSE, 0, 4);
    redlock_close(five);
    int64_t left = master_do(masters, 0, "PTTL", RL_LISTS_KEY, NULL).number;
    ck_assert_int_gt(left, RL_LISTS_MARGIN_MS);
    ck_assert_int_le(left, RL_LISTS_MARGIN_MS + 3000);
    redlock *three = open_list(REFUSE, 0, 2);
    expect_none(three, "another list of nodes is in use here: n5-");
    expect_lock(three, RL_LISTS_MARGIN_MS + 3000 + SOON_MS);
    redlock_close(three);
}

/* A client that only holds a lock, for long, and asks for nothing. */
TEST(refuse, holders_list_is_shown_for_as_long_as_it_holds)
{
    struct told lost = {0};
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock = NULL;
    redlock *five =
        open_ready("guard off\nmax-ttl 1m\nttl 1m\nconfig-agreement refuse\n", 0, 4);
    options.on_lost = told_lost;
    options.lost_context = &lost;
    ck_assert_int_eq(redlock_try(five, "name", &options, &lock), 0);
    forget_lists();
    ck_assert(wait_until(masters_with(masters, RL_LISTS_KEY) == 5, RL_ASK_INFO_MS + SOON_MS));
    ck_assert_int_eq(atomic_load(&lost.calls), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    redlock_close(five);
}

/* A wrong client ends the locks of the others, at their next look: it can't have them. */
TEST(refuse, holder_is_told_that_another_list_came)
{
    struct told lost = {0};
    redlock *first = open_ready(REFUSE, 0, 2);
    redlock_lock *lock = told_take_renewed(first, "name", 1000, &lost);
    redlock *other = open_list(REFUSE, 0, 4);
    redlock_lock *none = NULL;
    ck_assert_int_eq(client_try(other, "name", 1000, 0, NULL, &none), REDLOCK_ENOQUORUM);
    ck_assert_int_gt(redlock_validity_ms(lock), 0);
    ck_assert(wait_until(atomic_load(&lost.calls) == 1, RL_ASK_INFO_MS + SOON_MS));
    ck_assert_int_eq(client_try(other, "name", 1000, 0, NULL, &none), REDLOCK_ENOQUORUM);
    redlock_release(lock);
    redlock_close(first);
    redlock_close(other);
}

/* ---- who is not seen, and by whom -------------------------------------------------------- */

TEST(unseen, clients_without_setting_are_neither_seen_nor_stopped)
{
    redlock *off = open_ready("guard off\nmax-ttl 3s\nttl 1s\n", 0, 4);
    ck_assert_uint_eq(masters_with(masters, RL_LISTS_KEY), 0);
    redlock *three = open_ready(REFUSE, 0, 2);
    expect_lock(three, 0);
    expect_lock(off, 0);
    redlock_close(off);
    redlock_close(three);
}

/* Another database is another key space, and the marks are in that of the locks. */
TEST(unseen, clients_of_other_databases_do_not_meet)
{
    static struct lines lines;
    redlock *zero = open_ready(REFUSE, 0, 2);
    redlock *one = open_noting(REFUSE, 0, 2, "?db=1", &lines);
    ck_assert_uint_eq(client_ready(one), 3);
    expect_lock(one, 0);
    ck_assert_uint_eq(client_stats(one).other_lists, 0);
    redlock_close(zero);
    redlock_close(one);
}

/* ---- masters that do not tell ------------------------------------------------------------ */

static void take_right_away(void)
{
    for (unsigned i = 0; i < masters->n; i++)
        master_do(masters, i, "ACL", "SETUSER", "default", "resetkeys", "~name*",
                  "~{name*", NULL);
}

TEST(unseen, warn_without_right_goes_on)
{
    static struct lines lines;
    take_right_away();
    redlock *client = open_noting(WARN, 0, 2, "", &lines);
    ck_assert_uint_eq(client_ready(client), 3);
    expect_lock(client, 0);
    ck_assert_uint_eq(lines.count, 0);
    ck_assert_int_eq(client_state(client, 0, text), REDLOCK_NODE_READY);
    expect_text("warning: its clients' lists of nodes can't be compared (NOPERM");
    redlock_close(client);
}

TEST(unseen, refuse_without_right_does_not_vote)
{
    take_right_away();
    redlock *client = open_list(REFUSE, 0, 2);
    expect_none(client, "its clients' lists of nodes can't be compared (NOPERM");
    redlock_close(client);
}

TEST(unseen, other_data_in_place_of_key_is_told)
{
    master_do(masters, 0, "SET", RL_LISTS_KEY, "x", NULL);
    redlock *client = open_list(REFUSE, 0, 2);
    expect_lock(client, SOON_MS);
    ck_assert(wait_until(client_state(client, 0, text) == REDLOCK_NODE_REFUSED, SOON_MS));
    expect_text("WRONGTYPE");
    ck_assert_uint_eq(client_ready(client), 2);
    redlock_close(client);
}

/* INFO is refused for good, and no restart guard needs it: the mark is shown all the same. */
TEST(unseen, mark_is_shown_anew_where_info_is_denied)
{
    struct told lost = {0};
    for (unsigned i = 0; i < masters->n; i++)
        master_do(masters, i, "ACL", "SETUSER", "default", "-info", NULL);
    redlock *client = open_ready(REFUSE, 0, 4);
    redlock_lock *lock = told_take_renewed(client, "name", 1000, &lost);
    forget_lists();
    ck_assert(wait_until(masters_with(masters, RL_LISTS_KEY) == 5, RL_ASK_INFO_MS + SOON_MS));
    ck_assert_int_eq(redlock_release(lock), 0);
    redlock_close(client);
}

/* Its marker has to be there as well; both are asked for in one write. */
TEST(unseen, marker_and_lists_are_asked_for_together)
{
    redlock_lock *lock = NULL;
    redlock *client =
        open_list("guard marker\nmax-ttl 1s\nttl 500ms\nconfig-agreement refuse\n", 0, 2);
    /* Who only looks sets no marker. */
    ck_assert_int_eq(client_try(client, "name", 500, 0, NULL, &lock), REDLOCK_ENOQUORUM);
    ck_assert(wait_until(client_ready(client) == 3, SOON_MS));
    expect_lock(client, 0);
    redlock *other =
        open_list("guard marker\nmax-ttl 1s\nttl 500ms\nconfig-agreement refuse\n", 0, 3);
    ck_assert(wait_until(client_state(other, 0, text) == REDLOCK_NODE_REFUSED, SOON_MS));
    expect_text("another list of nodes is in use here: n3-ttl1000-keys2-drift10000-marker-");
    redlock_close(client);
    redlock_close(other);
}

CASE(warn, .timeout_s = 120, .set_up = start)
CASE(refuse, .timeout_s = 120, .set_up = start)
CASE(unseen, .timeout_s = 120, .set_up = start)
