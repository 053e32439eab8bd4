/* tls_library.c - whose OpenSSL the process has bound. A program that has another one linked in
 * (BoringSSL, a copy of 1.1) may export its functions, and then ours are those. */
#include "config_auto.h"

#include "base/text_escape.h"
#include "net/tls_internal.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <string.h>

/* Versions of the same interface: 3.x, or 1.1.x. */
static unsigned long interface_of(unsigned long version)
{
    return version >> 28 >= 3 ? version >> 28 << 28 : version >> 20 << 20;
}

bool rl_tls_library_fits(char *why, size_t size)
{
    unsigned long version = OpenSSL_version_num();
    const char *text = OpenSSL_version(OPENSSL_VERSION);
    char shown[64];
    if (version == 0 || !text)
        return true; /* it could not be loaded (openssl_late.c): the next call has the reason */
    if (strncmp(text, "OpenSSL ", 8) == 0 &&
        interface_of(version) == interface_of(OPENSSL_VERSION_NUMBER))
        return true;
    rl_text_escape(shown, sizeof(shown), text, strlen(text));
    snprintf(why, size,
             "this process has bound another TLS library, %s, than the %s that libredlock was "
             "built for; the program must not export its own copy of it",
             shown, OPENSSL_VERSION_TEXT);
    return false;
}
