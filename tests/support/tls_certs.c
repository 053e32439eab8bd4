/* tls_certs.c - see tls_certs.h. */
#include "config_auto.h"

#include "tls_certs.h"

#include "suite.h"

#include <fcntl.h>
#include <limits.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void must(bool done, const char *what)
{
    char reason[256];
    if (done)
        return;
    ERR_error_string_n(ERR_peek_error(), reason, sizeof(reason));
    suite_die("%s: %s", what, reason);
}

const char *tls_certs_path(char *ret_path, const char *dir, const char *file)
{
    int len = snprintf(ret_path, TLS_CERTS_PATH_MAX, "%s/%s", dir, file);
    must(len > 0 && len < TLS_CERTS_PATH_MAX, "a path's length");
    return ret_path;
}

void tls_certs_lax_policy(void)
{
    static const char policy[] = "openssl_conf = all\n"
                                 "[all]\nssl_conf = ssl\n"
                                 "[ssl]\nsystem_default = lax\n"
                                 "[lax]\nMinProtocol = TLSv1\n"
                                 "CipherString = ALL:@SECLEVEL=0\n";
    char path[] = "/tmp/rl-test-policy-XXXXXX";
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0 || write(fd, policy, sizeof(policy) - 1) != sizeof(policy) - 1)
        suite_die("can't write %s", path);
    close(fd);
    setenv("OPENSSL_CONF", path, 1);
    must(OPENSSL_init_ssl(0, NULL) == 1, "the policy");
    unsetenv("OPENSSL_CONF");
    unlink(path);
}

static FILE *open_file(const char *dir, const char *name, const char *suffix, const char *mode)
{
    char file[80], path[TLS_CERTS_PATH_MAX];
    snprintf(file, sizeof(file), "%s%s", name, suffix);
    FILE *opened = fopen(tls_certs_path(path, dir, file), mode);
    if (!opened)
        suite_die("can't open %s", path);
    return opened;
}

static EVP_PKEY *new_key(void)
{
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *maker = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, NULL);
    must(maker && EVP_PKEY_keygen_init(maker) == 1 &&
             EVP_PKEY_CTX_set_ec_paramgen_curve_nid(maker, NID_X9_62_prime256v1) == 1 &&
             EVP_PKEY_CTX_set_ec_param_enc(maker, OPENSSL_EC_NAMED_CURVE) == 1 &&
             EVP_PKEY_keygen(maker, &key) == 1,
         "making a key");
    EVP_PKEY_CTX_free(maker);
    return key;
}

static EVP_PKEY *read_key(const char *dir, const char *name)
{
    FILE *file = open_file(dir, name, ".key", "re");
    EVP_PKEY *key = PEM_read_PrivateKey(file, NULL, NULL, NULL);
    fclose(file);
    must(key, "reading a key");
    return key;
}

static X509 *read_certificate(const char *dir, const char *name)
{
    FILE *file = open_file(dir, name, ".crt", "re");
    X509 *certificate = PEM_read_X509(file, NULL, NULL, NULL);
    fclose(file);
    must(certificate, "reading a certificate");
    return certificate;
}

static void extend(X509 *certificate, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    must(extension && X509_add_ext(certificate, extension, -1) == 1, value);
    X509_EXTENSION_free(extension);
}

static void fill(X509 *certificate, const struct tls_cert *cert, X509 *issuer)
{
    long serial = 0;
    must(RAND_bytes((unsigned char *)&serial, sizeof(serial)) == 1, "a serial number");
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial & LONG_MAX);
    X509_set_version(certificate, 2);
    X509_NAME *subject = X509_get_subject_name(certificate);
    must(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                                    (const unsigned char *)cert->name, -1, -1, 0) == 1,
         "a subject");
    X509_set_issuer_name(certificate, X509_get_subject_name(issuer));
    bool dated = cert->from_s != 0 || cert->until_s != 0;
    X509_gmtime_adj(X509_getm_notBefore(certificate), dated ? cert->from_s : -60);
    X509_gmtime_adj(X509_getm_notAfter(certificate), dated ? cert->until_s : 86400);
    extend(certificate, issuer, NID_basic_constraints,
           cert->ca ? "critical,CA:TRUE" : "critical,CA:FALSE");
    if (cert->san)
        extend(certificate, issuer, NID_subject_alt_name, cert->san);
}

void tls_certs_make(const char *dir, const struct tls_cert *cert)
{
    EVP_PKEY *key = new_key();
    X509 *certificate = X509_new();
    must(certificate && X509_set_pubkey(certificate, key) == 1, "making a certificate");
    EVP_PKEY *issuer_key = cert->issuer ? read_key(dir, cert->issuer) : key;
    X509 *issuer = cert->issuer ? read_certificate(dir, cert->issuer) : certificate;
    fill(certificate, cert, issuer);
    must(X509_sign(certificate, issuer_key, EVP_sha256()) > 0, "signing");

    FILE *file = open_file(dir, cert->name, ".crt", "we");
    must(PEM_write_X509(file, certificate) == 1 && fclose(file) == 0, "writing");
    file = open_file(dir, cert->name, ".key", "we");
    must(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) == 1 && fclose(file) == 0,
         "writing");
    if (cert->issuer) {
        X509_free(issuer);
        EVP_PKEY_free(issuer_key);
    }
    X509_free(certificate);
    EVP_PKEY_free(key);
}

void tls_certs_lock_key(const char *dir, const char *name, const char *file)
{
    unsigned char passphrase[] = "unknown";
    EVP_PKEY *key = read_key(dir, name);
    FILE *locked = open_file(dir, file, "", "we");
    must(PEM_write_PrivateKey(locked, key, EVP_aes_128_cbc(), passphrase,
                              sizeof(passphrase) - 1, NULL, NULL) == 1 &&
             fclose(locked) == 0,
         "writing a locked key");
    EVP_PKEY_free(key);
}

SSL_CTX *tls_certs_server(const char *dir, const char *name, const char *client_ca)
{
    char file[80], path[TLS_CERTS_PATH_MAX];
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    must(context, "a server's context");
    SSL_CTX_set_security_level(context, 0);
    SSL_CTX_set_min_proto_version(context, TLS1_VERSION);
    snprintf(file, sizeof(file), "%s.crt", name);
    tls_certs_path(path, dir, file);
    must(SSL_CTX_use_certificate_chain_file(context, path) == 1, path);
    snprintf(file, sizeof(file), "%s.key", name);
    must(SSL_CTX_use_PrivateKey_file(context, tls_certs_path(path, dir, file),
                                     SSL_FILETYPE_PEM) == 1,
         path);
    if (client_ca) {
        snprintf(file, sizeof(file), "%s.crt", client_ca);
        must(SSL_CTX_load_verify_locations(context, tls_certs_path(path, dir, file), NULL) == 1,
             path);
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    }
    return context;
}
