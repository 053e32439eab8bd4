/* probe.c - our own connections, with which a fault's effect is observed. All are probed at
 * once, so that several silent masters take no longer than one. */
#include "config_auto.h"

#include "chaos/faults/fault.h"

#include "base/clock.h"
#include "config/config_load.h"
#include "base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SLICE_MS 10
#define ASK_LIMIT_MS 1000

static const char ping[] = "PING\r\n";
/* A well-formed TLS greeting that offers nothing: the answer is an alert. */
static const char hello[] = {0x16, 3, 1, 0, 4, 1, 0, 0, 0};

/* ---- one ------------------------------------------------------------------------------ */

static int connect_unix(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0 &&
        errno != EAGAIN) {
        close(fd);
        return -1;
    }
    return fd;
}

static int connect_tcp(const char *host, int port)
{
    char service[16];
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int fd = -1;
    snprintf(service, sizeof(service), "%d", port);
    if (getaddrinfo(host, service, &hints, &found) != 0)
        return -1;
    for (const struct addrinfo *at = found; at != NULL && fd < 0; at = at->ai_next) {
        fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd >= 0 && connect(fd, at->ai_addr, at->ai_addrlen) != 0 && errno != EINPROGRESS) {
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(found);
    return fd;
}

static void end_probe(struct chaos_probe *probe, enum chaos_answer answer)
{
    probe->answer = answer;
    if (answer == CHAOS_ANSWERS || answer == CHAOS_NO_ANSWER)
        return;
    close(probe->fd);
    probe->fd = -1;
}

/* The request that is sent. Returns the number of bytes. */
static size_t make_request(const struct chaos_probe *probe, char *request, size_t size)
{
    const char *auth[3] = {"AUTH", probe->at.user, probe->at.password};
    if (probe->tls) {
        memcpy(request, hello, sizeof(hello));
        return sizeof(hello);
    }
    if (probe->at.password == NULL) {
        memcpy(request, ping, sizeof(ping) - 1);
        return sizeof(ping) - 1;
    }
    if (probe->at.user == NULL)
        auth[1] = probe->at.password;
    return server_encode(request, size, probe->at.user == NULL ? 2 : 3, auth);
}

/* The socket is writable: send the request, unless connecting has failed. */
static void send_request(struct chaos_probe *probe, bool *ret_sent)
{
    char request[RL_PASSWORD_MAX + RL_USER_MAX + 64];
    size_t len = make_request(probe, request, sizeof(request));
    ssize_t sent = send(probe->fd, request, len, MSG_NOSIGNAL | MSG_DONTWAIT);
    *ret_sent = sent > 0;
    if (sent < 0 && errno != EAGAIN && errno != EINTR)
        end_probe(probe, errno == ECONNREFUSED ? CHAOS_REFUSES : CHAOS_RESETS);
}

/* The socket is readable: read the answer. False: not yet. */
static bool read_answer(struct chaos_probe *probe)
{
    char text[256];
    ssize_t got = recv(probe->fd, text, sizeof(text), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    end_probe(probe, got > 0                 ? CHAOS_ANSWERS
                     : got == 0              ? CHAOS_CLOSES
                     : errno == ECONNREFUSED ? CHAOS_REFUSES
                                             : CHAOS_RESETS);
    return true;
}

/* ---- many ----------------------------------------------------------------------------- */

static bool begin(struct chaos_probe *probe, bool *ret_sent)
{
    probe->answer = CHAOS_NO_ANSWER;
    probe->took_ns = 0;
    *ret_sent = false;
    if (probe->fd < 0)
        probe->fd = probe->at.path != NULL ? connect_unix(probe->at.path)
                                           : connect_tcp(probe->at.host, probe->at.port);
    if (probe->fd < 0)
        probe->answer = CHAOS_REFUSES;
    return probe->fd >= 0;
}

void chaos_probe_all(struct chaos_probe *probe, size_t count, int64_t limit_ms, bool keep)
{
    struct pollfd *ready = calloc(count > 0 ? count : 1, sizeof(*ready));
    bool *sent = calloc(count > 0 ? count : 1, sizeof(*sent));
    bool *fresh = calloc(count > 0 ? count : 1, sizeof(*fresh));
    int64_t begun_ns = rl_clock_now_ns();
    size_t left = 0;
    for (size_t i = 0; ready != NULL && sent != NULL && fresh != NULL && i < count; i++) {
        ready[i].fd = -1;
        fresh[i] = probe[i].fd < 0;
        if (begin(&probe[i], &sent[i])) {
            ready[i] = (struct pollfd){.fd = probe[i].fd, .events = POLLOUT};
            left++;
        }
    }
    while (left > 0 && rl_clock_now_ns() < begun_ns + limit_ms * RL_NS_PER_MS) {
        (void)poll(ready, (nfds_t)count, SLICE_MS);
        for (size_t i = 0; i < count; i++) {
            if (ready[i].fd < 0 || ready[i].revents == 0)
                continue;
            if (fresh[i] && keep && probe[i].tls)
                probe[i].answer = CHAOS_ANSWERS; /* an alert would be the end of it */
            else if (!sent[i])
                send_request(&probe[i], &sent[i]);
            if (sent[i] && probe[i].fd >= 0)
                (void)read_answer(&probe[i]);
            if (sent[i])
                ready[i].events = POLLIN;
            if (probe[i].answer == CHAOS_NO_ANSWER)
                continue;
            probe[i].took_ns = rl_clock_now_ns() - begun_ns;
            ready[i].fd = -1;
            left--;
        }
        (void)chaos_pause_ms(0);
    }
    free(ready);
    free(sent);
    free(fresh);
    if (!keep)
        chaos_probe_close(probe, count);
}

void chaos_probe_close(struct chaos_probe *probe, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (probe[i].fd >= 0)
            close(probe[i].fd);
        probe[i].fd = -1;
    }
}

struct chaos_probe chaos_probe_of(struct chaos_run *run, unsigned node)
{
    const struct rl_node_config *config = &run->place.config.nodes[node];
    struct chaos_probe probe = {.fd = -1, .tls = config->transport == RL_TLS};
    if (!chaos_master_at(run, node, &probe.at)) /* by TLS, or its password can't be read */
        probe.at = (struct server_at){
            .path = config->path, .host = config->host, .port = config->port};
    return probe;
}

/* ---- commands ------------------------------------------------------------------------- */

bool chaos_master_at(struct chaos_run *run, unsigned node, struct server_at *ret_at)
{
    static char secrets[REDLOCK_NODES_MAX][RL_PASSWORD_MAX + 1];
    char *secret = secrets[node];
    char why[256];
    const struct rl_node_config *config = &run->place.config.nodes[node];
    if (config->transport == RL_TLS)
        return false;
    int len = rl_node_password(config, secret, why, sizeof(why));
    *ret_at = (struct server_at){
        .path = config->path,
        .host = config->host,
        .port = config->port,
        .db = config->db,
        .user = config->user,
        .password = len > 0 ? secret : NULL,
    };
    return len >= 0;
}

char chaos_master_say(struct chaos_run *run, unsigned node, char *ret_text, size_t size,
                      const char *format, ...)
{
    char words[256];
    struct server_talk talk;
    struct server_at at;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof(words), format, arguments);
    va_end(arguments);
    ret_text[0] = '\0';
    if (!chaos_master_at(run, node, &at) || !server_talk_open_within(&talk, &at, ASK_LIMIT_MS))
        return 0;
    char type = server_talk_say(&talk, words, ret_text, size);
    server_talk_close(&talk);
    return type;
}
