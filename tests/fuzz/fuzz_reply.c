/* tags: valgrind source */
/* fuzz_reply.c - any bytes as a master's side of a conversation: the real node, connection and
 * reader over a link made of the input (input_link.h). Whatever comes, nobody crashes, memory
 * is bounded, every request that was queued is heard of exactly once, and only the exact answer
 * to a request grants it.
 *
 * The input is a list of steps: a byte that says what happens, a byte for how much, and for
 * some steps so many bytes of the master's. Its last byte says which settings the client has.
 * With a fuzzer: see fuzz.sh. */
#include "config_auto.h"

#include "base/clock.h"
#include "fuzz.h"
#include "input_link.h"
#include "core/fence.h"
#include "node/node.h"
#include "kinds/lock_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

/* ---- the node's owner: counts ---------------------------------------------------------- */

static unsigned put_count, heard_count;
static uint64_t nonce;
static char token[RL_NONCE_LEN]; /* of all native pairs; no input can name it */
static bool grant_was_exact;     /* the last step's bytes were made to be a grant */

/* What an inspection tells is read, as query.c does. */
static void look_at(const struct rl_vote_reply *vote_reply)
{
    static struct rl_view view;
    if (vote_reply->answer.with_details &&
        rl_view_read(vote_reply->details, vote_reply->details_len, vote_reply->answer.ttl_ms,
                     &view))
        REQUIRE(view.shown.count <= REDLOCK_HOLDERS_SHOWN &&
                view.shown.count <= view.told.holders);
}

static void on_answered(void *owner, struct rl_node *node, unsigned slot,
                        const struct rl_inflight *inflight,
                        const struct rl_vote_reply *vote_reply, int64_t now_ns)
{
    (void)owner, (void)node, (void)slot, (void)now_ns;
    heard_count++;
    REQUIRE(vote_reply->vote != RL_VOTE_YES || grant_was_exact);
    REQUIRE(vote_reply->vote == RL_VOTE_FAILED || inflight->native ||
            rl_kind_answer_fits(inflight->script, inflight->number >= RL_SCRIPTS_UNFENCED,
                                &vote_reply->answer));
    REQUIRE(!vote_reply->answer.with_number ||
            (vote_reply->answer.number > 0 && vote_reply->answer.number < RL_FENCE_MAX));
    REQUIRE(!inflight->native ||
            !(vote_reply->answer.with_place || vote_reply->answer.with_details));
    REQUIRE(vote_reply->vote != RL_VOTE_FAILED || vote_reply->why);
    if (vote_reply->why)
        input_shown(vote_reply->why);
    REQUIRE(vote_reply->answer.granted == (vote_reply->vote == RL_VOTE_YES));
    look_at(vote_reply);
}

static void on_next(const struct rl_inflight *inflight)
{
    REQUIRE(inflight->type == RL_REQUEST_VERB);
}

static void on_unexecuted(void *owner, struct rl_node *node, unsigned slot,
                          const struct rl_inflight *inflight, int64_t now_ns)
{
    (void)owner, (void)node, (void)slot, (void)inflight, (void)now_ns;
    heard_count++;
}

static void on_lost(void *owner, struct rl_node *node, unsigned slot,
                    const struct rl_inflight *inflight, int64_t now_ns)
{
    on_unexecuted(owner, node, slot, inflight, now_ns);
}

static void on_drains(void *owner, struct rl_node *node, unsigned slot,
                      const struct rl_inflight *inflight, int64_t now_ns)
{
    (void)owner, (void)inflight, (void)now_ns;
    REQUIRE(slot != node->current);
}

static void on_pinged(void *owner, struct rl_node *node, int64_t round_trip_ns)
{
    (void)owner, (void)node, (void)round_trip_ns;
}

static void on_changed(void *owner, struct rl_node *node, int64_t now_ns)
{
    (void)owner, (void)now_ns;
    REQUIRE(node->mode == RL_UP || node->mode == RL_DOWN);
}

static void on_disagrees(void *owner, struct rl_node *node, const struct rl_list_mark *other)
{
    (void)owner, (void)node;
    REQUIRE(other->other[0] || (other->nodes >= 1 && other->nodes <= REDLOCK_NODES_MAX));
}

/* As engine/masters/certify.c does first. */
static void on_certified(void *owner, struct rl_node *node, const struct rl_certificate *told,
                         int64_t now_ns)
{
    static uint64_t changes;
    (void)owner, (void)now_ns;
    REQUIRE(node->settings->fencing_strict);
    (void)rl_certificate_learn(&node->fence.certificate, told, &changes);
    input_shown(rl_node_fence_why(node));
}

static void on_voided(void *owner, struct rl_node *node, int64_t now_ns)
{
    (void)owner;
    REQUIRE(node->mode == RL_GREETING || node->mode == RL_UP);
    REQUIRE(rl_guard_marks(node->settings->guard) ||
            (node->clock_why[0] && now_ns == node->clock_void_ns));
}

static void on_name(const struct rl_inflight *inflight, char *ret_text, size_t size)
{
    REQUIRE(inflight->type == RL_REQUEST_VERB);
    snprintf(ret_text, size, "'name'");
}

static const struct rl_node_events events = {
    .answered = on_answered,
    .name = on_name,
    .next = on_next,
    .unexecuted = on_unexecuted,
    .drains = on_drains,
    .lost = on_lost,
    .pinged = on_pinged,
    .disagrees = on_disagrees,
    .voided = on_voided,
    .certified = on_certified,
    .changed = on_changed,
    .log = input_log,
};

/* ---- the steps ------------------------------------------------------------------------- */

static void receive(struct rl_node *node, unsigned slot, const void *bytes, size_t len,
                    int64_t now_ns)
{
    struct rl_link *link = node->slot[slot].connection.link;
    if (!input_link_give(link, bytes, len))
        return;
    rl_node_step(&node->slot[slot], EPOLLIN, now_ns);
    input_link_forget(link);
}

/* Of the first kind that has a script for it. */
static unsigned script_of(enum rl_verb verb, bool fenced)
{
    int row = 0;
    while (!rl_kind(row)->script[verb].body)
        row++;
    return rl_script_number(rl_kind(row), verb, fenced && rl_kind_fences(rl_kind(row), verb));
}

static void ask(struct rl_node *node, enum rl_verb verb, bool native, bool fenced,
                int64_t now_ns, int64_t budget_ns)
{
    static const char bytes[] = "*1\r\n$4\r\nPING\r\n";
    struct rl_inflight inflight = {
        .sent_ns = now_ns,
        .deadline_ns = now_ns + budget_ns,
        .type = RL_REQUEST_VERB,
        .verb = rl_verb_of(verb),
        .script = verb,
        .number = script_of(verb, fenced),
        .native = native && verb == RL_ACQUIRE && node->settings->guard != RL_GUARD_STRICT,
    };
    inflight.certified = node->settings->fencing_strict && !inflight.native &&
                         inflight.number >= RL_SCRIPTS_UNFENCED && inflight.verb == RL_ACQUIRE;
    inflight.by_token =
        inflight.native || rl_script_kind(inflight.number)->script[verb].echoes_token;
    if (inflight.by_token) {
        inflight.token.bytes = token;
        inflight.token.len = sizeof(token);
    } else {
        rl_nonce_text(++nonce, inflight.nonce);
    }
    put_count += rl_node_ask(node, node->current, bytes, sizeof(bytes) - 1, verb != RL_RELEASE,
                             &inflight);
}

#define RUN_ID "0123456789abcdef0123456789abcdef01234567"

/* The right answer to a script of the connection's own. */
static void answer_own(const struct rl_inflight *oldest, char *ret_bytes, size_t size)
{
    static const char marker[] = RUN_ID " " RUN_ID " 0 init";
    const char *own = oldest->nonce;
    if (oldest->type == RL_REQUEST_JOIN)
        snprintf(ret_bytes, size,
                 "*5\r\n$16\r\n%.16s\r\n$40\r\n" RUN_ID "\r\n$4\r\ninit\r\n:0\r\n"
                 "$%zu\r\n%s\r\n",
                 own, sizeof(marker) - 1, marker);
    else if (oldest->type == RL_REQUEST_LISTS)
        snprintf(ret_bytes, size, "*3\r\n$16\r\n%.16s\r\n:0\r\n$0\r\n\r\n", own);
    else if (oldest->type == RL_REQUEST_FENCE)
        snprintf(ret_bytes, size,
                 "*4\r\n$16\r\n%.16s\r\n$9\r\ncertified\r\n$32\r\n%.16s%.16s\r\n:1\r\n", own,
                 "0123456789abcdef", own);
    else
        snprintf(ret_bytes, size, "+OK\r\n");
}

/* The right answer to the oldest question, so that the fuzzer gets past the greeting, and
 * to grants. */
static void answer_well(struct rl_node *node, int64_t now_ns)
{
    char bytes[512], info[256];
    /* Its clock is set forward again and again. */
    int len = snprintf(info, sizeof(info),
                       "run_id:" RUN_ID "\r\n"
                       "uptime_in_seconds:100000\r\nrole:master\r\n"
                       "server_time_usec:%llu\r\n",
                       1700000000000000ULL + put_count * 1000000000ULL);
    struct rl_inflight *oldest = rl_connection_oldest(rl_node_connection(node));
    if (!oldest)
        return;
    if (oldest->type == RL_REQUEST_INFO)
        snprintf(bytes, sizeof(bytes), "$%zu\r\n%s\r\n", (size_t)len, info);
    else if (oldest->type != RL_REQUEST_VERB)
        answer_own(oldest, bytes, sizeof(bytes));
    else if (oldest->native) {
        bool awaited = oldest->set_reply == RL_SET_AWAITED;
        grant_was_exact = awaited || oldest->set_reply == RL_SET_OK;
        snprintf(bytes, sizeof(bytes), "%s$16\r\n%.16s\r\n", awaited ? "+OK\r\n" : "", token);
    } else {
        bool number = oldest->number >= RL_SCRIPTS_UNFENCED && oldest->verb == RL_ACQUIRE;
        size_t proof_len;
        const char *proof = rl_inflight_proof(oldest, &proof_len);
        if (number)
            snprintf(bytes, sizeof(bytes),
                     "*3\r\n$%zu\r\n%.*s-\r\n:1\r\n:9007199254740991\r\n", proof_len + 1,
                     (int)proof_len, proof);
        else
            snprintf(bytes, sizeof(bytes), "$%zu\r\n%.*s\r\n", proof_len, (int)proof_len,
                     proof);
        grant_was_exact = true;
    }
    receive(node, node->current, bytes, strlen(bytes), now_ns);
    grant_was_exact = false;
}

/* To a native pair, what it still awaits: any two replies of those that matter. */
static void answer_pair(struct rl_node *node, uint8_t which, int64_t now_ns)
{
    static const char *const sets[] = {"+OK\r\n",        "$-1\r\n",          "-OOM no\r\n",
                                       "-NOPERM no\r\n", "-READONLY no\r\n", ":1\r\n"};
    static const char *const gets[] = {"$-1\r\n",        "$5\r\nother\r\n", "-WRONGTYPE no\r\n",
                                       "-NOPERM no\r\n", "-LOADING no\r\n", "+OK\r\n"};
    char bytes[96];
    const struct rl_inflight *oldest = rl_connection_oldest(rl_node_connection(node));
    unsigned set = which % 8, get = which / 8U % 8;
    bool awaited = oldest->set_reply == RL_SET_AWAITED;
    int len = snprintf(bytes, sizeof(bytes), "%s", awaited ? sets[set % 6] : "");
    if (get < 6)
        len += snprintf(bytes + len, sizeof(bytes) - (size_t)len, "%s", gets[get]);
    else
        len += snprintf(bytes + len, sizeof(bytes) - (size_t)len, "$16\r\n%.16s\r\n", token);
    grant_was_exact = get >= 6 && (awaited ? set % 6 == 0 : oldest->set_reply == RL_SET_OK);
    /* Or the first of the two alone. */
    receive(node, node->current, bytes,
            awaited && which >= 192 ? strlen(sets[set % 6]) : (size_t)len, now_ns);
    grant_was_exact = false;
}

/* To the oldest question, in its name, whatever the input makes of the rest: up to seven
 * elements of any type. A connection's own scripts have no minus. How much of the input that
 * took. */
static size_t answer_somehow(struct rl_node *node, uint8_t count, const uint8_t *data,
                             size_t size, int64_t now_ns)
{
    enum { ELEMENT_MAX = UINT8_MAX + 16 };
    char bytes[RL_REPLY_ELEMENTS_MAX * ELEMENT_MAX], *at = bytes;
    size_t used = 0;
    struct rl_inflight *oldest = rl_connection_oldest(rl_node_connection(node));
    bool own = oldest && (oldest->type == RL_REQUEST_JOIN || oldest->type == RL_REQUEST_LISTS ||
                          oldest->type == RL_REQUEST_FENCE);
    if (!oldest || (oldest->type != RL_REQUEST_VERB && !own))
        return 0;
    if (oldest->native) {
        answer_pair(node, count, now_ns);
        return 0;
    }
    bool alone = count == UINT8_MAX; /* the nonce: granted */
    count = alone ? 0 : count % RL_REPLY_ELEMENTS_MAX;
    if (!alone)
        at += snprintf(at, ELEMENT_MAX, "*%u\r\n", count + 1U);
    size_t proof_len;
    const char *proof = rl_inflight_proof(oldest, &proof_len);
    const char *minus = alone || own ? "" : "-";
    at += snprintf(at, ELEMENT_MAX, "$%zu\r\n%.*s%s\r\n", proof_len + strlen(minus),
                   (int)proof_len, proof, minus);
    grant_was_exact =
        alone ? oldest->script != RL_INSPECT &&
                    (oldest->number < RL_SCRIPTS_UNFENCED || oldest->verb != RL_ACQUIRE)
              : (count > 0 && size >= 2 && data[0] % 8 == 0 && data[1] == 1);
    for (; count > 0 && size - used >= 2; count--) {
        uint8_t type = data[used] % 8, much = data[used + 1];
        used += 2;
        if (type < 2) {
            at += snprintf(at, ELEMENT_MAX, ":%d\r\n", type == 0 ? much : -much);
        } else if (type == 2) {
            at += snprintf(at, ELEMENT_MAX, "%s", much % 2 ? "+OK\r\n" : "$-1\r\n");
        } else {
            size_t len = much < size - used ? much : size - used;
            at += snprintf(at, ELEMENT_MAX, "$%zu\r\n", len);
            memcpy(at, data + used, len);
            memcpy(at + len, "\r\n", 2);
            at += len + 2;
            used += len;
        }
    }
    receive(node, node->current, bytes, (size_t)(at - bytes), now_ns);
    grant_was_exact = false;
    return used;
}

/* The server repeats what it was told at login. */
static void answer_echoing(struct rl_node *node, uint8_t how, int64_t now_ns)
{
    static const char *const errors[] = {"ERR unknown command", "NOPERM", "NOAUTH", "OOM",
                                         "h\xc2\x9bm"};
    char bytes[128];
    size_t len = input_echo(bytes, sizeof(bytes), errors[how % 5], how / 5U);
    receive(node, node->current, bytes, len, now_ns);
}

/* `drawn`: the input's last byte. */
static void settle(struct rl_node_settings *settings, struct rl_prng *prng, uint8_t drawn)
{
    static const int agreements[] = {REDLOCK_AGREEMENT_OFF, REDLOCK_AGREEMENT_WARN,
                                     REDLOCK_AGREEMENT_REFUSE, REDLOCK_AGREEMENT_OFF};
    static struct rl_clock clock;
    atomic_store(&clock.added_ns, 0);
    atomic_store(&clock.seen_ns, 0);
    rl_prng_seed(prng, 1);
    static const struct rl_driven driven;
    *settings = (struct rl_node_settings){
        .events = &events,
        .clock = &clock,
        .driven = &driven,
        .prng = prng,
        .connect_timeout_ns = RL_NS_PER_S,
        .stall_limit_ns = RL_NS_PER_S,
        .drain_limit_ns = 10 * RL_NS_PER_S,
        .guard_window_ns = 10 * RL_NS_PER_S,
        .drift_factor = 0.01,
        .check_ns = RL_NS_PER_S,
        .guard = RL_GUARD_OFF + drawn % 4,
        .fencing_strict = drawn / 4U % 2,
        .lists = {.agreement = agreements[drawn / 8U % 4],
                  .own = {.nodes = 1, .max_ttl_ms = 10000, .drift_ppm = 10000}},
        .connection_name = "fuzz",
    };
}

static void run_steps(struct rl_node *node, const uint8_t *data, size_t size)
{
    struct rl_clock *clock = node->settings->clock;
    int64_t now_ns = rl_clock_steady_ns(clock);
    while (size >= 2) {
        uint8_t what = data[0] % 8, much = data[1];
        size_t len = 0;
        data += 2;
        size -= 2;
        switch (what) {
        case 0:
        case 1: /* the master sends `much` bytes of the input, on the slot in use or the other
                 */
            len = much < size ? much : size;
            receive(node, what == 0 ? node->current : 1 - node->current, data, len, now_ns);
            break;
        case 2: /* time passes, by the clock that replies are read by */
            atomic_fetch_add(&clock->added_ns, (int64_t)much * 20 * RL_NS_PER_MS);
            now_ns = rl_clock_steady_ns(clock);
            break;
        case 3:
            ask(node, much % RL_VERBS, much >= 128, much / 64 == 1, now_ns,
                (1 + much) * RL_NS_PER_MS);
            break;
        case 4:
            input_link_end(node->slot[much % RL_SLOTS].connection.link);
            receive(node, much % RL_SLOTS, NULL, 0, now_ns);
            break;
        case 5:
            len = answer_somehow(node, much, data, size, now_ns);
            break;
        case 7:
            if (much % 2)
                answer_echoing(node, much / 2, now_ns);
            else
                answer_well(node, now_ns);
            break;
        default:
            answer_well(node, now_ns);
            break;
        }
        data += len;
        size -= len;
        rl_node_tick(node, now_ns);
        rl_node_flush(node, now_ns);
        (void)rl_node_standing(node, now_ns);
        input_shown(rl_node_why(node, now_ns));
        REQUIRE(rl_node_due_ns(node) > 0);
    }
}

static uint64_t hash(const uint8_t *data, size_t size)
{
    uint64_t sum = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ data[i]) * UINT64_C(1099511628211);
    return sum;
}

const char fuzz_corpus[] = "reply";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rl_node_config config = {.transport = RL_UNIX, .label = "fuzz", .path = "/"};
    struct rl_node_settings settings;
    struct rl_prng prng;
    struct rl_node node;
    char why[128];
    put_count = heard_count = 0;
    input_secret = NULL;
    nonce = hash(data, size); /* so that no input can name it */
    rl_nonce_text(~nonce, token);
    settle(&settings, &prng, size > 0 ? data[size - 1] : 0);
    if (size > 0 && data[0] & 1)
        config.password = (char *)(uintptr_t)(input_secret = INPUT_SECRET);
    if (rl_node_init(&node, 0, &config, &settings, -1, -1, why, sizeof(why)) != 0)
        return 0;
    rl_node_tick(&node, rl_clock_steady_ns(settings.clock));
    run_steps(&node, data, size);
    /* What is still awaited is told as lost when its link goes; then all are accounted for. */
    for (unsigned slot = 0; slot < RL_SLOTS; slot++) {
        if (slot == node.current ? node.mode != RL_DOWN : node.draining)
            rl_node_disconnect(&node, slot, rl_clock_steady_ns(settings.clock), "the end");
    }
    REQUIRE(put_count == heard_count);
    rl_node_done(&node, false);
    return 0;
}
