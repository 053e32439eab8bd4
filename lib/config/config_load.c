/* config_load.c - see config_load.h: the node list file and what lies around it. Shell. */
#include "config_auto.h"

#include "config/config_load.h"
#include "config/node_options.h"
#include "base/text_escape.h"
#include "base/diagnostic.h"
#include "base/text.h"
#include "config/read_file.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WARNING_MAX 768
#define PATH_SHOWN 200

struct warner {
    rl_warn_fn *warn;
    void *context;
};

static void tell(const struct warner *warner, int level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void tell(const struct warner *warner, int level, const char *format, ...)
{
    if (!warner->warn)
        return;
    char text[WARNING_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    warner->warn(warner->context, level, text);
}

/* ---- the file ------------------------------------------------------------------------- */

static int read_failed(const char *file, int system_error, const char *why,
                       redlock_error *error)
{
    int code = REDLOCK_ECONFIG;
    if (system_error == ENOMEM)
        code = REDLOCK_ENOMEM;
    else if (system_error == EMFILE || system_error == ENFILE)
        code = REDLOCK_ESYSTEM;
    return rl_error_set(error, code, file, 0, 0, "%s", why);
}

static const char *environment(const char *name)
{
    return getenv(name);
}

static int load_file(struct rl_config *config, const char *file, const struct warner *warner,
                     redlock_error *error)
{
    size_t size = RL_FILE_MAX + 1; /* one more, to see that it is too long */
    char *text = malloc(size);
    if (!text)
        return rl_error_set(error, REDLOCK_ENOMEM, file, 0, 0, "out of memory");
    size_t len = 0;
    mode_t mode = 0;
    int system_error = 0;
    char why[RL_PROBLEM_TEXT_MAX];
    int code = rl_read_file(file, text, size, &len, &mode, &system_error, why, sizeof(why));
    if (code < 0)
        code = read_failed(file, system_error, why, error);
    else
        code = rl_config_parse(config, file, text, len, environment, error);
    rl_wipe(text, len);
    free(text);
    if (code == 0 && config->holds_password && (mode & 077)) {
        char shown[PATH_SHOWN];
        rl_text_escape(shown, sizeof(shown), file, strlen(file));
        tell(warner, REDLOCK_LOG_ERROR,
             "%s: has a password in it, and others may use the file (mode %04o); chmod 600 it, "
             "or use password-file=",
             shown, (unsigned)mode);
    }
    return code;
}

/* ---- relative paths ------------------------------------------------------------------- */

/* `base`/`path`, in new memory. */
static char *join(const char *base, size_t base_len, const char *path)
{
    size_t path_len = strlen(path);
    char *joined = malloc(base_len + 1 + path_len + 1);
    if (!joined)
        return NULL;
    memcpy(joined, base, base_len);
    joined[base_len] = '/';
    memcpy(joined + base_len + 1, path, path_len + 1);
    return joined;
}

/* A program may change its directory between two connects: make one path good for all. */
static char *absolute(const char *path, const char *file)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    char *below_file =
        slash ? join(file, (size_t)(slash - file), path) : rl_copy(path, strlen(path));
    if (!below_file || below_file[0] == '/')
        return below_file;
    char directory[PATH_MAX]; /* not getcwd()'s own memory: see rl_copy() */
    char *whole = getcwd(directory, sizeof(directory))
                      ? join(directory, strlen(directory), below_file)
                      : NULL;
    int system_error = errno;
    free(below_file);
    errno = system_error;
    return whole;
}

static int make_absolute(const struct rl_config *config, struct rl_node_config *node,
                         enum rl_node_option option, redlock_error *error)
{
    const char *file = node->line > 0 ? config->file : NULL;
    const char *path = rl_node_option_get(node, option);
    if (!path || path[0] == '/')
        return 0;
    char *whole = absolute(path, file);
    if (!whole && errno == ENOMEM)
        return rl_error_set(error, REDLOCK_ENOMEM, file, node->line, node->column,
                            "out of memory");
    if (!whole || strlen(whole) > RL_PATH_LIMIT) {
        free(whole);
        return rl_error_set(
            error, REDLOCK_ECONFIG, file, node->line, node->column,
            "%s%sthe relative path in %s can't be made an absolute one; write it from '/' on",
            file ? "" : node->label, file ? "" : ": ", rl_node_option_name(option));
    }
    rl_node_option_replace(node, option, whole);
    return 0;
}

static int make_paths_absolute(struct rl_config *config, redlock_error *error)
{
    for (unsigned i = 0; i < config->node_count; i++) {
        for (int j = 0; j < RL_OPTION_COUNT; j++) {
            enum rl_node_option option = (enum rl_node_option)j;
            if (!rl_node_option_is_path(option))
                continue;
            int code = make_absolute(config, &config->nodes[i], option, error);
            if (code < 0)
                return code;
        }
    }
    return 0;
}

/* ---- warnings ------------------------------------------------------------------------- */

static void warn_of_mode(const struct rl_node_config *node, enum rl_node_option option,
                         const struct warner *warner)
{
    const char *path = rl_node_option_get(node, option);
    struct stat status;
    if (!path || stat(path, &status) < 0 || !(status.st_mode & 077))
        return;
    char shown[PATH_SHOWN];
    rl_text_escape(shown, sizeof(shown), path, strlen(path));
    tell(warner, REDLOCK_LOG_ERROR, "%s %s: others may use the file (mode %04o); chmod 600 it",
         rl_node_option_name(option), shown, (unsigned)(status.st_mode & 07777));
}

/* Not an error: the file is read again at each connect, and may exist by then. */
static void warn_of_secret(const struct rl_node_config *node, const struct warner *warner)
{
    char password[RL_PASSWORD_MAX + 1];
    char why[RL_PROBLEM_TEXT_MAX + PATH_SHOWN];
    if (rl_node_password(node, password, why, sizeof(why)) < 0)
        tell(warner, REDLOCK_LOG_WARNING, "%s can't be used before this is put right: %s",
             node->label, why);
    rl_wipe(password, sizeof(password));
}

static void warn_of_count(unsigned count, const struct warner *warner)
{
    if (count == 2)
        tell(warner, REDLOCK_LOG_WARNING,
             "2 nodes tolerate no failure: both must be up for every lock; use 3 nodes");
    else if (count % 2 == 0)
        tell(warner, REDLOCK_LOG_WARNING,
             "%u nodes tolerate no more failures than %u do (%u): use an odd number", count,
             count - 1, (count - 1) / 2);
}

static void warn_of_all(const struct rl_config *config, const struct warner *warner)
{
    for (unsigned i = 0; i < config->node_count; i++) {
        const struct rl_node_config *node = &config->nodes[i];
        warn_of_secret(node, warner);
        warn_of_mode(node, RL_OPTION_PASSWORD_FILE, warner);
        warn_of_mode(node, RL_OPTION_KEY_FILE, warner);
    }
    warn_of_count(config->node_count, warner);
}

/* ---- all of it ------------------------------------------------------------------------ */

static int load_nodes(struct rl_config *config, const redlock_config *from,
                      redlock_error *error)
{
    for (size_t i = 0; i < from->node_count; i++) {
        redlock_node node;
        int code = rl_config_take_given(from, i, &node, error);
        if (code == 0)
            code = rl_config_add_node(config, &node, i, error);
        if (code < 0)
            return code;
    }
    return 0;
}

int rl_config_load(struct rl_config *config, const redlock_config *from, rl_warn_fn *warn_fn,
                   void *warn_context, redlock_error *error)
{
    assert(error);
    struct warner warner = {.warn = warn_fn, .context = warn_context};
    redlock_config whole;
    rl_config_init(config);
    int code = rl_config_take(from, &whole, error);
    if (code == 0 && whole.file && rl_config_is_words(whole.file))
        code = rl_config_parse_words(config, whole.file, strlen(whole.file), error);
    else if (code == 0 && whole.file)
        code = load_file(config, whole.file, &warner, error);
    if (code == 0)
        code = load_nodes(config, &whole, error);
    if (code == 0)
        code = rl_config_override(config, &whole, error);
    if (code == 0)
        code = rl_config_check(config, error);
    if (code == 0)
        code = make_paths_absolute(config, error);
    if (code < 0)
        rl_config_free(config);
    else
        warn_of_all(config, &warner);
    return code;
}
