/* sub_scene.h - one subscriber, and a server that is played by hand: the fixture of the tests
 * that have both. */
#ifndef TEST_SUB_SCENE_H
#define TEST_SUB_SCENE_H

#include "sub_rig.h"

extern struct sub_rig rig;
extern struct sub_peer peer;

void sub_set_up(void);
void sub_tear_down(void);

/* The server says this, and the subscriber reads all of it, or ends on the way. */
void say(const char *text);

/* Nobody listens there any more: an attempt fails at once. */
void shut_the_door(void);

#endif
