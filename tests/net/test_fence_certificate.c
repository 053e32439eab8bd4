/* test_fence_certificate.c - the reply about a master's fencing certificate: an answer to another
 * question, or one of another form, certifies nothing. */
#include "config_auto.h"

#include "net/fence_certificate.h"

#include "core/fence.h"
#include "suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NONCE "0123456789abcdef"
#define LOSS "00000000000000aa"

static struct rl_certificate told;

/* Is this reply, of so many elements, read as one to NONCE? */
static bool reads(unsigned elements, const char *nonce, const char *word, const char *id,
                  uint64_t greatest)
{
    char bytes[512], asked[] = NONCE;
    const struct rl_reply *reply;
    struct rl_reader *reader = rl_reader_new(NULL, NULL);
    ck_assert_ptr_nonnull(reader);
    int len = snprintf(bytes, sizeof(bytes),
                       "*%u\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n:%" PRIu64 "\r\n%s",
                       elements, strlen(nonce), nonce, strlen(word), word, strlen(id), id,
                       greatest, elements > 4 ? ":1\r\n" : "");
    ck_assert_int_eq(rl_reader_feed(reader, bytes, (size_t)len), 0);
    ck_assert_int_eq(rl_reader_next(reader, &reply), 1);
    bool is = rl_certificate_read(reply, asked, &told);
    rl_reader_free(reader);
    return is;
}

TEST(certificate, is_read_whole)
{
    ck_assert(reads(4, NONCE, "certified", LOSS LOSS, 7));
    ck_assert_str_eq(told.id, LOSS LOSS);
    ck_assert_str_eq(told.word, "certified");
    ck_assert_uint_eq(told.greatest, 7);
    ck_assert(rl_is_certified(&told));
    ck_assert(reads(4, NONCE, "missing", LOSS, 0));
    ck_assert(!rl_is_certified(&told));
    ck_assert(reads(4, NONCE, "missing", "", 0));
}

TEST(certificate, answer_to_another_question_is_none)
{
    ck_assert(!reads(4, "0123456789abcdee", "certified", LOSS LOSS, 7));
    ck_assert(!reads(4, "0123456789abcde", "certified", LOSS LOSS, 7));
    ck_assert(!reads(5, NONCE, "certified", LOSS LOSS, 7));
}

/* A certificate names a loss and its masters; without one there is the loss alone, or nothing. */
TEST(certificate, id_has_the_length_of_what_it_says)
{
    ck_assert(!reads(4, NONCE, "certified", LOSS, 7));
    ck_assert(!reads(4, NONCE, "certified", "", 7));
    ck_assert(!reads(4, NONCE, "certified", LOSS "0", 7));
    ck_assert(!reads(4, NONCE, "missing", LOSS LOSS, 7));
    ck_assert(!reads(4, NONCE, "certified", LOSS "00000000000000AA", 7));
    ck_assert(!reads(4, NONCE, "certified", LOSS "0000000000000x00", 7));
}

/* A number that no token can have would end them all. */
TEST(certificate, greatest_token_has_a_bound)
{
    ck_assert(reads(4, NONCE, "certified", LOSS LOSS, RL_FENCE_MAX - 1));
    ck_assert(!reads(4, NONCE, "certified", LOSS LOSS, RL_FENCE_MAX));
    ck_assert(!reads(4, NONCE, "certified", LOSS LOSS, INT64_MAX));
}

CASE(certificate)
