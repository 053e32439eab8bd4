/* config_abi.c - structs of an application that was compiled against another version of
 * redlock.h: read as far as both sides know them. Core. */
#include "config_auto.h"

#include "config/config_abi.h"
#include "base/diagnostic.h"
#include "base/struct_abi.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static int refuse(redlock_error *error, const char *name, const char *wrong)
{
    return rl_error_set(error, REDLOCK_EINVAL, NULL, 0, 0, "%s: %s", name, wrong);
}

static int take(const struct rl_struct *shape, const void *from, void *whole,
                redlock_error *error)
{
    char why[RL_STRUCT_WHY_MAX];
    return rl_struct_take(shape, from, whole, why, sizeof(why))
               ? 0
               : rl_error_set(error, REDLOCK_EINVAL, NULL, 0, 0, "%s", why);
}

int rl_config_take(const redlock_config *from, redlock_config *ret_whole, redlock_error *error)
{
    static const struct rl_struct shape =
        RL_STRUCT(redlock_config, "redlock_config", "REDLOCK_CONFIG_INIT", nodes);

    redlock_config whole = REDLOCK_CONFIG_INIT;
    if (!from)
        return refuse(error, shape.name, "is NULL; start from REDLOCK_CONFIG_INIT");
    int code = take(&shape, from, &whole, error);
    if (code < 0)
        return code;
    if (whole.node_count > 0 && !whole.nodes)
        return refuse(error, shape.name, "nodes is NULL, but node_count is not 0");
    if (whole.node_count > REDLOCK_NODES_MAX) {
        return rl_error_set(error, REDLOCK_EINVAL, NULL, 0, 0,
                            "%s: node_count is %zu; a node list has at most %d", shape.name,
                            whole.node_count, REDLOCK_NODES_MAX);
    }
    if (whole.background < 0 || whole.background > REDLOCK_BACKGROUND_NEVER) {
        return rl_error_set(error, REDLOCK_EINVAL, NULL, 0, 0,
                            "%s: background is %d; it is REDLOCK_BACKGROUND_AUTO, _ALWAYS or "
                            "_NEVER, or 0 (as the file says)",
                            shape.name, whole.background);
    }
    if (whole.log_level < REDLOCK_LOG_DEFAULT || whole.log_level > REDLOCK_LOG_DEBUG) {
        return rl_error_set(error, REDLOCK_EINVAL, NULL, 0, 0,
                            "%s: log_level is %d; it is REDLOCK_LOG_ERROR, _WARNING, _INFO or "
                            "_DEBUG, or 0 (warnings)",
                            shape.name, whole.log_level);
    }
    if (whole.file && !whole.file[0])
        return refuse(error, shape.name,
                      "file is an empty string; give a path, or NULL for none");
    if (!whole.file && whole.node_count == 0)
        return refuse(error, shape.name,
                      "there is neither a file nor a node; set file, or nodes and node_count");
    *ret_whole = whole;
    return 0;
}

int rl_config_take_given(const redlock_config *whole, size_t index, redlock_node *ret_node,
                         redlock_error *error)
{
    assert(index < whole->node_count);
    /* The application's own array: the distance between two elements is the struct's size in
     * the application's version of the header. */
    size_t stride = whole->nodes[0].size;
    const void *at = (const char *)whole->nodes + index * stride;
    size_t size = 0;
    memcpy(&size, at, sizeof(size));
    char name[40];
    snprintf(name, sizeof(name), "nodes[%zu]", index);
    const struct rl_struct shape =
        RL_STRUCT(redlock_node, name, "REDLOCK_NODE_INIT", password_file);
    if (size != stride)
        return refuse(
            error, shape.name,
            "its size is not that of nodes[0]; start each one from REDLOCK_NODE_INIT");
    redlock_node node = REDLOCK_NODE_INIT;
    int code = take(&shape, at, &node, error);
    if (code == 0)
        *ret_node = node;
    return code;
}
