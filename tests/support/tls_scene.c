/* tls_scene.c - see tls_scene.h. */
#include "config_auto.h"

#include "tls_scene.h"

#include <openssl/err.h>

struct tls_world world;
struct tls_pair pair;

void tls_make_world(void)
{
    tls_world_make(&world);
}

void begin_1_2(void)
{
    tls_pair_begin_shaken(&pair, &world, TLS1_2_VERSION);
}

void begin_1_3(void)
{
    tls_pair_begin_shaken(&pair, &world, TLS1_3_VERSION);
}

void tls_end(void)
{
    ck_assert_uint_eq(ERR_peek_error(), 0);
    tls_pair_end(&pair);
}

