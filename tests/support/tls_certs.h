/* tls_certs.h - throw-away certificates, and servers that show them. */
#ifndef TEST_TLS_CERTS_H
#define TEST_TLS_CERTS_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>

struct tls_cert {
    const char *name;   /* of the files NAME.crt and NAME.key; also the subject's */
    const char *issuer; /* the name of one made earlier; NULL: itself */
    const char *san;    /* "DNS:redis.example,IP:127.0.0.1"; NULL: none */
    long from_s;        /* when it begins and ends, from now; 0, 0: now, for a day */
    long until_s;
    bool ca;
};

/* Write NAME.crt and NAME.key into `dir`; never fails but by ending the program. */
void tls_certs_make(const char *dir, const struct tls_cert *cert);

/* Write the key again as `file`, encrypted with a passphrase. */
void tls_certs_lock_key(const char *dir, const char *name, const char *file);

/* Give this process a system policy that allows everything, so that what is refused is
 * refused by us. To be called before anything of OpenSSL's is. */
void tls_certs_lax_policy(void);

/* DIR/FILE in memory of the caller's. */
#define TLS_CERTS_PATH_MAX 160
const char *tls_certs_path(char *ret_path, const char *dir, const char *file);

/* A server's context that shows NAME and takes every protocol that OpenSSL still knows. With
 * `client_ca` it wants a certificate of that CA from its clients. */
SSL_CTX *tls_certs_server(const char *dir, const char *name, const char *client_ca);

#endif
