/* tags: unsanitized */
/* test_sandbox.c - a sandbox that refuses one call of the system, from the beginning or later on:
 * each call of ours ends with a code, nothing spins, and nothing aborts. */
#include "config_auto.h"

#include "client.h"
#include "masters.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS 2000
#define IDLE_US 50000    /* the background thread has nothing to do by then, and sleeps */
#define CPU_MOST_MS 1000 /* a loop that spins takes all that it can get of the wait */

static const struct {
    const char *name;
    int number;
    int early, later; /* the code of a try, or of opening; 1: any; 2: it is not tried */
} calls[] = {
    {"socket", SYS_socket, REDLOCK_ENOQUORUM, REDLOCK_OK},
    {"connect", SYS_connect, REDLOCK_ENOQUORUM, REDLOCK_OK},
    {"setsockopt", SYS_setsockopt, 1, REDLOCK_OK},
    {"getsockopt", SYS_getsockopt, 1, REDLOCK_OK},
    {"fcntl", SYS_fcntl, 1, 1},
    {"epoll_create1", SYS_epoll_create1, REDLOCK_ESYSTEM, REDLOCK_OK},
    {"epoll_ctl", SYS_epoll_ctl, 1, 1},
    {"epoll_wait", SYS_epoll_wait, 1, 1},
    {"epoll_pwait", SYS_epoll_pwait, 1, 1},
    {"poll", SYS_poll, 1, 1},
    {"ppoll", SYS_ppoll, 1, 1},
    {"eventfd2", SYS_eventfd2, REDLOCK_ESYSTEM, 1},
    {"timerfd_create", SYS_timerfd_create, 1, 1},
    {"timerfd_settime", SYS_timerfd_settime, 1, 1},
    {"clone", SYS_clone, 1, 1},
    {"clone3", SYS_clone3, 1, 1},
    {"getrandom", SYS_getrandom, 1, 1},
    {"recvfrom", SYS_recvfrom, 1, 1},
    {"recvmsg", SYS_recvmsg, 1, 1},
    {"sendto", SYS_sendto, 1, 1},
    {"sendmsg", SYS_sendmsg, 1, 1},
    {"read", SYS_read, 1, 1},
    {"write", SYS_write, REDLOCK_ESYSTEM, 2}, /* no thread can be woken any more */
    {"close", SYS_close, 1, 1},
    {"uname", SYS_uname, 1, 1},
    {"getpid", SYS_getpid, 1, 1},
    {"gettid", SYS_gettid, 1, 1},
    {"sched_yield", SYS_sched_yield, 1, 1},
};

static struct masters *masters;

static void set_up(void)
{
    masters = masters_start(3, NULL);
}

static void tear_down(void)
{
    masters_stop(masters);
}

static bool refuse(int number)
{
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {.len = sizeof(program) / sizeof(program[0]), .filter = program};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/* In a process of its own. Its exit status is the code, without sign. */
static int use(const char *list, int number, bool early)
{
    redlock_error error = REDLOCK_ERROR_INIT;
    redlock_options wait = REDLOCK_OPTIONS_INIT;
    redlock *client = NULL;
    redlock_lock *lock = NULL;
    wait.ttl_ms = 8000;
    wait.wait_ms = WAIT_MS;
    wait.auto_renew = 1;
    if (early && !refuse(number))
        return 77;
    int code = redlock_open(list, &error, &client);
    if (code != 0)
        return error.text[0] ? -code : 78; /* an error has words */
    if (!early) {
        code = redlock_try(client, "first", &wait, &lock);
        if (code != 0 || redlock_release(lock) != 0 || !refuse(number))
            return 79;
    }
    code = redlock_try(client, "name", &wait, &lock);
    if (code == 0 && redlock_validity_ms(lock) <= 0)
        return 80;
    if (code == 0)
        (void)redlock_release(lock);
    usleep(IDLE_US);
    redlock_close(client);
    return -code;
}

static void expect(unsigned row, bool early)
{
    const char *list = masters_file(masters, NULL);
    struct rusage before, after;
    int status = 0, wanted = early ? calls[row].early : calls[row].later;
    if (wanted == 2)
        return;
    getrusage(RUSAGE_CHILDREN, &before);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(use(list, calls[row].number, early));
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    getrusage(RUSAGE_CHILDREN, &after);
    int64_t cpu_ms = (after.ru_utime.tv_sec - before.ru_utime.tv_sec +
                      after.ru_stime.tv_sec - before.ru_stime.tv_sec) * 1000 +
                     (after.ru_utime.tv_usec - before.ru_utime.tv_usec +
                      after.ru_stime.tv_usec - before.ru_stime.tv_usec) / 1000;
    ck_assert_msg(WIFEXITED(status), "%s: signal %d", calls[row].name, WTERMSIG(status));
    int code = -WEXITSTATUS(status);
    ck_assert_msg(code > -77, "%s: %d", calls[row].name, code);
    ck_assert_msg(wanted == 1 || code == wanted, "%s: %d", calls[row].name, code);
    ck_assert_msg(cpu_ms < CPU_MOST_MS, "%s: %d ms of CPU", calls[row].name, (int)cpu_ms);
}

TEST(sandbox, refused_from_the_beginning, .rows = ROWS(calls))
{
    expect((unsigned)_i, true);
}

TEST(sandbox, refused_later, .rows = ROWS(calls))
{
    expect((unsigned)_i, false);
}

/* ---- what is told ------------------------------------------------------------------------ */

static const struct {
    int number;
    const char *call;
} needed[] = {{SYS_epoll_create1, "epoll_create1()"}, {SYS_eventfd2, "eventfd()"}};

/* In a process of its own: that is done. */
static void expect_in_child(int (*does)(const char *list, int row), int row)
{
    const char *list = masters_file(masters, NULL);
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(does(list, row));
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "row %d: %x", row, status);
}

/* It is no lack of descriptors, which somebody could mend. */
static int open_without(const char *list, int row)
{
    redlock_error error = REDLOCK_ERROR_INIT;
    redlock *client = NULL;
    if (!refuse(needed[row].number) || redlock_open(list, &error, &client) != REDLOCK_ESYSTEM)
        return 1;
    return !strstr(error.text, needed[row].call) || !strstr(error.text, "sandbox");
}

TEST(told, descriptor_that_is_refused_is_no_lack_of_them, .rows = ROWS(needed))
{
    expect_in_child(open_without, _i);
}

static const struct {
    int number[2];
    const char *line;
} threads[] = {
    {{SYS_eventfd2, SYS_eventfd2}, "no background thread to be had: eventfd(): "},
    {{SYS_clone, SYS_clone3}, "no background thread to be had: pthread_create(): "},
};

static unsigned told;

static void hear(void *context, int level, const char *text)
{
    const char *line = context;
    told += level == REDLOCK_LOG_WARNING && strncmp(text, line, strlen(line)) == 0;
}

/* Each try needs the thread, and says so by its code. */
static int use_without_thread(const char *list, int row)
{
    redlock_config config = REDLOCK_CONFIG_INIT;
    redlock_options renewed = REDLOCK_OPTIONS_INIT;
    redlock *client = NULL;
    redlock_lock *lock = NULL;
    config.file = list;
    config.log = hear;
    config.log_context = (void *)(uintptr_t)threads[row].line;
    renewed.auto_renew = 1;
    if (redlock_open_config(&config, NULL, &client) != 0 || !refuse(threads[row].number[0]) ||
        !refuse(threads[row].number[1]))
        return 1;
    for (unsigned i = 0; i < 3; i++) {
        if (redlock_try(client, "name", &renewed, &lock) != REDLOCK_ESYSTEM)
            return 2;
    }
    redlock_close(client);
    return told == 1 ? 0 : 3;
}

TEST(told, thread_that_is_refused_is_told_once, .rows = ROWS(threads))
{
    expect_in_child(use_without_thread, _i);
}

CASE(told, .timeout_s = 60, .set_up_once = set_up, .tear_down_once = tear_down)
CASE(sandbox, .timeout_s = 60, .set_up_once = set_up, .tear_down_once = tear_down)
