/* test_report.c - what a redlock_report says of single masters. */
#include "config_auto.h"

#include "clients.h"
#include "fake.h"

#include <string.h>

static redlock_node_vote votes[3];

/* It has not failed: the next call may find it. */
TEST(report, connecting_master_was_not_asked)
{
    struct fake *fakes[3];
    redlock_report report = REDLOCK_REPORT_INIT(votes, 3);
    redlock_lock *lock = NULL;
    fakes_start(fakes, 3);
    fake_door(fakes[2], FAKE_DEAF);
    redlock *client = client_open(fakes_file(fakes, 3, "connect-timeout 60s\n"));
    ck_assert_int_eq(client_try(client, "name", 0, 10000, &report, &lock), 0);
    ck_assert_uint_eq(report.granted, 2);
    ck_assert_uint_eq(report.failed, 0);
    ck_assert_int_eq(votes[0].vote, REDLOCK_VOTE_GRANTED);
    ck_assert_int_eq(votes[2].vote, REDLOCK_VOTE_NONE);
    ck_assert_str_eq(votes[2].text, "was not asked, as it was still connecting");
    redlock_close(client);
}

/* The last byte of the room is a NUL. */
TEST(report, holder_is_cut_to_fit)
{
    enum { ROOM = sizeof(votes[0].holder) };
    char holder[2 * ROOM];
    redlock_report report = REDLOCK_REPORT_INIT(votes, 1);
    redlock_lock *lock = NULL;
    OPEN_COLD_CLIENTS(1, NULL);
    for (size_t len = ROOM - 2; len <= ROOM + 1; len++) {
        memset(holder, 'h', len);
        holder[len] = '\0';
        master_do(masters, 0, "SET", "name", holder, NULL);
        ck_assert_int_eq(client_try(one, "name", 0, 0, &report, &lock), REDLOCK_EHELD);
        ck_assert_uint_eq(votes[0].holder_len, len < ROOM ? len : ROOM - 1);
        ck_assert_uint_eq(strlen(votes[0].holder), votes[0].holder_len);
    }
}

CASE(report, .timeout_s = 60)
