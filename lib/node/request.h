/* request.h - encodes a script's request as bytes. This file knows no client. */
#ifndef RL_REQUEST_H
#define RL_REQUEST_H

#include "kinds/kind.h"
#include "kinds/server_keys.h"
#include "net/resp.h"

/* For encoding: room for a request by digest and one with its body, and the last nonce. */
struct rl_requests {
    char *bytes;
    uint64_t nonce;
};

/* The values of a script's arguments: only those of its letters (kind.h) are used. */
struct rl_request {
    const struct rl_target *target;
    enum rl_verb script;
    char nonce[RL_NONCE_LEN];
    const char *token;
    size_t token_len;
    int64_t ttl_ms;
    const char *uuid; /* the client's, and the waiter's number */
    uint64_t waiter;
    int64_t age_us;
    int64_t reserve_ms; /* of a release: how long the lock is reserved for the next waiter */
    bool wakes_nobody;  /* its release does, of the kinds that allow it: 'k' in request.c */
    int64_t writer_waiting_ms; /* how long it keeps new readers out; 0: not at all */
    bool endless;
    const char *who;    /* the client's name, in the note of a lock that is broken */
    int64_t max_ttl_ms; /* the longest life of that note */
    bool strict;        /* behind marker_strict.lua: rl_request_put_marker() completes it */
    bool fenced;        /* a script with fencing tokens: then the rest is used */
    char counter;       /* the letter of the counters' keys */
    uint64_t proposed;  /* the token that the client proposes */
    int64_t ahead_us;   /* how far a token may be ahead of a master's clock */
    bool writes_back;   /* a master that does not write the token fails */
    int64_t counter_life_ms;
    uint64_t fencing_token;
    const char *certificate; /* the fencing certificate's id; NULL: it is not shown */
    const char *certificate_key;
};

/* Does this request reserve the lock for a waiter? Only then is reserve_ms used. */
bool rl_request_reserves(const struct rl_request *request);

/* The request with the script's body or its digest. Returns the length. */
size_t rl_request_encode(const struct rl_request *request, bool by_body,
                         char ret_bytes[RL_REQUEST_MAX]);

/* The last arguments of a strict request, which are others for each master: put behind its
 * bytes. Returns the whole length. */
size_t rl_request_put_marker(char bytes[RL_REQUEST_MAX], size_t len,
                             const struct rl_server_keys *keys, const char *marker);

/* The native pair of an acquire: SET NX PX, and GET, which shows the token. Returns the
 * length. */
size_t rl_request_encode_native(const struct rl_request *request,
                                char ret_bytes[RL_REQUEST_MAX]);

#endif
