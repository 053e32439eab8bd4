/* test_certify.c - whose fencing counters may be trusted: certificates, what a round may show
 * of them, and how a master that lost its counters gets one again. */
#include "config_auto.h"

#include "core/certify.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

#define LOSS "00000000000000aa"
#define LATER "00000000000000bb"
/* Of masters that were read for the loss. */
#define ONE LOSS "0000000000000001"
#define OTHER LOSS "0000000000000002"
enum { NEEDED = 2 };

static struct rl_certificate told(const char *word, const char *id, uint64_t greatest)
{
    struct rl_certificate certificate = {.greatest = greatest};
    snprintf(certificate.word, sizeof(certificate.word), "%s", word);
    snprintf(certificate.id, sizeof(certificate.id), "%s", id);
    return certificate;
}

TEST(certify, round_shows_what_it_knew_when_it_began)
{
    struct rl_certificate certificate = {.change = 0};
    struct rl_certificate one = told("certified", LOSS LOSS, 5);
    struct rl_certificate other = told("certified", LATER LOSS, 5);
    struct rl_certificate none = told("missing", LOSS, 0);
    uint64_t changes = 7;
    ck_assert(!rl_certificate_serves(&certificate, changes));
    ck_assert(rl_certificate_learn(&certificate, &one, &changes));
    ck_assert_uint_eq(changes, 8);
    ck_assert(rl_certificate_serves(&certificate, 8));
    ck_assert(!rl_certificate_serves(&certificate, 7));
    ck_assert(!rl_certificate_learn(&certificate, &one, &changes));
    ck_assert_uint_eq(changes, 8);
    ck_assert(rl_certificate_learn(&certificate, &other, &changes));
    ck_assert(!rl_certificate_serves(&certificate, 8));
    ck_assert(rl_certificate_serves(&certificate, 9));
    ck_assert(rl_certificate_learn(&certificate, &none, &changes));
    ck_assert(!rl_certificate_serves(&certificate, 100));
    /* The same word does not make it the same one. */
    none = told("missing", LATER, 0);
    ck_assert(rl_certificate_learn(&certificate, &none, &changes));
    ck_assert(rl_certificate_learn(&certificate, &one, &changes));
    ck_assert(!rl_certificate_serves(&certificate, 11));
    ck_assert(rl_certificate_serves(&certificate, 12));
}

static struct rl_certifying begun(void)
{
    struct rl_certifying certifying = {.on = false};
    struct rl_certificate lost = told("restarted", LOSS, 0);
    rl_certifying_begin(&certifying, 1, &lost);
    ck_assert(certifying.on);
    return certifying;
}

enum { NODES = 5 };
#define ALL ((UINT64_C(1) << NODES) - 1)
static int64_t since_ns[NODES]; /* of their connections */

static bool decide_by(struct rl_certifying *certifying, uint64_t others)
{
    return certifying->on && rl_certifying_decide(certifying, others, since_ns, NEEDED);
}

/* What a node tells, when all of them are trusted. True: that is enough. */
static bool learn(struct rl_certifying *certifying, unsigned node, const char *word,
                  const char *id, uint64_t greatest)
{
    struct rl_certificate certificate = told(word, id, greatest);
    rl_certifying_learn(certifying, node, since_ns[node], &certificate);
    return decide_by(certifying, ALL);
}

TEST(certify, quorum_of_others_is_read)
{
    struct rl_certifying certifying = begun();
    ck_assert(!learn(&certifying, 0, "certified", ONE, 9));
    ck_assert(!learn(&certifying, 0, "certified", ONE, 8)); /* and not twice */
    ck_assert(learn(&certifying, 2, "certified", OTHER, 7));
    ck_assert_uint_eq(certifying.floor, 9);
    ck_assert(!learn(&certifying, 3, "certified", LOSS LATER, 10)); /* all is told */
    ck_assert_uint_eq(certifying.floor, 9);
    ck_assert(certifying.on);
    ck_assert(!learn(&certifying, 1, "certified", LOSS LATER, 9));
    ck_assert(!certifying.on);
}

/* Another client reads it for another loss, or an earlier one: it gets another id each time. */
TEST(certify, master_that_is_read_again_counts_once)
{
    struct rl_certifying certifying = begun();
    ck_assert(!learn(&certifying, 0, "certified", ONE, 3));
    ck_assert(!learn(&certifying, 0, "certified", LATER LOSS, 4));
    ck_assert(!learn(&certifying, 0, "certified", OTHER, 5));
    ck_assert(!learn(&certifying, 0, "certified", LOSS LATER, 6));
    ck_assert(learn(&certifying, 4, "certified", LOSS LOSS, 2));
    ck_assert_uint_eq(certifying.floor, 3); /* what it took later belongs to younger rounds */
}

/* What it tells on a new connection may be another server's. */
TEST(certify, reading_is_of_one_connection)
{
    struct rl_certifying certifying = begun();
    ck_assert(!learn(&certifying, 0, "certified", ONE, 3));
    since_ns[0] = 7;
    ck_assert(!learn(&certifying, 2, "certified", OTHER, 4));
    ck_assert(learn(&certifying, 0, "certified", LOSS LATER, 2));
    ck_assert_uint_eq(certifying.floor, 4);
    since_ns[0] = 0;
}

TEST(certify, one_master_under_two_names_is_read_once)
{
    struct rl_certifying certifying = begun();
    ck_assert(!learn(&certifying, 0, "certified", ONE, 9));
    ck_assert(!learn(&certifying, 2, "certified", ONE, 9));
    ck_assert(learn(&certifying, 3, "certified", OTHER, 7));
}

/* Because they may be the same server as another one, or are trusted no more. */
TEST(certify, masters_that_are_left_out_do_not_count)
{
    struct rl_certifying certifying = begun();
    ck_assert(!learn(&certifying, 0, "certified", ONE, 3));
    certifying.told = true;
    ck_assert(!learn(&certifying, 2, "certified", OTHER, 4));
    certifying.told = false;
    ck_assert(!decide_by(&certifying, ALL & ~UINT64_C(1)));
    ck_assert(!decide_by(&certifying, ALL & ~UINT64_C(4)));
    ck_assert(decide_by(&certifying, ALL));
}

TEST(certify, what_others_told_before_does_not_count)
{
    struct rl_certifying certifying = begun();
    ck_assert(!learn(&certifying, 0, "certified", LATER LOSS, 9));
    ck_assert(!learn(&certifying, 2, "certified", LATER LOSS, 9));
    ck_assert(!learn(&certifying, 0, "missing", LOSS, 9)); /* nor what is lost itself */
    ck_assert(!learn(&certifying, 2, "certified", ONE, 3));
    ck_assert(learn(&certifying, 0, "certified", OTHER, 4));
    ck_assert_uint_eq(certifying.floor, 4);
}

/* A number that one master says is no reason to end all others' tokens. */
TEST(certify, number_far_above_all_others_is_left_out)
{
    enum { MORE = 1 << 20 };
    const uint64_t ceiling = UINT64_C(1) << 52;
    struct rl_certifying certifying = begun();
    ck_assert(!learn(&certifying, 0, "certified", ONE, 2 * ceiling - 1));
    ck_assert(!learn(&certifying, 2, "certified", OTHER, 5));
    ck_assert(learn(&certifying, 3, "certified", LOSS LATER, ceiling + MORE));
    ck_assert_uint_eq(certifying.floor, ceiling + MORE);
    certifying = begun();
    ck_assert(!learn(&certifying, 0, "certified", ONE, 5));
    ck_assert(!learn(&certifying, 2, "certified", OTHER, ceiling + MORE + 1));
    ck_assert(learn(&certifying, 3, "certified", LOSS LATER, ceiling + 2 * MORE));
    ck_assert_uint_eq(certifying.floor, ceiling + 2 * MORE);
}

TEST(certify, another_loss_is_another_matter)
{
    struct rl_certifying certifying = begun();
    ck_assert(!learn(&certifying, 1, "restarted", LOSS, 0));
    ck_assert(certifying.on);
    ck_assert(!learn(&certifying, 1, "missing", LATER, 0));
    ck_assert(!certifying.on);
}

TEST(certify, reasons_are_told, .rows = 9)
{
    static const char *const words[] = {"", "missing", "foreign", "restarted", "resynced",
                                        "replica", "nameless", "certified", "else"};
    struct rl_certificate certificate = told(words[_i], "", 0);
    const char *why = rl_uncertified_why(&certificate);
    ck_assert_msg(strstr(why, "fencing") != NULL, "%s", why);
    for (int i = 0; i < _i; i++) {
        struct rl_certificate other = told(words[i], "", 0);
        ck_assert_str_ne(why, rl_uncertified_why(&other));
    }
}
