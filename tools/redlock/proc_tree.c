/* proc_tree.c - see proc_tree.h. A descendant can't leave the tree: what is orphaned comes to
 * us, since we are its subreaper; only the group and the session are its own to change. */
#include "config_auto.h"

#include "redlock/proc_tree.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The fields that are wanted stand within the first few hundred bytes. */
#define STAT_MAX 1024

/* The name of the command stands in brackets and may hold anything, brackets too: the last
 * one ends it. False: the process is gone. */
static bool read_stat(const char *pid_text, struct proc *ret_proc)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%.20s/stat", pid_text);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    char text[STAT_MAX + 1];
    ssize_t len = read(fd, text, STAT_MAX);
    close(fd);
    if (len <= 0)
        return false;
    text[len] = '\0';
    const char *after_name = strrchr(text, ')');
    struct proc proc = {.pid = (pid_t)strtol(text, NULL, 10)};
    int parent = 0;
    int group = 0;
    if (!after_name || sscanf(after_name + 1,
                              " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
                              "%*d %*d %*d %llu",
                              &proc.state, &parent, &group, &proc.started) != 4)
        return false;
    proc.parent = parent;
    proc.group = group;
    *ret_proc = proc;
    return true;
}

static bool append(struct proc_tree *tree, size_t *room, const struct proc *proc)
{
    if (tree->count == *room) {
        size_t more = *room > 0 ? *room * 2 : 64;
        struct proc *moved = realloc(tree->procs, more * sizeof(*moved));
        if (!moved)
            return false;
        tree->procs = moved;
        *room = more;
    }
    tree->procs[tree->count++] = *proc;
    return true;
}

/* Every process there is. */
static bool read_all(struct proc_tree *tree)
{
    DIR *directory = opendir("/proc");
    if (!directory)
        return false;
    size_t room = 0;
    bool complete = true;
    for (struct dirent *entry = readdir(directory); entry && complete;
         entry = readdir(directory)) {
        struct proc proc;
        if (isdigit((unsigned char)entry->d_name[0]) && read_stat(entry->d_name, &proc))
            complete = append(tree, &room, &proc);
    }
    closedir(directory);
    return complete;
}

static int by_pid(const void *left, const void *right)
{
    pid_t a = ((const struct proc *)left)->pid;
    pid_t b = ((const struct proc *)right)->pid;
    return (a > b) - (a < b);
}

static bool is_stranger(pid_t pid, const pid_t *strangers, size_t stranger_count)
{
    for (size_t i = 0; i < stranger_count; i++) {
        if (strangers[i] == pid)
            return true;
    }
    return false;
}

/* Mark what descends from us: a pass marks the children of those marked so far. */
static void mark_ours(struct proc_tree *tree, const pid_t *strangers, size_t stranger_count)
{
    pid_t self = getpid();
    qsort(tree->procs, tree->count, sizeof(*tree->procs), by_pid);
    for (bool found = true; found;) {
        found = false;
        for (size_t i = 0; i < tree->count; i++) {
            struct proc *proc = &tree->procs[i];
            if (proc->ours || is_stranger(proc->pid, strangers, stranger_count))
                continue;
            struct proc wanted = {.pid = proc->parent};
            const struct proc *parent =
                bsearch(&wanted, tree->procs, tree->count, sizeof(*tree->procs), by_pid);
            proc->ours = proc->parent == self || (parent && parent->ours);
            found = found || proc->ours;
        }
    }
}

bool proc_tree_read(struct proc_tree *ret_tree, const pid_t *strangers, size_t stranger_count)
{
    struct proc_tree tree = {NULL, 0};
    if (!read_all(&tree)) {
        free(tree.procs);
        return false;
    }
    mark_ours(&tree, strangers, stranger_count);
    size_t kept = 0;
    for (size_t i = 0; i < tree.count; i++) {
        const struct proc *proc = &tree.procs[i];
        if (proc->ours && proc->state != 'Z' && proc->state != 'X')
            tree.procs[kept++] = *proc;
    }
    tree.count = kept;
    *ret_tree = tree;
    return true;
}

void proc_tree_free(struct proc_tree *tree)
{
    free(tree->procs);
    tree->procs = NULL;
    tree->count = 0;
}

/* A descriptor pins the process; the time it began tells whether it is still the same one. */
static void signal_one(const struct proc *proc, int signal_number)
{
    int fd = -1;
#ifdef SYS_pidfd_open
    fd = (int)syscall(SYS_pidfd_open, proc->pid, 0);
#endif
    char pid_text[24];
    snprintf(pid_text, sizeof(pid_text), "%ld", (long)proc->pid);
    struct proc now;
    if (read_stat(pid_text, &now) && now.started == proc->started) {
#ifdef SYS_pidfd_send_signal
        if (fd < 0 || (syscall(SYS_pidfd_send_signal, fd, signal_number, NULL, 0) != 0 &&
                       errno == ENOSYS))
#endif
            kill(proc->pid, signal_number);
    }
    if (fd >= 0)
        close(fd);
}

bool proc_tree_signal(const struct proc_tree *tree, pid_t only, pid_t but, int signal_number)
{
    bool anyone = false;
    for (size_t i = 0; i < tree->count; i++) {
        pid_t group = tree->procs[i].group;
        if ((only != 0 && group != only) || (but != 0 && group == but))
            continue;
        anyone = true;
        if (signal_number != 0)
            signal_one(&tree->procs[i], signal_number);
    }
    return anyone;
}
