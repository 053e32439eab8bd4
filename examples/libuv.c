/* libuv.c - a lock in a libuv loop: nothing blocks, and every callback runs in the loop.
 *
 *   libuv NODES NAME
 *
 * Waits for the lock NAME, adds one to the number in the file ./counter ten times, with some
 * work before each, and gives the lock back. It is renewed meanwhile, however short its lease
 * is. TERM and INT end it before its time. What ties the library to the loop is arm(),
 * drive() and attach(); the rest is the same in poll.c and libevent.c.
 */
#define _POSIX_C_SOURCE 200809L /* what libuv's header needs of threads */

#include <redlock.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <uv.h>

#define WAIT_MS 30000 /* for others to be done, at most */
#define STEPS 10
#define WORK_MS 150   /* of a step */
#define EFFECT_MS 100 /* what writing the number may take at the very most */

static struct {
    redlock *client;
    uv_loop_t loop;
    uv_poll_t readable;  /* the library's descriptor */
    uv_timer_t deadline; /* and when it needs us even so */
    uv_timer_t work;     /* ours: the end of the step at hand */
    uv_signal_t term, interrupt;
    redlock_lock *lock; /* NULL: not ours */
    long number;        /* as it was read for this step */
    int steps;          /* that were done */
} service;

/* ---- the library in the loop ------------------------------------------------------------ */

static void on_deadline(uv_timer_t *timer);

/* Call it after each redlock_process(), and after each asynchronous call that is not made in
 * one of the library's callbacks: it may have to be woken earlier than before. */
static void arm(void)
{
    int ms = redlock_timeout_ms(service.client);
    if (ms >= 0)
        uv_timer_start(&service.deadline, on_deadline, (uint64_t)ms, 0);
    else
        uv_timer_stop(&service.deadline);
}

static void drive(void)
{
    redlock_process(service.client); /* runs on_taken() and the others */
    arm();
}

static void on_deadline(uv_timer_t *timer)
{
    (void)timer;
    drive();
}

static void on_readable(uv_poll_t *handle, int status, int events)
{
    (void)handle;
    (void)status;
    (void)events;
    drive();
}

/* The first redlock_fd() says that this loop drives the client from now on. */
static int attach(void)
{
    int fd = redlock_fd(service.client);
    if (fd < 0)
        return fd;
    uv_timer_init(&service.loop, &service.deadline);
    if (uv_poll_init(&service.loop, &service.readable, fd) != 0)
        return REDLOCK_ESYSTEM;
    return uv_poll_start(&service.readable, UV_READABLE, on_readable) == 0 ? 0
                                                                           : REDLOCK_ESYSTEM;
}

/* ---- the lock, and the work under it ---------------------------------------------------- */

static void on_released(void *context, int result, redlock_lock *lock)
{
    (void)context;
    (void)lock;
    if (result != REDLOCK_OK)
        fprintf(stderr, "releasing: %s\n", redlock_strerror(result));
    uv_stop(&service.loop);
}

static void give_back(void)
{
    redlock_lock *lock = service.lock;
    service.lock = NULL;
    uv_timer_stop(&service.work);
    int code = redlock_release_async(lock, on_released, NULL);
    if (code != REDLOCK_OK) /* it could not be begun: there will be no call */
        on_released(NULL, code, NULL);
}

static void on_worked(uv_timer_t *timer);

static void begin_step(void)
{
    FILE *file = fopen("counter", "r");
    if (!file || fscanf(file, "%ld", &service.number) != 1)
        service.number = 0;
    if (file)
        fclose(file);
    uv_timer_start(&service.work, on_worked, WORK_MS, 0); /* the real work would begin here */
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
        uv_stop(&service.loop);
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

static void on_worked(uv_timer_t *timer)
{
    (void)timer;
    end_step();
    arm(); /* the lock may have been given back */
}

/* Who waits for the lock stops waiting; who has it gives it back. */
static void on_signal(uv_signal_t *handle, int number)
{
    (void)handle;
    (void)number;
    redlock_shutdown(service.client);
    if (service.lock)
        give_back();
    arm();
}

static void close_handle(uv_handle_t *handle, void *context)
{
    (void)context;
    uv_close(handle, NULL);
}

static int run(const char *name)
{
    uv_loop_init(&service.loop);
    uv_timer_init(&service.loop, &service.work);
    uv_signal_init(&service.loop, &service.term);
    uv_signal_init(&service.loop, &service.interrupt);
    uv_signal_start(&service.term, on_signal, SIGTERM);
    uv_signal_start(&service.interrupt, on_signal, SIGINT);
    int code = attach();
    if (code == REDLOCK_OK)
        code = take(name);
    if (code == REDLOCK_OK) {
        arm();
        uv_run(&service.loop, UV_RUN_DEFAULT); /* until uv_stop() */
    } else {
        fprintf(stderr, "%s\n", redlock_strerror(code));
    }
    uv_walk(&service.loop, close_handle, NULL); /* before the descriptor is gone */
    uv_run(&service.loop, UV_RUN_DEFAULT);
    uv_loop_close(&service.loop);
    printf("%d steps\n", service.steps);
    return service.steps == STEPS ? 0 : 1;
}

int main(int argc, char **argv)
{
    redlock_error error = REDLOCK_ERROR_INIT;
    if (argc != 3) {
        fprintf(stderr, "usage: libuv NODES NAME\n");
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
