/* program.c - see program.h. */
#include "config_auto.h"

#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TEXT_MAX ((size_t)1024 * 1024)

const char *program_redlock(void)
{
    static char path[PATH_MAX];
    const char *given = getenv("REDLOCK");
    if (!*path && !realpath(given && *given ? given : "bin/redlock", path))
        suite_die("no redlock program: %s; set $REDLOCK", strerror(errno));
    return path;
}

static void path_of(const struct program *program, const char *file, char ret_path[128])
{
    snprintf(ret_path, 128, "%s/%s", program->dir, file);
}

static int open_file(const struct program *program, const char *file)
{
    char path[128];
    path_of(program, file, path);
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        suite_die("%s: %s", path, strerror(errno));
    return fd;
}

static void set_environment(const char *const *environment)
{
    for (; environment && *environment; environment++) {
        if (strchr(*environment, '='))
            putenv((char *)(uintptr_t)*environment);
        else
            unsetenv(*environment);
    }
}

/* The child's descriptors 0 to 2, made ready before the fork. */
struct ends {
    int in, out, err;
};

static _Noreturn void run(const struct program_how *how, const char *own_directory,
                          const char *const argv[], struct ends ends, pid_t parent)
{
    const char *directory = how->in_its_directory ? own_directory : how->directory;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || (directory && chdir(directory) < 0))
        _exit(125);
    dup2(ends.in, STDIN_FILENO);
    if (!how->keep_stdout)
        dup2(ends.out, STDOUT_FILENO);
    dup2(ends.err, STDERR_FILENO);
    set_environment(how->environment);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (how->before_exec)
        how->before_exec();
    execvp(argv[0], (char *const *)(uintptr_t)argv);
    _exit(125);
}

static void end(void *what)
{
    struct program *program = what;
    program_kill(program);
    suite_remove_dir(program->dir);
    free(program->text);
    free(program);
}

struct program *program_start(const struct program_how *how, const char *const argv[])
{
    static const struct program_how plain;
    how = how ? how : &plain;
    struct program *program = calloc(1, sizeof(*program));
    if (!program)
        suite_die("out of memory");
    suite_new_dir(program->dir);
    struct ends ends = {open_file(program, "in"), open_file(program, "out"),
                        open_file(program, "err")};
    size_t input_len = how->input_len > 0 ? how->input_len
                       : how->input       ? strlen(how->input)
                                          : 0;
    if (input_len > 0 && write(ends.in, how->input, input_len) != (ssize_t)input_len)
        suite_die("can't write the input");
    lseek(ends.in, 0, SEEK_SET);
    /* A signal for it must not run a handler of ours (Check's signals the whole group). */
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t parent = getpid();
    fflush(NULL);
    program->pid = fork();
    if (program->pid < 0)
        suite_die("fork: %s", strerror(errno));
    if (program->pid == 0)
        run(how, program->dir, argv, ends, parent);
    suite_at_end(end, program);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends.in);
    close(ends.out);
    close(ends.err);
    return program;
}

int program_wait(struct program *program, int limit_ms)
{
    int status = 0;
    pid_t got = 0;
    if (program->pid == 0)
        suite_die("waited for twice");
    (void)wait_until((got = waitpid(program->pid, &status, WNOHANG)) != 0, limit_ms);
    bool late = got == 0;
    if (late) {
        kill(program->pid, SIGKILL);
        while (waitpid(program->pid, &status, 0) < 0 && errno == EINTR)
            continue;
    }
    program->pid = 0;
    if (late)
        return -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static const char *read_text(struct program *program, const char *file)
{
    char path[128];
    path_of(program, file, path);
    if (!program->text)
        program->text = malloc(TEXT_MAX);
    if (!program->text)
        suite_die("out of memory");
    file_text(path, program->text, TEXT_MAX);
    return program->text;
}

const char *program_out(struct program *program)
{
    return read_text(program, "out");
}

/* LeakSanitizer says so at exit where the kernel has not yet buried a thread that was joined a
 * moment before. It is no finding, and not the program's word. */
static void drop_sanitizer_notes(char *text)
{
    char *line = text;
    while (*line) {
        size_t length = strcspn(line, "\n");
        length += line[length] == '\n';
        int note = -1;
        (void)sscanf(line, "==%*u==Unable to get registers from thread %*u.%n", &note);
        if (note > 0 && (size_t)note + 1 >= length)
            memmove(line, line + length, strlen(line + length) + 1);
        else
            line += length;
    }
}

const char *program_err(struct program *program)
{
    (void)read_text(program, "err");
    drop_sanitizer_notes(program->text);
    return program->text;
}

bool program_printed(struct program *program, const char *text)
{
    return strstr(program_out(program), text) != NULL;
}

void program_kill(struct program *program)
{
    if (program->pid > 0)
        (void)program_wait(program, 0);
}

int program_run(const struct program_how *how, const char *const argv[],
                struct program **ret_program)
{
    struct program *program = program_start(how, argv);
    int status = program_wait(program, 30000);
    if (ret_program)
        *ret_program = program;
    return status;
}

/* 0: there is none any more. */
static char state_of(pid_t pid)
{
    char path[64];
    char text[512];
    snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
    file_text(path, text, sizeof(text));
    const char *name_end = strrchr(text, ')');
    return name_end && strlen(name_end) > 2 ? name_end[2] : '\0';
}

bool process_lives(pid_t pid)
{
    char state = state_of(pid);
    return state != '\0' && state != 'Z' && state != 'X';
}

bool process_stands(pid_t pid)
{
    return state_of(pid) == 'T';
}

int64_t boot_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void file_text(const char *path, char *ret_text, size_t size)
{
    size_t len = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && len < size - 1) {
        ssize_t got = read(fd, ret_text + len, size - 1 - len);
        if (got <= 0)
            break;
        len += (size_t)got;
    }
    ret_text[len] = '\0';
    if (fd >= 0)
        close(fd);
}

void file_write(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        suite_die("%s: %s", path, strerror(errno));
    close(fd);
}
