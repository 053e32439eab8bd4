/* status_sentinels.c - see status_sentinels.h. */
#include "config_auto.h"

#include "redlock/status_sentinels.h"

#include "config/host.h"
#include "core/quorum.h"
#include "core/refusal.h"
#include "redlock/cli.h"
#include "redlock/status_checks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NEARLY_FULL 0.8 /* one that is full is as one that is down */

/* ---- what they say ---------------------------------------------------------------------- */

/* What the library tells of several helps with one, too. */
static const char *remedy_of(const struct service_look *look, unsigned i, const char *words)
{
    const struct rl_statement *last = &look->witnesses.of[i].last;
    char text[sizeof(((struct status_sentinel *)0)->says) + 16];
    snprintf(text, sizeof(text), "Sentinels %s", words);
    const char *known = rl_refusal_remedy(text);
    bool counts = look->witnesses.of[i].asked_ns >= look->witnesses.of[i].counts_ns;
    if (known || !last->told || !counts) /* that it has just started passes */
        return known;
    if (look->named && last->at.term < look->at.term)
        return "it has forgotten a failover, or not heard of it: let it keep its sentinel.conf, "
               "and reach the others";
    return "do the Sentinels reach each other? a failover passes";
}

static void take_one(const struct service_look *look, unsigned i, struct status_sentinel *ret)
{
    const struct sentinel_ask *ask = &look->of[i].ask;
    const char *label = strchr(look->of[i].label, ' '), *why = ask->why;
    char words[sizeof(ret->says)];
    *ret = (struct status_sentinel){
        .agrees = service_look_agrees(look, i),
        .failed = ask->failed,
        .clients = ask->clients,
        .clients_max = ask->clients_max,
    };
    snprintf(ret->at, sizeof(ret->at), "%s", label ? label + 1 : look->of[i].label);
    rl_witness_tell(&look->witnesses, i, words, sizeof(words));
    size_t at = strlen(ret->at);
    if (strncmp(why, ret->at, at) == 0 && strncmp(why + at, ": ", 2) == 0)
        why += at + 2;
    snprintf(ret->says, sizeof(ret->says), "%.100s%s%.150s", words, *why ? ": " : "", why);
    ret->remedy = ret->agrees ? NULL : remedy_of(look, i, words);
}

void status_sentinels_take(const struct service_look *look, struct status_sentinels *ret)
{
    *ret = (struct status_sentinels){.count = look ? look->line->sentinel_count : 0};
    for (unsigned i = 0; i < ret->count; i++)
        take_one(look, i, &ret->of[i]);
    if (!look || !look->named)
        return;
    bool brackets = strchr(look->at.host, ':') != NULL;
    ret->named = true;
    ret->term = look->at.term;
    snprintf(ret->server, sizeof(ret->server), "%s%s%s:%d", brackets ? "[" : "", look->at.host,
             brackets ? "]" : "", look->at.port);
}

/* ---- what it means ---------------------------------------------------------------------- */

static void add(struct status_check *check, const char *at, const char *says)
{
    size_t len = strlen(check->reason);
    snprintf(check->reason + len, sizeof(check->reason) - len, "%s%.64s: %.160s",
             len > 0 ? "; " : "", at, says);
}

static bool is_nearly_full(const struct status_sentinel *sentinel)
{
    return sentinel->clients >= 0 && sentinel->clients_max > 0 &&
           (double)sentinel->clients > NEARLY_FULL * (double)sentinel->clients_max;
}

static void warn_of_full(const struct status_sentinels *sentinels, struct status_check *check)
{
    char says[96];
    for (unsigned i = 0; i < sentinels->count; i++) {
        const struct status_sentinel *one = &sentinels->of[i];
        if (!is_nearly_full(one))
            continue;
        if (check->result < STATUS_WARN)
            check->result = STATUS_WARN;
        snprintf(says, sizeof(says), "%" PRId64 " of %" PRId64 " connections are in use",
                 one->clients, one->clients_max);
        add(check, one->at, says);
        if (!check->remedy)
            check->remedy = "raise its maxclients and its limit of open files: each client keeps "
                            "a connection to each Sentinel";
    }
}

void status_sentinels_check(const struct status_sentinels *sentinels, bool took,
                            struct status_check *check)
{
    unsigned agree = 0;
    bool failed = false;
    for (unsigned i = 0; i < sentinels->count; i++) {
        const struct status_sentinel *one = &sentinels->of[i];
        agree += one->agrees;
        if (!one->agrees)
            add(check, one->at, one->says);
        /* A word can be had of one that gives none; then ask why they differ. */
        if (one->remedy && (!check->remedy || (one->failed && !failed)))
            check->remedy = one->remedy;
        failed |= one->failed;
    }
    check->result = !sentinels->named && !took ? STATUS_FAIL
                    : agree < sentinels->count  ? STATUS_WARN
                                                : STATUS_OK;
    warn_of_full(sentinels, check);
}

/* ---- by the list ------------------------------------------------------------------------ */

static bool has(const struct rl_node_config *line, const struct rl_sentinel_at *at)
{
    for (unsigned i = 0; i < line->sentinel_count; i++) {
        const struct rl_sentinel_at *own = &line->sentinel[i];
        if (rl_place_equal(own->host, own->port, at->host, at->port))
            return true;
    }
    return false;
}

static bool same_sentinels(const struct rl_node_config *a, const struct rl_node_config *b)
{
    bool same = a->sentinel_count > 0 && a->sentinel_count == b->sentinel_count;
    for (unsigned i = 0; same && i < a->sentinel_count; i++)
        same = has(b, &a->sentinel[i]);
    return same;
}

uint64_t status_sentinels_shared(const struct rl_config *config, unsigned node)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < config->node_count; i++) {
        if (i == node || !same_sentinels(&config->nodes[node], &config->nodes[i]))
            continue;
        if (i < node)
            return 0;
        all |= rl_bit(i);
    }
    return all;
}

/* ---- JSON ------------------------------------------------------------------------------- */

void status_sentinels_json(const struct status_sentinels *sentinels)
{
    if (sentinels->count == 0)
        return;
    if (sentinels->named) {
        putchar(',');
        cli_json_text(stdout, "server", sentinels->server);
        printf(",\"term\":%" PRIu64, sentinels->term);
    }
    fputs(",\"sentinels\":[", stdout);
    for (unsigned i = 0; i < sentinels->count; i++) {
        const struct status_sentinel *one = &sentinels->of[i];
        fputs(i > 0 ? ",{" : "{", stdout);
        cli_json_text(stdout, "sentinel", one->at);
        printf(",\"agrees\":%s,", one->agrees ? "true" : "false");
        cli_json_text(stdout, "says", one->says);
        if (one->clients >= 0)
            printf(",\"clients\":%" PRId64, one->clients);
        if (one->clients_max >= 0)
            printf(",\"clients_max\":%" PRId64, one->clients_max);
        putchar('}');
    }
    putchar(']');
}
