/* sets.h - sets of nodes as the bits of a word, for the proofs: what is in one, and how many.
 *
 * `count` is defined by recursion, which provers do not unfold by themselves. sets.c proves
 * each of its laws by a loop; the other proofs take them from here as axioms.
 */
#ifndef RL_PROOF_SETS_H
#define RL_PROOF_SETS_H

#include <stdint.h>

/*@ predicate has(integer nodes, integer i) = (nodes & (1 << i)) != 0;

    logic integer count(integer nodes, integer n) =
        n <= 0 ? 0 : count(nodes, n - 1) + ((nodes & (1 << (n - 1))) != 0 ? 1 : 0);

    predicate within(integer nodes, integer n) =
        \forall integer i; n <= i < 64 ==> !has(nodes, i);
    predicate apart(integer a, integer b) =
        \forall integer i; 0 <= i < 64 ==> !(has(a, i) && has(b, i));
    predicate subset(integer a, integer b) =
        \forall integer i; 0 <= i < 64 ==> has(a, i) ==> has(b, i);

    predicate is_only(integer nodes, integer node) =
        \forall integer i; 0 <= i < 64 ==> (has(nodes, i) <==> i == node);
    predicate is_first(integer nodes, integer n) =
        nodes + 1 == (n < 64 ? 1 << n : UINT64_MAX + 1);

    // What the provers' theory of bits lacks.
    axiomatic bits {
        axiom power: \forall integer n; 0 <= n < 64 ==> 1 <= (1 << n) <= UINT64_MAX;
        axiom ones: \forall integer a, n, i; is_first(a, n) && 0 <= n <= 64 && 0 <= i < 64 ==>
            (has(a, i) <==> i < n);
        axiom or_fits: \forall uint64_t a, b; 0 <= (a | b) <= UINT64_MAX;
        axiom none_common: \forall uint64_t a, b; apart(a, b) ==> (a & b) == 0;
    }

    lemma or_has: \forall uint64_t a, b, integer i; 0 <= i < 64 ==>
        (has(a | b, i) <==> has(a, i) || has(b, i));
    lemma and_has: \forall uint64_t a, b, integer i; 0 <= i < 64 ==>
        (has(a & b, i) <==> has(a, i) && has(b, i));
    lemma not_has: \forall uint64_t a, integer i; 0 <= i < 64 ==>
        (has((uint64_t)~a, i) <==> !has(a, i));
*/

#ifndef PROVE_SETS
/*@ axiomatic laws {
        axiom count_apart: \forall uint64_t a, b, integer n; 0 <= n <= 64 &&
            within(a, n) && within(b, n) && apart(a, b) ==> count(a, 64) + count(b, 64) <= n;
        axiom count_subset: \forall uint64_t a, b;
            subset(a, b) ==> count(a, 64) <= count(b, 64);
        axiom count_within: \forall uint64_t a, integer n;
            0 <= n <= 64 && within(a, n) ==> 0 <= count(a, 64) <= n;
        axiom count_fits: \forall uint64_t a; 0 <= count(a, 64) <= 64;
    }

    lemma or_within: \forall uint64_t a, b, integer n; 0 <= n <= 64 &&
        within(a, n) && within(b, n) ==> within(a | b, n) && 0 <= count(a | b, 64) <= n;
    lemma or_more: \forall uint64_t a, b; count(a, 64) <= count(a | b, 64);
    lemma or_grows: \forall uint64_t a, b, c, d; subset(a, b) && subset(c, d) ==>
        count(a | c, 64) <= count(b | d, 64);
    lemma too_many_meet: \forall uint64_t a, b, integer n; 0 <= n <= 64 && within(a, n) &&
        within(b, n) && count(a, 64) + count(b, 64) > n ==>
        \exists integer i; 0 <= i < n && has(a, i) && has(b, i);
    lemma none_common_with_either: \forall uint64_t a, b, c;
        apart(a, c) && apart(b, c) ==> ((a | b) & c) == 0;
    lemma none_beyond: \forall uint64_t a, b, c, all, integer n; within(a, n) && within(b, n) &&
        within(c, n) && is_first(all, n) && 0 <= n <= 64 ==>
        ((a | b | c) & (uint64_t)~all) == 0;
    lemma or_apart: \forall uint64_t a, b, c; apart(a, b) && apart(a, c) ==> apart(a, b | c);
    lemma or_count: \forall uint64_t a, b, c, integer n; 0 <= n <= 64 && within(a, n) &&
        within(b, n) && within(c, n) && apart(a, b) && apart(a, c) ==>
        count(a, 64) + count(b | c, 64) <= n;
*/
#endif

#endif
