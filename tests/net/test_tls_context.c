/* test_tls_context.c - certificates and keys that can't be used are refused with the setting
 * and the file in the text, and nothing ever asks or waits. */
#include "config_auto.h"

#include "alloc.h"
#include "suite.h"
#include "tls_certs.h"
#include "net/tls_internal.h"
#include "tls_pair.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[SUITE_PATH_MAX];

static void write_file(const char *name, const char *text)
{
    char path[TLS_CERTS_PATH_MAX];
    FILE *file = fopen(tls_certs_path(path, dir, name), "we");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

/* `first` and then `second` in one file. */
static void join_files(const char *first, const char *second, const char *joined)
{
    char text[8192], path[TLS_CERTS_PATH_MAX];
    size_t len = 0;
    const char *names[] = {first, second};
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(tls_certs_path(path, dir, names[i]), "re");
        ck_assert_ptr_nonnull(file);
        len += fread(text + len, 1, sizeof(text) - 1 - len, file);
        fclose(file);
    }
    text[len] = '\0';
    write_file(joined, text);
}

static void make_files(void)
{
    static const struct tls_cert ca = {.name = "ca", .ca = true};
    static const struct tls_cert own = {.name = "own", .issuer = "ca"};
    static const struct tls_cert other = {.name = "other", .issuer = "ca"};
    char path[TLS_CERTS_PATH_MAX];
    suite_new_dir(dir);
    tls_certs_make(dir, &ca);
    tls_certs_make(dir, &own);
    tls_certs_make(dir, &other);
    tls_certs_lock_key(dir, "own", "locked.key");
    join_files("own.crt", "own.key", "both.pem");
    write_file("empty", "");
    write_file("text", "this is no certificate\n");
    write_file("broken", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    if (mkfifo(tls_certs_path(path, dir, "pipe"), 0600) != 0)
        suite_die("can't make a pipe");
}

/* A context with these files of `dir` (NULL: not set), or its refusal. */
struct files {
    const char *ca_file, *ca_dir, *cert_file, *key_file;
};

static struct rl_tls_context *try_files(const struct files *files, char *why, size_t size)
{
    char path[4][TLS_CERTS_PATH_MAX];
    struct rl_node_config node = {.transport = RL_TLS, .host = (char *)"redis.example"};
    const char *names[4] = {files->ca_file, files->ca_dir, files->cert_file, files->key_file};
    char **settings[4] = {&node.ca_file, &node.ca_dir, &node.cert_file, &node.key_file};
    for (int i = 0; i < 4; i++)
        if (names[i])
            *settings[i] = (char *)tls_certs_path(path[i], dir, names[i]);
    ERR_put_error(ERR_LIB_USER, 0, 42, __FILE__, __LINE__);
    struct rl_tls_context *context = rl_tls_context_new(&node, why, size);
    ck_assert_uint_eq(ERR_peek_error(), 0);
    return context;
}

TEST(files, good_files_are_accepted)
{
    static const struct files good[] = {
        {NULL, NULL, NULL, NULL},
        {"ca.crt", NULL, NULL, NULL},
        {NULL, ".", NULL, NULL},
        {"ca.crt", ".", NULL, NULL},
        {"ca.crt", NULL, "own.crt", "own.key"},
        {"ca.crt", NULL, "both.pem", NULL},
        {"ca.crt", NULL, "both.pem", "own.key"},
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        char why[256] = "";
        struct rl_tls_context *context = try_files(&good[i], why, sizeof(why));
        ck_assert_msg(context, "%zu: %s", i, why);
        rl_tls_context_free(context);
    }
    rl_tls_context_free(NULL);
}

TEST(files, bad_files_are_refused_with_setting_and_file)
{
    static const char no_file[] = "No such file or directory; check the path";
    static const struct {
        struct files files;
        const char *setting, *file, *reason; /* NULL: any */
    } bad[] = {
        {{"none.crt", NULL, NULL, NULL}, "ca-file", "none.crt", no_file},
        {{".", NULL, NULL, NULL}, "ca-file", ".", "not a regular file"},
        {{"pipe", NULL, NULL, NULL}, "ca-file", "pipe", "not a regular file"},
        {{"empty", NULL, NULL, NULL}, "ca-file", "empty", "no certificate or crl found"},
        {{"text", NULL, NULL, NULL}, "ca-file", "text", "no certificate or crl found"},
        {{"own.key", NULL, NULL, NULL}, "ca-file", "own.key", "no certificate or crl found"},
        {{"broken", NULL, NULL, NULL}, "ca-file", "broken", NULL},
        {{NULL, "none", NULL, NULL}, "ca-dir", "none", no_file},
        {{NULL, "ca.crt", NULL, NULL}, "ca-dir", "ca.crt", "not a directory"},
        {{NULL, NULL, "none", "own.key"}, "cert-file", "none", no_file},
        {{NULL, NULL, "pipe", "own.key"}, "cert-file", "pipe", "not a regular file"},
        {{NULL, NULL, "text", "own.key"}, "cert-file", "text", NULL},
        {{NULL, NULL, "broken", "own.key"}, "cert-file", "broken", NULL},
        {{NULL, NULL, "own.crt", NULL}, "cert-file", "own.crt", NULL},
        {{NULL, NULL, "own.crt", "none"}, "key-file", "none", no_file},
        {{NULL, NULL, "own.crt", "pipe"}, "key-file", "pipe", "not a regular file"},
        {{NULL, NULL, "own.crt", "text"}, "key-file", "text", NULL},
        {{NULL, NULL, "own.crt", "other.key"},
         "key-file",
         "other.key",
         "the key does not belong to the certificate in cert-file"},
        {{NULL, NULL, "own.crt", "locked.key"},
         "key-file",
         "locked.key",
         "the key has a passphrase, and there is nobody to ask for it"},
        {{NULL, NULL, NULL, "own.key"},
         "key-file",
         "own.key",
         "there is no cert-file to go with it"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        char why[256] = "", start[256];
        ck_assert_ptr_null(try_files(&bad[i].files, why, sizeof(why)));
        snprintf(start, sizeof(start), "%s %s/%s: ", bad[i].setting, dir, bad[i].file);
        ck_assert_msg(strncmp(why, start, strlen(start)) == 0, "%s", why);
        const char *reason = why + strlen(start);
        ck_assert_msg(strlen(reason) > 3, "%s", why);
        if (bad[i].reason)
            ck_assert_str_eq(reason, bad[i].reason);
    }
}

TEST(files, unreadable_text_is_refused)
{
    char path[TLS_CERTS_PATH_MAX], why[256] = "";
    static const struct files files = {.ca_file = "secret.crt"};
    join_files("ca.crt", "empty", "secret.crt");
    chmod(tls_certs_path(path, dir, "secret.crt"), 0);
    /* Root may read everything: then somebody else is to try. */
    bool is_root = geteuid() == 0;
    if (is_root && (chmod(dir, 0711) != 0 || seteuid(65534) != 0))
        suite_die("root can't be anybody else");
    struct rl_tls_context *context = try_files(&files, why, sizeof(why));
    if (is_root && seteuid(0) != 0)
        suite_die("can't be root again");
    ck_assert_ptr_null(context);
    ck_assert_msg(strstr(why, "secret.crt: Permission denied; make it readable"), "%s", why);
}

TEST(files, client_is_told_of_node_and_its_place)
{
    char path[TLS_CERTS_PATH_MAX];
    redlock_error error = REDLOCK_ERROR_INIT;
    redlock *client;
    write_file("nl.conf", "ttl 5s\n  node rediss://127.0.0.1:1 ca-file=/none/ca.crt\n");
    tls_certs_path(path, dir, "nl.conf");
    ck_assert_int_eq(redlock_open(path, &error, &client), REDLOCK_ECONFIG);
    ck_assert_msg(strstr(error.text, "/nl.conf:2:8: node rediss://127.0.0.1:1: ca-file "
                                     "/none/ca.crt: No such file or directory; check the path"),
                  "%s", error.text);
    ck_assert_int_eq(error.line, 2);
    ck_assert_int_eq(error.column, 8);
    redlock_node node = REDLOCK_NODE_INIT;
    redlock_config config = REDLOCK_CONFIG_INIT;
    node.url = "rediss://127.0.0.1:1";
    node.ca_file = "/none/ca.crt";
    config.nodes = &node;
    config.node_count = 1;
    ck_assert_int_eq(redlock_open_config(&config, &error, &client), REDLOCK_ECONFIG);
    ck_assert_str_eq(error.text, "node rediss://127.0.0.1:1: ca-file /none/ca.crt: No such "
                                 "file or directory; check the path");
    ck_assert_int_eq(error.line, 0);
}

TEST(files, names_that_no_certificate_could_have_are_refused)
{
    static const char *const names[] = {"", ".", "..", ".example", "%lo"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        char why[256] = "";
        struct rl_node_config node = {.transport = RL_TLS, .host = (char *)"redis.example"};
        node.server_name = (char *)names[i];
        ck_assert_ptr_null(rl_tls_context_new(&node, why, sizeof(why)));
        ck_assert_int_eq(strncmp(why, "server-name ", 12), 0);
        node.host = node.server_name;
        node.server_name = NULL;
        ck_assert_ptr_null(rl_tls_context_new(&node, why, sizeof(why)));
        ck_assert_int_eq(strncmp(why, "host ", 5), 0);
    }
}

TEST(files, short_buffer_is_enough)
{
    char why[8] = "";
    static const struct files files = {.ca_file = "none"};
    ck_assert_ptr_null(try_files(&files, why, sizeof(why)));
    ck_assert_str_eq(why, "ca-file");
}

TEST(files, no_descriptor_is_left_open)
{
    char why[256];
    static const struct files files = {"ca.crt", ".", "own.crt", "own.key"};
    int before = dup(0);
    close(before);
    rl_tls_context_free(try_files(&files, why, sizeof(why)));
    int after = dup(0);
    close(after);
    ck_assert_int_eq(before, after);
}

/* Another file in the place of `name`: of the same bytes, and as old to the nanosecond. */
static void replace(const char *name)
{
    char path[TLS_CERTS_PATH_MAX], fresh[TLS_CERTS_PATH_MAX], text[8192];
    struct stat status;
    tls_certs_path(path, dir, name);
    FILE *file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    ck_assert_int_eq(stat(path, &status), 0);
    write_file("fresh", text);
    const struct timespec times[2] = {status.st_atim, status.st_mtim};
    ck_assert_int_eq(utimensat(AT_FDCWD, tls_certs_path(fresh, dir, "fresh"), times, 0), 0);
    ck_assert_int_eq(rename(fresh, path), 0);
}

TEST(files, another_file_is_read_whichever_it_is_and_however_old)
{
    static const char *const names[] = {"ca.crt", "own.crt", "own.key"};
    char path[3][TLS_CERTS_PATH_MAX], why[256];
    struct rl_node_config node = {.transport = RL_TLS,
                                  .host = (char *)(uintptr_t) "redis.example",
                                  .ca_file = (char *)tls_certs_path(path[0], dir, names[0]),
                                  .cert_file = (char *)tls_certs_path(path[1], dir, names[1]),
                                  .key_file = (char *)tls_certs_path(path[2], dir, names[2])};
    struct rl_tls_context *context = rl_tls_context_new(&node, why, sizeof(why));
    ck_assert_ptr_nonnull(context);
    struct rl_tls_rules *before = context->rules;
    ck_assert(rl_tls_context_renew(context, &node, why, sizeof(why)));
    ck_assert_ptr_eq(context->rules, before);
    for (int i = 0; i < 3; i++) {
        before = context->rules;
        atomic_fetch_add(&before->holders, 1); /* so that its place is not used again */
        replace(names[i]);
        ck_assert(rl_tls_context_renew(context, &node, why, sizeof(why)));
        ck_assert_msg(context->rules != before, "%s", names[i]);
        rl_tls_rules_free(before);
    }
    rl_tls_context_free(context);
}

TEST(files, bytes_read_before_are_given_back)
{
    enum { TIMES = 8 };
    char path[TLS_CERTS_PATH_MAX], why[256];
    struct rl_node_config node = {.transport = RL_TLS,
                                  .host = (char *)(uintptr_t) "redis.example",
                                  .ca_file = (char *)tls_certs_path(path, dir, "ca.crt")};
    long before = 0;
    if (!alloc_works())
        return;
    struct rl_tls_context *context = rl_tls_context_new(&node, why, sizeof(why));
    ck_assert_ptr_nonnull(context);
    for (int i = 0; i < 2 * TIMES; i++) {
        if (i == TIMES)
            before = alloc_live();
        replace("ca.crt");
        ck_assert(rl_tls_context_renew(context, &node, why, sizeof(why)));
    }
    ck_assert_int_lt(alloc_live() - before, TIMES);
    rl_tls_context_free(context);
}

CASE(files, .timeout_s = 30, .set_up_once = make_files)

int main(void)
{
    tls_certs_lax_policy();
    return suite_main();
}
