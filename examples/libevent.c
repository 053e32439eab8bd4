/* libevent.c - a lock in a libevent loop: nothing blocks, and every callback runs in the loop.
 *
 *   libevent NODES NAME
 *
 * Waits for the lock NAME, adds one to the number in the file ./counter ten times, with some
 * work before each, and gives the lock back. It is renewed meanwhile, however short its lease
 * is. TERM and INT end it before its time. What ties the library to the loop is arm(),
 * drive() and attach(); the rest is the same in poll.c and libuv.c.
 */
#define _POSIX_C_SOURCE 200809L /* what libevent's headers need of time */

#include <redlock.h>

#include <event2/event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

#define WAIT_MS 30000 /* for others to be done, at most */
#define STEPS 10
#define WORK_MS 150   /* of a step */
#define EFFECT_MS 100 /* what writing the number may take at the very most */

static struct {
    redlock *client;
    struct event_base *base;
    struct event *readable; /* the library's descriptor */
    struct event *deadline; /* and when it needs us even so */
    struct event *work;     /* ours: the end of the step at hand */
    struct event *term, *interrupt;
    redlock_lock *lock; /* NULL: not ours */
    long number;        /* as it was read for this step */
    int steps;          /* that were done */
} service;

/* ---- the library in the loop ------------------------------------------------------------ */

/* Call it after each redlock_process(), and after each asynchronous call that is not made in
 * one of the library's callbacks: it may have to be woken earlier than before. */
static void arm(void)
{
    int ms = redlock_timeout_ms(service.client);
    struct timeval after = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
    if (ms >= 0)
        event_add(service.deadline, &after);
    else
        event_del(service.deadline);
}

static void drive(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    (void)context;
    redlock_process(service.client); /* runs on_taken() and the others */
    arm();
}

/* The first redlock_fd() says that this loop drives the client from now on. */
static int attach(void)
{
    int fd = redlock_fd(service.client);
    if (fd < 0)
        return fd;
    service.deadline = evtimer_new(service.base, drive, NULL);
    service.readable = event_new(service.base, fd, EV_READ | EV_PERSIST, drive, NULL);
    if (!service.deadline || !service.readable)
        return REDLOCK_ENOMEM;
    return event_add(service.readable, NULL) == 0 ? 0 : REDLOCK_ESYSTEM;
}

/* ---- the lock, and the work under it ---------------------------------------------------- */

static void on_released(void *context, int result, redlock_lock *lock)
{
    (void)context;
    (void)lock;
    if (result != REDLOCK_OK)
        fprintf(stderr, "releasing: %s\n", redlock_strerror(result));
    event_base_loopbreak(service.base);
}

static void give_back(void)
{
    redlock_lock *lock = service.lock;
    service.lock = NULL;
    event_del(service.work);
    int code = redlock_release_async(lock, on_released, NULL);
    if (code != REDLOCK_OK) /* it could not be begun: there will be no call */
        on_released(NULL, code, NULL);
}

static void begin_step(void)
{
    static const struct timeval work_time = {.tv_usec = WORK_MS * 1000};
    FILE *file = fopen("counter", "r");
    if (!file || fscanf(file, "%ld", &service.number) != 1)
        service.number = 0;
    if (file)
        fclose(file);
    event_add(service.work, &work_time); /* here the real work would begin */
}

static bool write_number(long number)
{
    FILE *file = fopen("counter", "w");
    bool written = file && fprintf(file, "%ld\n", number) > 0;
    return file && fclose(file) == 0 && written;
}

static void end_step(void)
{
    /* Right before the effect, and with the time that it takes: earlier says nothing. */
    if (redlock_validity_ms(service.lock) < EFFECT_MS) {
        fprintf(stderr, "too late to write\n");
        give_back();
    } else if (!write_number(service.number + 1)) {
        perror("counter");
        give_back();
    } else if (++service.steps < STEPS) {
        begin_step();
    } else {
        give_back();
    }
}

/* Renewing failed, or somebody took the lock away: its validity is 0. */
static void on_lost(void *context, redlock_lock *lock)
{
    (void)context;
    (void)lock;
    fprintf(stderr, "lost the lock\n");
    give_back();
}

static void on_taken(void *context, int result, redlock_lock *lock)
{
    (void)context;
    if (result != REDLOCK_OK) {
        fprintf(stderr, "not taken: %s\n", redlock_strerror(result));
        event_base_loopbreak(service.base);
        return;
    }
    service.lock = lock;
    printf("taken\n");
    begin_step();
}

static int take(const char *name)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.wait_ms = WAIT_MS;
    options.auto_renew = 1;
    options.on_lost = on_lost;
    int code =
        redlock_try_async(service.client, name, &options, on_taken, NULL, NULL);
    if (code == REDLOCK_OK)
        printf("waiting for %s\n", name);
    return code;
}

/* ---- the loop --------------------------------------------------------------------------- */

static void on_worked(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    (void)context;
    end_step();
    arm(); /* the lock may have been given back */
}

/* Who waits for the lock stops waiting; who has it gives it back. */
static void on_signal(evutil_socket_t number, short what, void *context)
{
    (void)number;
    (void)what;
    (void)context;
    redlock_shutdown(service.client);
    if (service.lock)
        give_back();
    arm();
}

static int set_up(void)
{
    service.base = event_base_new();
    if (!service.base)
        return REDLOCK_ESYSTEM;
    service.work = evtimer_new(service.base, on_worked, NULL);
    service.term = evsignal_new(service.base, SIGTERM, on_signal, NULL);
    service.interrupt = evsignal_new(service.base, SIGINT, on_signal, NULL);
    if (!service.work || !service.term || !service.interrupt)
        return REDLOCK_ENOMEM;
    event_add(service.term, NULL);
    event_add(service.interrupt, NULL);
    return attach();
}

static void tear_down(void)
{
    struct event *const events[] = {service.readable, service.deadline, service.work,
                                    service.term, service.interrupt};
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        if (events[i])
            event_free(events[i]); /* before the descriptor is gone */
    }
    if (service.base)
        event_base_free(service.base);
    libevent_global_shutdown();
}

static int run(const char *name)
{
    int code = set_up();
    if (code == REDLOCK_OK)
        code = take(name);
    if (code == REDLOCK_OK) {
        arm();
        event_base_dispatch(service.base); /* until event_base_loopbreak() */
    } else {
        fprintf(stderr, "%s\n", redlock_strerror(code));
    }
    tear_down();
    printf("%d steps\n", service.steps);
    return service.steps == STEPS ? 0 : 1;
}

int main(int argc, char **argv)
{
    redlock_error error = REDLOCK_ERROR_INIT;
    if (argc != 3) {
        fprintf(stderr, "usage: libevent NODES NAME\n");
        return 64;
    }
    if (redlock_open(argv[1], &error, &service.client) != REDLOCK_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    int status = run(argv[2]);
    redlock_close(service.client);
    return status;
}
