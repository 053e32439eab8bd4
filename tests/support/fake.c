/* fake.c - a fake master's door, and the test's side of it. See fake.h. */
#include "config_auto.h"

#include "fake.h"

#include "fake_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- the door --------------------------------------------------------------------------- */

/* Under the mutex. */
static void admit(struct fake *fake, int fd)
{
    for (int i = 0; i < FAKE_CONNECTIONS_MAX; i++) {
        struct fake_connection *connection = &fake->connections[i];
        if (connection->fd >= 0)
            continue;
        if (connection->joinable)
            pthread_join(connection->thread, NULL);
        *connection = (struct fake_connection){
            .fake = fake, .fd = fd, .number = (int)fake->accepted, .joinable = true};
        fake->accepted++;
        if (pthread_create(&connection->thread, NULL, fake_serve, connection) != 0)
            suite_die("no thread for a fake master");
        return;
    }
    suite_die("too many connections to a fake master");
}

static void close_and_forget(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Under the mutex. */
static void move_door(struct fake *fake)
{
    enum fake_door to = fake->wanted_door;
    bool was_odd = fake->door == FAKE_HOLE || fake->listener < 0;
    if (to == FAKE_HOLE || to == FAKE_REFUSE || was_odd) {
        close_and_forget(&fake->listener);
        close_and_forget(&fake->fillers[0]);
        close_and_forget(&fake->fillers[1]);
    }
    if (to == FAKE_REFUSE && fake->at.path[0])
        unlink(fake->at.path);
    if (to != FAKE_REFUSE && fake->listener < 0)
        fake->listener = net_listen(&fake->at, to == FAKE_HOLE ? 0 : 64);
    /* A queue of 0 takes one; what comes after it is not answered. */
    if (to == FAKE_HOLE)
        fake->fillers[0] = net_connect(&fake->at);
    fake->door = to;
    pthread_cond_broadcast(&fake->door_changed);
}

static void *door_main(void *argument)
{
    struct fake *fake = argument;
    pthread_mutex_lock(&fake->mutex);
    while (!fake->stopping) {
        bool listening = fake->door == FAKE_OPEN || fake->door == FAKE_SHUT;
        struct pollfd ready[] = {{.fd = fake->wake[0], .events = POLLIN},
                                 {.fd = fake->listener, .events = POLLIN}};
        pthread_mutex_unlock(&fake->mutex);
        poll(ready, listening ? 2 : 1, -1);
        char byte;
        if (ready[0].revents && read(fake->wake[0], &byte, 1) < 0)
            suite_die("pipe: %s", strerror(errno));
        int fd =
            listening && ready[1].revents ? accept4(ready[1].fd, NULL, NULL, SOCK_CLOEXEC) : -1;
        pthread_mutex_lock(&fake->mutex);
        if (fd >= 0 && fake->door == FAKE_OPEN)
            admit(fake, fd);
        else if (fd >= 0)
            close(fd);
        if (fake->door != fake->wanted_door)
            move_door(fake);
    }
    pthread_mutex_unlock(&fake->mutex);
    return NULL;
}

static void wake(struct fake *fake)
{
    if (write(fake->wake[1], "", 1) != 1)
        suite_die("pipe: %s", strerror(errno));
}

void fake_door(struct fake *fake, enum fake_door door)
{
    pthread_mutex_lock(&fake->mutex);
    fake->wanted_door = door;
    wake(fake);
    while (fake->door != door)
        pthread_cond_wait(&fake->door_changed, &fake->mutex);
    pthread_mutex_unlock(&fake->mutex);
}

void fake_hang_up(struct fake *fake, bool reset)
{
    pthread_mutex_lock(&fake->mutex);
    for (int i = 0; i < FAKE_CONNECTIONS_MAX; i++) {
        struct fake_connection *connection = &fake->connections[i];
        if (connection->fd < 0)
            continue;
        connection->reset = reset;
        shutdown(connection->fd, reset ? SHUT_RD : SHUT_RDWR);
    }
    pthread_mutex_unlock(&fake->mutex);
}

/* ---- from start to stop ----------------------------------------------------------------- */

static void stop(void *what)
{
    fake_stop(what);
}

struct fake *fake_start(bool on_unix_socket)
{
    static unsigned started;
    struct fake *fake = calloc(1, sizeof(*fake));
    pthread_condattr_t clock;
    if (!fake || pipe2(fake->wake, O_CLOEXEC) < 0)
        suite_die("no room for a fake master");
    pthread_mutex_init(&fake->mutex, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&fake->stopping_now, &clock);
    pthread_cond_init(&fake->door_changed, NULL);
    pthread_condattr_destroy(&clock);
    suite_new_dir(fake->dir);
    if (on_unix_socket)
        endpoint_unix(&fake->at, fake->dir, "fake.sock");
    fake->listener = net_listen(&fake->at, 64);
    fake->fillers[0] = fake->fillers[1] = -1;
    for (int i = 0; i < FAKE_CONNECTIONS_MAX; i++)
        fake->connections[i].fd = -1;
    snprintf(fake->run_id, sizeof(fake->run_id), "%08x%032x", (unsigned)getpid(), ++started);
    fake_says(fake, NULL, 1000000, "master");
    if (pthread_create(&fake->thread, NULL, door_main, fake) != 0)
        suite_die("no thread for a fake master");
    suite_at_end(stop, fake);
    return fake;
}

void fake_stop(struct fake *fake)
{
    suite_forget(fake);
    pthread_mutex_lock(&fake->mutex);
    fake->stopping = true;
    pthread_cond_broadcast(&fake->stopping_now);
    wake(fake);
    pthread_mutex_unlock(&fake->mutex);
    pthread_join(fake->thread, NULL);
    fake_hang_up(fake, false);
    for (int i = 0; i < FAKE_CONNECTIONS_MAX; i++) {
        if (fake->connections[i].joinable)
            pthread_join(fake->connections[i].thread, NULL);
    }
    close_and_forget(&fake->listener);
    close_and_forget(&fake->fillers[0]);
    close_and_forget(&fake->fillers[1]);
    close(fake->wake[0]);
    close(fake->wake[1]);
    suite_remove_dir(fake->dir);
    pthread_mutex_destroy(&fake->mutex);
    pthread_cond_destroy(&fake->stopping_now);
    pthread_cond_destroy(&fake->door_changed);
    free(fake);
}

const struct endpoint *fake_endpoint(const struct fake *fake)
{
    return &fake->at;
}

/* ---- what it says and knows ------------------------------------------------------------- */

void fake_says(struct fake *fake, const char *run_id, long uptime_s, const char *role)
{
    pthread_mutex_lock(&fake->mutex);
    if (run_id)
        snprintf(fake->run_id, sizeof(fake->run_id), "%s", run_id);
    if (uptime_s >= 0)
        fake->uptime_s = uptime_s;
    if (role)
        snprintf(fake->role, sizeof(fake->role), "%s", role);
    pthread_mutex_unlock(&fake->mutex);
}

void fake_says_also(struct fake *fake, const char *lines)
{
    pthread_mutex_lock(&fake->mutex);
    snprintf(fake->also, sizeof(fake->also), "%s", lines);
    pthread_mutex_unlock(&fake->mutex);
}

void fake_rule(struct fake *fake, const struct fake_rule *rule)
{
    pthread_mutex_lock(&fake->mutex);
    if (fake->rule_count == FAKE_RULES_MAX)
        suite_die("too many rules for a fake master");
    fake->matched[fake->rule_count] = 0;
    fake->rules[fake->rule_count++] = *rule;
    pthread_mutex_unlock(&fake->mutex);
}

void fake_clear_rules(struct fake *fake)
{
    pthread_mutex_lock(&fake->mutex);
    fake->rule_count = 0;
    pthread_mutex_unlock(&fake->mutex);
}

void fake_forget_scripts(struct fake *fake)
{
    pthread_mutex_lock(&fake->mutex);
    memset(fake->keys.known, 0, sizeof(fake->keys.known));
    pthread_mutex_unlock(&fake->mutex);
}

void fake_forget_keys(struct fake *fake)
{
    pthread_mutex_lock(&fake->mutex);
    memset(fake->keys.key, 0, sizeof(fake->keys.key));
    pthread_mutex_unlock(&fake->mutex);
}

bool fake_has(struct fake *fake, const char *name)
{
    pthread_mutex_lock(&fake->mutex);
    bool has = fake_keys_have(&fake->keys, name, strlen(name));
    pthread_mutex_unlock(&fake->mutex);
    return has;
}

/* ---- what it received ------------------------------------------------------------------- */

/* The record after `nth` matching ones (NULL: not so many), and how many match in all. */
static const struct fake_record *scan(struct fake *fake, const char *match, unsigned nth,
                                      unsigned *ret_count)
{
    const struct fake_record *found = NULL;
    *ret_count = 0;
    for (unsigned i = 0; i < fake->record_count; i++) {
        if (fnmatch(match, fake->records[i].line, 0) == 0 && (*ret_count)++ == nth)
            found = &fake->records[i];
    }
    return found;
}

unsigned fake_count(struct fake *fake, const char *match)
{
    unsigned count;
    pthread_mutex_lock(&fake->mutex);
    scan(fake, match, 0, &count);
    pthread_mutex_unlock(&fake->mutex);
    return count;
}

bool fake_find(struct fake *fake, const char *match, unsigned nth, struct fake_record *ret)
{
    unsigned count;
    pthread_mutex_lock(&fake->mutex);
    const struct fake_record *found = scan(fake, match, nth, &count);
    if (found)
        *ret = *found;
    pthread_mutex_unlock(&fake->mutex);
    return found != NULL;
}

unsigned fake_connections(struct fake *fake)
{
    pthread_mutex_lock(&fake->mutex);
    unsigned accepted = fake->accepted;
    pthread_mutex_unlock(&fake->mutex);
    return accepted;
}
