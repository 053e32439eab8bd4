/* tls.c - one TLS session over one socket that never blocks.
 *
 * Bytes that rl_tls_send() took count as sent, as with a socket. OpenSSL sees that differently:
 * if the kernel does not take a record whole, the caller must offer the same bytes again. So
 * such a record is kept here (`held`) and sent before anything else.
 */
#include "config_auto.h"

#include "net/tls_internal.h"
#include "base/openssl_gate.h"
#include "base/wipe.h"

#include <assert.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool expect_name(SSL *ssl, const struct rl_node_config *node)
{
    char name[RL_HOST_MAX + 1];
    bool is_address = false;

    bool have_name = rl_tls_expected_name(node, name, sizeof(name), &is_address);
    assert(have_name); /* without a name the context was refused */
    if (!have_name)
        return false;
    if (is_address)
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1;
    /* Nor may the subject's common name match: the CA may not have checked it. */
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
                               X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    return SSL_set1_host(ssl, name) == 1 && SSL_set_tlsext_host_name(ssl, name) == 1;
}

static bool begin_session(struct rl_tls *tls, const struct rl_node_config *node)
{
    const struct rl_tls_rules *rules = tls->rules;
    ERR_clear_error();
    tls->ssl = SSL_new(rules->ssl);
    BIO *bio = tls->ssl ? BIO_new(rules->wire) : NULL;
    if (bio) {
        BIO_set_data(bio, tls);
        BIO_set_init(bio, 1);
        SSL_set_bio(tls->ssl, bio, bio);
        SSL_set_connect_state(tls->ssl);
    }
    bool whole = bio && expect_name(tls->ssl, node);
    ERR_clear_error(); /* an error that OpenSSL recovered from may be left as well */
    return whole;
}

struct rl_tls *rl_tls_new(struct rl_tls_context *context, const struct rl_node_config *node,
                          int fd)
{
    assert(fd >= 0 && context->rules);
    struct rl_tls *tls = calloc(1, sizeof(*tls));
    if (!tls)
        return NULL;
    tls->fd = fd;
    tls->rules = context->rules;
    atomic_fetch_add(&tls->rules->holders, 1);

    bool whole = false;
    if (rl_openssl_enter()) {
        whole = begin_session(tls, node);
        rl_openssl_leave();
    }
    if (whole)
        return tls;
    rl_tls_free_quietly(tls);
    return NULL;
}

void rl_tls_free(struct rl_tls *tls)
{
    if (!tls)
        return;
    /* After an error, or in the middle of a record, nothing valid can be sent. */
    if (tls->secured && !tls->failed && tls->held_len == 0 && rl_openssl_enter()) {
        ERR_clear_error();
        SSL_shutdown(tls->ssl);
        ERR_clear_error();
        rl_openssl_leave();
    }
    rl_tls_free_quietly(tls);
}

void rl_tls_free_quietly(struct rl_tls *tls)
{
    if (!tls)
        return;
    /* In the child after fork(): another thread may have been inside OpenSSL, half-way through
     * a change. Leak the session rather than walk through it. */
    if (tls->inside)
        return;
    if (tls->ssl && rl_openssl_enter()) {
        /* Otherwise OpenSSL would look for the session in the context's cache, under its
         * lock. */
        SSL_set_shutdown(tls->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
        ERR_set_mark();
        SSL_free(tls->ssl);
        ERR_pop_to_mark();
        rl_openssl_leave();
    }
    rl_tls_rules_free(tls->rules);
    rl_wipe(tls->held, tls->held_len);
    free(tls);
}

const char *rl_tls_text(const struct rl_tls *tls)
{
    return tls->text;
}

/* If the certificate was refused, take the reason. */
static bool take_verdict(struct rl_tls *tls)
{
    long verdict = SSL_get_verify_result(tls->ssl);

    if (tls->secured || verdict == X509_V_OK)
        return false;
    const char *text = X509_verify_cert_error_string(verdict);
    const char *name = SSL_get_servername(tls->ssl, TLSEXT_NAMETYPE_host_name);
    if (verdict == X509_V_ERR_HOSTNAME_MISMATCH && name)
        snprintf(tls->text, sizeof(tls->text), "its certificate is not for %s", name);
    else if (verdict == X509_V_ERR_IP_ADDRESS_MISMATCH)
        snprintf(tls->text, sizeof(tls->text), "its certificate is not for this address");
    else
        snprintf(tls->text, sizeof(tls->text), "certificate refused: %s", text);
    return true;
}

/* The connection was reset while we sent. The server may have said before why, as where it
 * wants a certificate of ours: it says so after the handshake is over for us. */
static void take_last_word(struct rl_tls *tls)
{
    char byte;
    size_t got;
    if (!tls->secured)
        return;
    ERR_clear_error();
    tls->inside = true;
    (void)SSL_read_ex(tls->ssl, &byte, sizeof(byte), &got);
    tls->inside = false;
    unsigned long error = ERR_peek_error();
    if (ERR_GET_LIB(error) != ERR_LIB_SSL || ERR_GET_REASON(error) <= SSL_AD_REASON_OFFSET)
        return;
    char reason[128];
    rl_tls_take_error(ERR_LIB_SSL, reason, sizeof(reason));
    snprintf(tls->text, sizeof(tls->text), "TLS: %s", reason);
}

static enum rl_tls_result fail(struct rl_tls *tls, int ssl_error)
{
    unsigned long error = ERR_peek_error();
    char reason[128];
    assert(!tls->failed && ssl_error != SSL_ERROR_NONE);

    tls->failed = true;
    if (take_verdict(tls)) {
        /* said */
    } else if (tls->end_of_stream || ssl_error == SSL_ERROR_ZERO_RETURN) {
        /* A missing close_notify is no error: servers often leave it out, and the end of a
         * reply shows without it. */
        snprintf(tls->text, sizeof(tls->text), "closed by the server%s",
                 tls->secured ? "" : " in the TLS handshake");
    } else if ((error == 0 || ERR_GET_LIB(error) == ERR_LIB_SYS) && tls->system_error != 0) {
        errno = tls->system_error;
        snprintf(tls->text, sizeof(tls->text), "%m");
        take_last_word(tls);
    } else if (ERR_GET_LIB(error) == ERR_LIB_SSL &&
               ERR_GET_REASON(error) == SSL_R_WRONG_VERSION_NUMBER) {
        snprintf(tls->text, sizeof(tls->text), "the server does not speak TLS");
    } else {
        rl_tls_take_error(ERR_LIB_SSL, reason, sizeof(reason));
        snprintf(tls->text, sizeof(tls->text), "TLS: %s", reason);
    }
    ERR_clear_error();
    return RL_TLS_FAILED;
}

/* OpenSSL works on the session between these two. SSL_get_error() reads the thread's error
 * queue. So the queue must be empty before, and we must leave no error in it. */
static void enter(struct rl_tls *tls)
{
    assert(!tls->inside);
    ERR_clear_error();
    tls->inside = true;
}

static enum rl_tls_result leave(struct rl_tls *tls, int result)
{
    int ssl_error = result == 1 ? SSL_ERROR_NONE : SSL_get_error(tls->ssl, result);
    assert(tls->inside);

    tls->inside = false;
    switch (ssl_error) {
    case SSL_ERROR_NONE:
        return RL_TLS_OK;
    case SSL_ERROR_WANT_READ:
        return RL_TLS_WANT_READ;
    case SSL_ERROR_WANT_WRITE:
        return RL_TLS_WANT_WRITE;
    default:
        return fail(tls, ssl_error);
    }
}

/* For each call that uses the session: false if it can't be used any more. */
static bool begin(struct rl_tls *tls)
{
    if (tls->failed)
        return false;
    if (rl_openssl_enter())
        return true;
    tls->failed = true;
    snprintf(tls->text, sizeof(tls->text), RL_OPENSSL_GONE);
    return false;
}

static enum rl_tls_result handshake(struct rl_tls *tls)
{
    assert(!tls->secured && tls->held_len == 0);
    enter(tls);
    enum rl_tls_result result = leave(tls, SSL_do_handshake(tls->ssl));
    if (result != RL_TLS_OK)
        return result;
    /* OpenSSL skips the verification if the system's policy allows anonymous ciphers. */
    if (SSL_get0_verified_chain(tls->ssl) == NULL) {
        tls->failed = true;
        snprintf(tls->text, sizeof(tls->text), "the server showed no certificate");
        return RL_TLS_FAILED;
    }
    assert(SSL_get_verify_result(tls->ssl) == X509_V_OK);
    tls->secured = true;
    return RL_TLS_OK;
}

enum rl_tls_result rl_tls_handshake(struct rl_tls *tls)
{
    if (!begin(tls))
        return RL_TLS_FAILED;
    enum rl_tls_result result = handshake(tls);
    rl_openssl_leave();
    return result;
}

/* Send what OpenSSL holds: the rest of a record, or a message of the protocol that a read had
 * to send. */
static enum rl_tls_result flush(struct rl_tls *tls)
{
    enum rl_tls_result result = RL_TLS_OK;
    assert(tls->held_len <= sizeof(tls->held));

    if (tls->held_len == 0 && SSL_in_init(tls->ssl)) {
        enter(tls);
        result = leave(tls, SSL_do_handshake(tls->ssl));
    }
    while (result == RL_TLS_OK && tls->held_len > 0) {
        size_t sent = 0;
        enter(tls);
        result = leave(tls, SSL_write_ex(tls->ssl, tls->held, tls->held_len, &sent));
        assert(sent <= tls->held_len);
        tls->held_len -= sent;
        memmove(tls->held, tls->held + sent, tls->held_len);
        rl_wipe(tls->held + tls->held_len, sent); /* these bytes may have been a login */
    }
    return result;
}

enum rl_tls_result rl_tls_send(struct rl_tls *tls, const void *bytes, size_t len,
                               size_t *ret_sent)
{
    const unsigned char *next = bytes;
    assert(bytes || len == 0);

    *ret_sent = 0;
    if (!begin(tls))
        return RL_TLS_FAILED;
    assert(tls->secured);
    enum rl_tls_result result = flush(tls);
    while (result == RL_TLS_OK && *ret_sent < len) {
        size_t chunk = len - *ret_sent;
        size_t sent = 0;
        if (chunk > sizeof(tls->held))
            chunk = sizeof(tls->held);
        enter(tls);
        result = leave(tls, SSL_write_ex(tls->ssl, next, chunk, &sent));
        if (result == RL_TLS_WANT_READ || result == RL_TLS_WANT_WRITE) {
            memcpy(tls->held, next, chunk);
            tls->held_len = chunk;
            sent = chunk;
        }
        next += sent;
        *ret_sent += sent;
    }
    rl_openssl_leave();
    return result;
}

enum rl_tls_result rl_tls_recv(struct rl_tls *tls, void *bytes, size_t len, size_t *ret_got)
{
    unsigned char *next = bytes;
    assert(len > 0);

    *ret_got = 0;
    if (!begin(tls))
        return RL_TLS_FAILED;
    assert(tls->secured);
    enum rl_tls_result result;
    /* No epoll shows the records that OpenSSL has read already: take all that fit. */
    do {
        size_t got = 0;
        enter(tls);
        result = leave(tls, SSL_read_ex(tls->ssl, next + *ret_got, len - *ret_got, &got));
        *ret_got += got;
    } while (result == RL_TLS_OK && *ret_got < len && rl_tls_holds_more(tls));
    rl_openssl_leave();
    /* Deliver the bytes before the end first; the next call reports the end. */
    return *ret_got > 0 ? RL_TLS_OK : result;
}

bool rl_tls_holds_more(const struct rl_tls *tls)
{
    if (!rl_openssl_enter())
        return false;
    bool more = SSL_has_pending(tls->ssl) == 1;
    rl_openssl_leave();
    return more;
}
