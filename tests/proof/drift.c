/* drift.c - the drift of a time is enough of it.
 *
 * Proved for exact products (WP's model "real"). That doubles round makes no difference, by
 * hand: let x be the exact product, which is below 2^53. Rounding keeps order, and integers up
 * to 2^53. So the double is not below floor(x), and cut off and greater by 1 it is above x. And
 * it is not above ceil(x), nor above the time: the drift is at most x + 2, and time + 1.
 */
#define PROVE_DRIFT
#include "drift.h"

#include "core/validity.h"

#include "core/validity.c"
