/* test_chaos_proxy.c - the proxies of redlock-chaos, in front of real masters: what passes,
 * what stands, what vanishes, and for whom. */
#include "config_auto.h"

#include "chaos/place/proxy_parts.h"
#include "config/config_load.h"
#include "masters.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <unistd.h>

#define CLIENTS 2
#define SILENT_MS 150

static struct masters *masters;
static struct rl_config config;
static struct chaos_proxies *proxies;

static void set_up(void)
{
    redlock_node node[2] = {REDLOCK_NODE_INIT, REDLOCK_NODE_INIT};
    redlock_config from = REDLOCK_CONFIG_INIT;
    redlock_error error = REDLOCK_ERROR_INIT;
    char url[2][ENDPOINT_URL_MAX], why[256];
    masters = masters_start(2, NULL);
    for (int i = 0; i < 2; i++) {
        endpoint_url(&masters->node[i].unix_at, url[i]);
        node[i].url = url[i];
    }
    from.nodes = node;
    from.node_count = 2;
    ck_assert_int_eq(rl_config_load(&config, &from, NULL, NULL, &error), 0);
    proxies = chaos_proxies_start(&config, CLIENTS, NULL, why, sizeof(why));
    ck_assert_ptr_nonnull(proxies);
}

static void tear_down(void)
{
    chaos_proxies_end(proxies);
    rl_config_free(&config);
}

static struct chaos_path *path_of(unsigned client, unsigned node)
{
    return chaos_proxies_path(proxies, client, node);
}

static void order(unsigned client, unsigned node, enum chaos_pass there, enum chaos_pass back)
{
    atomic_store(&path_of(client, node)->pass[CHAOS_THERE], (int)there);
    atomic_store(&path_of(client, node)->pass[CHAOS_BACK], (int)back);
    ck_assert(chaos_proxies_obey(proxies));
}

static int enter(unsigned client, unsigned node)
{
    struct endpoint at = {.port = chaos_proxies_port(proxies, client, node)};
    int fd = net_connect(&at);
    ck_assert_int_ge(fd, 0);
    return fd;
}

static void say(int fd, const char *text)
{
    ck_assert(net_send(fd, text, strlen(text)));
}

/* Is that what comes back, within so long? */
static bool hears(int fd, const char *text, int limit_ms)
{
    char got[256] = "";
    size_t len = 0;
    int64_t end_ms = now_ms() + limit_ms;
    while (len < strlen(text) && now_ms() < end_ms) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        if (poll(&ready, 1, 5) <= 0)
            continue;
        ssize_t more = recv(fd, got + len, sizeof(got) - 1 - len, 0);
        if (more <= 0)
            return false;
        len += (size_t)more;
    }
    return len == strlen(text) && memcmp(got, text, len) == 0;
}

static bool pongs(int fd)
{
    say(fd, "PING\r\n");
    return hears(fd, "+PONG\r\n", 5000);
}

static bool is_silent(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    return poll(&ready, 1, SILENT_MS) == 0;
}

static bool is_reset(int fd)
{
    char byte;
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    return poll(&ready, 1, 5000) == 1 && recv(fd, &byte, 1, 0) < 0 && errno == ECONNRESET;
}

TEST(chaos_proxy, bytes_pass_as_they_are)
{
    enum { LEN = 300000 };
    char head[64], *sent = malloc(LEN), *got = malloc(LEN + 64);
    ck_assert(sent && got);
    for (int i = 0; i < LEN; i++)
        sent[i] = (char)(i * 7 + i / 251);
    int fd = enter(0, 0);
    int len = snprintf(head, sizeof(head), "*2\r\n$4\r\nECHO\r\n$%d\r\n", LEN);
    ck_assert(net_send(fd, head, (size_t)len));
    ck_assert(net_send(fd, sent, LEN));
    ck_assert(net_send(fd, "\r\n", 2));
    len = snprintf(head, sizeof(head), "$%d\r\n", LEN);
    size_t all = (size_t)len + LEN + 2, have = 0;
    while (have < all) {
        ssize_t more = recv(fd, got + have, all - have, 0);
        ck_assert_int_gt(more, 0);
        have += (size_t)more;
    }
    ck_assert_mem_eq(got, head, (size_t)len);
    ck_assert_mem_eq(got + len, sent, LEN);
    free(sent);
    free(got);
    close(fd);
    ck_assert(wait_until(atomic_load(&path_of(0, 0)->connections) == 0, 5000));
}

TEST(chaos_proxy, standing_process_goes_on_later)
{
    int before = enter(0, 0);
    ck_assert(pongs(before));
    order(0, 0, CHAOS_STANDS, CHAOS_STANDS);
    uint64_t went = atomic_load(&path_of(0, 0)->went[CHAOS_THERE]);
    int after = enter(0, 0);
    say(before, "PING\r\n");
    say(after, "PING\r\n");
    ck_assert(chaos_proxies_obey(proxies)); /* all of them are looked at once more */
    ck_assert(is_silent(before) && is_silent(after));
    ck_assert_uint_eq(atomic_load(&path_of(0, 0)->went[CHAOS_THERE]), went);
    order(0, 0, CHAOS_PASSES, CHAOS_PASSES);
    ck_assert(hears(before, "+PONG\r\n", 5000));
    ck_assert(hears(after, "+PONG\r\n", 5000));
}

TEST(chaos_proxy, path_is_one_contenders_to_one_master)
{
    order(0, 0, CHAOS_STANDS, CHAOS_STANDS);
    int cut = enter(0, 0);
    say(cut, "PING\r\n");
    ck_assert(pongs(enter(0, 1)));
    ck_assert(pongs(enter(1, 0)));
    ck_assert(pongs(enter(1, 1)));
    ck_assert(is_silent(cut));
    say(enter(1, 1), "SET of 1\r\n");
    ck_assert(wait_until(master_has(masters, 1, "of"), 5000));
    ck_assert(!master_has(masters, 0, "of"));
}

TEST(chaos_proxy, requests_vanish_for_good)
{
    int before = enter(0, 0);
    ck_assert(pongs(before));
    order(0, 0, CHAOS_VANISHES, CHAOS_PASSES);
    int after = enter(0, 0);
    say(before, "SET key 1\r\n");
    say(after, "SET key 2\r\n");
    ck_assert(is_silent(before) && is_silent(after));
    ck_assert_uint_eq(atomic_load(&path_of(0, 0)->lost[CHAOS_THERE]), 22);
    order(0, 0, CHAOS_PASSES, CHAOS_PASSES);
    ck_assert(is_reset(before) && is_reset(after));
    ck_assert(!master_has(masters, 0, "key"));
    ck_assert(pongs(enter(0, 0)));
}

TEST(chaos_proxy, replies_vanish_and_requests_are_executed)
{
    int before = enter(0, 0);
    ck_assert(pongs(before));
    order(0, 0, CHAOS_PASSES, CHAOS_VANISHES);
    int after = enter(0, 0);
    say(before, "SET key 1\r\n");
    say(after, "SET other 1\r\n");
    ck_assert(wait_until(master_has(masters, 0, "key"), 5000));
    ck_assert(wait_until(master_has(masters, 0, "other"), 5000));
    ck_assert(is_silent(before) && is_silent(after));
    order(0, 0, CHAOS_PASSES, CHAOS_PASSES);
    ck_assert(is_reset(before) && is_reset(after));
}

/* Also that the master is gone: no packet of it arrives. */
TEST(chaos_proxy, end_vanishes_with_replies)
{
    int fd = enter(0, 0);
    ck_assert(pongs(fd));
    order(0, 0, CHAOS_PASSES, CHAOS_VANISHES);
    say(fd, "QUIT\r\n");
    ck_assert(is_silent(fd));
    order(0, 0, CHAOS_PASSES, CHAOS_PASSES);
    ck_assert(is_reset(fd));
}

TEST(chaos_proxy, bytes_are_held_back_each_way)
{
    int fd = enter(0, 0);
    ck_assert(pongs(fd));
    atomic_store(&path_of(0, 0)->delay_ms, 60);
    int64_t begun_ms = now_ms();
    ck_assert(pongs(fd));
    ck_assert_int_ge(now_ms() - begun_ms, 120);
    atomic_store(&path_of(0, 0)->delay_ms, 0);
    ck_assert(wait_until((begun_ms = now_ms(), pongs(fd)) && now_ms() - begun_ms < 120, 5000));
}

TEST(chaos_proxy, bytes_go_one_by_one)
{
    struct chaos_path *path = path_of(0, 0);
    int fd = enter(0, 0);
    ck_assert(pongs(fd));
    ck_assert(wait_until(atomic_load(&path->parts[CHAOS_BACK]) == 1, 5000));
    atomic_store(&path->split, true);
    ck_assert(pongs(fd));
    ck_assert(
        wait_until(atomic_load(&path->parts[CHAOS_BACK]) == 1 + strlen("+PONG\r\n"), 5000));
    ck_assert_uint_eq(atomic_load(&path->went[CHAOS_BACK]), 2 * strlen("+PONG\r\n"));
}

TEST(chaos_proxy, half_open_ones_stay_and_pass_nothing_any_more)
{
    struct chaos_path *path = path_of(0, 0);
    int before = enter(0, 0);
    ck_assert(pongs(before));
    atomic_fetch_add(&path->half_opens, 1);
    ck_assert(chaos_proxies_obey(proxies));
    int after = enter(0, 0);
    say(before, "SET key 1\r\n");
    ck_assert(pongs(after));
    ck_assert(is_silent(before));
    ck_assert(!master_has(masters, 0, "key"));
    ck_assert_uint_eq(atomic_load(&path->connections), 2);
    close(before);
    ck_assert(wait_until(atomic_load(&path->connections) == 1, 5000));
    close(after);
    ck_assert(wait_until(atomic_load(&path->connections) == 0, 5000));
}

TEST(chaos_proxy, connections_are_reset_and_new_ones_are_not)
{
    int before = enter(0, 0), beside = enter(1, 0);
    ck_assert(pongs(before) && pongs(beside));
    atomic_fetch_add(&path_of(0, 0)->resets, 1);
    ck_assert(chaos_proxies_obey(proxies));
    ck_assert(is_reset(before));
    ck_assert_uint_eq(atomic_load(&path_of(0, 0)->reset), 1);
    ck_assert(pongs(beside));
    ck_assert(pongs(enter(0, 0)));
}

/* Another server takes the place of the first master, for all that connect from then on. */
TEST(chaos_proxy, path_leads_to_spare_server_and_back)
{
    int before = enter(0, 0), beside = enter(1, 0);
    ck_assert(pongs(before) && pongs(beside));
    atomic_store(&path_of(0, 0)->spare_port, masters->node[1].tcp_at.port);
    atomic_fetch_add(&path_of(0, 0)->resets, 1);
    ck_assert(chaos_proxies_obey(proxies));
    ck_assert(is_reset(before));
    say(enter(0, 0), "SET led 1\r\n");
    say(beside, "SET beside 1\r\n");
    ck_assert(wait_until(master_has(masters, 1, "led"), 5000));
    ck_assert(wait_until(master_has(masters, 0, "beside"), 5000));
    ck_assert(!master_has(masters, 0, "led") && !master_has(masters, 1, "beside"));
    atomic_store(&path_of(0, 0)->spare_port, 0);
    ck_assert(chaos_proxies_obey(proxies));
    say(enter(0, 0), "SET back 1\r\n");
    ck_assert(wait_until(master_has(masters, 0, "back"), 5000));
}

TEST(chaos_proxy, master_that_is_gone_is_no_silence)
{
    int before = enter(0, 0);
    ck_assert(pongs(before));
    master_kill(masters, 0);
    struct pollfd ready = {.fd = before, .events = POLLIN};
    char byte;
    ck_assert_int_eq(poll(&ready, 1, 5000), 1);
    ck_assert_int_le(recv(before, &byte, 1, 0), 0);
    ck_assert(is_reset(enter(0, 0)));
    master_restart(masters, 0, false);
    ck_assert(pongs(enter(0, 0)));
}

/* A master that reads nothing holds the writer up; the proxy does not take it all in. */
TEST(chaos_proxy, memory_is_bounded)
{
    static char block[65536];
    int fd = enter(0, 0);
    ck_assert(pongs(fd));
    master_pause(masters, 0);
    size_t sent = 0;
    int64_t full_since_ms = now_ms();
    while (now_ms() - full_since_ms < 300 && sent < 256u << 20) {
        ssize_t more = send(fd, block, sizeof(block), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (more > 0) {
            sent += (size_t)more;
            full_since_ms = now_ms();
        }
    }
    ck_assert_uint_lt(sent, 64u << 20); /* what the kernel buffers, and no more */
    ck_assert_uint_le(atomic_load(&path_of(0, 0)->came[CHAOS_THERE]),
                      atomic_load(&path_of(0, 0)->went[CHAOS_THERE]) + CHAOS_CONN_ROOM);
    master_resume(masters, 0);
}

/* Those that are half open make room for others; beyond that there is none. */
TEST(chaos_proxy, connections_are_bounded)
{
    struct chaos_path *path = path_of(0, 0);
    for (int i = 0; i < 2 * CHAOS_CONNS_A_PATH; i++) {
        ck_assert(pongs(enter(0, 0)));
        atomic_fetch_add(&path->half_opens, 1);
        ck_assert(chaos_proxies_obey(proxies));
    }
    ck_assert_uint_le(atomic_load(&path->connections), CHAOS_CONNS_A_PATH);
    ck_assert(pongs(enter(1, 0)));
}

TEST(chaos_proxy, it_is_noticed_when_process_is_gone)
{
    ck_assert(!chaos_proxies_gone(proxies));
    kill(proxies->pid, SIGKILL);
    ck_assert(wait_until(chaos_proxies_gone(proxies), 5000));
    ck_assert(!chaos_proxies_obey(proxies));
}

CASE(chaos_proxy, .set_up = set_up, .tear_down = tear_down, .timeout_s = 30)
