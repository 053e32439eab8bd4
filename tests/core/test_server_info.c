/* tags: valgrind */
/* test_server_info.c - what INFO tells. */
#include "config_auto.h"

#include "core/server_info.h"
#include "base/limits.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the text -------------------------------------------------------------------------- */

static const char sample[] = "# Server\r\n"
                             "redis_version:7.0.15\r\n"
                             "run_id:0123456789abcdef0123456789abcdef01234567\r\n"
                             "uptime_in_seconds:1234\r\n"
                             "uptime_in_days:0\r\n"
                             "\r\n"
                             "# Persistence\r\n"
                             "loading:0\r\n"
                             "async_loading:0\r\n"
                             "# Memory\r\n"
                             "maxmemory:104857600\r\n"
                             "maxmemory_human:100.00M\r\n"
                             "maxmemory_policy:volatile-ttl\r\n"
                             "# Replication\r\n"
                             "role:master\r\n"
                             "# Cluster\r\n"
                             "cluster_enabled:1\r\n";

/* From memory of exactly that size, so that a sanitizer sees a read beyond the end. */
static struct rl_info parse(const char *text, size_t len)
{
    struct rl_info info;
    char *copy = malloc(len > 0 ? len : 1);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, text, len);
    memset(&info, 0x5a, sizeof(info));
    rl_info_parse(copy, len, &info);
    free(copy);
    return info;
}

static struct rl_info parse_text(const char *text)
{
    return parse(text, strlen(text));
}

/* It also tells the version of Redis that it is compatible with, before its own or after it. */
TEST(text, redict_has_version_of_its_own)
{
    struct rl_info info = parse_text("redis_version:7.2.4\r\nredict_version:7.3.5\r\n");
    ck_assert_str_eq(info.version, "redict 7.3.5");
}

TEST(text, valkey_has_version_of_its_own)
{
    struct rl_info info = parse_text("redis_version:7.2.4\r\nserver_name:valkey\r\n"
                                     "valkey_version:8.1.3\r\n");
    ck_assert_str_eq(info.version, "valkey 8.1.3");
    info = parse_text("valkey_version:9.0.0\r\nredis_version:7.2.4\r\n");
    ck_assert_str_eq(info.version, "valkey 9.0.0");
    info = parse_text("redis_version:7.2.4\r\nvalkey_version:\r\n");
    ck_assert_str_eq(info.version, "7.2.4");
    info = parse_text("valkey_version:12345678901234567\r\n"); /* as good as none */
    ck_assert_str_eq(info.version, "");
}

TEST(text, servers_own_text)
{
    struct rl_info info = parse_text(sample);
    ck_assert_str_eq(info.run_id, "0123456789abcdef0123456789abcdef01234567");
    ck_assert_str_eq(info.role, "master");
    ck_assert_str_eq(info.version, "7.0.15");
    ck_assert_str_eq(info.policy, "volatile-ttl");
    ck_assert_int_eq(info.uptime_s, 1234);
    ck_assert_int_eq(info.maxmemory, 104857600);
    ck_assert(info.cluster);
    ck_assert(!info.loading);
    ck_assert(parse_text("loading:1\n").loading);
}

static void check_empty(const struct rl_info *info)
{
    ck_assert_str_eq(info->run_id, "");
    ck_assert_str_eq(info->role, "");
    ck_assert_str_eq(info->version, "");
    ck_assert_str_eq(info->policy, "");
    ck_assert_int_eq(info->uptime_s, -1);
    ck_assert_int_eq(info->maxmemory, 0);
    ck_assert(!info->cluster && !info->loading);
}

static const char *const nothing[] = {
    "",
    "\n",
    "\r\n\r\n",
    ":",
    ":1234\n",
    "no colon at all",
    "# run_id:abc\n",
    " run_id:abc\n role:master\n uptime_in_seconds:5\n",
    "xrun_id:abc\nrun_id2:abc\nrun_i:abc\nRUN_ID:abc\nrun_id :abc\n",
    "uptime_in_second:5\nuptime_in_secondss:5\nmaxmemor:5\nmaxmemory2:5\n",
    "loading2:1\ncluster_enable:1\nloadin:1\n",
    "role2:master\nredis_versio:7\nmaxmemory_polic:x\n",
    "cluster_enabled:0\nloading:0\n",
    "cluster_enabled:2\nloading:yes\n",
    "run_id:\nrole:\nredis_version:\nmaxmemory_policy:\nuptime_in_seconds:\nmaxmemory:\n",
};

static const struct {
    const char *text, *why; /* why: NULL, or a word of it */
} fitness[] = {
    {"role:master\nredis_mode:standalone\ncluster_enabled:0\nloading:0\nmaxmemory:0\n", NULL},
    {"", NULL},
    {"role:slave\n", "is a replica"},
    {"loading:1\n", "loading"},
    {"loading:1\nrole:slave\n", "loading"},
    {"redis_mode:sentinel\n", "is a Sentinel"},
    {"server_mode:sentinel\n", "is a Sentinel"},
    {"redis_mode:sentinels\n", NULL},
    {"redis_mode:cluster\ncluster_enabled:1\n", "member of a Redis Cluster"},
    {"cluster_enabled:1\nrole:slave\n", "member of a Redis Cluster"},
    {"maxmemory:1\nmaxmemory_policy:volatile-ttl\n", "noeviction"},
    {"maxmemory:1\nmaxmemory_policy:allkeys-lru\n", "noeviction"},
    {"maxmemory:1\nmaxmemory_policy:noeviction\n", NULL},
    {"maxmemory:0\nmaxmemory_policy:allkeys-lru\n", NULL}, /* has no reason to */
    {"maxmemory:1\n", NULL},
};

TEST(text, server_unfit_reasons, .rows = ROWS(fitness))
{
    struct rl_info info = parse_text(fitness[_i].text);
    const char *why = rl_info_unfit(&info);
    ck_assert_int_eq(why != NULL, fitness[_i].why != NULL);
    if (why)
        ck_assert_msg(strstr(why, fitness[_i].why) != NULL, "%s", why);
}

static const struct {
    const char *text, *why;
} refusals[] = {
    {"", NULL},
    {"maxmemory:0\nused_memory:1000\n", NULL},
    {"maxmemory:1000\nused_memory:1000\n", NULL},
    {"maxmemory:1000\nused_memory:1001\n", "OOM"},
    {"maxmemory:1000\nused_memory:1100\nmem_not_counted_for_evict:100\n", NULL},
    {"maxmemory:1000\nused_memory:1101\nmem_not_counted_for_evict:100\n", "OOM"},
    {"maxmemory:1000\nused_memory:1001\nmem_not_counted_for_evict:x\n", "OOM"},
    {"rdb_last_bgsave_status:ok\naof_last_write_status:ok\n", NULL},
    {"rdb_last_bgsave_status:err\naof_last_write_status:ok\n", "MISCONF: its last RDB save"},
    {"rdb_last_bgsave_status:ok\naof_last_write_status:err\n", "MISCONF: its last write"},
    {"min_slaves_good_slaves:0\n", "NOREPLICAS"},
    {"min_slaves_good_slaves:1\n", NULL},
    {"min_slaves_good_slaves:x\n", NULL},
};

TEST(text, values_that_server_would_refuse, .rows = ROWS(refusals))
{
    struct rl_info info = parse_text(refusals[_i].text);
    const char *why = rl_info_refusal(&info);
    ck_assert_int_eq(why != NULL, refusals[_i].why != NULL);
    if (why)
        ck_assert_msg(strncmp(why, refusals[_i].why, strlen(refusals[_i].why)) == 0, "%s", why);
}

TEST(text, texts_that_tell_nothing, .rows = ROWS(nothing))
{
    struct rl_info info = parse_text(nothing[_i]);
    check_empty(&info);
}

TEST(text, lines_end_with_or_without_carriage_return)
{
    struct rl_info info = parse_text("role:slave\nrun_id:abc\r\nuptime_in_seconds:7");
    ck_assert_str_eq(info.role, "slave");
    ck_assert_str_eq(info.run_id, "abc");
    ck_assert_int_eq(info.uptime_s, 7);
    info = parse_text("role:mas\rter\n"); /* one within is no end, and no character of a role */
    ck_assert_str_eq(info.role, "");
}

/* Cut anywhere, the text tells less, and never anything else. */
TEST(text, every_prefix_of_text)
{
    struct rl_info whole = parse_text(sample);
    for (size_t len = 0; len <= strlen(sample); len++) {
        struct rl_info info = parse(sample, len);
        ck_assert(strncmp(info.run_id, whole.run_id, strlen(info.run_id)) == 0);
        ck_assert(strncmp(info.role, whole.role, strlen(info.role)) == 0);
        ck_assert_int_le(info.uptime_s, whole.uptime_s);
        ck_assert_int_le(info.maxmemory, whole.maxmemory);
        ck_assert(!info.loading);
    }
}

/* A value that does not fit, or that has bytes no such value has, is none. */
TEST(text, values_are_kept_whole_or_not_at_all)
{
    char text[128] = "run_id:";
    struct rl_info info;
    memset(text + 7, 'a', 100);
    text[107] = '\0';
    text[7 + 47] = '\0';
    info = parse_text(text);
    ck_assert_uint_eq(strlen(info.run_id), 47);
    text[7 + 47] = 'a';
    text[7 + 48] = '\0';
    info = parse_text(text);
    ck_assert_str_eq(info.run_id, "");
    for (int c = 0; c < 256; c++) {
        char odd[] = "role:ma?ter\n";
        odd[7] = (char)c;
        info = parse(odd, sizeof(odd) - 1);
        bool plain = (c > 0x20 && c < 0x7f) || c == '\n'; /* which ends the line at "ma" */
        ck_assert_int_eq(info.role[0] != '\0', plain);
    }
}

/* What is said last is what holds, be it less, or nothing. */
TEST(text, setting_given_twice)
{
    struct rl_info info = parse_text("role:master\nrole:ma\nrun_id:abc\nrun_id:a\x01""c\n"
                                     "uptime_in_seconds:5\nuptime_in_seconds:x\n"
                                     "loading:1\nloading:0\nmaxmemory:7\nmaxmemory:-7\n");
    ck_assert_str_eq(info.role, "ma");
    ck_assert_str_eq(info.run_id, "");
    ck_assert_int_eq(info.uptime_s, -1);
    ck_assert_int_eq(info.maxmemory, 0);
    ck_assert(!info.loading);
    ck_assert_str_eq(parse_text("role: master\n").role, "");
}

static const struct {
    const char *value;
    int64_t number;
} numbers[] = {
    {"0", 0},
    {"007", 7},
    {"999999999999999999", INT64_C(999999999999999999)},
    {"1000000000000000000", -1}, /* longer than any that is meant */
    {"99999999999999999999999999999999", -1},
    {"-1", -1},
    {"+1", -1},
    {" 1", -1},
    {"1 ", -1},
    {"1.5", -1},
    {"0x10", -1},
    {"1e3", -1},
    {"/", -1},
    {":", -1},
    {"", -1},
};

TEST(text, numbers_are_digits, .rows = ROWS(numbers))
{
    char text[96];
    snprintf(text, sizeof(text), "uptime_in_seconds:%s", numbers[_i].value);
    ck_assert_int_eq(parse_text(text).uptime_s, numbers[_i].number);
    snprintf(text, sizeof(text), "maxmemory:%s", numbers[_i].value);
    int64_t expected = numbers[_i].number < 0 ? 0 : numbers[_i].number;
    ck_assert_int_eq(parse_text(text).maxmemory, expected);
}
