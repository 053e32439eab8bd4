/* test_host.c - what the library makes of a host with a long name, and of one that refuses its
 * clock. This program has these two calls of its own. */
#include "config_auto.h"

#include "client.h"
#include "masters.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const char *host = "here";
static bool refuses;

int gethostname(char *ret_name, size_t size)
{
    snprintf(ret_name, size, "%s", host);
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *ret_now)
{
    if (refuses && clock == CLOCK_BOOTTIME) {
        errno = EPERM;
        return -1;
    }
    return (int)syscall(SYS_clock_gettime, clock, ret_now);
}

static void expect_holder(struct masters *masters, const char *name, const char *told)
{
    redlock_lock *lock = NULL;
    host = name;
    redlock *named = client_open(masters_file(masters, NULL));
    char expected[128];
    snprintf(expected, sizeof(expected), "%s:%d", told, (int)getpid());
    ck_assert_int_eq(client_try(named, "name", 8000, 8000, NULL, &lock), 0);
    struct reply value = master_do(masters, 0, "GET", "name", NULL);
    size_t len = strlen(expected);
    ck_assert_msg(value.len > len && strcmp(value.text + value.len - len, expected) == 0,
                  "%s, not %s", value.text, expected);
    ck_assert_int_eq(redlock_release(lock), 0);
    redlock_close(named);
}

TEST(host, long_host_name_keeps_both_ends)
{
    struct masters *masters = masters_start(1, NULL);
    expect_holder(masters, "short", "short");
    expect_holder(masters, "the-invoices-of-all-our-customers-worker-7d9f8b6c5d-x2x4q",
                  "the-invoices-of-all-o..mers-worker-7d9f8b6c5d-x2x4q");
}

TEST(host, without_its_clock_nothing_is_opened)
{
    redlock_error error = REDLOCK_ERROR_INIT;
    redlock_node node = REDLOCK_NODE_INIT;
    redlock_config config = REDLOCK_CONFIG_INIT;
    redlock *client = NULL;
    node.url = "redis://127.0.0.1:1";
    config.nodes = &node;
    config.node_count = 1;
    refuses = true;
    ck_assert_int_eq(redlock_open_config(&config, &error, &client), REDLOCK_ESYSTEM);
    refuses = false;
    ck_assert_ptr_null(client);
    ck_assert_msg(strstr(error.text, "clock_gettime(CLOCK_BOOTTIME)") != NULL, "%s", error.text);
}

CASE(host, .timeout_s = 30)
