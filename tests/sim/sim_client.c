/* sim_client.c - see sim_client.h: the library's calls, told to the story and the oracles. */
#include "config_auto.h"

#include "sim_client.h"

#include "sim_names.h"
#include "sim_sentinel.h"

#include <stdio.h>
#include <string.h>

enum { URL_MAX = 320 };
enum { MARK_OPEN = 0x331, MARK_TRY, MARK_EXTEND, MARK_RELEASE, MARK_CLOSE };

static void log_line(void *context, int level, const char *text)
{
    const struct sim_proc *proc = context;
    static const char *const levels[] = {
        [REDLOCK_LOG_ERROR] = "error",
        [REDLOCK_LOG_WARNING] = "warning",
        [REDLOCK_LOG_INFO] = "info",
        [REDLOCK_LOG_DEBUG] = "debug",
    };
    sim_look_at_blame(proc, text);
    sim_tell("%s logs (%s): %s", proc->name, levels[level], text);
}

/* A master, or the Sentinels of a service. */
static void write_url(const struct sim_client_options *options, unsigned master, const char *secret,
                      const char *db, char ret_url[URL_MAX])
{
    unsigned sentinels = sim_sentinels_of(master);
    size_t len = (size_t)snprintf(ret_url, URL_MAX, "redis%s://%s", sentinels ? "+sentinel" : "",
                                  secret);
    for (unsigned i = 0; i < (sentinels ? sentinels : 1); i++) {
        unsigned at = sentinels ? sim_sentinel_at(master, i) : master;
        len += (size_t)snprintf(ret_url + len, URL_MAX - len, "%s%s%u%s:%d", i > 0 ? "," : "",
                                options->by_name ? "n" : "10.0.0.", at + 1,
                                options->by_name ? ".sim" : "", SIM_PORT);
    }
    if (sentinels)
        len += (size_t)snprintf(ret_url + len, URL_MAX - len, "/s%u", master + 1);
    snprintf(ret_url + len, URL_MAX - len, "%s", db);
}

redlock *sim_open(const struct sim_client_options *options)
{
    redlock_node nodes[SIM_MASTERS_MAX];
    char urls[SIM_MASTERS_MAX][URL_MAX], db[16] = "";
    redlock_config config = REDLOCK_CONFIG_INIT;
    redlock_error error = REDLOCK_ERROR_INIT;
    redlock *client = NULL;
    char secret[96] = "";
    unsigned count = 0, masters = options->masters ? options->masters : sim_master_count();
    if (options->password)
        snprintf(secret, sizeof(secret), ":%s@", options->password);
    if (options->db)
        snprintf(db, sizeof(db), "/%u", options->db);
    for (unsigned i = 0; i < masters; i++) {
        if (options->members && !(options->members >> i & 1))
            continue;
        nodes[count] = (redlock_node)REDLOCK_NODE_INIT;
        write_url(options, i, secret, db, urls[i]);
        nodes[count++].url = urls[i];
    }
    config.nodes = nodes;
    config.node_count = count;
    config.max_ttl_ms = options->max_ttl_ms;
    if (options->ttl_ms)
        config.ttl_ms = options->ttl_ms;
    config.linger_ms = options->linger_ms;
    config.lock_delay_ms = options->lock_delay_ms;
    config.node_timeout_ms = options->node_timeout_ms;
    config.drift_factor = options->drift_factor;
    config.guard = options->guard;
    config.background = options->background;
    config.config_agreement = options->config_agreement;
    config.watch_wall_clock = options->watch_wall_clock;
    config.fencing = options->fencing;
    config.log = log_line;
    config.log_context = sim_proc();
    config.log_level = sim_tells() ? REDLOCK_LOG_DEBUG : REDLOCK_LOG_WARNING;
    int result = redlock_open_config(&config, &error, &client);
    sim_mark(MARK_OPEN, sim_proc()->index, (uint64_t)result);
    if (result)
        sim_tell("%s can't open a client: %s (%s)", sim_proc()->name, error.text,
                 redlock_err_name(result));
    else
        sim_tell("%s opens a client", sim_proc()->name);
    return result ? NULL : client;
}

void sim_tell_try(const char *name, const redlock_options *options)
{
    static const char *const kinds[] = {"for ", "for reentrant ", "for fair ", "to read ",
                                        "to write "};
    if (sim_tells())
        sim_tell("%s asks %s%s%s%s: ttl %lld ms, wait %lld ms%s%s%s%s", sim_proc()->name,
                 options ? kinds[options->kind] : kinds[0], name,
                 options && options->owner ? " as " : "",
                 options && options->owner ? options->owner : "",
                 options ? (long long)options->ttl_ms : 0,
                 options ? (long long)options->wait_ms : 0,
                 options && options->auto_renew ? ", renewed" : "",
                 options && options->release == REDLOCK_RELEASE_LAZY ? ", lazily" : "",
                 options && options->fenced ? ", fenced" : "",
                 options && options->at_least_ms ? ", for a least time" : "");
}

int sim_try(redlock *client, const char *name, const redlock_options *options,
            redlock_lock **ret_lock, struct sim_hold **ret_hold)
{
    sim_tell_try(name, options);
    int64_t began_ns = sim_now_ns();
    uint64_t call = sim_call_begins("redlock_try");
    int result = sim_names_try(client, name, options, ret_lock);
    sim_call_ends(call);
    sim_mark(MARK_TRY, sim_proc()->index, (uint64_t)result);
    if (result == REDLOCK_OK)
        *ret_hold = sim_took(*ret_lock, name, options, began_ns);
    else
        sim_tell("%s does not get %s: %s", sim_proc()->name, name, redlock_err_name(result));
    return result;
}

int sim_extend(redlock_lock *lock, struct sim_hold *hold, int64_t ttl_ms)
{
    int64_t began_ns = sim_own_ns(sim_proc());
    uint64_t call = sim_call_begins("redlock_extend");
    int result = redlock_extend(lock, ttl_ms, NULL);
    sim_call_ends(call);
    sim_mark(MARK_EXTEND, sim_proc()->index, (uint64_t)result);
    sim_extended(hold, ttl_ms, began_ns, result);
    int64_t left_ms = sim_believes(hold);
    sim_tell("%s extends by %lld ms: %s, %lld ms are left", sim_proc()->name, (long long)ttl_ms,
             redlock_err_name(result), (long long)left_ms);
    if (result == REDLOCK_EEXPIRED && left_ms > 0)
        sim_found(SIM_REVIVED,
                  "%s is told that a lock has expired, which is valid for %lld ms",
                  sim_proc()->name, (long long)left_ms);
    return result;
}

int sim_release(redlock_lock *lock, struct sim_hold *hold)
{
    sim_gives_up(hold);
    uint64_t call = sim_call_begins("redlock_release");
    int result = redlock_release(lock);
    sim_call_ends(call);
    sim_mark(MARK_RELEASE, sim_proc()->index, (uint64_t)result);
    sim_released(hold, result);
    sim_tell("%s has released: %s", sim_proc()->name, redlock_err_name(result));
    return result;
}

int sim_detach(redlock_lock *lock, struct sim_hold *hold, char *ret_text, size_t size)
{
    sim_detaches(hold);
    int result = redlock_detach(lock, ret_text, size);
    sim_detached(hold, result == REDLOCK_OK);
    sim_tell("%s detaches: %s", sim_proc()->name, redlock_err_name(result));
    return result;
}

int sim_attach(redlock *client, const char *text, struct sim_hold *hold,
               redlock_lock **ret_lock)
{
    int result = redlock_attach(client, text, ret_lock);
    sim_tell("%s attaches: %s", sim_proc()->name, redlock_err_name(result));
    if (result == REDLOCK_OK)
        sim_attached(hold, *ret_lock);
    return result;
}

void sim_close(redlock *client)
{
    if (!client)
        return;
    sim_gives_up_all(client);
    sim_tell("%s closes a client", sim_proc()->name);
    uint64_t call = sim_call_begins("redlock_close");
    redlock_close(client);
    sim_call_ends(call);
    sim_mark(MARK_CLOSE, sim_proc()->index, 0);
}
