/* driven.c - see driven.h. Core. */
#include "config_auto.h"

#include "core/driven.h"

#include "base/limits.h"

#include <assert.h>

#define ABSENT_NS (100 * RL_NS_PER_MS) /* a shorter gap is only a busy machine */

void rl_driven_sleeps(struct rl_driven *driven, enum rl_sleeps sleeper, int64_t until_ns)
{
    assert(sleeper == RL_LEADER_SLEEPS || sleeper == RL_DRIVER_SLEEPS);
    assert(until_ns >= 0);
    driven->until_ns[sleeper] = until_ns;
}

/* The time until which somebody would surely have polled, if there had been events. */
static int64_t looked_until_ns(const struct rl_driven *driven, int64_t now_ns)
{
    int64_t until_ns = driven->looked_ns;
    assert(driven->back_ns <= driven->looked_ns);
    for (unsigned i = 0; i < 2; i++) {
        if (driven->until_ns[i] > until_ns)
            until_ns = driven->until_ns[i];
    }
    return until_ns < now_ns ? until_ns : now_ns;
}

int64_t rl_driven_absent_ns(const struct rl_driven *driven, int64_t now_ns)
{
    /* A sleeper that should have woken in time but comes late did not run. Then events may have
     * come at any time since it went to sleep. */
    if (now_ns - looked_until_ns(driven, now_ns) <= ABSENT_NS)
        return 0;
    return now_ns - driven->looked_ns;
}

int64_t rl_driven_returns(struct rl_driven *driven, int64_t now_ns)
{
    int64_t absent_ns = rl_driven_absent_ns(driven, now_ns);
    if (absent_ns == 0)
        return 0;
    assert(absent_ns > ABSENT_NS); /* the certain time ends no sooner than the last poll */
    driven->looked_ns = driven->back_ns = now_ns;
    return absent_ns;
}

void rl_driven_begins(struct rl_driven *driven, int64_t now_ns)
{
    assert(now_ns >= driven->since_ns && now_ns >= driven->unseen_ns);
    driven->since_ns = now_ns;
    if (looked_until_ns(driven, now_ns) < now_ns)
        driven->unseen_ns = now_ns;
}

void rl_driven_looks(struct rl_driven *driven, int64_t now_ns)
{
    assert(now_ns >= driven->looked_ns && now_ns >= driven->back_ns);
    driven->looked_ns = now_ns;
}

bool rl_driven_long_ago(const struct rl_driven *driven, int64_t now_ns)
{
    return now_ns - driven->looked_ns > ABSENT_NS;
}

bool rl_driven_unseen(const struct rl_driven *driven, const struct rl_retry *retry)
{
    assert(driven->unseen_ns <= driven->since_ns);
    return retry->begun_ns < driven->unseen_ns && retry->flaws == 0;
}

bool rl_driven_before(const struct rl_driven *driven, int64_t at_ns)
{
    assert(driven->back_ns <= driven->looked_ns);
    return at_ns < driven->back_ns;
}

void rl_driven_plan_retry(const struct rl_driven *driven, struct rl_retry *retry,
                          struct rl_prng *prng, int64_t up_ns, int64_t now_ns)
{
    assert(up_ns >= 0); /* a clock that went back may be before it */
    if (rl_driven_before(driven, retry->begun_ns))
        rl_retry_excuse(retry, now_ns);
    else if (up_ns > 0 || rl_driven_unseen(driven, retry))
        rl_retry_lost(retry, prng, up_ns > 0 ? up_ns : now_ns, now_ns);
    else
        rl_retry_failed(retry, prng, now_ns);
}
