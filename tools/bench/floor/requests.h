/* requests.h - the floors' requests, built beforehand, and the replies that mean yes. */
#ifndef BENCH_REQUESTS_H
#define BENCH_REQUESTS_H

#include "kinds/kind.h"
#include "cluster/server_talk.h"

#include <stdint.h>
#include <sys/types.h>

#define BENCH_REQUEST_MAX 1024
#define BENCH_NONCE "1234567890123456" /* as long as the ones that the library sends */

enum bench_floor_kind {
    BENCH_SAME_BYTES, /* as the library's: the native pair, or its scripts with a nonce */
    BENCH_BARE        /* SET NX PX, and a script that compares and deletes */
};

enum bench_verb { BENCH_ACQUIRE, BENCH_RELEASE };

struct bench_bytes {
    size_t len;
    unsigned replies; /* a success: of so many replies, two for the native pair */
    bool goes_on;     /* a success: a number that nobody knows beforehand ends it */
    char at[BENCH_REQUEST_MAX];
};

struct bench_requests {
    enum bench_floor_kind kind;
    const struct rl_kind *lock; /* the scripts' kind; NULL: plain */
    const char *owner;          /* for kinds that have one */
    char counter;               /* the letter of the counters' keys; 0: no fencing token */
    bool waits;                 /* a refused try is queued */
    char sha[2][48];            /* of each verb's script */
    struct bench_bytes request[2];
    struct bench_bytes success[2]; /* the reply that means yes */
};

/* Have a server know a script; learns its SHA-1. False: it would not. */
bool bench_script_load(struct server_talk *talk, const char *body, char ret_sha[48]);

/* The length of the answer to one request. 0: it is not complete; below 0: it is malformed. */
ssize_t bench_answer_length(const struct bench_bytes *success, const char *bytes, size_t len);

/* The reply of a script that says yes. */
void bench_script_success(struct bench_bytes *ret_bytes, const char *proof, bool fenced);

/* Have a server know the scripts; learns their SHA-1. False: it would not. */
bool bench_requests_load(struct bench_requests *requests, struct server_talk *talk);

/* After a first load. */
void bench_requests_build(struct bench_requests *requests, const char *name, const char *token,
                          int64_t ttl_ms);

#endif
