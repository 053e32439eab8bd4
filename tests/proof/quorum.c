/* quorum.c - what core/quorum.c promises, proved for every number of masters. */
#include "sets.h"

#include <stdbool.h>

/* The compiler's own, taken to be right. */
/*@ assigns \nothing;
    ensures \result == count(bits, 64);
*/
int __builtin_popcountll(unsigned long long bits);
int __builtin_ctzll(unsigned long long bits);

/*@ requires node < 64;
    assigns \nothing;
    ensures \result == 1 << node;
    ensures is_only(\result, node);
*/
static inline uint64_t rl_bit(unsigned node);

/*@ requires n <= 64;
    assigns \nothing;
    ensures is_first(\result, n);
*/
static inline uint64_t rl_all(unsigned n);

/*@ assigns \nothing;
    ensures \result == count(nodes, 64) <= 64;
*/
static inline unsigned rl_count(uint64_t nodes);

#include "core/quorum.h"

/*@ predicate votes(integer n, integer yes, integer no, integer failed) =
        within(yes, n) && within(no, n) && within(failed, n) &&
        apart(yes, no) && apart(yes, failed) && apart(no, failed);
    predicate joined(integer after, integer before, integer node) =
        \forall integer i; 0 <= i < 64 ==> (has(after, i) <==> has(before, i) || i == node);
    lemma vote_of_a_silent_node: \forall uint64_t yes, no, failed, after, integer n, node;
        votes(n, yes, no, failed) && 0 <= node < n <= 64 &&
        !has(yes, node) && !has(no, node) && !has(failed, node) ==>
        (joined(after, yes, node) ==> votes(n, after, no, failed)) &&
        (joined(after, no, node) ==> votes(n, yes, after, failed)) &&
        (joined(after, failed, node) ==> votes(n, yes, no, after));

    logic integer majority(integer n) = n / 2 + 1;
*/

/* Macros, since provers see less of the memory through a predicate. */
#define sound(r)                                                                               \
    (1 <= (r)->n <= REDLOCK_NODES_MAX && votes((r)->n, (r)->yes, (r)->no, (r)->failed))
#define won(r) (count((r)->yes, 64) >= majority((r)->n))
#define lost(r) ((r)->n - count((r)->no | (r)->failed, 64) < majority((r)->n))
#define same(r, y, n, f) ((r)->yes == y && (r)->no == n && (r)->failed == f)

/* ---- the functions --------------------------------------------------------------------- */

/* More than half, and no fewer would be. */
/*@ requires 1 <= n <= REDLOCK_NODES_MAX;
    assigns \nothing;
    ensures \result == majority(n);
    ensures 2 * \result > n && 2 * (\result - 1) <= n && \result <= n;
*/
unsigned rl_quorum_needed(unsigned n);

/*@ requires \valid(round) && 1 <= n <= REDLOCK_NODES_MAX;
    requires 0 <= t0_ns <= node_deadline_ns;
    assigns *round;
    ensures sound(round) && round->n == n && same(round, 0, 0, 0);
    ensures round->t0_ns == t0_ns && round->node_deadline_ns == node_deadline_ns;
*/
void rl_round_start(struct rl_round *round, unsigned n, int64_t t0_ns,
                    int64_t node_deadline_ns);

/*@ requires \valid_read(round) && sound(round);
    assigns \nothing;
*/
static void round_assert(const struct rl_round *round);

/*@ requires \valid_read(round) && sound(round);
    assigns \nothing;
    ensures \forall integer i; 0 <= i < 64 ==> (has(\result, i) <==>
        i < round->n && !has(round->yes, i) && !has(round->no, i) && !has(round->failed, i));
    ensures \forall integer i; 0 <= i < 64 && (\result & (1 << i)) != 0 ==> has(\result, i);
*/
uint64_t rl_round_silent(const struct rl_round *round);

/* The first vote of a node stands, and no other node's changes. */
/*@ requires \valid(round) && sound(round) && node < round->n;
    requires vote == RL_VOTE_YES || vote == RL_VOTE_NO || vote == RL_VOTE_FAILED;
    assigns round->yes, round->no, round->failed;
    ensures sound(round);
    ensures \result <==> !\old(has(round->yes, node) || has(round->no, node) ||
                               has(round->failed, node));
    ensures subset(\old(round->yes), round->yes) && subset(\old(round->no), round->no) &&
            subset(\old(round->failed), round->failed);
    ensures !\result ==> same(round, \old(round->yes), \old(round->no), \old(round->failed));
    ensures \result && vote == RL_VOTE_YES ==> joined(round->yes, \old(round->yes), node) &&
            round->no == \old(round->no) && round->failed == \old(round->failed);
    ensures \result && vote == RL_VOTE_NO ==> joined(round->no, \old(round->no), node) &&
            round->yes == \old(round->yes) && round->failed == \old(round->failed);
    ensures \result && vote == RL_VOTE_FAILED ==> round->yes == \old(round->yes) &&
            round->no == \old(round->no) && joined(round->failed, \old(round->failed), node);
*/
bool rl_round_vote(struct rl_round *round, unsigned node, enum rl_vote vote);

/*@ requires \valid_read(round) && sound(round);
    assigns \nothing;
    ensures \result == RL_WON <==> won(round);
    ensures \result == RL_LOST <==> lost(round);
    ensures \result == RL_OPEN || \result == RL_WON || \result == RL_LOST;
*/
enum rl_verdict rl_round_verdict(const struct rl_round *round);

/*@ requires \valid_read(round) && sound(round);
    assigns \nothing;
    ensures \result <==> round->n - count(round->failed, 64) < majority(round->n);
    ensures \result ==> lost(round);
*/
bool rl_round_no_quorum(const struct rl_round *round);

/*@ requires \valid_read(round) && sound(round);
    assigns \nothing;
    ensures \result ==> lost(round) && count(round->no, 64) < majority(round->n);
*/
bool rl_round_split(const struct rl_round *round);

/* A budget is enough for a round, and not more than there is. */
/*@ requires 1 <= n <= REDLOCK_NODES_MAX && node_timeout_ns >= 0;
    requires 0 <= round_trip_ns <= INT64_MAX / 2;
    assigns \nothing;
    ensures \result == -1 <==>
            remaining_ns < RL_ROUND_MIN_NS || remaining_ns < 2 * round_trip_ns;
    ensures \result != -1 ==> RL_ROUND_MIN_NS <= \result <= remaining_ns;
    ensures \result != -1 ==> 2 * round_trip_ns <= \result;
*/
int64_t rl_node_budget_ns(int64_t remaining_ns, unsigned n, int64_t node_timeout_ns,
                          int64_t round_trip_ns);

/*@ requires 0 <= round_trip_ns <= INT64_MAX / RL_SILENT_ROUND_TRIPS;
    assigns \nothing;
    ensures \result >= RL_SILENT_NS && \result >= RL_SILENT_ROUND_TRIPS * round_trip_ns;
*/
int64_t rl_patience_ns(int64_t round_trip_ns);

#include "core/quorum.c"

/* ---- what follows from them ------------------------------------------------------------ */

/* Two rounds that were won have a master in common, which said yes to both. */
/*@ requires \valid_read(a) && sound(a) && \valid_read(b) && sound(b) && a->n == b->n;
    assigns \nothing;
    ensures \result ==> \exists integer i; 0 <= i < a->n && has(a->yes, i) && has(b->yes, i);
*/
bool majorities_meet(const struct rl_round *a, const struct rl_round *b)
{
    return rl_round_verdict(a) == RL_WON && rl_round_verdict(b) == RL_WON;
}

/* No later vote takes back a verdict. */
/*@ requires \valid(round) && sound(round) && node < round->n;
    requires vote == RL_VOTE_YES || vote == RL_VOTE_NO || vote == RL_VOTE_FAILED;
    assigns round->yes, round->no, round->failed;
    ensures \old(won(round)) ==> \result == RL_WON;
    ensures \old(lost(round)) ==> \result == RL_LOST;
*/
enum rl_verdict verdicts_stand(struct rl_round *round, unsigned node, enum rl_vote vote)
{
    rl_round_vote(round, node, vote);
    return rl_round_verdict(round);
}
