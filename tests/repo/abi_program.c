/* abi_program.c - abi_test.sh builds this with headers of other versions: their structs lack
 * our last members, or have members that we do not know (NEWER). Every call that takes a struct
 * is made, on one master, and nothing is written behind a struct. argv[1]: the master's URL. */
#include <redlock.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNTOUCHED 0xa5

static int checks, failures;

static void expect(int is, const char *what, int line)
{
    checks++;
    if (is)
        return;
    failures++;
    printf("line %d: not so: %s\n", line, what);
}
#define EXPECT(what) expect((what) != 0, #what, __LINE__)

static void expect_untouched(const void *from, size_t len, int line)
{
    const unsigned char *bytes = from;
    int untouched = 1;
    for (size_t i = 0; i < len; i++)
        untouched = untouched && bytes[i] == UNTOUCHED;
    expect(untouched, "what is behind it is untouched", line);
}

/* A struct, and what would be overwritten. */
#define FENCED(type, name, ...)                                                                \
    struct {                                                                                   \
        type it;                                                                               \
        unsigned char behind[512];                                                             \
    } name = {.it = __VA_ARGS__};                                                              \
    memset(name.behind, UNTOUCHED, sizeof(name.behind))
#define EXPECT_FENCE(name) expect_untouched(name.behind, sizeof(name.behind), __LINE__)

/* Room for two masters, of which there is one. */
#define ROOM(type, name)                                                                       \
    type name[2];                                                                              \
    memset(name, UNTOUCHED, sizeof(name))
#define EXPECT_ONE(name) expect_untouched(&name[1], sizeof(name[1]), __LINE__)

static char logged[4096];

static void on_log(void *context, int level, const char *text)
{
    (void)context;
    (void)level;
    snprintf(logged, sizeof(logged), "%s", text);
}

static redlock *open_client(const char *url)
{
    FENCED(redlock_error, error, REDLOCK_ERROR_INIT);
    redlock_node nodes[1] = {REDLOCK_NODE_INIT};
    FENCED(redlock_config, config, REDLOCK_CONFIG_INIT);
    redlock *client = NULL;
    nodes[0].url = url;
    config.it.nodes = nodes;
    config.it.node_count = 1;
    config.it.guard = REDLOCK_OFF;
    config.it.log = on_log;
    EXPECT(redlock_open_config(&config.it, &error.it, &client) == 0);
    EXPECT(redlock_open("/nowhere/at.all", &error.it, &client) == REDLOCK_ECONFIG);
    EXPECT(error.it.code == REDLOCK_ECONFIG);
    EXPECT_FENCE(error);
    return client;
}

static void use_locks(redlock *client)
{
    ROOM(redlock_node_vote, votes);
    FENCED(redlock_report, report, REDLOCK_REPORT_INIT(votes, 2));
    FENCED(redlock_options, options, REDLOCK_OPTIONS_INIT);
    redlock_lock *lock = NULL, *other = NULL;
    char text[REDLOCK_HANDLE_MAX];
    options.it.ttl_ms = 5000;
    options.it.report = &report.it;
    EXPECT(redlock_try(client, "name", &options.it, &lock) == 0);
    EXPECT(report.it.node_count == 1 && report.it.granted == 1);
    EXPECT(votes[0].vote == REDLOCK_VOTE_GRANTED && votes[0].node != NULL);
    EXPECT(redlock_extend(lock, 10000, &report.it) == 0);
    EXPECT(redlock_try_n(client, "name", 4, &options.it, &other) == REDLOCK_EHELD);
    EXPECT(votes[0].vote == REDLOCK_VOTE_HELD);
    EXPECT(strcmp(votes[0].holder, redlock_token(lock)) == 0);
    EXPECT(redlock_detach(lock, text, sizeof(text)) == 0);
    EXPECT(redlock_attach(client, text, &lock) == 0);
    EXPECT(redlock_release(lock) == 0);
    EXPECT(redlock_force_release_n(client, "name", 4, REDLOCK_ON, &report.it) == 0);
    report.it.node = NULL; /* sums only */
    EXPECT(redlock_try_names(client, (const char *const[]){"a", "b"}, 2, &options.it, &lock) ==
           0);
    EXPECT(report.it.granted == 1 && report.it.node_count == 0);
    EXPECT(redlock_release(lock) == 0);
    EXPECT_ONE(votes);
    EXPECT_FENCE(report);
    EXPECT_FENCE(options);
}

/* One reader: the majority's, and that of the one master there is. */
static void inspect(redlock *client)
{
    ROOM(redlock_node_info, nodes);
    redlock_holder holders[3];
    memset(holders, UNTOUCHED, sizeof(holders));
    FENCED(redlock_lock_info, info, REDLOCK_LOCK_INFO_INIT(nodes, 2, holders, 3));
    FENCED(redlock_options, options, REDLOCK_OPTIONS_INIT);
    redlock_lock *readers[2] = {NULL, NULL};
    options.it.kind = REDLOCK_READ;
    for (int i = 0; i < 2; i++)
        EXPECT(redlock_try(client, "name", &options.it, &readers[i]) == 0);
    EXPECT(redlock_inspect_n(client, "name", 4, NULL, &info.it) == 0);
    EXPECT(info.it.state == REDLOCK_STATE_READ_WRITE && info.it.holders == 1);
    EXPECT(info.it.own_read == 2 && info.it.own_ms > 0 && info.it.held == 1);
    EXPECT(info.it.node_count == 1 && nodes[0].answered == 1);
    EXPECT(strcmp(nodes[0].node, "") != 0 && strcmp(nodes[0].data, "") == 0);
    EXPECT(info.it.holder_count == 2 && info.it.holder_left == 0);
    for (int i = 0; i < 2; i++) {
        EXPECT(holders[i].node == i - 1 && holders[i].count == 2);
        EXPECT(holders[i].mode == REDLOCK_MODE_READ);
        EXPECT(strlen(holders[i].owner) == holders[i].owner_len);
        EXPECT(redlock_release(readers[i]) == 0);
    }
    expect_untouched(&holders[2], sizeof(holders[2]), __LINE__);
    EXPECT_ONE(nodes);
    info.it.node = NULL; /* sums only */
    info.it.holder = NULL;
    EXPECT(redlock_inspect_n(client, "name", 4, NULL, &info.it) == 0);
    EXPECT(info.it.state == REDLOCK_STATE_FREE && info.it.node_count == 0);
    EXPECT_FENCE(info);
    EXPECT_FENCE(options);
}

struct done {
    int calls, result;
    redlock_lock *lock;
};

static void on_done(void *context, int result, redlock_lock *lock)
{
    struct done *done = context;
    done->calls++;
    done->result = result;
    done->lock = lock;
}

static redlock_lock *await(redlock *client, struct done *done, int code)
{
    struct pollfd ready = {.fd = redlock_fd(client), .events = POLLIN};
    EXPECT(code == 0);
    for (int i = 0; code == 0 && done->calls == 0 && i < 1000; i++) {
        poll(&ready, 1, 10);
        redlock_process(client);
    }
    EXPECT(done->calls == 1 && done->result == 0);
    done->calls = 0;
    return done->lock;
}

static void use_asynchronous(redlock *client)
{
    ROOM(redlock_node_vote, votes);
    FENCED(redlock_report, report, REDLOCK_REPORT_INIT(votes, 2));
    FENCED(redlock_options, options, REDLOCK_OPTIONS_INIT);
    struct done done = {0, 0, NULL};
    options.it.report = &report.it;
    EXPECT(redlock_fd(client) >= 0);
    redlock_lock *lock = await(
        client, &done, redlock_try_async_n(client, "name", 4, &options.it, on_done, &done, NULL));
    EXPECT(votes[0].vote == REDLOCK_VOTE_GRANTED);
    lock = await(client, &done, redlock_extend_async(lock, 0, &report.it, on_done, &done));
    EXPECT(redlock_validity_ms(lock) > 0);
    (void)await(client, &done, redlock_release_async(lock, on_done, &done));
    EXPECT_ONE(votes);
    EXPECT_FENCE(report);
    EXPECT_FENCE(options);
}

static void use_items(redlock *client)
{
    FENCED(redlock_options, options, REDLOCK_OPTIONS_INIT);
    struct {
        redlock_item it[2];
        unsigned char behind[512];
    } items = {
        .it = {REDLOCK_ITEM(client, "one", &options.it), REDLOCK_ITEM(client, "other", NULL)}};
    memset(items.behind, UNTOUCHED, sizeof(items.behind));
    EXPECT(redlock_try_multi(items.it, 2, 1000) == 0);
    EXPECT(items.it[0].lock != NULL && items.it[1].lock != NULL);
    EXPECT(strcmp(redlock_name_at(items.it[1].lock, 0, NULL), "other") == 0);
    EXPECT(redlock_validity_multi(items.it, 2) > 0);
    EXPECT(redlock_try_multi(items.it, 0, 0) == REDLOCK_EINVAL);
    EXPECT(redlock_release_multi(items.it, 2) == 0);
    EXPECT(items.it[1].lock == NULL);
    EXPECT_FENCE(items);
    EXPECT_FENCE(options);
}

static void look(redlock *client)
{
    ROOM(redlock_node_status, nodes);
    FENCED(redlock_status_report, status, REDLOCK_STATUS_INIT(nodes, 2));
    FENCED(redlock_stats, stats, REDLOCK_STATS_INIT);
    EXPECT(redlock_get_status(client, &status.it) == 0);
    EXPECT(status.it.ready == 1 && status.it.node_count == 1);
    EXPECT(nodes[0].state == REDLOCK_NODE_READY);
    EXPECT(redlock_probe(client, NULL, &status.it) == 0);
    EXPECT(status.it.proven == 1);
    EXPECT(nodes[0].release.result == REDLOCK_PROOF_OK);
    EXPECT(redlock_get_stats(client, &stats.it) == 0);
    EXPECT(stats.it.acquired >= 4);
    EXPECT_ONE(nodes);
    EXPECT_FENCE(status);
    EXPECT_FENCE(stats);
}

#ifdef NEWER
static int is_zero(const int64_t later[2])
{
    return later[0] == 0 && later[1] == 0;
}

/* What this library does not know is refused where it is set, and 0 where it is an output. */
static void use_what_is_unknown(redlock *client)
{
    ROOM(redlock_node_vote, votes);
    redlock_report report = REDLOCK_REPORT_INIT(votes, 2);
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_stats stats = REDLOCK_STATS_INIT;
    redlock_node_info nodes[1];
    redlock_holder holders[2];
    redlock_lock_info info = REDLOCK_LOCK_INFO_INIT(nodes, 1, holders, 2);
    redlock_lock *lock = NULL;
    redlock_item item = REDLOCK_ITEM(client, "name", &options);
    options.report = &report;
    report.later[0] = stats.later[1] = info.later[1] = 7;
    memset(nodes, UNTOUCHED, sizeof(nodes));
    memset(holders, UNTOUCHED, sizeof(holders));
    EXPECT(redlock_get_stats(client, &stats) == 0 && is_zero(stats.later));
    EXPECT(redlock_try(client, "name", &options, &lock) == 0);
    EXPECT(redlock_inspect_n(client, "name", 4, NULL, &info) == 0 && info.holder_count == 2);
    EXPECT(is_zero(info.later) && is_zero(nodes[0].later) && is_zero(holders[1].later));
    EXPECT(redlock_release(lock) == 0);
    EXPECT(is_zero(report.later) && is_zero(votes[0].later));
    logged[0] = '\0';
    options.later[1] = 1;
    EXPECT(redlock_try(client, "name", &options, &lock) == REDLOCK_EINVAL);
    EXPECT(strstr(logged, "redlock_options: settings are used that this libredlock") != NULL);
    EXPECT(redlock_try_multi(&item, 1, 0) == REDLOCK_EINVAL);
    options.later[1] = 0;
    logged[0] = '\0';
    item.later[0] = 1;
    EXPECT(redlock_try_multi(&item, 1, 0) == REDLOCK_EINVAL);
    EXPECT(strstr(logged, "redlock_item: settings are used that this libredlock") != NULL);
}
#else
static void use_what_is_unknown(redlock *client)
{
    (void)client;
}
#endif

int main(int argc, char **argv)
{
    redlock *client = open_client(argc > 1 ? argv[1] : "redis://127.0.0.1");
    if (client) {
        use_locks(client);
        inspect(client);
        use_items(client);
        look(client);
        use_what_is_unknown(client);
        use_asynchronous(client); /* last: from here on we drive it */
    }
    redlock_close(client);
    printf("Checks: %d, Failures: %d, Errors: 0\n", checks, failures);
    return failures > 0;
}
