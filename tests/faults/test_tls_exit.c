/* tags: threads unsanitized */
/* test_tls_exit.c - programs that end by exit() while clients of theirs make TLS connections: no
 * thread is in OpenSSL when exit() tears it down. */
#include "config_auto.h"

#include "client.h"
#include "masters.h"
#include "tls_certs.h"

#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MASTERS = 3, CLIENTS = 8, EXITS = 100 };

static char list[SUITE_PATH_MAX + 16];

static void set_up(void)
{
    static const struct tls_cert certs[] = {
        {.name = "ca", .ca = true},
        {.name = "server", .issuer = "ca", .san = "DNS:localhost,IP:127.0.0.1"},
    };
    static char dir[SUITE_PATH_MAX], path[3][TLS_CERTS_PATH_MAX], port[MASTERS][8];
    suite_new_dir(dir);
    for (size_t i = 0; i < sizeof(certs) / sizeof(*certs); i++)
        tls_certs_make(dir, &certs[i]);
    tls_certs_path(path[0], dir, "ca.crt");
    tls_certs_path(path[1], dir, "server.crt");
    tls_certs_path(path[2], dir, "server.key");
    snprintf(list, sizeof(list), "%s/list", dir);
    FILE *file = fopen(list, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "guard off\nbackground always\n");
    for (int i = 0; i < MASTERS; i++) {
        snprintf(port[i], sizeof(port[i]), "%d", net_free_port());
        const char *const extra[] = {"--tls-port",         port[i], "--tls-cert-file",
                                     path[1],              "--tls-key-file",
                                     path[2],              "--tls-ca-cert-file",
                                     path[0],              "--tls-auth-clients",
                                     "no",                 NULL};
        masters_start(1, extra); /* it dies with this process */
        fprintf(file, "node rediss://localhost:%s ca-file=%s\n", port[i], path[0]);
    }
    ck_assert_int_eq(fclose(file), 0);
}

/* It exits at some moment of the handshakes, with all of its clients open. */
static void live(int number)
{
    redlock *client[CLIENTS];
    for (int i = 0; i < CLIENTS; i++)
        if (redlock_open(list, NULL, &client[i]))
            _exit(1);
    usleep((useconds_t)(number * 977 % 8000));
    exit(0);
}

TEST(tls_exit, exit_while_connections_are_made_is_an_exit)
{
    int ended_by[65] = {0}; /* a signal; 0: none */
    for (int i = 0; i < EXITS; i++) {
        int status;
        pid_t pid = fork();
        if (pid == 0)
            live(i);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ended_by[WIFSIGNALED(status) ? WTERMSIG(status) : 0]++;
    }
    ck_assert_msg(ended_by[0] == EXITS, "%d exits of %d, %d by SIGSEGV, %d by SIGABRT",
                  ended_by[0], EXITS, ended_by[SIGSEGV], ended_by[SIGABRT]);
}

/* A program that ends OpenSSL itself, and goes on: its clients have no masters any more, and can
 * be closed. */
TEST(tls_exit, client_outlives_openssl)
{
    redlock *client = NULL;
    redlock_lock *lock = NULL;
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        redlock_options options = REDLOCK_OPTIONS_INIT;
        if (redlock_open(list, NULL, &client) || redlock_try(client, "name", &options, &lock))
            _exit(1);
        OPENSSL_cleanup();
        if (redlock_release(lock) != REDLOCK_EUNCONFIRMED)
            _exit(2);
        options.wait_ms = 50;
        if (redlock_try(client, "other", &options, &lock) != REDLOCK_ENOQUORUM)
            _exit(3);
        redlock_close(client);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", status);
}

CASE(tls_exit, .timeout_s = 60, .set_up = set_up)
