/* locksmith.c - a service whose jobs run under a lock, and for as long as the lock lasts.
 *
 *   locksmith serve NODES SOCKET DIR    answer requests on a unix socket, a thread each
 *   locksmith ask SOCKET REQUEST        send one, print the answer
 *
 * A request is a line: JOB SLICES SLICE_MS WAIT_MS. The job adds one to the number in the
 * file DIR/JOB so many times, with so much work before each; the service waits so long for
 * others that are at the same job. Any number of services may be asked for the same job at
 * once: the plain file is theirs to change one after the other. The answer is a line:
 *
 *   done JOB slices=3 extended=1            all of it
 *   held JOB holder=WHO ttl_ms=8211         another is at it: nothing was done
 *   no-quorum JOB 2 of 5 masters: ...       too few masters vote: nothing was done
 *   late JOB slices=1 extended=0            the work of a slice outlasted the lease
 *   lost JOB slices=1 extended=0            the lock was lost, or could not be extended
 *   stopped JOB slices=1 extended=0         the service is being shut down
 *
 * and error, busy or bad with a text. Slices that are reported were done under the lock, the
 * others were not begun or left without effect. A slice must fit into the lease; work that
 * does not needs another thread that extends meanwhile.
 */
#define _GNU_SOURCE 1 /* accept4, ppoll */

#include <redlock.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS_MAX 256
#define LINE_SIZE 4096
#define SILENCE_S 60  /* a client that says nothing for so long is hung up on */
#define EFFECT_MS 200 /* what writing a number may take at the very most */

struct job {
    char name[64];
    int64_t slices, slice_ms, wait_ms;
};

struct progress {
    int64_t slices;
    int64_t extended;
};

static struct {
    redlock *client;
    int dir;
    atomic_bool stopping;
    pthread_mutex_t mutex; /* guards the rest */
    pthread_cond_t ended;
    int connections[CONNECTIONS_MAX]; /* descriptors; -1: free */
    unsigned count;
} service = {.mutex = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};

/* ---- the work ------------------------------------------------------------------------- */

static bool read_number(int fd, int64_t *ret_number)
{
    char text[32] = "";
    if (pread(fd, text, sizeof(text) - 1, 0) < 0)
        return false;
    *ret_number = strtoll(text, NULL, 10);
    return true;
}

static bool write_number(int fd, int64_t number)
{
    char text[32];
    int len = snprintf(text, sizeof(text), "%" PRId64 "\n", number);
    return pwrite(fd, text, (size_t)len, 0) == len;
}

static void pause_ms(int64_t ms)
{
    struct timespec left = {.tv_sec = (time_t)(ms / 1000),
                            .tv_nsec = (long)(ms % 1000) * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

/* The lock is ours. Returns the answer's first word. */
static const char *work(const struct job *job, int fd, redlock_lock *lock,
                        struct progress *progress)
{
    int64_t lease_ms = redlock_validity_ms(lock);
    int extension = REDLOCK_OK;
    while (progress->slices < job->slices) {
        int64_t number;
        if (atomic_load(&service.stopping))
            return "stopped";
        if (redlock_validity_ms(lock) < lease_ms / 2) {
            /* ENOQUORUM: it is ours still for what is left, and the next slice tries again. */
            extension = redlock_extend(lock, 0, NULL);
            if (extension == REDLOCK_EEXPIRED)
                return "lost";
            progress->extended += extension == REDLOCK_OK;
        }
        if (!read_number(fd, &number))
            return "error";
        pause_ms(job->slice_ms); /* here the real work would be */
        /* Right before the effect, and with the time that it takes: earlier says nothing. */
        if (redlock_validity_ms(lock) < EFFECT_MS)
            return extension == REDLOCK_OK ? "late" : "lost";
        if (!write_number(fd, number + 1))
            return "error";
        progress->slices++;
    }
    return "done";
}

/* ---- answers -------------------------------------------------------------------------- */

static void say_held(const struct job *job, const redlock_report *report, char *answer)
{
    for (unsigned i = 0; i < report->node_count; i++) {
        const redlock_node_vote *vote = &report->node[i];
        char holder[sizeof(vote->holder)];
        if (vote->vote != REDLOCK_VOTE_HELD)
            continue;
        /* What stands under the key may be anybody's bytes. */
        for (size_t k = 0; k <= vote->holder_len; k++) {
            char byte = vote->holder[k];
            holder[k] = byte > ' ' && byte <= '~' ? byte : '?';
        }
        holder[vote->holder_len] = '\0';
        snprintf(answer, LINE_SIZE, "held %s holder=%s ttl_ms=%" PRId64, job->name, holder,
                 vote->ttl_ms);
        return;
    }
    snprintf(answer, LINE_SIZE, "held %s holder=? ttl_ms=0", job->name);
}

static void say_no_quorum(const struct job *job, const redlock_report *report, char *answer)
{
    int len = snprintf(answer, LINE_SIZE, "no-quorum %s %u of %u masters:", job->name,
                       report->nodes - report->failed, report->nodes);
    for (unsigned i = 0; i < report->node_count && len < LINE_SIZE; i++) {
        const redlock_node_vote *vote = &report->node[i];
        if (vote->vote == REDLOCK_VOTE_FAILED)
            len += snprintf(answer + len, (size_t)(LINE_SIZE - len), " %s: %s;", vote->node,
                            vote->text);
    }
}

/* The lock could not be had: nothing was done. */
static void say_why_not(const struct job *job, int code, const redlock_report *report,
                        char *answer)
{
    if (code == REDLOCK_EHELD)
        say_held(job, report, answer);
    else if (code == REDLOCK_ENOQUORUM)
        say_no_quorum(job, report, answer);
    else if (code == REDLOCK_ECANCELED)
        snprintf(answer, LINE_SIZE, "stopped %s slices=0 extended=0", job->name);
    else
        snprintf(answer, LINE_SIZE, "error %s slices=0 extended=0: %s", job->name,
                 redlock_strerror(code));
}

static void do_job(const struct job *job, char *answer)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_node_vote votes[REDLOCK_NODES_MAX];
    redlock_report report = REDLOCK_REPORT_INIT(votes, REDLOCK_NODES_MAX);
    struct progress progress = {0};
    redlock_lock *lock;
    char name[sizeof(job->name) + 4];
    int fd = openat(service.dir, job->name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        snprintf(answer, LINE_SIZE, "error %s slices=0 extended=0: %s", job->name,
                 strerror(errno));
        return;
    }
    snprintf(name, sizeof(name), "job:%s", job->name);
    options.wait_ms = job->wait_ms;
    options.report = &report;
    int code = redlock_try(service.client, name, &options, &lock);
    if (code == REDLOCK_OK) {
        const char *word = work(job, fd, lock, &progress);
        snprintf(answer, LINE_SIZE, "%s %s slices=%" PRId64 " extended=%" PRId64, word,
                 job->name, progress.slices, progress.extended);
        /* Whatever it says: each slice was looked after when it was written. */
        redlock_release(lock);
    } else {
        say_why_not(job, code, &report, answer);
    }
    close(fd);
}

/* ---- requests ------------------------------------------------------------------------- */

static bool take_number(char **at, int64_t max, int64_t *ret_number)
{
    char *end;
    errno = 0;
    *ret_number = strtoll(*at, &end, 10);
    bool good = end > *at && errno == 0 && *ret_number >= 0 && *ret_number <= max;
    *at = end;
    return good;
}

/* The name becomes a file's: letters, digits and dashes only. */
static bool parse(char *line, struct job *ret_job)
{
    size_t len = strspn(line, "abcdefghijklmnopqrstuvwxyz0123456789-");
    char *at = line + len;
    if (len == 0 || len >= sizeof(ret_job->name) || *at != ' ')
        return false;
    memcpy(ret_job->name, line, len);
    ret_job->name[len] = '\0';
    return take_number(&at, 100000, &ret_job->slices) &&
           take_number(&at, 60000, &ret_job->slice_ms) &&
           take_number(&at, 3600000, &ret_job->wait_ms) && *at == '\0';
}

static bool receive_line(FILE *in, char line[LINE_SIZE])
{
    if (!fgets(line, LINE_SIZE, in))
        return false;
    char *end = strchr(line, '\n');
    if (end)
        *end = '\0';
    return end != NULL; /* cut short, or without an end */
}

static void *serve_connection(void *argument)
{
    int *place = argument;
    int fd = *place;
    char line[LINE_SIZE], answer[LINE_SIZE];
    struct job job;
    FILE *in = fdopen(fd, "r");
    while (in && receive_line(in, line)) {
        if (parse(line, &job))
            do_job(&job, answer);
        else
            snprintf(answer, LINE_SIZE, "bad request: JOB SLICES SLICE_MS WAIT_MS");
        if (dprintf(fd, "%s\n", answer) < 0)
            break;
    }
    pthread_mutex_lock(&service.mutex);
    *place = -1;
    service.count--;
    pthread_cond_signal(&service.ended);
    if (in)
        fclose(in);
    else
        close(fd);
    pthread_mutex_unlock(&service.mutex);
    return NULL;
}

/* ---- connections ---------------------------------------------------------------------- */

/* The mutex is held. */
static bool start_thread(int fd)
{
    pthread_t thread;
    int *place = service.connections;
    while (place < service.connections + CONNECTIONS_MAX && *place >= 0)
        place++;
    if (place == service.connections + CONNECTIONS_MAX)
        return false;
    *place = fd;
    if (pthread_create(&thread, NULL, serve_connection, place) != 0) {
        *place = -1;
        return false;
    }
    pthread_detach(thread);
    service.count++;
    return true;
}

static void accept_one(int listener)
{
    struct timeval silence = {.tv_sec = SILENCE_S};
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof(silence));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &silence, sizeof(silence));
    pthread_mutex_lock(&service.mutex);
    bool started = start_thread(fd);
    pthread_mutex_unlock(&service.mutex);
    if (!started) {
        dprintf(fd, "busy\n");
        close(fd);
    }
}

/* No more requests; the jobs that are under way end at their next slice and are answered. */
static void finish(void)
{
    pthread_mutex_lock(&service.mutex);
    for (unsigned i = 0; i < CONNECTIONS_MAX; i++) {
        if (service.connections[i] >= 0)
            shutdown(service.connections[i], SHUT_RD);
    }
    while (service.count > 0)
        pthread_cond_wait(&service.ended, &service.mutex);
    pthread_mutex_unlock(&service.mutex);
}

/* ---- the process ---------------------------------------------------------------------- */

static void on_signal(int number)
{
    (void)number;
    atomic_store(&service.stopping, true);
    redlock_shutdown(service.client); /* who waits for a lock stops waiting */
}

/* TERM and INT are blocked, here and in every thread, except while we wait in ppoll(). */
static void hold_signals(sigset_t *ret_before)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t ours;
    signal(SIGPIPE, SIG_IGN); /* for our own writes: the library raises none */
    sigemptyset(&ours);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ours, ret_before);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
}

static int name_socket(const char *path, struct sockaddr_un *ret_address)
{
    *ret_address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(ret_address->sun_path))
        return -1;
    memcpy(ret_address->sun_path, path, strlen(path) + 1);
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static int listen_on(const char *path)
{
    struct sockaddr_un address;
    int fd = name_socket(path, &address);
    unlink(path); /* an earlier one's that was killed */
    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(fd, 128) != 0) {
        fprintf(stderr, "locksmith: %s can't be listened on\n", path);
        return -1;
    }
    return fd;
}

static int serve(const char *nodes, const char *path, const char *dir)
{
    redlock_error error = REDLOCK_ERROR_INIT;
    sigset_t before;
    memset(service.connections, 0xff, sizeof(service.connections)); /* all -1 */
    service.dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (service.dir < 0) {
        fprintf(stderr, "locksmith: %s: %s\n", dir, strerror(errno));
        return 1;
    }
    if (redlock_open(nodes, &error, &service.client) != REDLOCK_OK) {
        fprintf(stderr, "locksmith: %s\n", error.text);
        return 1;
    }
    hold_signals(&before);
    struct pollfd listener = {.fd = listen_on(path), .events = POLLIN};
    while (listener.fd >= 0 && !atomic_load(&service.stopping)) {
        if (ppoll(&listener, 1, NULL, &before) > 0)
            accept_one(listener.fd);
    }
    finish();
    redlock_close(service.client); /* waits a little for releases that are under way */
    close(service.dir);
    if (listener.fd < 0)
        return 1;
    close(listener.fd);
    unlink(path);
    return 0;
}

static int ask(const char *path, const char *request)
{
    char line[LINE_SIZE];
    struct sockaddr_un address;
    int fd = name_socket(path, &address);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        fprintf(stderr, "locksmith: %s: nobody answers there\n", path);
        return 2;
    }
    FILE *in = fdopen(fd, "r");
    if (!in || dprintf(fd, "%s\n", request) < 0 || !receive_line(in, line)) {
        fprintf(stderr, "locksmith: no answer\n");
        return 2;
    }
    printf("%s\n", line);
    fclose(in);
    return strncmp(line, "done ", 5) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "serve") == 0)
        return serve(argv[2], argv[3], argv[4]);
    if (argc == 4 && strcmp(argv[1], "ask") == 0)
        return ask(argv[2], argv[3]);
    fprintf(stderr, "usage: locksmith serve NODES SOCKET DIR | locksmith ask SOCKET "
                    "'JOB SLICES SLICE_MS WAIT_MS'\n");
    return 64;
}
