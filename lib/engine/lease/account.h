/* account.h - what is known of a lease that is or was held: when a majority confirmed it last,
 * and what has gone wrong since. With it the library explains a loss. The mutex must be held. */
#ifndef RL_ACCOUNT_H
#define RL_ACCOUNT_H

#include "base/limits.h"

#include <redlock.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rl_lease;

struct rl_account {
    int64_t held_ns;      /* when it was taken, or attached; 0: it never was */
    int64_t confirmed_ns; /* when a majority confirmed it last; 0: not to this client */
    int64_t deadline_ns;  /* that this gave it */
    int64_t lost_ns;      /* 0: it is not lost */
    uint64_t confirmed_by;
    /* What masters said to an extension that failed since. */
    bool failed;
    uint64_t yes, no;
    uint64_t missing; /* those that answered late are in one of the others, too */
    uint64_t voided; /* masters that may have lost it since */
    /* Masters that say it was broken by hand since: by whom, and when, as the first said. */
    uint64_t broken;
    int64_t broken_ns;
    char broken_by[RL_CLIENT_NAME_MAX + 1];
    /* The client's, when it was confirmed: how long nobody ran it, and the machine was
     * suspended, in all. And what was absent right before. */
    int64_t absent_ns, suspended_ns;
    int64_t before_ns;
    /* Once it is lost. */
    enum redlock_loss loss;
    int64_t lost_absent_ns;
};

/* It is held from now on. `confirmed`: a majority has just granted it to this client. */
void rl_account_begin(struct rl_lease *lease, bool confirmed, int64_t now_ns);

/* It is about to be extended: what answered late so far has confirmed it, too. */
void rl_account_asks(struct rl_lease *lease);

/* A master answered an extension: maybe after it had failed without that answer. */
void rl_account_answer(struct rl_lease *lease, unsigned node, bool has_it);

/* And its refusal tells that the lock was broken by hand `ms` before, by this client. */
void rl_account_broken(struct rl_lease *lease, unsigned node, int64_t ms, const char *who,
                       size_t len, int64_t now_ns);

/* Events of its hold (RL_EV_*); it is given up as lost. */
void rl_account_note(struct rl_lease *lease, unsigned events, int64_t now_ns);
void rl_account_lost(struct rl_lease *lease, int64_t now_ns);

/* What its loss is due to, or would be if it were lost now. And the time in which nobody ran the
 * client, since it was confirmed. */
enum redlock_loss rl_account_cause(const struct rl_lease *lease, int64_t now_ns);
int64_t rl_account_absent_ns(const struct rl_lease *lease, int64_t now_ns);

/* account_text.c: fill in a report of a lease that was held: all but its array, and one entry of that. */
void rl_account_report(const struct rl_lease *lease, redlock_hold_report *ret_report,
                       int64_t now_ns);
void rl_account_node(const struct rl_lease *lease, unsigned node, redlock_node_hold *ret_entry,
                     int64_t now_ns);

/* How it is, or was lost: a line without its name. Each master that did not confirm it is in it
 * with its reason, as many as there is room for. */
void rl_account_text(const struct rl_lease *lease, char *ret_text, size_t size,
                             int64_t now_ns);

/* Add to that line how long it is still held. */
void rl_account_add_left(const struct rl_lease *lease, char *text, size_t size, int64_t now_ns);

#endif
