/* sim_scripts_certify.c - fence_join.lua and fence_certificate.lua, said in C: does a model
 * master have its fencing counters? Held against the real ones by test_sim_master_states. The
 * key is told to no oracle, for it is no lock. */
#include "config_auto.h"

#include "sim_certify.h"

#include "kinds/fencing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_MAX = 512 };
#define NUMBERS 9007199254740992.0

/* ---- the key ---------------------------------------------------------------------------- */

/* "word id base greatest run replication". False: it is none. */
bool sim_certificate_in(const struct sim_key *key, struct sim_certificate *ret)
{
    char rest[2];
    if (!key || key->type != SIM_STRING || key->value.len >= SHOWN_MAX ||
        strlen(key->value.bytes) != key->value.len)
        return false;
    ret->replication[0] = '\0';
    int got = sscanf(key->value.bytes,
                     "%15[a-z] %32[0-9a-f] %16[0-9] %16[0-9] %40[0-9a-zA-Z] "
                     "%40[0-9a-zA-Z]%1s",
                     ret->word, ret->id, ret->base, ret->greatest, ret->run, ret->replication,
                     rest);
    char again[SHOWN_MAX];
    sim_certificate_text(ret, again);
    size_t id_len = strcmp(ret->word, "certified") == 0 ? 32 : 16;
    return (got == 5 || got == 6) && strcmp(again, key->value.bytes) == 0 &&
           strlen(ret->id) == id_len && strtod(ret->base, NULL) < NUMBERS &&
           strtod(ret->greatest, NULL) < NUMBERS;
}

void sim_certificate_text(const struct sim_certificate *certificate, char ret_text[SHOWN_MAX])
{
    snprintf(ret_text, SHOWN_MAX, "%s %s %s %s %s %s", certificate->word, certificate->id,
             certificate->base, certificate->greatest, certificate->run,
             certificate->replication);
}

/* ---- fence_certificate.lua -------------------------------------------------------------- */

bool sim_certificate_read(struct sim_run *run, struct sim_certificate *ret)
{
    const struct sim_word *name = sim_argv_at(run, run->n_args - 1);
    const struct sim_word *shown = sim_argv_at(run, run->n_args);
    const struct sim_key *key;
    double number;
    *ret = (struct sim_certificate){.strict = false};
    if (!name || sim_lua_number(name, &number))
        return true;
    const char *error = sim_script_get(run, name, &key);
    if (error && error != sim_wrong_type) {
        sim_script_fail(run, "redis.call('GET', key)", error);
        return false;
    }
    ret->name = name;
    ret->strict = sim_certificate_in(key, ret) && strcmp(ret->word, "certified") == 0;
    if (ret->strict && shown && strcmp(shown->bytes, ret->id) == 0)
        return true;
    sim_put_error(run->call->out,
                  ret->strict ? "UNCERTIFIED masters lost fencing counters during the round"
                              : "UNCERTIFIED its fencing counters may be lost");
    return false;
}

bool sim_certificate_raise(struct sim_run *run, struct sim_certificate *certificate,
                           double token)
{
    char text[SHOWN_MAX];
    double greatest = 0;
    sim_lua_number(&(struct sim_word){certificate->greatest, strlen(certificate->greatest)},
                   &greatest);
    if (!certificate->strict || token <= greatest)
        return true;
    snprintf(certificate->greatest, sizeof(certificate->greatest), "%.0f", token);
    sim_certificate_text(certificate, text);
    const char *error = sim_script_set_for_ever(run, certificate->name,
                                                &(struct sim_word){text, strlen(text)});
    if (error)
        sim_script_fail(run, "redis.call('SET', strict", error);
    return !error;
}

/* ---- fence_join.lua --------------------------------------------------------------------- */

static void answer(struct sim_run *run, const char *word, const char *id, const char *greatest)
{
    const struct sim_word *nonce = sim_argv_at(run, 1);
    int64_t number = 0;
    sim_word_integer(&(struct sim_word){greatest, strlen(greatest)}, &number);
    run->answered = run->yes = true;
    sim_put_array(run->call->out, 4);
    sim_put_bulk(run->call->out, nonce->bytes, nonce->len);
    sim_put_bulk(run->call->out, word, strlen(word));
    sim_put_bulk(run->call->out, id, strlen(id));
    sim_put_integer(run->call->out, number);
}

/* Why the counters are not those that it tells of; NULL: they are. */
static const char *lost(const struct sim_server *server, const struct sim_key *key, bool is_one,
                        const struct sim_certificate *certificate)
{
    if (!is_one)
        return key ? "foreign" : "missing";
    if (strcmp(certificate->run, server->run_id) != 0)
        return "restarted";
    if (strcmp(certificate->replication, server->replication) != 0 &&
        server->second_offset >= 0)
        return "resynced";
    return NULL;
}

static void change(const struct sim_run *run, struct sim_certificate *certificate,
                   const char *lost_why)
{
    const char *nonce = sim_argv_at(run, 1)->bytes, *what = sim_argv_at(run, 2)->bytes;
    const char *loss = sim_argv_at(run, 3)->bytes, *number = sim_argv_at(run, 4)->bytes;
    bool certified = strcmp(certificate->word, "certified") == 0;
    if (lost_why) {
        snprintf(certificate->word, sizeof(certificate->word), "%s", lost_why);
        snprintf(certificate->id, sizeof(certificate->id), "%.32s", nonce);
        strcpy(certificate->base, "0");
        strcpy(certificate->greatest, "0");
    } else if (strcmp(what, "read") == 0 && certified &&
               (strlen(loss) != 16 || strncmp(certificate->id, loss, 16) != 0)) {
        snprintf(certificate->id, sizeof(certificate->id), "%.16s%.16s", loss, nonce);
    } else if (strcmp(what, "certify") == 0 && !certified &&
               strcmp(certificate->id, loss) == 0) {
        strcpy(certificate->word, "certified");
        snprintf(certificate->id, sizeof(certificate->id), "%.16s%.16s", loss, nonce);
        snprintf(certificate->base, sizeof(certificate->base), "%.16s", number);
        snprintf(certificate->greatest, sizeof(certificate->greatest), "%.16s", number);
    }
}

static void join(struct sim_run *run)
{
    struct sim_call *call = run->call;
    struct sim_server *server = call->server;
    const struct sim_word *name = sim_keys_at(run, 1);
    struct sim_certificate certificate = {.strict = true};
    char text[SHOWN_MAX];
    bool replica = call->trouble == SIM_READONLY || call->trouble == SIM_MASTERDOWN ||
                   strcmp(server->role, "master") != 0;
    const char *error = sim_script_enter(run, 0);
    if (!error && replica) {
        answer(run, "replica", "", "0");
        return;
    }
    const struct sim_key *key = sim_script_key(run, name);
    bool is_one = sim_certificate_in(key, &certificate);
    const char *why = lost(server, key, is_one, &certificate);
    bool look = strcmp(sim_argv_at(run, 2)->bytes, "look") == 0;
    if (!error && why && (look || strcmp(why, "foreign") == 0)) {
        answer(run, why, "", "0");
        return;
    }
    change(run, &certificate, why);
    snprintf(certificate.run, sizeof(certificate.run), "%s", server->run_id);
    snprintf(certificate.replication, sizeof(certificate.replication), "%s",
             server->replication);
    sim_certificate_text(&certificate, text);
    if (!error && !look &&
        (!key || key->type != SIM_STRING || strcmp(key->value.bytes, text) != 0))
        error = sim_script_set_for_ever(run, name, &(struct sim_word){text, strlen(text)});
    if (error)
        sim_script_fail(run, "redis.call('SET'", error);
    else
        answer(run, certificate.word, certificate.id, certificate.greatest);
}

const struct sim_known_script sim_scripts_certify[] = {
    {"fence_join", join},
    {NULL, NULL},
};

/* ---- what an operator does -------------------------------------------------------------- */

static struct sim_key *key_of(struct sim_server *server)
{
    return sim_key_find(server, sim_masters_options()->db, RL_FENCING_KEY,
                        strlen(RL_FENCING_KEY));
}

bool sim_master_certified(unsigned master)
{
    struct sim_server *server = sim_server(master);
    struct sim_certificate certificate;
    return sim_master_up(master) && sim_certificate_in(key_of(server), &certificate) &&
           strcmp(certificate.word, "certified") == 0 &&
           strcmp(certificate.run, server->run_id) == 0;
}

void sim_master_certify(unsigned master, uint64_t above)
{
    struct sim_server *server = sim_server(master);
    struct sim_call call = {.server = server, .db = sim_masters_options()->db};
    struct sim_certificate certificate = {.word = "certified"};
    char text[SHOWN_MAX];
    snprintf(certificate.id, sizeof(certificate.id), "%016llx%016llx",
             (unsigned long long)sim_now_ns(), (unsigned long long)master);
    snprintf(certificate.base, sizeof(certificate.base), "%llu", (unsigned long long)above);
    snprintf(certificate.greatest, sizeof(certificate.greatest), "%llu",
             (unsigned long long)above);
    snprintf(certificate.run, sizeof(certificate.run), "%s", server->run_id);
    snprintf(certificate.replication, sizeof(certificate.replication), "%s",
             server->replication);
    sim_certificate_text(&certificate, text);
    sim_key_set(server, &call, &(struct sim_word){RL_FENCING_KEY, strlen(RL_FENCING_KEY)},
                &(struct sim_word){text, strlen(text)}, SIM_NEVER);
}
