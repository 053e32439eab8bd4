/* clock_watch.c - see clock_watch.h. Core. */
#include "config_auto.h"

#include "core/clock_watch.h"

#include "base/limits.h"
#include "base/times.h"
#include "core/validity.h"

#include <assert.h>
#include <string.h>

/* No clock shows a later time, which is in the year 2096; and no machine is up for so long. A
 * reading beyond them is not used, so nothing below overflows. */
#define TOLD_MAX_US (INT64_C(4000000000) * 1000000)
#define OWN_MAX_NS (INT64_MAX / 8)

/* More need not be known: it is longer than any lease. */
#define AHEAD_MAX_NS (RL_TTL_LIMIT_MS * RL_NS_PER_MS)

/* A part of the drift does not grow with time: half of it is allowed on each side. */
static int64_t rounding_ns(void)
{
    return rl_drift_ns(0, 0.0) / 2;
}

static bool is_usable(const struct rl_clock_reading *reading)
{
    assert(reading->sent_ns >= 0 && reading->came_ns >= reading->sent_ns);
    return reading->run_id[0] && reading->told_us > 0 && reading->told_us <= TOLD_MAX_US &&
           reading->came_ns <= OWN_MAX_NS && reading->sent_epoch == reading->epoch;
}

static bool is_comparable(const struct rl_clock_watch *watch,
                          const struct rl_clock_reading *reading)
{
    return strcmp(watch->run_id, reading->run_id) == 0 &&
           rl_validity_timed(watch->epoch, reading->epoch);
}

static void keep(struct rl_clock_watch *watch, const struct rl_clock_reading *reading,
                 int64_t least_ns, int64_t most_ns)
{
    assert(least_ns <= most_ns);
    watch->epoch = reading->epoch;
    watch->since_ns = reading->sent_ns;
    watch->least_ns = least_ns;
    watch->most_ns = most_ns;
}

/* Another server, or another epoch. What was found of the same server is not forgotten. */
static void begin(struct rl_clock_watch *watch, const struct rl_clock_reading *reading)
{
    size_t len = strlen(reading->run_id);
    assert(len < sizeof(watch->run_id));
    if (strcmp(watch->run_id, reading->run_id) == 0)
        return;
    *watch = (struct rl_clock_watch){.last = RL_CLOCK_FINE};
    memcpy(watch->run_id, reading->run_id, len);
}

static enum rl_clock_says note(struct rl_clock_watch *watch, bool forward, int64_t by_ns,
                               int64_t window_ns, int64_t now_ns)
{
    enum rl_clock_says step = forward ? RL_CLOCK_STEPPED_FORWARD : RL_CLOCK_STEPPED_BACK;
    enum rl_clock_says rate = forward ? RL_CLOCK_FAST : RL_CLOCK_SLOW;
    enum rl_clock_says before = rl_clock_watch_shown(watch, window_ns, now_ns);
    assert(by_ns > 0);
    watch->last = before == step || before == rate ? rate : step;
    watch->last_ns = now_ns;
    watch->last_by_ns = by_ns;
    return watch->last;
}

enum rl_clock_says rl_clock_watch_learn(struct rl_clock_watch *watch,
                                        const struct rl_clock_reading *reading,
                                        double drift_factor, int64_t window_ns)
{
    assert(window_ns > 0);
    if (!is_usable(reading))
        return RL_CLOCK_FINE;
    int64_t told_ns = reading->told_us * 1000, now_ns = reading->came_ns;
    int64_t least_ns = told_ns - reading->came_ns - rounding_ns();
    int64_t most_ns = told_ns - reading->sent_ns + rounding_ns();
    if (!is_comparable(watch, reading)) {
        begin(watch, reading);
        keep(watch, reading, least_ns, most_ns);
        return RL_CLOCK_FINE;
    }
    int64_t apart_ns = rl_clock_drift_ns(now_ns - watch->since_ns, drift_factor);
    int64_t from_ns = watch->least_ns - apart_ns, to_ns = watch->most_ns + apart_ns;
    bool forward = least_ns > to_ns, back = most_ns < from_ns;
    if (forward)
        watch->ahead_ns = rl_earlier_ns(watch->ahead_ns + (most_ns - from_ns), AHEAD_MAX_NS);
    if (forward || back)
        keep(watch, reading, least_ns, most_ns);
    else
        keep(watch, reading, rl_later_ns(least_ns, from_ns), rl_earlier_ns(most_ns, to_ns));
    if (forward)
        return note(watch, true, least_ns - to_ns, window_ns, now_ns);
    if (back)
        return note(watch, false, from_ns - most_ns, window_ns, now_ns);
    return RL_CLOCK_FINE;
}

enum rl_clock_says rl_clock_watch_shown(const struct rl_clock_watch *watch, int64_t window_ns,
                                        int64_t now_ns)
{
    assert(window_ns > 0);
    return now_ns - watch->last_ns <= window_ns ? watch->last : RL_CLOCK_FINE;
}

bool rl_clock_says_early(enum rl_clock_says says)
{
    return says == RL_CLOCK_STEPPED_FORWARD || says == RL_CLOCK_FAST;
}
