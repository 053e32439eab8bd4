/* config.h - the node list: parsed, checked, defaulted. Core: no file is opened here, and
 * no secret read; config_load.h does that.
 *
 *   node redis://10.0.0.1:6379
 *   node rediss://locks@redis-2.example:6380/0   password-file=/run/secrets/redis-2
 *   max-ttl 30s
 */
#ifndef RL_CONFIG_H
#define RL_CONFIG_H

#include "base/limits.h"

#include <stdbool.h>

enum rl_transport { RL_TCP, RL_TLS, RL_UNIX };

struct rl_sentinel_at {
    char *host;
    int port;
};

/* One master, with every string owned by the config. Empty strings are never stored: NULL. */
struct rl_node_config {
    enum rl_transport transport;
    char *label; /* the URL without secrets, normalised: what people are shown */
    char *host;  /* TCP, TLS: a name or an address, without brackets; NULL: Sentinels name it */
    int port;
    char *path; /* UNIX */
    int db;
    char *user;
    char *password; /* from the URL; prefer the two below */
    char *password_file;
    char *password_env;
    char *ca_file, *ca_dir, *cert_file, *key_file, *server_name; /* TLS */
    char *failover; /* "yes", "no"; NULL: nothing is said about replicas */
    char *service;  /* what its Sentinels call it; NULL: it has none */
    struct rl_sentinel_at sentinel[RL_SENTINELS_MAX];
    unsigned sentinel_count;
    char *sentinel_user, *sentinel_password_file, *sentinel_password_env;
    char *sentinel_tls; /* "off": they have none though the master has */
    int line;   /* in the node list file; 0: built in code */
    int column; /* of the URL */
};

/* One for each row of the table in settings.c. */
enum rl_setting {
    RL_SETTING_MAX_TTL,
    RL_SETTING_TTL,
    RL_SETTING_NODE_TIMEOUT,
    RL_SETTING_CONNECT_TIMEOUT,
    RL_SETTING_STALL_LIMIT,
    RL_SETTING_LINGER,
    RL_SETTING_DRIFT_FACTOR,
    RL_SETTING_GUARD,
    RL_SETTING_CLIENT_NAME,
    RL_SETTING_BACKGROUND,
    RL_SETTING_LOCK_DELAY,
    RL_SETTING_CONFIG_AGREEMENT,
    RL_SETTING_WATCH_WALL_CLOCK,
    RL_SETTING_FENCING,
    RL_SETTING_STATUS_PREFIX,
    RL_SETTING_STATUS_KINDS,
    RL_SETTING_COUNT
};

/* The restart guard: by what a master proves that it still has its keys. */
enum rl_guard {
    RL_GUARD_OFF,
    RL_GUARD_ON,    /* its uptime, or how long this client has known it (trust.h) */
    RL_GUARD_MARKER, /* its marker (marker.h) */
    RL_GUARD_STRICT  /* its marker, in each script that takes or keeps a lock, too */
};

/* Does it read markers? */
static inline bool rl_guard_marks(int guard)
{
    return guard >= RL_GUARD_MARKER;
}

/* Where a setting's value comes from. */
struct rl_place {
    bool in_code; /* from redlock_config; else from the file, or a default where line is 0 */
    int line;
    int column;
};

struct rl_config {
    struct rl_node_config *nodes;
    unsigned node_count;
    int64_t max_ttl_ms;
    int64_t ttl_ms;
    int64_t node_timeout_ms; /* 0: none */
    int64_t connect_timeout_ms;
    int64_t stall_limit_ms;
    int64_t linger_ms;
    int64_t lock_delay_ms;
    double drift_factor;
    int guard;            /* enum rl_guard */
    char *client_name;    /* NULL: the client makes one from host and pid */
    int background;       /* enum redlock_background */
    int config_agreement; /* enum redlock_agreement; never _DEFAULT */
    int watch_wall_clock; /* enum redlock_switch; never _DEFAULT */
    int fencing;          /* enum redlock_fencing; never _DEFAULT */
    char *status_prefix;  /* of `redlock status` alone; NULL: not given */
    char *status_kinds;   /* likewise; it knows the words */
    bool holds_password;  /* a URL of the file has a password in it */
    char *file;           /* for messages; NULL: built in code alone */
    struct rl_place places[RL_SETTING_COUNT];
};

/* All defaults, no nodes. */
void rl_config_init(struct rl_config *config);
void rl_config_free(struct rl_config *config); /* wipes passwords; leaves it as after init */
void rl_node_config_free(struct rl_node_config *node); /* the same for one node */

/* The value of a variable of the environment; NULL: it is not set. */
typedef const char *rl_env_fn(const char *name);

/* Add what `text` says; once a config. `file` is used in messages only. 0, REDLOCK_ECONFIG
 * or REDLOCK_ENOMEM with `error` filled in as `file:line:column: what is wrong; what would
 * be right`. No message quotes a URL or a value, so none can give a password away. Lines and
 * columns count from 1, columns in bytes. On an error the config is as it was freed. */
int rl_config_parse(struct rl_config *config, const char *file, const char *text, size_t len,
                    rl_env_fn *env, redlock_error *error);

/* The same of a list in words: REDLOCK_NODES='redis://a redis://b max-ttl=10s'. A text with
 * "://" in it is one, any other is the path of a file. */
#define RL_WORDS_LABEL "node list" /* in the place of a file's name */
bool rl_config_is_words(const char *text);
int rl_config_parse_words(struct rl_config *config, const char *text, size_t len,
                          redlock_error *error);

/* Add one node built in code (`index` counts from 0, for messages), and override settings.
 * Both take whole structs: rl_config_load() has looked at their sizes. */
int rl_config_add_node(struct rl_config *config, const redlock_node *node, size_t index,
                       redlock_error *error);
int rl_config_override(struct rl_config *config, const redlock_config *from,
                       redlock_error *error);

/* The checks that need the whole: at least one node, no node twice, ttl <= max-ttl, ...
 * A ttl that nobody set becomes max-ttl where that is less than the default. */
int rl_config_check(struct rl_config *config, redlock_error *error);

/* For config.c and config_file.c: move a whole, checked node into the config, which has room
 * for it. `node` is empty afterwards. 0 or REDLOCK_ENOMEM. */
struct rl_problem;
int rl_config_take_node(struct rl_config *config, struct rl_node_config *node,
                        struct rl_problem *problem);

#endif
