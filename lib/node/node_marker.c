/* node_marker.c - a master's marker, as it is asked for and read. */
#include "config_auto.h"

#include "node/node.h"

#include "base/prng.h"
#include "base/text.h"
#include "kinds/marker.h"

#include <assert.h>
#include <string.h>

#define REQUEST_MAX 4096

int64_t rl_node_window_ns(const struct rl_node *node)
{
    const struct rl_node_settings *settings = node->settings;
    return node->term.has ? settings->witness_window_ns : settings->guard_window_ns;
}

void rl_node_set_windows(struct rl_node_settings *settings, int64_t max_ttl_ns)
{
    settings->guard_window_ns = rl_guard_window_ns(max_ttl_ns, settings->drift_factor);
    settings->witness_window_ns = rl_witness_window_ns(max_ttl_ns, settings->drift_factor);
}

void rl_node_set_term(struct rl_node *node, uint64_t term)
{
    assert(node->mode == RL_DOWN && !node->draining && term <= RL_TERM_MAX);
    if (node->term.has && node->term.term == term)
        return;
    node->term.has = true;
    node->term.term = term;
    node->term.voted = false;
    node->marker = (struct rl_marker){.until_ns = 0};
    node->marker_says = RL_MARKER_FREE;
    node->sightings = (struct rl_sightings){.two_ns = 0};
    node->replaced_ns = 0;
}

/* R22: The look of a term: it begins a quarantine, whatever stands, once the Sentinels forgot. */
static void put_look(struct rl_node *node, struct rl_out *out)
{
    char digits[RL_DIGITS_MAX];
    const char *how = !node->settings->wanted ? "look" : node->term.forgot ? "forgot" : "vote";
    size_t begin = rl_to_digits(node->term.term, digits);
    rl_put_text(out, how);
    rl_put_bulk(out, digits + begin, sizeof(digits) - begin);
}

bool rl_node_ask_marker(struct rl_node *node, int64_t now_ns)
{
    char bytes[REQUEST_MAX], nonce[RL_NONCE_LEN];
    struct rl_out out;
    rl_nonce_text(rl_prng_next(node->settings->prng), nonce);
    rl_out_init(&out, bytes, sizeof(bytes));
    bool look = !node->settings->wanted, term = node->term.has;
    rl_put_array(&out, term ? 10u : 8u + look);
    rl_put_text(&out, "EVAL");
    rl_put_text(&out, term ? rl_marker_named : rl_marker_join);
    rl_put_text(&out, "2");
    rl_put_text(&out, node->keys->marker);
    rl_put_text(&out, node->keys->quarantine);
    rl_put_bulk(&out, nonce, sizeof(nonce));
    rl_put_number(&out, node->config->db);
    rl_put_number(&out, (rl_node_window_ns(node) + RL_NS_PER_MS - 1) / RL_NS_PER_MS);
    if (term)
        put_look(node, &out);
    else if (look)
        rl_put_text(&out, "look");
    node->term.wanted = !look;
    return rl_node_ask_own(node, RL_REQUEST_JOIN, nonce, &out, now_ns,
                           now_ns + node->settings->connect_timeout_ns);
}

/* The reply of marker_join.lua: nonce, run id, reason, remaining ms, the marker. */
bool rl_node_read_marker(const struct rl_inflight *inflight,
                         const struct rl_reply *reply, struct rl_marker_reading *ret_reading)
{
    *ret_reading = (struct rl_marker_reading){.left_ms = 0};
    if (reply->type != RL_REPLY_ARRAY || reply->count != 5 ||
        !rl_part_is(reply, 0, inflight->nonce, RL_NONCE_LEN) ||
        !rl_part_copy(reply, 1, ret_reading->run_id, sizeof(ret_reading->run_id)) ||
        !rl_part_copy(reply, 2, ret_reading->why, sizeof(ret_reading->why)) ||
        reply->part[3].type != RL_REPLY_INTEGER || reply->part[3].integer < -1 ||
        !rl_part_copy(reply, 4, ret_reading->text, sizeof(ret_reading->text)))
        return false;
    ret_reading->left_ms = reply->part[3].integer;
    return true;
}

void rl_node_learn_marker(struct rl_node *node, const struct rl_marker_reading *reading,
                          int64_t sent_ns, int64_t now_ns)
{
    node->marker_says = rl_marker_learn(&node->marker, reading, node->info.run_id,
                                        rl_node_window_ns(node), now_ns);
    if (node->term.wanted && reading->text[0])
        node->term.look = (struct rl_look){
            .sent_ns = sent_ns, .read_ns = now_ns, .marker_term = node->marker.term};
}

/* R9: Who only looks sets no marker, and gives no vote for want of one. */
bool rl_node_only_looked_at(const struct rl_node *node)
{
    return rl_guard_marks(node->settings->guard) && node->fitness == RL_GUARDED &&
           node->marker_says == RL_MARKER_QUARANTINED && node->marker.text[0] == '\0';
}

void rl_node_wanted(struct rl_node *node, int64_t now_ns)
{
    assert(node->settings->wanted && now_ns >= 0);
    if (node->mode == RL_UP && rl_node_only_looked_at(node) && node->ask_info_ns < INT64_MAX)
        node->ask_info_ns = now_ns;
}

/* R9: Another marker was found: no vote before it was read again. */
void rl_node_unmarked(struct rl_node *node, const struct rl_inflight *inflight, int64_t now_ns)
{
    assert(node->settings->guard == RL_GUARD_STRICT && inflight->type == RL_REQUEST_VERB);
    if (node->mode != RL_UP || node->fitness != RL_FIT ||
        !rl_marker_gone(&node->marker, inflight->sent_ns))
        return;
    bool being_read = node->ask_info_ns == INT64_MAX;
    rl_node_found(node, RL_CAUSE_UNMARKED, now_ns);
    if (being_read)
        node->ask_info_ns = INT64_MAX;
}
