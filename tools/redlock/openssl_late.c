/* openssl_late.c - OpenSSL, loaded by its first call. To load it takes longer than to take and
 * release a lock, and most node lists have no rediss:// URL. So this program is not linked with
 * OpenSSL: each function that the library calls is defined here, and goes on to the real one.
 * Where OpenSSL can't be loaded a call returns 0, as after a failure, and the error's text
 * says why.
 *
 * Where the program is linked statically (--disable-late-openssl) this is left out. */
#include "config_auto.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
/* OpenSSL would call the names below instead of its own if they were exported. */
#pragma GCC visibility push(hidden)
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#if OPENSSL_VERSION_NUMBER >= 0x30000000L
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define LIBRARY "libssl.so." TEXT(OPENSSL_SHLIB_VERSION)
typedef uint64_t ssl_options;
#else
#define LIBRARY "libssl.so." SHLIB_VERSION_NUMBER
typedef unsigned long ssl_options;
#endif

/* RESULT(type, name, parameters, arguments), and NOTHING() of those that return nothing. */
#define FUNCTIONS                                                                              \
    RESULT(int, ASN1_TIME_diff, (int *d, int *s, const ASN1_TIME *from, const ASN1_TIME *to),  \
           (d, s, from, to))                                                                   \
    NOTHING(BIO_clear_flags, (BIO * b, int f), (b, f))                                         \
    RESULT(void *, BIO_get_data, (BIO * b), (b))                                               \
    NOTHING(BIO_meth_free, (BIO_METHOD * m), (m))                                              \
    RESULT(BIO_METHOD *, BIO_meth_new, (int t, const char *n), (t, n))                         \
    RESULT(int, BIO_meth_set_ctrl, (BIO_METHOD * m, long (*f)(BIO *, int, long, void *)),      \
           (m, f))                                                                             \
    RESULT(int, BIO_meth_set_read, (BIO_METHOD * m, int (*f)(BIO *, char *, int)), (m, f))     \
    RESULT(int, BIO_meth_set_write, (BIO_METHOD * m, int (*f)(BIO *, const char *, int)),      \
           (m, f))                                                                             \
    RESULT(BIO *, BIO_new, (const BIO_METHOD *m), (m))                                         \
    NOTHING(BIO_set_data, (BIO * b, void *d), (b, d))                                          \
    NOTHING(BIO_set_flags, (BIO * b, int f), (b, f))                                           \
    NOTHING(BIO_set_init, (BIO * b, int i), (b, i))                                            \
    NOTHING(ERR_clear_error, (void), ())                                                       \
    NOTHING(ERR_error_string_n, (unsigned long e, char *t, size_t n), (e, t, n))               \
    RESULT(unsigned long, ERR_get_error, (void), ())                                           \
    RESULT(int, ERR_pop_to_mark, (void), ())                                                   \
    RESULT(int, ERR_set_mark, (void), ())                                                      \
    RESULT(                                                                                    \
        int, EVP_Digest,                                                                       \
        (const void *d, size_t n, unsigned char *m, unsigned *s, const EVP_MD *t, ENGINE *e),  \
        (d, n, m, s, t, e))                                                                    \
    RESULT(const EVP_MD *, EVP_sha1, (void), ())                                               \
    RESULT(int, OPENSSL_atexit, (void (*f)(void)), (f))                                        \
    RESULT(int, OPENSSL_init_ssl, (uint64_t o, const OPENSSL_INIT_SETTINGS *s), (o, s))        \
    RESULT(int, OPENSSL_sk_num, (const OPENSSL_STACK *s), (s))                                 \
    RESULT(void *, OPENSSL_sk_value, (const OPENSSL_STACK *s, int i), (s, i))                  \
    RESULT(const char *, OpenSSL_version, (int t), (t))                                        \
    RESULT(unsigned long, OpenSSL_version_num, (void), ())                                     \
    RESULT(int, RAND_bytes, (unsigned char *b, int n), (b, n))                                 \
    RESULT(int, SSL_CTX_check_private_key, (const SSL_CTX *c), (c))                            \
    RESULT(long, SSL_CTX_ctrl, (SSL_CTX * c, int o, long n, void *p), (c, o, n, p))            \
    NOTHING(SSL_CTX_free, (SSL_CTX * c), (c))                                                  \
    RESULT(int, SSL_CTX_load_verify_locations, (SSL_CTX * c, const char *f, const char *d),    \
           (c, f, d))                                                                          \
    RESULT(SSL_CTX *, SSL_CTX_new, (const SSL_METHOD *m), (m))                                 \
    NOTHING(SSL_CTX_set_default_passwd_cb, (SSL_CTX * c, pem_password_cb * f), (c, f))         \
    NOTHING(SSL_CTX_set_default_passwd_cb_userdata, (SSL_CTX * c, void *u), (c, u))            \
    RESULT(int, SSL_CTX_set_default_verify_paths, (SSL_CTX * c), (c))                          \
    RESULT(ssl_options, SSL_CTX_set_options, (SSL_CTX * c, ssl_options o), (c, o))             \
    NOTHING(SSL_CTX_set_verify, (SSL_CTX * c, int m, SSL_verify_cb f), (c, m, f))              \
    RESULT(int, SSL_CTX_use_PrivateKey_file, (SSL_CTX * c, const char *f, int t), (c, f, t))   \
    RESULT(int, SSL_CTX_use_certificate_chain_file, (SSL_CTX * c, const char *f), (c, f))      \
    RESULT(long, SSL_ctrl, (SSL * s, int o, long n, void *p), (s, o, n, p))                    \
    RESULT(int, SSL_do_handshake, (SSL * s), (s))                                              \
    NOTHING(SSL_free, (SSL * s), (s))                                                          \
    RESULT(X509_VERIFY_PARAM *, SSL_get0_param, (SSL * s), (s))                                \
    RESULT(STACK_OF(X509) *, SSL_get0_verified_chain, (const SSL *s), (s))                     \
    RESULT(int, SSL_get_error, (const SSL *s, int r), (s, r))                                  \
    RESULT(const char *, SSL_get_servername, (const SSL *s, const int t), (s, t))              \
    RESULT(long, SSL_get_verify_result, (const SSL *s), (s))                                   \
    RESULT(int, SSL_has_pending, (const SSL *s), (s))                                          \
    RESULT(int, SSL_in_init, (const SSL *s), (s))                                              \
    RESULT(SSL *, SSL_new, (SSL_CTX * c), (c))                                                 \
    RESULT(int, SSL_read_ex, (SSL * s, void *b, size_t n, size_t *r), (s, b, n, r))            \
    RESULT(int, SSL_set1_host, (SSL * s, const char *h), (s, h))                               \
    NOTHING(SSL_set_bio, (SSL * s, BIO * r, BIO * w), (s, r, w))                               \
    NOTHING(SSL_set_connect_state, (SSL * s), (s))                                             \
    NOTHING(SSL_set_hostflags, (SSL * s, unsigned f), (s, f))                                  \
    NOTHING(SSL_set_shutdown, (SSL * s, int m), (s, m))                                        \
    RESULT(int, SSL_shutdown, (SSL * s), (s))                                                  \
    RESULT(int, SSL_write_ex, (SSL * s, const void *b, size_t n, size_t *w), (s, b, n, w))     \
    RESULT(const SSL_METHOD *, TLS_client_method, (void), ())                                  \
    RESULT(int, X509_VERIFY_PARAM_set1_ip_asc, (X509_VERIFY_PARAM * p, const char *a), (p, a)) \
    RESULT(const ASN1_TIME *, X509_get0_notAfter, (const X509 *c), (c))                        \
    RESULT(const char *, X509_get_default_cert_dir, (void), ())                                \
    RESULT(const char *, X509_verify_cert_error_string, (long n), (n))

#define RESULT(type, name, parameters, arguments) __typeof__(name) *name;
#define NOTHING(name, parameters, arguments) __typeof__(name) *name;
static struct {
    FUNCTIONS
    RESULT(unsigned long, ERR_peek_error, (void), ())
    RESULT(const char *, ERR_reason_error_string, (unsigned long e), (e))
} real;
#undef RESULT
#undef NOTHING

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_loaded;
static char why[192]; /* why it is not */

static bool find(void *library, const char *name, void *ret_function)
{
    void *function = dlsym(library, name);
    if (function)
        *(void **)ret_function = function;
    return function != NULL;
}

static void load(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    is_loaded = library != NULL;
#define RESULT(type, name, parameters, arguments)                                              \
    is_loaded = is_loaded && find(library, #name, &real.name);
#define NOTHING(name, parameters, arguments) RESULT(void, name, parameters, arguments)
    FUNCTIONS
    RESULT(, ERR_peek_error, , )
    RESULT(, ERR_reason_error_string, , )
#undef RESULT
#undef NOTHING
    if (!is_loaded) {
        const char *text = dlerror();
        snprintf(why, sizeof(why), "%s", text ? text : LIBRARY " can't be loaded");
    }
}

static bool loaded(void)
{
    pthread_once(&once, load);
    return is_loaded;
}

#define RESULT(type, name, parameters, arguments)                                              \
    type name parameters                                                                       \
    {                                                                                          \
        return loaded() ? real.name arguments : (type)0;                                       \
    }
#define NOTHING(name, parameters, arguments)                                                   \
    void name parameters                                                                       \
    {                                                                                          \
        if (loaded())                                                                          \
            real.name arguments;                                                               \
    }
FUNCTIONS

unsigned long ERR_peek_error(void)
{
    return loaded() ? real.ERR_peek_error() : 1;
}

const char *ERR_reason_error_string(unsigned long error)
{
    return loaded() ? real.ERR_reason_error_string(error) : why;
}
