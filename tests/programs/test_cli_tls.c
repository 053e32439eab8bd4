/* test_cli_tls.c - redlock status before a master with a TLS port: when its certificates end.
 */
#include "config_auto.h"

#include "cli_rig.h"
#include "tls_certs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY_S 86400L

static char dir[SUITE_PATH_MAX];
static char ca[TLS_CERTS_PATH_MAX], crt[TLS_CERTS_PATH_MAX], key[TLS_CERTS_PATH_MAX];
static char port_text[8];
static struct masters *masters;

static void start(long ca_days, long server_days)
{
    static const char *const extra[] = {
        "--tls-port",
        port_text,
        "--tls-cert-file",
        crt,
        "--tls-key-file",
        key,
        "--tls-ca-cert-file",
        ca,
        "--tls-auth-clients",
        "no",
        NULL,
    };
    struct node_list list = {.len = 0};
    struct tls_cert of_ca = {"ca", NULL, NULL, -60, ca_days * DAY_S + 60, true};
    struct tls_cert of_server = {
        "server", "ca", "DNS:localhost,IP:127.0.0.1", -60, server_days * DAY_S + 60, false};
    suite_new_dir(dir);
    tls_certs_make(dir, &of_ca);
    tls_certs_make(dir, &of_server);
    tls_certs_path(ca, dir, "ca.crt");
    tls_certs_path(crt, dir, "server.crt");
    tls_certs_path(key, dir, "server.key");
    snprintf(port_text, sizeof(port_text), "%d", net_free_port());
    masters = masters_start(1, extra);
    node_list_line(&list, "guard off\n" CLI_PATIENT);
    node_list_line(&list, "node rediss://127.0.0.1:%s ca-file=%s", port_text, ca);
    setenv("REDLOCK_NODES", node_list_write(&list), 1);
}

static double metric_of(const char *name)
{
    struct program *program = NULL;
    double value = -1;
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "--prometheus"), &program), CLI_FIT);
    const char *line = strstr(program_out(program), name);
    const char *close = line ? strchr(line, '}') : NULL;
    if (close)
        value = atof(close + 1);
    return value;
}

static const struct {
    long ca_days, server_days;
    bool warns;
} ends[] = {
    {400, 29, true},
    {400, 30, false},
    {29, 400, true}, /* without it, the server's is worth nothing */
};

TEST(tls, certificate_that_ends_soon_is_warning, .rows = ROWS(ends))
{
    start(ends[_i].ca_days, ends[_i].server_days);
    struct program *program = cli_expect_status(CLI_FIT);
    if (ends[_i].warns)
        cli_expect_check(program, 0, "connection", "warn", "ends in 29d", "renew it");
    else
        cli_expect_check(program, 0, "connection", "ok", NULL, NULL);
    double left_s = metric_of("redlock_master_tls_left_seconds{");
    double days = (double)(ends[_i].warns ? 29 : 30);
    ck_assert_msg(left_s > days * DAY_S - 60 && left_s <= days * DAY_S + 60, "%g", left_s);
}

TEST(tls, master_without_tls_has_no_certificate)
{
    masters = masters_start(1, NULL);
    setenv("REDLOCK_NODES", masters_file(masters, CLI_PATIENT), 1);
    struct program *program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 0, "connection", "ok", NULL, NULL);
    ck_assert_double_eq(metric_of("redlock_master_tls_left_seconds{"), -1);
}

CASE(tls, .timeout_s = 60)
