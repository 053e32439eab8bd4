/* nodes.c - see nodes.h. All settings of the user's list (passwords, users, databases,
 * certificates) must reach the contenders unchanged. Only the address changes, so a TLS
 * master's name moves into server-name. */
#include "config_auto.h"

#include "chaos/place/nodes.h"

#include "base/duration.h"
#include "config/list_mark.h"
#include "config/node_options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Every byte that means something in a URL as %XX. */
static void put_encoded(FILE *file, const char *text)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    for (; *text != '\0'; text++) {
        if (strchr(plain, *text) != NULL)
            fputc(*text, file);
        else
            fprintf(file, "%%%02X", (unsigned)(unsigned char)*text);
    }
}

static void put_user(FILE *file, const struct rl_node_config *node)
{
    if (node->user != NULL)
        put_encoded(file, node->user);
    if (node->password != NULL) {
        fputc(':', file);
        put_encoded(file, node->password);
    }
    if (node->user != NULL || node->password != NULL)
        fputc('@', file);
}

static void put_options(FILE *file, const struct rl_node_config *node, bool proxied)
{
    for (int i = 0; i < RL_OPTION_COUNT; i++) {
        const char *value = rl_node_option_get(node, (enum rl_node_option)i);
        if (value == NULL && i == RL_OPTION_SERVER_NAME && node->transport == RL_TLS && proxied)
            value = node->host;
        if (value != NULL)
            fprintf(file, " %s=\"%s\"", rl_node_option_name((enum rl_node_option)i), value);
    }
    fputc('\n', file);
}

static void put_proxied(FILE *file, const struct rl_node_config *node, int port)
{
    fputs(node->transport == RL_TLS ? "node \"rediss://" : "node \"redis://", file);
    put_user(file, node);
    fprintf(file, "127.0.0.1:%d", port);
    if (node->db != 0)
        fprintf(file, "/%d", node->db);
    fputc('"', file);
    put_options(file, node, true);
}

static void put_direct(FILE *file, const struct rl_node_config *node)
{
    static const char *const schemes[] = {
        [RL_TCP] = "redis", [RL_TLS] = "rediss", [RL_UNIX] = "unix"};
    fprintf(file, "node \"%s://", schemes[node->transport]);
    put_user(file, node);
    if (node->transport == RL_UNIX) {
        put_encoded(file, node->path);
        if (node->db != 0)
            fprintf(file, "?db=%d", node->db);
    } else {
        bool brackets = strchr(node->host, ':') != NULL;
        fprintf(file, "%s%s%s:%d", brackets ? "[" : "", node->host, brackets ? "]" : "",
                node->port);
        if (node->db != 0)
            fprintf(file, "/%d", node->db);
    }
    fputc('"', file);
    put_options(file, node, false);
}

static void put_duration(FILE *file, const char *name, int64_t ms)
{
    char text[RL_DURATION_TEXT_MAX];
    rl_duration_format(ms, text);
    fprintf(file, "%s %s\n", name, text);
}

static void put_settings(FILE *file, const struct rl_config *config)
{
    put_duration(file, "max-ttl", config->max_ttl_ms);
    put_duration(file, "ttl", config->ttl_ms);
    put_duration(file, "node-timeout", config->node_timeout_ms);
    put_duration(file, "connect-timeout", config->connect_timeout_ms);
    put_duration(file, "stall-limit", config->stall_limit_ms);
    put_duration(file, "linger", config->linger_ms);
    /* As thousandths of thousandths: printf would put a comma where the locale wants one. */
    fprintf(file, "drift-factor 0.%06ld\n", (long)(config->drift_factor * 1000000 + 0.5));
    fprintf(file, "guard %s\n", rl_guard_word(config->guard));
    if (config->fencing == REDLOCK_FENCING_STRICT)
        fputs("fencing strict\n", file);
}

/* For our eyes only: there may be passwords in it. */
static FILE *open_list(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (file == NULL && fd >= 0)
        close(fd);
    return file;
}

static bool close_list(FILE *file, const char *path, char *why, size_t why_size)
{
    bool fine = file != NULL && ferror(file) == 0;
    if (file != NULL && fclose(file) != 0)
        fine = false;
    if (!fine)
        snprintf(why, why_size, "cannot write %s: %s", path, strerror(errno));
    return fine;
}

bool chaos_nodes_write_one(const struct rl_config *config, struct chaos_proxies *proxies,
                           const struct chaos_seat *seat, unsigned client, uint64_t without,
                           char *why, size_t why_size)
{
    FILE *file = open_list(seat->nodes_file);
    for (unsigned n = 0; file != NULL && n < config->node_count; n++)
        if ((without >> n & 1) == 0)
            put_proxied(file, &config->nodes[n], chaos_proxies_port(proxies, client, n));
    if (file != NULL) {
        put_settings(file, config);
        fprintf(file, "client-name contender-%u\n", client);
    }
    return close_list(file, seat->nodes_file, why, why_size);
}

bool chaos_nodes_write(const struct rl_config *config, const char *dir,
                       struct chaos_proxies *proxies, struct chaos_record *record, char *why,
                       size_t why_size)
{
    for (unsigned c = 0; c < record->seats; c++) {
        char *path = record->seat[c].nodes_file;
        snprintf(path, CHAOS_PATH_MAX, "%s/contender-%u", dir, c);
        if (!chaos_nodes_write_one(config, proxies, &record->seat[c], c, 0, why, why_size))
            return false;
    }
    return true;
}

bool chaos_nodes_write_direct(const struct rl_config *config, const char *dir,
                              char ret_path[CHAOS_PATH_MAX], char *why, size_t why_size)
{
    snprintf(ret_path, CHAOS_PATH_MAX, "%s/direct", dir);
    FILE *file = open_list(ret_path);
    for (unsigned n = 0; file != NULL && n < config->node_count; n++)
        put_direct(file, &config->nodes[n]);
    if (file != NULL)
        put_settings(file, config);
    return close_list(file, ret_path, why, why_size);
}
