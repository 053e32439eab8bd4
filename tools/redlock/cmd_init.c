/* cmd_init.c - init: say of masters that were just made that they are new, so that clients with
 * `guard marker` need not wait for max-ttl. It looks at all masters first: where one has a
 * marker, or can't be asked, locks may be held. Where Sentinels name the master, a majority must
 * name it, and never have named another: one that was promoted, and then emptied, looks new too.
 *
 * With `fencing strict` it certifies them as well. And --tokens-above certifies masters that
 * have lost their fencing counters, where too few others are left to tell what these were. */
#include "config_auto.h"

#include "redlock/init.h"

#include "kinds/fencing.h"
#include "kinds/lists.h"
#include "kinds/marker.h"

#include <inttypes.h>
#include <string.h>

/* ---- what is asked ---------------------------------------------------------------------- */

static const char *encode(struct init *init, unsigned node, unsigned words,
                          const char *const word[])
{
    struct rl_out out;
    rl_out_init(&out, init->master[node].request, REQUEST_MAX - 1);
    rl_put_array(&out, words);
    for (unsigned i = 0; i < words; i++)
        rl_put_text(&out, word[i]);
    out.bytes[out.len] = '\0';
    return out.overflow ? NULL : out.bytes;
}

static const char *next(void *context, unsigned node)
{
    struct init *init = context;
    char db[16], above[24], term[24];
    const char *nonce = init->master[node].nonce;
    snprintf(db, sizeof(db), "%d", node_ask_config(init->nodes)->nodes[node].db);
    const char *const select[] = {"SELECT", db};
    const char *const look[] = {"EXISTS", RL_MARKER_KEY};
    const char *const mark[] = {
        "EVAL",       rl_marker_init, "4", RL_MARKER_KEY, RL_QUARANTINE_KEY, RL_LISTS_KEY,
        RL_FENCING_KEY, nonce,        db,  init->cli->replace ? "replace" : "new",
        term};
    const struct service_look *service = node_ask_service(init->nodes, node);
    snprintf(term, sizeof(term), "%" PRIu64, service ? service->at.term : 0);
    snprintf(above, sizeof(above), "%" PRId64, init->cli->tokens_above);
    const char *const certify[] = {
        "EVAL",    rl_fence_join, "1", RL_FENCING_KEY, nonce,
        "certify", init->master[node].certificate.id, above};
    switch (init->master[node].step) {
    case SELECTING:
        return encode(init, node, 2, select);
    case LOOKING:
        return encode(init, node, 2, look);
    case MARKING:
        return encode(init, node, service ? 11 : 10, mark);
    case FINDING:
        fence_look_request(nonce, "lose", init->master[node].request);
        return init->master[node].request;
    case CERTIFYING:
        return encode(init, node, 8, certify);
    default:
        return NULL;
    }
}

/* The reply of fence_join.lua. NULL: its certificate, or its loss, is known. */
static const char *read_certificate(struct init *init, unsigned node,
                                    const struct rl_reply *reply)
{
    struct rl_certificate *certificate = &init->master[node].certificate;
    const char *why = fence_look_heard(init->master[node].nonce, reply, certificate);
    if (!why && !rl_is_certified(certificate) && strlen(certificate->id) != RL_LOSS_LEN)
        why = strcmp(certificate->word, "foreign") == 0
                  ? RL_FENCING_KEY " is another program's: when it is gone, or deleted, try again"
                  : "it is a replica, or names no run_id inside of a script";
    if (!why && !rl_is_certified(certificate) && init->master[node].step == CERTIFYING)
        why = "it took no certificate: it lost keys anew, or the user lacks +get, which redlock "
              "status --acl --kinds init prints";
    return why;
}

static bool certifies(const struct init *init)
{
    return node_ask_config(init->nodes)->fencing == REDLOCK_FENCING_STRICT &&
           init->cli->replace == 0;
}

static const char *on_reply(void *context, unsigned node, const struct rl_reply *reply)
{
    struct init *init = context;
    const char *why = NULL;
    if (init->master[node].step == LOOKING) {
        init->master[node].marked = reply->type != RL_REPLY_INTEGER || reply->part[0].integer;
    } else if (init->master[node].step == MARKING) {
        why = init_not_marked(init->master[node].nonce, reply, &init->master[node].stands);
    } else if (init->master[node].step >= FINDING) {
        why = read_certificate(init, node, reply);
    }
    if (why) /* of this step */
        return why;
    init->master[node].step++;
    if (init->master[node].step == FINDING && !certifies(init))
        init->master[node].step = DONE;
    else if (init->master[node].step == LOOKING && init->cli->tokens_above > 0)
        init->master[node].step = FINDING;
    return NULL;
}

static void on_failure(void *context, unsigned node, const char *why)
{
    struct init *init = context;
    enum init_step step = init->master[node].step;
    init->master[node].failed = true;
    init_why(step >= MARKING, step >= FINDING, why, init->master[node].why);
}

/* ---- doing it --------------------------------------------------------------------------- */

static bool is_certified(const struct init *init, unsigned node)
{
    return rl_is_certified(&init->master[node].certificate);
}

/* Those whose loss is known, after a look at all of them. How many are certified. */
static unsigned certify_all(struct init *init)
{
    unsigned n = node_ask_config(init->nodes)->node_count, certified = 0;
    for (unsigned i = 0; i < n; i++) {
        if (init->master[i].step == FOUND)
            init->master[i].step = is_certified(init, i) ? DONE : CERTIFYING;
    }
    node_ask_run(init->nodes);
    for (unsigned i = 0; i < n; i++)
        certified += is_certified(init, i) && !init->master[i].failed;
    return certified;
}

/* Somebody says above which number tokens go on. */
static int certify_above(struct init *init)
{
    const struct cli *cli = init->cli;
    unsigned n = node_ask_config(init->nodes)->node_count;
    for (unsigned i = 0; i < n; i++) {
        if (init->master[i].failed)
            cli_say(cli, "%s was left as it is: %s", init_label(init, i), init->master[i].why);
        uint64_t greatest = init->master[i].certificate.greatest;
        if (!is_certified(init, i) || greatest <= (uint64_t)cli->tokens_above)
            continue;
        cli_say(cli, "%s has named tokens up to %" PRIu64 ": say --tokens-above %" PRIu64
                     " or more. Nothing was changed",
                init_label(init, i), greatest, greatest);
        return CLI_USAGE;
    }
    unsigned certified = certify_all(init);
    if (!cli->json)
        printf("%u of %u masters certified\n", certified, n);
    return certified == n ? cli_flush(cli) : CLI_NO_QUORUM;
}

static int mark_all(struct init *init)
{
    unsigned n = node_ask_config(init->nodes)->node_count, marked = 0, wanted = 0;
    bool stands = false;
    for (unsigned i = 0; i < n; i++) {
        if (init_is_chosen(init, i))
            init->master[i].step = MARKING;
    }
    node_ask_run(init->nodes);
    if (certifies(init))
        certify_all(init);
    for (unsigned i = 0; i < n; i++) {
        if (!init_is_chosen(init, i))
            continue;
        wanted++;
        bool is_marked = init->master[i].step == DONE && !init->master[i].failed;
        marked += is_marked;
        stands = stands || init->master[i].stands;
        if (!is_marked)
            cli_say(init->cli, "%s %s: %s", init_label(init, i),
                    init->master[i].step > MARKING ? "is marked and not certified"
                                                   : "was left as it is",
                    init->master[i].why);
    }
    if (!init->cli->json)
        printf("%u of %u masters marked\n", marked, wanted);
    if (marked == wanted)
        return cli_flush(init->cli);
    return stands ? CLI_KIND : CLI_NO_QUORUM;
}

static int look(struct init *init)
{
    const struct rl_config *config = node_ask_config(init->nodes);
    if (init->cli->replace > config->node_count) {
        cli_say(init->cli, "--replace %u: the list has %u masters, counted from 1",
                init->cli->replace, config->node_count);
        return CLI_USAGE;
    }
    bool above = init->cli->tokens_above > 0;
    if (above && !certifies(init)) {
        cli_say(init->cli, "--tokens-above is for a list that says \"fencing strict\", and for "
                           "all of its masters");
        return CLI_USAGE;
    }
    /* It does no harm, and may be switched on later. */
    if (!rl_guard_marks(config->guard) && !certifies(init))
        cli_say(init->cli, "no client of this list reads markers: it does not say \"guard "
                           "marker\" or \"guard strict\"");
    for (unsigned i = 0; i < config->node_count; i++) {
        init->master[i].step = config->nodes[i].db != 0 ? SELECTING
                               : above                  ? FINDING
                                                        : LOOKING;
        node_ask_add(init->nodes, i);
    }
    node_ask_run(init->nodes);
    if (above)
        return certify_above(init);
    int status = init_refuse(init);
    if (status < 0)
        status = init_ask(init);
    return status < 0 ? mark_all(init) : status;
}

static bool draw_nonces(struct init *init)
{
    for (unsigned i = 0; i < node_ask_config(init->nodes)->node_count; i++) {
        if (!fence_look_nonce(init->master[i].nonce))
            return false;
    }
    return true;
}

int cmd_init(const struct cli *cli)
{
    static const struct node_questions questions = {
        .next = next, .on_reply = on_reply, .on_failure = on_failure};
    static struct init init;
    struct rl_config config;
    const char *file;
    int status =
        cli_nodes_read(cli, &config); /* node_ask_open() says nothing of what is wrong */
    rl_config_free(&config);
    if (status == CLI_OK)
        status = cli_nodes_find(cli, &file);
    if (status == CLI_OK)
        status = cli_nodes_use(cli, file);
    if (status != CLI_OK)
        return status;
    init.cli = cli;
    init.nodes = node_ask_open(&questions, &init);
    if (!init.nodes || !draw_nonces(&init)) {
        node_ask_close(init.nodes);
        cli_say(cli, "no memory, descriptors or random bytes are left");
        return CLI_SYSTEM;
    }
    status = look(&init);
    node_ask_close(init.nodes);
    return status;
}
