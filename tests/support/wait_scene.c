/* wait_scene.c - see wait_scene.h. */
#include "config_auto.h"

#include "wait_scene.h"

#include "stall.h"

struct waiter waiter;

void open_masters(unsigned n)
{
    open_clients(n, NULL);
}

struct proxy *open_with_proxy(void)
{
    struct node_list list = {.len = 0};
    masters = masters_start(1, NULL);
    struct proxy *proxy = proxy_start(&masters->node[0].tcp_at, false);
    node_list_line(&list, "guard off");
    node_list_add(&list, proxy_endpoint(proxy));
    one = client_open(masters_file(masters, NULL));
    two = client_open(node_list_write(&list));
    ck_assert(wait_until(client_ready(one) == 1 && client_ready(two) == 1, 10000));
    return proxy;
}

redlock *open_third(void)
{
    redlock *three = client_open(masters_file(masters, NULL));
    ck_assert(wait_until(client_ready(three) == masters->n, 10000));
    return three;
}

redlock_lock *hold_and_wait(void)
{
    redlock_lock *held = take_everywhere(masters, one, "name");
    waiter_start(&waiter, two, "name", 30000);
    queue_becomes(masters, "name", 1);
    return held;
}

/* Does it ask nothing for a while, but by its probes? */
static bool is_quiet(redlock *client)
{
    client_is_quiet(client);
    redlock_stats before = client_stats(client);
    int64_t begun = now_ms();
    pause_ms(500);
    redlock_stats now = client_stats(client);
    uint64_t probes = now.probes - before.probes;
    ck_assert_int_le((int)probes, (now_ms() - begun + 1000) / 1000);
    return now.commands - before.commands <= probes * 2 * masters->n;
}

/* A master that stood still is asked late what the others were asked. */
void expect_quiet(redlock *client)
{
    ck_assert(met_unless_stalled(is_quiet(client), STALL_MS, 3));
}

void close_all(void)
{
    nothing_is_left(masters);
    close_clients();
}
