/* tags: valgrind */
/* test_witness.c - whom a majority of the named Sentinels has named, since when, and who of them
 * counts. */
#include "config_auto.h"

#include "base/limits.h"
#include "core/witness.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

#define S RL_NS_PER_S
#define WINDOW (6 * S)
#define UP 100 /* seconds: long ago */
#define NOW (1000 * S)

static struct rl_witnesses witnesses;

static struct rl_master_at at(char host, uint64_t term)
{
    return (struct rl_master_at){.host = {host, '\0'}, .port = 6379, .term = term};
}

/* So many, all connected; their ids are their numbers. */
static void name(unsigned named)
{
    char id[16];
    witnesses = (struct rl_witnesses){.named = named};
    for (unsigned i = 0; i < named; i++) {
        snprintf(id, sizeof(id), "id%u", i);
        rl_witness_met(&witnesses, i, id, UP, WINDOW, NOW);
    }
}

static void says_at(unsigned i, char host, uint64_t term, int64_t asked_ns)
{
    struct rl_statement statement = {.told = true, .at = at(host, term)};
    rl_witness_answered(&witnesses, i, &statement, asked_ns, 1, asked_ns + 1);
}

/* Each of them, one letter a witness: whom it names. '-': nobody. */
static void all_say(const char *hosts, uint64_t term, int64_t asked_ns)
{
    for (unsigned i = 0; hosts[i]; i++) {
        if (hosts[i] != '-')
            says_at(i, hosts[i], term, asked_ns);
    }
}

/* Whom a majority names; '-': nobody. */
static char named(int64_t since_ns)
{
    struct rl_master_at who = at('-', 0);
    bool told = rl_witnesses_name(&witnesses, since_ns, 1, &who);
    ck_assert(told == (who.host[0] != '-'));
    return who.host[0];
}

static const struct count {
    const char *hosts;
    char master;
} counts[] = {
    {"mmm", 'm'}, {"mm-", 'm'}, {"m-m", 'm'}, {"-mm", 'm'}, {"m--", '-'}, {"---", '-'},
    {"mmp", 'm'}, {"pmm", 'm'}, {"mpp", 'p'}, {"mpq", '-'}, {"mp-", '-'},
    {"mm--", '-'}, {"mmm-", 'm'}, {"mmpp", '-'}, {"mppp", 'p'},
    {"mm---", '-'}, {"mmm--", 'm'}, {"mmmpp", 'm'}, {"mmpp-", '-'},
    {"mmm---", '-'}, {"mmmm--", 'm'}, {"mmmppp", '-'},
    {"m", 'm'}, {"m-", '-'}, {"mm", 'm'},
};

/* R22 */
TEST(witness, majority_is_of_those_named, .rows = ROWS(counts))
{
    name((unsigned)strlen(counts[_i].hosts));
    all_say(counts[_i].hosts, 1, NOW);
    ck_assert_msg(named(NOW) == counts[_i].master, "%s", counts[_i].hosts);
}

TEST(witness, server_of_another_term_is_another)
{
    struct rl_master_at who;
    name(3);
    says_at(0, 'm', 1, NOW);
    says_at(1, 'm', 2, NOW);
    ck_assert_int_eq(named(NOW), '-');
    says_at(2, 'm', 2, NOW);
    ck_assert(rl_witnesses_name(&witnesses, NOW, 1, &who));
    ck_assert_uint_eq(who.term, 2);
    struct rl_master_at asked = at('m', 1);
    ck_assert(!rl_witnesses_vouch(&witnesses, &asked, NOW, 1));
    asked.term = 2;
    ck_assert(rl_witnesses_vouch(&witnesses, &asked, NOW, 1));
    asked.port = 6380;
    ck_assert(!rl_witnesses_vouch(&witnesses, &asked, NOW, 1));
}

/* R22: To the nanosecond. */
TEST(witness, what_was_asked_too_early_is_no_statement)
{
    const struct rl_master_at m = at('m', 1);
    name(3);
    says_at(0, 'm', 1, NOW + 5);
    says_at(1, 'm', 1, NOW + 7);
    ck_assert_int_eq(named(NOW + 5), 'm');
    ck_assert_int_eq(named(NOW + 6), '-');
    ck_assert(rl_witnesses_vouch(&witnesses, &m, NOW + 5, 1));
    ck_assert(!rl_witnesses_vouch(&witnesses, &m, NOW + 6, 1));
    says_at(2, 'm', 1, NOW + 6);
    ck_assert_int_eq(named(NOW + 6), 'm');
}

TEST(witness, statement_of_another_epoch_of_clock_is_none)
{
    const struct rl_statement m = {.told = true, .at = at('m', 1)};
    struct rl_master_at who;
    name(3);
    rl_witness_answered(&witnesses, 0, &m, NOW, 1, NOW);
    rl_witness_answered(&witnesses, 1, &m, NOW, 2, NOW);
    ck_assert(!rl_witnesses_name(&witnesses, NOW, 1, &who));
    ck_assert(!rl_witnesses_name(&witnesses, NOW, 2, &who));
    rl_witness_answered(&witnesses, 2, &m, NOW, 2, NOW);
    ck_assert(rl_witnesses_name(&witnesses, NOW, 2, &who));
    ck_assert(!rl_witnesses_name(&witnesses, NOW, 1, &who));
}

TEST(witness, later_answer_stands_instead_of_earlier_one)
{
    const struct rl_statement nothing = {.told = false, .why = "no address"};
    name(3);
    all_say("mm-", 1, NOW);
    rl_witness_answered(&witnesses, 0, &nothing, NOW + 1, 1, NOW + 1);
    ck_assert_int_eq(named(NOW), '-');
    says_at(0, 'm', 1, NOW + 2);
    ck_assert_int_eq(named(NOW), 'm');
    rl_witness_gone(&witnesses, 0, RL_UNHEARD_SILENT);
    ck_assert_int_eq(named(NOW), 'm'); /* what it said stands */
}

TEST(witness, other_process_at_the_address_is_not_vouched_for)
{
    struct rl_statement m = {.told = true, .at = at('m', 1)};
    struct rl_master_at asked = at('m', 1), who = asked;
    name(3);
    strcpy(m.at.run_id, "old");
    rl_witness_answered(&witnesses, 0, &m, NOW, 1, NOW);
    strcpy(m.at.run_id, "new");
    rl_witness_answered(&witnesses, 1, &m, NOW, 1, NOW);
    strcpy(asked.run_id, "new");
    ck_assert(rl_witnesses_name(&witnesses, NOW, 1, &who)); /* to connect to it */
    ck_assert_str_eq(who.run_id, "");
    ck_assert(!rl_witnesses_vouch(&witnesses, &asked, NOW, 1));
    says_at(2, 'm', 1, NOW); /* an address: its run id is not told */
    ck_assert(rl_witnesses_vouch(&witnesses, &asked, NOW, 1));
    asked.run_id[0] = '\0';
    ck_assert(!rl_witnesses_vouch(&witnesses, &asked, NOW, 1));
}

/* ---- who counts ------------------------------------------------------------------------ */

TEST(witness, one_id_at_two_hosts_counts_once)
{
    name(3);
    rl_witness_met(&witnesses, 1, "id0", UP, WINDOW, NOW);
    witnesses.of[1].counts_ns = 0; /* had it been there from the beginning */
    all_say("mm-", 1, NOW);
    ck_assert_int_eq(named(NOW), '-');
    says_at(2, 'm', 1, NOW);
    ck_assert_int_eq(named(NOW), 'm');
    says_at(0, 'p', 2, NOW + 1); /* it counts where it says so */
    ck_assert_int_eq(named(NOW), 'm');
}

TEST(witness, unknown_id_is_in_no_set)
{
    witnesses = (struct rl_witnesses){.named = 3};
    rl_witness_met(&witnesses, 1, "b", UP, WINDOW, NOW);
    all_say("mmm", 1, NOW);
    ck_assert_int_eq(named(NOW), '-');
    rl_witness_met(&witnesses, 0, "a", UP, WINDOW, NOW);
    ck_assert_int_eq(named(NOW), '-'); /* what it said as nobody is nobody's */
    says_at(0, 'm', 1, NOW);
    ck_assert_int_eq(named(NOW), 'm');
}

/* INFO may tell one second too many. */
TEST(witness, young_process_counts_when_it_is_up_for_window)
{
    name(3);
    rl_witness_met(&witnesses, 0, "id0", 5, WINDOW, NOW);
    all_say("mm-", 1, NOW + 2 * S - 1);
    ck_assert_int_eq(named(NOW), '-');
    says_at(0, 'm', 1, NOW + 2 * S);
    ck_assert_int_eq(named(NOW), 'm');
    rl_witness_met(&witnesses, 0, "id0", 0, WINDOW, NOW + 3 * S); /* it was restarted */
    says_at(0, 'm', 1, NOW + 9 * S - 1);
    ck_assert_int_eq(named(NOW), '-');
    says_at(0, 'm', 1, NOW + 9 * S);
    ck_assert_int_eq(named(NOW), 'm');
}

TEST(witness, without_uptime_it_counts_when_known_for_window)
{
    name(3);
    rl_witness_met(&witnesses, 0, "id0", -1, WINDOW, NOW);
    all_say("mm-", 1, NOW + WINDOW - 1);
    ck_assert_int_eq(named(NOW), '-');
    says_at(0, 'm', 1, NOW + WINDOW);
    ck_assert_int_eq(named(NOW), 'm');
}

/* R22: Else a replaced Sentinel and its former one were in two majorities at once. */
TEST(witness, another_id_at_a_host_is_new_and_waits_whatever_its_uptime)
{
    name(3);
    all_say("mm-", 5, NOW);
    rl_witness_met(&witnesses, 0, "other", UP, WINDOW, NOW + 1);
    ck_assert_int_eq(named(NOW), '-'); /* the former one said that */
    says_at(0, 'm', 5, NOW + WINDOW);
    ck_assert_int_eq(named(NOW), '-');
    rl_witness_met(&witnesses, 0, "other", UP, WINDOW, NOW + 2); /* connected again */
    says_at(0, 'm', 5, NOW + WINDOW);
    ck_assert_int_eq(named(NOW), '-');
    says_at(0, 'm', 5, NOW + WINDOW + 1);
    ck_assert_int_eq(named(NOW), 'm');
}

TEST(witness, new_one_remembers_nothing_of_the_former)
{
    name(3);
    all_say("mmm", 5, NOW);
    rl_witness_met(&witnesses, 0, "other", UP, WINDOW, NOW + 1);
    ck_assert_int_eq(witnesses.of[0].best.port, 0);
    says_at(0, 'p', 4, NOW + WINDOW + 1);
    ck_assert(!witnesses.of[0].back);
}

TEST(witness, host_that_leads_to_several_is_none)
{
    name(3);
    rl_witness_met(&witnesses, 0, "other", UP, WINDOW, NOW);
    rl_witness_met(&witnesses, 0, "id0", UP, WINDOW, NOW + 1);
    all_say("mm-", 1, NOW + 10 * WINDOW);
    ck_assert_int_eq(named(NOW), '-');
    says_at(2, 'm', 1, NOW + 10 * WINDOW);
    ck_assert_int_eq(named(NOW), 'm');
}

/* A wait that a step back of the clock made long ends after the window at the next connect. */
TEST(witness, wait_is_never_longer_than_window)
{
    name(3);
    rl_witness_met(&witnesses, 0, "other", UP, WINDOW, NOW);
    rl_witness_met(&witnesses, 0, "other", UP, WINDOW, 10 * S); /* the clock went back */
    ck_assert_int_eq(witnesses.of[0].counts_ns, 10 * S + WINDOW);
}

/* ---- memory ---------------------------------------------------------------------------- */

/* R22 */
TEST(witness, one_that_goes_back_gives_no_answer)
{
    name(3);
    all_say("ppp", 2, NOW);
    says_at(0, 'm', 1, NOW + 1);
    ck_assert(witnesses.of[0].back);
    says_at(1, 'p', 2, NOW + 1);
    ck_assert_int_eq(named(NOW + 1), '-');
    says_at(0, 'm', 2, NOW + 2); /* another server in one term */
    ck_assert(witnesses.of[0].back);
    says_at(0, 'p', 2, NOW + 3); /* it has learnt it again */
    ck_assert(!witnesses.of[0].back);
    ck_assert_int_eq(named(NOW + 1), 'p');
    ck_assert_int_eq(witnesses.forgot_ns, 0);
}

TEST(witness, one_that_goes_back_is_no_second_word_for_what_another_says)
{
    const struct rl_master_at m = at('m', 1);
    name(3);
    says_at(0, 'p', 2, NOW);
    all_say("mm-", 1, NOW + 1);
    ck_assert_int_eq(named(NOW), '-');
    ck_assert(!rl_witnesses_vouch(&witnesses, &m, NOW, 1));
    says_at(2, 'm', 1, NOW + 1);
    ck_assert_int_eq(named(NOW), 'm');
}

TEST(witness, what_it_said_back_there_is_not_remembered)
{
    name(3);
    all_say("ppp", 5, NOW);
    says_at(0, 'm', 1, NOW + 1);
    says_at(0, 'q', 4, NOW + 2); /* above that, and below what it had named */
    ck_assert(witnesses.of[0].back);
    says_at(0, 'q', 6, NOW + 3);
    ck_assert(!witnesses.of[0].back);
}

TEST(witness, answer_that_tells_nothing_keeps_memory)
{
    const struct rl_statement nothing = {.told = false, .why = "no address"};
    name(3);
    all_say("ppp", 2, NOW);
    rl_witness_answered(&witnesses, 0, &nothing, NOW + 1, 1, NOW + 1);
    ck_assert(!witnesses.of[0].back);
    says_at(0, 'm', 1, NOW + 2);
    ck_assert(witnesses.of[0].back);
}

static const struct rl_look looked = {.sent_ns = NOW + 2, .read_ns = NOW + 3, .marker_term = 5};

static bool forgot(const struct rl_look *look)
{
    return rl_witnesses_forgot(&witnesses, look, 1);
}

/* R22 */
TEST(witness, majority_that_goes_back_has_forgotten)
{
    name(3);
    all_say("ppp", 2, NOW);
    says_at(0, 'm', 0, NOW + 1);
    ck_assert(!forgot(&looked));
    says_at(1, 'm', 0, NOW + 1);
    ck_assert_int_eq(witnesses.forgot_ns, NOW + 2);
    ck_assert_int_eq(named(NOW + 1), 'm'); /* their word counts, after a quarantine */
    ck_assert_int_eq(witnesses.of[2].best.port, 0);
    ck_assert(forgot(&(struct rl_look){.sent_ns = 0}));
    ck_assert(forgot(&(struct rl_look){.sent_ns = NOW + 2, .read_ns = NOW + 9}));
    ck_assert(!forgot(&(struct rl_look){.sent_ns = NOW + 3, .read_ns = NOW + 9}));
    says_at(1, 'm', 0, NOW + 4);
    ck_assert_int_eq(witnesses.forgot_ns, NOW + 2); /* once */
    says_at(1, 'p', 2, NOW + 5);
    says_at(1, 'm', 0, NOW + 6);
    ck_assert(witnesses.of[1].back); /* from here on it is remembered again */
}

TEST(witness, majority_in_one_term_that_names_another_has_forgotten)
{
    name(3);
    all_say("ppp", 2, NOW);
    all_say("mm-", 2, NOW + 1);
    ck_assert_int_eq(witnesses.forgot_ns, NOW + 2);
}

TEST(witness, those_that_do_not_count_have_not_forgotten)
{
    name(3);
    all_say("ppp", 2, NOW);
    rl_witness_met(&witnesses, 0, "id0", 0, WINDOW, NOW + 1);
    all_say("mm-", 0, NOW + 2);
    ck_assert_int_eq(witnesses.forgot_ns, 0);
    says_at(0, 'm', 0, NOW + 8 * S);
    ck_assert_int_eq(witnesses.forgot_ns, NOW + 8 * S + 1);
}

/* R22: It shares a witness with the marker's writer. */
TEST(witness, majority_below_marker_that_was_read_before_has_forgotten)
{
    struct rl_look look = looked;
    name(3); /* without memory of it */
    says_at(0, 'm', 4, NOW + 3); /* asked for when it was read */
    says_at(1, 'm', 4, NOW + 4);
    ck_assert(!forgot(&look));
    says_at(2, 'm', 5, NOW + 4); /* not below it */
    ck_assert(!forgot(&look));
    says_at(0, 'q', 0, NOW + 4); /* they need not name one server; and it goes back */
    ck_assert(witnesses.of[0].back);
    ck_assert(forgot(&look));
    ck_assert(!rl_witnesses_forgot(&witnesses, &look, 2));
    look.marker_term = 4;
    ck_assert(!forgot(&look));
    look.marker_term = 0;
    ck_assert(!forgot(&look));
}

/* ---- for people ------------------------------------------------------------------------ */

static const char *told(void)
{
    static char text[512];
    rl_witnesses_tell(&witnesses, text, sizeof(text));
    return text;
}

TEST(witness, why_nobody_is_named_is_told)
{
    const struct rl_statement refused = {.unheard = RL_UNHEARD_NO_SERVICE};
    const struct rl_statement nothing = {.told = false, .why = "no address"};
    witnesses = (struct rl_witnesses){.named = 3};
    ck_assert_str_eq(told(), "3 of 3 Sentinels don't answer");
    name(3);
    says_at(1, 'm', 7, NOW);
    ck_assert_str_eq(told(), "2 of 3 Sentinels don't answer, 1 names m:6379 (term 7)");
    rl_witness_gone(&witnesses, 0, RL_UNHEARD_PASSWORD);
    ck_assert_str_eq(told(), "1 of 3 Sentinels refuses the password, 1 names m:6379 (term 7), "
                             "1 doesn't answer");
    rl_witness_met(&witnesses, 0, "id0", UP, WINDOW, NOW); /* it may answer yet */
    says_at(2, 'p', 8, NOW);
    ck_assert_str_eq(told(), "1 of 3 Sentinels doesn't answer, 1 names m:6379 (term 7), "
                             "1 names p:6379 (term 8)");
    rl_witness_gone(&witnesses, 2, RL_UNHEARD_SILENT);
    rl_witness_answered(&witnesses, 1, &nothing, NOW + 1, 1, NOW + 1);
    ck_assert_str_eq(told(), "2 of 3 Sentinels don't answer, 1 names no master (no address)");
    rl_witness_answered(&witnesses, 0, &refused, NOW + 1, 1, NOW + 1);
    ck_assert_str_eq(told(), "1 of 3 Sentinels knows no service of this name, "
                             "1 names no master (no address), 1 doesn't answer");
    name(3);
    all_say("mmm", 7, NOW);
    ck_assert_str_eq(told(), "3 of 3 Sentinels name m:6379 (term 7)");
    says_at(0, 'p', 6, NOW);
    ck_assert_str_eq(told(), "1 of 3 Sentinels went back to p:6379 (term 6), "
                             "2 name m:6379 (term 7)");
}

TEST(witness, why_one_does_not_count_is_told)
{
    name(4);
    rl_witness_met(&witnesses, 0, "other", UP, WINDOW, NOW);
    rl_witness_met(&witnesses, 0, "id0", UP, WINDOW, NOW);
    rl_witness_met(&witnesses, 2, "id1", UP, WINDOW, NOW);
    rl_witness_met(&witnesses, 3, "id3", 0, WINDOW, NOW);
    all_say("mmmm", 1, NOW);
    ck_assert_str_eq(told(), "1 of 4 Sentinels answers at a name that leads to several, "
                             "1 names m:6379 (term 1), 1 is named twice, "
                             "1 started less than max-ttl ago");
}

/* A restart, a right that our user lacks, and another Sentinel are three things to mend. */
TEST(witness, why_one_counts_later_is_told)
{
    const struct rl_statement refused = {.unheard = RL_UNHEARD_RIGHT};
    char one[64];
    name(3);
    rl_witness_met(&witnesses, 0, "id0", 1, WINDOW, NOW);
    rl_witness_met(&witnesses, 1, "id1", -1, WINDOW, NOW);
    rl_witness_met(&witnesses, 2, "other", UP, WINDOW, NOW);
    all_say("mmm", 1, NOW);
    ck_assert_str_eq(told(), "1 of 3 Sentinels started less than max-ttl ago, "
                             "1 told no uptime (INFO), and was met less than max-ttl ago, "
                             "1 took another's place less than max-ttl ago");
    rl_witness_met(&witnesses, 2, "other", UP, WINDOW, NOW + 1); /* connected again */
    says_at(2, 'm', 1, NOW + 1);
    rl_witness_tell(&witnesses, 2, one, sizeof(one));
    ck_assert_str_eq(one, "took another's place less than max-ttl ago");
    rl_witness_met(&witnesses, 2, "other", 1, WINDOW, NOW + 2 * WINDOW);
    says_at(2, 'm', 1, NOW + 2 * WINDOW);
    rl_witness_tell(&witnesses, 2, one, sizeof(one));
    ck_assert_str_eq(one, "started less than max-ttl ago");
    rl_witness_answered(&witnesses, 2, &refused, NOW + 2 * WINDOW, 1, NOW + 2 * WINDOW);
    rl_witness_tell(&witnesses, 2, one, sizeof(one));
    ck_assert_str_eq(one, "refuses a right");
}

/* As many as fit, and no byte behind them. */
TEST(witness, text_is_cut_where_there_is_no_room)
{
    char whole[512], text[512];
    name(6);
    all_say("abcdef", 1, NOW);
    rl_witnesses_tell(&witnesses, whole, sizeof(whole));
    for (size_t size = 1; size < 200; size++) {
        memset(text, '#', sizeof(text));
        rl_witnesses_tell(&witnesses, text, size);
        ck_assert_uint_eq(strlen(text), size - 1 < strlen(whole) ? size - 1 : strlen(whole));
        ck_assert_mem_eq(text, whole, strlen(text));
        ck_assert_int_eq(text[size], '#');
    }
}

/* ---- the window ------------------------------------------------------------------------ */

/* R22: The drift is that of the sum. */
TEST(witness, window_is_max_ttl_and_d_with_the_drift_of_the_sum)
{
    ck_assert_int_eq(rl_witness_window_ns(30 * S, 0.01), 31 * S + 310000001);
    ck_assert_int_eq(rl_witness_window_ns(5 * S, 0), 6 * S + 1);
}
