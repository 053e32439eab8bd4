/* sim_fd.c - the descriptors of a simulated process, and the calls that any of them has:
 * read, write, close; eventfds, which have no other.
 *
 * What has no simulated descriptor, or is called outside of a simulated process, is a call of
 * the real system.
 */
#include "config_auto.h"

#include "sim_net_parts.h"
#include "sim_real.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>

static LIST_HEAD(, sim_file) spare_files = LIST_HEAD_INITIALIZER(spare_files);
static LIST_HEAD(, sim_fds) spare_fds = LIST_HEAD_INITIALIZER(spare_fds);

void *sim_more(void *memory, size_t size)
{
    void *more = sim_real_realloc(memory, size);
    assert(more);
    return more;
}

/* ---- the table ------------------------------------------------------------------------ */

static void begin_route(struct sim_route *route, struct sim_proc *proc, unsigned master)
{
    const struct sim_path usual = {
        .delay_low_ns = {20 * SIM_US, 20 * SIM_US},
        .delay_high_ns = {100 * SIM_US, 100 * SIM_US},
        .send_buffer = SIM_SEND_BUFFER,
    };
    route->path = usual;
    route->felt = (struct sim_path_felt){0};
    route->proc = proc;
    route->master = master;
    LIST_INIT(&route->conns);
}

struct sim_fds *sim_fds(const struct sim_proc *proc)
{
    if (proc->fds)
        return proc->fds;
    struct sim_proc *owner = sim_proc_at(proc->index);
    struct sim_fds *fds = LIST_FIRST(&spare_fds);
    assert(owner == proc);
    if (fds) {
        LIST_REMOVE(fds, pooled);
    } else {
        fds = sim_more(NULL, sizeof(*fds));
        fds->files = NULL;
        fds->size = 0;
    }
    fds->refused = false;
    fds->port = 0;
    fds->open = fds->lowest = 0;
    for (unsigned i = 0; i < fds->size; i++)
        fds->files[i] = NULL;
    for (unsigned i = 0; i < SIM_MASTERS_MAX; i++)
        begin_route(&fds->routes[i], owner, i);
    owner->fds = fds;
    return fds;
}

struct sim_file *sim_file(int fd)
{
    struct sim_proc *proc = sim_proc();
    if (!proc || fd < SIM_FD_BASE)
        return NULL;
    sim_system_call();
    return sim_file_at(proc, fd);
}

struct sim_file *sim_file_at(const struct sim_proc *proc, int fd)
{
    const struct sim_fds *fds = proc->fds;
    unsigned at = (unsigned)(fd - SIM_FD_BASE);
    assert(fd >= SIM_FD_BASE && fds && at < fds->size && fds->files[at]);
    return fds->files[at];
}

static void grow(struct sim_fds *fds)
{
    unsigned size = fds->size ? fds->size * 2 : 16;
    fds->files = sim_more(fds->files, size * sizeof(*fds->files));
    while (fds->size < size)
        fds->files[fds->size++] = NULL;
}

/* The lowest that is free, as everywhere. */
static unsigned free_place(struct sim_fds *fds)
{
    unsigned at = fds->lowest;
    while (at < fds->size && fds->files[at])
        at++;
    if (at == fds->size)
        grow(fds);
    fds->lowest = at + 1;
    return at;
}

struct sim_file *sim_file_new(enum sim_file_kind kind)
{
    struct sim_proc *proc = sim_proc();
    struct sim_fds *fds = sim_fds(proc);
    if (fds->refused) {
        proc->felt.no_fds++;
        errno = EMFILE;
        return NULL;
    }
    struct sim_file *file = LIST_FIRST(&spare_files);
    if (file)
        LIST_REMOVE(file, pooled);
    else
        file = sim_more(NULL, sizeof(*file));
    memset(file, 0, sizeof(*file));
    unsigned at = free_place(fds);
    file->kind = kind;
    file->fd = SIM_FD_BASE + (int)at;
    file->proc = proc;
    LIST_INIT(&file->watches);
    LIST_INIT(&file->sleepers);
    fds->files[at] = file;
    fds->open++;
    return file;
}

static void close_file(struct sim_fds *fds, struct sim_file *file)
{
    unsigned at = (unsigned)(file->fd - SIM_FD_BASE);
    assert(LIST_EMPTY(&file->sleepers)); /* nobody closes what another thread waits for */
    if (file->kind == SIM_FILE_SOCKET && file->as.socket.conn)
        sim_conn_close(file->as.socket.conn);
    sim_epoll_forget(file);
    if (file->kind == SIM_FILE_EPOLL)
        sim_epoll_done(file);
    if (file->kind == SIM_FILE_TIMER)
        sim_not(&file->as.timer.event);
    fds->files[at] = NULL;
    fds->open--;
    if (at < fds->lowest)
        fds->lowest = at;
    LIST_INSERT_HEAD(&spare_files, file, pooled);
}

/* ---- what the world does -------------------------------------------------------------- */

void sim_proc_no_fds(struct sim_proc *proc, bool on)
{
    sim_fds(proc)->refused = on;
}

unsigned sim_open_fds(const struct sim_proc *proc)
{
    return proc->fds ? proc->fds->open : 0;
}

void sim_net_crash(struct sim_proc *proc)
{
    struct sim_fds *fds = sim_fds(proc);
    for (unsigned i = 0; i < fds->size; i++) {
        struct sim_file *file = fds->files[i];
        if (!file || file->kind != SIM_FILE_SOCKET)
            continue;
        if (file->as.socket.conn)
            sim_conn_close(file->as.socket.conn);
        file->as.socket.state = SIM_OVER;
        file->as.socket.error = ECONNRESET;
        sim_socket_update(file);
    }
}

void sim_net_end(struct sim_proc *proc)
{
    struct sim_fds *fds = proc->fds;
    if (!fds)
        return;
    for (unsigned i = 0; i < fds->size; i++) {
        if (fds->files[i])
            close_file(fds, fds->files[i]);
    }
    for (unsigned i = 0; i < SIM_MASTERS_MAX; i++) {
        while (!LIST_EMPTY(&fds->routes[i].conns)) {
            struct sim_conn *conn = LIST_FIRST(&fds->routes[i].conns);
            sim_conn_leave(conn);
            sim_conn_free(conn);
        }
    }
    proc->fds = NULL;
    LIST_INSERT_HEAD(&spare_fds, fds, pooled);
}

/* ---- bound calls ---------------------------------------------------------------------- */

int sim_bound_eventfd(unsigned initial, int flags)
{
    if (!sim_proc())
        return sim_real_eventfd(initial, flags);
    sim_system_call();
    assert(flags == (EFD_CLOEXEC | EFD_NONBLOCK));
    struct sim_file *file = sim_file_new(SIM_FILE_EVENT);
    if (!file)
        return -1;
    file->as.count = initial;
    sim_file_ready(file, EPOLLOUT | (initial > 0 ? EPOLLIN : 0u));
    return file->fd;
}

ssize_t sim_bound_read(int fd, void *bytes, size_t len)
{
    struct sim_file *file = sim_file(fd);
    if (!file)
        return sim_real_read(fd, bytes, len);
    if (file->kind == SIM_FILE_TIMER)
        return sim_timerfd_read(file, bytes, len);
    assert(file->kind == SIM_FILE_EVENT && len == sizeof(file->as.count));
    if (file->as.count == 0) {
        errno = EAGAIN;
        return -1;
    }
    memcpy(bytes, &file->as.count, len);
    file->as.count = 0;
    sim_file_ready(file, EPOLLOUT);
    return (ssize_t)len;
}

ssize_t sim_bound_write(int fd, const void *bytes, size_t len)
{
    struct sim_file *file = sim_file(fd);
    uint64_t more;
    if (!file)
        return sim_real_write(fd, bytes, len);
    assert(file->kind == SIM_FILE_EVENT && len == sizeof(more));
    memcpy(&more, bytes, len);
    if (more >= UINT64_MAX - file->as.count) {
        errno = EAGAIN;
        return -1;
    }
    file->as.count += more;
    sim_file_ready(file, (file->as.count > 0 ? EPOLLIN : 0u) |
                             (file->as.count < UINT64_MAX - 1 ? EPOLLOUT : 0u));
    return (ssize_t)len;
}

int sim_bound_close(int fd)
{
    struct sim_file *file = sim_file(fd);
    if (!file)
        return sim_real_close(fd);
    close_file(file->proc->fds, file);
    return 0;
}
