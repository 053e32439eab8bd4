/* clients.c - see clients.h. */
#include "config_auto.h"

#include "clients.h"

#include <stdio.h>

struct masters *masters;
redlock *one, *two;

static void open_both(unsigned n, const char *settings)
{
    masters = masters_start(n, NULL);
    one = client_open(masters_file(masters, settings));
    two = client_open(masters_file(masters, settings));
}

/* Their first calls wait until they have connected: also on a busy machine. */
void open_cold_clients(unsigned n, const char *settings)
{
    char patient[256];
    snprintf(patient, sizeof(patient), "connect-timeout 10s\n%s", settings ? settings : "");
    open_both(n, patient);
}

void open_clients(unsigned n, const char *settings)
{
    open_both(n, settings);
    ck_assert(wait_until(client_ready(one) == n && client_ready(two) == n, 10000));
}

void close_clients(void)
{
    redlock_close(one);
    redlock_close(two);
    masters_stop(masters);
}
