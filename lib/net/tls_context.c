/* tls_context.c - one node's certificates and rules, as they are on disk. Its sessions share
 * them. */
#include "config_auto.h"

#include "base/openssl_gate.h"
#include "base/text_escape.h"
#include "config/read_file.h"
#include "net/tls_internal.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct why {
    char *text;
    size_t size;
};

/* "ca-file /etc/ca.pem: no such file". Returns false, for `return refuse(...)`. */
static bool refuse(const struct why *why, const char *setting, const char *path,
                   const char *what)
{
    char shown[128];

    rl_text_escape(shown, sizeof(shown), path, strlen(path));
    snprintf(why->text, why->size, "%s %s: %s", setting, shown, what);
    return false;
}

static bool refuse_by_openssl(const struct why *why, const char *setting, const char *path)
{
    char reason[128];

    rl_tls_take_error(ERR_LIB_NONE, reason, sizeof(reason));
    return refuse(why, setting, path, reason);
}

/* OpenSSL says little about files that can't be opened, and it would wait on a pipe for
 * ever. */
static bool can_open(const struct why *why, const char *setting, const char *path,
                     bool want_directory)
{
    struct stat status;
    char reason[128];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0 || fstat(fd, &status) != 0) {
        snprintf(reason, sizeof(reason), "%m%s", rl_read_remedy(errno));
        if (fd >= 0)
            close(fd);
        return refuse(why, setting, path, reason);
    }
    close(fd);
    if (want_directory && !S_ISDIR(status.st_mode))
        return refuse(why, setting, path, "not a directory");
    if (!want_directory && !S_ISREG(status.st_mode))
        return refuse(why, setting, path, "not a regular file");
    return true;
}

static bool trust_file(SSL_CTX *ssl, const char *path, const struct why *why)
{
    if (!can_open(why, "ca-file", path, false))
        return false;
    if (SSL_CTX_load_verify_locations(ssl, path, NULL) == 1)
        return true;
    return refuse_by_openssl(why, "ca-file", path);
}

static bool trust_directory(SSL_CTX *ssl, const char *path, const struct why *why)
{
    if (!can_open(why, "ca-dir", path, true))
        return false;
    if (SSL_CTX_load_verify_locations(ssl, NULL, path) == 1)
        return true;
    return refuse_by_openssl(why, "ca-dir", path);
}

static bool set_trust(SSL_CTX *ssl, const struct rl_node_config *node, const struct why *why)
{
    if (node->ca_file && !trust_file(ssl, node->ca_file, why))
        return false;
    if (node->ca_dir && !trust_directory(ssl, node->ca_dir, why))
        return false;
    if (!node->ca_file && !node->ca_dir && SSL_CTX_set_default_verify_paths(ssl) != 1)
        return refuse_by_openssl(why, "the system's certificates", X509_get_default_cert_dir());
    return true;
}

/* Replaces OpenSSL's callback, which would ask on the terminal. */
static int no_passphrase(char *buffer, int size, int writing, void *context)
{
    (void)buffer;
    (void)size;
    (void)writing;
    ((struct rl_tls_rules *)context)->asked_passphrase = true;
    return -1;
}

static bool set_own_certificate(struct rl_tls_rules *rules, const struct rl_node_config *node,
                                const struct why *why)
{
    if (!node->cert_file && !node->key_file)
        return true;
    if (!node->cert_file)
        return refuse(why, "key-file", node->key_file, "there is no cert-file to go with it");

    /* One file may hold the certificate and the key. */
    const char *key_file = node->key_file ? node->key_file : node->cert_file;
    const char *key_setting = node->key_file ? "key-file" : "cert-file";
    if (!can_open(why, "cert-file", node->cert_file, false) ||
        !can_open(why, key_setting, key_file, false))
        return false;
    if (SSL_CTX_use_certificate_chain_file(rules->ssl, node->cert_file) != 1)
        return refuse_by_openssl(why, "cert-file", node->cert_file);

    SSL_CTX_set_default_passwd_cb(rules->ssl, no_passphrase);
    SSL_CTX_set_default_passwd_cb_userdata(rules->ssl, rules);
    if (SSL_CTX_use_PrivateKey_file(rules->ssl, key_file, SSL_FILETYPE_PEM) != 1) {
        unsigned long error = ERR_peek_error();
        if (rules->asked_passphrase)
            return refuse(why, key_setting, key_file,
                          "the key has a passphrase, and there is nobody to ask for it");
        if (ERR_GET_LIB(error) == ERR_LIB_X509 &&
            (ERR_GET_REASON(error) == X509_R_KEY_VALUES_MISMATCH ||
             ERR_GET_REASON(error) == X509_R_KEY_TYPE_MISMATCH))
            return refuse(why, key_setting, key_file,
                          "the key does not belong to the certificate in cert-file");
        return refuse_by_openssl(why, key_setting, key_file);
    }
    if (SSL_CTX_check_private_key(rules->ssl) != 1)
        return refuse(why, key_setting, key_file,
                      "the key does not belong to the certificate in cert-file");
    return true;
}

static bool set_rules(SSL_CTX *ssl)
{
    SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_options(ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_AUTO_RETRY);
    /* Sessions are never resumed, and a cache has a lock that fork() could catch. */
    SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF);
    /* One recv() for a record's head, its body, and whatever follows. */
    SSL_CTX_set_read_ahead(ssl, 1);
    return SSL_CTX_set_min_proto_version(ssl, TLS1_2_VERSION) == 1;
}

bool rl_tls_expected_name(const struct rl_node_config *node, char *ret_name, size_t size,
                          bool *ret_is_address)
{
    const char *name = node->server_name ? node->server_name : node->host;
    unsigned char address[sizeof(struct in6_addr)];

    assert(name);
    size_t len = strcspn(name, "%");
    if (len > 0 && name[len - 1] == '.')
        len--;
    /* To OpenSSL an empty name matches any name, and a name with a dot in front matches any
     * name below it. */
    if (len == 0 || len >= size || name[0] == '.')
        return false;
    memcpy(ret_name, name, len);
    ret_name[len] = '\0';
    *ret_is_address = inet_pton(AF_INET, ret_name, address) == 1 ||
                      inet_pton(AF_INET6, ret_name, address) == 1;
    return true;
}

void rl_tls_take_error(int favourite_library, char *ret_text, size_t size)
{
    unsigned long error = ERR_peek_error();

    for (unsigned long next; (next = ERR_get_error()) != 0;) {
        if (ERR_GET_LIB(next) == favourite_library) {
            error = next;
            break;
        }
    }
    ERR_clear_error();
    const char *reason = ERR_reason_error_string(error);
    if (error == 0)
        snprintf(ret_text, size, "no reason given");
    else if (reason && ERR_GET_LIB(error) == ERR_LIB_SSL &&
             ERR_GET_REASON(error) > SSL_AD_REASON_OFFSET)
        snprintf(ret_text, size, "refused by the server: %s", reason);
    else if (reason)
        snprintf(ret_text, size, "%s", reason);
    else
        ERR_error_string_n(error, ret_text, size);
}

static struct rl_tls_rules *new_rules(const struct rl_node_config *node, char *why_text,
                                      size_t why_size)
{
    const struct why why = {why_text, why_size};
    char name[RL_HOST_MAX + 1];
    bool is_address;

    assert(node->transport == RL_TLS);
    if (!rl_tls_library_fits(why_text, why_size))
        return NULL;
    ERR_clear_error();
    if ((node->server_name || node->host) &&
        !rl_tls_expected_name(node, name, sizeof(name), &is_address)) {
        refuse(&why, node->server_name ? "server-name" : "host",
               node->server_name ? node->server_name : node->host,
               "no name that a certificate could be for");
        return NULL;
    }
    struct rl_tls_rules *rules = calloc(1, sizeof(*rules));
    if (!rules) {
        snprintf(why_text, why_size, "out of memory");
        return NULL;
    }
    atomic_init(&rules->holders, 1);
    rules->wire = rl_tls_wire_new();
    rules->ssl = SSL_CTX_new(TLS_client_method());
    bool done = rules->wire && rules->ssl && set_rules(rules->ssl);
    if (!done) {
        rl_tls_take_error(ERR_LIB_NONE, name, sizeof(name));
        snprintf(why_text, why_size, "TLS can't be set up: %s", name);
    }
    done = done && set_trust(rules->ssl, node, &why) && set_own_certificate(rules, node, &why);
    /* Loading leaves entries in the error queue even if it works. */
    ERR_clear_error();
    if (!done) {
        rl_tls_rules_free(rules);
        return NULL;
    }
    return rules;
}

struct rl_tls_rules *rl_tls_rules_new(const struct rl_node_config *node, char *why_text,
                                      size_t why_size)
{
    if (!rl_openssl_enter()) {
        snprintf(why_text, why_size, RL_OPENSSL_GONE);
        return NULL;
    }
    struct rl_tls_rules *rules = new_rules(node, why_text, why_size);
    rl_openssl_leave();
    return rules;
}

void rl_tls_rules_free(struct rl_tls_rules *rules)
{
    if (!rules || atomic_fetch_sub(&rules->holders, 1) != 1)
        return;
    assert(atomic_load(&rules->holders) == 0);
    if (rl_openssl_enter()) {
        ERR_set_mark();
        SSL_CTX_free(rules->ssl);
        ERR_pop_to_mark();
        BIO_meth_free(rules->wire);
        rl_openssl_leave();
    }
    free(rules);
}
