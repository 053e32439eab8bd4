/* other_names.c - loaded before all else: another hiredis, whose reader has another struct, and
 * another OpenSSL. Whoever calls the first's functions ends here. */
#include <stdio.h>
#include <stdlib.h>

#define ENDS(name)                                                                             \
    void name(void);                                                                           \
    void name(void)                                                                            \
    {                                                                                          \
        fprintf(stderr, "%s of another library was called\n", #name);                          \
        abort();                                                                               \
    }

#ifdef OTHER_HIREDIS
ENDS(redisReaderCreate)
ENDS(redisReaderCreateWithFunctions)
ENDS(redisReaderFree)
ENDS(redisReaderFeed)
ENDS(redisReaderGetReply)
ENDS(sdsempty)
ENDS(sdscatlen)
ENDS(sdsrange)
ENDS(sdsfree)
#endif

#ifdef OTHER_OPENSSL
unsigned long OpenSSL_version_num(void);
unsigned long OpenSSL_version_num(void)
{
    return 0x1010107fUL; /* as BoringSSL says */
}
const char *OpenSSL_version(int what);
const char *OpenSSL_version(int what)
{
    (void)what;
    return "BoringSSL";
}
ENDS(SSL_CTX_new)
ENDS(TLS_client_method)
#endif
