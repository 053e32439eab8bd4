/* sim_scripts_fence.c - lib/kinds/fence/fence_*.lua, said in C: what stands around a script for
 * a lock with fencing tokens. Held against the real ones by test_sim_master_real. */
#include "config_auto.h"

#include "sim_certify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_DIGITS_MAX = 16 };
#define NUMBER_MAX 9007199254740991.0
#define CEILING 4503599627370496.0
#define STEPS 1048576.0

/* What the last ARGV say, and the counters' numbers. */
struct fence {
    unsigned first, count; /* of KEYS */
    const struct sim_word *token, *life;
    bool endless;
    double before, ceiling, most;
    struct sim_certificate certificate;
};

static double greater(double a, double b)
{
    return a > b ? a : b;
}

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

static double now_us(const struct sim_run *run)
{
    return (double)(sim_wall_ns(run->call->server) / SIM_US);
}

/* A counter that is missing: -1. False: the script has answered or failed. */
static bool number_in(struct sim_run *run, unsigned counter, double most, double *ret_number)
{
    char text[160];
    const struct sim_key *key;
    const struct sim_word *name = sim_keys_at(run, counter);
    const char *error = sim_script_get(run, name, &key);
    if (error && error != sim_wrong_type) {
        sim_script_fail(run, "redis.call('GET', key)", error);
        return false;
    }
    *ret_number = -1;
    if (!key)
        return true;
    size_t len = key->value.len;
    bool digits = !error && len > 0 && strspn(key->value.bytes, "0123456789") == len;
    if (digits && len <= NUMBER_DIGITS_MAX &&
        (*ret_number = strtod(key->value.bytes, NULL)) < most)
        return true;
    snprintf(text, sizeof(text),
             "ERR the fencing counter %.80s is no number that tokens can go on from",
             name->bytes);
    sim_put_error(run->call->out, text);
    return false;
}

/* The script itself, with its own KEYS and ARGV. */
static void run_inside(struct sim_run *run, const struct fence *fence, unsigned more_args,
                       sim_script_fn *inside)
{
    run->n_keys -= fence->count;
    run->n_args -= more_args;
    inside(run);
    run->n_keys += fence->count;
    run->n_args += more_args;
}

static const struct sim_word *from_end(const struct sim_run *run, unsigned back)
{
    return sim_argv_at(run, run->n_args - back);
}

static bool is_text(const struct sim_word *word, const char *text)
{
    return word->len == strlen(text) && memcmp(word->bytes, text, word->len) == 0;
}

static double number_of(const char *digits)
{
    return digits[0] ? strtod(digits, NULL) : 0;
}

/* Behind the others: with `fencing strict` one more of each, which the rest does not see. */
static bool take_off_certificate(struct sim_run *run, struct fence *fence)
{
    if (!sim_certificate_read(run, &fence->certificate))
        return false;
    run->n_args -= fence->certificate.strict ? 2 : 0;
    fence->ceiling = fence->most = NUMBER_MAX;
    if (!fence->certificate.strict)
        return true;
    fence->ceiling = CEILING;
    fence->most = lesser(
        NUMBER_MAX, greater(CEILING, number_of(fence->certificate.greatest)) + STEPS);
    return true;
}

static void read_count(struct sim_run *run, struct fence *fence, const struct sim_word *count)
{
    fence->count = (unsigned)strtoul(count->bytes, NULL, 10);
    fence->first = run->n_keys - fence->count + 1;
    fence->endless = is_text(fence->life, "0");
}

static bool set_counters(struct sim_run *run, const struct fence *fence,
                         const struct sim_word *text)
{
    bool done;
    for (unsigned i = fence->first; i <= run->n_keys; i++) {
        const struct sim_word *counter = sim_keys_at(run, i);
        const char *error = fence->endless
                                ? sim_script_set_for_ever(run, counter, text)
                                : sim_script_set(run, counter, text, fence->life, false, &done);
        if (error) {
            sim_script_fail(run,
                            fence->endless ? "redis.call('SET', KEYS[i], text)"
                                           : "redis.call('SET', KEYS[i], text, 'PX', life)",
                            error);
            return false;
        }
    }
    return true;
}

/* The answer of the script inside is taken back. */
static void take_back(struct sim_run *run, size_t len)
{
    run->call->out->len = len;
    run->answered = false;
}

static void grant(struct sim_run *run, sim_script_fn *inside)
{
    double number, ahead_us, proposed;
    struct fence fence = {.before = 0};
    if (!take_off_certificate(run, &fence))
        return;
    fence.token = from_end(run, 2);
    fence.life = from_end(run, 0);
    fence.before = number_of(fence.certificate.base);
    read_count(run, &fence, from_end(run, 3));
    for (unsigned i = fence.first; i <= run->n_keys; i++) {
        if (!number_in(run, i, fence.most, &number))
            return;
        if (number < 0)
            number = number_of(fence.certificate.greatest);
        fence.before = greater(fence.before, number);
    }
    if (fence.before >= NUMBER_MAX) {
        sim_put_error(run->call->out, "ERR the fencing tokens of this master are at their end");
        return;
    }
    size_t len = run->call->out->len;
    run_inside(run, &fence, 4, inside);
    if (!run->answered || !run->yes)
        return;
    take_back(run, len);
    if (!sim_lua_number(fence.token, &proposed) ||
        !sim_lua_number(from_end(run, 1), &ahead_us)) {
        sim_script_fail_lua(run, "local proposed", "attempt to perform arithmetic");
        return;
    }
    double most_us = now_us(run) + ahead_us;
    double clocks = greater(now_us(run), lesser(proposed, most_us));
    double token = greater(fence.before + 1, lesser(clocks, fence.ceiling));
    char text[24];
    int digits = snprintf(text, sizeof(text), "%.0f", token);
    if (sim_certificate_raise(run, &fence.certificate, token) &&
        set_counters(run, &fence, &(struct sim_word){text, (size_t)digits}))
        sim_script_answer_number(run, (int64_t)token);
}

/* The counter is raised to the token, if that is not too far ahead. False as in number_in(). */
static bool raise(struct sim_run *run, const struct fence *fence, unsigned counter,
                  double number)
{
    double token, ahead_us;
    const char *error;
    if (!sim_lua_number(fence->token, &token) || !sim_lua_number(from_end(run, 2), &ahead_us))
        return false;
    if (greater(number, 0) >= token)
        return true;
    bool strict = fence->certificate.strict;
    if (token > (strict ? fence->most : now_us(run) + ahead_us)) {
        bool writes_back = is_text(from_end(run, 1), "1");
        if (writes_back)
            sim_put_error(run->call->out,
                          strict
                              ? "ERR the fencing token is too far ahead of this master's tokens"
                              : "ERR the fencing token is too far ahead of this master's clock");
        return !writes_back;
    }
    error = sim_script_set_for_ever(run, sim_keys_at(run, counter), fence->token);
    if (error)
        sim_script_fail(run, "redis.call('SET', KEYS[i], token)", error);
    return !error;
}

static void keep(struct sim_run *run, sim_script_fn *inside)
{
    double number, token;
    struct fence fence = {.before = 0};
    if (!take_off_certificate(run, &fence))
        return;
    fence.token = from_end(run, 3);
    fence.life = from_end(run, 0);
    read_count(run, &fence, from_end(run, 4));
    size_t len = run->call->out->len;
    run_inside(run, &fence, 5, inside);
    if (!run->answered || !run->yes)
        return;
    take_back(run, len);
    if (sim_lua_number(fence.token, &token) &&
        !sim_certificate_raise(run, &fence.certificate, lesser(token, fence.most)))
        return;
    for (unsigned i = fence.first; i <= run->n_keys; i++) {
        const char *error;
        if (!number_in(run, i, fence.most, &number) || !raise(run, &fence, i, number))
            return;
        if (!fence.endless &&
            (error = sim_script_pexpire(run, sim_keys_at(run, i), fence.life))) {
            sim_script_fail(run, "redis.call('PEXPIRE', KEYS[i], life)", error);
            return;
        }
    }
    sim_script_answer(run, true);
}

void sim_run_fenced(struct sim_run *run, sim_script_fn *inside, const char *short_name)
{
    if (strcmp(short_name, "acquire") == 0 || strcmp(short_name, "wait") == 0)
        grant(run, inside);
    else
        keep(run, inside);
}
