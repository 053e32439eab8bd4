/* node_fence.h - a master's fencing certificate (core/certify.h): asked for at each
 * connect and with INFO. Only with `fencing strict`.
 */
#ifndef RL_NODE_FENCE_H
#define RL_NODE_FENCE_H

#include "core/certify.h"

#include <stdbool.h>
#include <stdint.h>

struct rl_node;
struct rl_inflight;
struct rl_reply;

struct rl_node_fence {
    struct rl_certificate certificate;
    bool asked; /* on the connection in use, and not answered yet */
    bool looks; /* that was by a look, which gives a loss no id */
    int64_t look_ns, certify_ns; /* when its loss may be looked at, and others read for it */
    char why[176]; /* it could not tell; else empty */
};

/* Queue the request (kinds/fencing.h). False: there is no room. */
bool rl_node_ask_fence(struct rl_node *node, const char *what, const char *loss,
                       uint64_t number, int64_t now_ns);

/* Look, or where somebody wants votes, have a loss get its id. */
bool rl_node_look_fence(struct rl_node *node, int64_t now_ns);
void rl_node_fence_wanted(struct rl_node *node, int64_t now_ns); /* from now on */

/* The same for one that is UP, and has its reply sent soon. */
void rl_node_fence_again(struct rl_node *node, const char *what, const char *loss,
                         uint64_t number, int64_t now_ns);

/* The reply; `error`: its text, if it is one. */
void rl_node_take_fence(struct rl_node *node, const struct rl_inflight *inflight,
                        const struct rl_reply *reply, const char *error, int64_t now_ns);

/* Why it gets no request for a fencing token. */
const char *rl_node_fence_why(const struct rl_node *node);

#endif
