/* test_tls_renew.c - certificates that change on disk under a client of real masters: they are
 * used from the next connection on, and what can't be read is told and left alone. */
#include "config_auto.h"

#include "client.h"
#include "masters.h"
#include "tls_certs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[SUITE_PATH_MAX];
static char path[8][TLS_CERTS_PATH_MAX];
enum { CA, SERVER_CRT, SERVER_KEY, LIVE_CA, LIVE_CRT, LIVE_KEY };
static struct masters *masters;
static char port_text[8];
static char logged[16384];
static redlock_node_vote report_votes[REDLOCK_NODES_MAX];
static redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);

static void on_log(void *context, int level, const char *text)
{
    (void)context, (void)level;
    size_t len = strlen(logged);
    snprintf(logged + len, sizeof(logged) - len, "%s\n", text);
}

/* As rotation does it: another file in the place of the old one, at once. */
static void put(const char *from, const char *to)
{
    char source[TLS_CERTS_PATH_MAX], fresh[TLS_CERTS_PATH_MAX + 8], bytes[16384];
    tls_certs_path(source, dir, from);
    FILE *file = fopen(source, "r");
    ck_assert_ptr_nonnull(file);
    size_t len = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    snprintf(fresh, sizeof(fresh), "%s.new", to);
    file = fopen(fresh, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, len, file), len);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(chmod(fresh, 0600), 0);
    ck_assert_int_eq(rename(fresh, to), 0);
}

/* Two worlds of trust, "old" and "new": a CA, a server of it, a client of it. */
static void set_up(void)
{
    static const struct tls_cert certs[] = {
        {.name = "old-ca", .ca = true},
        {.name = "new-ca", .ca = true},
        {.name = "old-server", .issuer = "old-ca", .san = "DNS:localhost,IP:127.0.0.1"},
        {.name = "new-server", .issuer = "new-ca", .san = "DNS:localhost,IP:127.0.0.1"},
        {.name = "old-client", .issuer = "old-ca"},
        {.name = "new-client", .issuer = "new-ca"},
    };
    static const char *const names[] = {"ca.crt",      "server.crt", "server.key",
                                        "live-ca.crt", "live.crt",   "live.key"};
    static const char *const extra[] = {"--tls-port",
                                        port_text,
                                        "--tls-cert-file",
                                        path[SERVER_CRT],
                                        "--tls-key-file",
                                        path[SERVER_KEY],
                                        "--tls-ca-cert-file",
                                        path[CA],
                                        "--tls-auth-clients",
                                        "yes",
                                        NULL};
    suite_new_dir(dir);
    for (size_t i = 0; i < sizeof(certs) / sizeof(*certs); i++)
        tls_certs_make(dir, &certs[i]);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        tls_certs_path(path[i], dir, names[i]);
    put("old-ca.crt", path[CA]);
    put("old-server.crt", path[SERVER_CRT]);
    put("old-server.key", path[SERVER_KEY]);
    put("old-ca.crt", path[LIVE_CA]);
    put("old-client.crt", path[LIVE_CRT]);
    put("old-client.key", path[LIVE_KEY]);
    snprintf(port_text, sizeof(port_text), "%d", net_free_port());
    masters = masters_start(1, extra);
    logged[0] = '\0';
}

static redlock *open_client(void)
{
    char url[64];
    redlock_node node = REDLOCK_NODE_INIT;
    redlock_config config = REDLOCK_CONFIG_INIT;
    redlock *client;
    snprintf(url, sizeof(url), "rediss://localhost:%s", port_text);
    node.url = url;
    node.ca_file = path[LIVE_CA];
    node.cert_file = path[LIVE_CRT];
    node.key_file = path[LIVE_KEY];
    config.nodes = &node;
    config.node_count = 1;
    config.guard = REDLOCK_OFF;
    config.background = REDLOCK_BACKGROUND_NEVER;
    config.log = on_log;
    config.log_level = REDLOCK_LOG_WARNING;
    ck_assert_int_eq(redlock_open_config(&config, NULL, &client), 0);
    return client;
}

static void expect_lock(redlock *client, int expected)
{
    redlock_lock *lock = NULL;
    int code = client_try(client, "name", 2000, expected == 0 ? 8000 : 800, &report, &lock);
    ck_assert_msg(code == expected, "%d: %s; %s", code, client_told(&report), logged);
    if (code == 0)
        ck_assert_int_eq(redlock_release(lock), 0);
}

/* The server and its clients get another CA: whoever holds on to the old one is shut out. */
static void rotate_server(void)
{
    put("new-ca.crt", path[CA]);
    put("new-server.crt", path[SERVER_CRT]);
    put("new-server.key", path[SERVER_KEY]);
    master_restart(masters, 0, true);
}

TEST(tls_renew, rotated_certificate_and_ca_are_used_at_next_connection)
{
    CLIENT client = open_client();
    expect_lock(client, 0);
    put("new-ca.crt", path[LIVE_CA]);
    put("new-client.key", path[LIVE_KEY]);
    put("new-client.crt", path[LIVE_CRT]);
    expect_lock(client, 0); /* the connection that is there goes on */
    rotate_server();
    expect_lock(client, 0);
    ck_assert_msg(!strstr(logged, "stays in use"), "%s", logged);
}

TEST(tls_renew, broken_certificate_is_told_once_and_old_one_goes_on)
{
    CLIENT client = open_client();
    expect_lock(client, 0);
    FILE *file = fopen(path[LIVE_CRT], "w");
    ck_assert_ptr_nonnull(file);
    fputs("-----BEGIN CERTIFICATE-----\nnone\n", file);
    fclose(file);
    for (int i = 0; i < 3; i++) {
        master_restart(masters, 0, true);
        expect_lock(client, 0);
    }
    const char *told = strstr(logged, "what was read before stays in use");
    ck_assert_msg(told && strstr(logged, "cert-file"), "%s", logged);
    ck_assert_msg(!strstr(told + 1, "what was read before stays in use"), "%s", logged);
    /* Put right, it is used. */
    put("new-ca.crt", path[LIVE_CA]);
    put("new-client.key", path[LIVE_KEY]);
    put("new-client.crt", path[LIVE_CRT]);
    rotate_server();
    expect_lock(client, 0);
}

/* A file that is gone is no reason to trust less, or more. */
TEST(tls_renew, without_new_ca_new_server_is_refused)
{
    CLIENT client = open_client();
    expect_lock(client, 0);
    rotate_server();
    expect_lock(client, REDLOCK_ENOQUORUM);
    ck_assert_msg(strstr(client_told(&report), "certificate"), "%s", client_told(&report));
    put("new-ca.crt", path[LIVE_CA]);
    put("new-client.key", path[LIVE_KEY]);
    put("new-client.crt", path[LIVE_CRT]);
    expect_lock(client, 0);
}

/* By the name in it that no certificate should be known by any more. */
TEST(tls_renew, certificate_without_subject_alt_name_is_refused)
{
    static const struct tls_cert nameless = {.name = "localhost", .issuer = "old-ca"};
    tls_certs_make(dir, &nameless);
    put("localhost.crt", path[SERVER_CRT]);
    put("localhost.key", path[SERVER_KEY]);
    master_restart(masters, 0, true);
    CLIENT client = open_client();
    expect_lock(client, REDLOCK_ENOQUORUM);
    ck_assert_msg(strstr(client_told(&report), "its certificate is not for localhost"), "%s",
                  client_told(&report));
}

CASE(tls_renew, .timeout_s = 60, .set_up = set_up)
