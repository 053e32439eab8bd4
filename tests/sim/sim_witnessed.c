/* sim_witnessed.c - the oracle of votes by masters that can fail over. What Sentinels have said to
 * whom, and when, is written down as they say it. A vote counts only if a majority of them said to
 * this process, within D before its round, that this server is master in one term; and not while
 * that server is in a quarantine that began D or more before the round. */
#include "config_auto.h"

#include "sim_judge.h"
#include "sim_master_parts.h"

#include "core/witness.h"

#include <string.h>

enum { SAID_MAX = 1024 };

/* Clocks may go apart, and what is asked takes a moment to be said. */
#define D_NS (RL_WITNESS_D_NS + RL_WITNESS_D_NS / 8)

struct said {
    const struct sim_proc *to;
    unsigned service, master;
    uint64_t term;
    int64_t at_ns;
};

static struct said_by {
    struct said said[SAID_MAX];
    size_t count; /* in all */
} by[SIM_MASTERS_MAX];

void sim_witnessed_begin(void)
{
    for (unsigned i = 0; i < SIM_MASTERS_MAX; i++)
        by[i].count = 0;
}

void sim_master_stated(const struct sim_stated *stated)
{
    struct said_by *who = &by[stated->sentinel];
    if (!stated->told || !stated->to)
        return;
    who->said[who->count++ % SAID_MAX] = (struct said){
        .to = stated->to,
        .service = stated->service,
        .master = stated->master,
        .term = stated->term,
        .at_ns = sim_now_ns(),
    };
}

/* From `*at` backwards, the next that it said to that process then. NULL: none. */
static const struct said *said_before(const struct said_by *who, size_t *at,
                                      const struct said *like, int64_t t0_ns)
{
    size_t least = who->count > SAID_MAX ? who->count - SAID_MAX : 0;
    while (*at > least) {
        const struct said *said = &who->said[--*at % SAID_MAX];
        if (said->at_ns < t0_ns - D_NS)
            return NULL;
        if (said->at_ns <= t0_ns && said->to == like->to && said->service == like->service &&
            said->master == like->master)
            return said;
    }
    return NULL;
}

static bool says_term(unsigned sentinel, const struct said *like, int64_t t0_ns, uint64_t term)
{
    size_t at = by[sentinel].count;
    const struct said *said;
    while ((said = said_before(&by[sentinel], &at, like, t0_ns))) {
        if (said->term == term)
            return true;
    }
    return false;
}

static bool majority_says(const struct said *like, int64_t t0_ns)
{
    unsigned n = sim_masters_options()->sentinels;
    for (unsigned i = 0; i < n; i++) {
        const struct said_by *who = &by[sim_sentinel_at(like->service, i)];
        const struct said *said;
        size_t at = who->count;
        while ((said = said_before(who, &at, like, t0_ns))) {
            unsigned count = 0;
            for (unsigned k = 0; k < n; k++)
                count += says_term(sim_sentinel_at(like->service, k), like, t0_ns, said->term);
            if (count >= n / 2 + 1)
                return true;
        }
    }
    return false;
}

/* Somebody who knew of a newer term began it, so long ago that no vote of before may come. */
static bool in_quarantine(unsigned server, int64_t t0_ns)
{
    struct sim_server *of = sim_server(server);
    return of->quarantined_ns > 0 && t0_ns > of->quarantined_ns + D_NS &&
           (sim_server_quarantined(of) || t0_ns < of->quarantine_ended_ns);
}

unsigned sim_masters_witnessed(const struct sim_proc *proc, const char *token, int64_t t0_ns)
{
    uint64_t witnessed = 0;
    for (unsigned i = 0; i < sim_servers(); i++) {
        const struct said like = {.to = proc, .service = sim_service_of(i), .master = i};
        if (sim_is_sentinel(i) || !sim_server_backs(i, token, t0_ns) ||
            !majority_says(&like, t0_ns) || in_quarantine(i, t0_ns))
            continue;
        witnessed |= UINT64_C(1) << like.service;
    }
    return (unsigned)__builtin_popcountll(witnessed);
}
