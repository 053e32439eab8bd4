/* tags: threads */
/* test_mask_real.c - servers that repeat what they were told at login: neither user nor
 * password is in anything that is shown, whatever way the server has of saying it. */
#include "config_auto.h"

#include "cli_rig.h"
#include "client.h"
#include "fake.h"
#include "look.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USER "lo cks"
#define PASSWORD "hu\"n%ter-two"

/* Each way in which they may be written. */
static const char *const secrets[] = {"lo cks",        "lo%20cks",        "lo\\x20cks",
                                      "hu\"n%ter-two", "hu\\\"n%ter-two", "hu%22n%25ter-two"};

static pthread_mutex_t logged_mutex = PTHREAD_MUTEX_INITIALIZER;
static char logged[65536];
static redlock_node_vote report_votes[REDLOCK_NODES_MAX];
static redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
static redlock_node_status status_nodes[REDLOCK_NODES_MAX];
static redlock_status_report status = REDLOCK_STATUS_INIT(status_nodes, REDLOCK_NODES_MAX);
static struct look look;

static void on_log(void *context, int level, const char *text)
{
    (void)context, (void)level;
    pthread_mutex_lock(&logged_mutex);
    size_t len = strlen(logged);
    snprintf(logged + len, sizeof(logged) - len, "%s\n", text);
    pthread_mutex_unlock(&logged_mutex);
}

/* The node list's own words for a master have the user in them: what a server says has not. */
static bool is_label(const char *at, size_t left)
{
    static const char label[] = "lo%20cks@127.0.0.1:";
    return left >= strlen(label) && memcmp(at, label, strlen(label)) == 0;
}

static void expect_no_secret(const char *where, const void *text, size_t len)
{
    const char *end = (const char *)text + len;
    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {
        const char *at = text;
        while ((at = memmem(at, (size_t)(end - at), secrets[i], strlen(secrets[i])))) {
            ck_assert_msg(is_label(at, (size_t)(end - at)), "%s has %s: %.*s", where,
                          secrets[i], (int)len, (const char *)text);
            at++;
        }
    }
}

/* ---- the library ------------------------------------------------------------------------ */

#define SAYS                                                                                   \
    " '" USER "' \"lo\\x20cks\" lo%20cks '" PASSWORD "' \"hu\\\"n%ter-two\" hu%22n%25ter-two"
#define HOLDER "*4\r\n{nonce-}:0\r\n:1000\r\n$18\r\nme:hu\"n%ter-two:me\r\n"
#define DETAILS                                                                                \
    "*5\r\n{nonce-}:0\r\n:1000\r\n$1\r\nx\r\n$43\r\nplain 0 0 1\nx 1 1000 18 "                  \
    "me:hu\"n%ter-two:me\n\r\n"

/* To what, and in which words. */
static const struct {
    const char *match, *reply;
    enum fake_then then;
} echoes[] = {
    {"AUTH *", "-ERR unknown command 'AUTH', with args beginning with:" SAYS "\r\n",
     FAKE_GO_ON},
    {"AUTH *", "-NOAUTH" SAYS "\r\n", FAKE_CLOSE},
    {"CLIENT *", "-ERR" SAYS "\r\n", FAKE_CLOSE},
    {"CLIENT *", "+OK\r\n-ERR" SAYS "\r\n", FAKE_GO_ON}, /* unasked */
    {"INFO*", "-NOPERM" SAYS "\r\n", FAKE_GO_ON},
    {"INFO*", "-ERR" SAYS "\r\n", FAKE_GO_ON},
    {"INFO*",
     "$138\r\nrun_id:hu\"n%ter-two\r\nrole:hu\"n%ter-two\r\nredis_version:hu\"n%ter-two\r\n"
     "maxmemory:1\r\nmaxmemory_policy:hu\"n%ter-two\r\nuptime_in_seconds:123456\r\n\r\n",
     FAKE_GO_ON},
    {"INFO*",
     "$104\r\nrun_id:hu\"n%ter-two\r\nrole:master\r\nmaxmemory:1\r\n"
     "maxmemory_policy:hu\"n%ter-two\r\nuptime_in_seconds:123456\r\n\r\n",
     FAKE_GO_ON},
    {"acquire *", "-ERR" SAYS "\r\n", FAKE_GO_ON},
    {"acquire *", "-READONLY" SAYS "\r\n", FAKE_GO_ON},
    {"acquire *", HOLDER, FAKE_GO_ON},
    {"inspect *", "-ERR" SAYS "\r\n", FAKE_GO_ON},
    {"inspect *", DETAILS, FAKE_GO_ON},
    {"SUBSCRIBE *", "-ERR" SAYS "\r\n", FAKE_GO_ON},
    {"SUBSCRIBE *", "-NOPERM" SAYS "\r\n", FAKE_GO_ON},
};

static redlock *open_with_login(const char *url)
{
    redlock_node node = REDLOCK_NODE_INIT;
    redlock_config config = REDLOCK_CONFIG_INIT;
    redlock *client;
    setenv("TEST_REDLOCK_SECRET", PASSWORD, 1);
    node.url = url;
    node.password_env = "TEST_REDLOCK_SECRET";
    config.nodes = &node;
    config.node_count = 1;
    config.log = on_log;
    config.log_level = REDLOCK_LOG_DEBUG;
    ck_assert_int_eq(redlock_open_config(&config, NULL, &client), 0);
    return client;
}

static void expect_no_secret_anywhere(void)
{
    pthread_mutex_lock(&logged_mutex);
    expect_no_secret("the log", logged, strlen(logged));
    pthread_mutex_unlock(&logged_mutex);
    expect_no_secret("the report", report_votes, sizeof(report_votes));
    expect_no_secret("the status", status_nodes, sizeof(status_nodes));
    expect_no_secret("the look", &look, sizeof(look));
}

static bool blanks(const void *said, size_t size)
{
    return memmem(said, size, "***", 3) != NULL;
}

static const char *url_with_user(const struct fake *fake)
{
    static char url[ENDPOINT_URL_MAX + 16];
    char bare[ENDPOINT_URL_MAX];
    endpoint_url(fake_endpoint(fake), bare);
    snprintf(url, sizeof(url), "redis://lo%%20cks@%s", bare + strlen("redis://"));
    return url;
}

static bool try_and_release(redlock *client)
{
    redlock_lock *lock = NULL;
    bool got = client_try(client, "name", 1000, 300, &report, &lock) == 0;
    if (got)
        redlock_release(lock);
    return got;
}

TEST(mask_real, login_repeated_by_server_is_not_shown, .rows = ROWS(echoes))
{
    bool listens = strncmp(echoes[_i].match, "SUBSCRIBE", 9) == 0;
    struct fake *fake = fake_start(false);
    fake_rule(fake, &(struct fake_rule){.match = "AUTH *", .reply = "+OK\r\n"});
    fake_rule(fake, &(struct fake_rule){.match = echoes[_i].match,
                                        .reply = echoes[_i].reply,
                                        .then = echoes[_i].then});
    if (listens) /* as waiters do */
        fake_rule(fake, &(struct fake_rule){.match = "acquire *", .reply = HOLDER});
    logged[0] = '\0';
    redlock *client = open_with_login(url_with_user(fake));
    (void)try_and_release(client);
    /* On a busy machine a wait may be over before it is listened for. */
    ck_assert(
        !listens ||
        wait_until(fake_count(fake, echoes[_i].match) >= 1 || try_and_release(client), 20000));
    expect_no_secret_anywhere();
    look_at(&look, client, "name", NULL);
    redlock_get_status(client, &status);
    expect_no_secret_anywhere();
    redlock_close(client);
    expect_no_secret_anywhere();
    /* It was asked, and something was blanked. */
    ck_assert_uint_ge(fake_count(fake, echoes[_i].match), 1);
    ck_assert_msg(blanks(report_votes, sizeof(report_votes)) ||
                      blanks(status_nodes, sizeof(status_nodes)) ||
                      blanks(&look, sizeof(look)) || blanks(logged, strlen(logged)),
                  "nothing was said: %s", logged);
}

/* What begins as an answer and is none: nothing of it is shown. */
TEST(mask_real, misunderstood_text_is_not_shown_in_part, .rows = 2)
{
    static const char *const details[] = {
        "*5\r\n{nonce-}:0\r\n:1000\r\n$1\r\nx\r\n$45\r\nplain 0 0 1\nx 1 1000 18 "
        "me:hu\"n%ter-two:me: \n\r\n",
        "*5\r\n{nonce-}:0\r\n:1000\r\n$1\r\nx\r\n$25\r\ndata 0 0 0\nhu\"n%ter-two \n\r\n",
    };
    struct fake *fake = fake_start(false);
    fake_rule(fake, &(struct fake_rule){.match = "AUTH *", .reply = "+OK\r\n"});
    fake_rule(fake, &(struct fake_rule){.match = "inspect *", .reply = details[_i]});
    CLIENT client = open_with_login(url_with_user(fake));
    ck_assert_int_eq(look_at(&look, client, "name", NULL), REDLOCK_ENOQUORUM);
    ck_assert_str_eq(look.node[0].text, "told what can't be understood");
    expect_no_secret_anywhere();
}

/* ---- the programs, and real servers that have no AUTH -------------------------------------
 */

static const char *const without_auth[] = {"--rename-command", "AUTH", "", NULL};
static char file[SUITE_PATH_MAX + 16];

static void write_nodes(struct masters *masters)
{
    static struct node_list list;
    list.len = 0;
    for (unsigned i = 0; i < masters->n; i++) {
        char url[ENDPOINT_URL_MAX];
        endpoint_url(&masters->node[i].tcp_at, url);
        node_list_line(&list, "node redis://lo%%20cks@%s password-env=TEST_REDLOCK_SECRET",
                       url + strlen("redis://"));
    }
    snprintf(file, sizeof(file), "%s", node_list_write(&list));
    setenv("REDLOCK_NODES", file, 1);
    setenv("TEST_REDLOCK_SECRET", PASSWORD, 1);
}

static const char *const commands[][8] = {
    {"status"},
    {"-v", "status"},
    {"status", "--json"},
    {"inspect", "name"},
    {"inspect", "name", "--json"},
    {"-v", "lock", "name"},
    {"lock", "name", "--json"},
    {"-v", "run", "name", "--", "true"},
};

TEST(mask_real, no_program_shows_password_that_real_server_without_auth_repeats)
{
    struct masters *masters = masters_start(3, without_auth);
    write_nodes(masters);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        const char *argv[10] = {program_redlock()};
        struct program *program = NULL;
        memcpy(argv + 1, commands[i], sizeof(commands[i]));
        ck_assert_int_ne(program_run(NULL, argv, &program), 0);
        expect_no_secret(commands[i][0], program_out(program), strlen(program_out(program)));
        expect_no_secret(commands[i][0], program_err(program), strlen(program_err(program)));
        /* The rest of what it said is shown. */
        bool told = strstr(program_out(program), "unknown command");
        ck_assert(told || strstr(program_err(program), "unknown command"));
    }
}

/* The same server twice, once as a user whose password is a part of its run id. */
TEST(mask_real, password_that_is_in_run_id_hides_no_duplicate)
{
    char info[4000], digits[4] = "", secret[8], url[128];
    struct node_list list = {.len = 0};
    struct masters *masters = masters_start(2, NULL);
    snprintf(info, sizeof(info), "%s", master_do(masters, 0, "INFO", "server", NULL).text);
    ck_assert_int_eq(sscanf(strstr(info, "run_id:"), "run_id:%3s", digits), 1);
    snprintf(secret, sizeof(secret), ">%s", digits);
    ck_assert_str_eq(master_do(masters, 0, "ACL", "SETUSER", "hex", "on", secret, "~*", "&*",
                               "+@all", NULL)
                         .text,
                     "OK");
    snprintf(url, sizeof(url), "redis://hex:%s@localhost:%d", digits,
             masters->node[0].tcp_at.port);
    node_list_line(&list, "guard off\nnode %s", url);
    for (unsigned i = 0; i < 2; i++)
        node_list_line(&list, "node redis://127.0.0.1:%d", masters->node[i].tcp_at.port);
    CLIENT client = client_open(node_list_write(&list));
    ck_assert(wait_until(client_ready(client) == 2, 10000));
    char text[192];
    int first = client_state(client, 0, NULL), second = client_state(client, 1, text);
    ck_assert(first == REDLOCK_NODE_REFUSED || second == REDLOCK_NODE_REFUSED);
}

CASE(mask_real, .timeout_s = 60)
