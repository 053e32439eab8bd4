/* run_terminal.c - job control: to the shell we are the job, to COMMAND we are the shell.
 *
 * COMMAND has a process group of its own, so that all of it can be signaled. From the start
 * it is the terminal's foreground group where stdin is our terminal, we are in the foreground,
 * and stdout is no pipe: in `redlock run ... | less` the terminal is for less. Where COMMAND
 * wants the terminal after all, which TTIN or TTOU tell us, it is given it then.
 *
 * COMMAND stops (^Z)     we take the terminal back and stop with the same signal, so that our
 *                        shell sees what happened. While we stand nobody extends the lock.
 * we are continued (fg)  the terminal is given back, where we have it, and COMMAND continued.
 *
 * The caller has blocked TTOU, so that tcsetpgrp() works from the background. */
#include "config_auto.h"

#include "redlock/run.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static bool have_terminal(const struct run_terminal *terminal)
{
    return terminal->fd >= 0 && tcgetpgrp(terminal->fd) == getpgrp();
}

static void give_terminal(struct run *run)
{
    if (tcsetpgrp(run->terminal.fd, run->command) == 0)
        run->terminal.was_given = true;
}

static void take_terminal(const struct run *run)
{
    if (run->terminal.fd >= 0 && tcgetpgrp(run->terminal.fd) == run->command)
        (void)tcsetpgrp(run->terminal.fd, getpgrp());
}

void run_terminal_open(struct run_terminal *terminal)
{
    terminal->fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (!have_terminal(terminal))
        return;
    terminal->modes = malloc(sizeof(*terminal->modes));
    if (terminal->modes && tcgetattr(terminal->fd, terminal->modes) < 0) {
        free(terminal->modes);
        terminal->modes = NULL;
    }
}

bool run_terminal_wanted(const struct run_terminal *terminal)
{
    struct stat output;
    bool piped = fstat(STDOUT_FILENO, &output) == 0 && S_ISFIFO(output.st_mode);
    return have_terminal(terminal) && tcgetpgrp(STDIN_FILENO) == getpgrp() && !piped;
}

/* Stop as the signal would have stopped us. False: it did not, since nobody could continue
 * us (our group is orphaned). The kernel drops a pending CONT when it makes us stop, and
 * leaves one pending when we go on. */
static bool stop_self(int signal_number)
{
    struct sigaction ordinary = {.sa_handler = SIG_DFL};
    struct sigaction before;
    sigset_t one;
    sigset_t pending;
    sigemptyset(&one);
    sigaddset(&one, signal_number);
    sigaction(signal_number, &ordinary, &before); /* STOP: fails, and needs it not */
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    raise(signal_number);
    pthread_sigmask(SIG_BLOCK, &one, NULL);
    if (signal_number != SIGSTOP)
        sigaction(signal_number, &before, NULL);
    sigemptyset(&pending);
    sigpending(&pending);
    return sigismember(&pending, SIGCONT) == 1;
}

void run_on_stopped(struct run *run, int signal_number)
{
    bool for_terminal = signal_number == SIGTTIN || signal_number == SIGTTOU;
    if (for_terminal && have_terminal(&run->terminal)) {
        give_terminal(run);
        run_order(run, GUARD_SIGNAL, SIGCONT);
        return;
    }
    /* Without a terminal there is no shell that would continue us, unless one asked. */
    if (run->terminal.fd < 0 && !run->stop_asked)
        return;
    run->stop_asked = false;
    take_terminal(run);
    /* Nobody could continue an orphaned group, which STOP, unlike TSTP, would stop too. */
    bool stood = stop_self(signal_number == SIGSTOP ? SIGTSTP : signal_number);
    /* Where the kernel dropped our TSTP it would have dropped COMMAND's, without us there. */
    if (!stood && signal_number == SIGTSTP)
        run_on_continued(run);
}

void run_on_continued(struct run *run)
{
    if (run->terminal.was_given && have_terminal(&run->terminal))
        give_terminal(run);
    run_order(run, GUARD_SIGNAL, SIGCONT);
}

void run_terminal_close(struct run *run)
{
    struct run_terminal *terminal = &run->terminal;
    take_terminal(run);
    /* What was killed could not put the terminal's modes back itself. */
    bool killed = run->guard_died || (run->ended && WIFSIGNALED(run->status));
    if (killed && terminal->was_given && terminal->modes && have_terminal(terminal))
        (void)tcsetattr(terminal->fd, TCSANOW, terminal->modes);
    free(terminal->modes);
    if (terminal->fd >= 0)
        close(terminal->fd);
}
