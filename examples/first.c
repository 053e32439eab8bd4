#include <redlock.h>
#include <stdio.h>

int main(void)
{
    redlock *client = NULL;
    redlock_lock *lock;
    int code = redlock_open("five/redlock.conf", NULL, &client);
    if (!code && !(code = redlock_try(client, "orders:42", NULL, &lock))) {
        printf("orders:42 is ours for %lld ms\n", (long long)redlock_validity_ms(lock));
        code = redlock_release(lock);
    }
    redlock_close(client);
    return code ? puts(redlock_strerror(code)), 1 : 0;
}
