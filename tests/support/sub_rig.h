/* sub_rig.h - one subscriber with an epoll set, a small loop around it, and a record of what
 * it told its owner. The server's side is played by hand, byte by byte, in the same thread. */
#ifndef TEST_SUB_RIG_H
#define TEST_SUB_RIG_H

#include "base/clock.h"
#include "net.h"
#include "base/prng.h"
#include "node/subscriber.h"
#include "suite.h"

#include <stdbool.h>
#include <stddef.h>

#define SUB_RIG_UUID "0f0e0d0c-0b0a-4908-8706-050403020100"
#define SUB_RIG_CHANNEL RL_WAKE_PREFIX SUB_RIG_UUID
enum { SUB_RIG_INDEX = 3, SUB_RIG_LIMIT_MS = 30000 };

struct sub_rig {
    int epoll_fd;
    int wake_fd;
    struct rl_node_config node; /* to be filled in before sub_rig_begin() */
    struct rl_node_settings settings;
    struct rl_clock clock;
    struct rl_prng prng;
    struct rl_node master; /* whose it is */
    struct rl_sub sub;
    struct rl_channels channels;

    unsigned woken; /* what it told: times, */
    uint64_t seq;   /* the last, */
    uint64_t sum;   /* and all of them together */
    unsigned came, went;
    unsigned heard;                    /* messages on ears, */
    const struct rl_channel *heard_on; /* the last one's, */
    unsigned hears;                    /* and ears that were confirmed */
    unsigned warnings;
    unsigned debugs;
    char warning[512];                     /* the last */
    void (*on_woken)(struct sub_rig *rig); /* NULL: only recorded */
    void (*on_went)(struct sub_rig *rig);
};

/* A node at this endpoint, with nothing else known of it. */
void sub_rig_node(struct sub_rig *rig, const struct endpoint *at);

void sub_rig_begin(struct sub_rig *rig);
void sub_rig_end(struct sub_rig *rig);

void sub_rig_want(struct sub_rig *rig);

/* One turn: wait for events, what is due or `limit_ms`; then everything that a client's loop
 * does. */
void sub_rig_turn(struct sub_rig *rig, int64_t limit_ms);

/* Turn until `condition` holds or the limit has passed: its last value. */
#define sub_rig_until(rig, condition)                                                          \
    ({                                                                                         \
        int64_t until_end_ = now_ms() + SUB_RIG_LIMIT_MS;                                      \
        bool until_met_;                                                                       \
        while (!(until_met_ = (condition)) && now_ms() < until_end_)                           \
            sub_rig_turn(rig, 5);                                                              \
        until_met_;                                                                            \
    })

/* Want it, and turn until it listens. */
void sub_rig_expect_listening(struct sub_rig *rig);

/* ---- the server's side, by hand ------------------------------------------------------- */

struct sub_peer {
    struct endpoint at;
    int listener;
    int fd; /* -1: nobody has been let in */
    char heard[4096];
    size_t heard_len;
};

/* It listens on a unix socket; the rig's node is there. */
void sub_peer_begin(struct sub_peer *peer, struct sub_rig *rig);
void sub_peer_end(struct sub_peer *peer);

/* Let the next one in; what an earlier one said is forgotten. */
void sub_peer_admit(struct sub_peer *peer, struct sub_rig *rig);
void sub_peer_hang_up(struct sub_peer *peer);

/* Send, and let the subscriber read all of it, or end on the way. */
void sub_peer_say(struct sub_peer *peer, struct sub_rig *rig, const char *text);
void sub_peer_say_n(struct sub_peer *peer, struct sub_rig *rig, const char *bytes, size_t len);

/* Has it heard this by now, or does it within the limit? */
bool sub_peer_hears(struct sub_peer *peer, struct sub_rig *rig, const char *text);

/* Has the subscriber closed it by now, or does it within the limit? */
bool sub_peer_is_left(struct sub_peer *peer, struct sub_rig *rig);

/* What a server says to a subscriber. */
#define SUB_OK "+OK\r\n"
#define SUB_CONFIRMED "*3\r\n$9\r\nsubscribe\r\n$49\r\n" SUB_RIG_CHANNEL "\r\n:1\r\n"
#define SUB_MESSAGE_HEAD "*3\r\n$7\r\nmessage\r\n$49\r\n" SUB_RIG_CHANNEL "\r\n"
#define SUB_MESSAGE_7 SUB_MESSAGE_HEAD "$38\r\n" SUB_RIG_UUID ":7\r\n"
#define SUB_PONG "*2\r\n$4\r\npong\r\n$0\r\n\r\n"

/* Admit it and say all that makes it listen. */
void sub_peer_expect_listening(struct sub_peer *peer, struct sub_rig *rig);

#endif
