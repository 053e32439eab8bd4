/* variants.c - see variants.h. */
#include "config_auto.h"

#include "variants.h"

#include "model_failover.h"
#include "model_fencing.h"
#include "model_lock.h"

/* clang-format off: a row a variant */
#define LOCK(...)                                                                              \
    &lock_model, &(const struct lock_rules)                                                    \
    {                                                                                          \
        __VA_ARGS__                                                                            \
    }
#define FENCE(...)                                                                             \
    &fencing_model, &(const struct fencing_rules)                                              \
    {                                                                                          \
        __VA_ARGS__                                                                            \
    }
#define FAILOVER(...)                                                                          \
    &failover_model, &(const struct failover_rules)                                            \
    {                                                                                          \
        __VA_ARGS__                                                                            \
    }
#define ONE .witnesses = 1
#define THREE .witnesses = 3
#define OF_N3 .witnesses = 1, .plain = 2
#define TTL2 .ttl = 2, .older = 1, .window = 3
#define TTL1 .ttl = 1, .older = 1, .window = 2
#define OF_THREE .masters = 3, .needed = 2
#define STRICT .strict = true
#define DRIFT .drift = 1, .skew = 1
#define MARKER .marker = MARKED
#define FLUSHED .flushed = true
#define FILLS .extends = true, .fill_in = FILL_AFTER_YES

const struct variant variants[] = {
    /* ---- the lock, as it is ---- */
    {NULL, "lock: requests and releases come late",
     LOCK(OF_THREE, .holds = 2, .ttl = 4, DRIFT, .endings = true), false},
    {NULL, "lock: requests and releases of three come late",
     LOCK(OF_THREE, .holds = 3, .ttl = 2, .endings = true), true},
    {NULL, "lock: two masters",
     LOCK(.masters = 2, .needed = 2, .holds = 2, .ttl = 4, DRIFT, FILLS, .endings = true),
     false},
    {NULL, "lock: four masters, a restart",
     LOCK(.masters = 4, .needed = 3, .holds = 2, .ttl = 3, FILLS, .restarts = 1, .window = 3),
     true},
    {NULL, "lock: extended and filled in", LOCK(OF_THREE, .holds = 2, .ttl = 5, DRIFT, FILLS),
     false},
    {NULL, "lock: extended, filled in, late, a restart",
     LOCK(OF_THREE, .holds = 2, .ttl = 3, DRIFT, FILLS, .endings = true, .restarts = 1,
          .window = 4),
     true},
    {NULL, "lock: three clients extend, fill in, a restart",
     LOCK(OF_THREE, .holds = 3, .ttl = 4, DRIFT, FILLS, .restarts = 1, .window = 5), true},
    {NULL, "lock: two restarts, leases of two lengths",
     LOCK(OF_THREE, .holds = 2, .ttl = 5, .brief_ttl = 3, DRIFT, FILLS, .restarts = 2,
          .window = 6),
     true},
    {NULL, "lock: two restarts",
     LOCK(OF_THREE, .holds = 2, .ttl = 4, DRIFT, FILLS, .restarts = 2, .window = 5), false},
    {NULL, "lock: another server, and all knew the former",
     LOCK(OF_THREE, .holds = 2, .ttl = 4, DRIFT, FILLS, .restarts = 1, .window = 5,
          .replaced = true),
     false},
    {NULL, "lock: filled in at once, and counted",
     LOCK(OF_THREE, .holds = 2, .ttl = 4, DRIFT, .extends = true, .fill_in = FILL_AND_COUNT,
          .restarts = 1, .window = 5),
     false},
    {NULL, "marker: two restarts, clients without a memory",
     LOCK(OF_THREE, .holds = 2, .ttl = 4, DRIFT, FILLS, .restarts = 2, .window = 5, MARKER),
     false},
    {NULL, "marker: three clients extend, fill in, a restart",
     LOCK(OF_THREE, .holds = 3, .ttl = 3, FILLS, .restarts = 1, .window = 3, MARKER), true},
    {NULL, "marker: four masters, a restart, late requests",
     LOCK(.masters = 4, .needed = 3, .holds = 2, .ttl = 3, .endings = true, .restarts = 1,
          .window = 3, MARKER),
     true},
    {NULL, "marker: strict, two are flushed on standing connections",
     LOCK(OF_THREE, .holds = 2, .ttl = 4, DRIFT, FILLS, .restarts = 2, .window = 5, FLUSHED,
          .marker = MARKED_STRICT),
     false},
    /* ---- the lock, a rule broken ---- */
    {"R2", "lock: one of two is a majority",
     LOCK(.masters = 2, .needed = 1, .holds = 2, .ttl = 3), false},
    {"R2", "lock: two of four are a majority",
     LOCK(.masters = 4, .needed = 2, .holds = 2, .ttl = 3), false},
    {"R1", "lock: validity counts from the last reply",
     LOCK(OF_THREE, .holds = 2, .ttl = 3, .from_reply = true), false},
    {"R1", "lock: the drift is not taken off", LOCK(OF_THREE, .holds = 2, .ttl = 3, .skew = 1),
     false},
    {"R3", "lock: the next round has the same token",
     LOCK(OF_THREE, .holds = 2, .ttl = 2, .endings = true, .token_again = true), false},
    {"CE19", "lock: a release does not compare the token",
     LOCK(OF_THREE, .holds = 2, .ttl = 3, .endings = true, .release_any = true), false},
    {"R6", "lock: an extension counts from its last reply",
     LOCK(OF_THREE, .holds = 2, .ttl = 3, .extends = true, .extend_from_reply = true), false},
    {"R6", "lock: an extension counts after the end",
     LOCK(OF_THREE, .holds = 2, .ttl = 3, .extends = true, .extend_late = true), false},
    {"R6", "lock: answers to older extensions count",
     LOCK(OF_THREE, .holds = 2, .ttl = 3, .extends = true, .stale_answers = true), false},
    /* R6 must be broken with it: a hold that is over stays so, whatever it fills in. */
    {"R8", "lock: filled in after the end, and so extended",
     LOCK(OF_THREE, .holds = 2, .ttl = 3, .extends = true, .fill_in = FILL_AND_COUNT,
          .extend_late = true),
     false},
    {"R9", "lock: no guard", LOCK(OF_THREE, .holds = 2, .ttl = 3, .restarts = 1), false},
    {"R9", "lock: no guard, and masters are filled in",
     LOCK(OF_THREE, .holds = 2, .ttl = 3, FILLS, .restarts = 1), false},
    {"R9", "lock: a guard for max-ttl without the drift",
     LOCK(OF_THREE, .holds = 2, .ttl = 4, DRIFT, .restarts = 1, .window = 4), false},
    {"R9", "lock: a guard for the asker's own ttl",
     LOCK(OF_THREE, .holds = 2, .ttl = 4, .brief_ttl = 2, .restarts = 1, .window = 4,
          .guard_by_own_ttl = true),
     false},
    {"R9", "lock: another server is not noticed",
     LOCK(OF_THREE, .holds = 2, .ttl = 4, DRIFT, .restarts = 1, .window = 5, .replaced = true,
          .unknown_server = true),
     false},
    {"R9", "marker: one without a marker votes at once",
     LOCK(OF_THREE, .holds = 2, .ttl = 3, .restarts = 1, .window = 3, MARKER,
          .new_votes_at_once = true),
     false},
    {"R9", "marker: it does not name its process",
     LOCK(OF_THREE, .holds = 2, .ttl = 3, .restarts = 1, .window = 3, MARKER,
          .marker_survives = true),
     false},
    {"R9", "marker: only who sets a quarantine heeds it",
     LOCK(OF_THREE, .holds = 2, .ttl = 3, .restarts = 1, .window = 3, MARKER,
          .quarantine_alone = true),
     false},
    {"R9", "marker: a quarantine for max-ttl without the drift",
     LOCK(OF_THREE, .holds = 2, .ttl = 4, DRIFT, .restarts = 1, .window = 4, MARKER), false},
    /* ---- the lock, an assumption broken: what that costs is found as well ---- */
    {"A1", "lock: another server, unknown to one client",
     LOCK(OF_THREE, .holds = 2, .ttl = 4, DRIFT, .restarts = 1, .window = 5, .replaced = true,
          .stranger = true),
     false},
    {"A1", "lock: another server, older than a client's last word",
     LOCK(OF_THREE, .holds = 2, .ttl = 3, .restarts = 1, .window = 3, .replaced = true,
          .silent = true),
     false},
    {"A2", "marker: not strict, one is flushed on standing connections",
     LOCK(OF_THREE, .holds = 2, .ttl = 3, .restarts = 1, .window = 3, MARKER, FLUSHED), false},
    {"A3", "lock: a master's clock is faster than the drift",
     LOCK(OF_THREE, .holds = 2, .ttl = 5, .drift = 1, .skew = 2), false},
    {"A9", "lock: a key is deleted",
     LOCK(OF_THREE, .holds = 2, .ttl = 3, .restarts = 1, .keys_vanish = true), false},
    /* ---- a master that fails over, as it is ---- */
    {NULL, "failover: two, one witness, extended",
     FAILOVER(ONE, TTL2, .failovers = 2, .extends = true), false},
    {NULL, "failover: two, one witness, extended, clocks ahead, a replica restarts empty",
     FAILOVER(ONE, TTL2, .failovers = 2, .extends = true, .ahead = 1, .restarts = true), true},
    {NULL, "failover: three, one witness",
     FAILOVER(ONE, TTL2, .failovers = 3), true},
    {NULL, "failover: three witnesses",
     FAILOVER(THREE, TTL1, .failovers = 1), false},
    {NULL, "failover: three witnesses, extended",
     FAILOVER(THREE, TTL2, .failovers = 1, .extends = true), true},
    {NULL, "failover: three witnesses, two",
     FAILOVER(THREE, TTL1, .failovers = 2), true},
    {NULL, "failover: three witnesses, two by hand, in one term",
     FAILOVER(THREE, TTL1, .failovers = 2, .equal_terms = true), true},
    {NULL, "failover: one witness, two replicas",
     FAILOVER(ONE, TTL2, .more_replicas = 1, .failovers = 1), true},
    {NULL, "failover: two, connections stay, guard strict",
     FAILOVER(ONE, TTL2, .failovers = 2, .connections_stay = true, .strict = true), true},
    {NULL, "failover of one of three: filled in, a clock step",
     FAILOVER(OF_N3, TTL1, .failovers = 1, .fills = true, .steps = 1), false},
    {NULL, "failover of one of three: two, filled in, a clock step",
     FAILOVER(OF_N3, TTL1, .failovers = 2, .fills = true, .steps = 1), true},
    {NULL, "failover of one of three: extended, filled in, a clock step",
     FAILOVER(OF_N3, TTL2, .failovers = 1, .extends = true, .fills = true, .steps = 1), true},
    /* ---- a master that fails over, a rule broken ---- */
    {"R22", "failover: no statement is needed",
     FAILOVER(ONE, TTL2, .failovers = 1, .no_statement = true), false},
    {"R22", "failover: no quarantine",
     FAILOVER(ONE, .ttl = 2, .older = 1, .failovers = 1), false},
    {"R22", "failover: a statement older than D",
     FAILOVER(ONE, TTL2, .failovers = 1, .old_statement = true), false},
    {"R22", "failover: a window without D",
     FAILOVER(ONE, .ttl = 2, .older = 1, .window = 2, .failovers = 1), false},
    {"R22", "failover: one witness of three for a vote",
     FAILOVER(THREE, TTL1, .failovers = 1, .one_witness = true), false},
    {"R22", "failover: a look by one witness's word",
     FAILOVER(THREE, TTL1, .failovers = 1, .look_by_one = true), false},
    {"R22", "failover: a look before the answers were read",
     FAILOVER(ONE, TTL2, .failovers = 1, .look_unread = true), false},
    {"R22", "failover: the marker does not name the term",
     FAILOVER(ONE, TTL2, .failovers = 2, .marker_termless = true), false},
    {"R22", "failover: statements are compared by server only",
     FAILOVER(ONE, TTL2, .failovers = 2, .by_server_only = true), false},
    {"R22", "failover: the marker does not name the replication id",
     FAILOVER(ONE, TTL2, .failovers = 2, .marker_lifeless = true), false},
    {"R22", "failover: an extension counts in quarantine",
     FAILOVER(ONE, TTL2, .failovers = 1, .extends = true, .extends_quarantined = true), false},
    {"R22", "failover: a demotion does not end connections",
     FAILOVER(ONE, TTL2, .failovers = 2, .connections_stay = true), false},
    {"R22", "failover: a witness that forgets counts at once",
     FAILOVER(THREE, TTL1, .failovers = 1, .forgets = true), false},
    {"R22", "failover of one of three: no statement is needed",
     FAILOVER(OF_N3, TTL1, .failovers = 1, .no_statement = true), false},
    {"R22", "failover of one of three: no quarantine",
     FAILOVER(OF_N3, .ttl = 1, .older = 1, .failovers = 1), false},
    {"R22", "failover of one of three: an extension counts in quarantine",
     FAILOVER(OF_N3, TTL2, .failovers = 1, .extends = true, .extends_quarantined = true),
     true},
    {"R22", "failover of one of three: a fill-in needs no statement, and a clock is set forward",
     FAILOVER(OF_N3, TTL1, .failovers = 1, .fills = true, .steps = 1, .fills_unstated = true),
     false},
    /* ---- a master that fails over, an assumption broken ---- */
    {"A1", "failover: one forgets, is up for the window, names M, and learns P again",
     FAILOVER(THREE, TTL1, .failovers = 1, .forgets_up = true), true},
    /* ---- fencing tokens, as they are ---- */
    {NULL, "fencing: two holds, two restarts, filled in",
     FENCE(OF_THREE, .holds = 2, .restarts = 2, .fill_in = true), false},
    {NULL, "fencing: clocks far apart, two restarts, filled in",
     FENCE(OF_THREE, .holds = 2, .restarts = 2, .fill_in = true, .seed = SEED_ABOVE_HAD), false},
    {NULL, "fencing: clocks far apart, four masters, a restart",
     FENCE(.masters = 4, .needed = 3, .holds = 2, .restarts = 1, .seed = SEED_ABOVE_HAD), true},
    {NULL, "fencing: three holds", FENCE(OF_THREE, .holds = 3), true},
    {NULL, "fencing: four masters", FENCE(.masters = 4, .needed = 3, .holds = 2), false},
    {NULL, "fencing: four masters, a restart, filled in",
     FENCE(.masters = 4, .needed = 3, .holds = 2, .restarts = 1, .fill_in = true), true},
    {NULL, "fencing: strict, a restart", FENCE(OF_THREE, .holds = 2, .restarts = 1, STRICT),
     false},
    {NULL, "fencing: strict, two restarts, filled in",
     FENCE(OF_THREE, .holds = 2, .restarts = 2, .fill_in = true, STRICT), true},
    {NULL, "fencing: strict, a restart, read again by others",
     FENCE(OF_THREE, .holds = 2, .restarts = 1, STRICT, .read_again = true), true},
    {NULL, "fencing: strict, two losses, names lead elsewhere, read again by others",
     FENCE(OF_THREE, .holds = 2, .restarts = 2, STRICT, .read_again = true, .twins = true), true},
    {NULL, "fencing: a counter is set to any greater number",
     FENCE(OF_THREE, .holds = 2, .set = SET_UP), false},
    {NULL, "fencing: strict, a restart, a counter or floor is set to any greater number",
     FENCE(OF_THREE, .holds = 2, .restarts = 1, STRICT, .set = SET_UP), true},
    /* ---- fencing tokens, an assumption broken ---- */
    {"A1", "fencing: one master names any number",
     FENCE(OF_THREE, .holds = 2, .set = SET_COUNTER), false},
    {"A1", "fencing: strict, one master tells any number when it is read",
     FENCE(OF_THREE, .holds = 2, .restarts = 1, STRICT, .set = SET_FLOOR), true},
    /* ---- fencing tokens, a rule broken ---- */
    {"R2", "fencing: two of four are a majority", FENCE(.masters = 4, .needed = 2, .holds = 2),
     false},
    {"R11", "fencing: a grant is not above the counter",
     FENCE(OF_THREE, .holds = 2, .not_above = true), false},
    {"R11", "fencing: the token is not written back",
     FENCE(OF_THREE, .holds = 2, .not_written = true), false},
    {"R11", "fencing: a write-back does not ask for its hold",
     FENCE(OF_THREE, .holds = 2, .unconditional = true), false},
    {"R11", "fencing: a master ahead of the token counts",
     FENCE(OF_THREE, .holds = 2, .ahead_counts = true), false},
    {"R11", "fencing: a master that is filled in counts",
     FENCE(OF_THREE, .holds = 2, .fill_in = true, .filled_counts = true), false},
    {"R11", "fencing: filling in lowers the counter",
     FENCE(OF_THREE, .holds = 3, .fill_in = true, .lowered = true), true},
    {"R11", "fencing: counters begin at 0 after a restart",
     FENCE(OF_THREE, .holds = 2, .restarts = 1, .seed = SEED_ZERO), false},
    {"R11", "fencing: a master takes a token far ahead of its clock",
     FENCE(OF_THREE, .holds = 2, .restarts = 1, .seed = SEED_ABOVE_NAMED), false},
    {"R11", "fencing: strict, a master without a certificate votes",
     FENCE(OF_THREE, .holds = 2, .restarts = 1, STRICT, .lost_vote = true), false},
    {"R11", "fencing: strict, less than a quorum of the others is read",
     FENCE(OF_THREE, .holds = 2, .restarts = 1, STRICT, .too_few = true), false},
    {"R11", "fencing: strict, one that is read has no certificate",
     FENCE(OF_THREE, .holds = 2, .restarts = 2, STRICT, .lost_tell = true), false},
    {"R11", "fencing: strict, rounds go on where masters were read",
     FENCE(OF_THREE, .holds = 2, .restarts = 1, STRICT, .rounds_go_on = true), false},
    {"R11", "fencing: strict, a token that is taken does not raise the floor",
     FENCE(OF_THREE, .holds = 2, .restarts = 1, STRICT, .floor_stays = true), false},
    {"R11", "fencing: strict, what was read for an earlier loss counts",
     FENCE(OF_THREE, .holds = 2, .restarts = 2, STRICT, .late_counts = true), false},
    {"R11", "fencing: strict, answers are counted and not masters",
     FENCE(OF_THREE, .holds = 2, .restarts = 1, STRICT, .read_again = true, .ids_count = true),
     false},
    {"R11", "fencing: strict, a server under two names counts twice",
     FENCE(OF_THREE, .holds = 2, .restarts = 2, STRICT, .read_again = true, .twins = true,
           .twins_count = true),
     true},
};
/* clang-format on */
const size_t variant_count = sizeof(variants) / sizeof(variants[0]);

struct exploration variant_explore(const struct variant *variant, FILE *story)
{
    return explore(variant->model, variant->rules, VARIANT_STATES, story);
}

bool variant_as_it_must(const struct variant *variant, const struct exploration *found)
{
    return variant->rule ? found->wrong != NULL : found->complete && !found->wrong;
}
