/* account_text.c - what is known of a lease (account.h), for its user: the report, and its
 * line. */
#include "config_auto.h"

#include "engine/lease/lease.h"

#include "base/duration.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MORE " ... and others" /* masters for which the line has no room */

static int64_t ms(int64_t ns)
{
    return ns > 0 ? ns / RL_NS_PER_MS : 0;
}

struct time {
    char text[RL_DURATION_TEXT_MAX];
};

static struct time about(int64_t ms)
{
    struct time time;
    rl_duration_about(ms, time.text);
    return time;
}

/* The time that all is about. */
static int64_t at_ns(const struct rl_lease *lease, int64_t now_ns)
{
    return lease->account.lost_ns > 0 ? lease->account.lost_ns : now_ns;
}

static uint64_t confirmed_by(const struct rl_lease *lease)
{
    const struct rl_account *account = &lease->account;
    return account->confirmed_by | (account->failed ? 0 : lease->hold.granted);
}

/* Its votes were taken off: what it granted may be lost. */
static void say_void(struct rl_node *node, int64_t now_ns, char *ret_text, size_t size)
{
    const char *why = rl_node_clock_why(node, now_ns);
    if (!*why)
        why = node->presence.away ? node->away_why : "";
    snprintf(ret_text, size, "%s", *why ? why : "may have lost its key");
}

void rl_account_node(const struct rl_lease *lease, unsigned number,
                     redlock_node_hold *ret_entry, int64_t now_ns)
{
    const struct rl_account *account = &lease->account;
    struct rl_node *node = lease->voters->node[number];
    uint64_t bit = rl_bit(number);
    int64_t at = at_ns(lease, now_ns);
    int64_t since_ns = rl_presence_away_since_ns(&node->presence, at);
    assert(account->held_ns > 0 && number < lease->hold.n);
    *ret_entry = (redlock_node_hold){.node = node->config->label, .since_ms = -1};
    if (account->failed && (account->no & bit)) {
        ret_entry->vote = REDLOCK_VOTE_FREE;
        snprintf(ret_entry->text, sizeof(ret_entry->text), "no longer has its key%s",
                 account->confirmed_by & bit ? "" : ": it had not been extended there");
    } else if (account->voided & bit) {
        ret_entry->vote = REDLOCK_VOTE_FAILED;
        say_void(node, now_ns, ret_entry->text, sizeof(ret_entry->text));
    } else if ((account->failed ? account->yes : confirmed_by(lease)) & bit) {
        ret_entry->vote = REDLOCK_VOTE_GRANTED;
    } else if (since_ns >= 0) {
        ret_entry->vote = REDLOCK_VOTE_FAILED;
        ret_entry->since_ms = ms(at - since_ns);
        snprintf(ret_entry->text, sizeof(ret_entry->text), "%s", node->away_why);
    } else if (account->missing & bit) {
        ret_entry->vote = REDLOCK_VOTE_FAILED;
        snprintf(ret_entry->text, sizeof(ret_entry->text), "did not answer in time");
    }
}

/* ---- the line -------------------------------------------------------------------------- */

struct line {
    char *text;
    size_t len, size;
};

static void add(struct line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(struct line *line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(line->text + line->len, line->size - line->len, format, args);
    va_end(args);
    if (len > 0)
        line->len += (size_t)len;
    if (line->len >= line->size)
        line->len = line->size - 1;
}

static unsigned count_of(const struct rl_lease *lease, bool (*is)(int vote), int64_t now_ns)
{
    unsigned count = 0;
    for (unsigned i = 0; i < lease->hold.n; i++) {
        redlock_node_hold entry;
        rl_account_node(lease, i, &entry, now_ns);
        count += is(entry.vote);
    }
    return count;
}

static bool is_gone(int vote)
{
    return vote == REDLOCK_VOTE_FREE;
}

static bool is_missing(int vote)
{
    return vote == REDLOCK_VOTE_FREE || vote == REDLOCK_VOTE_FAILED;
}

static void add_cause(struct line *line, const struct rl_lease *lease, int cause,
                      int64_t now_ns)
{
    unsigned n = lease->hold.n;
    struct time absent = about(ms(rl_account_absent_ns(lease, now_ns)));
    switch (cause) {
    case REDLOCK_LOSS_NONE:
        add(line, "all is well");
        break;
    case REDLOCK_LOSS_MASTERS:
        add(line, "%u of %u masters did not confirm it, which left no majority",
            count_of(lease, is_missing, now_ns), n);
        break;
    case REDLOCK_LOSS_GONE:
        add(line,
            "its key was deleted on %u of %u masters, not by its holder (redlock break, "
            "FLUSHALL, DEL, an eviction)",
            count_of(lease, is_gone, now_ns), n);
        break;
    case REDLOCK_LOSS_BROKEN:
        add(line, "it was broken by hand (redlock break) %s before, by %s, as %u of %u masters say",
            about(ms(at_ns(lease, now_ns) - lease->account.broken_ns)).text,
            lease->account.broken_by, rl_count(lease->account.broken), n);
        break;
    case REDLOCK_LOSS_VOID:
        add(line, "%u of %u masters may have lost its key, which left no majority",
            count_of(lease, is_missing, now_ns), n);
        break;
    case REDLOCK_LOSS_STOPPED:
        add(line, "this process, or the thread of its client, stood still for %s (stopped, or "
                  "no processor was free)", absent.text);
        break;
    case REDLOCK_LOSS_SUSPENDED:
        add(line, "this machine was suspended for %s", absent.text);
        break;
    case REDLOCK_LOSS_CLOCK:
        add(line, "the clock of this machine was set back or lost time, so nobody can tell for "
                  "how long it was held");
        break;
    case REDLOCK_LOSS_MAX_HOLD:
        add(line, "its longest time (max_hold_ms) was over");
        break;
    case REDLOCK_LOSS_RAN_OUT:
        add(line, "its lease was over, and nobody had extended it");
        break;
    }
}

static void add_times(struct line *line, const struct rl_lease *lease, int64_t now_ns)
{
    const struct rl_account *account = &lease->account;
    int64_t at = at_ns(lease, now_ns);
    add(line, "; held for %s", about(ms(at - account->held_ns)).text);
    if (account->confirmed_ns > 0)
        add(line, ", last confirmed %s before by %u of %u masters",
            about(ms(at - account->confirmed_ns)).text, rl_count(confirmed_by(lease)),
            lease->hold.n);
    else
        add(line, ", taken up from another process and not confirmed since");
}

static void add_masters(struct line *line, const struct rl_lease *lease, int64_t now_ns)
{
    const char *before = "; ";
    for (unsigned i = 0; i < lease->hold.n; i++) {
        char one[480];
        redlock_node_hold entry;
        rl_account_node(lease, i, &entry, now_ns);
        if (!is_missing(entry.vote))
            continue;
        snprintf(one, sizeof(one), "%.200s: %s%s%s%s", entry.node, entry.text,
                 entry.since_ms >= 0 ? " (for " : "",
                 entry.since_ms >= 0 ? about(entry.since_ms).text : "",
                 entry.since_ms >= 0 ? ")" : "");
        if (line->len + strlen(before) + strlen(one) + sizeof(MORE) > line->size) {
            add(line, "%s", MORE);
            return;
        }
        add(line, "%s%s", before, one);
        before = ", ";
    }
}

void rl_account_text(const struct rl_lease *lease, char *ret_text, size_t size, int64_t now_ns)
{
    struct line line = {.text = ret_text, .size = size};
    assert(size > sizeof(MORE));
    int cause = (int)rl_account_cause(lease, now_ns);
    add_cause(&line, lease, cause, now_ns);
    if (cause != REDLOCK_LOSS_CLOCK)
        add_times(&line, lease, now_ns);
    add_masters(&line, lease, now_ns);
}

void rl_account_add_left(const struct rl_lease *lease, char *text, size_t size, int64_t now_ns)
{
    struct line line = {.text = text, .len = strlen(text), .size = size};
    int64_t left_ns = rl_validity_left_ns(rl_lease_deadline_ns(lease), now_ns);
    add(&line, "; %s are left to try again in", about(ms(left_ns)).text);
}

void rl_account_report(const struct rl_lease *lease, redlock_hold_report *ret_report,
                       int64_t now_ns)
{
    const struct rl_account *account = &lease->account;
    int64_t at = at_ns(lease, now_ns);
    assert(account->held_ns > 0);
    ret_report->nodes = lease->hold.n;
    ret_report->needed = rl_quorum_needed(lease->hold.n);
    ret_report->loss = (int)rl_account_cause(lease, now_ns);
    ret_report->confirmed = rl_count(confirmed_by(lease));
    ret_report->held_ms = ms(at - account->held_ns);
    ret_report->confirmed_ms = account->confirmed_ns > 0 ? ms(at - account->confirmed_ns) : -1;
    ret_report->absent_ms = ms(rl_account_absent_ns(lease, now_ns) +
                               (account->lost_ns > 0 ? 0 : account->before_ns));
    ret_report->lost_ago_ms = account->lost_ns > 0 ? ms(now_ns - account->lost_ns) : -1;
    rl_account_text(lease, ret_report->text, sizeof(ret_report->text), now_ns);
}
