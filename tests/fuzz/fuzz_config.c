/* tags: valgrind source */
/* fuzz_config.c - any bytes as a node list file: it is refused with a place and a reason, or
 * it is good, and then what came out of it holds together.
 *
 * With a fuzzer: see fuzz.sh. */
#include "config_auto.h"

#include "config/config.h"
#include "fuzz.h"
#include "base/diagnostic.h"
#include "core/validity.h"
#include "config/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_printable(const char *text)
{
    for (; *text; text++) {
        if (*text < ' ' || *text > '~')
            return false;
    }
    return true;
}

static void require_error(const redlock_error *error, int code, const char *file)
{
    REQUIRE(error->code == code);
    REQUIRE(code == REDLOCK_ECONFIG || code == REDLOCK_ENOMEM);
    REQUIRE(strncmp(error->text, file, strlen(file)) == 0 && error->text[strlen(file)] == ':');
    REQUIRE(strlen(error->text) < sizeof(error->text) - 1);
    REQUIRE(is_printable(error->text));
    REQUIRE((error->line == 0) == (error->column == 0));
}

/* A label is a URL of the same node, without its password. */
static void require_label(const struct rl_node_config *node)
{
    struct rl_node_config again = {.label = NULL};
    struct rl_problem problem;
    REQUIRE(is_printable(node->label));
    if (strlen(node->label) <= RL_URL_MAX) {
        REQUIRE(rl_url_parse(node->label, strlen(node->label), &again, &problem) == 0);
        REQUIRE(strcmp(again.label, node->label) == 0);
        REQUIRE(!again.password);
        REQUIRE(!again.user == !node->user);
        REQUIRE(!again.user || strcmp(again.user, node->user) == 0);
        REQUIRE(again.transport == node->transport && again.port == node->port);
        REQUIRE(again.db == node->db);
    }
    rl_node_config_free(&again);
}

static void require_node(const struct rl_node_config *node)
{
    REQUIRE(node->line > 0 && node->column > 0);
    REQUIRE((node->transport == RL_UNIX) == (node->path != NULL));
    REQUIRE((node->transport == RL_UNIX) == (node->host == NULL));
    REQUIRE(!node->path || (node->path[0] == '/' && strlen(node->path) <= RL_UNIX_PATH_MAX));
    REQUIRE(!node->host || (node->host[0] && strlen(node->host) <= RL_HOST_MAX));
    REQUIRE(!node->host || (node->port >= 1 && node->port <= 65535));
    REQUIRE(node->db >= 0);
    REQUIRE(!node->password || strlen(node->password) <= RL_PASSWORD_MAX);
    REQUIRE(!node->cert_file == !node->key_file);
    REQUIRE(!node->ca_file || node->transport == RL_TLS);
    REQUIRE(!!node->password + !!node->password_file + !!node->password_env <= 1);
    require_label(node);
}

static void require_good(const struct rl_config *config)
{
    REQUIRE(config->node_count >= 1 && config->node_count <= REDLOCK_NODES_MAX);
    for (unsigned i = 0; i < config->node_count; i++)
        require_node(&config->nodes[i]);
    REQUIRE(config->ttl_ms >= RL_TTL_MIN_MS && config->ttl_ms <= config->max_ttl_ms);
    REQUIRE(config->max_ttl_ms <= RL_TTL_LIMIT_MS);
    REQUIRE(config->drift_factor >= 0.0 && config->drift_factor < 1.0);
    int64_t ttl_ns = config->ttl_ms * RL_NS_PER_MS;
    REQUIRE(rl_drift_ns(ttl_ns, config->drift_factor) < ttl_ns);
    REQUIRE(config->connect_timeout_ms > 0 && config->stall_limit_ms > 0);
    REQUIRE(config->node_timeout_ms >= 0 && config->linger_ms >= 0);
    REQUIRE(config->lock_delay_ms >= 0);
    REQUIRE(config->ttl_ms + config->lock_delay_ms <= config->max_ttl_ms);
    REQUIRE(config->background >= REDLOCK_BACKGROUND_AUTO);
    REQUIRE(config->background <= REDLOCK_BACKGROUND_NEVER);
    REQUIRE(config->config_agreement >= REDLOCK_AGREEMENT_OFF);
    REQUIRE(config->config_agreement <= REDLOCK_AGREEMENT_REFUSE);
    REQUIRE(config->watch_wall_clock == REDLOCK_ON || config->watch_wall_clock == REDLOCK_OFF);
    REQUIRE(config->fencing >= REDLOCK_FENCING_CLOCK);
    REQUIRE(config->fencing <= REDLOCK_FENCING_STRICT);
    REQUIRE(!config->status_prefix || strlen(config->status_prefix) <= RL_STATUS_TEXT_MAX);
    REQUIRE(!config->client_name || strlen(config->client_name) <= RL_CLIENT_NAME_MAX);
}

const char fuzz_corpus[] = "config";

/* Odd values for some, none for others. */
static const char *environment(const char *name)
{
    return *name < 'a' ? NULL : name + 1;
}

static void parse(const uint8_t *data, size_t size, bool in_words)
{
    struct rl_config config;
    redlock_error error = REDLOCK_ERROR_INIT;
    rl_config_init(&config);
    const char *text = (const char *)data;
    int code = in_words ? rl_config_parse_words(&config, text, size, &error)
                        : rl_config_parse(&config, "nodes.conf", text, size, environment, &error);
    if (code == 0)
        code = rl_config_check(&config, &error);
    if (code == 0)
        require_good(&config);
    else
        require_error(&error, code, in_words ? RL_WORDS_LABEL : "nodes.conf");
    rl_config_free(&config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parse(data, size, false);
    parse(data, size, true);
    return 0;
}
