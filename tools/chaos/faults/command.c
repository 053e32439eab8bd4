/* command.c - runs another program to its end. */
#include "config_auto.h"

#include "chaos/faults/command.h"

#include "chaos/place/place.h"

#include "base/clock.h"
#include "base/text_escape.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLICE_MS 5
#define LAST_WORDS_MS 3000 /* between SIGTERM and SIGKILL */
#define SAID_MAX 4096      /* of its stderr: the last bytes */

extern char **environ;

struct running {
    pid_t pid;
    int out, err; /* -1: at its end */
    size_t out_len, said_len;
    char said[SAID_MAX];
};

static bool pipe_pair(int ret_out[2], int ret_err[2])
{
    if (pipe2(ret_out, O_CLOEXEC) != 0)
        return false;
    if (pipe2(ret_err, O_CLOEXEC) == 0) {
        (void)fcntl(ret_out[0], F_SETFL, O_NONBLOCK);
        (void)fcntl(ret_err[0], F_SETFL, O_NONBLOCK);
        return true;
    }
    int code = errno;
    close(ret_out[0]);
    close(ret_out[1]);
    errno = code;
    return false;
}

/* 0 or an errno. */
static int spawn(const char *const *argv, int out, int err, pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, normal;
    sigemptyset(&none);
    sigemptyset(&normal);
    sigaddset(&normal, SIGPIPE);
    sigaddset(&normal, SIGINT);
    sigaddset(&normal, SIGTERM);
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0)
        return code;
    if ((code = posix_spawnattr_init(&attributes)) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return code;
    }
    code = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &normal);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    if (code == 0) /* the strings are not changed by anybody */
        code =
            posix_spawnp(ret_pid, argv[0], &actions, &attributes, (char *const *)argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

/* Read the bytes that are there. -1: the end. */
static int drain(int fd, char *to, size_t size, size_t *len, bool keep_last)
{
    char bytes[1024];
    for (;;) {
        ssize_t got = fd >= 0 ? read(fd, bytes, sizeof(bytes)) : 0;
        if (got < 0)
            return errno == EAGAIN || errno == EINTR ? fd : (close(fd), -1);
        if (got == 0) {
            if (fd >= 0)
                close(fd);
            return -1;
        }
        size_t more = (size_t)got, room = size - *len;
        if (keep_last && more > room) {
            size_t drop = *len < more - room ? *len : more - room;
            memmove(to, to + drop, *len - drop);
            *len -= drop;
            room = size - *len;
        }
        more = more < room ? more : room;
        memcpy(to + *len, bytes, more);
        *len += more;
    }
}

static void read_both(struct running *running, const struct chaos_command *command)
{
    char nowhere[1];
    size_t none = 0;
    if (command->out != NULL)
        running->out =
            drain(running->out, command->out, command->out_size - 1, &running->out_len, false);
    else
        running->out = drain(running->out, nowhere, 0, &none, false);
    running->err = drain(running->err, running->said, SAID_MAX, &running->said_len, true);
}

/* Its last line that has anything in it. */
static void last_line(const struct running *running, char *why, size_t why_size)
{
    size_t end = running->said_len;
    while (end > 0 && (running->said[end - 1] == '\n' || running->said[end - 1] == '\r'))
        end--;
    size_t begin = end;
    while (begin > 0 && running->said[begin - 1] != '\n' && running->said[begin - 1] != '\r')
        begin--;
    rl_text_escape(why, why_size, running->said + begin, end - begin);
}

/* How long the command may go on from now, and how it is ended after that. */
static bool await(struct running *running, const struct chaos_command *command, int *ret_status)
{
    int64_t begun_ns = rl_clock_now_ns(), limit_ms = command->limit_ms;
    bool told = false, killed = false;
    for (;;) {
        read_both(running, command);
        pid_t ended = waitpid(running->pid, ret_status, WNOHANG);
        if (ended == running->pid) {
            read_both(running, command);
            return !told;
        }
        if (ended < 0 && errno != EINTR)
            return false;
        int64_t spent_ms = (rl_clock_now_ns() - begun_ns) / RL_NS_PER_MS;
        bool goes_on = chaos_pause_ms(SLICE_MS);
        if (!goes_on)
            (void)poll(NULL, 0, SLICE_MS);
        if (!told && (spent_ms > limit_ms || (command->may_stop && !goes_on))) {
            kill(-running->pid, SIGTERM);
            told = true;
            limit_ms = spent_ms + LAST_WORDS_MS;
        } else if (told && !killed && spent_ms > limit_ms) {
            kill(-running->pid, SIGKILL);
            killed = true;
        }
    }
}

bool chaos_command_run(const struct chaos_command *command, char *why, size_t why_size)
{
    struct running running = {.pid = 0};
    int out[2], err[2], status = 0;
    if (!pipe_pair(out, err)) {
        snprintf(why, why_size, "%s: %s", command->argv[0], strerror(errno));
        return false;
    }
    int code = spawn(command->argv, out[1], err[1], &running.pid);
    close(out[1]);
    close(err[1]);
    running.out = out[0];
    running.err = err[0];
    bool in_time = code == 0 && await(&running, command, &status);
    if (running.out >= 0)
        close(running.out);
    if (running.err >= 0)
        close(running.err);
    if (command->out != NULL)
        command->out[running.out_len] = '\0';
    if (code != 0) {
        snprintf(why, why_size, "%s: %s", command->argv[0], strerror(code));
    } else if (!in_time) {
        snprintf(why, why_size, "%s %s was ended before it was done", command->argv[0],
                 command->argv[1] != NULL ? command->argv[1] : "");
    } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        last_line(&running, why, why_size);
        if (why[0] == '\0')
            snprintf(why, why_size, "%s exited with %d", command->argv[0],
                     WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    } else {
        return true;
    }
    return false;
}
