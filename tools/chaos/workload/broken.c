/* broken.c - the contender of --self-test: a client as they are often written, and wrong. It
 * takes the lock on one master, the first that answers soon enough, with a plain SET NX PX. It
 * believes in the lock for a whole ttl after the answer. So a fault that keeps two contenders
 * from the same master makes both hold one lock, and the checker must catch that.
 *
 * Its readers check that there is no writer, and leave nothing that a writer could see. Of
 * several names it takes the first, and believes to have all of them. With --kind fair there is
 * only one master. There it checks first whether the lock is free, and takes it then.
 *
 * With --self-test=no-release it never gives its key back. That must be its only fault, however
 * often it is stopped. So it asks one master only, and believes from when it began to ask.
 *
 * With no-rollback it asks all masters, one after the other, and believes only if a majority
 * said yes. It releases only such a lock; keys of a refused try stay on their masters. */
#include "config_auto.h"

#include "chaos/check/keys.h"
#include "chaos/faults/kinds.h"
#include "chaos/workload/worker.h"

#include "config/config_load.h"
#include "base/limits.h"
#include "cluster/server_talk.h"

#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#define PATIENCE_MS 100

struct scene {
    struct chaos_contender *contender;
    struct rl_config config;
    struct server_at at[REDLOCK_NODES_MAX];
    char secret[REDLOCK_NODES_MAX][RL_PASSWORD_MAX + 1];
};

static bool read_nodes(struct scene *scene, char *why, size_t why_size)
{
    redlock_config from = REDLOCK_CONFIG_INIT;
    redlock_error error = REDLOCK_ERROR_INIT;
    from.file = scene->contender->seat->nodes_file;
    rl_config_init(&scene->config);
    if (rl_config_load(&scene->config, &from, NULL, NULL, &error) != 0) {
        snprintf(why, why_size, "%s", error.text);
        return false;
    }
    for (unsigned i = 0; i < scene->config.node_count; i++) {
        const struct rl_node_config *node = &scene->config.nodes[i];
        int len = rl_node_password(node, scene->secret[i], why, why_size);
        if (len < 0 || node->transport == RL_TLS) {
            if (len >= 0)
                snprintf(why, why_size, "the client of --self-test can't do TLS");
            return false;
        }
        scene->at[i] = (struct server_at){.host = node->host,
                                          .port = node->port,
                                          .db = node->db,
                                          .user = node->user,
                                          .password = len > 0 ? scene->secret[i] : NULL};
    }
    return true;
}

/* 1: it has it; 0: somebody else has; -1: no answer. */
static int take_there(const struct scene *scene, struct server_talk *talk, const char *name,
                      const char *token, bool shared)
{
    char ttl[24], text[128];
    const char *set[] = {"SET", name, token, "PX", ttl, "NX"};
    const char *look[] = {"EXISTS", name};
    bool fair = scene->contender->options->lock == CHAOS_FAIR;
    char type;
    snprintf(ttl, sizeof(ttl), "%lld", (long long)scene->contender->options->ttl_ms);
    if (shared || fair) {
        type = server_talk_ask(talk, 2, look, text, sizeof(text));
        if (type == 0 || shared || strcmp(text, "0") != 0)
            return type == 0 ? -1 : strcmp(text, "0") == 0;
        (void)poll(NULL, 0, 1);
    }
    type = server_talk_ask(talk, fair ? 5 : 6, set, text, sizeof(text));
    return type == 0 ? -1 : type == '+';
}

/* The first master that answers at all decides. With no-release only the first of the list
 * does, whatever happens to it. With no-rollback a majority does, from any master on. Returns
 * the masters that have the key now, a bit each; 0: another has the lock, or nobody
 * answered. */
static uint64_t take(struct scene *scene, const char *name, const char *token, bool shared)
{
    struct server_talk talk;
    struct chaos_contender *contender = scene->contender;
    bool all = contender->options->breach == CHAOS_NO_ROLLBACK;
    unsigned nodes = scene->config.node_count, yes = 0;
    unsigned asked = contender->options->breach == CHAOS_NO_RELEASE ? 1 : nodes;
    unsigned first = all ? (unsigned)rl_prng_below(&contender->prng, nodes) : 0;
    uint64_t taken = 0;
    for (unsigned i = 0; i < asked; i++) {
        unsigned node = (first + i) % nodes;
        if (!server_talk_open_within(&talk, &scene->at[node], PATIENCE_MS))
            continue;
        int said = take_there(scene, &talk, name, token, shared);
        server_talk_close(&talk);
        if (said == 1)
            taken |= CHAOS_BIT(node);
        yes += said == 1;
        if (!all && said >= 0)
            return taken;
    }
    return yes > nodes / 2 ? taken : 0;
}

static bool give_back(struct scene *scene, uint64_t taken, const char *name)
{
    struct server_talk talk;
    char text[128];
    const char *del[] = {"DEL", name};
    bool done = true;
    for (unsigned i = 0; i < scene->config.node_count; i++) {
        if ((taken & CHAOS_BIT(i)) == 0)
            continue;
        bool open = server_talk_open_within(&talk, &scene->at[i], PATIENCE_MS);
        done = open && server_talk_ask(&talk, 2, del, text, sizeof(text)) == ':' && done;
        if (open)
            server_talk_close(&talk);
    }
    return done;
}

static unsigned name_of(const struct chaos_turn *drawn, unsigned i)
{
    return i == 0 ? drawn->name : drawn->other[i - 1];
}

/* Its actions and events with its one key. */
static void use(struct scene *scene, const struct chaos_turn *drawn, int64_t from_ns)
{
    struct chaos_contender *contender = scene->contender;
    struct chaos_record *record = contender->record;
    struct chaos_seat *seat = contender->seat;
    uint64_t value[CHAOS_NAMES_MAX];
    int64_t hold_ms = drawn->renew ? contender->options->ttl_ms / 2 : drawn->hold_ms;
    int64_t until_ns = from_ns + contender->options->ttl_ms * RL_NS_PER_MS;
    for (unsigned i = 0; i <= drawn->more; i++)
        chaos_holds(record, seat, name_of(drawn, i), until_ns, 0);
    for (unsigned i = 0; i <= drawn->more; i++)
        (void)chaos_reads(record, seat, name_of(drawn, i), &value[i]);
    (void)poll(NULL, 0, (int)hold_ms);
    for (unsigned i = 0; i <= drawn->more; i++) {
        if (chaos_record_now_ns(record) >= until_ns)
            break;
        if (drawn->shared)
            chaos_reads_again(record, seat, name_of(drawn, i), until_ns);
        else
            (void)chaos_writes(record, seat, name_of(drawn, i), value[i] + 1, until_ns);
    }
    for (unsigned i = 0; i <= drawn->more; i++)
        chaos_lets_go(record, seat, name_of(drawn, i));
}

static void turn(struct scene *scene, uint64_t number)
{
    struct chaos_contender *contender = scene->contender;
    struct chaos_record *record = contender->record;
    struct chaos_seat *seat = contender->seat;
    struct chaos_turn drawn;
    char name[CHAOS_LOCK_NAME_MAX], token[64];
    chaos_turn_draw(contender, &drawn);
    chaos_record_lock_name(record, drawn.name, name);
    snprintf(token, sizeof(token), "broken-%d-%llu", (int)getpid(), (unsigned long long)number);
    seat->key = chaos_key_of(token, strlen(token));
    seat->shared = drawn.shared;
    seat->joint = drawn.more > 0;
    for (unsigned i = 0; i <= drawn.more; i++)
        chaos_asks(record, seat, name_of(&drawn, i));
    int64_t asked_ns = chaos_record_now_ns(record);
    uint64_t taken = take(scene, name, token, drawn.shared);
    if (taken == 0) {
        for (unsigned i = 0; i <= drawn.more; i++)
            chaos_refused(record, seat, name_of(&drawn, i), REDLOCK_EHELD);
        chaos_rest_a_little(contender);
        return;
    }
    bool never_releases = contender->options->breach == CHAOS_NO_RELEASE;
    use(scene, &drawn, never_releases ? asked_ns : chaos_record_now_ns(record));
    bool keeps = drawn.shared || never_releases;
    bool done = keeps || give_back(scene, taken, name);
    for (unsigned i = 0; i <= drawn.more; i++)
        chaos_released(record, seat, name_of(&drawn, i), done ? 0 : REDLOCK_EUNCONFIRMED);
}

int chaos_contend_broken(struct chaos_contender *contender)
{
    static struct scene scene; /* a process of its own: there is one */
    char why[512];
    scene.contender = contender;
    if (!read_nodes(&scene, why, sizeof(why))) {
        chaos_fails(contender->record, contender->seat, why);
        return EX_SOFTWARE;
    }
    for (uint64_t number = 0; !chaos_contender_ends(contender); number++)
        turn(&scene, number);
    rl_config_free(&scene.config);
    return 0;
}
