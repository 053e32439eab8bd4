/* model_failover_names.c - see model_failover.h. States that differ by names only. */
#include "config_auto.h"

#include "model_failover_parts.h"
#include "symmetry.h"

#include <string.h>

/* Witnesses are alike but for who has heard them. */
static void sort_witnesses(const struct failover_rules *rules, struct fo_state *state)
{
    struct {
        struct fo_witness witness;
        uint8_t heard[CLIENTS];
    } records[WITNESSES];
    memset(records, 0, sizeof(records));
    for (unsigned w = 0; w < rules->witnesses; w++) {
        records[w].witness = state->witness[w];
        for (unsigned c = 0; c < CLIENTS; c++)
            records[w].heard[c] = state->client[c].answers >> w & 1;
    }
    sort_records(records, rules->witnesses, sizeof(records[0]));
    for (unsigned c = 0; c < CLIENTS; c++)
        state->client[c].answers = 0;
    for (unsigned w = 0; w < rules->witnesses; w++) {
        state->witness[w] = records[w].witness;
        for (unsigned c = 0; c < CLIENTS; c++)
            state->client[c].answers |= (uint8_t)(records[w].heard[c] << w);
    }
}

static uint8_t take_bit(uint8_t *mask, unsigned p)
{
    uint8_t bit = *mask >> (1 + p) & 1;
    *mask &= (uint8_t)~FO_PLAIN(p);
    return bit;
}

/* Further masters are alike but for who has asked them. */
static void sort_plain(struct fo_state *state)
{
    struct {
        struct fo_plain plain;
        uint8_t under_way[CLIENTS], granted[CLIENTS], have[CLIENTS];
    } records[PLAIN];
    memset(records, 0, sizeof(records));
    for (unsigned p = 0; p < PLAIN; p++) {
        records[p].plain = state->plain[p];
        for (unsigned c = 0; c < CLIENTS; c++) {
            records[p].under_way[c] = take_bit(&state->client[c].under_way, p);
            records[p].granted[c] = take_bit(&state->client[c].granted, p);
            records[p].have[c] = take_bit(&state->client[c].have, p);
        }
    }
    sort_records(records, PLAIN, sizeof(records[0]));
    for (unsigned p = 0; p < PLAIN; p++) {
        state->plain[p] = records[p].plain;
        for (unsigned c = 0; c < CLIENTS; c++) {
            state->client[c].under_way |= (uint8_t)(records[p].under_way[c] << (1 + p));
            state->client[c].granted |= (uint8_t)(records[p].granted[c] << (1 + p));
            state->client[c].have |= (uint8_t)(records[p].have[c] << (1 + p));
        }
    }
}

static void swap_owner(uint8_t *owner)
{
    _Static_assert(CLIENTS == 2, "1 and 2 change places");
    *owner = (uint8_t)(*owner ? 3 - *owner : 0);
}

/* Clients are alike: of their two orders the lesser one counts. */
void fo_canonical(const void *context, void *state_)
{
    struct fo_state *state = state_;
    struct fo_state other = *state;
    other.client[0] = state->client[1];
    other.client[1] = state->client[0];
    for (unsigned s = 0; s < SERVERS; s++)
        swap_owner(&other.server[s].owner);
    for (unsigned p = 0; p < PLAIN; p++)
        swap_owner(&other.plain[p].owner);
    sort_witnesses(context, state);
    sort_witnesses(context, &other);
    sort_plain(state);
    sort_plain(&other);
    if (memcmp(&other, state, sizeof(other)) < 0)
        *state = other;
}
