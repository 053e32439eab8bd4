/* test_tls_data.c - bytes through a TLS session that never blocks: split, held back, and mixed
 * with the protocol's own. */
#include "config_auto.h"

#include "alloc.h"
#include "net/tls_internal.h"
#include "tls_scene.h"

#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

TEST(tls_1_2, bytes_pass_both_ways)
{
    tls_pair_expect_nothing(&pair);
    tls_pair_expect_sent(&pair, "PING\r\n");
    tls_pair_expect_heard(&pair, "PING\r\n");
    tls_pair_say(&pair, "+PONG\r\n", 7);
    tls_pair_expect_got(&pair, "+PONG\r\n");
    tls_pair_expect_nothing(&pair);
}

/* OpenSSL has read them all from the socket by then: no epoll would tell of the rest. */
TEST(tls_1_2, one_receive_takes_every_record_that_has_come)
{
    tls_pair_say(&pair, "one ", 4);
    tls_pair_say(&pair, "two ", 4);
    tls_pair_say(&pair, "three", 5);
    tls_pair_expect_got(&pair, "one two three");
}

TEST(tls_1_2, receive_never_takes_more_than_asked)
{
    char bytes[4] = "";
    size_t got;
    tls_pair_say(&pair, "abc", 3);
    tls_pair_say(&pair, "defg", 4);
    ck_assert_int_eq(rl_tls_recv(pair.client, bytes, 2, &got), RL_TLS_OK);
    ck_assert_uint_eq(got, 2);
    ck_assert_int_eq(memcmp(bytes, "ab\0", 3), 0);
    ck_assert_int_eq(rl_tls_recv(pair.client, bytes, 4, &got), RL_TLS_OK);
    ck_assert_int_eq(memcmp(bytes, "cdef", 4), 0);
    tls_pair_expect_got(&pair, "g");
}

TEST(tls_1_2, records_may_come_byte_by_byte)
{
    char bytes[16] = "";
    size_t total = 0, moved = 1;
    pair.step = 1;
    ck_assert_int_eq(SSL_write(pair.server, "slowly", 6), 6);
    while (moved > 0) {
        size_t got;
        moved = tls_pair_move(&pair);
        enum rl_tls_result result =
            rl_tls_recv(pair.client, bytes + total, sizeof(bytes) - total, &got);
        ck_assert(result == RL_TLS_OK || result == RL_TLS_WANT_READ);
        total += got;
    }
    ck_assert_str_eq(bytes, "slowly");
}

TEST(tls_1_3, handshake_may_come_byte_by_byte)
{
    tls_pair_end(&pair);
    tls_pair_begin(&pair, &world.node, tls_certs_server(world.dir, "named", NULL));
    pair.step = 1;
    ck_assert_int_eq(tls_pair_shake(&pair), RL_TLS_OK);
    tls_pair_expect_sent(&pair, "PING\r\n");
    tls_pair_expect_heard(&pair, "PING\r\n");
}

/* Fill the socket until no more is taken: bytes taken. */
static size_t fill(const unsigned char *bytes, size_t len)
{
    size_t total = 0, sent;
    enum rl_tls_result result;
    do {
        result = rl_tls_send(pair.client, bytes + total, len - total, &sent);
        total += sent;
    } while (result == RL_TLS_OK && total < len);
    ck_assert_int_eq(result, RL_TLS_WANT_WRITE);
    ck_assert_uint_lt(total, len);
    return total;
}

TEST(tls_1_2, taken_bytes_are_taken_and_rest_is_free_to_change)
{
    enum { SIZE = 8 * 1024 * 1024 };
    unsigned char *bytes = malloc(SIZE), *heard = malloc(SIZE + 64);
    size_t sent = 1, len = 0;
    ck_assert(bytes && heard);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 251);
    size_t taken = fill(bytes, SIZE);
    ck_assert_int_eq(rl_tls_send(pair.client, bytes + taken, SIZE - taken, &sent),
                     RL_TLS_WANT_WRITE);
    ck_assert_uint_eq(sent, 0);

    /* The caller thinks again: what was not taken is replaced by something else, shorter,
     * and the memory of what was taken is used anew. */
    unsigned char *expected = malloc(SIZE);
    memcpy(expected, bytes, taken);
    memset(bytes, 0xee, SIZE);
    bool replaced = false;
    for (int turns = 0; turns < 100000 && len < taken + 4; turns++) {
        len += tls_pair_hear(&pair, heard + len, SIZE + 64 - len);
        if (!replaced && rl_tls_send(pair.client, NULL, 0, &sent) == RL_TLS_OK) {
            tls_pair_expect_sent(&pair, "+OK\n");
            replaced = true;
        }
    }
    ck_assert_uint_eq(len, taken + 4);
    ck_assert_int_eq(memcmp(heard, expected, taken), 0);
    ck_assert_int_eq(memcmp(heard + taken, "+OK\n", 4), 0);
    free(expected);
    free(bytes);
    free(heard);
}

/* What was held back may have been a login. */
TEST(tls_1_2, held_record_does_not_stay_in_memory)
{
    enum { SIZE = 8 * 1024 * 1024 };
    static unsigned char bytes[SIZE], heard[SIZE];
    static const unsigned char nothing[sizeof(pair.client->held)];
    size_t sent, len = 0;
    memset(bytes, 's', SIZE);
    size_t taken = fill(bytes, SIZE);
    ck_assert_uint_gt(pair.client->held_len, 0);
    for (int turns = 0; turns < 100000 && len < taken; turns++) {
        len += tls_pair_hear(&pair, heard + len, SIZE - len);
        ck_assert_int_ne(rl_tls_send(pair.client, NULL, 0, &sent), RL_TLS_FAILED);
    }
    ck_assert_uint_eq(pair.client->held_len, 0);
    ck_assert_int_eq(memcmp(pair.client->held, nothing, sizeof(nothing)), 0);
}

TEST(tls_1_2, held_record_is_wiped_when_session_ends)
{
    enum { SIZE = 8 * 1024 * 1024 };
    static unsigned char bytes[SIZE];
    if (!alloc_works())
        return;
    memset(bytes, 's', SIZE);
    fill(bytes, SIZE);
    ck_assert_uint_gt(pair.client->held_len, 64);
    alloc_watch_for(bytes, 64);
    rl_tls_free(pair.client);
    pair.client = NULL;
    ck_assert_int_eq(alloc_left_behind(), 0);
}

TEST(tls_1_2, flushing_with_nothing_held_is_nothing)
{
    size_t sent = 1;
    ck_assert_int_eq(rl_tls_send(pair.client, NULL, 0, &sent), RL_TLS_OK);
    ck_assert_uint_eq(sent, 0);
    ck_assert_uint_eq(tls_pair_move(&pair), 0);
}

TEST(tls_1_2, replies_are_read_while_sending_is_held_up)
{
    enum { SIZE = 8 * 1024 * 1024 };
    unsigned char *bytes = calloc(1, SIZE);
    fill(bytes, SIZE);
    ck_assert_int_eq(SSL_write(pair.server, "+PONG\r\n", 7), 7);
    /* Only towards the client: what it sent stays where it is. */
    char *waiting;
    long len = BIO_get_mem_data(SSL_get_wbio(pair.server), &waiting);
    ck_assert_int_eq(send(pair.server_fd, waiting, (size_t)len, MSG_NOSIGNAL), len);
    tls_pair_expect_got(&pair, "+PONG\r\n");
    free(bytes);
}

TEST(tls_1_2, error_queue_left_by_others_misleads_nobody)
{
    ERR_put_error(ERR_LIB_USER, 0, 42, __FILE__, __LINE__);
    tls_pair_expect_nothing(&pair);
    ERR_put_error(ERR_LIB_USER, 0, 42, __FILE__, __LINE__);
    tls_pair_expect_sent(&pair, "PING\r\n");
}

TEST(tls_1_3, new_keys_are_taken_and_answered)
{
    ck_assert_int_eq(SSL_key_update(pair.server, SSL_KEY_UPDATE_REQUESTED), 1);
    tls_pair_say(&pair, "+OK\r\n", 5);
    tls_pair_expect_got(&pair, "+OK\r\n");
    tls_pair_expect_sent(&pair, "PING\r\n");
    tls_pair_expect_heard(&pair, "PING\r\n");
    tls_pair_say(&pair, "+PONG\r\n", 7);
    tls_pair_expect_got(&pair, "+PONG\r\n");
}

/* The answer to new keys does not fit into the socket: it is sent when there is room. */
TEST(tls_1_3, new_keys_are_answered_when_there_is_room)
{
    enum { SIZE = 8 * 1024 * 1024 };
    unsigned char *bytes = calloc(1, SIZE), *heard = malloc(SIZE);
    char reply[8];
    size_t sent, got, taken = fill(bytes, SIZE), len = 0;
    ck_assert_int_eq(SSL_key_update(pair.server, SSL_KEY_UPDATE_REQUESTED), 1);
    ck_assert_int_eq(SSL_write(pair.server, "+OK\r\n", 5), 5);
    char *waiting;
    long size = BIO_get_mem_data(SSL_get_wbio(pair.server), &waiting);
    ck_assert_int_eq(send(pair.server_fd, waiting, (size_t)size, MSG_NOSIGNAL), size);
    BIO_reset(SSL_get_wbio(pair.server));

    enum rl_tls_result result = rl_tls_recv(pair.client, reply, sizeof(reply), &got);
    ck_assert_int_ne(result, RL_TLS_FAILED);
    for (int turns = 0; turns < 100000 && len < taken; turns++) {
        len += tls_pair_hear(&pair, heard + len, SIZE - len);
        ck_assert_int_ne(rl_tls_send(pair.client, NULL, 0, &sent), RL_TLS_FAILED);
    }
    ck_assert_uint_eq(len, taken);
    if (got == 0)
        ck_assert_int_eq(rl_tls_recv(pair.client, reply, sizeof(reply), &got), RL_TLS_OK);
    ck_assert_uint_eq(got, 5);
    tls_pair_expect_sent(&pair, "PING\r\n");
    tls_pair_expect_heard(&pair, "PING\r\n");
    free(bytes);
    free(heard);
}

CASE(tls_1_2, TLS_CASE, .set_up = begin_1_2)
CASE(tls_1_3, TLS_CASE, .set_up = begin_1_3, .again = "tls_1_2")

int main(void)
{
    tls_certs_lax_policy();
    return suite_main();
}
