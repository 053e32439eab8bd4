/* sim_kinds.c - worlds in which locks are of other kinds than plain. Which ones is a matter of
 * the seed's number, and not drawn: a world of plain locks is the same whatever others there
 * are. Contenders of a name are of one family, since a name that holds another is refused. */
#include "config_auto.h"

#include "sim_world.h"

#include "base/limits.h"
#include "core/hold.h"

#include <stdio.h>
#include <string.h>

enum { SET_MAX = 4, SET_BYTES = 32 };

int sim_family_wanted = SIM_FAMILIES;
bool sim_fenced_wanted, sim_marked_wanted, sim_partial_wanted, sim_delayed_wanted, sim_members_wanted, sim_watching_wanted, sim_kept_wanted;
bool sim_failover_wanted;

const char *sim_family_name(enum sim_family family)
{
    static const char *const names[SIM_FAMILIES + 1] = {
        [SIM_PLAIN_LOCKS] = "plain",   [SIM_REENTRANT_LOCKS] = "reentrant",
        [SIM_SHARED_LOCKS] = "shared", [SIM_SEVERAL_LOCKS] = "several",
        [SIM_FAIR_LOCKS] = "fair",     [SIM_RW_LOCKS] = "rw",
        [SIM_FAMILIES] = "any",
    };
    return names[family];
}

const char *sim_kinds_wanted(void)
{
    return sim_marked_wanted     ? "marked"
           : sim_partial_wanted  ? "partial"
           : sim_delayed_wanted  ? "delayed"
           : sim_members_wanted  ? "members"
           : sim_fenced_wanted   ? "fenced"
           : sim_watching_wanted ? "watching"
           : sim_kept_wanted     ? "kept"
           : sim_limited_wanted  ? "limited"
           : sim_crowded_wanted  ? "crowded"
           : sim_failover_wanted ? "failover"
                                 : sim_family_name((enum sim_family)sim_family_wanted);
}

enum sim_family sim_family_of(uint64_t seed)
{
    static const enum sim_family families[] = {
        SIM_PLAIN_LOCKS,     SIM_PLAIN_LOCKS,     SIM_PLAIN_LOCKS,  SIM_PLAIN_LOCKS,
        SIM_PLAIN_LOCKS,     SIM_PLAIN_LOCKS,     SIM_RW_LOCKS,     SIM_SEVERAL_LOCKS,
        SIM_REENTRANT_LOCKS, SIM_REENTRANT_LOCKS, SIM_SHARED_LOCKS, SIM_SHARED_LOCKS,
        SIM_RW_LOCKS,        SIM_SEVERAL_LOCKS,   SIM_FAIR_LOCKS,   SIM_FAIR_LOCKS,
    };
    if (sim_family_wanted != SIM_FAMILIES)
        return (enum sim_family)sim_family_wanted;
    return families[seed * 0x9e3779b97f4a7c15u >> 60];
}

/* Every eighth. */
bool sim_fenced_of(uint64_t seed)
{
    return sim_fenced_wanted || seed * 0xd1342543de82ef95u >> 61 == 0;
}

/* Every other one of these. */
bool sim_certified_of(uint64_t seed)
{
    return sim_fenced_of(seed) && seed * 0xd6e8feb86659fd93u >> 63;
}

/* Every eighth, and it may be fenced too. */
bool sim_marked_of(uint64_t seed)
{
    return sim_marked_wanted || seed * 0xaf251af3b0f025b5u >> 61 == 0;
}

/* Every eighth, with every guard. */
bool sim_partial_of(uint64_t seed)
{
    return sim_partial_wanted || seed * 0xe7037ed1a0b428dbu >> 61 == 0;
}

/* Every fourth of those with certificates. */
bool sim_numbers_of(uint64_t seed)
{
    return seed * 0x94d049bb133111ebu >> 62 == 0;
}

/* Every fourth of these. */
bool sim_lower_of(uint64_t seed)
{
    return seed * 0xbf58476d1ce4e5b9u >> 62 == 0;
}

/* Every second of these. */
bool sim_strict_of(uint64_t seed)
{
    return seed * 0xda942042e4dd58b5u >> 63 == 0;
}

/* Every eighth, and it may be fenced and marked too. */
bool sim_delayed_of(uint64_t seed)
{
    return sim_delayed_wanted || seed * 0x9e3779b97f4a7c15u >> 61 == 0;
}

/* Every eighth, and it may be all of these too. */
bool sim_kept_of(uint64_t seed)
{
    return sim_kept_wanted || seed * 0x2545f4914f6cdd1du >> 61 == 0;
}

/* As long as the library takes it: up to what one lease allows. */
int64_t sim_draw_at_least(int kind)
{
    const struct sim_client_options *options = &sim_world.plan.options;
    double drift = options->drift_factor > 0 ? options->drift_factor : RL_DEFAULT_DRIFT_FACTOR;
    int64_t ttl_ms = options->max_ttl_ms;
    if (!sim_world.plan.kept || sim_world.phase != SIM_WORK || sim_below(3) == 0)
        return 0;
    if (kind == REDLOCK_READ && sim_world.plan.family == SIM_RW_LOCKS &&
        ttl_ms > RL_SHARED_TTL_MAX_MS)
        ttl_ms = RL_SHARED_TTL_MAX_MS;
    ttl_ms -= options->lock_delay_ms;
    int64_t most_ms = ttl_ms > 0 ? rl_keep_max_ms(ttl_ms, drift) : 0;
    return most_ms > 0 ? sim_scale(1, most_ms) : 0;
}

/* Every eighth, and it may be all of these too. */
bool sim_watching_of(uint64_t seed)
{
    return sim_watching_wanted || seed * 0xa0761d6478bd642fu >> 61 == 0;
}

/* Every sixteenth, and it may be all of these too. */
bool sim_members_of(uint64_t seed)
{
    return sim_members_wanted || seed * 0xc2b2ae3d27d4eb4fu >> 60 == 0;
}

/* An owner of its own for every use of a lock; who takes it once more meanwhile is the same. */
void sim_draw_kind(redlock_options *options, char owner[SIM_OWNER_BYTES])
{
    options->fenced = sim_world.plan.fenced;
    switch (sim_world.plan.family) {
    case SIM_REENTRANT_LOCKS:
        options->kind = REDLOCK_REENTRANT;
        break;
    case SIM_FAIR_LOCKS:
        options->kind = REDLOCK_FAIR;
        break;
    case SIM_SHARED_LOCKS:
    case SIM_RW_LOCKS:
        options->kind = sim_below(3) ? REDLOCK_READ : REDLOCK_WRITE;
        options->fenced &= options->kind == REDLOCK_WRITE;
        break;
    default:
        return;
    }
    snprintf(owner, SIM_OWNER_BYTES, "%s-%u", sim_proc()->name, ++sim_world.owners);
    options->owner = owner;
}

bool sim_draw_nested(const redlock_options *outer, redlock_options *ret_inner)
{
    if (outer->kind == REDLOCK_PLAIN || sim_below(3))
        return false;
    *ret_inner = *outer;
    if (outer->kind == REDLOCK_READ || outer->kind == REDLOCK_WRITE)
        ret_inner->kind = sim_below(2) ? REDLOCK_READ : REDLOCK_WRITE;
    ret_inner->fenced = sim_world.plan.fenced && ret_inner->kind != REDLOCK_READ;
    ret_inner->ttl_ms = sim_scale(30, sim_world.plan.ttl_max_ms);
    ret_inner->wait_ms = sim_below(2) ? 0 : sim_scale(1, sim_world.plan.ttl_max_ms);
    ret_inner->at_least_ms = sim_draw_at_least(ret_inner->kind);
    return true;
}

/* ---- names ----------------------------------------------------------------------------- */

/* So many names from the first one on, in such steps: then some may come twice. */
static const char *names_text(unsigned count, unsigned first, unsigned step)
{
    static char texts[SIM_NAMES_MAX][SET_MAX][SIM_NAMES_MAX][SIM_NAMES_MAX][SET_BYTES];
    unsigned names = sim_world.plan.names;
    char *text = texts[names - 1][count - 1][first][step];
    size_t len = strlen(text);
    if (len > 0)
        return text;
    for (unsigned i = 0; i < count; i++)
        len += (size_t)snprintf(text + len, SET_BYTES - len, "%s%s", i ? "+" : "",
                                sim_world.plan.name[(first + i * step) % names]);
    return text;
}

const char *sim_draw_name(void)
{
    const struct sim_plan *plan = &sim_world.plan;
    unsigned first = (unsigned)sim_below(plan->names);
    if (plan->family != SIM_SEVERAL_LOCKS || sim_below(3) == 0)
        return plan->name[first];
    unsigned count = 2 + (unsigned)sim_below(SET_MAX - 1);
    unsigned step = sim_below(8) ? 1 + (unsigned)sim_below(plan->names - 1) : 0;
    return names_text(count, first, step);
}

const char *sim_served_name(unsigned i)
{
    const struct sim_plan *plan = &sim_world.plan;
    if (plan->family != SIM_SEVERAL_LOCKS || i > 0)
        return plan->name[i];
    unsigned which = sim_proc()->index;
    unsigned count = plan->names < SET_MAX ? plan->names : SET_MAX;
    return names_text(count, which % plan->names, 1 + which % (plan->names - 1));
}
