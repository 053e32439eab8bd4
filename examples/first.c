#include <redlock.h>
#include <stdio.h>

int main(void)
{
    redlock *client = NULL;
    redlock_lock *lock;
    if (redlock_open("five/redlock.conf", NULL, &client) == REDLOCK_OK &&
        redlock_try(client, "orders:42", NULL, &lock) == REDLOCK_OK) {
        printf("orders:42 is ours for %lld ms\n", (long long)redlock_validity_ms(lock));
        redlock_release(lock);
    }
    redlock_close(client);
    return 0;
}
