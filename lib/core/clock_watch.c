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

/* Its rate is that of the last minutes, not of days. */
#define RATE_NS (300 * RL_NS_PER_S)
#define RATE_MAX_PPM 1e12

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
    assert(len > 0 && len < sizeof(watch->run_id));
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

/* `anew`: no rate can be told across a step, and none from what was before. */
static void measure(struct rl_clock_watch *watch, const struct rl_clock_reading *reading,
                    bool anew)
{
    const struct rl_clock_look look = {reading->told_us, reading->sent_ns, reading->came_ns};
    assert(reading->told_us > 0);
    if (anew)
        watch->base = look;
    else if (look.came_ns - watch->base.came_ns > RATE_NS)
        watch->base = watch->latest;
    watch->latest = look;
}

enum rl_clock_says rl_clock_watch_learn(struct rl_clock_watch *watch,
                                        const struct rl_clock_reading *reading,
                                        double drift_factor, int64_t window_ns)
{
    assert(window_ns > 0);
    assert(watch->least_ns <= watch->most_ns);
    assert(watch->ahead_ns >= 0 && watch->ahead_ns <= AHEAD_MAX_NS);
    if (!is_usable(reading))
        return RL_CLOCK_FINE;
    int64_t told_ns = reading->told_us * 1000, now_ns = reading->came_ns;
    int64_t least_ns = told_ns - reading->came_ns - rounding_ns();
    int64_t most_ns = told_ns - reading->sent_ns + rounding_ns();
    if (!is_comparable(watch, reading)) {
        begin(watch, reading);
        keep(watch, reading, least_ns, most_ns);
        measure(watch, reading, true);
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
    enum rl_clock_says says = RL_CLOCK_FINE;
    if (forward)
        says = note(watch, true, least_ns - to_ns, window_ns, now_ns);
    else if (back)
        says = note(watch, false, from_ns - most_ns, window_ns, now_ns);
    measure(watch, reading,
            says == RL_CLOCK_STEPPED_FORWARD || says == RL_CLOCK_STEPPED_BACK);
    return says;
}

/* Between the looks its clock went on by `told_us`. By ours it was at least from the first reply
 * to the second request, and at most from the first request to the second reply. */
bool rl_clock_rate(const struct rl_clock_look *first, const struct rl_clock_look *last,
                   double *ret_least, double *ret_most)
{
    double told_us = (double)(last->told_us - first->told_us);
    double least_us = (double)(last->sent_ns - first->came_ns) / 1000;
    double most_us = (double)(last->came_ns - first->sent_ns) / 1000;
    assert(first->sent_ns <= first->came_ns && last->sent_ns <= last->came_ns);
    if (least_us <= 0)
        return false;
    *ret_least = told_us / (told_us >= 0 ? most_us : least_us);
    *ret_most = told_us / (told_us >= 0 ? least_us : most_us);
    return true;
}

static void show(int64_t least, int64_t most, int64_t *ret_middle, int64_t *ret_bound)
{
    assert(least <= most);
    *ret_middle = least + (most - least) / 2;
    *ret_bound = most - *ret_middle + 1;
}

static int64_t ppm(double rate, int rounded)
{
    double by = (rate - 1) * 1e6;
    double most = by > RATE_MAX_PPM ? RATE_MAX_PPM : by < -RATE_MAX_PPM ? -RATE_MAX_PPM : by;
    return (int64_t)most + rounded;
}

void rl_clock_watch_figures(const struct rl_clock_watch *watch, double drift_factor,
                            const struct rl_clock_wall *now,
                            struct rl_clock_figures *ret_figures)
{
    struct rl_clock_figures *figures = ret_figures;
    double least, most;
    *figures = (struct rl_clock_figures){.offset_bound_us = 0};
    assert(now->before_ns >= 0 && now->before_ns <= now->after_ns);
    assert(watch->least_ns <= watch->most_ns);
    if (!watch->run_id[0] || now->after_ns > OWN_MAX_NS || now->wall_us > TOLD_MAX_US)
        return;
    int64_t apart_ns =
        rl_clock_drift_ns(rl_later_ns(now->after_ns - watch->since_ns, 0), drift_factor);
    show((watch->least_ns - apart_ns + now->before_ns) / 1000 - now->wall_us - 1,
         (watch->most_ns + apart_ns + now->after_ns) / 1000 - now->wall_us + 1,
         &figures->offset_us, &figures->offset_bound_us);
    if (rl_clock_rate(&watch->base, &watch->latest, &least, &most))
        show(ppm(least, -1), ppm(most, 1), &figures->rate_ppm, &figures->rate_bound_ppm);
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
