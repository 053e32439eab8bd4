/* Structs of programs that were compiled against another version of redlock.h: read as far
 * as both sides know them. */
#include "config_auto.h"

#include "config/config_abi.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static redlock_error error;

static void begin(void)
{
    error = (redlock_error)REDLOCK_ERROR_INIT;
}

static redlock_config whole;

TEST(versions, test_take_same)
{
    begin();
    redlock_node node = REDLOCK_NODE_INIT;
    node.url = "redis://a";
    redlock_config from = REDLOCK_CONFIG_INIT;
    from.nodes = &node;
    from.node_count = 1;
    from.guard = REDLOCK_OFF;
    from.log_level = REDLOCK_LOG_DEBUG;
    from.background = REDLOCK_BACKGROUND_NEVER;
    ck_assert_int_eq(rl_config_take(&from, &whole, &error), 0);
    ck_assert_ptr_eq(whole.nodes, &node);
    ck_assert_int_eq(whole.guard, REDLOCK_OFF);
    ck_assert_int_eq(whole.log_level, REDLOCK_LOG_DEBUG);
    ck_assert_int_eq(whole.background, REDLOCK_BACKGROUND_NEVER);
    redlock_node taken;
    ck_assert_int_eq(rl_config_take_given(&whole, 0, &taken, &error), 0);
    ck_assert_str_eq(taken.url, "redis://a");
}

/* A program that was built when the struct was shorter: what it lacks has its default. The
 * bytes behind its end are not looked at (they are not there: the copy is exact). */
TEST(versions, test_take_smaller)
{
    redlock_config from = REDLOCK_CONFIG_INIT;
    from.file = "n.conf";
    from.ttl_ms = 5000;
    from.client_name = "x";
    from.log_level = REDLOCK_LOG_DEBUG;
    from.background = REDLOCK_BACKGROUND_NEVER;
    from.lock_delay_ms = 5;
    from.config_agreement = REDLOCK_AGREEMENT_WARN;
    from.watch_wall_clock = REDLOCK_ON;
    from.fencing = REDLOCK_FENCING_STRICT;
    for (size_t size = offsetof(redlock_config, nodes); size < sizeof(from);
         size += _Alignof(redlock_config)) {
        begin();
        redlock_config *exact = malloc(size);
        ck_assert_ptr_nonnull(exact);
        memcpy(exact, &from, size);
        memcpy(exact, &size, sizeof(size));
        ck_assert_int_eq(rl_config_take(exact, &whole, &error), 0);
        free(exact);
        ck_assert_uint_eq(whole.size, sizeof(whole));
        ck_assert_str_eq(whole.file, "n.conf");
        ck_assert_int_eq(whole.ttl_ms, size > offsetof(redlock_config, ttl_ms) ? 5000 : 0);
        ck_assert_int_eq(whole.client_name != NULL,
                         size > offsetof(redlock_config, client_name));
        ck_assert_int_eq(whole.background, size > offsetof(redlock_config, background)
                                               ? REDLOCK_BACKGROUND_NEVER
                                               : REDLOCK_BACKGROUND_DEFAULT);
        ck_assert_int_eq(whole.lock_delay_ms,
                         size > offsetof(redlock_config, lock_delay_ms) ? 5 : 0);
        bool agrees = size > offsetof(redlock_config, config_agreement);
        ck_assert_int_eq(whole.config_agreement,
                         agrees ? REDLOCK_AGREEMENT_WARN : REDLOCK_AGREEMENT_DEFAULT);
        ck_assert_int_eq(whole.watch_wall_clock,
                         size > offsetof(redlock_config, watch_wall_clock) ? REDLOCK_ON
                                                                           : REDLOCK_DEFAULT);
        ck_assert_int_eq(whole.fencing, REDLOCK_FENCING_DEFAULT);
    }
}

/* And one that is newer than the library: good as long as it uses nothing new. */
TEST(versions, test_take_larger)
{
    struct {
        redlock_config known;
        const char *added[4];
    } from = {.known = REDLOCK_CONFIG_INIT};
    from.known.size = sizeof(from);
    from.known.file = "n.conf";
    begin();
    ck_assert_int_eq(rl_config_take(&from.known, &whole, &error), 0);
    ck_assert_uint_eq(whole.size, sizeof(whole));
    ck_assert_str_eq(whole.file, "n.conf");
    unsigned char *added = (unsigned char *)from.added;
    for (size_t i = 0; i < sizeof(from.added); i++) {
        added[i] = 1; /* in any of its bytes */
        ck_assert_int_eq(rl_config_take(&from.known, &whole, &error), REDLOCK_EINVAL);
        added[i] = 0;
    }
    from.added[3] = "new";
    ck_assert_int_eq(rl_config_take(&from.known, &whole, &error), REDLOCK_EINVAL);
    ck_assert_ptr_nonnull(strstr(
        error.text, "redlock_config: settings are used that this libredlock (" REDLOCK_VERSION
                    ") does not know"));
    ck_assert_int_eq(error.code, REDLOCK_EINVAL);
}

TEST(versions, test_take_sizes)
{
    static const size_t sizes[] = {
        0, 1, 8, 15, sizeof(redlock_config) + 1, sizeof(redlock_config) - 4, 8192, SIZE_MAX};
    for (int i = 0; i < ROWS(sizes); i++) {
        begin();
        redlock_config from = REDLOCK_CONFIG_INIT;
        from.file = "n.conf";
        from.size = sizes[i];
        ck_assert_int_eq(rl_config_take(&from, &whole, &error), REDLOCK_EINVAL);
        char text[128];
        snprintf(text, sizeof(text),
                 "redlock_config: its size (%zu) was not set; start from REDLOCK_CONFIG_INIT",
                 sizes[i]);
        ck_assert_str_eq(error.text, text);
    }
}

static const struct {
    redlock_config from;
    const char *wrong;
} bad_structs[] = {
    {{.size = sizeof(redlock_config)}, "neither a file nor a node"},
    {{.size = sizeof(redlock_config), .file = ""}, "file is an empty string"},
    {{.size = sizeof(redlock_config), .node_count = 1}, "nodes is NULL"},
    {{.size = sizeof(redlock_config), .file = "x", .node_count = 1}, "nodes is NULL"},
    {{.size = sizeof(redlock_config), .nodes = (const redlock_node *)&error, .node_count = 65},
     "node_count is 65; a node list has at most 64"},
    {{.size = sizeof(redlock_config), .file = "x", .background = -1},
     "redlock_config: background is -1; it is REDLOCK_BACKGROUND_AUTO, _ALWAYS or _NEVER, or "
     "0 (as the file says)"},
    {{.size = sizeof(redlock_config), .file = "x", .background = REDLOCK_BACKGROUND_NEVER + 1},
     "redlock_config: background is 4; it is"},
    {{.size = sizeof(redlock_config), .file = "x", .log_level = -1},
     "redlock_config: log_level is -1; it is REDLOCK_LOG_ERROR, _WARNING, _INFO or _DEBUG, or "
     "0 (warnings)"},
    {{.size = sizeof(redlock_config), .file = "x", .log_level = REDLOCK_LOG_DEBUG + 1},
     "redlock_config: log_level is 5; it is"},
};

TEST(versions, test_bad_struct, .rows = ROWS(bad_structs))
{
    begin();
    ck_assert_int_eq(rl_config_take(&bad_structs[_i].from, &whole, &error), REDLOCK_EINVAL);
    ck_assert_msg(strstr(error.text, bad_structs[_i].wrong), "%s", error.text);
    ck_assert_int_eq(rl_config_take(NULL, &whole, &error), REDLOCK_EINVAL);
    ck_assert_str_eq(error.text, "redlock_config: is NULL; start from REDLOCK_CONFIG_INIT");
}

TEST(versions, test_take_most_nodes)
{
    static redlock_node nodes[REDLOCK_NODES_MAX];
    begin();
    redlock_config from = REDLOCK_CONFIG_INIT;
    from.nodes = nodes;
    from.node_count = REDLOCK_NODES_MAX;
    ck_assert_int_eq(rl_config_take(&from, &whole, &error), 0);
}

/* Arrays of nodes with elements of another size than ours. */
TEST(versions, test_take_smaller_nodes)
{
    struct old_node {
        size_t size;
        const char *url;
        const char *password_file;
    } old[2] = {{sizeof(old[0]), "redis://a", "/a"}, {sizeof(old[0]), "redis://b", "/b"}};
    begin();
    redlock_config from = REDLOCK_CONFIG_INIT;
    from.nodes = (const redlock_node *)(const void *)old;
    from.node_count = 2;
    ck_assert_int_eq(rl_config_take(&from, &whole, &error), 0);
    for (size_t i = 0; i < 2; i++) {
        redlock_node taken;
        memset(&taken, 0xff, sizeof(taken));
        ck_assert_int_eq(rl_config_take_given(&whole, i, &taken, &error), 0);
        ck_assert_str_eq(taken.url, old[i].url);
        ck_assert_str_eq(taken.password_file, old[i].password_file);
        ck_assert_ptr_null(taken.password_env);
        ck_assert_ptr_null(taken.server_name);
    }
}

TEST(versions, test_take_larger_nodes)
{
    struct new_node {
        redlock_node known;
        const char *added;
    } new[2] = {{REDLOCK_NODE_INIT, NULL}, {REDLOCK_NODE_INIT, NULL}};
    begin();
    new[0].known.size = new[1].known.size = sizeof(new[0]);
    new[0].known.url = "redis://a";
    new[1].known.url = "redis://b";
    redlock_config from = REDLOCK_CONFIG_INIT;
    from.nodes = &new[0].known;
    from.node_count = 2;
    redlock_node taken;
    ck_assert_int_eq(rl_config_take(&from, &whole, &error), 0);
    ck_assert_int_eq(rl_config_take_given(&whole, 1, &taken, &error), 0);
    ck_assert_str_eq(taken.url, "redis://b");
    new[1].added = "x";
    ck_assert_int_eq(rl_config_take_given(&whole, 1, &taken, &error), REDLOCK_EINVAL);
    ck_assert_ptr_eq(strstr(error.text, "nodes[1]: settings are used"), error.text);
    new[1].known.size = sizeof(redlock_node);
    ck_assert_int_eq(rl_config_take_given(&whole, 1, &taken, &error), REDLOCK_EINVAL);
    ck_assert_str_eq(
        error.text,
        "nodes[1]: its size is not that of nodes[0]; start each one from REDLOCK_NODE_INIT");
    new[0].known.size = 0;
    ck_assert_int_eq(rl_config_take_given(&whole, 0, &taken, &error), REDLOCK_EINVAL);
    ck_assert_str_eq(error.text,
                     "nodes[0]: its size (0) was not set; start from REDLOCK_NODE_INIT");
}
