/* node_addresses.c - see node_addresses.h. The node's connections walk over the addresses, one
 * after the other, until each has shown the same process. */
#include "config_auto.h"

#include "net/resolve.h"
#include "node/node_met.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rl_node_addresses {
    struct rl_addresses met; /* of the name; none, if no family has several */
    char run_id[RL_ADDRESSES_MAX][RL_RUN_ID_SIZE]; /* who was met there last; "": nobody */
    unsigned steps; /* connects in a row that asked another address */
    bool goes_on;   /* this connection ends, so that another address is asked */
    bool asks;      /* the next connect begins where the present process was not met */
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

/* The process that was met at this address; NULL: the address is a new one. */
static char *run_id_at(struct rl_node_addresses *own, const struct rl_address *address)
{
    for (unsigned i = 0; i < own->met.count; i++) {
        if (rl_address_is(&own->met.list[i], address))
            return own->run_id[i];
    }
    return NULL;
}

/* The name leads there now. What is known of those that stay is kept. */
static void take_over(struct rl_node_addresses *own, const struct rl_addresses *found)
{
    struct rl_node_addresses former = *own;
    own->met.count = 0;
    if (!has_several(found))
        return;
    own->met = *found;
    for (unsigned i = 0; i < found->count; i++) {
        const char *run_id = run_id_at(&former, &found->list[i]);
        snprintf(own->run_id[i], sizeof(own->run_id[i]), "%s", run_id ? run_id : "");
    }
}

/* The first address that has not shown the present process; -1: each has. */
static int first_lacking(const struct rl_node *node)
{
    const struct rl_node_addresses *own = node->addresses;
    for (unsigned i = 0; i < own->met.count; i++) {
        if (is_one_of_several(&own->met, i) &&
            (!node->met[0] || strcmp(own->run_id[i], node->met) != 0))
            return (int)i;
    }
    return -1;
}

bool rl_node_met_at_address(struct rl_node *node)
{
    const struct rl_addresses *found = found_by(node);
    if (!node->addresses && has_several(found))
        node->addresses = calloc(1, sizeof(*node->addresses));
    struct rl_node_addresses *own = node->addresses;
    if (!own)
        return false;
    take_over(own, found);
    if (own->met.count == 0)
        return false;
    char *run_id = run_id_at(own, rl_link_address(rl_node_connection(node)->link));
    assert(run_id); /* it is connected to one of them */
    bool news = strcmp(run_id, node->met) != 0;
    memcpy(run_id, node->met, RL_RUN_ID_SIZE);
    return news && first_lacking(node) >= 0 && own->steps++ <= own->met.count;
}

bool rl_node_lacks_address(const struct rl_node *node)
{
    const struct rl_node_addresses *own = node->addresses;
    return own && own->met.count > 0 && (own->met.more || first_lacking(node) >= 0);
}

const char *rl_node_unmet_address(struct rl_node *node)
{
    struct rl_node_addresses *own = node->addresses;
    char text[RL_ADDRESS_TEXT_MAX];
    if (!own)
        return has_several(found_by(node)) ? "out of memory for the addresses of its name" : NULL;
    own->steps = 0;
    if (!rl_node_lacks_address(node))
        return NULL;
    if (own->met.more) {
        snprintf(own->why, sizeof(own->why), "its name has more than %d addresses: no vote",
                 RL_ADDRESSES_MAX);
        return own->why;
    }
    rl_address_text(&own->met.list[first_lacking(node)], text, sizeof(text));
    snprintf(own->why, sizeof(own->why),
             "%s, another address of its name, does not show the same server: no vote", text);
    return own->why;
}

void rl_node_ask_next_address(struct rl_node *node, int64_t now_ns)
{
    if (node->addresses)
        node->addresses->goes_on = true;
    rl_node_disconnect(node, node->current, now_ns, "%s",
                       node->mode == RL_UP ? node->why : "asks who is at its next address");
}

bool rl_node_goes_on(const struct rl_node *node)
{
    return node->addresses && node->addresses->goes_on;
}

void rl_node_address_left(struct rl_node *node)
{
    struct rl_node_addresses *own = node->addresses;
    if (!own)
        return;
    own->asks = own->goes_on;
    own->goes_on = false;
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
            bool met = run_id && run_id[0] && strcmp(run_id, node->sightings.last) == 0;
            if (met == (pass > 0))
                ordered.list[ordered.count++] = addresses->list[i];
        }
    }
    assert(ordered.count == addresses->count);
    *addresses = ordered;
}
