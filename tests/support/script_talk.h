/* script_talk.h - connections to a master on which the library's scripts are run with the
 * arguments that kind.c promises them, and on which waiters listen. Whatever goes wrong with
 * the connection itself ends the program. */
#ifndef TEST_SCRIPT_TALK_H
#define TEST_SCRIPT_TALK_H

#include "kinds/kind.h"
#include "base/limits.h"
#include "masters.h"
#include "wire.h"

struct talk {
    int fd;
    size_t used, len; /* what was handed out; what has been read */
    char bytes[32768];
};

void talk_open(struct talk *talk, const struct masters *masters, unsigned node);
void talk_close(struct talk *talk);

/* Ask, and the items of the answer: their bytes are good until the next call. The words of
 * talk_do() end with NULL, and it returns the first item. */
unsigned talk_ask(struct talk *talk, unsigned argc, const char *const argv[],
                  const size_t lens[], struct wire_item ret_items[WIRE_ITEMS_MAX]);
struct wire_item talk_do(struct talk *talk, ...) __attribute__((sentinel));

/* Make a user, by way of `talk`, who may do everything but what the rules say, and talk as that
 * one. */
void talk_log_in(struct talk *talk, const struct masters *masters, const char *const *rules,
                 struct talk *ret_restricted);

/* Fixtures: one master for all tests of a program, emptied for each of them, and who talks with
 * it. */
extern struct masters *talk_masters;
extern struct talk talk_here;
void talk_start(void);
void talk_stop(void);
void talk_begin(void);
void talk_end(void);
#define TALK_FIXTURES                                                                          \
    .set_up_once = talk_start, .tear_down_once = talk_stop, .set_up = talk_begin,              \
    .tear_down = talk_end

/* ---- scripts --------------------------------------------------------------------------- */

#define SCRIPT_BREAKER "breaker:7" /* who breaks locks by hand */

/* What a script may be told; it gets what kind.c says. */
struct script_call {
    int row; /* enum rl_row; RL_INSPECT and RL_FORCE are the same for all */
    const char *name;
    size_t name_len;   /* 0: up to a NUL; of several: as rl_names_pack() makes them */
    const char *owner; /* kinds that have one */
    const char *token;
    int64_t ttl_ms;
    const char *waiter;
    int64_t age_us;
    int64_t queue_ms;
    int64_t reserve_ms;
    int64_t fair_ms; /* how long a waiter of a fair lock is believed to live */
    bool endless;    /* force: also what has no TTL */
    int64_t writer_waiting_ms; /* how long the mark of a waiting writer stands */
};

struct script_told {
    char type; /* '*', or '-' and `text` */
    unsigned parts;
    int64_t yes;
    int64_t left_ms; /* with four parts */
    size_t holder_len;
    char holder[160];
    int64_t place; /* with five */
    size_t details_len; /* or, of RL_INSPECT */
    char details[4096];
    char text[160];
};

/* Run it by EVAL; the nonce of an answer that is no error is compared. */
struct script_told script_run(struct talk *talk, enum rl_verb verb,
                              const struct script_call *call);

/* ---- waiters --------------------------------------------------------------------------- */

/* The name of a waiter of some client's. */
const char *talk_waiter(unsigned client, unsigned number, char ret_waiter[RL_WAITER_MAX]);

/* Subscribe to the channel of this waiter's client. */
void talk_listen(struct talk *talk, const char *waiter);

/* What was published since the last look in the channels that this connection is subscribed to
 * (one, at least). All that a script published is among it, if the script has answered, since
 * a PING is answered behind it. */
#define TALK_CALLS_MAX 8
struct talk_message {
    char channel[512];
    char text[160];
};
unsigned talk_messages(struct talk *talk, struct talk_message ret_messages[TALK_CALLS_MAX]);

/* The waiters that were called since the last look. */
unsigned talk_calls(struct talk *talk, char ret_waiters[TALK_CALLS_MAX][RL_WAITER_MAX]);

/* The waiter that was called, where it is one ("" where it is nobody, "many"); good until the
 * next call. */
const char *talk_called(struct talk *talk);

#endif
