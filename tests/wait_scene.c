/* wait_scene.c - see wait_scene.h. */
#include "config_auto.h"

#include "wait_scene.h"

struct masters *masters;
redlock *one, *two;
struct waiter waiter;

void open_masters(unsigned n)
{
    masters = masters_start(n, NULL);
    one = client_open(masters_file(masters, NULL));
    two = client_open(masters_file(masters, NULL));
    ck_assert(wait_until(client_ready(one) == n && client_ready(two) == n, 10000));
}

void close_all(void)
{
    nothing_is_left(masters);
    redlock_close(one);
    redlock_close(two);
    masters_stop(masters);
}
