/* tls_scene.h - what the tests of a session's bytes and of its end share. There is a world for
 * all tests of a case, and a pair for each. */
#ifndef TEST_TLS_SCENE_H
#define TEST_TLS_SCENE_H

#include "tls_pair.h"

extern struct tls_world world;
extern struct tls_pair pair;

/* A case whose tests begin with `set_up`; they leave OpenSSL's error queue empty. */
TCase *new_tls_case(Suite *suite, const char *name, void (*set_up)(void));

/* With the handshake over. */
void begin_1_2(void);
void begin_1_3(void);

#endif
