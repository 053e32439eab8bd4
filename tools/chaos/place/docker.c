/* docker.c - runs "docker", and "docker compose" or "docker-compose", and reads their output
 * about containers. */
#include "config_auto.h"

#include "chaos/faults/command.h"
#include "chaos/place/compose.h"
#include "cluster/server_talk.h"

#include "base/text_escape.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 80   /* IDs of containers among them */
#define LIMIT_MS 60000 /* usually a second is enough */
#define OUT_MAX 65536

/* One container a line. A name has no space in it, and no '='. */
#define FORMAT                                                                                 \
    "{{.Id}} {{index .Config.Labels \"com.docker.compose.service\"}} "                         \
    "{{.State.Running}} {{.State.Paused}} "                                                    \
    "{{with index .NetworkSettings.Ports \"6379/tcp\"}}"                                       \
    "{{(index . 0).HostIp}}/{{(index . 0).HostPort}}{{else}}-{{end}}"                          \
    "{{range .Mounts}}{{if eq .Type \"volume\"}} v{{.Name}}{{end}}{{end}}"                     \
    "{{range $name, $net := .NetworkSettings.Networks}} n{{$name}}"                            \
    "{{range $net.Aliases}}={{.}}{{end}}{{end}}"

/* ---- telling ---------------------------------------------------------------------------- */

bool chaos_docker(const char *const *words, char *out, size_t out_size, char *why,
                  size_t why_size)
{
    const char *argv[WORDS_MAX + 2] = {"docker"};
    for (unsigned i = 0; words[i] != NULL; i++) {
        assert(i < WORDS_MAX);
        argv[i + 1] = words[i];
    }
    const struct chaos_command command = {argv, LIMIT_MS, false, out, out_size};
    return chaos_command_run(&command, why, why_size);
}

bool chaos_docker_compose(const struct chaos_compose *compose, const char *const *words,
                          int64_t limit_ms, bool may_stop, char *out, size_t out_size,
                          char *why, size_t why_size)
{
    const char *argv[12];
    unsigned count = 0;
    if (compose->plugin)
        argv[count++] = "docker";
    argv[count++] = compose->plugin ? "compose" : "docker-compose";
    if (compose->file != NULL) {
        argv[count++] = "-f";
        argv[count++] = compose->file;
    }
    for (unsigned i = 0; words[i] != NULL; i++) {
        assert(i < 6);
        argv[count++] = words[i];
    }
    argv[count] = NULL;
    const struct chaos_command command = {argv, limit_ms > 0 ? limit_ms : LIMIT_MS, may_stop,
                                          out, out_size};
    return chaos_command_run(&command, why, why_size);
}

bool chaos_docker_find(struct chaos_compose *compose, char *why, size_t why_size)
{
    static const char *const version[] = {"version", NULL};
    static const char *const info[] = {"info", "-f", "{{.ServerVersion}}", NULL};
    char unused[256], said[160];
    compose->plugin = true;
    if (!chaos_docker_compose(compose, version, 0, true, unused, sizeof(unused), said,
                              sizeof(said))) {
        compose->plugin = false;
        if (!chaos_docker_compose(compose, version, 0, true, unused, sizeof(unused), said,
                                  sizeof(said))) {
            snprintf(why, why_size,
                     "neither \"docker compose\" nor \"docker-compose\" works: %s", said);
            return false;
        }
    }
    if (chaos_docker(info, unused, sizeof(unused), said, sizeof(said)))
        return true;
    snprintf(why, why_size, "docker does not answer: %s", said);
    return false;
}

/* ---- looking ---------------------------------------------------------------------------- */

static void copy(char *to, size_t size, const char *from)
{
    rl_text_escape(to, size, from, strlen(from));
}

/* Add a name to those that are there, as far as there is room for all of it. */
static void append(char *to, size_t size, const char *word)
{
    size_t len = strlen(to);
    if (len + strlen(word) + 2 <= size)
        snprintf(to + len, size - len, "%s%s", len > 0 ? " " : "", word);
}

/* One line of FORMAT. False: it is something else. */
static bool read_line(char *line, struct chaos_container *ret)
{
    char *state = NULL, *word[5];
    *ret = (struct chaos_container){.id = ""};
    for (int i = 0; i < 5; i++)
        if ((word[i] = strtok_r(i == 0 ? line : NULL, " ", &state)) == NULL)
            return false;
    copy(ret->id, sizeof(ret->id), word[0]);
    copy(ret->service, sizeof(ret->service), word[1]);
    ret->running = strcmp(word[2], "true") == 0;
    ret->paused = strcmp(word[3], "true") == 0;
    char *slash = strchr(word[4], '/');
    if (slash != NULL) {
        *slash = '\0';
        bool any =
            strcmp(word[4], "0.0.0.0") == 0 || strcmp(word[4], "::") == 0 || word[4][0] == '\0';
        copy(ret->host, sizeof(ret->host), any ? "127.0.0.1" : word[4]);
        char *end;
        long port = strtol(slash + 1, &end, 10);
        if (*end != '\0' || port <= 0 || port > 65535)
            return false;
        ret->port = (int)port;
    }
    for (char *more; (more = strtok_r(NULL, " ", &state)) != NULL;) {
        if (more[0] == 'v')
            append(ret->volumes, sizeof(ret->volumes), more + 1);
        else if (more[0] == 'n')
            append(ret->networks, sizeof(ret->networks), more + 1);
    }
    return true;
}

static int by_service(const void *left, const void *right)
{
    const struct chaos_container *a = left, *b = right;
    return strverscmp(a->service, b->service);
}

bool chaos_docker_look(const struct chaos_compose *compose, const char *service,
                       struct chaos_container *ret_containers, unsigned max,
                       unsigned *ret_count, char *why, size_t why_size)
{
    const char *ps[] = {"ps", "-a", "-q", service, NULL};
    const char *inspect[WORDS_MAX + 1] = {"inspect", "-f", FORMAT};
    char *ids = calloc(1, OUT_MAX), *lines = calloc(1, OUT_MAX), *state = NULL;
    unsigned words = 3, count = 0;
    snprintf(why, why_size, "out of memory");
    bool fine = ids != NULL && lines != NULL &&
                chaos_docker_compose(compose, ps, 0, false, ids, OUT_MAX, why, why_size);
    if (fine) {
        char *id = strtok_r(ids, " \r\n", &state);
        for (; id != NULL && words < WORDS_MAX; id = strtok_r(NULL, " \r\n", &state))
            inspect[words++] = id;
        fine = words == 3 || chaos_docker(inspect, lines, OUT_MAX, why, why_size);
    }
    char *line = fine ? strtok_r(lines, "\r\n", &state) : NULL;
    for (; line != NULL && count < max; line = strtok_r(NULL, "\r\n", &state)) {
        if (!read_line(line, &ret_containers[count++])) {
            snprintf(why, why_size, "docker inspect said what is not understood");
            fine = false;
            break;
        }
    }
    if (fine)
        qsort(ret_containers, count, sizeof(*ret_containers), by_service);
    *ret_count = count;
    free(ids);
    free(lines);
    return fine;
}

bool chaos_docker_answers(const struct chaos_container *container, int limit_ms)
{
    const struct server_at at = {.host = container->host, .port = container->port};
    struct server_talk *talk = malloc(sizeof(*talk));
    char said[8];
    bool fine = talk != NULL && server_talk_open_within(talk, &at, limit_ms);
    if (fine) {
        fine = server_talk_say(talk, "PING", said, sizeof(said)) == '+';
        server_talk_close(talk);
    }
    free(talk);
    return fine;
}
