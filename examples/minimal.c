/* minimal.c - add one to the number in the file ./counter, safely beside others. */
#include <errno.h>
#include <redlock.h>
#include <stdio.h>
#include <string.h>

/* The work; 0 where it was not done. The lease is looked at right before the effect. */
static int add_one(const redlock_lock *lock)
{
    long number = 0;
    FILE *file = fopen("counter", "r+");
    if (!file && errno == ENOENT)
        file = fopen("counter", "w+"); /* the first of all begins with 0 */
    int read = file && (fscanf(file, "%ld", &number) == 1 || feof(file));
    int late = redlock_validity_ms(lock) <= 500;
    int done = read && !late && fseek(file, 0, SEEK_SET) == 0 &&
               fprintf(file, "%ld\n", number + 1) > 0;
    if (file && fclose(file) != 0)
        done = 0;
    if (done)
        printf("counter is %ld\n", number + 1);
    else
        fprintf(stderr, "counter: %s\n", late ? "the lock ends too soon" : strerror(errno));
    return done;
}

int main(int argc, char **argv)
{
    redlock_error error = REDLOCK_ERROR_INIT;
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock *client;
    redlock_lock *lock;

    if (redlock_open(argc > 1 ? argv[1] : "redlock.conf", &error, &client) != 0) {
        fprintf(stderr, "%s\n", error.text); /* which file, what is wrong, where */
        return 1;
    }
    options.wait_ms = 30000; /* for others to be done, at most */
    int done = 0;
    int code = redlock_try(client, "counter", &options, &lock);
    if (code == 0) {
        done = add_one(lock);
        code = redlock_release(lock);
    }
    if (code != 0)
        fprintf(stderr, "%s\n", redlock_strerror(code));
    redlock_close(client);
    return done ? 0 : 1;
}
