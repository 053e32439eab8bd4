/* client.c - opening and closing a client, and what every call begins and ends with. */
#include "config_auto.h"

#include "client.h"

#include "claim.h"
#include "clock.h"
#include "config_load.h"
#include "config_take.h"
#include "entropy.h"
#include "op.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

const char *redlock_version(void)
{
    return REDLOCK_VERSION;
}

/* ---- every call ----------------------------------------------------------------------- */

int rl_client_enter(redlock *client, int *ret_cancel_state)
{
    if (rl_born_elsewhere(&client->born))
        return REDLOCK_EFORK;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, ret_cancel_state);
    if (pthread_mutex_lock(&client->mutex) != 0) {
        pthread_setcancelstate(*ret_cancel_state, NULL);
        return REDLOCK_EDEADLK;
    }
    return REDLOCK_OK;
}

static void leave(redlock *client, int cancel_state)
{
    pthread_mutex_unlock(&client->mutex);
    pthread_setcancelstate(cancel_state, NULL);
}

void rl_client_leave(redlock *client, int cancel_state)
{
    /* What callbacks send leaves together, when the last one is back. */
    if (rl_loop_unflushed(client) && !rl_notice_inside(client))
        rl_loop_submit(client, rl_clock_now_ns());
    rl_loop_wake(client);
    rl_drive_leave(client);
    leave(client, cancel_state);
}

int rl_client_enter_blocking(redlock *client, int *ret_cancel_state)
{
    int result = rl_client_enter(client, ret_cancel_state);
    if (result)
        return result;
    const struct rl_drive *drive = &client->drive;
    if (rl_notice_inside(client) ||
        (drive->loop && pthread_equal(drive->loop_thread, pthread_self())))
        result = REDLOCK_EDEADLK;
    else if (client->closing)
        result = REDLOCK_ECANCELED;
    if (result)
        leave(client, *ret_cancel_state);
    else
        client->callers++;
    return result;
}

void rl_client_leave_blocking(redlock *client, int cancel_state)
{
    client->left_ns = client->turned_ns;
    if (--client->callers == 0 && client->closing)
        pthread_cond_signal(&client->idle);
    rl_client_leave(client, cancel_state);
}

void rl_client_log(void *owner, int level, const char *format, ...)
{
    redlock *client = owner;
    char text[512];
    va_list args;
    if (!client->log || level > client->log_level)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    client->log(client->log_context, level, text);
}

/* ---- opening -------------------------------------------------------------------------- */

static int fail(redlock_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int fail(redlock_error *error, int code, const char *format, ...)
{
    va_list args;
    error->code = code;
    va_start(args, format);
    vsnprintf(error->text, sizeof(error->text), format, args);
    va_end(args);
    return code;
}

static void warn(void *context, const char *text)
{
    rl_client_log(context, REDLOCK_LOG_WARNING, "%s", text);
}

/* EVALSHA's names for the scripts. */
static int hash_scripts(redlock *client)
{
    static const char hex[] = "0123456789abcdef";
    const struct rl_kind *kind = rl_kind(REDLOCK_PLAIN);
    for (unsigned verb = 0; verb < RL_VERBS; verb++) {
        unsigned char sum[EVP_MAX_MD_SIZE];
        unsigned len = 0;
        const char *body = kind->script[verb].body;
        if (!EVP_Digest(body, strlen(body), sum, &len, EVP_sha1(), NULL) || len != 20)
            return REDLOCK_ESYSTEM;
        for (unsigned i = 0; i < len; i++) {
            client->sha[verb][2 * i] = hex[sum[i] >> 4];
            client->sha[verb][2 * i + 1] = hex[sum[i] & 15];
        }
        client->sha[verb][40] = '\0';
    }
    return 0;
}

/* What a value on a master shows people: the configured name, or host and process. */
static void name_holder(redlock *client)
{
    if (client->config.client_name) {
        snprintf(client->holder, sizeof(client->holder), "%s", client->config.client_name);
        return;
    }
    char host[40] = "";
    if (gethostname(host, sizeof(host) - 1) != 0 || !host[0])
        snprintf(host, sizeof(host), "unknown");
    for (char *at = host; *at; at++) {
        bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                     (*at >= '0' && *at <= '9') || strchr("._-", *at);
        if (!plain)
            *at = '-';
    }
    snprintf(client->holder, sizeof(client->holder), "%s:%ld", host, (long)client->born.pid);
}

static void name_connection(redlock *client)
{
    rl_entropy_uuid(client->uuid);
    snprintf(client->settings.connection_name, sizeof(client->settings.connection_name),
             "redlock:%s:%s", client->holder, client->uuid);
}

/* Somebody wants the loop to look at more than descriptors: it does so after each wait. */
static void on_wake(struct rl_tag *tag, unsigned events, int64_t now_ns)
{
    uint64_t count;
    redlock *client = (redlock *)(void *)((char *)tag - offsetof(redlock, wake_tag));
    (void)events, (void)now_ns;
    while (read(client->wake_fd, &count, sizeof(count)) < 0 && errno == EINTR)
        ;
}

static int open_descriptors(redlock *client, redlock_error *error)
{
    client->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    client->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (client->epoll_fd < 0 || client->wake_fd < 0)
        return fail(error, REDLOCK_ESYSTEM, "no descriptors left: %s; close some, or raise "
                                            "the limit (ulimit -n)",
                    strerror(errno));
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &client->wake_tag};
    client->wake_tag.ready = on_wake;
    if (epoll_ctl(client->epoll_fd, EPOLL_CTL_ADD, client->wake_fd, &event) != 0)
        return fail(error, REDLOCK_ESYSTEM, "epoll: %s", strerror(errno));
    return 0;
}

static void settle(redlock *client)
{
    const struct rl_config *config = &client->config;
    client->settings.owner = client;
    client->settings.events = &rl_client_events;
    client->settings.prng = &client->prng;
    client->settings.connect_timeout_ns = config->connect_timeout_ms * RL_NS_PER_MS;
    client->settings.stall_limit_ns = config->stall_limit_ms * RL_NS_PER_MS;
    client->settings.drain_limit_ns = config->max_ttl_ms * RL_NS_PER_MS;
    client->settings.guard = config->guard;
    client->settings.guard_window_ns =
        rl_guard_window_ns(config->max_ttl_ms * RL_NS_PER_MS, config->drift_factor);
}

static int open_nodes(redlock *client, const char *file, redlock_error *error)
{
    char why[256] = "";
    client->nodes = calloc(client->config.node_count, sizeof(*client->nodes));
    if (!client->nodes)
        return fail(error, REDLOCK_ENOMEM, "out of memory");
    while (client->n < client->config.node_count) {
        const struct rl_node_config *config = &client->config.nodes[client->n];
        int result = rl_node_init(&client->nodes[client->n], client->n, config,
                                  &client->settings, client->epoll_fd, client->wake_fd, why,
                                  sizeof(why));
        if (result) {
            const char *what = result == REDLOCK_ENOMEM ? "out of memory" : why;
            error->line = config->line;
            if (config->line > 0)
                return fail(error, result, "%s:%d: node %s: %s", file, config->line,
                            config->label, what);
            return fail(error, result, "node %s: %s", config->label, what);
        }
        client->n++;
    }
    return 0;
}

/* Everything that can fail. What has been made is found and freed by destroy(). */
static int build(redlock *client, const redlock_config *config, redlock_error *error)
{
    uint64_t seed;
    int result = rl_config_load(&client->config, config, warn, client, error);
    if (result)
        return result;
    if (rl_entropy_bytes(&seed, sizeof(seed)) != 0)
        return fail(error, REDLOCK_ERANDOM, "the system has no random bytes");
    rl_prng_seed(&client->prng, seed);
    if (rl_clock_boot_id(client->boot_id) != 0)
        return fail(error, REDLOCK_ESYSTEM, "this system tells no boot id: is /proc mounted?");
    if (hash_scripts(client) != 0)
        return fail(error, REDLOCK_ESYSTEM, "OpenSSL has no SHA-1");
    if (rl_timers_reserve(&client->timers)) /* the first calls need no memory for theirs */
        return fail(error, REDLOCK_ENOMEM, "out of memory");
    rl_timers_unreserve(&client->timers);
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
    /* Error checking, so that a call from within a callback is told instead of stuck. */
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(mutex, &attr);
    pthread_mutexattr_destroy(&attr);
}

/* In a child the parent's calls are still in progress: their callers are not here. */
static void forget_ops(redlock *client)
{
    struct rl_op *next;
    for (struct rl_op *op = client->ops; op; op = next) {
        next = op->next;
        if (op->async)
            free(op);
    }
}

/* `in_child`: after a fork, where nothing may be said to anybody. */
static void destroy(redlock *client, bool in_child)
{
    for (unsigned i = 0; i < client->n; i++) {
        if (in_child)
            rl_node_done_in_child(&client->nodes[i]);
        else
            rl_node_done(&client->nodes[i]);
    }
    rl_subs_done(client, in_child);
    free(client->nodes);
    forget_ops(client);
    rl_claims_free(client);
    rl_lines_free(client);
    rl_timers_free(&client->timers);
    while (client->all_locks) {
        struct redlock_lock *lock = client->all_locks;
        client->all_locks = lock->next_all;
        free(lock);
    }
    if (client->epoll_fd >= 0)
        close(client->epoll_fd);
    if (client->wake_fd >= 0)
        close(client->wake_fd);
    rl_config_free(&client->config);
    rl_wipe(client->random, sizeof(client->random));
    rl_drive_done(client);
    rl_born_done(&client->born);
    while (client->all_sleepers) {
        struct rl_sleeper *sleeper = client->all_sleepers;
        client->all_sleepers = sleeper->next_all;
        if (!in_child)
            pthread_cond_destroy(&sleeper->cond);
        free(sleeper);
    }
    if (!in_child) {
        pthread_cond_destroy(&client->idle);
        pthread_cond_destroy(&client->notices.called);
        pthread_mutex_destroy(&client->mutex);
    }
    free(client);
}

static redlock *new_client(const redlock_config *config)
{
    redlock *client = calloc(1, sizeof(*client));
    if (!client)
        return NULL;
    rl_born_here(&client->born);
    client->epoll_fd = client->wake_fd = -1;
    client->drive.kick_fd = client->drive.outer_fd = -1;
    client->drive.told_ns = INT64_MAX;
    client->sweep_ns = INT64_MAX;
    client->log = config->log;
    client->log_context = config->log_context;
    client->log_level = config->log_level;
    client->stats.size = sizeof(client->stats);
    init_mutex(&client->mutex);
    pthread_cond_init(&client->idle, NULL);
    pthread_cond_init(&client->notices.called, NULL);
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
        return fail(error, REDLOCK_EINVAL, "there is no place for the client: ret_client is NULL");
    redlock *client = new_client(&config);
    if (!client)
        return fail(error, REDLOCK_ENOMEM, "out of memory");
    result = build(client, &config, error);
    if (result) {
        destroy(client, false);
        return result;
    }
    client->opened_ns = client->turned_ns = rl_clock_now_ns();
    rl_client_enter(client, &cancel_state);
    rl_loop_tick(client, client->opened_ns);
    if (client->config.background == REDLOCK_BACKGROUND_ALWAYS)
        result = rl_drive_need(client);
    rl_client_leave(client, cancel_state);
    if (result) {
        redlock_close(client);
        return fail(error, result, "no background thread to be had");
    }
    *ret_client = client;
    return REDLOCK_OK;
}

int redlock_open_config(const redlock_config *config, redlock_error *error,
                        redlock **ret_client)
{
    redlock_error whole = REDLOCK_ERROR_INIT;
    int result = open_client(config, &whole, ret_client);
    if (result == REDLOCK_OK)
        whole = (redlock_error)REDLOCK_ERROR_INIT; /* of a warning nothing is left */
    whole.code = result;
    if (error) {
        /* As much as the caller's version of the struct has room for. */
        size_t size = error->size < sizeof(whole) ? error->size : sizeof(whole);
        whole.size = error->size;
        memcpy(error, &whole, size);
    }
    return result;
}

int redlock_open(const char *file, redlock_error *error, redlock **ret_client)
{
    redlock_config config = REDLOCK_CONFIG_INIT;
    config.file = file ? file : "";
    return redlock_open_config(&config, error, ret_client);
}

/* ---- the rest of a client's life ------------------------------------------------------ */

void redlock_cancel(redlock *client)
{
    const uint64_t one = 1;
    int saved = errno;
    if (client) {
        atomic_store(&client->canceled, true);
        /* A full counter is as good: the descriptor is readable either way. */
        ssize_t ignored = write(client->wake_fd, &one, sizeof(one));
        (void)ignored;
    }
    errno = saved;
}

int redlock_get_stats(redlock *client, redlock_stats *ret_stats)
{
    int cancel_state;
    if (!client || !ret_stats || ret_stats->size != sizeof(*ret_stats))
        return REDLOCK_EINVAL;
    int result = rl_client_enter(client, &cancel_state);
    if (result)
        return result;
    size_t size = ret_stats->size;
    *ret_stats = client->stats;
    ret_stats->size = size;
    ret_stats->waiting = client->lines.waiting;
    ret_stats->pending_releases = client->ending;
    ret_stats->held = 0;
    for (const struct redlock_lock *lock = client->all_locks; lock; lock = lock->next_all)
        ret_stats->held += lock->claim != NULL;
    ret_stats->reconnects = 0;
    for (unsigned i = 0; i < client->n; i++) {
        uint64_t connects = client->nodes[i].connects;
        ret_stats->reconnects += connects > 0 ? connects - 1 : 0;
    }
    rl_client_leave(client, cancel_state);
    return REDLOCK_OK;
}

/* ---- closing -------------------------------------------------------------------------- */

/* Give up everything that a handle still holds. */
static void release_all(redlock *client, int64_t now_ns)
{
    for (struct redlock_lock *lock = client->all_locks; lock; lock = lock->next_all) {
        struct rl_claim *claim = lock->claim;
        if (!claim)
            continue;
        atomic_store(&lock->deadline_ns, 0);
        lock->claim = NULL;
        claim->lock = NULL;
        if (claim->hold.phase == RL_HOLD_HELD)
            rl_claim_release(claim, now_ns, 0);
    }
}

/* End what is in progress: the callers return, the callbacks are told, and what these begin
 * ends likewise. */
static void end_calls(redlock *client)
{
    const uint64_t one = 1;
    client->closing = true;
    atomic_store(&client->canceled, true);
    rl_drive_stop(client);
    while (client->ops || client->notices.first || client->callers > 0) {
        int64_t now_ns = rl_clock_now_ns();
        for (struct rl_op *op = client->ops; op; op = op->next) {
            if (!op->done)
                rl_op_abort(op, now_ns);
        }
        rl_notices_tell(client);
        rl_loop_wake(client);
        ssize_t ignored = write(client->wake_fd, &one, sizeof(one)); /* for who leads */
        (void)ignored;
        if (client->callers > 0)
            pthread_cond_wait(&client->idle, &client->mutex);
    }
}

void redlock_close(redlock *client)
{
    int cancel_state;
    if (!client)
        return;
    if (rl_born_elsewhere(&client->born)) {
        destroy(client, true);
        return;
    }
    if (rl_client_enter(client, &cancel_state) != REDLOCK_OK)
        return; /* from within the log callback */
    if (rl_notice_inside(client)) {
        rl_client_log(client, REDLOCK_LOG_ERROR,
                      "redlock_close() inside a callback is not possible: nothing is closed");
        rl_client_leave(client, cancel_state);
        return;
    }
    end_calls(client);
    int64_t now_ns = rl_loop_catch_up(client);
    release_all(client, now_ns);
    rl_loop_flush(client, now_ns);
    rl_loop_linger(client, now_ns + client->config.linger_ms * RL_NS_PER_MS);
    pthread_mutex_unlock(&client->mutex);
    destroy(client, false);
    pthread_setcancelstate(cancel_state, NULL);
}
