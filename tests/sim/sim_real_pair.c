/* sim_real_pair.c - see sim_real_pair.h. */
#include "config_auto.h"

#include "sim_real_pair.h"

#include "net.h"
#include "suite.h"
#include "wire.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_MS = 30000, SPARE_MS = 2 /* rounding on both sides */ };

/* ---- the two ---------------------------------------------------------------------------- */

static int64_t real_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * SIM_S + now.tv_nsec;
}

static void connect_both(struct pair_run *run, struct pair *pair)
{
    pair->model = dial(0);
    pair->fd = net_connect(&run->masters->node[0].unix_at);
    pair->out_len = pair->in_len = 0;
    if (pair->fd < 0)
        suite_die("redis-server can't be reached");
}

void pair_begin(struct pair_run *run, unsigned long seed, unsigned pairs,
                struct masters *masters, const char *password)
{
    *run = (struct pair_run){0};
    rl_prng_seed(&run->prng, seed);
    run->seed = seed;
    run->pairs = pairs;
    run->masters = masters;
    rig_begin(seed, 1, password);
    sim_master_slow(0, SIM_US, SIM_US);
    run->start_ns = real_ns();
    for (unsigned i = 0; i < pairs; i++)
        connect_both(run, &run->pair[i]);
}

void pair_end(struct pair_run *run)
{
    for (unsigned i = 0; i < run->pairs; i++) {
        close(run->pair[i].fd);
        hang_up(run->pair[i].model);
    }
    rig_end();
}

static unsigned below(struct pair_run *run, unsigned n)
{
    return (unsigned)rl_prng_below(&run->prng, n);
}

void pair_send_bytes(struct pair_run *run, unsigned which, const char *bytes)
{
    struct pair *pair = &run->pair[which];
    size_t len = strlen(bytes);
    if (pair->out_len + len > sizeof(pair->out))
        suite_die("a batch is too long");
    memcpy(pair->out + pair->out_len, bytes, len);
    pair->out_len += len;
    pair->queued++;
    run->operations++;
}

static void put(struct pair *pair, const struct pair_words *words)
{
    size_t lens[PAIR_WORDS_MAX];
    for (unsigned i = 0; i < words->count; i++)
        lens[i] = strlen(words->word[i]);
    size_t len = wire_encode(pair->out + pair->out_len, sizeof(pair->out) - pair->out_len,
                             words->count, words->word, lens);
    if (len == 0)
        suite_die("a batch is too long");
    pair->out_len += len;
}

void pair_send(struct pair_run *run, unsigned which, const struct pair_words *words)
{
    put(&run->pair[which], words);
    run->pair[which].queued++;
    run->operations++;
}

void pair_say(struct pair_run *run, unsigned which, ...)
{
    struct pair_words words = {0};
    va_list more;
    va_start(more, which);
    pair_words_add(&words, more);
    va_end(more);
    pair_send(run, which, &words);
}

/* ---- told ------------------------------------------------------------------------------- */

/* The model's time goes on to the real one's, where it is behind. */
static void follow(struct pair_run *run)
{
    int64_t now_ns = real_ns() - run->start_ns;
    if (now_ns > sim_now_ns())
        sim_run_until(now_ns);
}

/* How far apart were they, at most, when the real one executed what the model did just now? */
static void measure(struct pair_run *run, int64_t sent_ns)
{
    int64_t before_ns = sim_now_ns() - (sent_ns - run->start_ns);
    int64_t after_ns = real_ns() - run->start_ns - sim_now_ns();
    if (before_ns > run->apart_ns)
        run->apart_ns = before_ns;
    if (after_ns > run->apart_ns)
        run->apart_ns = after_ns;
}

static void tell_model(struct pair_run *run, struct pair *pair)
{
    bool split = below(run, 4) == 0;
    for (size_t told = 0; told < pair->out_len;) {
        size_t left = pair->out_len - told;
        size_t len = split ? 1 + below(run, left < 200 ? (unsigned)left : 200) : left;
        send_bytes(pair->model, pair->out + told, len);
        told += len;
    }
    pass((int64_t)(2 * pair->queued + 4) * SIM_US); /* a us a command */
    pair->queued = 0;
}

static void tell_real(struct pair_run *run, struct pair *pair)
{
    size_t first = below(run, 50) == 0 ? below(run, (unsigned)pair->out_len + 1) : 0;
    bool sent = first == 0 || net_send(pair->fd, pair->out, first);
    sent = sent && net_send(pair->fd, pair->out + first, pair->out_len - first);
    if (!sent && !pair->model->ended) /* what is no protocol may be only half sent */
        suite_die("redis-server hangs up");
}

/* More of what the real one says; false: it has ended the connection. */
static bool read_more(struct pair_run *run, struct pair *pair)
{
    struct pollfd wait = {.fd = pair->fd, .events = POLLIN};
    if (poll(&wait, 1, ANSWER_MS) != 1)
        ck_abort_msg("seed %lu, operation %lu: no answer of the real one, but of the model: %s",
                     run->seed, run->operations, pair->model->said);
    ssize_t got = recv(pair->fd, pair->in + pair->in_len, sizeof(pair->in) - pair->in_len, 0);
    if (got <= 0)
        return false;
    pair->in_len += (size_t)got;
    return true;
}

/* ---- compared --------------------------------------------------------------------------- */

/* A command a line, its words cut. */
static void print_asked(const struct pair *pair)
{
    static struct wire_item items[WIRE_ITEMS_MAX];
    unsigned count;
    for (size_t at = 0; at < pair->out_len;) {
        long len = wire_parse(pair->out + at, pair->out_len - at, items, &count);
        if (len <= 0 || items[0].type != '*') {
            printf("%.*s\n", (int)(pair->out_len - at), pair->out + at);
            return;
        }
        for (unsigned i = 1; i < count; i++)
            printf("%.*s%s", items[i].len > 60 ? 60 : (int)items[i].len, items[i].bytes,
                   i + 1 < count ? " | " : "\n");
        at += (size_t)len;
    }
}

static void differ(const struct pair_run *run, const struct pair *pair, const char *model,
                   size_t model_len, const char *real, size_t real_len)
{
    printf("REDLOCK_TEST_SEED=%lu, operation %lu, apart by %lld us\n--- asked:\n", run->seed,
           run->operations, (long long)(run->apart_ns / SIM_US));
    print_asked(pair);
    printf("--- model:\n%.*s\n--- real:\n%.*s\n", (int)model_len, model, (int)real_len, real);
    fflush(stdout);
    ck_abort_msg("they differ");
}

static bool same_item(struct pair_run *run, const struct wire_item *model,
                      const struct wire_item *real)
{
    if (model->type != real->type)
        return false;
    if (model->type == ':' && model->number != real->number) {
        long long apart_ms = llabs(model->number - real->number);
        if (apart_ms > run->times_apart_ms)
            run->times_apart_ms = apart_ms;
        run->tally.times++;
        return model->number > 250 && real->number > 250 &&
               apart_ms <= 2 * run->apart_ns / SIM_MS + SPARE_MS;
    }
    if (model->type == '*' || model->number < 0 || real->number < 0)
        return model->number == real->number;
    return model->len == real->len && memcmp(model->bytes, real->bytes, model->len) == 0;
}

static void count_reply(struct pair_tally *tally, const char *text, unsigned items,
                        const struct wire_item *item)
{
    tally->errors += text[0] == '-';
    tally->wrong_type += strncmp(text, "-WRONGTYPE", 10) == 0;
    tally->no_script += strncmp(text, "-NOSCRIPT", 9) == 0;
    tally->in_lua += strncmp(text, "-ERR user_script", 16) == 0;
    bool scripted = text[0] == '*' && items > 2 && item[1].len == 17 && item[2].type == ':';
    tally->granted += items == 1 && text[0] == '$' && item[0].len == 16; /* the nonce alone */
    tally->refused += scripted && items == 5;
    tally->queued += scripted && items == 6;
    tally->messages +=
        items == 4 && item[1].len == 7 && memcmp(item[1].bytes, "message", 7) == 0;
}

/* The next reply of both; the bytes it takes of either. */
static size_t compare_reply(struct pair_run *run, struct pair *pair, size_t model_at,
                            size_t real_at, size_t *ret_real)
{
    static struct wire_item model[WIRE_ITEMS_MAX], real[WIRE_ITEMS_MAX];
    unsigned model_items, real_items;
    const char *said = pair->model->said + model_at;
    size_t left = pair->model->len - model_at;
    long model_len = wire_parse(said, left, model, &model_items), real_len;
    if (model_len <= 0)
        differ(run, pair, said, left, pair->in + real_at, pair->in_len - real_at);
    while ((real_len = wire_parse(pair->in + real_at, pair->in_len - real_at, real,
                                  &real_items)) == 0) {
        if (!read_more(run, pair))
            differ(run, pair, said, (size_t)model_len, "(ended)", 7);
    }
    bool same =
        real_len == model_len && memcmp(said, pair->in + real_at, (size_t)model_len) == 0;
    if (!same) {
        same = real_len > 0 && model_items == real_items;
        for (unsigned i = 0; same && i < model_items; i++)
            same = same_item(run, &model[i], &real[i]);
    }
    if (!same)
        differ(run, pair, said, (size_t)model_len, pair->in + real_at,
               real_len > 0 ? (size_t)real_len : pair->in_len - real_at);
    count_reply(&run->tally, said, model_items, model);
    run->compared++;
    *ret_real = (size_t)real_len;
    return (size_t)model_len;
}

static void compare_said(struct pair_run *run, struct pair *pair)
{
    size_t model_at = 0, real_at = 0, real_len;
    while (model_at < pair->model->len) {
        model_at += compare_reply(run, pair, model_at, real_at, &real_len);
        real_at += real_len;
    }
    if (real_at < pair->in_len)
        differ(run, pair, "(nothing more)", 14, pair->in + real_at, pair->in_len - real_at);
    pair->model->len = pair->in_len = 0;
}

/* Nobody of the others was told anything by the real one that the model did not say. */
static void expect_silence(struct pair_run *run)
{
    char bytes[256];
    for (unsigned i = 0; i < run->pairs; i++) {
        if (run->pair[i].model->ended)
            continue;
        ssize_t got = recv(run->pair[i].fd, bytes, sizeof(bytes), MSG_DONTWAIT);
        if (got >= 0)
            differ(run, &run->pair[i], "(nothing)", 9, bytes, (size_t)got);
    }
}

void pair_compare(struct pair_run *run, unsigned which)
{
    struct pair *pair = &run->pair[which];
    follow(run);
    int64_t sent_ns = real_ns();
    tell_model(run, pair);
    tell_real(run, pair);
    /* Before it is compared: whatever it says of times was so by then. */
    if (pair->model->len > 0 && !read_more(run, pair))
        differ(run, pair, pair->model->said, pair->model->len, "(ended)", 7);
    measure(run, sent_ns);
    compare_said(run, pair);
    pair->out_len = 0;
    for (unsigned i = 0; i < run->pairs; i++) {
        if (i != which && run->pair[i].model->len > 0)
            compare_said(run, &run->pair[i]);
    }
    if (below(run, 32) == 0)
        expect_silence(run);
}

void pair_compare_end(struct pair_run *run, unsigned which)
{
    struct pair *pair = &run->pair[which];
    pair_compare(run, which);
    if (!pair->model->ended)
        differ(run, pair, "(goes on)", 9, "", 0);
    if (read_more(run, pair))
        differ(run, pair, "(ended)", 7, pair->in, pair->in_len);
    close(pair->fd);
    hang_up(pair->model);
    connect_both(run, pair);
    run->tally.ended++;
}

void pair_await_gone(struct pair_run *run, const char *name)
{
    struct pair *pair = &run->pair[0];
    int64_t end_ms = now_ms() + ANSWER_MS;
    struct pair_words words = {0};
    pair_line(&words, "EXISTS", name, NULL);
    for (bool there = true; there;) {
        put(pair, &words); /* the real one only: it does not count */
        tell_real(run, pair);
        pair->out_len = 0;
        if (!read_more(run, pair) || now_ms() > end_ms)
            suite_die("a key does not expire");
        there = memcmp(pair->in, ":0\r\n", 4) != 0;
        pair->in_len = 0;
    }
    pass(5 * SIM_MS);
    pair_send(run, 0, &words);
    pair_compare(run, 0);
    run->tally.expired++;
}

int pair_main(void)
{
    return masters_are_redis_7_0() ? suite_main() : 77; /* skipped, to automake */
}
