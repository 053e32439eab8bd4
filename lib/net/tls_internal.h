/* tls_internal.h - what tls_context.c and tls.c share. */
#ifndef RL_TLS_INTERNAL_H
#define RL_TLS_INTERNAL_H

#include "net/tls.h"

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

/* Is the OpenSSL that the process has bound of the version that this was built for? False: `why`
 * says which it is. */
bool rl_tls_library_fits(char *why, size_t size);

/* Rules and certificates that were read at one time; reference counted. */
struct rl_tls_rules {
    SSL_CTX *ssl;
    BIO_METHOD *wire;    /* how sessions read and write their socket */
    atomic_uint holders; /* references: the context, and each session */
    bool asked_passphrase;
};

/* NULL with `why` filled in. */
struct rl_tls_rules *rl_tls_rules_new(const struct rl_node_config *node, char *why,
                                      size_t why_size);
void rl_tls_rules_free(struct rl_tls_rules *rules); /* drops one reference */

/* Identifies a file as it was read: a later one at the same path differs in one of these. */
struct rl_tls_stamp {
    bool there;
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec modified, changed;
};
#define RL_TLS_FILES 4 /* ca-file, ca-dir, cert-file, key-file */

struct rl_tls_context {
    struct rl_tls_rules *rules; /* in use: the last ones that could be read */
    struct rl_tls_stamp stamp[RL_TLS_FILES];
};

/* A BIO that sends without SIGPIPE; its data is the struct rl_tls (tls_bio.c). NULL: no
 * memory. */
BIO_METHOD *rl_tls_wire_new(void);

/* The name or address that the certificate must have. The final dot and the IPv6 zone are cut
 * off: no certificate has them. False: there is no name to check. */
bool rl_tls_expected_name(const struct rl_node_config *node, char *ret_name, size_t size,
                          bool *ret_is_address);

/* Take the text of an error out of OpenSSL's queue, and empty the queue. The error is the
 * first of one library (ERR_LIB_*) if there is one, else the first. */
void rl_tls_take_error(int favourite_library, char *ret_text, size_t size);

struct rl_tls {
    struct rl_tls_rules *rules;
    SSL *ssl;
    int fd;
    int system_error;   /* errno of the last send or recv that failed; 0: none */
    bool inside;        /* OpenSSL works on it now (read in the child after fork) */
    bool end_of_stream; /* the peer has closed, with a close_notify or without */
    bool failed;        /* for good; text says why */
    bool secured;       /* the handshake is over */
    size_t held_len;    /* bytes of `held` that OpenSSL must still send */
    char text[192];
    unsigned char held[SSL3_RT_MAX_PLAIN_LENGTH];
};

#endif
