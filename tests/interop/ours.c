/* ours.c - the library as a client of tests/interop/suite.py, see docs/INTEROP.md: by its
 * public interface alone. A line is worked on by the thread that it names.
 */
#include "config_auto.h"

#include "ours.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#define NAME_MAX_LEN 32

struct worker {
    struct worker *next;
    char tag[NAME_MAX_LEN]; /* "@ann ", before each line and each answer; may be empty */
    FILE *lines;            /* written by who reads stdin, read by the thread */
    int lines_fd;
    pthread_t thread;
    struct ours_actor actor;
};

static int split(char *line, char **ret_words)
{
    int count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(line, " \n", &rest); word && count < OURS_WORDS;
         word = strtok_r(NULL, " \n", &rest))
        ret_words[count++] = word;
    return count;
}

/* hello 1 ttl_ms N nodes URL... `marked_ms` of 0: no guard, for its masters are as young as the
 * suite. Else they have markers, and that is the longest lease. */
static int hello(int count, char **words, int64_t marked_ms, redlock **ret_client)
{
    redlock_node nodes[OURS_WORDS];
    redlock_config config = REDLOCK_CONFIG_INIT;
    redlock_error error = REDLOCK_ERROR_INIT;
    for (int i = 5; i < count; i++) {
        redlock_node *node = &nodes[config.node_count++];
        *node = (redlock_node)REDLOCK_NODE_INIT;
        node->url = words[i];
    }
    config.nodes = nodes;
    config.ttl_ms = strtoll(words[3], NULL, 10);
    config.guard = marked_ms > 0 ? REDLOCK_GUARD_MARKER : REDLOCK_OFF;
    config.max_ttl_ms = marked_ms;
    int code = redlock_open_config(&config, &error, ret_client);
    if (code == 0)
        printf("ok libredlock %s\n", redlock_version());
    else
        printf("no %s\n", error.text);
    return code;
}

static void *work(void *context)
{
    struct worker *worker = context;
    char line[OURS_LINE], answer[OURS_ANSWER];
    while (fgets(line, sizeof(line), worker->lines)) {
        char *words[OURS_WORDS] = {NULL};
        int count = split(line, words);
        if (count == 0)
            continue;
        ours_answer(&worker->actor, count, words, answer);
        printf("%s%s\n", worker->tag, answer);
    }
    return NULL;
}

static struct worker *start(redlock *client, const char *tag)
{
    struct worker *worker = calloc(1, sizeof(*worker));
    int ends[2];
    if (!worker || pipe(ends) != 0)
        exit(EX_OSERR);
    (void)snprintf(worker->tag, sizeof(worker->tag), "%s", tag);
    worker->actor.client = client;
    worker->lines = fdopen(ends[0], "r");
    worker->lines_fd = ends[1];
    if (!worker->lines || pthread_create(&worker->thread, NULL, work, worker) != 0)
        exit(EX_OSERR);
    return worker;
}

/* Give the line to its thread, which is started with its first one. */
static void hand_over(struct worker **workers, redlock *client, const char *line)
{
    char tag[NAME_MAX_LEN] = "";
    if (line[0] == '@') {
        size_t len = strcspn(line, " ") + 1;
        (void)snprintf(tag, sizeof(tag), "%.*s", (int)len, line);
        line += len;
    }
    struct worker *worker = *workers;
    while (worker && strcmp(worker->tag, tag) != 0)
        worker = worker->next;
    if (!worker) {
        worker = start(client, tag);
        worker->next = *workers;
        *workers = worker;
    }
    if (write(worker->lines_fd, line, strlen(line)) != (ssize_t)strlen(line))
        exit(EX_OSERR);
}

/* What waits is canceled; what is held is released by redlock_close(). */
static void end(struct worker *workers, redlock *client)
{
    redlock_shutdown(client);
    for (struct worker *worker = workers; worker; worker = worker->next) {
        (void)close(worker->lines_fd);
        (void)pthread_join(worker->thread, NULL);
    }
    redlock_close(client);
    while (workers) {
        struct worker *worker = workers;
        workers = worker->next;
        (void)fclose(worker->lines);
        free(worker);
    }
}

/* ours [MAX_TTL_MS]: with `guard marker` */
int main(int argc, char **argv)
{
    char line[OURS_LINE], *words[OURS_WORDS] = {NULL};
    struct worker *workers = NULL;
    redlock *client = NULL;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!fgets(line, sizeof(line), stdin))
        return EX_USAGE;
    int count = split(line, words);
    if (count < 6 || strcmp(words[0], "hello") != 0)
        return EX_USAGE;
    if (hello(count, words, argc > 1 ? strtoll(argv[1], NULL, 10) : 0, &client) != 0)
        return EX_CONFIG;
    while (fgets(line, sizeof(line), stdin) && strcmp(line, "quit\n") != 0)
        hand_over(&workers, client, line);
    end(workers, client);
    return EX_OK;
}
