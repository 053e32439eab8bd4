/* tls_scene.h - what the tests of a session's bytes and of its end share. There is a world for
 * all tests of a case, and a pair for each. */
#ifndef TEST_TLS_SCENE_H
#define TEST_TLS_SCENE_H

#include "tls_pair.h"

extern struct tls_world world;
extern struct tls_pair pair;

/* A group whose tests leave OpenSSL's error queue empty. */
void tls_make_world(void);
void tls_end(void);
#define TLS_CASE .timeout_s = 30, .set_up_once = tls_make_world, .tear_down = tls_end

/* With the handshake over. */
void begin_1_2(void);
void begin_1_3(void);

#endif
