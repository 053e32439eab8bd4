/* test_chaos_lose.c - redlock-chaos marks masters that were just made, and empties them: on
 * real masters. */
#include "config_auto.h"

#include "chaos/faults/fault.h"
#include "chaos/place/mark.h"
#include "masters.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SILENT_MS 150

static struct masters *masters;
static struct server_at at;
static char why[200];

static void set_up(void)
{
    masters = masters_start(1, NULL);
    at = (struct server_at){.path = masters->node[0].unix_at.path};
    why[0] = '\0';
}

/* A connection that was answered. */
static int connected(const char *request)
{
    char answer[256];
    int fd = net_connect(&masters->node[0].unix_at);
    ck_assert_int_ge(fd, 0);
    ck_assert(net_send(fd, request, strlen(request)));
    ck_assert_int_gt(recv(fd, answer, sizeof(answer), 0), 0);
    return fd;
}

static bool has_ended(int fd)
{
    char byte;
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    return poll(&ready, 1, SILENT_MS) == 1 && recv(fd, &byte, 1, 0) <= 0;
}

/* As with markers: nobody goes on without having looked again. */
TEST(chaos_lose, emptied_and_cut_in_one)
{
    int asks = connected("PING\r\n"), hears = connected("SUBSCRIBE releases\r\n");
    master_do(masters, 0, "SET", "key", "1", NULL);
    ck_assert(chaos_server_empty(&at, true));
    ck_assert(!master_has(masters, 0, "key"));
    ck_assert(has_ended(asks) && has_ended(hears));
    close(asks);
    close(hears);
}

TEST(chaos_lose, emptied_alone)
{
    int asks = connected("PING\r\n"), hears = connected("SUBSCRIBE releases\r\n");
    master_do(masters, 0, "SET", "key", "1", NULL);
    ck_assert(chaos_server_empty(&at, false));
    ck_assert(!master_has(masters, 0, "key"));
    ck_assert(!has_ended(asks) && !has_ended(hears));
    close(asks);
    close(hears);
}

TEST(chaos_lose, new_master_is_marked_once)
{
    ck_assert_msg(chaos_mark(&at, why, sizeof(why)), "%s", why);
    ck_assert(master_has(masters, 0, "libredlock:marker"));
    ck_assert(!chaos_server_quarantined(&at));
    ck_assert(!chaos_mark(&at, why, sizeof(why)));
    ck_assert_ptr_nonnull(strstr(why, "gets no marker"));
}

TEST(chaos_lose, quarantine_is_seen)
{
    master_do(masters, 0, "SET", "libredlock:quarantine", "1", NULL);
    ck_assert(chaos_server_quarantined(&at));
    ck_assert(!chaos_mark(&at, why, sizeof(why)));
}

TEST(chaos_lose, dead_master_is_neither)
{
    master_kill(masters, 0);
    ck_assert(!chaos_server_empty(&at, true));
    ck_assert(!chaos_server_quarantined(&at));
    ck_assert(!chaos_mark(&at, why, sizeof(why)));
}

CASE(chaos_lose, .set_up = set_up, .timeout_s = 30)
