/* sentinel_ask.c - see sentinel_ask.h. */
#include "config_auto.h"

#include "redlock/sentinel_ask.h"

#include "base/text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char not_asked_for[] = "answered something that was not asked for";

void service_look_begin(struct service_look *look, const struct rl_node_config *line,
                        int64_t window_ns)
{
    *look = (struct service_look){
        .line = line, .witnesses = {.named = line->sentinel_count}, .window_ns = window_ns};
    for (unsigned i = 0; i < line->sentinel_count; i++) {
        look->of[i].config = rl_sentinel_config(line, i, look->of[i].label);
        look->of[i].ask = (struct sentinel_ask){.clients = -1, .clients_max = -1, .uptime_s = -1};
    }
}

/* ---- what is asked ---------------------------------------------------------------------- */

/* As the library asks: the address behind the rest, and both behind the id. */
const char *sentinel_ask_next(struct service_look *look, unsigned sentinel, int64_t now_ns)
{
    struct sentinel_ask *ask = &look->of[sentinel].ask;
    static const char *const words[][2] = {
        [SENTINEL_INFO] = {"INFO", NULL},
        [SENTINEL_MYID] = {"SENTINEL", "MYID"},
        [SENTINEL_MASTER] = {"SENTINEL", "MASTER"},
        [SENTINEL_ADDRESS] = {"SENTINEL", "GET-MASTER-ADDR-BY-NAME"},
    };
    struct rl_out out;
    if (ask->step == SENTINEL_DONE)
        return NULL;
    if (ask->step == SENTINEL_MASTER)
        ask->asked_ns = now_ns;
    unsigned count = ask->step == SENTINEL_INFO ? 1 : ask->step == SENTINEL_MYID ? 2 : 3;
    const char *const word[] = {words[ask->step][0], words[ask->step][1], look->line->service};
    rl_out_init(&out, ask->request, sizeof(ask->request) - 1);
    rl_put_array(&out, count);
    for (unsigned i = 0; i < count; i++)
        rl_put_text(&out, word[i]);
    assert(!out.overflow); /* RL_SERVICE_MAX */
    ask->request[out.len] = '\0';
    return ask->request;
}

/* ---- what it answers -------------------------------------------------------------------- */

static void take_info(struct sentinel_ask *ask, const char *text, size_t len)
{
    static const char most[] = "maxclients:";
    struct rl_info info;
    const char *line;
    size_t line_len, name = sizeof(most) - 1;
    rl_info_parse(text, len, &info);
    if (!info.sentinel)
        snprintf(ask->why, sizeof(ask->why), "is a Redis server and no Sentinel");
    ask->uptime_s = info.uptime_s;
    ask->clients = info.clients;
    while (rl_next_line(&text, &len, &line, &line_len)) {
        if (line_len > name && memcmp(line, most, name) == 0)
            ask->clients_max = rl_decimal(line + name, line_len - name);
    }
}

/* INFO; or SENTINEL MASTER, whose names and values take turns. */
void sentinel_ask_heard(struct service_look *look, unsigned sentinel, const char *bytes,
                        size_t len)
{
    struct sentinel_ask *ask = &look->of[sentinel].ask;
    if (ask->step == SENTINEL_INFO)
        take_info(ask, bytes, len);
    else if (ask->step == SENTINEL_MASTER && ask->texts++ % 2 == 0)
        rl_told_text(bytes, len, ask->field, sizeof(ask->field));
    else if (ask->step == SENTINEL_MASTER)
        rl_told_field(&ask->told, ask->field, bytes, len);
}

static const char *take_address(struct sentinel_ask *ask, const struct rl_reply *reply)
{
    struct rl_sentinel_told *told = &ask->told;
    if (reply->type == RL_REPLY_NIL)
        return "No such master with that name";
    return reply->type == RL_REPLY_ARRAY && reply->count == 2 &&
                   rl_part_copy(reply, 0, told->addr_host, sizeof(told->addr_host)) &&
                   rl_part_copy(reply, 1, told->addr_port, sizeof(told->addr_port))
               ? NULL
               : not_asked_for;
}

const char *sentinel_ask_answered(struct service_look *look, unsigned sentinel,
                                  const struct rl_reply *reply, int64_t now_ns)
{
    struct sentinel_ask *ask = &look->of[sentinel].ask;
    bool fits = true;
    switch (ask->step++) {
    case SENTINEL_INFO:
        return *ask->why ? ask->why : NULL;
    case SENTINEL_MYID:
        ask->met_ns = now_ns;
        fits = reply->type == RL_REPLY_BULK &&
               rl_part_copy(reply, 0, ask->id, sizeof(ask->id)) && ask->id[0];
        return fits ? NULL : not_asked_for;
    case SENTINEL_MASTER:
        fits = reply->type == RL_REPLY_ARRAY && ask->texts == reply->count + reply->more &&
               ask->texts % 2 == 0;
        return fits ? NULL : not_asked_for;
    default:
        return take_address(ask, reply);
    }
}

/* Without INFO it counts as one that has just started. Without the rest it says nothing. */
bool sentinel_ask_refused(struct service_look *look, unsigned sentinel, const char *why)
{
    struct sentinel_ask *ask = &look->of[sentinel].ask;
    static const char *const asked[] = {"INFO", "SENTINEL MYID", "SENTINEL MASTER",
                                        "SENTINEL GET-MASTER-ADDR-BY-NAME"};
    if (!*ask->why)
        snprintf(ask->why, sizeof(ask->why), "refused %s (%.140s)", asked[ask->step], why);
    return ask->step++ == SENTINEL_INFO;
}

/* ---- what follows ----------------------------------------------------------------------- */

void sentinel_ask_ended(struct service_look *look, unsigned sentinel, const char *why,
                        int64_t now_ns)
{
    struct sentinel_ask *ask = &look->of[sentinel].ask;
    struct rl_statement statement;
    if (ask->ended) /* by an earlier run */
        return;
    ask->ended = true;
    ask->failed = why != NULL;
    if (why && !*ask->why)
        snprintf(ask->why, sizeof(ask->why), "%s", why);
    if (why) {
        rl_witness_gone(&look->witnesses, sentinel, rl_unheard_of(ask->why));
        return;
    }
    rl_witness_met(&look->witnesses, sentinel, ask->id, ask->uptime_s, look->window_ns,
                   ask->met_ns);
    rl_statement_read(&ask->told, &statement);
    rl_witness_answered(&look->witnesses, sentinel, &statement, ask->asked_ns, 0, now_ns);
    /* However long ago each was asked: nobody votes by this, and a marker has the term. */
    if (look->named || !rl_witnesses_name(&look->witnesses, 0, 0, &look->at))
        return;
    look->named = true;
    look->config = *look->line;
    look->config.host = look->at.host;
    look->config.port = look->at.port;
}

bool service_look_ended(const struct service_look *look)
{
    for (unsigned i = 0; i < look->line->sentinel_count; i++) {
        if (!look->of[i].ask.ended)
            return false;
    }
    return true;
}

static bool is_named_twice(const struct service_look *look, unsigned sentinel)
{
    for (unsigned i = 0; i < sentinel; i++) {
        if (strcmp(look->of[i].ask.id, look->of[sentinel].ask.id) == 0)
            return true;
    }
    return false;
}

bool service_look_agrees(const struct service_look *look, unsigned sentinel)
{
    const struct rl_witness *witness = &look->witnesses.of[sentinel];
    return look->named && witness->last.told && rl_master_same(&witness->last.at, &look->at) &&
           witness->asked_ns >= witness->counts_ns && !is_named_twice(look, sentinel);
}
