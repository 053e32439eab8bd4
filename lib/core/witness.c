/* witness.c - see witness.h. Core. */
#include "config_auto.h"

#include "core/witness.h"

#include "base/times.h"
#include "core/quorum.h"
#include "core/trust.h"
#include "core/validity.h"

#include <assert.h>
#include <string.h>

/* R22: The longest lease, and how much earlier than its t0 its statement was asked for. */
int64_t rl_witness_window_ns(int64_t max_ttl_ns, double drift_factor)
{
    assert(max_ttl_ns > 0);
    int64_t sum_ns = max_ttl_ns + RL_WITNESS_D_NS;
    return sum_ns + rl_clock_drift_ns(sum_ns, drift_factor);
}

/* ---- who it is ------------------------------------------------------------------------- */

/* R22: A new one at a known host counts once it was known for the window, whatever its uptime:
 * by then all that the former one vouched for is over. */
void rl_witness_met(struct rl_witnesses *witnesses, unsigned i, const char *id,
                    int64_t uptime_s, int64_t window_ns, int64_t now_ns)
{
    assert(i < witnesses->named && witnesses->named <= RL_WITNESSES_MAX);
    struct rl_witness *witness = &witnesses->of[i];
    bool another = strcmp(witness->ids.last, id) != 0;
    bool first = !witness->ids.last[0];
    int64_t counts_ns = now_ns + (another && !first ? window_ns
                                                    : rl_guard_wait_ns(window_ns, uptime_s, 0));
    int64_t former_ns = rl_earlier_ns(witness->counts_ns, now_ns + window_ns);
    assert(id[0]);
    witness->here = true;
    witness->no_uptime = uptime_s < 0;
    witness->replaced = another ? !first : witness->replaced && former_ns > now_ns;
    if (another) {
        witness->best = (struct rl_master_at){.port = 0};
        witness->last = (struct rl_statement){.told = false};
        witness->asked_ns = 0;
        witness->back = false;
    }
    (void)rl_sightings_learn(&witness->ids, id, now_ns, now_ns);
    witness->counts_ns = rl_later_ns(counts_ns, former_ns);
}

void rl_witness_gone(struct rl_witnesses *witnesses, unsigned i, enum rl_unheard unheard)
{
    assert(i < witnesses->named);
    witnesses->of[i].here = false;
    witnesses->of[i].unheard = unheard;
}

/* ---- what it said ---------------------------------------------------------------------- */

static bool is_behind(const struct rl_master_at *at, const struct rl_master_at *best)
{
    if (best->port == 0)
        return false;
    return at->term < best->term || (at->term == best->term && !rl_master_same(at, best));
}

/* Is its last answer one of a witness that counts? */
static bool has_word(const struct rl_witness *witness)
{
    return witness->ids.last[0] && witness->ids.two_ns == 0 && witness->last.told &&
           witness->asked_ns >= witness->counts_ns;
}

/* What is asked of each witness that has a word. */
struct asked {
    const struct rl_master_at *at; /* whom it must name; NULL: one of a lower term */
    const char *run_id;            /* which that server has; NULL: any */
    uint64_t term;
    int64_t since_ns, epoch;
    bool back; /* instead of all that: has it gone back? */
};

static bool says(const struct rl_witness *witness, const struct asked *asked)
{
    const struct rl_master_at *named = &witness->last.at;
    if (!has_word(witness))
        return false;
    if (asked->back)
        return witness->back;
    if (witness->asked_ns < asked->since_ns || witness->epoch != asked->epoch)
        return false;
    if (!asked->at)
        return named->term < asked->term;
    if (witness->back || !rl_master_same(named, asked->at))
        return false;
    return !asked->run_id || !named->run_id[0] || strcmp(named->run_id, asked->run_id) == 0;
}

/* R22: Say so many different ones that they are a majority of those named? */
static bool majority_says(const struct rl_witnesses *witnesses, const struct asked *asked)
{
    unsigned count = 0;
    for (unsigned i = 0; i < witnesses->named; i++) {
        bool again = false;
        if (!says(&witnesses->of[i], asked))
            continue;
        for (unsigned j = 0; j < i; j++)
            again |= says(&witnesses->of[j], asked) &&
                     strcmp(witnesses->of[i].ids.last, witnesses->of[j].ids.last) == 0;
        count += !again;
    }
    return count >= rl_quorum_needed(witnesses->named);
}

/* Each that went back is believed from here on. What the others said was of the same past. */
static void drop_memory(struct rl_witnesses *witnesses, int64_t now_ns)
{
    witnesses->forgot_ns = now_ns;
    for (unsigned i = 0; i < witnesses->named; i++) {
        struct rl_witness *witness = &witnesses->of[i];
        witness->best = witness->back ? witness->last.at : (struct rl_master_at){.port = 0};
        witness->back = false;
    }
}

/* R22: A witness that goes back gives no answer, unless a majority does. */
void rl_witness_answered(struct rl_witnesses *witnesses, unsigned i,
                         const struct rl_statement *statement, int64_t asked_ns,
                         int64_t epoch, int64_t now_ns)
{
    assert(i < witnesses->named && asked_ns > 0 && now_ns >= asked_ns);
    assert(statement->told || statement->why || statement->unheard);
    struct rl_witness *witness = &witnesses->of[i];
    witness->last = *statement;
    witness->asked_ns = asked_ns;
    witness->epoch = epoch;
    witness->back = statement->told && is_behind(&statement->at, &witness->best);
    if (statement->told && !witness->back && witness->ids.last[0])
        witness->best = statement->at;
    if (majority_says(witnesses, &(struct asked){.back = true}))
        drop_memory(witnesses, now_ns);
}

/* ---- what they say together ------------------------------------------------------------ */

bool rl_witnesses_name(const struct rl_witnesses *witnesses, int64_t since_ns, int64_t epoch,
                       struct rl_master_at *ret_at)
{
    for (unsigned i = 0; i < witnesses->named; i++) {
        const struct rl_master_at *at = &witnesses->of[i].last.at;
        if (majority_says(witnesses,
                          &(struct asked){.at = at, .since_ns = since_ns, .epoch = epoch})) {
            *ret_at = *at;
            ret_at->run_id[0] = '\0';
            return true;
        }
    }
    return false;
}

/* R22: This server, this term, this process. */
bool rl_witnesses_vouch(const struct rl_witnesses *witnesses, const struct rl_master_at *at,
                        int64_t since_ns, int64_t epoch)
{
    const struct asked asked = {
        .at = at, .run_id = at->run_id, .since_ns = since_ns, .epoch = epoch};
    return majority_says(witnesses, &asked);
}

/* R22: Who was asked after the marker was read shares a host with those that named its term: lower
 * words prove that a majority has lost its memory. */
bool rl_witnesses_forgot(const struct rl_witnesses *witnesses, const struct rl_look *look,
                         int64_t epoch)
{
    const struct asked asked = {
        .term = look->marker_term, .since_ns = look->read_ns + 1, .epoch = epoch};
    assert(look->sent_ns <= look->read_ns);
    if (witnesses->forgot_ns > 0 && witnesses->forgot_ns >= look->sent_ns)
        return true;
    return majority_says(witnesses, &asked);
}
