/* fake_internal.h - what the two halves of a fake master share: fake.c has the door and the
 * test's side, fake_serve.c the connections. One mutex guards all of it. */
#ifndef TEST_FAKE_INTERNAL_H
#define TEST_FAKE_INTERNAL_H

#include "fake.h"
#include "fake_keys.h"

#include <pthread.h>

enum { FAKE_CONNECTIONS_MAX = 64, FAKE_RULES_MAX = 64, FAKE_RECORDS_MAX = 8192 };

struct fake_connection {
    struct fake *fake;
    int number;
    int fd; /* -1: the slot is free, once its thread is joined */
    bool reset;
    bool joinable;
    pthread_t thread;
};

struct fake {
    pthread_mutex_t mutex;
    pthread_cond_t stopping_now;
    bool stopping;
    struct endpoint at;
    char dir[SUITE_PATH_MAX];
    int listener;   /* -1: nobody listens */
    int fillers[2]; /* what fills the queue of a FAKE_HOLE */
    int wake[2];    /* a pipe: the door is to change, or it is to stop */
    enum fake_door door;
    enum fake_door wanted_door;
    pthread_cond_t door_changed;
    pthread_t thread;
    char run_id[48];
    long uptime_s;
    char role[16];
    char also[512];
    struct fake_keys keys;
    struct fake_rule rules[FAKE_RULES_MAX];
    int matched[FAKE_RULES_MAX];
    unsigned rule_count;
    struct fake_record records[FAKE_RECORDS_MAX];
    unsigned record_count;
    unsigned accepted;
    struct fake_connection connections[FAKE_CONNECTIONS_MAX];
};

/* The thread of one connection. */
void *fake_serve(void *connection);

#endif
