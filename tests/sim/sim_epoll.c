/* sim_epoll.c - who waits for descriptors: epoll sets, which may be in other epoll sets, and
 * poll. Level-triggered. A set has a list of what is ready in it, kept as files change, so
 * that nothing is searched.
 *
 * Time-outs count as the kernel of the process counts: in its MONOTONIC, which stands while
 * the machine is suspended.
 */
#include "config_auto.h"

#include "sim_fiber.h"
#include "sim_net_parts.h"
#include "sim_real.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <time.h>

enum { POLL_MAX = 8 };

static LIST_HEAD(, sim_watch) spare_watches = LIST_HEAD_INITIALIZER(spare_watches);

/* ---- what is ready -------------------------------------------------------------------- */

static void judge(struct sim_watch *watch)
{
    struct sim_file *set = watch->set;
    bool is_ready = (watch->file->ready & watch->events) != 0;
    if (is_ready == watch->queued)
        return;
    if (is_ready)
        TAILQ_INSERT_TAIL(&set->as.set.ready, watch, ready);
    else
        TAILQ_REMOVE(&set->as.set.ready, watch, ready);
    watch->queued = is_ready;
    sim_file_ready(set, TAILQ_EMPTY(&set->as.set.ready) ? 0 : EPOLLIN | EPOLLRDNORM);
}

void sim_file_ready(struct sim_file *file, uint32_t events)
{
    struct sim_watch *watch;
    struct sim_sleeper *sleeper;
    if (file->ready == events)
        return;
    file->ready = events;
    for (watch = LIST_FIRST(&file->watches); watch; watch = LIST_NEXT(watch, of_file))
        judge(watch);
    for (sleeper = LIST_FIRST(&file->sleepers); sleeper;
         sleeper = LIST_NEXT(sleeper, of_file)) {
        if (sleeper->events & events)
            sim_wake(sleeper->fiber);
    }
}

/* ---- sets ----------------------------------------------------------------------------- */

static void unwatch(struct sim_watch *watch)
{
    watch->events = 0;
    judge(watch); /* out of what is ready */
    LIST_REMOVE(watch, of_file);
    LIST_REMOVE(watch, of_set);
    LIST_INSERT_HEAD(&spare_watches, watch, of_file);
}

void sim_epoll_forget(struct sim_file *file)
{
    while (!LIST_EMPTY(&file->watches))
        unwatch(LIST_FIRST(&file->watches));
}

void sim_epoll_done(struct sim_file *set)
{
    while (!LIST_EMPTY(&set->as.set.all))
        unwatch(LIST_FIRST(&set->as.set.all));
}

static struct sim_watch *find(const struct sim_file *set, const struct sim_file *file)
{
    struct sim_watch *watch;
    for (watch = LIST_FIRST(&file->watches); watch; watch = LIST_NEXT(watch, of_file)) {
        if (watch->set == set)
            return watch;
    }
    return NULL;
}

static void add(struct sim_file *set, struct sim_file *file, const struct epoll_event *event)
{
    struct sim_watch *watch = LIST_FIRST(&spare_watches);
    if (watch)
        LIST_REMOVE(watch, of_file);
    else
        watch = sim_more(NULL, sizeof(*watch));
    watch->file = file;
    watch->set = set;
    watch->events = event->events | EPOLLERR | EPOLLHUP;
    watch->data = event->data;
    watch->queued = false;
    LIST_INSERT_HEAD(&file->watches, watch, of_file);
    LIST_INSERT_HEAD(&set->as.set.all, watch, of_set);
    judge(watch);
}

int sim_bound_epoll_create1(int flags)
{
    if (!sim_proc())
        return sim_real_epoll_create1(flags);
    sim_system_call();
    assert(flags == EPOLL_CLOEXEC);
    struct sim_file *set = sim_file_new(SIM_FILE_EPOLL);
    if (!set)
        return -1;
    LIST_INIT(&set->as.set.all);
    TAILQ_INIT(&set->as.set.ready);
    return set->fd;
}

int sim_bound_epoll_ctl(int epoll_fd, int operation, int fd, struct epoll_event *event)
{
    struct sim_file *set = sim_file(epoll_fd);
    if (!set)
        return sim_real_epoll_ctl(epoll_fd, operation, fd, event);
    struct sim_file *file = sim_file_at(set->proc, fd);
    assert(file != set && set->kind == SIM_FILE_EPOLL);
    assert(operation == EPOLL_CTL_DEL || (event->events & (EPOLLET | EPOLLONESHOT)) == 0);
    struct sim_watch *watch = find(set, file);
    if ((watch != NULL) == (operation == EPOLL_CTL_ADD)) {
        errno = watch ? EEXIST : ENOENT;
        return -1;
    }
    if (operation == EPOLL_CTL_ADD) {
        add(set, file, event);
    } else if (operation == EPOLL_CTL_DEL) {
        unwatch(watch);
    } else {
        assert(operation == EPOLL_CTL_MOD);
        watch->events = event->events | EPOLLERR | EPOLLHUP;
        watch->data = event->data;
        judge(watch);
    }
    return 0;
}

/* ---- waiting -------------------------------------------------------------------------- */

static bool is_any_ready(struct sim_file *const *files, const uint32_t *events, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (files[i]->ready & events[i])
            return true;
    }
    return false;
}

/* Sleep until one of them is ready, or so long. `wait_ns` < 0: for ever. */
static void wait_for(struct sim_file *const *files, const uint32_t *events, unsigned count,
                     int64_t wait_ns)
{
    struct sim_proc *proc = sim_proc();
    struct sim_sleeper sleepers[POLL_MAX];
    int64_t end_ns = wait_ns < 0 ? SIM_NEVER : sim_monotonic_ns(proc) + wait_ns;
    assert(count <= POLL_MAX);
    if (wait_ns == 0 || is_any_ready(files, events, count))
        return;
    for (unsigned i = 0; i < count; i++) {
        sleepers[i].fiber = sim_fiber();
        sleepers[i].events = events[i];
        LIST_INSERT_HEAD(&files[i]->sleepers, &sleepers[i], of_file);
    }
    bool woken = true;
    while (woken && !is_any_ready(files, events, count)) {
        int64_t until_ns =
            end_ns == SIM_NEVER ? SIM_NEVER : sim_true_of_monotonic_ns(proc, end_ns);
        woken = until_ns > sim_now_ns() && sim_sleep(until_ns);
    }
    for (unsigned i = 0; i < count; i++)
        LIST_REMOVE(&sleepers[i], of_file);
}

/* What is ready, at most so many; what is told now comes last the next time. */
static int harvest(struct sim_file *set, struct epoll_event *events, int max)
{
    struct sim_watch *last = TAILQ_LAST(&set->as.set.ready, sim_ready);
    int count = 0;
    while (count < max && last) {
        struct sim_watch *watch = TAILQ_FIRST(&set->as.set.ready);
        events[count].events = watch->file->ready & watch->events;
        events[count++].data = watch->data;
        TAILQ_REMOVE(&set->as.set.ready, watch, ready);
        TAILQ_INSERT_TAIL(&set->as.set.ready, watch, ready);
        if (watch == last)
            break;
    }
    return count;
}

static int wait_for_set(struct sim_file *set, struct epoll_event *events, int max,
                        int64_t wait_ns)
{
    const uint32_t readable = EPOLLIN;
    assert(set->kind == SIM_FILE_EPOLL && max > 0);
    wait_for(&set, &readable, 1, wait_ns);
    return harvest(set, events, max);
}

int sim_bound_epoll_wait(int fd, struct epoll_event *events, int max, int timeout_ms)
{
    struct sim_file *set = sim_file(fd);
    if (!set)
        return sim_real_epoll_wait(fd, events, max, timeout_ms);
    return wait_for_set(set, events, max, timeout_ms < 0 ? -1 : timeout_ms * SIM_MS);
}

int sim_bound_epoll_pwait2(int fd, struct epoll_event *events, int max,
                           const struct timespec *timeout, const sigset_t *signals)
{
    struct sim_file *set = sim_file(fd);
    if (!set)
        return sim_real_epoll_pwait2(fd, events, max, timeout, signals);
    assert(!signals);
    return wait_for_set(set, events, max,
                        timeout ? timeout->tv_sec * SIM_S + timeout->tv_nsec : -1);
}

static bool has_simulated(const struct pollfd *fds, nfds_t count)
{
    for (nfds_t i = 0; i < count; i++) {
        if (fds[i].fd >= SIM_FD_BASE)
            return true;
    }
    return false;
}

/* poll()'s bits are epoll's, as far as they are used. */
int sim_bound_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    struct sim_file *files[POLL_MAX];
    uint32_t events[POLL_MAX];
    unsigned used = 0;
    int result = 0;
    if (!sim_proc() || !has_simulated(fds, count))
        return sim_real_poll(fds, count, timeout_ms);
    assert(count <= POLL_MAX);
    sim_system_call();
    for (nfds_t i = 0; i < count; i++) {
        fds[i].revents = 0;
        if (fds[i].fd < 0)
            continue;
        files[used] = sim_file_at(sim_proc(), fds[i].fd);
        events[used++] = (uint32_t)(unsigned short)fds[i].events | EPOLLERR | EPOLLHUP;
    }
    wait_for(files, events, used, timeout_ms < 0 ? -1 : timeout_ms * SIM_MS);
    for (nfds_t i = 0, at = 0; i < count; i++) {
        if (fds[i].fd < 0)
            continue;
        fds[i].revents = (short)(files[at]->ready & events[at]);
        result += fds[i].revents != 0;
        at++;
    }
    return result;
}
