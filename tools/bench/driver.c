/* driver.c - the library as a driver, and the loop in which drivers are timed. */
#include "config_auto.h"

#include "bench/bench.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#define READY_LIMIT_MS 10000

redlock_config bench_config(const struct bench *bench)
{
    redlock_config config = REDLOCK_CONFIG_INIT;
    config.file = bench->nodes_file;
    config.guard = bench->masters != NULL ? REDLOCK_OFF : REDLOCK_DEFAULT;
    return config;
}

redlock_config bench_config_of_one(const struct bench *bench, const struct server_at *at,
                                   redlock_node *node, char url[BENCH_URL_MAX])
{
    redlock_config config = bench_config(bench);
    if (at->path != NULL)
        snprintf(url, BENCH_URL_MAX, "unix://%s?db=%d", at->path, at->db);
    else
        snprintf(url, BENCH_URL_MAX, "redis://%s:%d/%d", at->host, at->port, at->db);
    node->url = url;
    config.file = NULL;
    config.nodes = node;
    config.node_count = 1;
    return config;
}

bool bench_thread_start(pthread_t *ret_thread, void *(*run)(void *), void *context)
{
    int code = pthread_create(ret_thread, NULL, run, context);
    if (code != 0)
        fprintf(stderr, "redlock-bench: cannot start a thread: %s\n", strerror(code));
    return code == 0;
}

static bool library_acquire(void *context)
{
    struct bench_library *library = context;
    library->code =
        redlock_try(library->client, library->name, &library->options, &library->lock);
    return library->code == 0;
}

static bool library_release(void *context)
{
    struct bench_library *library = context;
    redlock_lock *lock = library->lock;
    library->lock = NULL;
    return redlock_release(lock) == 0;
}

struct bench_driver bench_library_driver(struct bench_library *library)
{
    return (struct bench_driver){.name = "library",
                                 .context = library,
                                 .acquire = library_acquire,
                                 .release = library_release};
}

/* Why a master does not vote, if one does not. */
static void print_unready(const redlock_status_report *status)
{
    for (unsigned i = 0; i < status->node_count; i++) {
        const redlock_node_status *node = &status->node[i];
        if (node->state != REDLOCK_NODE_READY)
            fprintf(stderr, "redlock-bench: %s does not vote: %s\n", node->node, node->text);
    }
}

bool bench_library_await(struct bench_library *library)
{
    static redlock_node_status nodes[REDLOCK_NODES_MAX]; /* too big for a stack */
    redlock_status_report status = REDLOCK_STATUS_INIT(nodes, REDLOCK_NODES_MAX);
    int64_t limit_ns = bench_now_ns() + READY_LIMIT_MS * INT64_C(1000000);
    for (;;) {
        int code = redlock_get_status(library->client, &status);
        if (code == 0 && status.ready == status.nodes)
            return true;
        if (bench_now_ns() > limit_ns || (code != 0 && code != REDLOCK_ENOQUORUM)) {
            fprintf(stderr, "redlock-bench: the masters are not ready: %s\n",
                    redlock_strerror(code));
            print_unready(&status);
            return false;
        }
        /* A look marks no new master: a client that wants votes does. */
        if (library_acquire(library))
            library_release(library);
        bench_sleep_ms(5);
    }
}

static void close_library(void *what)
{
    struct bench_library *library = what;
    assert(library->lock == NULL);
    redlock_close(library->client);
}

int bench_library_open(const redlock_config *config, const char *name, int64_t ttl_ms,
                       struct bench_library *ret_library)
{
    redlock_error error = REDLOCK_ERROR_INIT;
    struct bench_library *library = ret_library;
    *library = (struct bench_library){.name = name, .options = REDLOCK_OPTIONS_INIT};
    library->options.ttl_ms = ttl_ms;
    int code = redlock_open_config(config, &error, &library->client);
    if (code != 0) {
        fprintf(stderr, "redlock-bench: %s\n", error.text);
        return code == REDLOCK_ECONFIG ? EX_CONFIG : EX_UNAVAILABLE;
    }
    bench_at_end(close_library, library);
    return bench_library_await(library) ? 0 : EX_UNAVAILABLE;
}

static void close_talk(void *what)
{
    server_talk_close(what);
}

bool bench_talk_open(struct server_talk *talk, const struct bench *bench, unsigned node)
{
    bool open = server_talk_open(talk, &bench->node[node]);
    if (open)
        bench_at_end(close_talk, talk);
    else
        fprintf(stderr, "redlock-bench: master %u can't be reached by a plain socket\n",
                node + 1);
    return open;
}

int bench_library_token(struct bench_library *library, char *ret_token, size_t size)
{
    if (!library_acquire(library)) {
        fprintf(stderr, "redlock-bench: cannot take a lock: %s\n",
                redlock_strerror(library->code));
        return EX_UNAVAILABLE;
    }
    snprintf(ret_token, size, "%s", redlock_token(library->lock));
    library_release(library);
    return 0;
}

struct bench_slice bench_measure(const struct bench_driver *driver, int64_t duration_ms,
                                 uint64_t pairs_min, struct bench_samples *samples)
{
    struct bench_slice slice = {0};
    struct bench_meter meter = bench_meter_start();
    int64_t end_ns = meter.start_ns + duration_ms * 1000000;
    int64_t now_ns = meter.start_ns;
    while (now_ns < end_ns || slice.pairs + slice.failures < pairs_min) {
        if (driver->acquire(driver->context)) {
            if (samples != NULL)
                bench_samples_add(samples, bench_now_ns() - now_ns);
            if (driver->release(driver->context))
                slice.pairs++;
            else
                slice.failures++;
        } else {
            slice.failures++;
        }
        now_ns = bench_now_ns();
    }
    bench_meter_stop(&meter, now_ns, &slice);
    return slice;
}
