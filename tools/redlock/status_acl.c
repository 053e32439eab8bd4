/* status_acl.c - the least rights of a user that takes locks of some kind, as a command for
 * each master. A test holds them against what the scripts do. */
#include "config_auto.h"

#include "redlock/status_print.h"

#include "config/config_load.h"

#include <stdio.h>
#include <string.h>

/* Of every client: its connections, the scripts, the queue, and plain locks, which status takes
 * as well. */
static const char common[] =
    "+eval +evalsha +info +ping +select +client|setname +subscribe +unsubscribe "
    "+set +get +del +pttl +pexpire +zadd +zrange +zrank +zrem +time +publish";

#define RW_ONE                                                                                 \
    " +exists +hdel +hexists +hget +hgetall +hincrby +hkeys +hlen +hmget +hset +rename +sadd " \
    "+scard +sismember +srem +type"
#define RW_MORE " +exists +pexpireat +type +zremrangebyscore +zrevrange +zscore"

/* What scripts of a kind call beside, on one master and on more (NULL: the same). */
static const struct {
    const char *one, *more;
} kinds[] = {
    [REDLOCK_PLAIN] = {"", NULL},
    [REDLOCK_REENTRANT] =
        {" +exists +hexists +hgetall +hincrby +hlen +hmget +hset +sadd +scard "
         "+sismember +srem +type",
         NULL},
    [REDLOCK_FAIR] = {" +exists +hexists +hgetall +hincrby +hlen +hmget +hset +lindex +llen "
                      "+lrange +lrem +persist +pexpireat +rpush +sadd +scard +sismember +srem "
                      "+type +zcard +zscore",
                      NULL},
    [REDLOCK_READ] = {RW_ONE, RW_MORE},
    [REDLOCK_WRITE] = {RW_ONE, RW_MORE},
};

/* A prefix as it stands in a pattern of keys. */
static void print_prefix(const char *prefix)
{
    for (; *prefix; prefix++) {
        if (strchr("*?[]^\\", *prefix))
            putchar('\\');
        putchar(*prefix);
    }
}

/* Names that begin so, with what stands beside them; a lock's name in braces is Redisson's. */
static void print_keys(const struct cli *cli)
{
    const char *prefix = cli->prefix ? cli->prefix : "";
    fputs(" ~", stdout);
    print_prefix(prefix);
    putchar('*');
    if (!*prefix || cli->kind == REDLOCK_PLAIN)
        return;
    fputs(" ~{", stdout);
    print_prefix(prefix);
    fputs("* ~redisson_*", stdout);
}

/* What stands between the words of a command can't be in one. */
static bool prefix_allowed(const struct cli *cli)
{
    for (const char *c = cli->prefix ? cli->prefix : ""; *c; c++) {
        if (*c > ' ' && *c < 0x7f && *c != '"' && *c != '\'')
            continue;
        cli_say(cli,
                "--prefix has a space, a quote, or a byte that is not ASCII: it can't stand "
                "in the command that --acl prints");
        return false;
    }
    return true;
}

static int count_masters(const struct cli *cli, unsigned *ret_count)
{
    struct rl_config config = {.nodes = NULL};
    redlock_config from = REDLOCK_CONFIG_INIT;
    redlock_error error = REDLOCK_ERROR_INIT;
    int status = cli_nodes_find(cli, &from.file);
    if (status != CLI_OK)
        return status;
    int code = rl_config_load(&config, &from, NULL, NULL, &error);
    if (code != REDLOCK_OK) {
        cli_say(cli, "%s", *error.text ? error.text : redlock_strerror(code));
        status = cli_exit_of(code);
    }
    *ret_count = config.node_count;
    rl_config_free(&config);
    return status;
}

int status_print_acl(const struct cli *cli)
{
    unsigned masters;
    if (!prefix_allowed(cli))
        return CLI_USAGE;
    int status = count_masters(cli, &masters);
    if (status != CLI_OK)
        return status;
    bool more = masters > 1 && kinds[cli->kind].more;
    fputs("ACL SETUSER locks on >PASSWORD resetkeys resetchannels", stdout);
    print_keys(cli);
    fputs(" &redlock:wake:*", stdout);
    if (cli->kind != REDLOCK_PLAIN)
        fputs(" &redisson_*", stdout);
    printf(" -@all %s%s%s\n", common, more ? kinds[cli->kind].more : kinds[cli->kind].one,
           cli->fenced && cli->kind == REDLOCK_PLAIN ? " +exists" : "");
    return cli_flush(cli);
}
