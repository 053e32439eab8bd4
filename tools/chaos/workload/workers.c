/* workers.c - see workers.h. Each contender leads a process group, and signals go to the group,
 * so that a foreign client is stopped and killed with its contender. */
#include "config_auto.h"

#include "chaos/workload/workers.h"

#include "base/clock.h"
#include "base/limits.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define END_LIMIT_MS 8000 /* a release that waits for masters takes less */

static _Noreturn void be_contender(const struct chaos_workers *workers, unsigned client)
{
    static const int usual[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE};
    struct chaos_seat *seat = &workers->record->seat[client];
    struct chaos_contender contender = {
        .options = workers->options,
        .record = workers->record,
        .seat = seat,
        .nodes = chaos_proxies_nodes(workers->proxies),
        .path = chaos_proxies_path(workers->proxies, client, 0),
    };
    setpgid(0, 0);
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
        signal(usual[i], SIG_DFL);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != workers->record->parent)
        _exit(1);
    if (!chaos_heartbeat(&workers->record->stalls[client], CHAOS_STALLED_CONTENDER, client))
        _exit(1);
    uint64_t life = atomic_fetch_add(&seat->lives, 1);
    rl_prng_seed(&contender.prng, workers->options->seed ^ (client + 1) << 20 ^ life << 40);
    _exit(workers->body(&contender));
}

static bool begin(struct chaos_workers *workers, unsigned client)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        be_contender(workers, client);
    if (pid < 0)
        return false;
    setpgid(pid, pid); /* both sides do it, so that the group exists in time */
    workers->pid[client] = pid;
    workers->stopped[client] = workers->vacant[client] = false;
    return true;
}

bool chaos_workers_start(struct chaos_workers *workers, const struct chaos_options *options,
                         struct chaos_record *record, struct chaos_proxies *proxies, char *why,
                         size_t why_size)
{
    assert(record->parent == getpid());
    *workers = (struct chaos_workers){.options = options, .record = record, .proxies = proxies};
    workers->body = options->client_cmd != NULL       ? chaos_contend_client
                    : chaos_client_is_broken(options) ? chaos_contend_broken
                                                      : chaos_contend_redlock;
    for (unsigned i = 0; i < options->clients; i++)
        if (!begin(workers, i)) {
            snprintf(why, why_size, "cannot start a contender: %s", strerror(errno));
            chaos_workers_end(workers, NULL, NULL);
            return false;
        }
    return true;
}

static void describe(unsigned client, int status, char *why, size_t why_size)
{
    if (WIFSIGNALED(status))
        snprintf(why, why_size, "contender %u was ended by signal %d (%s)", client,
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(why, why_size, "contender %u ended with status %d", client,
                 WEXITSTATUS(status));
}

/* End the processes that a foreign client may have left in its contender's group. */
static void end_group(const struct chaos_workers *workers, pid_t leader)
{
    if (workers->options->client_cmd != NULL)
        kill(-leader, SIGKILL);
}

bool chaos_workers_fine(struct chaos_workers *workers, char *why, size_t why_size)
{
    bool fine = true;
    for (unsigned i = 0; i < workers->options->clients; i++) {
        int status;
        if (workers->pid[i] == 0 ||
            waitpid(workers->pid[i], &status, WNOHANG) != workers->pid[i])
            continue;
        if (fine)
            describe(i, status, why, why_size);
        end_group(workers, workers->pid[i]);
        workers->pid[i] = 0;
        fine = false;
    }
    if (!fine && atomic_load(&workers->record->failed) == 2)
        snprintf(why, why_size, "%s", workers->record->failure);
    return fine;
}

int chaos_workers_holder(const struct chaos_workers *workers, uint64_t not, int64_t more_ms)
{
    int64_t now_ns = chaos_record_now_ns(workers->record);
    for (unsigned i = 0; i < workers->options->clients; i++) {
        int64_t until_ns = atomic_load(&workers->record->seat[i].believes_until_ns);
        if ((not>> i & 1) == 0 && workers->pid[i] != 0 && !workers->stopped[i] &&
            until_ns > now_ns + more_ms * RL_NS_PER_MS)
            return (int)i;
    }
    return -1;
}

static bool signal_and_await(pid_t pid, int number, int options)
{
    int status;
    if (kill(-pid, number) != 0)
        return false;
    while (waitpid(pid, &status, options) < 0)
        if (errno != EINTR)
            return false;
    return options == WUNTRACED    ? WIFSTOPPED(status)
           : options == WCONTINUED ? WIFCONTINUED(status)
                                   : WIFSIGNALED(status);
}

bool chaos_workers_stop(struct chaos_workers *workers, unsigned client)
{
    assert(workers->pid[client] > 0 && !workers->stopped[client]);
    workers->stopped[client] = signal_and_await(workers->pid[client], SIGSTOP, WUNTRACED);
    return workers->stopped[client];
}

bool chaos_workers_resume(struct chaos_workers *workers, unsigned client)
{
    if (workers->pid[client] == 0 || !workers->stopped[client])
        return false;
    workers->stopped[client] = !signal_and_await(workers->pid[client], SIGCONT, WCONTINUED);
    return !workers->stopped[client];
}

/* Room is made by powers of two. */
static bool note_kill(struct chaos_workers *workers, unsigned client)
{
    size_t count = workers->kill_count;
    if ((count & (count - 1)) == 0) {
        struct chaos_kill *more =
            realloc(workers->kills, (count ? 2 * count : 1) * sizeof(*more));
        if (!more)
            return false;
        workers->kills = more;
    }
    workers->kills[workers->kill_count++] =
        (struct chaos_kill){chaos_record_now_ns(workers->record), client};
    return true;
}

bool chaos_workers_kill(struct chaos_workers *workers, unsigned client)
{
    assert(workers->pid[client] > 0);
    if (!note_kill(workers, client))
        return false;
    bool killed = signal_and_await(workers->pid[client], SIGKILL, 0);
    workers->pid[client] = 0;
    workers->vacant[client] = true;
    return killed;
}

bool chaos_workers_replace(struct chaos_workers *workers, unsigned client)
{
    atomic_store(&workers->record->seat[client].believes_until_ns, 0);
    return workers->vacant[client] && begin(workers, client);
}

unsigned chaos_workers_end(struct chaos_workers *workers, void (*meanwhile)(void *context),
                           void *context)
{
    struct timespec nap = {.tv_nsec = 5000000};
    unsigned left, killed = 0;
    int64_t limit_ns = rl_clock_now_ns() + END_LIMIT_MS * RL_NS_PER_MS;
    atomic_store(&workers->record->ending, true);
    for (unsigned i = 0; i < workers->options->clients; i++)
        if (workers->stopped[i])
            chaos_workers_resume(workers, i);
    do {
        left = 0;
        for (unsigned i = 0; i < workers->options->clients; i++) {
            if (workers->pid[i] != 0 &&
                waitpid(workers->pid[i], NULL, WNOHANG) == workers->pid[i]) {
                end_group(workers, workers->pid[i]);
                workers->pid[i] = 0;
            }
            left += workers->pid[i] != 0;
        }
        if (meanwhile != NULL)
            meanwhile(context);
        if (left > 0)
            nanosleep(&nap, NULL);
    } while (left > 0 && rl_clock_now_ns() < limit_ns);
    for (unsigned i = 0; i < workers->options->clients; i++)
        if (workers->pid[i] != 0) {
            chaos_workers_kill(workers, i);
            killed++;
        }
    return killed;
}
