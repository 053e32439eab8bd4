/* sets.c - the laws of sets.h, each proved by a loop over the bits. */
#define PROVE_SETS
#include "sets.h"

/*@ requires n <= 64 && within(a, n) && within(b, n) && apart(a, b);
    assigns \nothing;
    ensures count(a, 64) + count(b, 64) <= n;
*/
void count_apart(uint64_t a, uint64_t b, unsigned n)
{
    /*@ loop invariant 0 <= i <= 64;
        loop invariant count(a, i) + count(b, i) <= i;
        loop invariant count(a, i) + count(b, i) <= n;
        loop assigns i;
        loop variant 64 - i;
    */
    for (unsigned i = 0; i < 64; i++) {
    }
}

/*@ requires subset(a, b);
    assigns \nothing;
    ensures count(a, 64) <= count(b, 64);
*/
void count_subset(uint64_t a, uint64_t b)
{
    /*@ loop invariant 0 <= i <= 64;
        loop invariant count(a, i) <= count(b, i);
        loop assigns i;
        loop variant 64 - i;
    */
    for (unsigned i = 0; i < 64; i++) {
    }
}

/*@ requires n <= 64 && within(a, n);
    assigns \nothing;
    ensures 0 <= count(a, 64) <= n;
*/
void count_within(uint64_t a, unsigned n)
{
    /*@ loop invariant 0 <= i <= 64;
        loop invariant 0 <= count(a, i) <= i;
        loop invariant count(a, i) <= n;
        loop assigns i;
        loop variant 64 - i;
    */
    for (unsigned i = 0; i < 64; i++) {
    }
}

/*@ assigns \nothing;
    ensures 0 <= count(a, 64) <= 64;
*/
void count_fits(uint64_t a)
{
    /*@ loop invariant 0 <= i <= 64;
        loop invariant 0 <= count(a, i) <= i;
        loop assigns i;
        loop variant 64 - i;
    */
    for (unsigned i = 0; i < 64; i++) {
    }
}
