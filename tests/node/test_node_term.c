/* test_node_term.c - a master that can fail over: what another term changes, and what each look at
 * its marker says. */
#include "config_auto.h"

#include "base/clock.h"
#include "base/prng.h"
#include "client.h"
#include "engine/client/client.h"
#include "engine/client/kick.h"
#include "masters.h"
#include "node/node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define S RL_NS_PER_S

/* ---- by what is told ---------------------------------------------------------------------- */

static unsigned voids;

static void voided(void *owner, struct rl_node *node, int64_t now_ns)
{
    (void)owner, (void)node, (void)now_ns;
    voids++;
}

static void changed(void *owner, struct rl_node *node, int64_t now_ns)
{
    (void)owner, (void)node, (void)now_ns;
}

static void quiet(void *owner, int level, const char *format, ...)
{
    (void)owner, (void)level, (void)format;
}

static struct rl_node_settings settings;
static struct rl_node node;
static int64_t now_ns;
static int epoll_fd, wake_fd;

static void set_up(void)
{
    static const struct rl_node_events events = {
        .voided = voided, .changed = changed, .log = quiet};
    static struct rl_node_config config = {.transport = RL_UNIX, .label = "m", .path = "/"};
    static struct rl_clock own_clock;
    static struct rl_prng prng;
    char why[128];
    settings = (struct rl_node_settings){.events = &events,
                                         .guard = RL_GUARD_MARKER,
                                         .wanted = true,
                                         .clock = &own_clock,
                                         .prng = &prng,
                                         .check_ns = S,
                                         .connect_timeout_ns = S};
    rl_node_set_windows(&settings, 10 * S);
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    wake_fd = eventfd(0, EFD_CLOEXEC);
    ck_assert_int_eq(
        rl_node_init(&node, 0, &config, &settings, epoll_fd, wake_fd, why, sizeof(why)), 0);
    now_ns = 1000 * S;
    voids = 0;
}

static void put_part(struct rl_reply *reply, unsigned part, const char *text)
{
    size_t len = strlen(text);
    reply->part[part] =
        (struct rl_element){.type = RL_REPLY_BULK, .start = reply->text_len, .kept = len, .len = len};
    memcpy(reply->text + reply->text_len, text, len + 1);
    reply->text_len += len + 1;
}

/* A connection: INFO, and the look that was asked for beside it. */
static void looks(const char *run_id, const char *why, int left_ms, const char *marker)
{
    static struct rl_reply info, reply;
    struct rl_inflight inflight = {.type = RL_REQUEST_JOIN, .sent_ns = now_ns};
    char text[200];
    info = (struct rl_reply){.type = RL_REPLY_BULK};
    reply = (struct rl_reply){.type = RL_REPLY_ARRAY, .count = 5};
    memcpy(inflight.nonce, "0123456789abcdef", RL_NONCE_LEN);
    put_part(&reply, 0, "0123456789abcdef");
    put_part(&reply, 1, run_id);
    put_part(&reply, 2, why);
    put_part(&reply, 4, marker);
    reply.part[3] = (struct rl_element){.type = RL_REPLY_INTEGER, .integer = left_ms};
    snprintf(text, sizeof(text), "run_id:%s\nrole:master\nuptime_in_seconds:1000\n", run_id);
    rl_info_parse(text, strlen(text), &node.info);
    node.mode = RL_UP;
    node.term.wanted = settings.wanted;
    rl_node_take_info(&node, &info, "", now_ns);
    now_ns += 1000;
    rl_node_take_marker(&node, &inflight, &reply, "", now_ns);
}

static void connects_in(uint64_t term)
{
    node.mode = RL_DOWN;
    rl_node_set_term(&node, term);
}

/* R22: A hold by the former server is safe to its end, whatever its successor finds. */
TEST(term, failover_voids_nothing)
{
    connects_in(1);
    looks("m", "init", 0, "m r 0 init @1");
    ck_assert_int_eq(node.fitness, RL_FIT);
    node.forgot = false;
    connects_in(2);
    looks("p", "missing", 11000, "p r 0 missing @2");
    ck_assert_int_eq(node.fitness, RL_GUARDED);
    looks("p", "missing", 10000, "p r 0 missing @2");
    ck_assert_int_eq(node.fitness, RL_GUARDED);
    ck_assert(node.forgot); /* it is filled in when it votes */
    ck_assert_uint_eq(voids, 0);
    ck_assert_int_eq(node.replaced_ns, 0);
    now_ns += 12 * S;
    looks("p", "missing", 0, "p r 0 missing @2");
    ck_assert_int_eq(node.fitness, RL_FIT);
    ck_assert_uint_eq(voids, 0);
    looks("p", "missing", 11000, "p r 0 missing @2"); /* emptied in its term */
    ck_assert_int_eq(node.fitness, RL_GUARDED);
    ck_assert_uint_eq(voids, 1);
}

TEST(term, another_server_in_one_term_voids)
{
    connects_in(1);
    looks("m", "init", 0, "m r 0 init @1");
    connects_in(1);
    looks("p", "restarted", 11000, "p r 0 restarted @1");
    ck_assert_uint_ge(voids, 1);
    ck_assert_int_gt(node.replaced_ns, 0);
}

TEST(term, without_terms_quarantine_voids_as_ever)
{
    looks("m", "missing", 10000, "m r 0 missing");
    ck_assert_uint_eq(voids, 1);
}

/* What the former server was seen as is nothing of this one. */
TEST(term, another_term_begins_anew)
{
    connects_in(1);
    looks("m", "init", 11000, "m r 0 init @1");
    ck_assert_int_eq(node.fitness, RL_GUARDED);
    rl_node_replaced(&node, RL_CAUSE_WAS_REPLICA, now_ns);
    node.sightings.two_ns = now_ns;
    connects_in(2);
    looks("p", "failover", 0, "p r 0 failover @2");
    ck_assert_int_eq(node.fitness, RL_FIT);
    rl_node_replaced(&node, RL_CAUSE_WAS_REPLICA, now_ns);
    connects_in(2); /* the same: all that was seen counts */
    looks("p", "failover", 0, "p r 0 failover @2");
    ck_assert_int_eq(node.fitness, RL_GUARDED);
}

/* R22 */
TEST(term, marker_of_later_term_is_no_vote)
{
    connects_in(1);
    looks("m", "later", 0, "p r 0 failover @2");
    ck_assert_int_eq(node.fitness, RL_UNFIT);
    ck_assert_ptr_nonnull(strstr(node.why, "a later failover"));
    ck_assert_int_eq(node.ask_info_ns, now_ns + S);
    ck_assert_uint_eq(node.term.look.marker_term, 2);
    ck_assert_int_eq(node.term.look.read_ns, now_ns);
    ck_assert_int_eq(node.term.look.sent_ns, now_ns - 1000);
    ck_assert_uint_eq(voids, 0);
}

/* A look that sets nothing heals nothing. */
TEST(term, look_that_was_not_set_is_none)
{
    settings.wanted = false;
    connects_in(1);
    looks("m", "init", 0, "m r 0 init @1");
    ck_assert_int_eq(node.term.look.read_ns, 0);
    settings.wanted = true;
    looks("m", "foreign", 0, "");
    ck_assert_int_eq(node.term.look.read_ns, 0);
    looks("m", "init", 0, "m r 0 init @1");
    ck_assert_int_eq(node.term.look.read_ns, now_ns);
}

TEST(term, one_that_nobody_names_has_no_vote)
{
    connects_in(1);
    looks("m", "init", 0, "m r 0 init @1");
    rl_node_unnamed(&node, "2 of 3 Sentinels don't answer", now_ns);
    ck_assert_int_eq(node.fitness, RL_UNFIT);
    ck_assert_str_eq(node.why, "2 of 3 Sentinels don't answer");
    ck_assert_int_eq(node.ask_info_ns, now_ns + S);
    ck_assert_uint_eq(voids, 0);
    looks("m", "init", 0, "m r 0 init @1");
    ck_assert_int_eq(node.fitness, RL_FIT);
}

/* R22: And D, with the drift of the sum. */
TEST(term, window_is_longer_where_it_can_fail_over)
{
    settings.drift_factor = 0.01;
    rl_node_set_windows(&settings, 10 * S);
    ck_assert_int_eq(rl_node_window_ns(&node), 10 * S + S / 10 + 1);
    connects_in(0);
    ck_assert_int_eq(rl_node_window_ns(&node), 11 * S + S / 100 * 11 + 1);
}

static void tear_down(void)
{
    rl_node_done(&node, false);
    close(epoll_fd);
    close(wake_fd);
}

CASE(term, .set_up = set_up, .tear_down = tear_down)

/* ---- a real server ------------------------------------------------------------------------ */

static struct masters *masters;
static redlock *client;

static const char *marker(void)
{
    static struct reply reply;
    reply = master_do(masters, 0, "GET", RL_MARKER_KEY, NULL);
    return reply.text;
}

/* How long the quarantine lasts from its beginning; more by the time between the questions. */
static long long window_ms(void)
{
    long long left = master_do(masters, 0, "PTTL", RL_QUARANTINE_KEY, NULL).number;
    long long begun = strtoll(master_do(masters, 0, "GET", RL_QUARANTINE_KEY, NULL).text, NULL, 10);
    long long seconds = 0, micros = 0;
    sscanf(master_do(masters, 0, "TIME", NULL).text, "%lld %lld", &seconds, &micros);
    return seconds * 1000 + micros / 1000 + left - begun;
}

/* Its next look is in that term. False: one is under way. */
static bool begin_look_in(uint64_t term, bool forgot)
{
    struct rl_node *real = &client->nodes.all[0];
    pthread_mutex_lock(&client->mutex);
    bool idle = real->ask_info_ns < INT64_MAX;
    if (idle) {
        real->term.has = true;
        real->term.term = term;
        real->term.forgot = forgot;
        real->ask_info_ns = 1;
        rl_kick(&client->background); /* it may sleep already */
    }
    pthread_mutex_unlock(&client->mutex);
    return idle;
}

static void look_in(uint64_t term, bool forgot)
{
    ck_assert(wait_until(begin_look_in(term, forgot), 5000));
}

static bool waits_for(const char *words)
{
    char text[192];
    return wait_until((client_state(client, 0, text), strstr(text, words) != NULL), 5000);
}

TEST(term_real, each_look_carries_the_term)
{
    masters = masters_start(1, NULL);
    client = client_open(masters_guarded_file(
        masters, "max-ttl 20s\nguard marker\nbackground always\n"));
    ck_assert(wait_until(client_state(client, 0, NULL) == REDLOCK_NODE_GUARDED, 5000));
    (void)client_can_take(client, "name"); /* a vote is wanted */
    ck_assert(wait_until(
        (client_state(client, 0, NULL), strstr(marker(), " missing") != NULL), 5000));
    look_in(7, false);
    ck_assert(waits_for("ask no Sentinels"));
    ck_assert_ptr_nonnull(strstr(marker(), " termless @7"));
    ck_assert_int_ge(window_ms(), 21210);
    look_in(8, false);
    ck_assert(waits_for("there was a failover"));
    ck_assert_ptr_nonnull(strstr(marker(), " failover @8"));
    look_in(7, false);
    ck_assert(waits_for("a later failover"));
    ck_assert_ptr_nonnull(strstr(marker(), " failover @8"));
    look_in(7, true);
    ck_assert(waits_for("its Sentinels have forgotten"));
    ck_assert_ptr_nonnull(strstr(marker(), " forgotten @7"));
    redlock_close(client);
}

CASE(term_real, .timeout_s = 60)
