/* trust.c - see trust.h. Core. */
#include "config_auto.h"

#include "core/trust.h"

#include "base/limits.h"
#include "base/times.h"
#include "core/refusal.h"
#include "core/validity.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#define ASK_LOADING_NS (100 * RL_NS_PER_MS)
#define ASK_SELDOM_NS (RL_ASK_INFO_MS * RL_NS_PER_MS) /* a person must mend it */

/* ---- the window ------------------------------------------------------------------------ */

/* R9: The longest lease, by the slowest clock. */
int64_t rl_guard_window_ns(int64_t max_ttl_ns, double drift_factor)
{
    assert(max_ttl_ns > 0);
    assert(max_ttl_ns <= RL_TTL_LIMIT_MS * RL_NS_PER_MS);
    return max_ttl_ns + rl_clock_drift_ns(max_ttl_ns, drift_factor);
}

/* R9: Until every lease of the former server is over. */
int64_t rl_guard_wait_ns(int64_t window_ns, int64_t uptime_s, int64_t seen_ns)
{
    assert(window_ns > 0 && seen_ns >= 0);
    if (seen_ns >= window_ns)
        return 0;
    int64_t wait_ns = window_ns - seen_ns;
    if (uptime_s < 0)
        return wait_ns;
    /* Whole seconds, rounded up: ceil(window). */
    int64_t window_s = (window_ns + RL_NS_PER_S - 1) / RL_NS_PER_S;
    if (uptime_s - 1 >= window_s)
        return 0;
    int64_t by_uptime_ns = (window_s - (uptime_s - 1)) * RL_NS_PER_S;
    assert(by_uptime_ns > 0 && wait_ns > 0); /* else it may vote */
    return by_uptime_ns < wait_ns ? by_uptime_ns : wait_ns;
}

int64_t rl_trust_uptime_s(int64_t uptime_s, int64_t ahead_ns)
{
    int64_t ahead_s = ahead_ns / RL_NS_PER_S + (ahead_ns % RL_NS_PER_S != 0);
    assert(ahead_ns >= 0);
    return uptime_s < 0 ? uptime_s : rl_later_ns(uptime_s - ahead_s, 0);
}

/* ---- who answers ----------------------------------------------------------------------- */

struct rl_trust_news rl_trust_learn(struct rl_identity *identity, const struct rl_info *info,
                                    uint64_t term, int64_t now_ns)
{
    static const struct rl_trust_news follows[] = {
        [RL_SAME] = {.replaced = RL_CAUSE_NONE},
        [RL_RESTARTED] = {.lost = true, .process = true},
        [RL_ANOTHER] = {.lost = true, .process = true, .replaced = RL_CAUSE_TOOK_PLACE},
        [RL_RESYNCED] = {.lost = true, .replaced = RL_CAUSE_WAS_REPLICA},
        [RL_FAILED_OVER] = {.lost = true, .process = true, .failed_over = true},
    };
    return follows[rl_identity_learn(identity, info, term, now_ns)];
}

/* ---- why it has no vote ---------------------------------------------------------------- */

#define WITHHELD ": its vote is withheld by the restart guard"

const char *rl_trust_words(enum rl_cause cause)
{
    static const char *const words[RL_CAUSES] = {
        [RL_CAUSE_TWIN] = "the same server as an earlier node of the list",
        [RL_CAUSE_MAYBE_TWIN] = "has another node's run_id, and may be the same server",
        [RL_CAUSE_TWO_SERVERS] = "two servers answer at this address: a proxy, or a name that "
                                 "leads to both; no vote",
        [RL_CAUSE_NO_RUN_ID] = "INFO names no run_id, so a restart could not be seen: no vote",
        [RL_CAUSE_WAS_REPLICA] =
            "was a replica or loaded its keys anew less than max-ttl ago" WITHHELD,
        [RL_CAUSE_TOOK_PLACE] =
            "may have taken the place of another server less than max-ttl ago" WITHHELD,
        [RL_CAUSE_RESTARTED] = "restarted less than max-ttl ago" WITHHELD,
        [RL_CAUSE_NO_UPTIME] = "tells no uptime (was its clock set back behind its start?), so "
                               "each new client waits for max-ttl" WITHHELD,
        [RL_CAUSE_REPLACED] = "is a replica or loads its keys anew",
        [RL_CAUSE_UNMARKED] = "its marker has changed since it was read, and is read anew",
    };
    assert(cause < RL_CAUSES);
    return words[cause];
}

/* What no wait mends. */
static enum rl_cause unfit(const struct rl_trust_known *known)
{
    if (known->denied == RL_CAUSE_MARKER_DENIED)
        return RL_CAUSE_MARKER_DENIED;
    if (known->denied == RL_CAUSE_INFO_DENIED && known->guard)
        return RL_CAUSE_INFO_DENIED;
    if (rl_info_unfit(known->info))
        return RL_CAUSE_SERVER;
    if (known->two_servers)
        return RL_CAUSE_TWO_SERVERS;
    if (known->unmet)
        return RL_CAUSE_ADDRESS;
    if (known->guard && !known->info->run_id[0])
        return RL_CAUSE_NO_RUN_ID;
    if (known->marker && known->marker_says == RL_MARKER_UNFIT)
        return RL_CAUSE_MARKER;
    return RL_CAUSE_NONE;
}

/* May it have forgotten what it granted? By its marker; else by its uptime, and by how long this
 * client has known it. */
static enum rl_cause guarded(const struct rl_trust_known *known, int64_t now_ns,
                             int64_t *ret_until_ns)
{
    int64_t window_ns = known->window_ns, uptime_s = known->info->uptime_s;
    assert(known->identity->run_id[0] && known->identity->seen_ns > 0);
    if (known->marker && known->marker_says == RL_MARKER_QUARANTINED) {
        *ret_until_ns = known->marker->ends_ns;
        return RL_CAUSE_QUARANTINED;
    }
    /* A marker that matches is proof enough, unless another process was here before. */
    bool proven = known->marker && !known->identity->successor;
    int64_t seen_ns = now_ns - known->identity->seen_ns;
    int64_t wait = proven ? 0 : rl_guard_wait_ns(window_ns, uptime_s, seen_ns);
    int64_t anew = known->replaced_ns > 0
                       ? rl_guard_wait_ns(window_ns, -1, now_ns - known->replaced_ns)
                       : 0;
    *ret_until_ns = now_ns + rl_later_ns(wait, anew);
    if (wait == 0 && anew == 0)
        return RL_CAUSE_NONE;
    /* Another server that has just started counts as restarted: nothing proves otherwise. */
    bool young = rl_guard_wait_ns(window_ns, uptime_s, 0) > 0;
    if (anew > 0 && !(young && known->replaced == RL_CAUSE_TOOK_PLACE))
        return known->replaced;
    /* Without an uptime nothing says that it was restarted, if no other process was here. */
    return uptime_s >= 0 || known->identity->successor ? RL_CAUSE_RESTARTED
                                                       : RL_CAUSE_NO_UPTIME;
}

/* A master that votes, or not for a cause that has no words of its own. */
static void tell(const struct rl_trust_known *known, struct rl_trust *trust)
{
    char *why = trust->why;
    size_t size = sizeof(trust->why);
    const char *refusal;
    *why = '\0';
    switch (trust->cause) {
    case RL_CAUSE_NONE:
        refusal = rl_info_refusal(known->info);
        if (known->denied)
            snprintf(why, size, "warning: INFO was refused (%s)", known->error);
        else if (refusal)
            snprintf(why, size, "warning: %s", refusal);
        else if (known->info->replicas > 0 && !known->replicas_told)
            snprintf(why, size,
                     "warning: replicas are attached (%" PRId64 "), and one that took its place "
                     "would lack the last locks: write failover=yes on its line, or failover=no "
                     "if none ever does",
                     known->info->replicas);
        return;
    case RL_CAUSE_MARKER_DENIED:
        snprintf(why, size,
                 "its marker can't be read, so lost keys could not be seen: no vote (%.100s)",
                 known->error);
        return;
    case RL_CAUSE_INFO_DENIED:
        snprintf(why, size, "INFO was refused, so a restart could not be seen: no vote (%s)",
                 known->error);
        return;
    case RL_CAUSE_QUARANTINED:
        snprintf(why, size, "%squarantined, because %s",
                 known->marker->text[0] ? "" : "to be ", known->marker->why);
        return;
    case RL_CAUSE_UNNAMED:
        snprintf(why, size, "%s", known->unnamed);
        return;
    case RL_CAUSE_SERVER:
        snprintf(why, size, "%s", rl_info_unfit(known->info));
        return;
    case RL_CAUSE_ADDRESS:
        snprintf(why, size, "%s", known->unmet);
        return;
    case RL_CAUSE_MARKER:
        snprintf(why, size, "%s", known->marker->why);
        return;
    case RL_CAUSE_LISTS:
        snprintf(why, size, "%s", known->other_list);
        return;
    default:
        snprintf(why, size, "%s", rl_trust_words(trust->cause));
    }
}

/* ---- when it is asked again ------------------------------------------------------------ */

static int64_t ask_ns(const struct rl_trust_known *known, const struct rl_trust *trust,
                      int64_t now_ns)
{
    switch (trust->cause) {
    case RL_CAUSE_NONE: /* INFO that was denied for good is not asked for again */
        return known->denied ? known->ask_ns : known->asked_ns + known->check_ns;
    case RL_CAUSE_TWO_SERVERS:
        return now_ns + rl_earlier_ns(known->window_ns / 16, RL_ASK_AGAIN_NS);
    case RL_CAUSE_UNNAMED:
        return now_ns + RL_ASK_AGAIN_NS;
    case RL_CAUSE_QUARANTINED:
        return known->wanted && !known->marker->text[0] ? now_ns : known->marker->until_ns;
    default:
        break;
    }
    if (trust->fitness == RL_GUARDED)
        return trust->until_ns;
    if (known->unmet_pause_ns > 0)
        return now_ns + known->unmet_pause_ns;
    if (known->info->loading)
        return now_ns + ASK_LOADING_NS;
    return now_ns + (rl_refusal_lasts(trust->why) ? ASK_SELDOM_NS : RL_ASK_AGAIN_NS);
}

/* R9, R17, R22: The first cause that applies takes its vote. */
void rl_trust_judge(const struct rl_trust_known *known, int64_t now_ns,
                    struct rl_trust *ret_trust)
{
    int64_t until_ns = now_ns;
    enum rl_cause cause = known->found;
    assert(known->window_ns > 0 && now_ns > 0);
    assert((cause == RL_CAUSE_UNNAMED) == (known->unnamed != NULL));
    if (cause == RL_CAUSE_NONE)
        cause = unfit(known);
    if (cause == RL_CAUSE_NONE && known->guard)
        cause = guarded(known, now_ns, &until_ns);
    if (cause == RL_CAUSE_NONE && known->other_list)
        cause = RL_CAUSE_LISTS;
    ret_trust->cause = cause;
    ret_trust->fitness = cause == RL_CAUSE_NONE           ? RL_FIT
                         : cause >= RL_CAUSE_QUARANTINED ? RL_GUARDED
                                                          : RL_UNFIT;
    ret_trust->until_ns = ret_trust->fitness == RL_GUARDED ? until_ns : 0;
    tell(known, ret_trust);
    ret_trust->ask_ns = ask_ns(known, ret_trust, now_ns);
    if (known->lists_wanted)
        ret_trust->ask_ns = rl_earlier_ns(ret_trust->ask_ns, now_ns + known->check_ns);
    if (known->unsettled)
        ret_trust->ask_ns = now_ns;
    assert(ret_trust->fitness == RL_FIT || ret_trust->why[0]); /* no vote: there is a reason */
}
