/* test_kick.c - what wakes the background thread later is quiet again once it has been heard. */
#include "config_auto.h"

#include "base/limits.h"
#include "engine/background.h"
#include "engine/client/client.h"
#include "engine/client/kick.h"
#include "suite.h"

#include <poll.h>

static redlock client; /* as far as its background needs one */
static struct rl_background *background = &client.background;

static bool is_awake(int timeout_ms)
{
    struct pollfd alarm = {.fd = background->alarm_fd, .events = POLLIN};
    return poll(&alarm, 1, timeout_ms) == 1;
}

/* Else a thread that waits for it would spin. */
TEST(alarm, is_quiet_when_it_was_heard)
{
    background->kick_fd = background->alarm_fd = background->outer_fd = -1;
    background->alarm_ns = INT64_MAX;
    background->sleeps_until_ns = INT64_MIN;
    ck_assert_int_eq(rl_alarm_make(background), 0);
    for (int64_t i = 1; i <= 2; i++) {
        rl_alarm(background, i + RL_NS_PER_MS, i);
        ck_assert(is_awake(20000));
        rl_alarm_drain(background);
        ck_assert(!is_awake(0));
        ck_assert_int_eq(background->alarm_ns, INT64_MAX);
    }
    rl_background_done(&client.background);
}

CASE(alarm)
