/* tls_files.c - reads TLS certificates that have changed on disk again before a connect, as
 * passwords are read. */
#include "config_auto.h"

#include "net/tls_internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool same_time(struct timespec one, struct timespec other)
{
    return one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec;
}

static bool same_stamp(const struct rl_tls_stamp *one, const struct rl_tls_stamp *other)
{
    return one->there == other->there && one->device == other->device &&
           one->inode == other->inode && one->size == other->size &&
           same_time(one->modified, other->modified) && same_time(one->changed, other->changed);
}

/* The stamp of the file at a path. If there is no path or no file, that is a stamp as well. */
static struct rl_tls_stamp stamp_of(const char *path)
{
    struct stat status;
    if (!path || stat(path, &status) != 0)
        return (struct rl_tls_stamp){.there = false};
    return (struct rl_tls_stamp){
        .there = true,
        .device = status.st_dev,
        .inode = status.st_ino,
        .size = status.st_size,
        .modified = status.st_mtim,
        .changed = status.st_ctim,
    };
}

/* Take the stamps of all files. True: one of them has changed. */
static bool take_stamps(struct rl_tls_context *context, const struct rl_node_config *node)
{
    assert(node->transport == RL_TLS);
    const char *const path[RL_TLS_FILES] = {node->ca_file, node->ca_dir, node->cert_file,
                                            node->key_file};
    bool changed = false;
    for (unsigned i = 0; i < RL_TLS_FILES; i++) {
        struct rl_tls_stamp now = stamp_of(path[i]);
        changed = changed || !same_stamp(&now, &context->stamp[i]);
        context->stamp[i] = now;
    }
    return changed;
}

struct rl_tls_context *rl_tls_context_new(const struct rl_node_config *node, char *why,
                                          size_t why_size)
{
    struct rl_tls_context *context = calloc(1, sizeof(*context));
    if (!context) {
        snprintf(why, why_size, "out of memory");
        return NULL;
    }
    /* Before the files are read: a later change is then seen next time. */
    (void)take_stamps(context, node);
    context->rules = rl_tls_rules_new(node, why, why_size);
    if (!context->rules) {
        free(context);
        return NULL;
    }
    return context;
}

bool rl_tls_context_renew(struct rl_tls_context *context, const struct rl_node_config *node,
                          char *why, size_t why_size)
{
    assert(context->rules);
    if (!take_stamps(context, node))
        return true;
    struct rl_tls_rules *rules = rl_tls_rules_new(node, why, why_size);
    if (!rules)
        return false; /* they are not tried again before they change again */
    rl_tls_rules_free(context->rules);
    context->rules = rules;
    return true;
}

void rl_tls_context_free(struct rl_tls_context *context)
{
    if (!context)
        return;
    rl_tls_rules_free(context->rules);
    free(context);
}
