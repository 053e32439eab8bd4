/* statement.c - see statement.h. Core. */
#include "config_auto.h"

#include "core/statement.h"

#include "base/text.h"

#include <assert.h>
#include <string.h>

#define PORT_MAX 65535

bool rl_master_same(const struct rl_master_at *a, const struct rl_master_at *b)
{
    return a->port == b->port && a->term == b->term && strcmp(a->host, b->host) == 0;
}

/* Digits of a number up to `max`, written as servers write it. */
static bool number(const char *text, uint64_t max, uint64_t *ret)
{
    uint64_t value = 0;
    if (!text[0] || (text[0] == '0' && text[1]))
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        uint64_t digit = (uint64_t)(*text - '0');
        if (value > (max - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *ret = value;
    return true;
}

bool rl_term_parse(const char *text, uint64_t *ret_term)
{
    return number(text, RL_TERM_MAX, ret_term);
}

/* ---- the fields -------------------------------------------------------------------------- */

void rl_told_text(const char *bytes, size_t len, char *ret_text, size_t size)
{
    ret_text[0] = '\0';
    if (len >= size || memchr(bytes, '\0', len))
        return;
    memcpy(ret_text, bytes, len);
    ret_text[len] = '\0';
}

#define FIELD(key, member)                                                                     \
    {                                                                                          \
        key, offsetof(struct rl_sentinel_told, member),                                        \
            sizeof(((struct rl_sentinel_told *)0)->member)                                     \
    }

void rl_told_field(struct rl_sentinel_told *told, const char *field, const char *bytes,
                   size_t len)
{
    static const struct {
        const char *key;
        size_t at, size;
    } fields[] = {
        FIELD("ip", ip),
        FIELD("port", port),
        FIELD("runid", run_id),
        FIELD("config-epoch", config_epoch),
        FIELD("flags", flags),
        FIELD("failover-state", failover_state),
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (strcmp(field, fields[i].key) == 0)
            rl_told_text(bytes, len, (char *)told + fields[i].at, fields[i].size);
    }
}

/* ---- what they say ----------------------------------------------------------------------- */

/* One word of a list with commas. */
static bool has_flag(const char *flags, const char *flag)
{
    size_t len = strlen(flag);
    for (const char *at = flags; (at = strstr(at, flag)); at += len) {
        bool begins = at == flags || at[-1] == ',';
        if (begins && (at[len] == ',' || at[len] == '\0'))
            return true;
    }
    return false;
}

static bool is_one_of(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(word, words[i]) == 0)
            return true;
    }
    return false;
}

/* Of which of its two answers is its word? */
enum word { OF_MASTER, OF_ADDRESS, OF_NEITHER };

static enum word word_of(const struct rl_sentinel_told *told)
{
    static const char *const before[] = {"wait_start", "select_slave", "send_slaveof_noone",
                                         "wait_promotion"};
    static const char *const behind[] = {"reconf_slaves", "update_config"};
    if (!has_flag(told->flags, "failover_in_progress"))
        return OF_MASTER;
    if (is_one_of(told->failover_state, before, sizeof(before) / sizeof(before[0])))
        return OF_MASTER;
    if (is_one_of(told->failover_state, behind, sizeof(behind) / sizeof(behind[0])))
        return OF_ADDRESS;
    return OF_NEITHER;
}

static bool address(const char *host, const char *port, struct rl_master_at *ret)
{
    uint64_t value;
    size_t len = strlen(host);
    if (len == 0 || len >= sizeof(ret->host) || !number(port, PORT_MAX, &value) || value == 0)
        return false;
    for (size_t i = 0; i <= len; i++) {
        if (i < len && (host[i] <= ' ' || host[i] > '~'))
            return false;
        ret->host[i] = rl_lower(host[i]);
    }
    ret->port = (int)value;
    return true;
}

/* A name, and no IP address? No name is of digits and dots alone. */
static bool is_name(const char *host)
{
    if (strchr(host, ':'))
        return false;
    for (; *host; host++) {
        if (*host != '.' && (*host < '0' || *host > '9'))
            return true;
    }
    return false;
}

/* NULL: it is told. */
static const char *read_it(const struct rl_sentinel_told *told, struct rl_master_at *ret)
{
    enum word word = word_of(told);
    const char *run_id = told->run_id;
    struct rl_master_at former;
    if (!has_flag(told->flags, "master"))
        return "no flags of a master";
    if (word == OF_NEITHER)
        return "a failover whose state is unknown";
    if (!rl_term_parse(told->config_epoch, &ret->term))
        return "no config-epoch";
    if (!address(told->ip, told->port, &former))
        return "no address";
    *ret = (struct rl_master_at){.term = ret->term};
    if (word == OF_ADDRESS) {
        if (!address(told->addr_host, told->addr_port, ret))
            return "no address";
        if (ret->port == former.port && strcmp(ret->host, former.host) == 0)
            return "a failover that has no new master yet";
        run_id = is_name(ret->host) ? told->replica_run_id : "";
    } else {
        memcpy(ret->host, former.host, sizeof(ret->host));
        ret->port = former.port;
    }
    if (is_name(ret->host) && !run_id[0])
        return "no run id of a master whose host is a name";
    memcpy(ret->run_id, run_id, strlen(run_id) + 1);
    return NULL;
}

/* R22: A Sentinel's word, also while it leads a failover. */
void rl_statement_read(const struct rl_sentinel_told *told, struct rl_statement *ret)
{
    *ret = (struct rl_statement){.told = false};
    ret->why = read_it(told, &ret->at);
    ret->told = !ret->why;
    assert(!ret->told || (ret->at.port > 0 && ret->at.host[0]));
}
