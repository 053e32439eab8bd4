/* tags: valgrind */
/* test_tls.c - whom a TLS session believes: names, addresses, dates, authorities, protocols.
 * The system's policy allows everything here, so that every refusal is our own. */
#include "config_auto.h"

#include "suite.h"
#include "tls_pair.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char dir[SUITE_PATH_MAX];
static char ca_path[TLS_CERTS_PATH_MAX];
static const char no_issuer[] = "certificate refused: unable to get local issuer certificate";

/* Once for all tests: keys take their time. */
static void make_certificates(void)
{
    static const struct tls_cert certs[] = {
        {"ca", NULL, NULL, 0, 0, true},
        {"other-ca", NULL, NULL, 0, 0, true},
        {"named", "ca", "DNS:redis.example", 0, 0, false},
        {"expired", "ca", "DNS:redis.example", -7200, -3600, false},
        {"early", "ca", "DNS:redis.example", 3600, 7200, false},
        {"addressed", "ca", "IP:127.0.0.1,IP:::1", 0, 0, false},
        {"address-as-name", "ca", "DNS:127.0.0.1", 0, 0, false},
        {"wild", "ca", "DNS:*.redis.example", 0, 0, false},
        {"partly-wild", "ca", "DNS:pre*.redis.example", 0, 0, false},
        {"stranger", "other-ca", "DNS:redis.example", 0, 0, false},
        {"self", NULL, "DNS:redis.example", 0, 0, false},
        {"common.example", "ca", NULL, 0, 0, false},
        {"client", "ca", NULL, 0, 0, false},
    };
    suite_new_dir(dir);
    for (size_t i = 0; i < sizeof(certs) / sizeof(*certs); i++)
        tls_certs_make(dir, &certs[i]);
    tls_certs_path(ca_path, dir, "ca.crt");
}

static struct rl_node_config node_for(const char *host)
{
    return (struct rl_node_config){
        .transport = RL_TLS, .host = (char *)host, .port = 6380, .ca_file = ca_path};
}

static enum rl_tls_result shake(struct tls_pair *pair, const struct rl_node_config *node,
                                const char *certificate)
{
    tls_pair_begin(pair, node, tls_certs_server(dir, certificate, NULL));
    enum rl_tls_result result = tls_pair_shake(pair);
    ck_assert_uint_eq(ERR_peek_error(), 0);
    return result;
}

static void expect_accepted(const struct rl_node_config *node, const char *certificate)
{
    struct tls_pair pair;
    if (shake(&pair, node, certificate) != RL_TLS_OK)
        ck_abort_msg("%s with %s: %s", node->host, certificate, rl_tls_text(pair.client));
    tls_pair_end(&pair);
}

static void expect_refused(const struct rl_node_config *node, const char *certificate,
                           const char *text)
{
    struct tls_pair pair;
    ck_assert_int_eq(shake(&pair, node, certificate), RL_TLS_FAILED);
    ck_assert_str_eq(rl_tls_text(pair.client), text);
    ck_assert(!SSL_is_init_finished(pair.server));
    ck_assert_int_eq(rl_tls_handshake(pair.client), RL_TLS_FAILED); /* and it stays so */
    ck_assert_str_eq(rl_tls_text(pair.client), text);
    tls_pair_end(&pair);
}

TEST(trust, right_name_is_accepted)
{
    struct rl_node_config node = node_for("redis.example");
    expect_accepted(&node, "named");
    node = node_for("REDIS.Example");
    expect_accepted(&node, "named");
    node = node_for("redis.example."); /* the root's dot is in no certificate */
    expect_accepted(&node, "named");
}

TEST(trust, another_name_is_refused)
{
    struct rl_node_config node = node_for("redis-2.example");
    expect_refused(&node, "named", "its certificate is not for redis-2.example");
    node = node_for("example");
    expect_refused(&node, "named", "its certificate is not for example");
    node = node_for("a.redis.example");
    expect_refused(&node, "named", "its certificate is not for a.redis.example");
}

TEST(trust, server_name_takes_hosts_place)
{
    struct rl_node_config node = node_for("10.0.0.1");
    node.server_name = (char *)"redis.example";
    expect_accepted(&node, "named");
    node.server_name = (char *)"127.0.0.1";
    expect_accepted(&node, "addressed");
    node = node_for("redis.example");
    node.server_name = (char *)"other.example";
    expect_refused(&node, "named", "its certificate is not for other.example");
}

TEST(trust, addresses_are_compared_as_addresses)
{
    struct rl_node_config node = node_for("127.0.0.1");
    expect_accepted(&node, "addressed");
    expect_refused(&node, "named", "its certificate is not for this address");
    expect_refused(&node, "address-as-name", "its certificate is not for this address");
    node = node_for("127.0.0.2");
    expect_refused(&node, "addressed", "its certificate is not for this address");
    node = node_for("0:0:0:0:0:0:0:1");
    expect_accepted(&node, "addressed");
    node = node_for("::1%lo"); /* the zone is ours alone */
    expect_accepted(&node, "addressed");
    node = node_for("::2");
    expect_refused(&node, "addressed", "its certificate is not for this address");
}

TEST(trust, wildcards_stand_for_one_whole_label)
{
    struct rl_node_config node = node_for("a.redis.example");
    expect_accepted(&node, "wild");
    node = node_for("redis.example");
    expect_refused(&node, "wild", "its certificate is not for redis.example");
    node = node_for("prefix.redis.example");
    expect_accepted(&node, "wild");
    expect_refused(&node, "partly-wild", "its certificate is not for prefix.redis.example");
    node = node_for("a.b.redis.example");
    expect_refused(&node, "wild", "its certificate is not for a.b.redis.example");
}

TEST(trust, common_name_counts_for_nothing)
{
    struct rl_node_config node = node_for("common.example");
    expect_refused(&node, "common.example", "its certificate is not for common.example");
    node = node_for("named");
    expect_refused(&node, "named", "its certificate is not for named");
}

TEST(trust, dates_are_kept)
{
    struct rl_node_config node = node_for("redis.example");
    expect_refused(&node, "expired", "certificate refused: certificate has expired");
    expect_refused(&node, "early", "certificate refused: certificate is not yet valid");
}

TEST(trust, unknown_authorities_are_refused)
{
    struct rl_node_config node = node_for("redis.example");
    expect_refused(&node, "stranger", no_issuer);
    struct tls_pair pair;
    ck_assert_int_eq(shake(&pair, &node, "self"), RL_TLS_FAILED);
    ck_assert_ptr_nonnull(strstr(rl_tls_text(pair.client), "certificate refused: self"));
    tls_pair_end(&pair);
}

TEST(trust, without_ca_file_systems_store_is_asked)
{
    struct rl_node_config node = node_for("redis.example");
    node.ca_file = NULL;
    expect_refused(&node, "named", no_issuer);
    setenv(X509_get_default_cert_file_env(), ca_path, 1);
    expect_accepted(&node, "named");
    /* Where a ca-file is named, the system's store has no say. */
    char other[TLS_CERTS_PATH_MAX];
    node.ca_file = (char *)tls_certs_path(other, dir, "other-ca.crt");
    expect_refused(&node, "named", no_issuer);
}

TEST(trust, ca_directory_is_searched_by_hash)
{
    char cas[SUITE_PATH_MAX], link_path[TLS_CERTS_PATH_MAX], file[32];
    struct rl_node_config node = node_for("redis.example");
    suite_new_dir(cas);
    node.ca_file = NULL;
    node.ca_dir = cas;
    expect_refused(&node, "named", no_issuer);
    BIO *bio = BIO_new_file(ca_path, "r");
    X509 *ca = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    snprintf(file, sizeof(file), "%08lx.0", X509_subject_name_hash(ca));
    ck_assert_int_eq(symlink(ca_path, tls_certs_path(link_path, cas, file)), 0);
    X509_free(ca);
    BIO_free(bio);
    expect_accepted(&node, "named");
}

static int remember_name(SSL *ssl, int *alert, void *argument)
{
    const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    (void)alert;
    strncpy(argument, name ? name : "(none)", 63);
    return SSL_TLSEXT_ERR_OK;
}

/* The name that the server was asked for. */
static void expect_asked_for(const struct rl_node_config *node, const char *certificate,
                             const char *expected)
{
    struct tls_pair pair;
    char asked[64] = "(none)";
    SSL_CTX *server = tls_certs_server(dir, certificate, NULL);
    SSL_CTX_set_tlsext_servername_callback(server, remember_name);
    SSL_CTX_set_tlsext_servername_arg(server, asked);
    tls_pair_begin(&pair, node, server);
    ck_assert_int_eq(tls_pair_shake(&pair), RL_TLS_OK);
    ck_assert_str_eq(asked, expected);
    tls_pair_end(&pair);
}

TEST(trust, names_are_asked_for_and_addresses_are_not)
{
    struct rl_node_config node = node_for("redis.example.");
    expect_asked_for(&node, "named", "redis.example");
    node = node_for("127.0.0.1");
    expect_asked_for(&node, "addressed", "(none)");
    node.server_name = (char *)"redis.example";
    expect_asked_for(&node, "named", "redis.example");
}

/* How a session with a server of this protocol (0: any) and these ciphers ends. */
static enum rl_tls_result shake_with(int protocol, const char *ciphers, char *ret_text,
                                     char *ret_version)
{
    struct tls_pair pair;
    struct rl_node_config node = node_for("redis.example");
    SSL_CTX *server = tls_certs_server(dir, "named", NULL);
    if (protocol)
        SSL_CTX_set_max_proto_version(server, protocol);
    if (ciphers)
        ck_assert_int_eq(SSL_CTX_set_cipher_list(server, ciphers), 1);
    tls_pair_begin(&pair, &node, server);
    enum rl_tls_result result = tls_pair_shake(&pair);
    snprintf(ret_text, 128, "%s", rl_tls_text(pair.client));
    snprintf(ret_version, 16, "%s", SSL_get_version(pair.server));
    tls_pair_end(&pair);
    return result;
}

TEST(trust, tls_1_2_and_later_are_spoken_and_nothing_older)
{
    char text[128], version[16];
    ck_assert_int_eq(shake_with(0, NULL, text, version), RL_TLS_OK);
    ck_assert_str_eq(version, "TLSv1.3");
    ck_assert_int_eq(shake_with(TLS1_2_VERSION, NULL, text, version), RL_TLS_OK);
    ck_assert_str_eq(version, "TLSv1.2");
    ck_assert_int_eq(shake_with(TLS1_1_VERSION, NULL, text, version), RL_TLS_FAILED);
    ck_assert_ptr_nonnull(strstr(text, "protocol"));
    ck_assert_int_eq(shake_with(TLS1_VERSION, NULL, text, version), RL_TLS_FAILED);
}

TEST(trust, server_without_certificate_is_refused)
{
    char text[128], version[16];
    ck_assert_int_eq(shake_with(TLS1_2_VERSION, "aNULL@SECLEVEL=0", text, version),
                     RL_TLS_FAILED);
    ck_assert_str_eq(text, "the server showed no certificate");
}

/* How a session with a server that wants a certificate ends; TLS 1.3 tells the client only
 * after its handshake. */
static enum rl_tls_result shake_as_client(const char *certificate, int protocol, char *ret_text)
{
    struct tls_pair pair;
    char cert[TLS_CERTS_PATH_MAX], key[TLS_CERTS_PATH_MAX], file[32], byte;
    size_t got;
    struct rl_node_config node = node_for("redis.example");
    if (certificate) {
        snprintf(file, sizeof(file), "%s.crt", certificate);
        node.cert_file = (char *)tls_certs_path(cert, dir, file);
        snprintf(file, sizeof(file), "%s.key", certificate);
        node.key_file = (char *)tls_certs_path(key, dir, file);
    }
    SSL_CTX *server = tls_certs_server(dir, "named", "ca");
    SSL_CTX_set_max_proto_version(server, protocol);
    tls_pair_begin(&pair, &node, server);
    enum rl_tls_result result = tls_pair_shake(&pair);
    if (result == RL_TLS_OK)
        result = rl_tls_recv(pair.client, &byte, 1, &got);
    snprintf(ret_text, 128, "%s", rl_tls_text(pair.client));
    tls_pair_end(&pair);
    return result;
}

TEST(trust, client_certificate_is_shown_where_it_is_wanted)
{
    char text[128];
    ck_assert_int_eq(shake_as_client("client", TLS1_3_VERSION, text), RL_TLS_WANT_READ);
    ck_assert_int_eq(shake_as_client("client", TLS1_2_VERSION, text), RL_TLS_WANT_READ);
}

TEST(trust, without_client_certificate_servers_refusal_is_told)
{
    char text[128];
    ck_assert_int_eq(shake_as_client(NULL, TLS1_3_VERSION, text), RL_TLS_FAILED);
    ck_assert_ptr_nonnull(strstr(text, "refused by the server: "));
    ck_assert_ptr_nonnull(strstr(text, "certificate required"));
    ck_assert_int_eq(shake_as_client(NULL, TLS1_2_VERSION, text), RL_TLS_FAILED);
    ck_assert_ptr_nonnull(strstr(text, "refused by the server: "));
    ck_assert_int_eq(shake_as_client("stranger", TLS1_3_VERSION, text), RL_TLS_FAILED);
    ck_assert_ptr_nonnull(strstr(text, "unknown ca"));
}

CASE(trust, .timeout_s = 30, .set_up_once = make_certificates)

int main(void)
{
    tls_certs_lax_policy();
    return suite_main();
}
