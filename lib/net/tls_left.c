/* tls_left.c - how long the certificates that a session rests on are good for. */
#include "config_auto.h"

#include "net/tls_internal.h"
#include "base/openssl_gate.h"

#include <openssl/err.h>
#include <openssl/x509.h>

#define DAY_S 86400

/* -1: it can't be told. */
static int64_t left_s(const X509 *certificate)
{
    int days = 0, s = 0;
    if (ASN1_TIME_diff(&days, &s, NULL, X509_get0_notAfter(certificate)) != 1)
        return -1;
    int64_t left = (int64_t)days * DAY_S + s;
    return left > 0 ? left : 0;
}

int64_t rl_tls_left_s(const struct rl_tls *tls)
{
    int64_t least_s = -1;
    if (!tls->secured || !rl_openssl_enter())
        return -1;
    ERR_clear_error();
    STACK_OF(X509) *chain = SSL_get0_verified_chain(tls->ssl);
    for (int i = 0; i < sk_X509_num(chain); i++) {
        int64_t its_s = left_s(sk_X509_value(chain, i));
        if (its_s >= 0 && (least_s < 0 || its_s < least_s))
            least_s = its_s;
    }
    ERR_clear_error();
    rl_openssl_leave();
    return least_s;
}
