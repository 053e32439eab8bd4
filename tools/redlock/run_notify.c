/* run_notify.c - what a service manager is told, as sd_notify(3) tells it: a datagram of lines to
 * the socket that $NOTIFY_SOCKET names. COMMAND has that variable too: it has its own to tell. */
#include "config_auto.h"

#include "redlock/run.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A service may run us as one of its jobs: that it is ready is not ours to tell then. */
static bool is_service(void)
{
    const char *service = getenv("SYSTEMD_EXEC_PID");
    return !service || strtol(service, NULL, 10) == (long)getpid();
}

/* A path, or "@" and an abstract name. False: nobody wants to be told, or not so. */
static bool manager_address(struct sockaddr_un *address, socklen_t *ret_len)
{
    const char *path = getenv("NOTIFY_SOCKET");
    size_t len = path ? strlen(path) : 0;
    if (!is_service() || len < 2 || (path[0] != '/' && path[0] != '@') || len >= sizeof(address->sun_path))
        return false;
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, len);
    bool abstract = path[0] == '@';
    if (abstract)
        address->sun_path[0] = '\0';
    *ret_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + !abstract);
    return true;
}

/* False: the manager's queue is full, so it must be told again. We never wait for it, because the
 * lock's time goes on. Where nobody listens, nobody wants to be told. */
__attribute__((format(printf, 1, 2))) static bool notify(const char *format, ...)
{
    char lines[4 * CLI_TEXT_MAX];
    struct sockaddr_un address;
    socklen_t address_len;
    va_list arguments;
    if (!manager_address(&address, &address_len))
        return true;
    va_start(arguments, format);
    int made = vsnprintf(lines, sizeof(lines), format, arguments);
    va_end(arguments);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (made < 0 || fd < 0)
        return false;
    ssize_t sent = sendto(fd, lines, strlen(lines), MSG_NOSIGNAL | MSG_DONTWAIT,
                          (const struct sockaddr *)&address, address_len);
    bool full = sent < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == EINTR);
    close(fd);
    return !full;
}

/* What was so at that time stays true, however long the wait is. */
void run_notify_waits(const struct cli *cli, int code, const redlock_report *report)
{
    struct cli_text why = {"the votes were split"};
    const redlock_node_vote *holder = cli_first_holder(report);
    if (code == REDLOCK_ENOQUORUM)
        snprintf(why.text, sizeof(why.text), "no quorum, %u of %u masters had no vote",
                 report->nodes - report->granted - report->held, report->nodes);
    else if (holder)
        snprintf(why.text, sizeof(why.text), "held by %.200s",
                 cli_text(holder->holder, holder->holder_len).text);
    (void)notify("STATUS=waiting for %s; at %s: %s", cli_names_text(cli).text,
                 cli_clock_text().text, why.text);
}

void run_notify_ready(struct run *run)
{
    if (run->started && !run->ready_told)
        run->ready_told = notify("READY=1\nSTATUS=has %s since %s",
                                 cli_names_text(run->cli).text, cli_clock_text().text);
}

/* The text has masters' words, of any bytes. */
void run_notify_lost(const struct run *run, int released)
{
    const char *why = run_account(run, released);
    (void)notify("STATUS=%s was %s at %s: %s", cli_names_text(run->cli).text,
                 run_was_held(run, released) ? "given up" : "lost", cli_clock_text().text,
                 cli_text(why, strlen(why)).text);
}
