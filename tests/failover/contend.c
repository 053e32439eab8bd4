/* contend.c - users of locks beside failovers, and what they saw, for suite.py.
 *
 *   contend LIST DIRECTORY NAMES CONTENDERS IDLE TTL_MS WHO [SOURCE]
 *
 * Each user is a client of its own. Contenders take one of NAMES locks, keep it for a while, and
 * release it, over and over. Idle ones have been connected once. They take other names, each when a
 * line on standard input says so: "0", "1" or "2", a third of them each. The last third waits for
 * its lock, and keeps it longer. The end of the input ends all.
 * A grant is a line, "grant WHO NAME BEGIN", and so is each hold, "hold WHO NAME BEGIN END
 * FENCING-TOKEN LOST", in microseconds of the monotonic clock. A hold begins when the call has
 * returned. It ends when the release is begun, or when the validity was to end that was shown last:
 * then it is lost. So it is never longer than what its user was told.
 * Each lock guards a file, too. "trespass WHO NAME" is a line where another wrote to it meanwhile,
 * and "late WHO NAME" where our own validity was over when we had written. "loss WHO NAME TEXT"
 * says how a lock was lost.
 * SOURCE is the address from which it connects. */
#include "config_auto.h"

#include "redlock.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    USERS_MAX = 128,
    NAMES_MAX = 16,
    THIRDS = 3,
    LOOK_US = 4000,
    WAIT_MS = 2000,
    LONG_WAIT_MS = 6000,
    IDLE_HOLD_MS = 400,
    LONG_HOLD_MS = 1500,
};

static struct {
    const char *list;
    unsigned names, contenders, idle, ttl_ms;
    const char *who;
    bool fenced;
    int file[NAMES_MAX];
    struct sockaddr_in source; /* family 0: as the kernel has it */
    pthread_mutex_t mutex;
    pthread_cond_t asked;
    unsigned turn[THIRDS]; /* of the idle ones */
    bool over;
} play = {.mutex = PTHREAD_MUTEX_INITIALIZER, .asked = PTHREAD_COND_INITIALIZER};

/* In place of the C library's, also for libredlock. */
__attribute__((visibility("default"))) int connect(int fd, const struct sockaddr *to, socklen_t len)
{
    int on = 1;
    if (play.source.sin_family == AF_INET && to->sa_family == AF_INET) {
        setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
        if (bind(fd, (const struct sockaddr *)&play.source, sizeof(play.source)) != 0)
            return -1;
    }
    return (int)syscall(SYS_connect, fd, to, len);
}

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

static void nap_us(long us)
{
    struct timespec nap = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
    nanosleep(&nap, NULL);
}

static bool is_over(void)
{
    pthread_mutex_lock(&play.mutex);
    bool over = play.over;
    pthread_mutex_unlock(&play.mutex);
    return over;
}

/* What is written whole and read whole. */
struct mark {
    unsigned user;
    int64_t begin;
};

static bool is_mine(unsigned name, const struct mark *mark)
{
    struct mark there;
    return pread(play.file[name], &there, sizeof(there), 0) == sizeof(there) &&
           memcmp(&there, mark, sizeof(there)) == 0;
}

/* Until when it is ours, as the lock says now; `last` where it is over. */
static int64_t known_end(const redlock_lock *lock, int64_t last, bool *ret_valid)
{
    int64_t before = now_us();
    int64_t left_ms = redlock_validity_ms(lock);
    *ret_valid = left_ms > 0;
    return left_ms > 0 && before + left_ms * 1000 > last ? before + left_ms * 1000 : last;
}

static void tell_loss(redlock_lock *lock, unsigned user, unsigned name)
{
    redlock_hold_report report = REDLOCK_HOLD_REPORT_INIT(NULL, 0);
    if (redlock_get_hold(lock, &report) == 0)
        printf("loss %s-%u %u %s\n", play.who, user, name, report.text);
}

static void use(redlock_lock *lock, unsigned user, unsigned name, int64_t for_us)
{
    struct mark mark;
    memset(&mark, 0, sizeof(mark));
    mark.user = (unsigned)getpid() * USERS_MAX + user;
    mark.begin = now_us();
    bool valid, trespassed = false;
    int64_t end = known_end(lock, 0, &valid);
    if (valid && pwrite(play.file[name], &mark, sizeof(mark), 0) != sizeof(mark))
        exit(1);
    printf("grant %s-%u %u %lld\n", play.who, user, name, (long long)mark.begin);
    end = known_end(lock, end, &valid);
    if (!valid) /* a write that may have come too late: no lock keeps it away */
        printf("late %s-%u %u\n", play.who, user, name);
    while (valid && now_us() < mark.begin + for_us && !is_over()) {
        nap_us(LOOK_US);
        bool mine = is_mine(name, &mark);
        end = known_end(lock, end, &valid);
        trespassed = trespassed || (valid && !mine);
    }
    int64_t now = now_us();
    end = valid && now < end ? now : end;
    if (end > mark.begin)
        printf("hold %s-%u %u %lld %lld %llu %d\n", play.who, user, name, (long long)mark.begin,
               (long long)end, (unsigned long long)redlock_fencing_token(lock), !valid);
    if (!valid)
        tell_loss(lock, user, name);
    if (trespassed)
        printf("trespass %s-%u %u\n", play.who, user, name);
}

static redlock *open_client(void)
{
    redlock *client;
    redlock_error error = REDLOCK_ERROR_INIT;
    if (redlock_open(play.list, &error, &client) != 0) {
        fprintf(stderr, "%s\n", error.text);
        exit(2);
    }
    return client;
}

static void take(redlock *client, unsigned user, unsigned name, int64_t for_us, int64_t wait_ms)
{
    char text[32];
    redlock_lock *lock;
    redlock_options options = REDLOCK_OPTIONS_INIT;
    snprintf(text, sizeof(text), "failover:%u", name);
    options.ttl_ms = play.ttl_ms;
    options.wait_ms = wait_ms;
    options.auto_renew = for_us > play.ttl_ms * INT64_C(300);
    options.fenced = play.fenced;
    int result = redlock_try(client, text, &options, &lock);
    if (result == 0) {
        use(lock, user, name, for_us);
        redlock_release(lock);
    } else if (result != REDLOCK_EHELD) {
        nap_us(20000);
    }
}

static unsigned draw(unsigned *seed, unsigned below)
{
    return (unsigned)rand_r(seed) % below;
}

static void *contend(void *argument)
{
    unsigned user = (unsigned)(size_t)argument, seed = user + (unsigned)getpid();
    redlock *client = open_client();
    while (!is_over()) {
        /* Mostly short, and sometimes for several leases. */
        unsigned for_us =
            draw(&seed, 8) ? 2000 + draw(&seed, 60000) : draw(&seed, 2000 * play.ttl_ms);
        take(client, user, draw(&seed, play.names), for_us, WAIT_MS);
    }
    redlock_close(client);
    return NULL;
}

static void *idle(void *argument)
{
    unsigned user = (unsigned)(size_t)argument, of_idle = user - play.contenders;
    unsigned third = of_idle % THIRDS, name = play.names + of_idle / THIRDS, seen = 0;
    bool waits = third == 2;
    redlock_status_report status = REDLOCK_STATUS_INIT(NULL, 0);
    redlock *client = open_client();
    redlock_get_status(client, &status);
    pthread_mutex_lock(&play.mutex);
    for (;;) {
        while (!play.over && play.turn[third] == seen)
            pthread_cond_wait(&play.asked, &play.mutex);
        if (play.over)
            break;
        seen = play.turn[third];
        pthread_mutex_unlock(&play.mutex);
        take(client, user, name, waits ? LONG_HOLD_MS * 1000 : IDLE_HOLD_MS * 1000,
             waits ? LONG_WAIT_MS : 0);
        pthread_mutex_lock(&play.mutex);
    }
    pthread_mutex_unlock(&play.mutex);
    redlock_close(client);
    return NULL;
}

static void read_moments(void)
{
    char line[16];
    while (fgets(line, sizeof(line), stdin)) {
        pthread_mutex_lock(&play.mutex);
        play.turn[(line[0] - '0') % THIRDS]++;
        pthread_cond_broadcast(&play.asked);
        pthread_mutex_unlock(&play.mutex);
    }
    pthread_mutex_lock(&play.mutex);
    play.over = true;
    pthread_cond_broadcast(&play.asked);
    pthread_mutex_unlock(&play.mutex);
}

static void open_files(const char *directory)
{
    char path[512];
    for (unsigned i = 0; i < play.names + play.idle / THIRDS; i++) {
        snprintf(path, sizeof(path), "%s/guarded-%u", directory, i);
        play.file[i] = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (play.file[i] < 0)
            exit(1);
    }
}

int main(int argc, char **argv)
{
    pthread_t thread[USERS_MAX];
    if (argc < 8)
        return 64;
    play.list = argv[1];
    play.names = (unsigned)strtoul(argv[3], NULL, 10);
    play.contenders = (unsigned)strtoul(argv[4], NULL, 10);
    play.idle = (unsigned)strtoul(argv[5], NULL, 10);
    play.ttl_ms = (unsigned)strtoul(argv[6], NULL, 10);
    play.who = argv[7];
    play.fenced = getenv("UNFENCED") == NULL;
    unsigned users = play.contenders + play.idle;
    if (play.names == 0 || play.names + play.idle / THIRDS > NAMES_MAX || play.idle % THIRDS != 0 ||
        users > USERS_MAX || play.ttl_ms == 0)
        return 64;
    if (argc > 8) {
        play.source.sin_family = AF_INET;
        if (inet_pton(AF_INET, argv[8], &play.source.sin_addr) != 1)
            return 64;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    open_files(argv[2]);
    for (unsigned i = 0; i < users; i++)
        if (pthread_create(&thread[i], NULL, i < play.contenders ? contend : idle,
                           (void *)(size_t)i) != 0)
            return 1;
    read_moments();
    for (unsigned i = 0; i < users; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
