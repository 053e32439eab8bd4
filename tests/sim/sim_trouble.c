/* sim_trouble.c - what goes wrong with a model master's answers: states in which Redis refuses
 * commands, each those that it then refuses and in its own words, and replies of a server that
 * is broken, or none. */
#include "config_auto.h"

#include "sim_master_parts.h"

#include "kinds/kind.h"

#include <stdio.h>

const char sim_masterdown[] =
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";

static const char misconf[] =
    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist "
    "to disk. Commands that may modify the data set are disabled, because this instance is "
    "configured to report errors during writes if RDB snapshotting fails "
    "(stop-writes-on-bgsave-error option). Please check the Redis logs for details about the "
    "RDB error.";

static const char *const names[SIM_TROUBLES] = {
    "no trouble", "LOADING",    "OOM",      "MISCONF", "READONLY", "BUSY",  "NOPERM",
    "NOAUTH",     "MASTERDOWN", "NOSCRIPT", "garbage", "huge",    "stray",    "wrong",
};

void sim_master_trouble(unsigned master, enum sim_trouble trouble, unsigned per_million)
{
    struct sim_server *server = sim_server(master);
    server->trouble = per_million > 0 ? trouble : SIM_NO_TROUBLE;
    server->trouble_ppm = per_million;
    sim_mark(SIM_MARK_TROUBLE, (uint64_t)master << 8 | trouble, per_million);
    sim_tell("n%u has %s, %u of a million", master + 1, names[trouble], per_million);
}

uint64_t sim_master_troubled(unsigned master)
{
    return sim_server(master)->troubled;
}

enum sim_trouble sim_trouble_draw(struct sim_server *server)
{
    if (server->trouble == SIM_NO_TROUBLE ||
        (server->trouble_ppm < 1000000 && !sim_chance(server->trouble_ppm)))
        return SIM_NO_TROUBLE;
    return server->trouble;
}

/* ---- states ----------------------------------------------------------------------------- */

/* What only scripts' calls and commands share: refused for what they would do to the data. */
static const char *refuses_write(const struct sim_call *call, unsigned flags, bool scripted)
{
    bool over = scripted && call->dirty; /* it has written already, and may go on */
    switch (call->trouble) {
    case SIM_OOM:
        return flags & SIM_DENYOOM && !over
                   ? "OOM command not allowed when used memory > 'maxmemory'."
                   : NULL;
    case SIM_MISCONF:
        if (flags & SIM_WRITES && !over)
            return misconf;
        return flags & SIM_IS_PING ? misconf : NULL;
    case SIM_READONLY:
    case SIM_MASTERDOWN:
        return flags & SIM_WRITES ? "READONLY You can't write against a read only replica."
                                  : NULL;
    default:
        return NULL;
    }
}

static const char *refuses_command(const struct sim_call *call, unsigned flags)
{
    static char noperm[96];
    switch (call->trouble) {
    case SIM_LOADING:
        return flags & SIM_WHILE_LOADING ? NULL
                                         : "LOADING Redis is loading the dataset in memory";
    case SIM_BUSY:
        return flags & SIM_ALLOW_BUSY
                   ? NULL
                   : "BUSY Redis is busy running a script. You can only call SCRIPT KILL or "
                     "SHUTDOWN NOSAVE.";
    case SIM_NOPERM:
        if (!(flags & SIM_SCRIPTING))
            return NULL;
        snprintf(noperm, sizeof(noperm),
                 "NOPERM this user has no permissions to run the '%s' command",
                 call->command->name);
        return noperm;
    case SIM_NOAUTH:
        return flags & SIM_NO_AUTH ? NULL : "NOAUTH Authentication required.";
    case SIM_MASTERDOWN:
        return flags & SIM_STALE ? NULL : sim_masterdown;
    case SIM_NOSCRIPT:
        return flags & SIM_SCRIPTING ? "NOSCRIPT No matching script. Please use EVAL." : NULL;
    default:
        return NULL;
    }
}

const char *sim_trouble_refuses(const struct sim_call *call, unsigned flags, bool scripted)
{
    if (call->trouble == SIM_NO_TROUBLE)
        return NULL;
    const char *text = refuses_write(call, flags, scripted);
    if (!text && !scripted)
        text = refuses_command(call, flags);
    if (!text)
        return NULL;
    call->server->troubled++;
    sim_mark(SIM_MARK_TROUBLE, call->server->index, call->trouble);
    if (sim_tells())
        sim_tell("n%u refuses %s of %s: %.20s", call->server->index + 1,
                 scripted ? call->name : call->command->name,
                 call->session->by ? call->session->by->name : "?", text);
    return text;
}

/* ---- replies that are none --------------------------------------------------------------- */

static void make_garbage(struct sim_text *out)
{
    static const char *const some[] = {
        "HTTP/1.1 400 Bad Request\r\n\r\n",
        "\r\n",
        ":\r\n",
        "*-2\r\n",
        "$-2\r\n",
        "*x\r\n",
        "?\r\n",
        "\x16\x03\x01\x02",
        "+OK\n\n",
        ":99999999999999999999\r\n",
    };
    size_t which = (size_t)sim_below(sizeof(some) / sizeof(some[0]) + 1);
    out->len = 0;
    if (which < sizeof(some) / sizeof(some[0])) {
        sim_put(out, some[which]);
        return;
    }
    for (int64_t left = sim_between(1, 200); left > 0; left--) {
        char byte = (char)sim_below(256);
        sim_text_add(out, &byte, 1);
    }
}

static void make_huge(struct sim_text *out)
{
    static const char *const some[] = {
        "$536870912\r\n", "$9223372036854775807\r\n",
        "*1000000\r\n",   "$60000\r\nabc",
        "*2\r\n$16\r\n",  "+never ends ",
    };
    out->len = 0;
    sim_put(out, some[sim_below(sizeof(some) / sizeof(some[0]))]);
    for (int64_t left = sim_below(2) ? sim_scale(1, 100000) : 0; left > 0; left--)
        sim_text_add(out, "x", 1);
}

/* Before it or behind it: a grant that nobody asked for, or the same again. */
static void make_stray(struct sim_call *call)
{
    static struct sim_text twice;
    static const char *const some[] = {
        ":1\r\n",
        "+OK\r\n",
        "$-1\r\n",
        "$16\r\n0000000000000000\r\n",
        "*2\r\n$17\r\n0000000000000000-\r\n:1\r\n",
        "-ERR max number of clients reached\r\n",
    };
    struct sim_text *out = call->out;
    size_t which = (size_t)sim_below(sizeof(some) / sizeof(some[0]) + 1);
    bool behind = sim_below(2) == 1;
    twice.len = 0;
    if (behind)
        sim_text_add(&twice, out->bytes, out->len);
    if (which < sizeof(some) / sizeof(some[0]))
        sim_put(&twice, some[which]);
    else
        sim_text_add(&twice, out->bytes, out->len);
    if (!behind)
        sim_text_add(&twice, out->bytes, out->len);
    sim_text_set(out, twice.bytes, twice.len);
}

/* Another shape, or a grant under another nonce. */
static void make_wrong(struct sim_text *out)
{
    static const char *const some[] = {
        ":1\r\n",
        ":0\r\n",
        "+OK\r\n",
        "$-1\r\n",
        "*-1\r\n",
        "*0\r\n",
        "$1\r\n1\r\n",
        "*1\r\n:1\r\n",
        "*2\r\n:1\r\n:1\r\n",
        "$16\r\n0000000000000000\r\n",
        "*2\r\n$17\r\n0000000000000000-\r\n:1\r\n",
        "*3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$1\r\ny\r\n",
    };
    /* "$16 NONCE" (or a token) or "*2 $17 NONCE- :0": a hex digit of it, or the number. */
    bool array = out->len > 27 && memcmp(out->bytes + 4, "$17\r\n", 5) == 0;
    bool alone = out->len >= 23 && out->len < 100 && out->bytes[0] == '$';
    if ((array || alone) && sim_below(2) == 1) {
        char *at = out->bytes + (array ? 9 : 5) + sim_below(16);
        *at = *at == '0' ? '1' : '0';
    } else if (array && sim_below(2) == 1) {
        out->bytes[29] = (char)('2' + sim_below(8));
    } else {
        out->len = 0;
        sim_put(out, some[sim_below(sizeof(some) / sizeof(some[0]))]);
    }
}

void sim_trouble_twist(struct sim_call *call)
{
    if (call->trouble < SIM_GARBAGE || call->out->len == 0)
        return;
    if (call->trouble == SIM_GARBAGE)
        make_garbage(call->out);
    else if (call->trouble == SIM_HUGE)
        make_huge(call->out);
    else if (call->trouble == SIM_STRAY)
        make_stray(call);
    else
        make_wrong(call->out);
    call->server->troubled++;
    sim_mark_bytes(SIM_MARK_TROUBLE, call->out->bytes, call->out->len);
    sim_tell("n%u answers %s with %s", call->server->index + 1,
             call->name ? call->name : "an error", names[call->trouble]);
}

/* ---- what it says unasked --------------------------------------------------------------- */

/* As if the first in that queue were woken, who stays in it. */
static void cry_to_first(struct sim_server *server, const struct sim_key *queue)
{
    char channel[sizeof(RL_WAKE_PREFIX) + 36];
    const struct sim_member *first = queue->member;
    if (queue->type != SIM_ZSET || queue->members == 0 || first->len < 36)
        return;
    int len = snprintf(channel, sizeof(channel), RL_WAKE_PREFIX "%.36s", first->text);
    sim_publish(server, &(struct sim_word){channel, (size_t)len},
                &(struct sim_word){first->text, first->len});
}

void sim_master_cry(unsigned master)
{
    struct sim_server *server = sim_server(master);
    sim_mark(SIM_MARK_TROUBLE, master, server->keys);
    for (size_t i = 0; i < server->keys; i++)
        cry_to_first(server, server->key[i]);
    for (size_t i = 0; i < server->sessions; i++) {
        const struct sim_session *session = server->session[i];
        for (size_t k = 0; k < session->channels; k++)
            sim_publish(server,
                        &(struct sim_word){session->channel[k].name, session->channel[k].len},
                        &(struct sim_word){"0", 1});
    }
}
