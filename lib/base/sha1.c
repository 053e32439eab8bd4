/* sha1.c - see sha1.h. */
#include "config_auto.h"

#include "base/sha1.h"

#include "base/openssl_gate.h"
#include "base/text.h"

#include <redlock.h>

#include <openssl/evp.h>
#include <string.h>

int rl_sha1_text(const char *text, char ret_hex[RL_SHA1_TEXT])
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    if (!rl_openssl_enter())
        return REDLOCK_ESYSTEM;
    int done = EVP_Digest(text, strlen(text), sum, &len, EVP_sha1(), NULL);
    rl_openssl_leave();
    if (!done || len != 20)
        return REDLOCK_ESYSTEM;
    *rl_put_hex(ret_hex, sum, len) = '\0';
    return 0;
}
