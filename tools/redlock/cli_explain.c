/* cli_explain.c - the one line that says why a lock was not acquired. */
#include "config_auto.h"

#include "core/refusal.h"
#include "redlock/cli.h"

#include <stdlib.h>
#include <string.h>

/* For the line about a missing quorum: the first node that failed for a reason that needs a
 * person, else the first that failed, else the first one that was not asked for a reason. */
static const redlock_node_vote *first_failure(const redlock_report *report)
{
    const redlock_node_vote *failed = NULL, *unasked = NULL;
    for (unsigned i = 0; i < report->node_count; i++) {
        const redlock_node_vote *vote = &report->node[i];
        if (vote->vote == REDLOCK_VOTE_FAILED && rl_refusal_lasts(vote->text))
            return vote;
        if (!failed && vote->vote == REDLOCK_VOTE_FAILED)
            failed = vote;
        if (!unasked && vote->vote == REDLOCK_VOTE_NONE && vote->text[0] != '\0')
            unasked = vote;
    }
    return failed ? failed : unasked;
}

bool cli_is_hopeless(const redlock_report *report)
{
    unsigned hopeless = 0;
    for (unsigned i = 0; i < report->node_count; i++)
        hopeless += report->node[i].vote == REDLOCK_VOTE_FAILED &&
                    rl_refusal_lasts(report->node[i].text);
    return report->nodes - hopeless < report->needed;
}

int cli_exit_without_quorum(const redlock_report *report)
{
    const redlock_node_vote *why = first_failure(report);
    const struct rl_refusal *refusal = why ? rl_refusal_of(why->text) : NULL;
    return refusal ? refusal->exit_status : CLI_NO_QUORUM;
}

const redlock_node_vote *cli_first_holder(const redlock_report *report)
{
    for (unsigned i = 0; i < report->node_count; i++) {
        if (report->node[i].vote == REDLOCK_VOTE_HELD)
            return &report->node[i];
    }
    return NULL;
}

static void say_held(const struct cli *cli, const char *name, const redlock_report *report,
                     const char *then)
{
    const redlock_node_vote *holder = cli_first_holder(report);
    if (!holder || (report->granted > 0 && report->held < report->needed))
        cli_say(cli,
                "%s was not acquired: the votes were split (%u granted, %u held by "
                "another, %u failed; %u of %u needed)%s",
                name, report->granted, report->held, report->failed, report->needed,
                report->nodes, then);
    else
        cli_say(cli, "%s %s held by another (%u of %u masters say so: %s, %s)%s", name,
                cli->name_count > 1 ? "are not all free, one is" : "is", report->held,
                report->nodes, cli_text(holder->holder, holder->holder_len).text,
                cli_left_text(holder->ttl_ms).text, then);
}

/* When a majority will vote, if only masters under the restart guard are missing; 0: others are
 * missing, too. */
static int64_t votes_in_ms(const redlock_status_report *status, unsigned *ret_guarded)
{
    int64_t sorted[REDLOCK_NODES_MAX];
    unsigned guarded = 0;
    for (unsigned i = 0; i < status->node_count; i++) {
        const redlock_node_status *node = &status->node[i];
        if (node->state != REDLOCK_NODE_GUARDED)
            continue;
        unsigned at = guarded++;
        int64_t in_ms = node->guard_ms > 0 ? node->guard_ms : INT64_MAX; /* by hand */
        for (; at > 0 && sorted[at - 1] > in_ms; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = in_ms;
    }
    *ret_guarded = guarded;
    if (status->ready >= status->needed || status->ready + guarded < status->needed)
        return 0;
    int64_t votes_ms = sorted[status->needed - status->ready - 1];
    return votes_ms == INT64_MAX ? 0 : votes_ms;
}

/* Are guarded masters all that a majority lacks, by what the report says of each? The status of
 * all is asked for only then: that may take a connect-timeout, and the caller has a time to
 * wait. */
static bool may_vote_soon(const redlock_report *report)
{
    unsigned guarded = 0, lost = 0;
    for (unsigned i = 0; i < report->node_count; i++) {
        const redlock_node_vote *vote = &report->node[i];
        const struct rl_refusal *refusal = rl_refusal_of(vote->text);
        if (refusal && refusal->wait != RL_WAIT_ASKED && refusal->class == RL_REFUSAL_PASSES)
            guarded++;
        else
            lost += vote->vote == REDLOCK_VOTE_FAILED ||
                    (vote->vote == REDLOCK_VOTE_NONE && vote->text[0] != '\0');
    }
    return guarded > 0 && report->nodes - lost >= report->needed;
}

/* Is a majority missing for each client that comes, because uptimes are not known? */
static unsigned lasting_guards(const redlock_status_report *status, unsigned guarded)
{
    unsigned lasting = 0;
    for (unsigned i = 0; i < status->node_count; i++)
        lasting += status->node[i].state == REDLOCK_NODE_GUARDED &&
                   strstr(status->node[i].text, CLI_NO_UPTIME) != NULL;
    return status->ready + guarded - lasting < status->needed ? lasting : 0;
}

/* Masters that were started a moment ago have not failed. */
static bool say_guarded(const struct cli *cli, redlock *client, const char *name,
                        const redlock_report *report, const char *then)
{
    if (!client || !may_vote_soon(report))
        return false;
    redlock_node_status *nodes = calloc(REDLOCK_NODES_MAX, sizeof(*nodes));
    redlock_status_report status = REDLOCK_STATUS_INIT(nodes, REDLOCK_NODES_MAX);
    unsigned guarded = 0;
    int64_t in_ms = 0;
    if (!nodes)
        return false;
    if (redlock_get_status(client, &status) == REDLOCK_ENOQUORUM)
        in_ms = votes_in_ms(&status, &guarded);
    unsigned lasting = in_ms > 0 ? lasting_guards(&status, guarded) : 0;
    if (lasting > 0)
        cli_say(cli,
                "%s was not acquired: no quorum yet, %u of %u masters are guarded, and no "
                "uptime is known of %u of these (was a clock set back behind their start?): "
                "each new client waits for max-ttl, this one %s more; redlock status says what "
                "helps%s",
                name, guarded, status.nodes, lasting, cli_time_text(in_ms).text, then);
    else if (in_ms > 0)
        cli_say(cli,
                "%s was not acquired: no quorum yet, %u of %u masters were started, or lost "
                "keys, less than max-ttl ago; %u vote%s in %s%s",
                name, guarded, status.nodes, status.needed, status.needed == 1 ? "s" : "",
                cli_time_text(in_ms).text, then);
    free(nodes);
    return in_ms > 0;
}

/* Masters that were not asked: the report gives a reason, and no vote. 0: those that failed are
 * enough to explain the loss. */
static unsigned not_asked(const redlock_report *report)
{
    unsigned count = 0;
    if (report->nodes - report->failed < report->needed)
        return 0;
    for (unsigned i = 0; i < report->node_count; i++)
        count += report->node[i].vote == REDLOCK_VOTE_NONE && report->node[i].text[0] != '\0';
    return count;
}

static void say_no_quorum(const struct cli *cli, const char *name, const redlock_report *report,
                          const char *then)
{
    const redlock_node_vote *why = first_failure(report);
    const char *remedy = why ? rl_refusal_remedy(why->text) : NULL;
    cli_say(cli,
            "%s was not acquired: no quorum, %u of %u masters failed%s and %u are needed%s"
            "%s%s%s%s%s%s%s",
            name, report->failed + not_asked(report), report->nodes,
            not_asked(report) > 0 ? " or are not connected yet," : "", report->needed,
            why ? " (" : "", why ? why->node : "", why ? ": " : "", why ? why->text : "",
            why ? ")" : "", remedy ? ": " : "", remedy ? remedy : "", then);
}

/* The name has another kind of lock, or other data: say what was wanted, and what is there. */
static void say_kind(const struct cli *cli, const char *name, const redlock_report *report)
{
    const redlock_node_vote *holder = cli_first_holder(report);
    struct cli_text what = {"something else"};
    if (holder)
        what = cli_text(holder->holder, holder->holder_len);
    bool plain = cli->kind == REDLOCK_PLAIN;
    cli_say(
        cli,
        "%s was not acquired: a %s lock was asked for, and what has that name is %.120s (on "
        "%u of %u masters)%s",
        name, cli_kind_word(cli->kind), what.text, report->held, report->nodes,
        plain && strstr(what.text, "read-write")
            ? "; give the option of its kind (--reentrant, --fair, --shared or --exclusive), "
              "or another name"
            : "");
}

void cli_explain(const struct cli *cli, redlock *client, int code, const redlock_report *report,
                 const char *then)
{
    struct cli_text name = cli_names_text(cli);
    switch (code) {
    case REDLOCK_EHELD:
        say_held(cli, name.text, report, then);
        break;
    case REDLOCK_ENOQUORUM:
        if (!say_guarded(cli, client, name.text, report, then))
            say_no_quorum(cli, name.text, report, then);
        break;
    case REDLOCK_EUNDECIDED:
        cli_say(cli,
                "%s was not acquired: undecided, the masters had less time than an answer may "
                "take, and no holder is known (%u of %u granted, %u needed)%s",
                name.text, report->granted, report->nodes, report->needed, then);
        break;
    case REDLOCK_EWRONGTYPE:
        say_kind(cli, name.text, report);
        break;
    case REDLOCK_EUPGRADE:
        cli_say(cli,
                "%s was not acquired: its owner reads it, and a reader can't become the "
                "writer: release the read lock first",
                name.text);
        break;
    case REDLOCK_EINVAL: /* the library has said what, as an error */
    case REDLOCK_ENOTSUP:
        break;
    default:
        cli_say(cli, "%s was not acquired: %s", name.text, redlock_strerror(code));
        break;
    }
    cli_say_votes(cli, report);
}

const char *cli_result_word(int code)
{
    switch (code) {
    case REDLOCK_EHELD:
        return "held";
    case REDLOCK_ENOQUORUM:
        return "no quorum";
    case REDLOCK_EUNDECIDED:
        return "undecided";
    case REDLOCK_EEXPIRED:
    case REDLOCK_ENOTHELD:
        return "expired";
    case REDLOCK_EWRONGTYPE:
        return "other kind";
    case REDLOCK_EUPGRADE:
        return "upgrade";
    case REDLOCK_ECANCELED:
        return "canceled";
    case REDLOCK_EINVAL:
    case REDLOCK_ENOTSUP:
        return "usage";
    default:
        return "error";
    }
}

void cli_json_explain(const struct cli *cli, int code, const redlock_report *report, int status)
{
    FILE *out = cli_json_out(cli);
    if (!cli->json)
        return;
    cli_json_begin(out);
    cli_json_asked_names(out, cli);
    fprintf(out, ",\"granted\":%u,\"held\":%u,\"failed\":%u,\"needed\":%u,", report->granted,
            report->held, report->failed, report->needed);
    cli_json_votes(out, report);
    cli_json_result(out, cli_result_word(code), status);
}
