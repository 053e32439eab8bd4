/* cli_nodes.c - chooses the node list, a file or words. A list decides where passwords are sent
 * and locks are taken. So the one of the working directory is used only if nobody but the caller and root
 * could have written it. */
#include "config_auto.h"

#include "redlock/cli.h"

#include "config/config_load.h"
#include "config/list_mark.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HERE "./redlock.conf"
#define SYSTEM_WIDE "/etc/redlock.conf"

static char *used;  /* its absolute path, or the words, once there is a client */
static char *shown; /* the same without passwords */
static struct rl_list_mark mark;
static char *secrets[REDLOCK_NODES_MAX]; /* names of variables; up to a NULL */

/* A file that can't be read counts as existing: the error then names it. */
static bool is_there(const char *path)
{
    return access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/* Could another user have put it there? Then the reason, for people. The owner of a link
 * answers for its target, unless that belongs to another user as well. */
static bool is_ours(const char *path, const char *what, char *why, size_t why_size)
{
    struct stat status;
    const char *wrong = NULL;
    if (stat(path, &status) != 0)
        return true; /* nobody reads it: the code that opens it reports the error */
    if (status.st_uid != 0 && status.st_uid != geteuid())
        wrong = "belongs to somebody else";
    else if (status.st_mode & 022)
        wrong = "may be written by others";
    if (wrong)
        snprintf(why, why_size, "%s %s (uid %lu, mode %04o)", what, wrong,
                 (unsigned long)status.st_uid, (unsigned)(status.st_mode & 07777));
    return !wrong;
}

int cli_nodes_find(const struct cli *cli, const char **ret_path)
{
    const char *named = getenv("REDLOCK_NODES");
    char why[128];
    if (cli->nodes_file && !*cli->nodes_file) {
        cli_say(cli, "-n is empty: give the path of a node list file, or URLs");
        return CLI_USAGE;
    }
    if (cli->nodes_file || (named && *named)) {
        *ret_path = cli->nodes_file ? cli->nodes_file : named;
        return CLI_OK;
    }
    if (is_there(HERE)) {
        *ret_path = HERE;
        if (is_ours(".", "its directory", why, sizeof(why)) &&
            is_ours(HERE, "it", why, sizeof(why)))
            return CLI_OK;
        /* Do not go on to the next file: other masters would mean another lock. */
        cli_say(cli,
                HERE " is not used: %s; make it and its directory yours and "
                     "writable for nobody else, or name a node list with -n",
                why);
        return CLI_CONFIG;
    }
    if (is_there(SYSTEM_WIDE)) {
        *ret_path = SYSTEM_WIDE;
        return CLI_OK;
    }
    cli_say(cli,
            "no node list: looked at -n, $REDLOCK_NODES, " HERE " and " SYSTEM_WIDE
            "; write REDLOCK_NODES='redis://HOST:6379', or a file with a line for each master, "
            "as \"node redis://HOST:6379\", see "
            "redlock.conf(5); redlock-cluster up 5 starts masters for trying");
    return CLI_CONFIG;
}

/* Note the variables that hold passwords. */
static bool note_secrets(const struct rl_config *config)
{
    bool complete = true;
    for (unsigned i = 0, count = 0; i < config->node_count; i++) {
        if (config->nodes[i].password_env)
            complete = complete && (secrets[count++] = strdup(config->nodes[i].password_env));
    }
    return complete;
}

/* The URLs of a list in words, without passwords and options. */
static bool note_urls(const struct rl_config *config)
{
    size_t size = 0;
    FILE *out = open_memstream(&shown, &size);
    if (!out)
        return false;
    for (unsigned i = 0; i < config->node_count; i++)
        fprintf(out, "%s%s", i > 0 ? " " : "", config->nodes[i].label);
    bool failed = ferror(out) != 0;
    return fclose(out) == 0 && !failed;
}

static int note_list(const struct cli *cli, bool is_words)
{
    struct rl_config config;
    redlock_config from = REDLOCK_CONFIG_INIT;
    redlock_error error = REDLOCK_ERROR_INIT;
    from.file = used;
    int code = rl_config_load(&config, &from, NULL, NULL, &error);
    if (code != REDLOCK_OK) {
        cli_say(cli, "%s", error.text);
        return cli_exit_of(code);
    }
    if (config.holds_password && cli->nodes_file && is_words)
        cli_say(cli, "-n has a password in it, and everybody sees it by ps; use $REDLOCK_NODES, "
                     "or password-file=");
    rl_list_mark_of(&config, &mark);
    bool complete = note_secrets(&config);
    if (is_words)
        complete = note_urls(&config) && complete;
    rl_config_free(&config);
    if (!complete)
        cli_say(cli, "%s", redlock_strerror(REDLOCK_ENOMEM));
    return complete ? CLI_OK : CLI_SYSTEM;
}

int cli_nodes_use(const struct cli *cli, const char *list)
{
    bool is_words = rl_config_is_words(list);
    char *whole = is_words ? strdup(list) : realpath(list, NULL);
    if (!whole) {
        cli_say(cli, "%s: %s", is_words ? RL_WORDS_LABEL : cli_text(list, strlen(list)).text,
                strerror(errno));
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? CLI_SYSTEM : CLI_CONFIG;
    }
    free(used);
    used = whole;
    int status = cli->verb == CLI_RUN || is_words ? note_list(cli, is_words) : CLI_OK;
    if (status != CLI_OK)
        return status;
    if (cli->verbose)
        cli_say(cli, "node list: %s", cli_text(cli_nodes_shown(), strlen(cli_nodes_shown())).text);
    return CLI_OK;
}

int cli_nodes_read(const struct cli *cli, struct rl_config *ret_config)
{
    redlock_config from = REDLOCK_CONFIG_INIT;
    redlock_error error = REDLOCK_ERROR_INIT;
    *ret_config = (struct rl_config){.nodes = NULL};
    int status = cli_nodes_find(cli, &from.file);
    if (status != CLI_OK)
        return status;
    int code = rl_config_load(ret_config, &from, NULL, NULL, &error);
    if (code != REDLOCK_OK) {
        cli_say(cli, "%s", *error.text ? error.text : redlock_strerror(code));
        status = cli_exit_of(code);
    }
    return status;
}

const char *cli_nodes_used(void)
{
    return used ? used : "";
}

const char *cli_nodes_shown(void)
{
    return shown ? shown : cli_nodes_used();
}

const struct rl_list_mark *cli_nodes_mark(void)
{
    return &mark;
}

const char *cli_nodes_secret(unsigned number)
{
    return number < REDLOCK_NODES_MAX ? secrets[number] : NULL;
}

void cli_json_end(void)
{
    putchar(',');
    cli_json_bytes(stdout, "node_list", cli_nodes_shown(), strlen(cli_nodes_shown()));
    fputs("}\n", stdout);
}
