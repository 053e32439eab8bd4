/* init_check.c - may these masters be marked as new? See init.h. */
#include "config_auto.h"

#include "redlock/init.h"

#include "base/duration.h"
#include "kinds/marker.h"

#include <inttypes.h>
#include <unistd.h>

const char *init_label(const struct init *init, unsigned node)
{
    return node_ask_config(init->nodes)->nodes[node].label;
}

bool init_is_chosen(const struct init *init, unsigned node)
{
    return init->cli->replace == 0 || init->cli->replace == node + 1;
}

/* The longest lease; where Sentinels name the master, on a word of theirs of a second ago. */
static struct cli_text window_text(const struct init *init, unsigned node)
{
    const struct service_look *service = node_ask_service(init->nodes, node);
    int64_t ms = node_ask_config(init->nodes)->max_ttl_ms;
    struct cli_text shown;
    if (service) /* in whole seconds, rounded up */
        ms = (service->window_ns / RL_NS_PER_S + 1) * 1000;
    rl_duration_format(ms, shown.text);
    return shown;
}

/* The highest that any of its Sentinels tells: the others may have forgotten it. */
static uint64_t term_of(const struct service_look *service)
{
    uint64_t term = service->at.term;
    for (unsigned i = 0; i < service->witnesses.named; i++) {
        const struct rl_statement *last = &service->witnesses.of[i].last;
        if (last->told && last->at.term > term)
            term = last->at.term;
    }
    return term;
}

int init_refuse(const struct init *init)
{
    const struct cli *cli = init->cli;
    unsigned n = node_ask_config(init->nodes)->node_count;
    for (unsigned i = 0; i < n; i++) {
        if (!init->master[i].failed || !(cli->replace == 0 || init_is_chosen(init, i)))
            continue;
        cli_say(cli, "%s can't be asked: %s. Nothing was changed: it may have a marker",
                init_label(init, i), init->master[i].why);
        return CLI_NO_QUORUM;
    }
    for (unsigned i = 0; i < n; i++) {
        const struct service_look *service = node_ask_service(init->nodes, i);
        if (!service || term_of(service) == 0 || cli->replace)
            continue;
        cli_say(cli,
                "%s has failed over before (term %" PRIu64 "), so it is not new. Nothing was "
                "changed. It votes by itself, %s after the first client that wants a lock; if "
                "all of its servers were just made anew see --replace",
                init_label(init, i), term_of(service), window_text(init, i).text);
        return CLI_KIND;
    }
    for (unsigned i = 0; i < n; i++) {
        if (!init->master[i].marked || cli->replace) /* the script looks at that one */
            continue;
        cli_say(cli,
                "%s has a marker already, or what another program keeps in " RL_MARKER_KEY
                ", so these masters are not new. Nothing was changed. "
                "Masters without a marker vote after max-ttl by themselves; for one that was "
                "just made see --replace",
                init_label(init, i));
        return CLI_KIND;
    }
    return -1;
}

int init_ask(const struct init *init)
{
    const struct cli *cli = init->cli;
    if (cli->replace == 0 || cli->yes)
        return -1;
    if (!isatty(STDIN_FILENO)) {
        cli_say(cli, "nothing was changed: there is no terminal to ask at; say --yes");
        return CLI_USAGE;
    }
    fprintf(stderr,
            "redlock: %s will vote at once. That is safe only if the master in its place "
            "before has answered nobody for %s. Is that so? [y/N] ",
            init_label(init, cli->replace - 1), window_text(init, cli->replace - 1).text);
    if (cli_says_yes())
        return -1;
    cli_say(cli, "nothing was changed");
    return CLI_NOT_OURS;
}
