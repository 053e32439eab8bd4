/* holder.c - holds a lock from its start until its input ends, whatever becomes of the package.
 *
 *   holder NODES NAME
 */
#include <redlock.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    redlock *client = NULL;
    redlock_lock *lock = NULL;
    redlock_error error = REDLOCK_ERROR_INIT;
    redlock_options how = REDLOCK_OPTIONS_INIT;
    how.wait_ms = 10000;
    how.auto_renew = 1;
    int code = argc == 3 ? redlock_open(argv[1], &error, &client) : REDLOCK_EINVAL;
    if (!code)
        code = redlock_try(client, argv[2], &how, &lock);
    if (!code) {
        puts("holding"), fflush(stdout);
        while (getchar() != EOF)
            ;
        int64_t validity_ms = redlock_validity_ms(lock);
        code = redlock_release(lock);
        printf("validity %lld, release %s\n", (long long)validity_ms, redlock_err_name(code));
    } else {
        printf("%s %s\n", redlock_err_name(code), error.text);
    }
    redlock_close(client);
    return code != 0;
}
