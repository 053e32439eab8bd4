/* Every allocation on the way from a node list file to a config fails once: the call says
 * so, and nothing is left in memory. */
#include "config_auto.h"

#include "config/config_load.h"
#include "alloc.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char text[] =
    "node rediss://u:p%40@redis.example:1/2 ca-file=ca ca-dir=d cert-file=c key-file=k "
    "server-name=x\n"
    "node unix://u@/run/r.sock password-file=s\n"
    "node redis://[fe80::1%25eth0] password-env=E\n"
    "client-name x\nstatus-prefix y\nstatus-kinds z\n";

static void ignore(void *context, int level, const char *warning)
{
    (void)context, (void)level;
    (void)warning;
}

TEST(each, test_each)
{
    char dir[SUITE_PATH_MAX];
    suite_new_dir(dir);
    ck_assert_int_eq(chdir(dir), 0);
    FILE *file = fopen("n.conf", "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    fclose(file);
    redlock_node node = REDLOCK_NODE_INIT;
    node.url = "redis://c";
    node.password_file = "s";
    redlock_config from = REDLOCK_CONFIG_INIT;
    from.file = "n.conf";
    from.nodes = &node;
    from.node_count = 1;
    from.client_name = "y";
    int code = -1;
    long number = 0;
    while (code != 0) {
        struct rl_config config;
        redlock_error error = REDLOCK_ERROR_INIT;
        /* No assertion in here: Check allocates and frees for itself. */
        long before = alloc_live();
        alloc_fail_at(++number);
        code = rl_config_load(&config, &from, ignore, NULL, &error);
        alloc_fail_at(0);
        unsigned nodes = config.node_count;
        rl_config_free(&config);
        long left = alloc_live() - before;
        ck_assert_msg(left == 0, "%ld: %ld blocks are left", number, left);
        ck_assert_msg(code == 0 || code == REDLOCK_ENOMEM, "%ld: %s", number, error.text);
        ck_assert_uint_eq(nodes, code == 0 ? 4 : 0);
        if (code < 0)
            ck_assert_msg(strstr(error.text, "out of memory") != NULL, "%s", error.text);
    }
    ck_assert_int_gt(number, 20); /* it did fail, again and again */
}

int main(void)
{
    if (!alloc_works())
        return 77; /* skipped, to automake */
    return suite_main();
}
