/* node_addresses.c - see node_addresses.h. The node's connections walk over the addresses, one
 * after the other, until each has shown the same process. */
#include "config_auto.h"

#include "net/resolve.h"
#include "node/node_met.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEN_MAX (2 * RL_ADDRESSES_MAX)

/* What is known of an address, also while the name does not lead there. */
struct seen {
    struct rl_address address;
    char run_id[RL_RUN_ID_SIZE]; /* who was met there last; "": nobody */
};

struct rl_node_addresses {
    struct rl_addresses named;  /* the name leads there; none, if no family has several */
    struct seen seen[SEEN_MAX]; /* a ring */
    unsigned next;
    unsigned steps;          /* connects in a row that asked another address */
    bool asks;               /* the next connect begins where the present process was not met */
    struct rl_backoff pause; /* between connects that ask again what is at `unmet` */
    struct rl_address unmet;
    char why[160];
};

static bool is_one_of_several(const struct rl_addresses *addresses, unsigned which)
{
    unsigned same = 0;
    for (unsigned i = 0; i < addresses->count; i++)
        same += addresses->list[i].as.any.sa_family == addresses->list[which].as.any.sa_family;
    return same > 1;
}

static bool has_several(const struct rl_addresses *addresses)
{
    for (unsigned i = 0; i < addresses->count; i++) {
        if (is_one_of_several(addresses, i))
            return true;
    }
    return false;
}

static const struct rl_addresses *found_by(struct rl_node *node)
{
    return rl_link_addresses(rl_node_connection(node)->link);
}

/* The process that was met last at this address; "": nobody. */
static const char *run_id_at(const struct rl_node_addresses *own,
                             const struct rl_address *address)
{
    for (unsigned i = 0; i < SEEN_MAX; i++) {
        if (rl_address_is(&own->seen[i].address, address))
            return own->seen[i].run_id;
    }
    return "";
}

static bool is_named(const struct rl_node_addresses *own, const struct rl_address *address)
{
    for (unsigned i = 0; i < own->named.count; i++) {
        if (rl_address_is(&own->named.list[i], address))
            return true;
    }
    return false;
}

/* The place of this address; else one of an address that the name does not lead to now. */
static struct seen *place_of(struct rl_node_addresses *own, const struct rl_address *address)
{
    for (unsigned i = 0; i < SEEN_MAX; i++) {
        if (rl_address_is(&own->seen[i].address, address))
            return &own->seen[i];
    }
    while (is_named(own, &own->seen[own->next].address))
        own->next = (own->next + 1) % SEEN_MAX;
    struct seen *place = &own->seen[own->next];
    own->next = (own->next + 1) % SEEN_MAX;
    *place = (struct seen){.address = *address};
    return place;
}

/* An address that has not shown the present process, the same one in whatever order the name's
 * service tells them; NULL: each has. */
static const struct rl_address *lacking(const struct rl_node *node)
{
    const struct rl_node_addresses *own = node->addresses;
    const struct rl_address *least = NULL;
    for (unsigned i = 0; i < own->named.count; i++) {
        const struct rl_address *address = &own->named.list[i];
        bool met = node->met[0] && strcmp(run_id_at(own, address), node->met) == 0;
        if (!met && is_one_of_several(&own->named, i) &&
            (!least || memcmp(&address->as, &least->as, sizeof(address->as)) < 0))
            least = address;
    }
    return least;
}

static void make_own(struct rl_node *node)
{
    node->addresses = calloc(1, sizeof(*node->addresses));
    if (node->addresses)
        rl_backoff_init(&node->addresses->pause, RL_ASK_AGAIN_NS,
                        RL_REFUSED_MAX_MS * RL_NS_PER_MS);
}

/* R7: This address was asked, and this process answered. */
bool rl_node_met_at_address(struct rl_node *node)
{
    const struct rl_addresses *found = found_by(node);
    if (!node->addresses && has_several(found))
        make_own(node);
    struct rl_node_addresses *own = node->addresses;
    if (!own)
        return false;
    own->named = *found;
    if (!has_several(found))
        own->named.count = 0;
    struct seen *place = place_of(own, rl_link_address(rl_node_connection(node)->link));
    bool news = strcmp(place->run_id, node->met) != 0;
    memcpy(place->run_id, node->met, RL_RUN_ID_SIZE);
    return news && lacking(node) && own->steps++ <= own->named.count;
}

bool rl_node_lacks_address(const struct rl_node *node)
{
    const struct rl_node_addresses *own = node->addresses;
    return own && own->named.count > 0 && (own->named.more || lacking(node));
}

/* R7: A name votes only if each of its addresses was asked. */
const char *rl_node_unmet_address(struct rl_node *node)
{
    static const struct rl_address none;
    struct rl_node_addresses *own = node->addresses;
    char text[RL_ADDRESS_TEXT_MAX];
    if (!own)
        return has_several(found_by(node)) ? "out of memory for the addresses of its name"
                                           : NULL;
    const struct rl_address *unmet = own->named.more ? NULL : lacking(node);
    own->steps = 0;
    if (!rl_address_is(&own->unmet, unmet ? unmet : &none))
        rl_backoff_reset(&own->pause);
    own->unmet = unmet ? *unmet : none;
    if (!rl_node_lacks_address(node))
        return NULL;
    if (own->named.more) {
        snprintf(own->why, sizeof(own->why), "its name has more than %d addresses: no vote",
                 RL_ADDRESSES_MAX);
        return own->why;
    }
    rl_address_text(unmet, text, sizeof(text));
    snprintf(own->why, sizeof(own->why),
             "%s, another address of its name, does not show the same server: no vote", text);
    return own->why;
}

int64_t rl_node_address_pause_ns(struct rl_node *node)
{
    assert(rl_node_lacks_address(node));
    return rl_backoff_calm_ns(&node->addresses->pause, node->settings->prng);
}

void rl_node_ask_next_address(struct rl_node *node, int64_t now_ns)
{
    node->goes_on = true;
    rl_node_disconnect(node, node->current, now_ns, "%s",
                       node->mode == RL_UP ? node->why : "asks who is at its next address");
}

void rl_node_address_left(struct rl_node *node)
{
    if (node->addresses)
        node->addresses->asks = node->goes_on;
    node->goes_on = false;
}

/* Those that lack the present process come first; else the order stays. */
void rl_node_order_addresses(void *context, struct rl_addresses *addresses)
{
    struct rl_node *node = context;
    struct rl_node_addresses *own = node->addresses;
    struct rl_addresses ordered = {.more = addresses->more};
    if (!own || !own->asks)
        return;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (unsigned i = 0; i < addresses->count; i++) {
            const char *run_id = run_id_at(own, &addresses->list[i]);
            bool met = run_id[0] && strcmp(run_id, node->sightings.last) == 0;
            if (met == (pass > 0))
                ordered.list[ordered.count++] = addresses->list[i];
        }
    }
    assert(ordered.count == addresses->count);
    *addresses = ordered;
}
