/* client.c - a contender that takes its locks through a foreign client. It runs the program of
 * --client, tells it what to do, and reads and writes under its locks. The record and the log
 * are ours. So is the clock that the deadlines are judged by. */
#include "config_auto.h"

#include "chaos/workload/client_protocol.h"
#include "chaos/workload/worker.h"

#include "base/clock.h"
#include "config/config_load.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

static struct rl_mask masks[REDLOCK_NODES_MAX]; /* of the one client that a contender has */

#define SLICE_MS 5 /* how often a holder looks at its deadline */

struct scene {
    struct chaos_contender *contender;
    struct chaos_protocol *protocol;
    unsigned name;
    uint64_t token;
    int64_t deadline_ns; /* CLOCK_BOOTTIME */
};

static bool ends(void *context)
{
    return chaos_contender_ends(context);
}

static int64_t since_begin(const struct scene *scene, int64_t clock_ns)
{
    return clock_ns - scene->contender->record->begun_ns;
}

/* ---- the masters, as URLs --------------------------------------------------------------- */

static size_t put_encoded(char *to, const char *text)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t len = 0;
    for (const char *at = text; *at != '\0'; at++) {
        unsigned char byte = (unsigned char)*at;
        if ((byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
            (byte >= 'a' && byte <= 'z')) {
            to[len++] = *at;
            continue;
        }
        to[len++] = '%';
        to[len++] = digits[byte >> 4];
        to[len++] = digits[byte & 15];
    }
    to[len] = '\0';
    return len;
}

/* A label with the secret put in; in new memory. NULL: none, or it can't be read (`why`). */
static char *make_url(const struct rl_node_config *node, struct rl_mask *mask, char *why,
                      size_t why_size)
{
    char secret[RL_PASSWORD_MAX + 1];
    int secret_len = rl_node_password(node, secret, why, why_size);
    if (secret_len < 0)
        return NULL;
    if (secret_len == 0)
        return strdup(node->label);
    const char *scheme_end = strstr(node->label, "://");
    const char *user = node->user != NULL ? node->user : "";
    assert(scheme_end != NULL);
    const char *rest = scheme_end + 3;
    if (node->user != NULL && strchr(rest, '@') != NULL)
        rest = strchr(rest, '@') + 1;
    char *url = malloc(strlen(node->label) + 3 * (strlen(user) + (size_t)secret_len) + 3);
    if (url != NULL) {
        size_t len = (size_t)(scheme_end + 3 - node->label);
        memcpy(url, node->label, len);
        len += put_encoded(url + len, user);
        url[len++] = ':';
        len += put_encoded(url + len, secret);
        url[len++] = '@';
        memcpy(url + len, rest, strlen(rest) + 1);
    }
    rl_mask_set(mask, node->user, secret, (size_t)secret_len);
    rl_wipe(secret, sizeof(secret));
    return url;
}

/* Run the client on the node list of this seat. NULL: `why`. */
static struct chaos_protocol *start(struct chaos_contender *contender, char *why,
                                    size_t why_size)
{
    struct rl_config config;
    redlock_config from = REDLOCK_CONFIG_INIT;
    redlock_error error = REDLOCK_ERROR_INIT;
    struct chaos_protocol *protocol = NULL;
    char *url[REDLOCK_NODES_MAX] = {NULL};
    const char *node[REDLOCK_NODES_MAX];
    from.file = contender->seat->nodes_file;
    rl_config_init(&config);
    if (rl_config_load(&config, &from, NULL, NULL, &error) != 0) {
        snprintf(why, why_size, "%s", error.text);
        return NULL;
    }
    bool complete = true;
    snprintf(why, why_size, "out of memory");
    for (unsigned i = 0; complete && i < config.node_count; i++) {
        node[i] = url[i] = make_url(&config.nodes[i], &masks[i], why, why_size);
        complete = url[i] != NULL;
    }
    struct chaos_protocol_plan plan = {.command = contender->options->client_cmd,
                                       .ttl_ms = contender->options->ttl_ms,
                                       .nodes = config.node_count,
                                       .node = node,
                                       .mask = masks,
                                       .log_fd = -1,
                                       .stop = ends,
                                       .stop_context = contender};
    if (complete && (protocol = chaos_protocol_start(&plan)) == NULL)
        snprintf(why, why_size, "the client can't be started: %s", strerror(errno));
    for (unsigned i = 0; i < config.node_count; i++)
        if (url[i] != NULL) {
            rl_wipe(url[i], strlen(url[i]));
            free(url[i]);
        }
    rl_config_free(&config);
    return protocol;
}

/* ---- one turn --------------------------------------------------------------------------- */

/* The deadline that the client has reported, logged if it is new. */
static enum chaos_said believe(struct scene *scene, enum chaos_said said, int64_t deadline_ns)
{
    struct chaos_contender *contender = scene->contender;
    if (said != CHAOS_SAID_OK)
        return said;
    if (deadline_ns > scene->deadline_ns)
        chaos_holds(contender->record, contender->seat, scene->name,
                    since_begin(scene, deadline_ns), scene->token);
    scene->deadline_ns = deadline_ns;
    return said;
}

static enum chaos_said look(struct scene *scene)
{
    int64_t deadline_ns = 0;
    enum chaos_said said = chaos_protocol_validity(scene->protocol, &deadline_ns);
    return believe(scene, said, deadline_ns);
}

/* A failed extension is no reason to stop while the lock is valid. */
static enum chaos_said extend(struct scene *scene)
{
    int64_t deadline_ns = scene->deadline_ns;
    enum chaos_said said = chaos_protocol_extend(scene->protocol, &deadline_ns);
    return said == CHAOS_SAID_NO ? CHAOS_SAID_OK : believe(scene, said, deadline_ns);
}

/* Hold it for so long, and look after it at every third of the TTL. */
static enum chaos_said hold(struct scene *scene, const struct chaos_turn *drawn)
{
    struct chaos_contender *contender = scene->contender;
    int64_t third_ns = contender->options->ttl_ms * RL_NS_PER_MS / 3;
    int64_t now_ns = rl_clock_now_ns();
    int64_t end_ns = now_ns + drawn->hold_ms * RL_NS_PER_MS, next_ns = now_ns + third_ns;
    while (now_ns < end_ns && now_ns < scene->deadline_ns && !chaos_contender_ends(contender)) {
        if (now_ns >= next_ns) {
            enum chaos_said said = drawn->renew ? extend(scene) : look(scene);
            if (said != CHAOS_SAID_OK)
                return said;
            next_ns = rl_clock_now_ns() + third_ns;
        }
        (void)poll(NULL, 0, SLICE_MS);
        now_ns = rl_clock_now_ns();
    }
    return now_ns < scene->deadline_ns ? look(scene) : CHAOS_SAID_GONE;
}

/* Read, hold, write. An answer that is not OK: why it was not written. */
static enum chaos_said use(struct scene *scene, const struct chaos_turn *drawn)
{
    struct chaos_contender *contender = scene->contender;
    if (rl_clock_now_ns() >= scene->deadline_ns)
        return CHAOS_SAID_GONE;
    uint64_t value;
    (void)chaos_reads(contender->record, contender->seat, scene->name, &value);
    enum chaos_said said = hold(scene, drawn);
    if (said != CHAOS_SAID_OK)
        return said;
    if (rl_clock_now_ns() >= scene->deadline_ns)
        return CHAOS_SAID_GONE;
    (void)chaos_writes(contender->record, contender->seat, scene->name, value + 1,
                       since_begin(scene, scene->deadline_ns));
    return CHAOS_SAID_OK;
}

/* The bytes that the client has sent to each master so far. */
static void read_sent(const struct chaos_contender *contender, uint64_t *ret_bytes)
{
    for (unsigned i = 0; i < contender->nodes; i++)
        ret_bytes[i] = atomic_load(&contender->path[i].came[CHAOS_THERE]);
}

/* The number of masters that it has sent bytes to since then. A grant comes after its request,
 * and the proxy counts a request before passing it on. */
static uint8_t count_asked(const struct chaos_contender *contender, const uint64_t *before)
{
    uint64_t now[REDLOCK_NODES_MAX];
    uint8_t asked = 0;
    read_sent(contender, now);
    for (unsigned i = 0; i < contender->nodes; i++)
        asked = (uint8_t)(asked + (now[i] != before[i]));
    return asked;
}

/* False: the client can't be asked any more. */
static bool turn(struct scene *scene)
{
    struct chaos_contender *contender = scene->contender;
    struct chaos_record *record = contender->record;
    struct chaos_seat *seat = contender->seat;
    char name[CHAOS_LOCK_NAME_MAX];
    uint64_t sent[REDLOCK_NODES_MAX];
    struct chaos_turn drawn;
    chaos_turn_draw(contender, &drawn);
    scene->token = 0;
    scene->name = drawn.name;
    chaos_record_lock_name(record, drawn.name, name);
    read_sent(contender, sent);
    chaos_asks(record, seat, drawn.name);
    enum chaos_said said = chaos_protocol_acquire(scene->protocol, name, drawn.wait_ms,
                                                  &scene->deadline_ns, &scene->token);
    if (said != CHAOS_SAID_OK) {
        chaos_refused(record, seat, drawn.name, chaos_protocol_code(scene->protocol));
        if (said == CHAOS_SAID_NO)
            chaos_rest_a_little(contender);
        return said == CHAOS_SAID_NO;
    }
    seat->asked = count_asked(contender, sent);
    chaos_holds(record, seat, drawn.name, since_begin(scene, scene->deadline_ns), scene->token);
    said = use(scene, &drawn);
    if (said == CHAOS_SAID_GONE)
        chaos_loses(record, seat, drawn.name);
    chaos_lets_go(record, seat, drawn.name);
    if (said == CHAOS_SAID_WRONG || said == CHAOS_SAID_NOTHING)
        return false;
    said = chaos_protocol_release(scene->protocol);
    chaos_released(record, seat, drawn.name,
                   said == CHAOS_SAID_NO ? REDLOCK_EUNCONFIRMED
                                         : chaos_protocol_code(scene->protocol));
    return said != CHAOS_SAID_WRONG && said != CHAOS_SAID_NOTHING;
}

int chaos_contend_client(struct chaos_contender *contender)
{
    char why[512];
    struct scene scene = {.contender = contender};
    scene.protocol = start(contender, why, sizeof(why));
    if (scene.protocol == NULL) {
        chaos_fails(contender->record, contender->seat, why);
        return EX_SOFTWARE;
    }
    enum chaos_said said = chaos_protocol_greeted(scene.protocol);
    while (said == CHAOS_SAID_OK && !chaos_contender_ends(contender)) {
        if (!turn(&scene))
            break;
    }
    bool wrong = chaos_protocol_wrong(scene.protocol);
    if (wrong)
        chaos_fails(contender->record, contender->seat, chaos_protocol_reason(scene.protocol));
    chaos_protocol_quit(scene.protocol);
    return wrong ? EX_SOFTWARE : 0;
}
