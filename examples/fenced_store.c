/* fenced_store.c - a store that refuses writers which are too late, by fencing tokens.
 *
 *   fenced_store NODES FILE TEXT [stop]
 *
 * Takes a lock and writes TEXT to the store, the file FILE. With "stop" it is stopped between
 * its last look at the lease and the write, as a machine that is suspended would be. When the
 * lease is over another has the lock, and the store has that one's token:
 *
 *   $ fenced_store redlock.conf shelf early stop
 *   [1]+  Stopped
 *   $ sleep 30; fenced_store redlock.conf shelf late
 *   written with token 1796000000000002
 *   $ fg
 *   refused: the store has seen token 1796000000000002, and this is 1796000000000001
 */
#define _DEFAULT_SOURCE 1 /* flock, ftruncate */

#include <redlock.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define TEXT_MAX 1000

/* ---- the store: it knows nothing of locks, nodes or clocks ---------------------------------
 */

/* FILE is a line, "TOKEN TEXT". Look and write must be one step: of a database it is one
 * transaction, "UPDATE ... WHERE token <= ?"; here a lock of the kernel's. A token that is the
 * highest itself is good: its holder may write often. */
static bool store_put(int fd, uint64_t token, const char *text)
{
    char line[TEXT_MAX + 32] = "";
    if (flock(fd, LOCK_EX) != 0 || pread(fd, line, sizeof(line) - 1, 0) < 0) {
        perror("the store");
        return false;
    }
    uint64_t highest = strtoull(line, NULL, 10); /* of a new file: 0 */
    if (token < highest) {
        fprintf(stderr,
                "refused: the store has seen token %" PRIu64 ", and this is %" PRIu64 "\n",
                highest, token);
        return false;
    }
    int len = snprintf(line, sizeof(line), "%" PRIu64 " %s\n", token, text);
    if (pwrite(fd, line, (size_t)len, 0) != len || ftruncate(fd, len) != 0) {
        perror("the store");
        return false;
    }
    printf("written with token %" PRIu64 "\n", token);
    return true; /* the exit of the program ends flock() */
}

/* ---- the writer ---------------------------------------------------------------------------
 */

static bool write_under_lock(const redlock_lock *lock, int fd, const char *text, bool stop)
{
    uint64_t token = redlock_fencing_token(lock);
    /* Looking at the lease saves work that would be in vain. It is no proof: what comes next
     * may come at any later time. The token is. */
    if (redlock_validity_ms(lock) == 0) {
        fprintf(stderr, "the lease is over\n");
        return false;
    }
    if (stop)
        raise(SIGSTOP);
    return store_put(fd, token, text);
}

int main(int argc, char **argv)
{
    redlock_error error = REDLOCK_ERROR_INIT;
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock *client;
    redlock_lock *lock;

    bool stop = argc == 5 && strcmp(argv[4], "stop") == 0;
    if ((argc != 4 && !stop) || strlen(argv[3]) > TEXT_MAX) {
        fprintf(stderr, "usage: fenced_store NODES FILE TEXT [stop]\n");
        return 64;
    }
    int fd = open(argv[2], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        fprintf(stderr, "%s: %s\n", argv[2], strerror(errno));
        return 1;
    }
    if (redlock_open(argv[1], &error, &client) != 0) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    options.fenced = 1;
    options.wait_ms = 30000;
    bool written = false;
    int code = redlock_try(client, "fenced_store", &options, &lock);
    if (code == 0) {
        written = write_under_lock(lock, fd, argv[3], stop);
        redlock_release(lock); /* whatever it says: the store has decided */
    } else {
        fprintf(stderr, "not taken: %s\n", redlock_strerror(code));
    }
    redlock_close(client);
    return written ? 0 : 1;
}
