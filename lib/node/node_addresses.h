/* node_addresses.h - a name with several addresses of one family: does one server answer at all
 * of them? With two servers, clients behind a partition would reach different ones, and each
 * server would grant what the other has granted. So the node votes only if each of these
 * addresses was asked and has shown the process that the node is connected to. An address that
 * can't be asked may lead to anybody. One address of IPv4 and one of IPv6 are not compared: many
 * clients have only one of both. */
#ifndef RL_NODE_ADDRESSES_H
#define RL_NODE_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>

struct rl_node;
struct rl_addresses;
struct rl_node_addresses; /* a node has none while its name has one address */

/* It is connected, and INFO has told who answers. True: a new connection should ask at another
 * address, before anything is decided. */
bool rl_node_met_at_address(struct rl_node *node);

/* Was the process that it is connected to not met at each address? Then why it has no vote;
 * else NULL. */
const char *rl_node_unmet_address(struct rl_node *node);
bool rl_node_lacks_address(const struct rl_node *node); /* the same, without a text */

/* How long to wait till it is asked again who is there: longer each time that it is the same
 * address. Each question costs a new connection. */
int64_t rl_node_address_pause_ns(struct rl_node *node);

/* Hang up: the next connect begins at an address where it was not met. */
void rl_node_ask_next_address(struct rl_node *node, int64_t now_ns);

/* A connection has ended. */
void rl_node_address_left(struct rl_node *node);

/* The order in which the addresses are tried (rl_order_fn). */
void rl_node_order_addresses(void *node, struct rl_addresses *addresses);

#endif
