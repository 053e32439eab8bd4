/* chaos_made.c - see chaos_made.h. */
#include "config_auto.h"

#include "chaos_made.h"

#include "chaos/faults/kinds.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

static char *arguments[] = {"/usr/bin/redlock-chaos", "--local", "5", "--duration", "10s"};

void made_init(struct made *made)
{
    memset(made, 0, sizeof(*made));
    made->options = (struct chaos_options){
        .local = 5,
        .clients = 4,
        .names = 2,
        .duration_ms = 10000,
        .ttl_ms = 2000,
        .hold_ms = 20,
        .seed = 42,
        .argc = sizeof(arguments) / sizeof(arguments[0]),
        .argv = arguments,
    };
    made->history = (struct chaos_history){
        .options = &made->options,
        .nodes = 5,
        .needed = 3,
        .node_name = {"127.0.0.1:7001", "127.0.0.1:7002", "127.0.0.1:7003", "127.0.0.1:7004",
                      "127.0.0.1:7005"},
        .server_version = "7.0.15",
        .begun_unix_s = 1763654400,
        .duration_ns = 10 * SEC,
        .guard_ns = 3 * SEC,
        .faults = made->fault,
    };
    made->verdict = malloc(sizeof(*made->verdict));
    if (made->verdict == NULL)
        suite_die("no memory");
}

void made_free(struct made *made)
{
    free(made->event);
    free(made->verdict);
    memset(made, 0, sizeof(*made));
}

struct chaos_event *made_event(struct made *made, int64_t at_ns, enum chaos_what what,
                               unsigned client, unsigned name)
{
    if (made->count == made->room) {
        made->room = made->room * 2 + 64;
        made->event = realloc(made->event, made->room * sizeof(*made->event));
        if (made->event == NULL)
            suite_die("no memory");
    }
    struct chaos_event *event = &made->event[made->count++];
    *event = (struct chaos_event){
        .at_ns = at_ns,
        .what = (uint8_t)what,
        .client = (uint16_t)client,
        .name = (uint16_t)name,
    };
    return event;
}

void made_asks(struct made *made, int64_t at_ns, unsigned client, unsigned name)
{
    made_event(made, at_ns, CHAOS_ASKS, client, name);
}

void made_holds(struct made *made, int64_t at_ns, int64_t until_ns, unsigned client,
                unsigned name)
{
    made_event(made, at_ns, CHAOS_HOLDS, client, name)->until_ns = until_ns;
}

void made_reads(struct made *made, int64_t at_ns, uint64_t value, unsigned client,
                unsigned name)
{
    made_event(made, at_ns, CHAOS_READS, client, name)->value = value;
}

void made_writes(struct made *made, int64_t at_ns, uint64_t value, unsigned client,
                 unsigned name)
{
    struct chaos_event *event = made_event(made, at_ns, CHAOS_WRITES, client, name);
    event->value = value;
    event->until_ns = INT64_MAX;
}

void made_pair(struct made *made, int64_t at_ns, uint64_t value, unsigned client, unsigned name)
{
    made_asks(made, at_ns, client, name);
    made_holds(made, at_ns + MS, at_ns + SEC, client, name);
    made_reads(made, at_ns + 2 * MS, value - 1, client, name);
    made_writes(made, at_ns + 3 * MS, value, client, name);
    made_event(made, at_ns + 4 * MS, CHAOS_LETS_GO, client, name);
    made_event(made, at_ns + 5 * MS, CHAOS_RELEASED, client, name);
    made->history.record[name] = value;
}

struct chaos_fault *made_fault(struct made *made, enum chaos_fault_kind kind, int64_t begun_ns,
                               int64_t undone_ns, uint64_t nodes, uint64_t clients)
{
    if (made->history.fault_count == sizeof(made->fault) / sizeof(made->fault[0]))
        suite_die("too many faults");
    struct chaos_fault *fault = &made->fault[made->history.fault_count++];
    *fault = (struct chaos_fault){
        .kind = kind,
        .planned_ns = begun_ns,
        .length_ns = undone_ns - begun_ns,
        .nodes = nodes,
        .clients = clients,
        .begun_ns = begun_ns,
        .undone_ns = undone_ns,
        .seen = true,
        .text = "no answer to PING within 200 ms",
    };
    made->options.faults |= CHAOS_BIT(kind);
    return fault;
}

static int by_time(const void *left, const void *right)
{
    const struct chaos_event *a = left, *b = right;
    return (a->at_ns > b->at_ns) - (a->at_ns < b->at_ns);
}

/* Stable: qsort() need not be, so the order in which they were made decides (`result`). */
static int by_time_and_order(const void *left, const void *right)
{
    const struct chaos_event *a = left, *b = right;
    int order = by_time(left, right);
    return order != 0 ? order : (a->result > b->result) - (a->result < b->result);
}

void made_sort(struct made *made)
{
    for (size_t i = 0; i < made->count; i++)
        made->event[i].result = (int32_t)i;
    if (made->count > 0)
        qsort(made->event, made->count, sizeof(*made->event), by_time_and_order);
    for (size_t i = 0; i < made->count; i++)
        made->event[i].result = 0;
    made->history.events = made->event;
    made->history.event_count = made->count;
}

const struct chaos_verdict *made_check(struct made *made)
{
    made_sort(made);
    chaos_check(&made->history, made->verdict);
    return made->verdict;
}
