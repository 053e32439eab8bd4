/* sim_scripts_marker.c - marker_join.lua and marker_named.lua, said in C: whose keys a model master has, and its
 * quarantine. The keys are told to no oracle, for they are no locks. */
#include "config_auto.h"

#include "sim_script_parts.h"

#include "kinds/fencing.h"
#include "kinds/lists.h"
#include "kinds/marker.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { MARKER_MAX = 192, TEXT_MAX = 160 };

bool sim_is_marker(const char *name)
{
    return strcmp(name, RL_MARKER_KEY) == 0 || strcmp(name, RL_QUARANTINE_KEY) == 0 ||
           strcmp(name, RL_LISTS_KEY) == 0 || strcmp(name, RL_FENCING_KEY) == 0;
}

bool sim_server_quarantined(struct sim_server *server)
{
    return sim_key_at(server, sim_masters_options()->db, RL_QUARANTINE_KEY,
                      strlen(RL_QUARANTINE_KEY));
}

void sim_marker_gone(const struct sim_key *key)
{
    if (strcmp(key->name.bytes, RL_QUARANTINE_KEY) == 0)
        key->server->quarantine_ended_ns = sim_now_ns();
}

struct marker {
    char run[64], replication[64], db[16], why[16];
    const char *more; /* what another version has written behind it */
};

static void write_marker(const struct sim_server *server, const char *db, const char *why,
                         char ret_text[MARKER_MAX])
{
    snprintf(ret_text, MARKER_MAX, "%s %s %s %s", server->run_id, server->replication, db, why);
}

static void put(struct sim_server *server, const struct sim_call *call, const char *name,
                const char *value, int64_t end_ms)
{
    sim_key_set(server, call, &(struct sim_word){name, strlen(name)},
                &(struct sim_word){value, strlen(value)}, end_ms);
}

/* What `redlock init` does. */
void sim_master_mark(unsigned master)
{
    struct sim_server *server = sim_server(sim_service_master(master));
    struct sim_call call = {.server = server, .db = sim_masters_options()->db};
    char text[MARKER_MAX], db[16];
    snprintf(db, sizeof(db), "%u", call.db);
    write_marker(server, db, "init", text);
    if (sim_sentinels_of(master) > 0)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), " @%llu",
                 (unsigned long long)sim_service_term(master));
    put(server, &call, RL_MARKER_KEY, text, SIM_NEVER);
}

static bool take_word(const char **at, int (*is)(int), char *ret_word, size_t size)
{
    size_t len = 0;
    while (is((unsigned char)(*at)[len]))
        len++;
    snprintf(ret_word, size, "%.*s", (int)len, *at);
    *at += len;
    return len < size;
}

static bool take_blank(const char **at)
{
    bool blank = **at == ' ';
    *at += blank;
    return blank;
}

static bool read_marker(const struct sim_key *key, struct marker *ret_marker)
{
    *ret_marker = (struct marker){.why = ""};
    if (!key || key->type != SIM_STRING)
        return false;
    const char *at = key->value.bytes;
    if (!take_word(&at, isalnum, ret_marker->run, sizeof(ret_marker->run)) ||
        !take_blank(&at) ||
        !take_word(&at, isalnum, ret_marker->replication, sizeof(ret_marker->replication)) ||
        !take_blank(&at) || !take_word(&at, isdigit, ret_marker->db, sizeof(ret_marker->db)))
        return false;
    if (!ret_marker->run[0] || !ret_marker->db[0] || !take_blank(&at) || !islower(*at))
        return false;
    const char *word = at;
    take_word(&at, islower, ret_marker->why, sizeof(ret_marker->why));
    ret_marker->more = word + strlen(ret_marker->why);
    while (isprint((unsigned char)*at))
        at++;
    return key->value.len < TEXT_MAX && at == key->value.bytes + key->value.len;
}

/* The fifth word, as it stands behind the four others; false: it is no term. */
static bool read_term(const char *more, uint64_t *ret_term)
{
    const char *digits = more + 2;
    if (strncmp(more, " @", 2) != 0 || !isdigit((unsigned char)*digits) ||
        (*digits == '0' && isdigit((unsigned char)digits[1])))
        return false;
    size_t len = strspn(digits, "0123456789");
    *ret_term = strtoull(digits, NULL, 10);
    return len <= 19;
}

/* With a term: what comes before all else; NULL: it is that of the marker. */
static const char *lost_term(struct sim_run *run, const struct marker *marker)
{
    uint64_t its, mine = strtoull(sim_argv_at(run, 5)->bytes, NULL, 10);
    if (sim_word_is(sim_argv_at(run, 4), "forgot"))
        return "forgotten";
    if (!read_term(marker->more, &its))
        return "termless";
    return its == mine ? NULL : its < mine ? "failover" : "later";
}

/* Why the keys are not those that the marker tells of; NULL: they are. */
static const char *lost(struct sim_run *run, const struct sim_key *key,
                        struct marker *ret_marker)
{
    const struct sim_server *server = run->call->server;
    bool whole = read_marker(key, ret_marker);
    if (!key)
        return "missing";
    if (!whole)
        return "foreign";
    const char *term = run->n_args == 5 ? lost_term(run, ret_marker) : NULL;
    if (term)
        return term;
    if (strcmp(ret_marker->db, sim_argv_at(run, 2)->bytes) != 0)
        return "moved";
    if (strcmp(ret_marker->run, server->run_id) != 0)
        return "restarted";
    if (strcmp(ret_marker->replication, server->replication) != 0 && server->second_offset >= 0)
        return "resynced";
    return NULL;
}

static void answer(struct sim_run *run, const char *why, int64_t left_ms, const char *marker)
{
    struct sim_call *call = run->call;
    const struct sim_word *nonce = sim_argv_at(run, 1);
    run->answered = true;
    run->yes = left_ms == 0;
    sim_put_array(call->out, 5);
    sim_put_bulk(call->out, nonce->bytes, nonce->len);
    sim_put_bulk(call->out, call->server->run_id, strlen(call->server->run_id));
    sim_put_bulk(call->out, why, strlen(why));
    sim_put_integer(call->out, left_ms);
    sim_put_bulk(call->out, marker, strlen(marker));
    if (left_ms > 0)
        sim_tell("n%u is quarantined for %s (%s), for %lld ms more", call->server->index + 1,
                 call->session->by ? call->session->by->name : "?", why, (long long)left_ms);
}

/* Is it a time, with an end that a client gave it, and not what somebody else has set? */
static bool is_quarantine(const struct sim_key *key)
{
    int64_t begun;
    size_t digits = key->type == SIM_STRING ? strspn(key->value.bytes, "0123456789") : 0;
    return digits > 0 && digits < 17 && digits == key->value.len && key->end_ms != SIM_NEVER &&
           sim_word_integer(&(struct sim_word){key->value.bytes, key->value.len}, &begun) &&
           key->end_ms >= begun && key->end_ms - begun <= 4 * RL_TTL_LIMIT_MS;
}

/* The quarantine: from now on, or as it stands, and for the asker's window at least. */
static const char *quarantine(struct sim_run *run, bool found, bool look, int64_t *ret_left_ms)
{
    struct sim_call *call = run->call;
    const struct sim_key *key = sim_script_key(run, sim_keys_at(run, 2));
    int64_t begun = 0, window = 0, left;
    char text[32];
    const char *error = sim_script_pttl(run, sim_keys_at(run, 2), &left);
    if (error)
        return error;
    *ret_left_ms = 0;
    if (!key && !found)
        return NULL;
    if (key && is_quarantine(key))
        (void)sim_word_integer(&(struct sim_word){key->value.bytes, key->value.len}, &begun);
    bool again = found || begun > call->now_ms;
    if (again)
        begun = call->now_ms;
    if (!sim_word_integer(sim_argv_at(run, 3), &window))
        return sim_not_integer;
    int64_t least = window - (call->now_ms - begun);
    if (left != -1 && left < least) {
        left = least;
        again = true;
    }
    *ret_left_ms = left == 0 ? 1 : left;
    if (!again || look)
        return NULL;
    if (found)
        call->server->quarantined_ns = sim_now_ns();
    if ((error = sim_script_enter(run, SIM_WRITES | SIM_DENYOOM)))
        return error;
    snprintf(text, sizeof(text), "%lld", (long long)begun);
    put(call->server, call, RL_QUARANTINE_KEY, text, call->now_ms + left);
    return NULL;
}

static void join(struct sim_run *run)
{
    struct sim_call *call = run->call;
    struct marker told;
    char text[MARKER_MAX];
    int64_t left_ms;
    bool replica = call->trouble == SIM_READONLY || call->trouble == SIM_MASTERDOWN ||
                   strcmp(call->server->role, "master") != 0;
    bool look = run->n_args >= 4 && sim_word_is(sim_argv_at(run, 4), "look");
    const char *error = sim_script_enter(run, 0);
    if (!error && replica) {
        answer(run, "replica", 0, "");
        return;
    }
    const struct sim_key *marker = sim_script_key(run, sim_keys_at(run, 1));
    const char *found = lost(run, marker, &told), *why = found ? found : told.why;
    if (!error && found && strcmp(found, "later") == 0) {
        answer(run, found, 0, marker->value.bytes);
        return;
    }
    write_marker(call->server, sim_argv_at(run, 2)->bytes, why, text);
    if (found && run->n_args == 5)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), " @%s",
                 sim_argv_at(run, 5)->bytes);
    const struct sim_key *began = sim_script_key(run, sim_keys_at(run, 2));
    bool strange = began && !is_quarantine(began), foreign = found && strcmp(found, "foreign") == 0;
    look |= foreign || (found && strange);
    if (!found && strlen(text) + strlen(told.more) < TEXT_MAX)
        strcat(text, told.more);
    if (!error && !look &&
        (!marker || marker->type != SIM_STRING || strcmp(marker->value.bytes, text) != 0)) {
        error = sim_script_enter(run, SIM_WRITES | SIM_DENYOOM);
        if (!error)
            put(call->server, call, RL_MARKER_KEY, text, SIM_NEVER);
    }
    if (!error)
        error = quarantine(run, found, look, &left_ms);
    if (error)
        sim_script_fail(run, "redis.call('SET'", error);
    else if (strange && (!found || (left_ms == -1 && !foreign)))
        answer(run, "strange", left_ms, found ? "" : text);
    else
        answer(run, why, left_ms, look && found ? "" : text);
}

/* The last arguments are the keys, and the marker as its client has read it. */
bool sim_marker_stands(struct sim_run *run)
{
    const struct sim_server *server = run->call->server;
    const struct sim_word *marker_name = sim_argv_at(run, run->n_args - 2);
    const struct sim_word *quarantine_name = sim_argv_at(run, run->n_args - 1);
    const struct sim_word *told = sim_argv_at(run, run->n_args);
    char run_id[64], replication[64];
    const char *error = sim_script_enter(run, 0);
    assert(told && quarantine_name && marker_name);
    run->n_args -= 3;
    if (error) {
        sim_script_fail(run, "redis.call('INFO'", error);
        return false;
    }
    const struct sim_key *marker = sim_script_key(run, marker_name);
    if (marker && marker->type == SIM_STRING && marker->value.len == told->len &&
        memcmp(marker->value.bytes, told->bytes, told->len) == 0 &&
        !sim_script_key(run, quarantine_name) && strcmp(server->role, "master") == 0 &&
        sscanf(told->bytes, "%63s %63s", run_id, replication) == 2 &&
        strcmp(replication, server->replication) == 0)
        return true;
    sim_script_answer_code(run, RL_REPLY_UNMARKED);
    return false;
}

const struct sim_known_script sim_scripts_marker[] = {
    {"marker_join", join},
    {"marker_named", join},
    {NULL, NULL},
};
