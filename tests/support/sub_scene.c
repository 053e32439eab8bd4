/* sub_scene.c - see sub_scene.h. */
#include "config_auto.h"

#include "sub_scene.h"

#include <unistd.h>

struct sub_rig rig;
struct sub_peer peer;

void sub_set_up(void)
{
    sub_peer_begin(&peer, &rig);
    sub_rig_begin(&rig);
}

void sub_tear_down(void)
{
    sub_rig_end(&rig);
    sub_peer_end(&peer);
}

void say(const char *text)
{
    sub_peer_say(&peer, &rig, text);
}

void shut_the_door(void)
{
    close(peer.listener);
    peer.listener = net_listen(&(struct endpoint){.port = 0}, 1);
}
