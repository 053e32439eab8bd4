/* conf.c - see conf.h. */
#include "config_auto.h"

#include "conf.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char conf_dir[SUITE_PATH_MAX];
struct rl_config conf_config;
redlock_error conf_error;
char conf_warnings[4096];

void conf_set_up(void)
{
    suite_new_dir(conf_dir);
    ck_assert_int_eq(chdir(conf_dir), 0);
}

void conf_write(const char *name, const char *text, size_t len, mode_t mode)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, len), (ssize_t)len);
    ck_assert_int_eq(fchmod(fd, mode), 0);
    close(fd);
}

void conf_write_text(const char *name, const char *text, mode_t mode)
{
    conf_write(name, text, strlen(text), mode);
}

static void keep_warning(void *context, int level, const char *text)
{
    /* A secret that others may read is told to whoever is told anything. */
    bool open_to_others = strstr(text, "others may use the file") != NULL;
    ck_assert_int_eq(level, open_to_others ? REDLOCK_LOG_ERROR : REDLOCK_LOG_WARNING);
    ck_assert_ptr_eq(context, conf_warnings);
    ck_assert_ptr_null(strchr(text, '\n'));
    size_t len = strlen(conf_warnings);
    snprintf(conf_warnings + len, sizeof(conf_warnings) - len, "%s\n", text);
}

int conf_load_config(const redlock_config *from)
{
    conf_error = (redlock_error)REDLOCK_ERROR_INIT;
    conf_warnings[0] = '\0';
    return rl_config_load(&conf_config, from, keep_warning, conf_warnings, &conf_error);
}

int conf_load(const char *file)
{
    redlock_config from = REDLOCK_CONFIG_INIT;
    from.file = file;
    return conf_load_config(&from);
}

void conf_expect_error(const redlock_error *error, const char *file, int line, int column,
                       const char *wrong)
{
    char place[64];
    snprintf(place, sizeof(place), "%s:%d:%d: ", file, line, column);
    ck_assert_msg(strncmp(error->text, place, strlen(place)) == 0, "%s wanted: %s", place,
                  error->text);
    ck_assert_msg(strstr(error->text, wrong), "%s", error->text);
    ck_assert_int_eq(error->line, line);
    ck_assert_int_eq(error->column, column);
    ck_assert_int_eq(error->code, REDLOCK_ECONFIG);
}

int conf_parse(const char *text, size_t len, struct rl_config *ret_config,
               redlock_error *ret_error)
{
    *ret_error = (redlock_error)REDLOCK_ERROR_INIT;
    rl_config_init(ret_config);
    int code = rl_config_parse(ret_config, "n.conf", text, len, NULL, ret_error);
    if (code == 0)
        code = rl_config_check(ret_config, ret_error);
    return code;
}

int conf_parse_words(const char *text, struct rl_config *ret_config, redlock_error *ret_error)
{
    *ret_error = (redlock_error)REDLOCK_ERROR_INIT;
    rl_config_init(ret_config);
    int code = rl_config_parse_words(ret_config, text, strlen(text), ret_error);
    return code == 0 ? rl_config_check(ret_config, ret_error) : code;
}

void conf_expect_every(const struct rl_config *config)
{
    ck_assert_int_eq(config->max_ttl_ms, 20000);
    ck_assert_int_eq(config->ttl_ms, 8000);
    ck_assert_int_eq(config->node_timeout_ms, 250);
    ck_assert_int_eq(config->connect_timeout_ms, 2000);
    ck_assert_int_eq(config->stall_limit_ms, 3000);
    ck_assert_int_eq(config->linger_ms, 4000);
    ck_assert_int_eq(config->lock_delay_ms, 600);
    ck_assert_double_eq(config->drift_factor, 0.05);
    ck_assert_int_eq(config->guard, RL_GUARD_STRICT);
    ck_assert_str_eq(config->client_name, "aAzZ09._:@-");
    ck_assert_int_eq(config->background, REDLOCK_BACKGROUND_NEVER);
    ck_assert_int_eq(config->config_agreement, REDLOCK_AGREEMENT_WARN);
    ck_assert_int_eq(config->watch_wall_clock, REDLOCK_ON);
    ck_assert_int_eq(config->fencing, REDLOCK_FENCING_STRICT);
    ck_assert_str_eq(config->status_prefix, "a b:");
    ck_assert_str_eq(config->status_kinds, "plain,fenced");
}
