/* sim_master_rig.c - see sim_master_rig.h. */
#include "config_auto.h"

#include "sim_master_rig.h"

#include "kinds/kind.h"
#include "script_text.h"
#include "suite.h"
#include "wire.h"

#include <openssl/sha.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* This program binds nothing: what is real is what there is. */
void *rig_realloc(void *block, size_t size) __asm__("__real_realloc");
void *rig_realloc(void *block, size_t size)
{
    return realloc(block, size);
}

struct rig_change changes[RIG_CHANGES_MAX];
unsigned n_changes;

static void keep_text(char *ret, size_t size, const char *text)
{
    snprintf(ret, size, "%s", text ? text : "-");
}

static void keep_change(const struct sim_changed *changed)
{
    struct rig_change *kept = &changes[n_changes++ % RIG_CHANGES_MAX];
    kept->master = changed->master;
    kept->change = changed->change;
    keep_text(kept->command, sizeof(kept->command), changed->command);
    keep_text(kept->argument, sizeof(kept->argument), changed->argument);
    keep_text(kept->name, sizeof(kept->name), changed->name);
    keep_text(kept->before, sizeof(kept->before), changed->before);
    keep_text(kept->after, sizeof(kept->after), changed->after);
    kept->at_ns = sim_now_ns();
    kept->end_ns = changed->end_ns;
}

void rig_begin(uint64_t seed, unsigned masters, const char *password)
{
    struct sim_masters_options options = {
        .count = masters, .password = password, .changed = keep_change};
    n_changes = 0;
    sim_begin(seed);
    sim_masters_begin(&options);
}

void rig_end(void)
{
    sim_masters_end();
    sim_end();
}

void expect_change(unsigned which, enum sim_change change, const char *command,
                   const char *before, const char *after)
{
    ck_assert_uint_lt(which, n_changes);
    ck_assert_int_eq(changes[which].change, change);
    ck_assert_str_eq(changes[which].command, command);
    ck_assert_str_eq(changes[which].before, before);
    ck_assert_str_eq(changes[which].after, after);
}

/* ---- connections ------------------------------------------------------------------------ */

const struct sim_proc *sim_conn_proc(const struct sim_conn *conn)
{
    (void)conn;
    return NULL;
}

void sim_conn_say(struct sim_conn *conn, const void *bytes, size_t len)
{
    if (conn->ended)
        suite_die("a model master talks on a connection that it has ended");
    if (conn->len + len >= sizeof(conn->said))
        suite_die("a model master talks too much");
    memcpy(conn->said + conn->len, bytes, len);
    conn->len += len;
    conn->said[conn->len] = '\0';
}

void sim_conn_end(struct sim_conn *conn, bool reset)
{
    if (conn->ended)
        suite_die("a model master ends a connection twice");
    conn->ended = true;
    conn->reset = reset;
}

struct sim_conn *dial(unsigned master)
{
    struct sim_conn *conn = calloc(1, sizeof(*conn));
    if (!conn || !sim_master_listens(master))
        suite_die("n%u can't be reached", master + 1);
    conn->master = master;
    conn->session = sim_master_accept(master, conn);
    return conn;
}

void hang_up(struct sim_conn *conn)
{
    if (!conn->ended)
        sim_master_left(conn->session);
    free(conn);
}

void send_bytes(struct sim_conn *conn, const void *bytes, size_t len)
{
    if (!conn->ended)
        sim_master_hear(conn->session, bytes, len);
}

enum { WORDS_MAX = 32, REQUEST_BYTES = 8192 };

/* These words, and the arguments behind them up to a NULL. */
static void send_all(struct sim_conn *conn, const char *const first[], unsigned first_count,
                     va_list arguments)
{
    char bytes[REQUEST_BYTES];
    const char *words[WORDS_MAX], *word;
    size_t lens[WORDS_MAX];
    unsigned count;
    for (count = 0; count < first_count; count++)
        words[count] = first[count];
    while ((word = va_arg(arguments, const char *))) {
        if (count == WORDS_MAX)
            suite_die("too many words");
        words[count++] = word;
    }
    for (unsigned i = 0; i < count; i++)
        lens[i] = strlen(words[i]);
    size_t len = wire_encode(bytes, sizeof(bytes), count, words, lens);
    if (len == 0)
        suite_die("a request is too long");
    send_bytes(conn, bytes, len);
}

void send_words(struct sim_conn *conn, ...)
{
    va_list arguments;
    va_start(arguments, conn);
    send_all(conn, NULL, 0, arguments);
    va_end(arguments);
}

void pass(int64_t ns)
{
    sim_run_until(sim_now_ns() + ns);
}

size_t heard_len;

const char *heard(struct sim_conn *conn)
{
    static char text[sizeof(conn->said)];
    memcpy(text, conn->said, conn->len + 1);
    heard_len = conn->len;
    conn->len = 0;
    conn->said[0] = '\0';
    return text;
}

const char *ask(struct sim_conn *conn, ...)
{
    va_list arguments;
    va_start(arguments, conn);
    send_all(conn, NULL, 0, arguments);
    va_end(arguments);
    pass(SIM_MS);
    return heard(conn);
}

/* ---- scripts ---------------------------------------------------------------------------- */

static const struct rl_script *script_of(const char *short_name)
{
    char plain[64];
    snprintf(plain, sizeof(plain), "plain_%s", short_name);
    for (int row = 0; row < RL_ROWS; row++) {
        const struct rl_kind *kind = rl_kind(row);
        for (int verb = 0; kind && verb < RL_VERBS; verb++) {
            const char *name = kind->script[verb].name;
            if (name && (strcmp(name, short_name) == 0 || strcmp(name, plain) == 0))
                return &kind->script[verb];
        }
    }
    suite_die("no script %s", short_name);
}

const char *script_body(const char *short_name)
{
    return script_text(script_of(short_name)->body);
}

const char *script_fenced_body(const char *short_name)
{
    return script_text(script_of(short_name)->fenced_body);
}

unsigned script_keys(const char *short_name)
{
    return (unsigned)strlen(script_of(short_name)->keys);
}

const char *script_key_letters(const char *short_name)
{
    return script_of(short_name)->keys;
}

const char *script_arg_letters(const char *short_name)
{
    return script_of(short_name)->args;
}

bool script_echoes_token(const char *short_name)
{
    return script_of(short_name)->echoes_token;
}

void teach_scripts(struct sim_conn *conn)
{
    const struct rl_kind *kind = rl_kind(REDLOCK_PLAIN);
    for (int verb = 0; verb < RL_VERBS; verb++) {
        if (kind->script[verb].body)
            ask(conn, "SCRIPT", "LOAD", script_text(kind->script[verb].body), NULL);
    }
}

const char *script_sha(const char *short_name)
{
    return sha_of(script_body(short_name));
}

const char *sha_of(const char *body)
{
    static char hex[2 * SHA_DIGEST_LENGTH + 1];
    unsigned char digest[SHA_DIGEST_LENGTH];
    SHA1((const unsigned char *)body, strlen(body), digest);
    for (size_t i = 0; i < sizeof(digest); i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    return hex;
}

const char *ask_script(struct sim_conn *conn, const char *script, ...)
{
    const char *const first[] = {"EVALSHA", script_sha(script),
                                 script_keys(script) == 1 ? "1" : "2"};
    va_list arguments;
    va_start(arguments, script);
    send_all(conn, first, 3, arguments);
    va_end(arguments);
    pass(SIM_MS);
    return heard(conn);
}
