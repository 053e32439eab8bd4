/* status_facts.c - see status_facts.h. */
#include "config_auto.h"

#include "redlock/status_facts.h"

#include "base/text.h"

#include <assert.h>
#include <string.h>

#define NS_PER_US 1000

void status_facts_init(struct status_facts *facts)
{
    *facts = (struct status_facts){
        .clients = -1, .clients_max = -1, .evicted = -1, .aof = -1, .fsync = -1};
}

/* "field:number" */
static void take_line(struct status_facts *facts, const char *line, size_t len)
{
    const struct {
        const char *field;
        int64_t *to;
    } fields[] = {
        {"connected_clients:", &facts->clients},
        {"maxclients:", &facts->clients_max},
        {"evicted_keys:", &facts->evicted},
        {"aof_enabled:", &facts->aof},
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        size_t name = strlen(fields[i].field);
        if (len > name && memcmp(line, fields[i].field, name) == 0)
            *fields[i].to = rl_decimal(line + name, len - name);
    }
}

void status_facts_heard(struct status_facts *facts, const char *text, size_t len)
{
    const char *line;
    size_t line_len;
    while (rl_next_line(&text, &len, &line, &line_len))
        take_line(facts, line, line_len);
}

/* Between the looks the master's clock went on by `master_us`. By ours it was at least from the
 * first reply to the second request, and at most from the first request to the second reply. */
void status_clock_judge(struct status_clock *clock, const struct status_look *first,
                        const struct status_look *last)
{
    double master_us = (double)(last->master_us - first->master_us);
    double least_us = (double)(last->asked_ns - first->told_ns) / NS_PER_US;
    double most_us = (double)(last->told_ns - first->asked_ns) / NS_PER_US;
    assert(first->asked_ns <= first->told_ns && first->told_ns <= last->asked_ns &&
           last->asked_ns <= last->told_ns);
    clock->known = least_us > 0;
    if (!clock->known)
        return;
    clock->rate_least = master_us / (master_us >= 0 ? most_us : least_us);
    clock->rate_most = master_us / (master_us >= 0 ? least_us : most_us);
    clock->offset_least_us = last->master_us - last->wall_ns / NS_PER_US;
    clock->offset_most_us =
        clock->offset_least_us + (last->told_ns - last->asked_ns) / NS_PER_US + 1;
}
