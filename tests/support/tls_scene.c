/* tls_scene.c - see tls_scene.h. */
#include "config_auto.h"

#include "tls_scene.h"

#include <openssl/err.h>

struct tls_world world;
struct tls_pair pair;

static void make_world(void)
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

static void end(void)
{
    ck_assert_uint_eq(ERR_peek_error(), 0);
    tls_pair_end(&pair);
}

TCase *new_tls_case(Suite *suite, const char *name, void (*set_up)(void))
{
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, 30);
    tcase_add_unchecked_fixture(tcase, make_world, NULL);
    tcase_add_checked_fixture(tcase, set_up, end);
    suite_add_tcase(suite, tcase);
    return tcase;
}
