/* tags: valgrind */
/* test_statement.c - a Sentinel's two answers, and which server and term is its word. */
#include "config_auto.h"

#include "core/statement.h"
#include "suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MASTER "master"
#define FLAG "master,failover_in_progress"

/* By default 10.0.0.1:6379, term 7, and behind it 10.0.0.2:6380. */
static struct rl_sentinel_told told_by_default(void)
{
    return (struct rl_sentinel_told){
        .ip = "10.0.0.1", .port = "6379", .run_id = "aaaa", .config_epoch = "7",
        .flags = MASTER, .addr_host = "10.0.0.2", .addr_port = "6380"};
}

static const struct word {
    const char *flags, *state;
    int port;             /* of whom it speaks; 0: of nobody */
    const char *run_id;   /* that it tells */
} words[] = {
    {MASTER, "", 6379, "aaaa"},
    {"s_down,o_down,master,disconnected", "", 6379, "aaaa"},
    {MASTER, "reconf_slaves", 6379, "aaaa"}, /* without the flag the state is of no matter */
    {FLAG, "wait_start", 6379, "aaaa"},
    {FLAG, "select_slave", 6379, "aaaa"},
    {FLAG, "send_slaveof_noone", 6379, "aaaa"},
    {FLAG, "wait_promotion", 6379, "aaaa"},
    {FLAG, "reconf_slaves", 6380, ""},
    {FLAG, "update_config", 6380, ""},
    {"failover_in_progress,s_down,master", "update_config", 6380, ""},
    {FLAG, "none", 0, ""},
    {FLAG, "unknown", 0, ""},
    {FLAG, "", 0, ""},
    {FLAG, "wait_start2", 0, ""},
    {FLAG, "reconf_slave", 0, ""},
    {"", "", 0, ""},
    {"slave", "", 0, ""},
    {"masters", "", 0, ""},
    {"s_master,o_master", "", 0, ""},
};

TEST(statement, state_of_failover_decides_whose_address_it_is, .rows = ROWS(words))
{
    const struct word *word = &words[_i];
    struct rl_sentinel_told told = told_by_default();
    struct rl_statement statement;
    snprintf(told.flags, sizeof(told.flags), "%s", word->flags);
    snprintf(told.failover_state, sizeof(told.failover_state), "%s", word->state);
    rl_statement_read(&told, &statement);
    ck_assert_msg(statement.told == (word->port > 0), "%s %s", word->flags, word->state);
    ck_assert(statement.told == !statement.why);
    if (!statement.told)
        return;
    ck_assert_int_eq(statement.at.port, word->port);
    ck_assert_str_eq(statement.at.host, word->port == 6379 ? "10.0.0.1" : "10.0.0.2");
    ck_assert_str_eq(statement.at.run_id, word->run_id);
    ck_assert_uint_eq(statement.at.term, 7);
}

/* The leader has the new term, and its other answer still names the former master. */
TEST(statement, address_that_did_not_change_says_nothing)
{
    struct rl_sentinel_told told = told_by_default();
    struct rl_statement statement;
    strcpy(told.flags, FLAG);
    strcpy(told.failover_state, "reconf_slaves");
    strcpy(told.addr_host, told.ip);
    rl_statement_read(&told, &statement);
    ck_assert(statement.told); /* the same host, another port */
    strcpy(told.addr_port, told.port);
    rl_statement_read(&told, &statement);
    ck_assert(!statement.told);
    ck_assert_str_eq(statement.why, "a failover that has no new master yet");
    strcpy(told.addr_host, "10.0.0.3");
    rl_statement_read(&told, &statement);
    ck_assert(statement.told);
    strcpy(told.ip, "Redis-A");
    strcpy(told.addr_host, "redis-a");
    strcpy(told.replica_run_id, "bbbb");
    rl_statement_read(&told, &statement);
    ck_assert(!statement.told);
}

static const struct named {
    const char *host, *run_id, *replica_run_id;
    bool behind; /* the address of the second answer */
    bool told;
    const char *its_host, *its_run_id;
} named[] = {
    {"10.0.0.9", "", "", false, true, "10.0.0.9", ""},
    {"10.0.0.9", "cc", "", false, true, "10.0.0.9", "cc"},
    {"10.0.0.9", "cc", "dd", true, true, "10.0.0.9", ""},
    {"FE80::a", "", "", false, true, "fe80::a", ""},
    {"fe80::a", "cc", "dd", true, true, "fe80::a", ""},
    {"redis-1.Example", "", "dd", false, false, NULL, NULL},
    {"redis-1.Example", "cc", "", false, true, "redis-1.example", "cc"},
    {"redis-1.example", "cc", "", true, false, NULL, NULL},
    {"REDIS-1.example", "cc", "dd", true, true, "redis-1.example", "dd"},
    {"1.2.3.4x", "", "", false, false, NULL, NULL},
};

TEST(statement, name_says_nothing_without_run_id_of_its_process, .rows = ROWS(named))
{
    const struct named *row = &named[_i];
    struct rl_sentinel_told told = told_by_default();
    struct rl_statement statement;
    snprintf(row->behind ? told.addr_host : told.ip, sizeof(told.ip), "%s", row->host);
    strcpy(told.run_id, row->run_id);
    strcpy(told.replica_run_id, row->replica_run_id);
    if (row->behind) {
        strcpy(told.flags, FLAG);
        strcpy(told.failover_state, "update_config");
    }
    rl_statement_read(&told, &statement);
    ck_assert_msg(statement.told == row->told, "%s", row->host);
    if (!row->told) {
        ck_assert_str_eq(statement.why, "no run id of a master whose host is a name");
        return;
    }
    ck_assert_str_eq(statement.at.host, row->its_host);
    ck_assert_str_eq(statement.at.run_id, row->its_run_id);
}

static const struct number {
    const char *text;
    bool good;
    uint64_t term;
} numbers[] = {
    {"0", true, 0},
    {"1", true, 1},
    {"19", true, 19},
    {"9223372036854775807", true, INT64_MAX},
    {"9223372036854775808", true, UINT64_C(1) << 63},
    {"9223372036854775809", false, 0},
    {"9223372036854775810", false, 0},
    {"18446744073709551616", false, 0},
    {"99999999999999999999", false, 0},
    {"", false, 0},
    {"00", false, 0},
    {"01", false, 0},
    {"+1", false, 0},
    {"-1", false, 0},
    {" 1", false, 0},
    {"1 ", false, 0},
    {"1e3", false, 0},
    {"0x1", false, 0},
    {"1:", false, 0}, /* the byte behind 9 */
    {"1/", false, 0}, /* and the one before 0 */
};

TEST(statement, term_is_read_as_it_was_written, .rows = ROWS(numbers))
{
    const struct number *row = &numbers[_i];
    struct rl_sentinel_told told = told_by_default();
    struct rl_statement statement;
    uint64_t term = 0;
    ck_assert_msg(rl_term_parse(row->text, &term) == row->good, "%s", row->text);
    ck_assert_uint_eq(term, row->term);
    strcpy(told.config_epoch, row->text);
    rl_statement_read(&told, &statement);
    ck_assert(statement.told == row->good);
    if (row->good)
        ck_assert_uint_eq(statement.at.term, row->term);
    else
        ck_assert_str_eq(statement.why, "no config-epoch");
}

static const struct place {
    const char *host, *port;
    bool good;
} places[] = {
    {"10.0.0.1", "1", true},     {"10.0.0.1", "65535", true}, {"10.0.0.1", "65536", false},
    {"10.0.0.1", "0", false},    {"10.0.0.1", "", false},     {"10.0.0.1", "-1", false},
    {"10.0.0.1", "6379x", false}, {"", "6379", false},         {"10.0.0.1 ", "6379", false},
    {"10.0.0.1\n", "6379", false}, {"\x7f", "6379", false},    {"\xc3\xa9", "6379", false},
};

TEST(statement, address_is_host_and_port, .rows = ROWS(places))
{
    const struct place *row = &places[_i];
    for (int behind = 0; behind < 2; behind++) {
        struct rl_sentinel_told told = told_by_default();
        struct rl_statement statement;
        strcpy(behind ? told.addr_host : told.ip, row->host);
        strcpy(behind ? told.addr_port : told.port, row->port);
        strcpy(told.flags, behind ? FLAG : MASTER);
        strcpy(told.failover_state, "update_config");
        rl_statement_read(&told, &statement);
        ck_assert_msg(statement.told == row->good, "%s %s", row->host, row->port);
        if (!row->good)
            ck_assert_str_eq(statement.why, "no address");
    }
}

TEST(statement, server_is_address_and_term)
{
    const struct rl_master_at one = {.host = "a", .port = 1, .term = 2, .run_id = "x"};
    struct rl_master_at other = one;
    strcpy(other.run_id, "y");
    ck_assert(rl_master_same(&one, &other));
    other.term = 3;
    ck_assert(!rl_master_same(&one, &other));
    other = one, other.port = 2;
    ck_assert(!rl_master_same(&one, &other));
    other = one, strcpy(other.host, "b");
    ck_assert(!rl_master_same(&one, &other));
}
