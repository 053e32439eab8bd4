/* node_options.c - see node_options.h. Core.
 *
 * To add an option, write a line in enum rl_node_option, a row here and an entry in
 * redlock.conf(5). Write a field of its name in struct rl_node_config and in redlock_node.
 */
#include "config_auto.h"

#include "base/text.h"
#include "config/host.h"
#include "config/node_options.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum value_type { PATH, VARIABLE, HOST, YES_OR_NO, USER, OFF };

struct row {
    const char *name;
    const char *member;
    size_t offset; /* in struct rl_node_config */
    size_t given;  /* in redlock_node */
    enum value_type type;
    bool tls;      /* for rediss:// only */
    bool sentinel; /* for lines that name Sentinels */
};

#define ROW(text, field, value_type, tls_only, ...)                                            \
    {                                                                                          \
        .name = text, .member = #field, .offset = offsetof(struct rl_node_config, field),      \
        .given = offsetof(redlock_node, field), .type = (value_type), .tls = (tls_only),       \
        __VA_ARGS__                                                                            \
    }
#define SENTINEL_ROW(text, field, value_type, tls_only)                                        \
    ROW(text, field, value_type, tls_only, .sentinel = true)

static const struct row table[RL_OPTION_COUNT] = {
    [RL_OPTION_PASSWORD_FILE] = ROW("password-file", password_file, PATH, false),
    [RL_OPTION_PASSWORD_ENV] = ROW("password-env", password_env, VARIABLE, false),
    [RL_OPTION_CA_FILE] = ROW("ca-file", ca_file, PATH, true),
    [RL_OPTION_CA_DIR] = ROW("ca-dir", ca_dir, PATH, true),
    [RL_OPTION_CERT_FILE] = ROW("cert-file", cert_file, PATH, true),
    [RL_OPTION_KEY_FILE] = ROW("key-file", key_file, PATH, true),
    [RL_OPTION_SERVER_NAME] = ROW("server-name", server_name, HOST, true),
    [RL_OPTION_FAILOVER] = ROW("failover", failover, YES_OR_NO, false),
    [RL_OPTION_SENTINEL_USER] = SENTINEL_ROW("sentinel-user", sentinel_user, USER, false),
    [RL_OPTION_SENTINEL_PASSWORD_FILE] =
        SENTINEL_ROW("sentinel-password-file", sentinel_password_file, PATH, false),
    [RL_OPTION_SENTINEL_PASSWORD_ENV] =
        SENTINEL_ROW("sentinel-password-env", sentinel_password_env, VARIABLE, false),
    [RL_OPTION_SENTINEL_TLS] = SENTINEL_ROW("sentinel-tls", sentinel_tls, OFF, true),
};

static char **field(struct rl_node_config *node, enum rl_node_option option)
{
    assert(option < RL_OPTION_COUNT);
    return (char **)(void *)((char *)node + table[option].offset);
}

const char *rl_node_option_name(enum rl_node_option option)
{
    assert(option < RL_OPTION_COUNT);
    return table[option].name;
}

const char *rl_node_option_member(enum rl_node_option option)
{
    assert(option < RL_OPTION_COUNT);
    return table[option].member;
}

int rl_node_option_find(const char *name, size_t len)
{
    for (int i = 0; i < RL_OPTION_COUNT; i++) {
        if (strlen(table[i].name) == len && memcmp(table[i].name, name, len) == 0)
            return i;
    }
    return -1;
}

const char *rl_node_option_get(const struct rl_node_config *node, enum rl_node_option option)
{
    assert(option < RL_OPTION_COUNT);
    const void *at = (const char *)node + table[option].offset;
    return *(char *const *)at;
}

const char *rl_node_option_given(const redlock_node *node, enum rl_node_option option)
{
    assert(option < RL_OPTION_COUNT);
    const void *at = (const char *)node + table[option].given;
    return *(const char *const *)at;
}

bool rl_node_option_is_path(enum rl_node_option option)
{
    assert(option < RL_OPTION_COUNT);
    return table[option].type == PATH;
}

void rl_node_option_replace(struct rl_node_config *node, enum rl_node_option option, char *path)
{
    assert(rl_node_option_is_path(option));
    char **value = field(node, option);
    free(*value);
    *value = path;
}

/* ---- values --------------------------------------------------------------------------- */

static int copy(const char *text, size_t len, char **ret_copy, struct rl_problem *problem)
{
    char *copied = rl_copy(text, len);
    if (!copied)
        return rl_problem_no_memory(problem);
    *ret_copy = copied;
    return 0;
}

static int set_path(const char *text, size_t len, char **ret_path, struct rl_problem *problem)
{
    if (len > RL_PATH_LIMIT)
        return rl_problem_set(problem, RL_PATH_LIMIT, "a path has at most %d bytes",
                              RL_PATH_LIMIT);
    return copy(text, len, ret_path, problem);
}

static int set_variable(const char *text, size_t len, char **ret_name,
                        struct rl_problem *problem)
{
    static const char wrong[] = "the name of an environment variable has letters, digits and "
                                "'_', no digit first; give the name, not the password";

    if (len > RL_USER_MAX)
        return rl_problem_set(problem, RL_USER_MAX,
                              "the name of an environment variable has at most %d bytes here",
                              RL_USER_MAX);
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || c < '0' || c > '9'))
            return rl_problem_set(problem, i, "%s", wrong);
    }
    return copy(text, len, ret_name, problem);
}

static int set_yes_or_no(const char *text, size_t len, char **ret_word,
                         struct rl_problem *problem)
{
    if ((len != 3 || memcmp(text, "yes", 3) != 0) && (len != 2 || memcmp(text, "no", 2) != 0))
        return rl_problem_set(problem, 0,
                              "write yes where a replica may take this master's place, no "
                              "where none ever does");
    return copy(text, len, ret_word, problem);
}

static int set_user(const char *text, size_t len, char **ret_user, struct rl_problem *problem)
{
    if (len > RL_USER_MAX)
        return rl_problem_set(problem, RL_USER_MAX, "a user name has at most %d bytes",
                              RL_USER_MAX);
    return copy(text, len, ret_user, problem);
}

static int set_off(const char *text, size_t len, char **ret_word, struct rl_problem *problem)
{
    if (len != 3 || memcmp(text, "off", 3) != 0)
        return rl_problem_set(problem, 0,
                              "write off where the Sentinels have no TLS; else leave it out");
    return copy(text, len, ret_word, problem);
}

int rl_node_option_set(struct rl_node_config *node, enum rl_node_option option,
                       const char *text, size_t len, struct rl_problem *problem)
{
    char **value = field(node, option);
    assert(!*value);
    if (len == 0)
        return rl_problem_set(problem, 0, "%s is empty; give it a value or leave it out",
                              table[option].name);
    switch (table[option].type) {
    case PATH:
        return set_path(text, len, value, problem);
    case VARIABLE:
        return set_variable(text, len, value, problem);
    case YES_OR_NO:
        return set_yes_or_no(text, len, value, problem);
    case USER:
        return set_user(text, len, value, problem);
    case OFF:
        return set_off(text, len, value, problem);
    case HOST:
        break;
    }
    return rl_host_parse(text, len, value, problem);
}

bool rl_node_fails_over(const struct rl_node_config *node)
{
    return node->service || (node->failover && strcmp(node->failover, "yes") == 0);
}

/* ---- a node as a whole ---------------------------------------------------------------- */

static int check_password(const struct rl_node_config *node, enum rl_node_option *ret_option,
                          struct rl_problem *problem)
{
    *ret_option = node->password_env ? RL_OPTION_PASSWORD_ENV : RL_OPTION_PASSWORD_FILE;
    if (node->password && (node->password_file || node->password_env))
        return rl_problem_set(
            problem, 0,
            "the URL has a password already; keep %s and take the one in the URL out",
            table[*ret_option].name);
    if (node->password_file && node->password_env)
        return rl_problem_set(
            problem, 0,
            "password-file and password-env both give a password; keep one of them");
    return 0;
}

/* Sentinels have a password and a user of their own. */
static int check_sentinels(const struct rl_node_config *node, enum rl_node_option *ret_option,
                           struct rl_problem *problem)
{
    for (int i = 0; i < RL_OPTION_COUNT && !node->service; i++) {
        *ret_option = (enum rl_node_option)i;
        if (table[i].sentinel && rl_node_option_get(node, *ret_option))
            return rl_problem_set(problem, 0,
                                  "%s is for Sentinels, and this line names none; write "
                                  "redis+sentinel://host1,host2,host3/SERVICE, or leave it out",
                                  table[i].name);
    }
    *ret_option = RL_OPTION_FAILOVER;
    if (node->service && node->failover)
        return rl_problem_set(problem, 0, "what Sentinels name always fails over; leave "
                                          "failover out");
    *ret_option = RL_OPTION_SENTINEL_PASSWORD_ENV;
    if (node->sentinel_password_file && node->sentinel_password_env)
        return rl_problem_set(problem, 0,
                              "sentinel-password-file and sentinel-password-env both give a "
                              "password; keep one of them");
    *ret_option = RL_OPTION_SENTINEL_USER;
    if (node->sentinel_user && !node->sentinel_password_file && !node->sentinel_password_env)
        return rl_problem_set(problem, 0,
                              "sentinel-user without a password; give sentinel-password-file "
                              "or sentinel-password-env as well");
    return 0;
}

int rl_node_check(const struct rl_node_config *node, enum rl_node_option *ret_option,
                  struct rl_problem *problem)
{
    for (int i = 0; i < RL_OPTION_COUNT && node->transport != RL_TLS; i++) {
        *ret_option = (enum rl_node_option)i;
        if (table[i].tls && rl_node_option_get(node, *ret_option))
            return rl_problem_set(
                problem, 0,
                "%s is for TLS, and this node has none; write rediss://, or leave %s out",
                table[i].name, table[i].name);
    }
    if (node->cert_file && !node->key_file) {
        *ret_option = RL_OPTION_CERT_FILE;
        return rl_problem_set(
            problem, 0,
            "cert-file without key-file; give the private key of the certificate as well");
    }
    if (node->key_file && !node->cert_file) {
        *ret_option = RL_OPTION_KEY_FILE;
        return rl_problem_set(
            problem, 0,
            "key-file without cert-file; give the certificate of the private key as well");
    }
    int code = check_sentinels(node, ret_option, problem);
    return code < 0 ? code : check_password(node, ret_option, problem);
}
