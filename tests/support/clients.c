/* clients.c - see clients.h. */
#include "config_auto.h"

#include "clients.h"

struct masters *masters;
redlock *one, *two;

void open_cold_clients(unsigned n, const char *settings)
{
    masters = masters_start(n, NULL);
    one = client_open(masters_file(masters, settings));
    two = client_open(masters_file(masters, settings));
}

void open_clients(unsigned n, const char *settings)
{
    open_cold_clients(n, settings);
    ck_assert(wait_until(client_ready(one) == n && client_ready(two) == n, 10000));
}

void close_clients(void)
{
    redlock_close(one);
    redlock_close(two);
    masters_stop(masters);
}
