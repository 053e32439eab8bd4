/* poll.c - a lock in a loop around poll(): nothing blocks, and every callback runs in the loop.
 *
 *   poll NODES NAME
 *
 * Waits for the lock NAME, adds one to the number in the file ./counter ten times, with some
 * work before each, and gives the lock back. It is renewed meanwhile, however short its lease
 * is. TERM and INT end it before its time. What is done with the lock is the same in libuv.c
 * and libevent.c; the loop is run(), at the end.
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, sigaction */

#include <redlock.h>

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#define WAIT_MS 30000 /* for others to be done, at most */
#define STEPS 10
#define WORK_MS 150   /* of a step */
#define EFFECT_MS 100 /* what writing the number may take at the very most */

static struct {
    redlock *client;
    redlock_lock *lock; /* NULL: not ours */
    int64_t due_ms;     /* when the step at hand is done; -1: none is at hand */
    long number;        /* as it was read for this step */
    int steps;          /* that were done */
    bool over;
} service = {.due_ms = -1};

static volatile sig_atomic_t stopping;

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- the lock, and the work under it ---------------------------------------------------- */

static void on_released(void *context, int result, redlock_lock *lock)
{
    (void)context;
    (void)lock;
    if (result != REDLOCK_OK)
        fprintf(stderr, "releasing: %s\n", redlock_strerror(result));
    service.over = true;
}

static void give_back(void)
{
    redlock_lock *lock = service.lock;
    service.lock = NULL;
    service.due_ms = -1;
    int code = redlock_release_async(lock, on_released, NULL);
    if (code != REDLOCK_OK) /* it could not be begun: there will be no call */
        on_released(NULL, code, NULL);
}

static void begin_step(void)
{
    FILE *file = fopen("counter", "r");
    if (!file || fscanf(file, "%ld", &service.number) != 1)
        service.number = 0;
    if (file)
        fclose(file);
    service.due_ms = now_ms() + WORK_MS; /* here the real work would begin */
}

static bool write_number(long number)
{
    FILE *file = fopen("counter", "w");
    bool written = file && fprintf(file, "%ld\n", number) > 0;
    return file && fclose(file) == 0 && written;
}

static void end_step(void)
{
    service.due_ms = -1;
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
        service.over = true;
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

/* Ends a try that waits, and makes the descriptor readable: no signal can slip in unseen
 * between our look at `stopping` and poll(). */
static void on_signal(int number)
{
    (void)number;
    stopping = 1;
    redlock_shutdown(service.client);
}

/* How long poll() may sleep: until the library or our own timer needs us. -1: for ever. */
static int sleep_ms(void)
{
    int library_ms = redlock_timeout_ms(service.client);
    if (service.due_ms < 0)
        return library_ms;
    int64_t work_ms = service.due_ms - now_ms();
    if (work_ms < 0)
        work_ms = 0;
    return library_ms >= 0 && library_ms < work_ms ? library_ms : (int)work_ms;
}

static int run(const char *name)
{
    /* The first redlock_fd() says that this loop drives the client from now on. A service has
     * its other descriptors in the same array. */
    struct pollfd ready = {.fd = redlock_fd(service.client), .events = POLLIN};
    int code = ready.fd < 0 ? ready.fd : take(name);
    if (code != REDLOCK_OK) {
        fprintf(stderr, "%s\n", redlock_strerror(code));
        return 1;
    }
    while (!service.over) {
        poll(&ready, 1, sleep_ms());
        redlock_process(service.client); /* runs on_taken() and the others; cheap if idle */
        if (service.lock && stopping)
            give_back();
        else if (service.due_ms >= 0 && now_ms() >= service.due_ms)
            end_step();
    }
    printf("%d steps\n", service.steps);
    return service.steps == STEPS ? 0 : 1;
}

int main(int argc, char **argv)
{
    redlock_error error = REDLOCK_ERROR_INIT;
    struct sigaction action = {.sa_handler = on_signal};
    if (argc != 3) {
        fprintf(stderr, "usage: poll NODES NAME\n");
        return 64;
    }
    if (redlock_open(argv[1], &error, &service.client) != REDLOCK_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    int status = run(argv[2]);
    signal(SIGTERM, SIG_IGN); /* no handler may meet a client that is gone */
    signal(SIGINT, SIG_IGN);
    redlock_close(service.client);
    return status;
}
