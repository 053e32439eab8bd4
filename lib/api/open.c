/* open.c - opens a client: everything that can fail is done here. */
#include "config_auto.h"

#include "engine/engine.h"

#include "api/close.h"
#include "base/client_name.h"
#include "base/diagnostic.h"
#include "base/eventfd.h"
#include "config/config_load.h"
#include "config/config_abi.h"
#include "config/list_mark.h"
#include "base/entropy.h"
#include "engine/background.h"
#include "engine/lease/fill_in.h"
#include "engine/loop/loop.h"
#include "engine/enter.h"
#include "net/resp.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int fail(redlock_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int fail(redlock_error *error, int code, const char *format, ...)
{
    assert(code < 0);
    va_list args;
    error->code = code;
    va_start(args, format);
    vsnprintf(error->text, sizeof(error->text), format, args);
    va_end(args);
    return code;
}

static void warn(void *context, int level, const char *text)
{
    rl_client_log(context, level, "%s", text);
}

enum { HOST_SHOWN = RL_CLIENT_NAME_MAX - 12 }; /* beside a colon and any process number */
enum {
    HOST_END = 28
}; /* of a longer one: a pod's name differs in its end, a domain's in front */

/* The holder's name in values on masters: the configured name, or host and process. */
static void name_holder(redlock *client)
{
    if (client->config.client_name) {
        snprintf(client->identity.holder, sizeof(client->identity.holder), "%s",
                 client->config.client_name);
        return;
    }
    char host[HOST_NAME_MAX + 1] = "";
    if (gethostname(host, sizeof(host)) != 0 || !host[0])
        snprintf(host, sizeof(host), "unknown");
    for (char *at = host; *at; at++) {
        if (!rl_host_byte(*at))
            *at = '-';
    }
    size_t len = strlen(host);
    if (len > HOST_SHOWN) {
        char *middle = host + HOST_SHOWN - HOST_END - 2;
        memcpy(middle, "..", 2);
        memmove(middle + 2, host + len - HOST_END, HOST_END + 1);
    }
    snprintf(client->identity.holder, sizeof(client->identity.holder), "%.*s:%d", HOST_SHOWN,
             host, (int)client->identity.fork_check.pid);
}

static void name_connection(redlock *client)
{
    assert(client->identity.holder[0]);                /* name_holder() */
    assert(client->node_settings.lists.own.nodes > 0); /* settle() */
    char word[RL_LIST_MARK_MAX + 1];
    rl_entropy_uuid(client->identity.uuid);
    rl_list_mark_write(&client->node_settings.lists.own, word);
    snprintf(client->node_settings.connection_name,
             sizeof(client->node_settings.connection_name), RL_CONNECTION_PREFIX "%s:%s:%s",
             client->identity.holder, word, client->identity.uuid);
}

/* A wake-up: the loop ticks after each wait, so only the counter is emptied here. */
static void on_wake(struct rl_tag *tag, unsigned events, int64_t now_ns)
{
    redlock *client = RL_ITEM(tag, redlock, loop.wake_tag);
    (void)events, (void)now_ns;
    if (client->loop.polling) /* it is meant for the leader, which has not woken yet */
        return;
    rl_eventfd_drain(client->loop.wake_fd);
}

static int no_descriptor(redlock_error *error, const char *call)
{
    if (errno == EPERM || errno == EACCES || errno == ENOSYS)
        return fail(error, REDLOCK_ESYSTEM,
                    "%s: %s; each client needs this call, so a sandbox must allow it", call,
                    strerror(errno));
    return fail(error, REDLOCK_ESYSTEM,
                "no descriptors left: %s; close some, or raise "
                "the limit (ulimit -n)",
                strerror(errno));
}

static int open_descriptors(redlock *client, redlock_error *error)
{
    client->loop.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (client->loop.epoll_fd < 0)
        return no_descriptor(error, "epoll_create1()");
    client->loop.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (client->loop.wake_fd < 0)
        return no_descriptor(error, "eventfd()");
    client->subs.epoll_fd = client->loop.epoll_fd;
    client->subs.wake_fd = client->loop.wake_fd;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &client->loop.wake_tag};
    client->loop.wake_tag.ready = on_wake;
    /* A sandbox that refuses write() would leave a thread asleep that redlock_close() awaits.
     */
    if (!rl_eventfd_signal(client->loop.wake_fd))
        return fail(error, REDLOCK_ESYSTEM, "eventfd: %s", strerror(errno));
    rl_eventfd_drain(client->loop.wake_fd);
    if (epoll_ctl(client->loop.epoll_fd, EPOLL_CTL_ADD, client->loop.wake_fd, &event) != 0)
        return fail(error, REDLOCK_ESYSTEM, "epoll: %s", strerror(errno));
    return 0;
}

static void settle(redlock *client)
{
    const struct rl_config *config = &client->config;
    client->node_settings.owner = client;
    client->loop.hooks = &rl_engine_hooks;
    client->subs.events = &rl_engine_sub_events;
    client->subs.nodes = &client->nodes;
    client->subs.uuid = client->wait_queues.uuid = client->identity.uuid;
    client->wait_queues.subs = &client->subs;
    client->wait_queues.voters = &client->voters;
    client->wait_queues.requests = &client->requests;
    client->node_settings.events = &rl_engine_node_events;
    client->node_settings.clock = &client->clock;
    client->node_settings.driven = &client->loop.driven;
    client->voters.settings = &client->node_settings;
    if (config->watch_wall_clock == REDLOCK_ON)
        rl_clock_watch_wall(&client->clock);
    client->node_settings.prng = &client->prng;
    client->node_settings.connect_timeout_ns = config->connect_timeout_ms * RL_NS_PER_MS;
    client->node_settings.node_timeout_ns = config->node_timeout_ms * RL_NS_PER_MS;
    client->node_settings.stall_limit_ns = config->stall_limit_ms * RL_NS_PER_MS;
    client->node_settings.drain_limit_ns = config->max_ttl_ms * RL_NS_PER_MS;
    client->node_settings.guard = config->guard;
    client->node_settings.fencing_strict = config->fencing == REDLOCK_FENCING_STRICT;
    client->node_settings.lists.agreement = config->config_agreement;
    rl_list_mark_of(config, &client->node_settings.lists.own);
    client->node_settings.check_ns = RL_ASK_INFO_MS * RL_NS_PER_MS;
    if (rl_guard_marks(config->guard))
        client->node_settings.check_ns =
            rl_earlier_ns(rl_marker_check_ns(config->max_ttl_ms * RL_NS_PER_MS),
                          client->node_settings.check_ns);
    client->node_settings.drift_factor = config->drift_factor;
    rl_node_set_windows(&client->node_settings, config->max_ttl_ms * RL_NS_PER_MS);
}

static int open_nodes(redlock *client, const char *file, redlock_error *error)
{
    assert(client->config.node_count >= 1 && client->config.node_count <= REDLOCK_NODES_MAX);
    assert(client->loop.epoll_fd >= 0 && client->node_settings.events);
    char why[256] = "";
    client->nodes.all = calloc(client->config.node_count, sizeof(*client->nodes.all));
    if (!client->nodes.all)
        return fail(error, REDLOCK_ENOMEM, "out of memory");
    while (client->nodes.n < client->config.node_count) {
        const struct rl_node_config *config = &client->config.nodes[client->nodes.n];
        int result = rl_node_init(&client->nodes.all[client->nodes.n], client->nodes.n, config,
                                  &client->node_settings, client->loop.epoll_fd,
                                  client->loop.wake_fd, why, sizeof(why));
        if (result) {
            const char *what = result == REDLOCK_ENOMEM ? "out of memory" : why;
            return rl_error_set(error, result, config->line > 0 ? file : NULL, config->line,
                                config->column, "node %s: %s", config->label, what);
        }
        client->voters.node[client->nodes.n] = &client->nodes.all[client->nodes.n];
        client->voters.n = ++client->nodes.n;
    }
    int result = rl_endpoints_init(&client->endpoints, client->nodes.all, client->nodes.n,
                                   client->loop.epoll_fd, client->loop.wake_fd, why, sizeof(why));
    return result ? fail(error, result, "%s", why[0] ? why : "out of memory") : 0;
}

/* Whoever chooses names must not be able to choose such that collide in the tables of names. A
 * server that reads what this client sends could find the seed, for nonces come from it. So the
 * key is drawn by itself. */
static bool key_tables(redlock *client)
{
    struct rl_sip_key key;
    if (rl_entropy_bytes(&key, sizeof(key)) != 0)
        return false;
    client->wait_queues.by_name.key = key;
    client->subs.channels.by_text.key = key;
    client->leases.named.key = key;
    return true;
}

/* Everything that can fail. On failure rl_client_destroy() frees what has been made. */
static int build(redlock *client, const redlock_config *config, redlock_error *error)
{
    uint64_t seed;
    char why[256];
    int result = rl_config_load(&client->config, config, warn, client, error);
    if (result)
        return result;
    if (!rl_reader_is_ours(why, sizeof(why)))
        return fail(error, REDLOCK_ESYSTEM, "%s", why);
    if (!key_tables(client) || rl_entropy_bytes(&seed, sizeof(seed)) != 0)
        return fail(error, REDLOCK_ERANDOM, "the system has no random bytes");
    rl_prng_seed(&client->prng, seed);
    if (rl_clock_boot_id(client->identity.boot_id) != 0)
        return fail(error, REDLOCK_ESYSTEM, "this system tells no boot id: is /proc mounted?");
    if (rl_clock_offset(&client->identity.clock_offset) != 0)
        return fail(error, REDLOCK_ESYSTEM,
                    "this system does not tell which clock we have: is /proc/self readable?");
    client->requests.bytes = malloc(2 * RL_REQUEST_MAX);
    if (!client->requests.bytes)
        return fail(error, REDLOCK_ENOMEM, "out of memory");
    if (rl_timers_reserve(&client->loop.timers)) /* the first calls need none for timers */
        return fail(error, REDLOCK_ENOMEM, "out of memory");
    rl_timers_unreserve(&client->loop.timers);
    settle(client);
    name_holder(client);
    name_connection(client);
    result = open_descriptors(client, error);
    if (result)
        return result;
    return open_nodes(client, config->file, error);
}

static void init_mutex(pthread_mutex_t *mutex)
{
    /* Error checking, so that a call from within a callback gets an error and does not hang. */
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(mutex, &attr);
    pthread_mutexattr_destroy(&attr);
}

static redlock *new_client(const redlock_config *config)
{
    redlock *client = calloc(1, sizeof(*client));
    if (!client)
        return NULL;
    rl_fork_check_init(&client->identity.fork_check);
    client->loop.epoll_fd = client->loop.wake_fd = -1;
    client->background.kick_fd = client->background.outer_fd = client->background.alarm_fd = -1;
    client->background.alarm_ns = INT64_MAX;
    client->background.sleeps_until_ns = INT64_MAX;
    client->leases.release_retry_ns = INT64_MAX;
    rl_fill_in_init(&client->voters.fill_in);
    client->duplicates.again_ns = client->certifying.now.again_ns = INT64_MAX;
    client->log.write = config->log;
    client->log.context = config->log_context;
    client->log.level = config->log_level ? config->log_level : REDLOCK_LOG_WARNING;
    client->stats.size = sizeof(client->stats);
    init_mutex(&client->mutex);
    pthread_cond_init(&client->calls.idle, NULL);
    pthread_cond_init(&client->callbacks.called, NULL);
    return client;
}

static int open_client(const redlock_config *given, redlock_error *error, redlock **ret_client)
{
    redlock_config config;
    int cancel_state;
    int result = rl_config_take(given, &config, error);
    if (result)
        return result;
    if (!ret_client)
        return fail(error, REDLOCK_EINVAL,
                    "there is no place for the client: ret_client is NULL");
    if (!rl_clock_is_there())
        return fail(error, REDLOCK_ESYSTEM,
                    "clock_gettime(CLOCK_BOOTTIME): %s; leases are timed by this clock, so a "
                    "sandbox must allow it",
                    strerror(errno));
    redlock *client = new_client(&config);
    if (!client)
        return fail(error, REDLOCK_ENOMEM, "out of memory");
    result = build(client, &config, error);
    if (result) {
        rl_client_destroy(client, false);
        return result;
    }
    client->voters.opened_ns = rl_client_now_ns(client);
    client->loop.suspended_ns = rl_clock_suspended_ns();
    rl_driven_looks(&client->loop.driven, client->voters.opened_ns);
    rl_client_enter(client, &cancel_state);
    rl_loop_tick(client, client->voters.opened_ns);
    if (client->config.background == REDLOCK_BACKGROUND_ALWAYS)
        result = rl_background_require(client);
    rl_client_leave(client, cancel_state);
    if (result) {
        redlock_close(client);
        return fail(error, result, "no background thread to be had");
    }
    *ret_client = client;
    return REDLOCK_OK;
}

/* As much as the caller's version of the struct has room for. */
static int give_error(redlock_error *whole, redlock_error *ret_error)
{
    if (ret_error) {
        size_t size = ret_error->size < sizeof(*whole) ? ret_error->size : sizeof(*whole);
        whole->size = ret_error->size;
        memcpy(ret_error, whole, size);
    }
    return whole->code;
}

int redlock_open_config(const redlock_config *config, redlock_error *error,
                        redlock **ret_client)
{
    redlock_error whole = REDLOCK_ERROR_INIT;
    int result = open_client(config, &whole, ret_client);
    if (result == REDLOCK_OK)
        whole = (redlock_error)REDLOCK_ERROR_INIT; /* warnings leave nothing in the result */
    whole.code = result;
    return give_error(&whole, error);
}

int redlock_open(const char *file, redlock_error *error, redlock **ret_client)
{
    redlock_config config = REDLOCK_CONFIG_INIT;
    redlock_error whole = REDLOCK_ERROR_INIT;
    if (!file || !file[0]) {
        fail(&whole, REDLOCK_EINVAL,
             "redlock_open: file is %s; give the path of a node list file",
             file ? "an empty string" : "NULL");
        return give_error(&whole, error);
    }
    config.file = file;
    return redlock_open_config(&config, error, ret_client);
}
