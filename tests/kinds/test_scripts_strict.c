/* test_scripts_strict.c - the scripts with `fencing strict`, run on a real master: no number
 * that somebody has set brings the tokens of all names to their end. */
#include "config_auto.h"

#include "kinds/fencing.h"
#include "kinds/kind.h"
#include "masters.h"
#include "script_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONCE "00000000000000aa"
#define CEILING (UINT64_C(1) << 52)
#define STEPS (UINT64_C(1) << 20)
#define END (UINT64_C(1) << 53)

static struct masters *masters;

static struct reply join(const char *what, const char *loss, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRIu64, number);
    return master_do(masters, 0, "EVAL", rl_fence_join, "1", RL_FENCING_KEY, NONCE, what, loss,
                     text, NULL);
}

static void start(uint64_t above)
{
    masters = masters_start(1, NULL);
    join("lose", "", 0);
    ck_assert_ptr_nonnull(strstr(join("certify", NONCE, above).text, " certified "));
}

static uint64_t greatest(void)
{
    const char *text = strrchr(join("look", "", 0).text, ' ');
    ck_assert_ptr_nonnull(text);
    return strtoull(text, NULL, 10);
}

static void set_counter(const char *name, uint64_t number)
{
    char key[64], text[32];
    snprintf(key, sizeof(key), "{%s}:redlock:fence", name);
    snprintf(text, sizeof(text), "%" PRIu64, number);
    master_do(masters, 0, "SET", key, text, NULL);
}

static struct reply take(const char *name, const char *proposed, const char *ahead_us)
{
    char counter[64];
    snprintf(counter, sizeof(counter), "{%s}:redlock:fence", name);
    return master_do(masters, 0, "EVAL",
                     script_text(rl_kind(RL_ROW_PLAIN)->script[RL_ACQUIRE].fenced_body), "2",
                     name, counter, NONCE, "token", "60000", "1", proposed,
                     ahead_us, "100000", RL_FENCING_KEY, NONCE NONCE, NULL);
}

/* The number of a grant, after which the lock is free again. 0: an error, or no grant. */
static uint64_t number_for(const char *name)
{
    uint64_t number = 0;
    struct reply reply = take(name, "0", "0");
    master_do(masters, 0, "DEL", name, NULL);
    return reply.type == '*' && sscanf(reply.text, NONCE "- 1 %" SCNu64, &number) == 1 ? number
                                                                                       : 0;
}

static struct reply keep(const char *name, uint64_t token)
{
    char counter[64], text[32];
    snprintf(counter, sizeof(counter), "{%s}:redlock:fence", name);
    snprintf(text, sizeof(text), "%" PRIu64, token);
    return master_do(masters, 0, "EVAL",
                     script_text(rl_kind(RL_ROW_PLAIN)->script[RL_EXTEND].fenced_body), "2",
                     name, counter, NONCE, "token", "60000", "1", text, "0",
                     "1", "100000", RL_FENCING_KEY, NONCE NONCE, NULL);
}

TEST(strict, counter_that_is_too_far_ahead_costs_its_name_only, .rows = 5)
{
    static const uint64_t far[] = {CEILING + STEPS, END - 2, END - 1, END, UINT64_MAX};
    start(1000);
    set_counter("name", far[_i]);
    struct reply reply = take("name", "0", "0");
    ck_assert_int_eq(reply.type, '-');
    ck_assert_msg(strstr(reply.text, "is no number that tokens can go on from"), "%s",
                  reply.text);
    uint64_t number = number_for("other");
    ck_assert(number > 1000 && number < CEILING);
    ck_assert_uint_eq(greatest(), number);
}

TEST(strict, above_the_ceiling_each_grant_is_one_more)
{
    start(1000);
    set_counter("name", CEILING);
    for (uint64_t i = 1; i < 4; i++) {
        ck_assert_uint_eq(number_for("name"), CEILING + i);
        ck_assert_uint_eq(greatest(), CEILING + i);
    }
    ck_assert_uint_eq(number_for("other"), CEILING + 4); /* its counter may have been lost */
}

TEST(strict, no_clock_brings_number_above_the_ceiling)
{
    uint64_t number = 0;
    start(1000);
    struct reply reply = take("name", "9007199254740990", "9007199254740990");
    ck_assert_int_eq(sscanf(reply.text, NONCE "- 1 %" SCNu64, &number), 1);
    ck_assert_uint_eq(number, CEILING);
}

/* It is one master's word. This one goes as far as it may, so one that lagged behind catches
 * up. */
TEST(strict, token_that_is_too_far_ahead_is_not_taken)
{
    start(1000);
    struct reply reply = take("name", "0", "0");
    ck_assert_int_eq(reply.type, '*');
    for (uint64_t i = 1; i < 4; i++) {
        reply = keep("name", END - 1);
        ck_assert_int_eq(reply.type, '-');
        ck_assert_msg(strstr(reply.text, "too far ahead of this master's tokens"), "%s",
                      reply.text);
        ck_assert_uint_eq(greatest(), CEILING + i * STEPS);
    }
    reply = keep("name", CEILING + 4 * STEPS);
    ck_assert_str_eq(reply.text, NONCE);
    ck_assert_uint_eq(number_for("name"), 0); /* it is held */
    master_do(masters, 0, "DEL", "name", NULL);
    ck_assert_uint_eq(number_for("name"), CEILING + 4 * STEPS + 1);
}

TEST(strict, certificate_at_its_end_costs_fenced_locks_only)
{
    start(END - 2);
    ck_assert_uint_eq(number_for("name"), END - 1);
    struct reply reply = take("other", "0", "0");
    ck_assert_int_eq(reply.type, '-');
    ck_assert_msg(strstr(reply.text, "are at their end"), "%s", reply.text);
    reply = master_do(masters, 0, "EVAL",
                      script_text(rl_kind(RL_ROW_PLAIN)->script[RL_ACQUIRE].body), "1", "other",
                      NONCE, "token", "60000", NULL);
    ck_assert_msg(strncmp(reply.text, NONCE, 16) == 0, "%s", reply.text);
    ck_assert_ptr_nonnull(strstr(join("look", "", 0).text, " certified "));
}

/* What clients would not read as an answer would cost them the whole connection. */
static void expect_foreign(const char *text)
{
    static const char *const words[] = {"look", "lose", "read", "certify"};
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_str_eq(join(words[i], NONCE, 7).text, NONCE " foreign  0");
        if (text)
            ck_assert_str_eq(master_do(masters, 0, "GET", RL_FENCING_KEY, NULL).text, text);
    }
}

TEST(strict, certificate_of_another_shape_is_lost_and_stays, .rows = 12)
{
    static const struct {
        const char *before, *after; /* what this server would read itself */
    } shapes[] = {
        {"certified " NONCE NONCE " 0 9007199254740992", ""},
        {"certified " NONCE NONCE " 0 99999999999999999999999", ""},
        {"certified " NONCE NONCE " 9007199254740992 5", ""},
        {"certified " NONCE " 0 5", ""},
        {"certified " NONCE NONCE "a 0 5", ""},
        {"certified AA" NONCE "00000000000000 0 5", ""},
        {"missing " NONCE NONCE " 0 5", ""},
        {"averyverylongword " NONCE " 0 5", ""},
        {"certified " NONCE NONCE " 0 -5", ""},
        {"certified " NONCE NONCE " 0 5", " x"},
        {"certified", ""},
        {" ", ""},
    };
    char text[256], server[128];
    start(1000);
    struct reply reply = master_do(masters, 0, "GET", RL_FENCING_KEY, NULL);
    const char *ids = reply.text;
    for (int i = 0; i < 4; i++)
        ids = strchr(ids, ' ') + 1;
    snprintf(server, sizeof(server), "%s", ids);
    snprintf(text, sizeof(text), "%s %s%s", shapes[_i].before, server, shapes[_i].after);
    master_do(masters, 0, "SET", RL_FENCING_KEY, text, NULL);
    ck_assert_ptr_nonnull(strstr(take("name", "0", "0").text, "UNCERTIFIED"));
    expect_foreign(text);
}

TEST(strict, hash_in_certificates_place_stays)
{
    masters = masters_start(1, NULL);
    master_do(masters, 0, "HSET", RL_FENCING_KEY, "a", "b", NULL);
    expect_foreign(NULL);
    ck_assert_int_eq(take("name", "0", "0").type, '-');
    ck_assert(!master_has(masters, 0, "name"));
    ck_assert_int_eq(master_do(masters, 0, "HLEN", RL_FENCING_KEY, NULL).number, 1);
}

TEST(strict, look_at_loss_writes_nothing)
{
    masters = masters_start(1, NULL);
    ck_assert_str_eq(join("look", "", 0).text, NONCE " missing  0");
    ck_assert(!master_has(masters, 0, RL_FENCING_KEY));
    ck_assert_str_eq(join("lose", "", 0).text, NONCE " missing " NONCE " 0");
    ck_assert_str_eq(join("look", "", 0).text, NONCE " missing " NONCE " 0");
}

/* It may have its own keys as its replica had them, some tokens ago. */
TEST(strict, certificate_of_former_replica_is_lost)
{
    start(1000);
    master_do(masters, 0, "REPLICAOF", "127.0.0.1", "1", NULL);
    ck_assert_ptr_nonnull(strstr(join("look", "", 0).text, " replica  0"));
    master_do(masters, 0, "REPLICAOF", "NO", "ONE", NULL);
    ck_assert_str_eq(join("look", "", 0).text, NONCE " resynced  0");
    struct reply reply = join("lose", "", 0);
    ck_assert_msg(strcmp(reply.text, NONCE " resynced " NONCE " 0") == 0, "%s", reply.text);
}
