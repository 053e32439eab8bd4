/* test_chaos_client_protocol.c - what redlock-chaos makes of the words of somebody else's
 * client: they go into reports, and the client was told the masters' passwords. */
#include "config_auto.h"

#include "chaos/workload/client_protocol.h"
#include "suite.h"

#include <string.h>

static const char *const urls[] = {"redis://app:hunter%2Fone@127.0.0.1:1",
                                   "redis://:hunter-two@127.0.0.1:2"};

/* A client that answers the greeting so. */
static struct chaos_protocol *greet(const char *command)
{
    static struct rl_mask masks[2];
    struct chaos_protocol_plan plan = {.command = command,
                                       .ttl_ms = 1000,
                                       .nodes = 2,
                                       .node = urls,
                                       .mask = masks,
                                       .log_fd = -1};
    rl_mask_set(&masks[0], "app", "hunter/one", 10);
    rl_mask_set(&masks[1], NULL, "hunter-two", 10);
    struct chaos_protocol *protocol = chaos_protocol_start(&plan);
    ck_assert_ptr_nonnull(protocol);
    return protocol;
}

static const char *const echoes[] = {
    "read -r line; echo \"$line\"; read -r line",
    "read -r line; echo \"no $line\"; read -r line",
    "read -r line; echo 'no hunter/one hunter-two app'; read -r line",
};

TEST(chaos_client_protocol, client_reason_hides_repeated_passwords, .rows = ROWS(echoes))
{
    struct chaos_protocol *protocol = greet(echoes[_i]);
    ck_assert_int_eq(chaos_protocol_greeted(protocol), CHAOS_SAID_WRONG);
    const char *reason = chaos_protocol_reason(protocol);
    ck_assert_msg(strstr(reason, "***") && !strstr(reason, "hunter"), "%s", reason);
    chaos_protocol_quit(protocol);
}

TEST(chaos_client_protocol, nor_in_why_it_took_no_lock)
{
    int64_t deadline_ns;
    uint64_t token;
    struct chaos_protocol *protocol =
        greet("read -r a; echo ok x 1; read -r b; echo \"no $a\"; read -r c");
    ck_assert_int_eq(chaos_protocol_greeted(protocol), CHAOS_SAID_OK);
    ck_assert_int_eq(chaos_protocol_acquire(protocol, "name", 0, &deadline_ns, &token),
                     CHAOS_SAID_NO);
    const char *reason = chaos_protocol_reason(protocol);
    ck_assert_msg(strstr(reason, "***") && !strstr(reason, "hunter"), "%s", reason);
    chaos_protocol_quit(protocol);
}

CASE(chaos_client_protocol, .timeout_s = 60)
