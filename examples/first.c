#include <redlock.h>
#include <stdio.h>

int main(void)
{
    redlock *client = NULL;
    redlock_lock *lock;
    redlock_error error = REDLOCK_ERROR_INIT;
    int code = redlock_open("five/redlock.conf", &error, &client);
    if (!code && !(code = redlock_try(client, "orders:42", NULL, &lock)))
        printf("orders:42 is ours for %lld ms\n", (long long)redlock_validity_ms(lock)),
            code = redlock_release(lock);
    redlock_close(client);
    return code ? puts(*error.text ? error.text : redlock_strerror(code)), 1 : 0;
}
