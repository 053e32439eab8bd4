/* status_facts.c - see status_facts.h. */
#include "config_auto.h"

#include "redlock/status_facts.h"

#include "base/text.h"
#include "core/server_info.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_US 1000

void status_facts_init(struct status_facts *facts)
{
    *facts = (struct status_facts){
        .clients = -1, .clients_max = -1, .evicted = -1, .aof = -1,
        .refused = -1, .fsync = -1, .replays = -1, .tls_left_s = -1};
}

void status_facts_unanswered(struct status_facts *facts, enum status_question question,
                             const char *why)
{
    char *to = facts->why[question];
    if (!*to)
        snprintf(to, sizeof(facts->why[question]), "%s", why);
}

bool status_is_refusal(const char *why)
{
    return strncmp(why, "NOPERM", 6) == 0 || strncmp(why, "ERR unknown ", 12) == 0;
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
        {"unexpected_error_replies:", &facts->refused},
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
    struct rl_info info;
    rl_info_parse(text, len, &info);
    memcpy(facts->run_id, info.run_id, sizeof(facts->run_id));
    facts->uptime_s = info.uptime_s;
    while (rl_next_line(&text, &len, &line, &line_len))
        take_line(facts, line, line_len);
}

void status_clock_judge(struct status_clock *clock, const struct status_look *first,
                        const struct status_look *last)
{
    const struct rl_clock_look *look = &last->clock;
    double wall_us = (double)last->wall_ns / NS_PER_US;
    assert(look->sent_ns <= look->came_ns);
    clock->rate.known =
        rl_clock_rate(&first->clock, look, &clock->rate.least, &clock->rate.most);
    clock->offset_us.known = true;
    clock->offset_us.least = (double)look->told_us - wall_us;
    clock->offset_us.most =
        clock->offset_us.least + (double)(look->came_ns - look->sent_ns) / NS_PER_US + 1;
}

static void narrow(struct status_bounds *bounds, double middle, double by)
{
    double least = middle - by, most = middle + by;
    if (by <= 0 || (bounds->known && (least > bounds->most || most < bounds->least)))
        return;
    if (!bounds->known || least > bounds->least)
        bounds->least = least;
    if (!bounds->known || most < bounds->most)
        bounds->most = most;
    bounds->known = true;
}

void status_clock_take(struct status_clock *clock, const redlock_node_status *node)
{
    narrow(&clock->offset_us, (double)node->clock_offset_us,
           (double)node->clock_offset_bound_us);
    narrow(&clock->rate, 1 + (double)node->clock_rate_ppm / 1e6,
           (double)node->clock_rate_bound_ppm / 1e6);
}

void status_facts_compare(struct status_facts *facts, const redlock_node_status *node,
                          int64_t open_ms)
{
    bool told = *facts->run_id && *node->run_id && !strchr(node->run_id, '*');
    facts->second_server = told && facts->uptime_s > open_ms / 1000 + 2 &&
                           strncmp(facts->run_id, node->run_id, sizeof(node->run_id) - 1) != 0;
}
