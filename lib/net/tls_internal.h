/* tls_internal.h - what tls_context.c and tls.c share. */
#ifndef RL_TLS_INTERNAL_H
#define RL_TLS_INTERNAL_H

#include "net/tls.h"

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

/* What was read at one time. */
struct rl_tls_rules {
    SSL_CTX *ssl;
    BIO_METHOD *wire;    /* how sessions reach their socket */
    atomic_uint holders; /* the context that has it, and every session */
    bool asked_passphrase;
};

/* NULL with `why` filled in. */
struct rl_tls_rules *rl_tls_rules_new(const struct rl_node_config *node, char *why,
                                      size_t why_size);
void rl_tls_rules_free(struct rl_tls_rules *rules); /* by one of its holders */

/* A file as it was when it was read: another one at its path differs in one of these. */
struct rl_tls_stamp {
    bool there;
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec modified, changed;
};
#define RL_TLS_FILES 4 /* ca-file, ca-dir, cert-file, key-file */

struct rl_tls_context {
    struct rl_tls_rules *rules; /* in use: those that could be read last */
    struct rl_tls_stamp stamp[RL_TLS_FILES];
};

/* Sends without SIGPIPE; its data is the struct rl_tls (tls_bio.c). NULL: no memory. */
BIO_METHOD *rl_tls_wire_new(void);

/* The name or address that the certificate must be for, without the final dot and the IPv6
 * zone, which no certificate has. False: there is none that could be checked. */
bool rl_tls_expected_name(const struct rl_node_config *node, char *ret_name, size_t size,
                          bool *ret_is_address);

/* The first error in OpenSSL's queue as text, or the first of one of its libraries (ERR_LIB_*)
 * where there is one; and the queue emptied. */
void rl_tls_take_error(int favourite_library, char *ret_text, size_t size);

struct rl_tls {
    struct rl_tls_rules *rules;
    SSL *ssl;
    int fd;
    int system_error;   /* what the last send or recv that failed said, 0: none did */
    bool inside;        /* OpenSSL is at work on it (read in the child after fork) */
    bool end_of_stream; /* the other side has closed, with a close_notify or without */
    bool failed;        /* for good; text says why */
    bool secured;       /* the handshake is over */
    size_t held_len;    /* bytes of `held` that OpenSSL has yet to get rid of */
    char text[192];
    unsigned char held[SSL3_RT_MAX_PLAIN_LENGTH];
};

#endif
