/* sim_choice.c - where all choices of a world come from: a generator with a seed, or an
 * odometer that counts through them. And where a world begins and ends.
 *
 * The generator is xoshiro256**, its state filled by splitmix64.
 */
#include "config_auto.h"

#include "sim_parts.h"

#include <assert.h>
#include <string.h>

enum { DIGITS_MAX = 4096 };

struct generator {
    uint64_t s[4];
};

static struct generator choices, randomness;

/* digit[0] is counted up last. `used`: of the present world so far. */
static struct {
    bool on;
    unsigned used, known;
    uint64_t turn; /* of events of one time */
    struct {
        uint64_t value, count;
    } digit[DIGITS_MAX];
} odometer;

/* ---- the generator -------------------------------------------------------------------- */

static uint64_t splitmix(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void fill(struct generator *generator, uint64_t seed)
{
    for (unsigned i = 0; i < 4; i++)
        generator->s[i] = splitmix(&seed);
}

static uint64_t turned(uint64_t x, unsigned by)
{
    return (x << by) | (x >> (64 - by));
}

static uint64_t draw(struct generator *generator)
{
    uint64_t *s = generator->s;
    uint64_t result = turned(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = turned(s[3], 45);
    return result;
}

void sim_random_bytes(void *ret_bytes, size_t size)
{
    char *at = ret_bytes;
    while (size > 0) {
        uint64_t word = draw(&randomness);
        size_t part = size < sizeof(word) ? size : sizeof(word);
        memcpy(at, &word, part);
        at += part;
        size -= part;
    }
}

/* ---- a world -------------------------------------------------------------------------- */

void sim_begin(uint64_t seed)
{
    fill(&choices, seed);
    fill(&randomness, ~seed);
    odometer.used = 0;
    odometer.turn = 0;
    sim_time_begin();
    sim_story_begin();
}

void sim_end(void)
{
    sim_time_end();
}

/* ---- draws ---------------------------------------------------------------------------- */

uint64_t sim_tie(void)
{
    return odometer.on ? ++odometer.turn : draw(&choices);
}

uint64_t sim_below(uint64_t n)
{
    assert(n > 0);
    if (odometer.on || n == 1)
        return 0;
    /* The high half of a product with a random fraction; the few fractions that would make
     * some results likelier are drawn again. */
    unsigned __int128 product = (unsigned __int128)draw(&choices) * n;
    if ((uint64_t)product < n) {
        uint64_t unfair = (0 - n) % n;
        while ((uint64_t)product < unfair)
            product = (unsigned __int128)draw(&choices) * n;
    }
    return (uint64_t)(product >> 64);
}

int64_t sim_between(int64_t low, int64_t high)
{
    assert(low <= high);
    return low + (int64_t)sim_below((uint64_t)(high - low) + 1);
}

bool sim_drawn(unsigned per_million)
{
    if (per_million >= 1000000)
        return true;
    /* Asked at every system call: no division, and no bias that anybody could see. */
    return !odometer.on && draw(&choices) < per_million * (UINT64_MAX / 1000000);
}

int64_t sim_scale(int64_t low, int64_t high)
{
    unsigned doublings = 0;

    assert(low > 0);
    if (high <= low)
        return low;
    while (doublings < 62 && low <= high >> (doublings + 1))
        doublings++;
    int64_t from = low << sim_below(doublings + 1);
    int64_t to = from > high / 2 ? high : 2 * from;
    return sim_between(from, to);
}

/* ---- the odometer --------------------------------------------------------------------- */

void sim_odometer_first(void)
{
    odometer.on = true;
    odometer.used = odometer.known = 0;
}

bool sim_odometer_next(void)
{
    assert(odometer.on);
    unsigned last = odometer.used;
    while (last > 0 && odometer.digit[last - 1].value + 1 == odometer.digit[last - 1].count)
        last--;
    odometer.used = 0;
    odometer.known = last;
    if (last == 0) {
        odometer.on = false;
        return false;
    }
    odometer.digit[last - 1].value++;
    return true;
}

uint64_t sim_pick(uint64_t n)
{
    assert(n > 0);
    if (!odometer.on)
        return sim_below(n);
    unsigned i = odometer.used++;
    if (i >= DIGITS_MAX)
        sim_die("a world to be counted through has more than %d choices", DIGITS_MAX);
    if (i >= odometer.known) {
        odometer.digit[i].value = 0;
        odometer.digit[i].count = n;
        odometer.known = i + 1;
    }
    /* What came before was the same: so is this. */
    assert(odometer.digit[i].count == n);
    return odometer.digit[i].value;
}
