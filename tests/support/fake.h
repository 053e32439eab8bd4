/* fake.h - a scripted master in threads of the test's own. It answers the handshake and the
 * plain scripts as a real one would; a test overrides what it is about with rules:
 *
 *   fake_rule(fake, &(struct fake_rule){.match = "acquire *", .reply = "-OOM no\r\n"});
 *
 * Commands are matched as a line. For scripts, sent whole or by digest, that is "acquire NAME
 * TOKEN TTL" (or extend, retake, release, inspect, force). It is the same for the native
 * pair's SET. Others are the words as they are, the first in capitals ("INFO server", "GET
 * name": the pair's other half). Everything received is recorded. */
#ifndef TEST_FAKE_H
#define TEST_FAKE_H

#include "net.h"
#include "suite.h"

enum fake_then { FAKE_GO_ON, FAKE_SILENT, FAKE_CLOSE, FAKE_RESET };

/* What happens to a connection attempt. */
enum fake_door {
    FAKE_OPEN,   /* it is served */
    FAKE_DEAF,   /* it is accepted, and then nothing is read or said */
    FAKE_SHUT,   /* it is accepted and closed at once */
    FAKE_REFUSE, /* nobody listens */
    FAKE_HOLE    /* as a firewall that drops: neither accepted nor refused (TCP) */
};

struct fake_rule {
    const char *match; /* fnmatch(3) over the line */
    int skip;          /* so many matching commands are not its business first */
    int times;         /* then it works so often; 0: for ever */

    /* Replaces the answer, and then nothing is executed. NULL: the answer is made as usual and
     * then mangled as said below. "{nonce}" stands for the script's nonce as a bulk. */
    const char *reply;
    size_t reply_len; /* 0: strlen(reply) */

    int delay_ms; /* executed at once, answered so much later */
    bool cut;     /* only the first `cut_at` bytes of the answer are sent */
    size_t cut_at;
    size_t split_at;     /* a pause after so many bytes of the answer */
    bool split_each;     /* each byte is sent alone */
    enum fake_then then; /* afterwards */
};

struct fake;

/* It listens when this returns; on a unix socket or on 127.0.0.1. */
struct fake *fake_start(bool on_unix_socket);
void fake_stop(struct fake *fake);
const struct endpoint *fake_endpoint(const struct fake *fake);

/* What INFO says; NULL or a negative number leave it. At first: a run_id of its own, up for
 * a million seconds, a master. */
void fake_says(struct fake *fake, const char *run_id, long uptime_s, const char *role);
/* More lines for INFO, with CRLF ("cluster_enabled:1\r\n"). */
void fake_says_also(struct fake *fake, const char *lines);

/* The newest rule that matches and is not used up decides. The strings must stay. */
void fake_rule(struct fake *fake, const struct fake_rule *rule);
void fake_clear_rules(struct fake *fake);

void fake_door(struct fake *fake, enum fake_door door);
void fake_hang_up(struct fake *fake, bool reset); /* on every connection there is */
void fake_forget_scripts(struct fake *fake);      /* as SCRIPT FLUSH */
void fake_forget_keys(struct fake *fake);

struct fake_record {
    int64_t at_ms;
    int connection; /* counted from 0 in the order in which they came */
    bool whole;     /* EVAL: the body came along */
    char line[200];
};

/* How many commands matched; the `nth` of them, from 0 (false: not so many). */
unsigned fake_count(struct fake *fake, const char *match);
bool fake_find(struct fake *fake, const char *match, unsigned nth, struct fake_record *ret);
unsigned fake_connections(struct fake *fake); /* accepted so far */
bool fake_has(struct fake *fake, const char *name);

/* Several at once, on unix sockets, and a node list file of them. `settings` as in
 * masters_file(), but the guard is left on: they are old enough. */
void fakes_start(struct fake *ret_fakes[], unsigned n);
void fakes_stop(struct fake *fakes[], unsigned n);
const char *fakes_file(struct fake *fakes[], unsigned n, const char *settings);

#endif
