/* status_ask.c - see status_ask.h. */
#include "config_auto.h"

#include "redlock/status_ask.h"

#include "base/limits.h"
#include "base/text.h"
#include "config/config.h"
#include "core/quorum.h"
#include "redlock/fence_look.h"
#include "redlock/node_ask.h"
#include "redlock/status_replay.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What a master is asked: the first three at first, the others after a pause. */
enum request { RIGHTS, INFO, TIME_FIRST, TIME_LAST, SELECTED, FENCING, CLIENTS, FSYNC, REPLAY };

struct asked {
    unsigned requests; /* that were answered: the next one is of this number */
    struct status_look first, last;
    char nonce[RL_NONCE_LEN + 1];
    char request[FENCE_LOOK_MAX];
    struct status_facts facts;
};

struct status_ask {
    struct node_ask *nodes;
    unsigned count;
    uint64_t answering;
    bool second; /* the second look at the clocks */
    struct status_setup setup;
    const char *prefix;
    char rights[STATUS_RIGHTS_REQUEST_MAX]; /* "": it has no room for the request */
    struct status_peers peers;
    struct asked asked[REDLOCK_NODES_MAX];
};

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * RL_NS_PER_S + now.tv_nsec;
}

/* Nothing is answered any more. */
static void on_failure(void *context, unsigned node, const char *why)
{
    struct status_facts *facts = &((struct status_ask *)context)->asked[node].facts;
    for (unsigned i = 0; i < STATUS_QUESTIONS; i++)
        status_facts_unanswered(facts, (enum status_question)i, why);
}

static void unlisted(struct status_facts *facts, const char *why, bool for_good)
{
    status_facts_unanswered(facts, STATUS_ASKED_CLIENTS, why);
    facts->unlisted_for_good = for_good;
}

/* A master that does not tell one thing can tell the rest. */
static bool on_error(void *context, unsigned node, const char *why)
{
    struct asked *asked = &((struct status_ask *)context)->asked[node];
    struct status_facts *facts = &asked->facts;
    switch ((enum request)asked->requests++) {
    case RIGHTS:
        status_rights_refused(&facts->rights, why);
        return true;
    case INFO:
        status_facts_unanswered(facts, STATUS_ASKED_INFO, why);
        return true;
    case TIME_FIRST:
        status_facts_unanswered(facts, STATUS_ASKED_TIME, why);
        asked->requests = SELECTED; /* one look tells no rate */
        return true;
    case TIME_LAST:
        status_facts_unanswered(facts, STATUS_ASKED_TIME, why);
        return true;
    case SELECTED:
        return false;
    case FENCING:
        snprintf(facts->uncertified, sizeof(facts->uncertified), "%s", why);
        return true;
    case CLIENTS:
        unlisted(facts, why, status_is_refusal(why));
        return true;
    case FSYNC:
    case REPLAY:
        break;
    }
    status_facts_unanswered(facts, STATUS_ASKED_FSYNC, why);
    asked->requests = REPLAY + STATUS_REPLAYS;
    return true;
}

static const char *select_database(struct asked *asked, int db)
{
    struct rl_out out;
    char digits[16];
    snprintf(digits, sizeof(digits), "%d", db);
    rl_out_init(&out, asked->request, sizeof(asked->request) - 1);
    rl_put_array(&out, 2);
    rl_put_text(&out, "SELECT");
    rl_put_text(&out, digits);
    asked->request[out.len] = '\0';
    return asked->request;
}

static const char *next(void *context, unsigned node)
{
    struct status_ask *ask = context;
    struct asked *asked = &ask->asked[node];
    const char *refused = client_list_refused(asked->facts.clients);
    switch (asked->requests) {
    case RIGHTS:
        if (*ask->rights)
            return ask->rights;
        asked->requests = INFO;
        /* fall through */
    case INFO:
        return "*1\r\n$4\r\nINFO\r\n";
    case TIME_FIRST:
        asked->first.clock.sent_ns = clock_ns(CLOCK_MONOTONIC);
        return "*1\r\n$4\r\nTIME\r\n";
    case TIME_LAST:
        if (!ask->second)
            return NULL;
        asked->last.clock.sent_ns = clock_ns(CLOCK_MONOTONIC);
        return "*1\r\n$4\r\nTIME\r\n";
    case SELECTED:
        if (ask->setup.certificates && ask->peers.db[node] != 0)
            return select_database(asked, ask->peers.db[node]);
        asked->requests = FENCING;
        /* fall through */
    case FENCING:
        if (ask->setup.certificates) {
            fence_look_request(asked->nonce, "look", asked->request);
            return asked->request;
        }
        asked->requests = CLIENTS;
        /* fall through */
    case CLIENTS:
        if (!refused)
            return CLIENT_LIST_REQUEST;
        unlisted(&asked->facts, refused, true);
        asked->requests = FSYNC;
        /* fall through */
    case FSYNC: /* it matters where nothing else remembers locks */
        if (ask->setup.guard || asked->facts.aof != 1)
            return NULL;
        return "*3\r\n$6\r\nCONFIG\r\n$3\r\nGET\r\n$11\r\nappendfsync\r\n";
    default: /* REPLAY, and so many more */
        return status_replay_request(&asked->facts, asked->requests - REPLAY, ask->prefix,
                                     asked->request, sizeof(asked->request));
    }
}

static void on_bulk(void *context, unsigned node, const char *bytes, size_t len,
                    const struct rl_mask *mask)
{
    struct status_ask *ask = context;
    struct asked *asked = &ask->asked[node];
    if (asked->requests == INFO)
        status_facts_heard(&asked->facts, bytes, len);
    else if (asked->requests == CLIENTS)
        status_peers_heard(&ask->peers, node, bytes, len, mask);
}

static int64_t number_of(const struct rl_reply *reply, unsigned part)
{
    char digits[24];
    if (reply->type != RL_REPLY_ARRAY || part >= reply->count ||
        reply->part[part].type != RL_REPLY_BULK || reply->part[part].kept >= sizeof(digits))
        return -1;
    memcpy(digits, reply->text + reply->part[part].start, reply->part[part].kept);
    digits[reply->part[part].kept] = '\0';
    return rl_decimal(digits, strlen(digits));
}

static const char *take_time(struct status_look *look, const struct rl_reply *reply)
{
    int64_t s = number_of(reply, 0), us = number_of(reply, 1);
    if (s < 0 || us < 0 || s > INT64_MAX / RL_NS_PER_S - 1 || us >= 1000000)
        return "its answer to TIME is no time";
    look->clock.came_ns = clock_ns(CLOCK_MONOTONIC);
    look->wall_ns = clock_ns(CLOCK_REALTIME);
    look->clock.told_us = s * 1000000 + us;
    return NULL;
}

/* {"appendfsync", WHEN} */
static const char *take_fsync(struct status_facts *facts, const struct rl_reply *reply)
{
    static const char always[] = "always";
    if (reply->type != RL_REPLY_ARRAY || reply->count != 2 ||
        reply->part[1].type != RL_REPLY_BULK)
        return "its answer to CONFIG GET appendfsync is none";
    facts->fsync = reply->part[1].kept == sizeof(always) - 1 &&
                   memcmp(reply->text + reply->part[1].start, always, sizeof(always) - 1) == 0;
    return NULL;
}

static const char *on_reply(void *context, unsigned node, const struct rl_reply *reply)
{
    struct status_ask *ask = context;
    struct asked *asked = &ask->asked[node];
    unsigned number = asked->requests++;
    switch ((enum request)(number < REPLAY ? number : REPLAY)) {
    case RIGHTS:
        status_rights_heard(&asked->facts.rights, reply->text + reply->part[0].start,
                            reply->type == RL_REPLY_BULK ? reply->part[0].kept : 0);
        return NULL;
    case INFO:
        asked->facts.asked = true;
        return NULL;
    case TIME_FIRST:
        return take_time(&asked->first, reply);
    case TIME_LAST:
        return take_time(&asked->last, reply);
    case FENCING:
        return fence_look_heard(asked->nonce, reply, &asked->facts.certificate);
    case FSYNC:
        return take_fsync(&asked->facts, reply);
    case REPLAY:
        return status_replay_heard(&asked->facts, number - REPLAY, reply);
    default: /* on_bulk had it */
        return NULL;
    }
}

static bool open_nodes(struct status_ask *ask, const struct cli *cli,
                       const redlock_status_report *report)
{
    static const struct node_questions questions = {next, on_bulk, on_reply, on_error,
                                                    on_failure, .backwards = true};
    ask->nodes = node_ask_open(&questions, ask);
    if (!ask->nodes)
        return false;
    const struct rl_config *config = node_ask_config(ask->nodes);
    ask->count = config->node_count;
    status_setup_read(&ask->setup, cli, config);
    ask->prefix = cli->prefix;
    (void)status_rights_request(cli->prefix, ask->rights);
    rl_list_mark_of(config, &ask->peers.own);
    for (unsigned i = 0; i < ask->count; i++) {
        if (!fence_look_nonce(ask->asked[i].nonce))
            return false;
        ask->peers.db[i] = config->nodes[i].db;
        status_facts_init(&ask->asked[i].facts);
    }
    return ask->count == report->node_count;
}

/* A user that may not PING sees no round trip. */
static bool answers(const redlock_node_status *node)
{
    return node->round_trip_us >= 0 || node->state == REDLOCK_NODE_READY ||
           node->state == REDLOCK_NODE_GUARDED;
}

/* A rate is told from two looks: the longer between them, the closer its bounds. */
static void pause_between_looks(void)
{
    const struct timespec pause = {.tv_nsec = STATUS_RATE_MS * RL_NS_PER_MS};
    (void)nanosleep(&pause, NULL);
}

static void judge(struct status_ask *ask, const redlock_status_report *report, int64_t open_ms)
{
    for (unsigned i = 0; i < ask->count; i++) {
        struct asked *asked = &ask->asked[i];
        const struct service_look *service = node_ask_service(ask->nodes, i);
        status_sentinels_take(service, &asked->facts.sentinels);
        asked->facts.tls_left_s = node_ask_tls_left_s(ask->nodes, i);
        if (asked->last.clock.came_ns > 0)
            status_clock_judge(&asked->facts.clock, &asked->first, &asked->last);
        status_clock_take(&asked->facts.clock, &report->node[i]);
        if (!service) /* its server may be another one since */
            status_facts_compare(&asked->facts, &report->node[i], open_ms);
        status_peers_judge(&ask->peers, i, &asked->facts);
        if (asked->facts.listed &&
            status_rights_lack(&asked->facts.rights, "+client|setname")) {
            asked->facts.listed = false;
            unlisted(&asked->facts, "clients of this user can't name themselves: it lacks "
                                    "+client|setname", true);
        }
    }
}

struct status_ask *status_ask(const struct cli *cli, const redlock_status_report *report,
                              int64_t opened_ms)
{
    struct status_ask *ask = calloc(1, sizeof(*ask));
    if (!ask || !open_nodes(ask, cli, report)) {
        status_ask_free(ask);
        return NULL;
    }
    for (unsigned i = 0; i < ask->count; i++) {
        ask->answering |= answers(&report->node[i]) ? rl_bit(i) : 0;
        if (ask->answering & rl_bit(i) || node_ask_config(ask->nodes)->nodes[i].service)
            node_ask_add(ask->nodes, i);
    }
    node_ask_run(ask->nodes);
    pause_between_looks();
    ask->second = true;
    node_ask_run(ask->nodes);
    judge(ask, report, clock_ns(CLOCK_BOOTTIME) / RL_NS_PER_MS - opened_ms);
    return ask;
}

const struct status_facts *status_ask_facts(const struct status_ask *ask, unsigned node)
{
    assert(node < ask->count);
    return &ask->asked[node].facts;
}

const struct status_setup *status_ask_setup(const struct status_ask *ask)
{
    return &ask->setup;
}

struct status_lists status_ask_lists(const struct status_ask *ask)
{
    struct status_lists lists = status_peers_lists(&ask->peers);
    unsigned unknown = 0;
    for (unsigned i = 0; i < ask->count; i++) {
        const struct status_facts *facts = &ask->asked[i].facts;
        if (!(ask->answering & rl_bit(i)) || facts->listed)
            continue;
        if (unknown == 0 || (facts->unlisted_for_good && !lists.unknown_for_good))
            snprintf(lists.why, sizeof(lists.why), "%s", facts->why[STATUS_ASKED_CLIENTS]);
        lists.unknown_for_good |= facts->unlisted_for_good;
        unknown++;
    }
    lists.told = ask->answering && unknown == 0;
    return lists;
}

void status_ask_free(struct status_ask *ask)
{
    if (!ask)
        return;
    node_ask_close(ask->nodes);
    free(ask);
}
