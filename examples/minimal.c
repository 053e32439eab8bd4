/* minimal.c - add one to the number in the file ./counter, whoever else is at it. */
#include <redlock.h>
#include <stdio.h>

/* The work; 0 where it was not done. The lease is looked at right before the effect. */
static int add_one(const redlock_lock *lock)
{
    long number = 0;
    FILE *file = fopen("counter", "r+");
    int done = file && fscanf(file, "%ld", &number) == 1 && redlock_validity_ms(lock) > 500 &&
               fseek(file, 0, SEEK_SET) == 0 && fprintf(file, "%ld\n", number + 1) > 0;
    return file && fclose(file) == 0 && done;
}

int main(void)
{
    redlock_error error = REDLOCK_ERROR_INIT;
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock *client;
    redlock_lock *lock;

    options.wait_ms = 30000; /* for others to be done, at most */
    if (redlock_open("redlock.conf", &error, &client) != 0) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
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
