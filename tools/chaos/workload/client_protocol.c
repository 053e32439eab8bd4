/* client_protocol.c - a foreign lock client: the questions to it, and the meaning of its
 * answers.
 *
 * A question is one line, and so is the answer. No second question is sent before the answer to
 * the first. A malformed answer ends the conversation. If we don't know what a client holds, it
 * must not be believed to hold anything. */
#include "config_auto.h"

#include "chaos/workload/client_protocol.h"

#include "chaos/workload/line_process.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/text_escape.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HELLO_MS 30000       /* interpreters take their time */
#define VALIDITY_MS 10000    /* it asks nobody else */
#define STOPPING_MS 4000     /* to end a lock after the run's end */
#define ENDED_TOGETHER_MS 50 /* the same signal may be about to end us */
#define NODE_LEN_MAX 2500    /* a URL, its password in percent signs */

struct chaos_protocol {
    struct chaos_line_process process;
    struct chaos_protocol_plan plan;
    enum chaos_said greeted;
    bool spoilt; /* nothing may be asked any more */
    bool wrong;  /* and that is an error */
    int code;
    char reason[256];
    char answer[CHAOS_LINE_MAX + 1];
};

/* Its words, without the secrets of the masters' URLs. */
static void show(const struct chaos_protocol *protocol, const char *said, char *ret_text,
                 size_t size)
{
    char text[CHAOS_LINE_MAX + 1];
    size_t len = strnlen(said, CHAOS_LINE_MAX);
    memcpy(text, said, len);
    for (unsigned i = 0; i < protocol->plan.nodes; i++)
        len = rl_mask_text(&protocol->plan.mask[i], text, len, false);
    rl_text_escape(ret_text, size, text, len);
}

/* End the conversation, and note the sentence with the reason. */
static enum chaos_said spoil_when(struct chaos_protocol *protocol, const char *when,
                                  const char *asked, const char *what)
{
    size_t asked_len = strcspn(asked, " \n");
    char line[128];
    show(protocol, protocol->answer, line, sizeof(line));
    snprintf(protocol->reason, sizeof(protocol->reason), "the client %s%s%s%s %s \"%.*s\"",
             what, line[0] != '\0' ? ": \"" : "", line, line[0] != '\0' ? "\"" : "", when,
             (int)asked_len, asked);
    protocol->code = REDLOCK_ESYSTEM;
    protocol->spoilt = protocol->wrong = true;
    return CHAOS_SAID_WRONG;
}

static enum chaos_said spoil(struct chaos_protocol *protocol, const char *asked,
                             const char *what)
{
    return spoil_when(protocol, "after", asked, what);
}

/* The rest of the answer where its first word is `word`, or NULL. */
static const char *after(const char *answer, const char *word)
{
    size_t len = strlen(word);
    if (strncmp(answer, word, len) != 0 || (answer[len] != ' ' && answer[len] != '\0'))
        return NULL;
    return answer[len] == ' ' ? answer + len + 1 : answer + len;
}

/* "no" and "gone" may give a reason in the client's own words. One of these has a meaning for
 * us. */
static enum chaos_said take_reason(struct chaos_protocol *protocol, const char *why,
                                   enum chaos_said said)
{
    show(protocol, why, protocol->reason, sizeof(protocol->reason));
    protocol->code = said == CHAOS_SAID_GONE      ? REDLOCK_EEXPIRED
                     : after(why, "held") != NULL ? REDLOCK_EHELD
                                                  : REDLOCK_ENOQUORUM;
    return said;
}

/* Send a line, and read one. `gone`: whether that is an allowed answer. `ret_rest`: the text
 * after "ok". */
static enum chaos_said ask(struct chaos_protocol *protocol, const char *line,
                           const struct chaos_patience *patience, bool gone,
                           const char **ret_rest)
{
    if (protocol->spoilt)
        return CHAOS_SAID_NOTHING;
    protocol->reason[0] = '\0';
    protocol->code = 0;
    protocol->answer[0] = '\0';
    if (chaos_line_process_more(&protocol->process)) {
        const struct chaos_patience none = {0, NULL, NULL, 0};
        if (chaos_line_process_read(&protocol->process, &none, protocol->answer) !=
            CHAOS_LINE_END)
            return spoil_when(protocol, "before", line, "spoke without being asked");
    }
    char ending[64], what[96];
    chaos_line_process_write(&protocol->process, line);
    switch (chaos_line_process_read(&protocol->process, patience, protocol->answer)) {
    case CHAOS_LINE_STOPPED:
        protocol->spoilt = true;
        protocol->code = REDLOCK_ECANCELED;
        return CHAOS_SAID_NOTHING;
    case CHAOS_LINE_LATE:
        snprintf(what, sizeof(what), "did not answer in %" PRId64 " ms", patience->limit_ms);
        return spoil(protocol, line, what);
    case CHAOS_LINE_END:
        chaos_line_process_exit_text(&protocol->process, ending, sizeof(ending));
        (void)poll(NULL, 0, ENDED_TOGETHER_MS);
        return spoil(protocol, line, ending);
    case CHAOS_LINE_BAD:
        return spoil(protocol, line, "sent what is no line of text");
    case CHAOS_LINE:
        break;
    }
    const char *rest;
    if ((rest = after(protocol->answer, "ok")) != NULL) {
        *ret_rest = rest;
        return CHAOS_SAID_OK;
    }
    if ((rest = after(protocol->answer, "no")) != NULL)
        return take_reason(protocol, rest, CHAOS_SAID_NO);
    if (gone && (rest = after(protocol->answer, "gone")) != NULL)
        return take_reason(protocol, rest, CHAOS_SAID_GONE);
    return spoil(protocol, line, "said what is no answer");
}

/* A number and nothing else. */
static bool number(const char *text, uint64_t max, uint64_t *ret_value)
{
    if (*text < '0' || *text > '9')
        return false;
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || value > max)
        return false;
    *ret_value = value;
    return true;
}

/* How long to wait: limit_ms (-1: no limit), and grace_ms after the run's end. */
static struct chaos_patience patience(const struct chaos_protocol *protocol, int64_t limit_ms,
                                      int64_t grace_ms)
{
    return (struct chaos_patience){limit_ms, protocol->plan.stop, protocol->plan.stop_context,
                                   grace_ms};
}

static void greet(struct chaos_protocol *protocol)
{
    size_t size = 64 + (size_t)protocol->plan.nodes * (NODE_LEN_MAX + 1);
    char *line = malloc(size);
    const char *rest = "";
    protocol->greeted = CHAOS_SAID_WRONG;
    if (line == NULL) {
        spoil(protocol, "hello", "could not be greeted: out of memory");
        return;
    }
    size_t len =
        (size_t)snprintf(line, size, "hello 1 ttl_ms %" PRId64 " nodes", protocol->plan.ttl_ms);
    for (unsigned i = 0; i < protocol->plan.nodes; i++) {
        assert(strlen(protocol->plan.node[i]) <= NODE_LEN_MAX);
        len += (size_t)snprintf(line + len, size - len, " %s", protocol->plan.node[i]);
    }
    snprintf(line + len, size - len, "\n");
    const struct chaos_patience of_hello = patience(protocol, HELLO_MS, 0);
    protocol->greeted = ask(protocol, line, &of_hello, false, &rest);
    if (protocol->greeted == CHAOS_SAID_NO)
        protocol->greeted = spoil(protocol, line, "refused to begin");
    free(line);
}

struct chaos_protocol *chaos_protocol_start(const struct chaos_protocol_plan *plan)
{
    struct chaos_protocol *protocol = calloc(1, sizeof(*protocol));
    assert(plan->nodes > 0 && plan->ttl_ms > 0);
    if (protocol == NULL)
        return NULL;
    protocol->plan = *plan;
    if (!chaos_line_process_start(&protocol->process, plan->command, plan->log_fd)) {
        int code = errno;
        free(protocol);
        errno = code;
        return NULL;
    }
    greet(protocol);
    return protocol;
}

enum chaos_said chaos_protocol_greeted(const struct chaos_protocol *protocol)
{
    return protocol->greeted;
}

enum chaos_said chaos_protocol_validity(struct chaos_protocol *protocol,
                                        int64_t *ret_deadline_ns)
{
    const struct chaos_patience soon = patience(protocol, VALIDITY_MS, STOPPING_MS);
    const char *rest;
    uint64_t left_ms;
    int64_t asked_ns = rl_clock_now_ns();
    enum chaos_said said = ask(protocol, "validity\n", &soon, true, &rest);
    if (said == CHAOS_SAID_NO ||
        (said == CHAOS_SAID_OK && !number(rest, RL_TTL_LIMIT_MS, &left_ms)))
        return spoil(protocol, "validity", "said what is no answer");
    if (said != CHAOS_SAID_OK)
        return said;
    if (left_ms == 0)
        return take_reason(protocol, "it has run out", CHAOS_SAID_GONE);
    *ret_deadline_ns = asked_ns + (int64_t)left_ms * RL_NS_PER_MS;
    return CHAOS_SAID_OK;
}

enum chaos_said chaos_protocol_acquire(struct chaos_protocol *protocol, const char *name,
                                       int64_t wait_ms, int64_t *ret_deadline_ns,
                                       uint64_t *ret_token)
{
    char line[RL_LINE_MAX];
    const char *rest;
    uint64_t token = 0;
    const struct chaos_patience all = patience(protocol, -1, 0);
    assert(strlen(name) + 64 < sizeof(line) && strpbrk(name, " \r\n") == NULL);
    snprintf(line, sizeof(line), "acquire %s %" PRId64 "\n", name, wait_ms);
    enum chaos_said said = ask(protocol, line, &all, false, &rest);
    if (said != CHAOS_SAID_OK)
        return said;
    if (*rest != '\0' && !number(rest, UINT64_MAX, &token))
        return spoil(protocol, line, "said what is no answer");
    int64_t deadline_ns = 0;
    said = chaos_protocol_validity(protocol, &deadline_ns);
    if (said == CHAOS_SAID_GONE) {
        said = chaos_protocol_release(protocol);
        return said == CHAOS_SAID_WRONG
                   ? said
                   : take_reason(protocol, "held too late: it had run out", CHAOS_SAID_NO);
    }
    if (said != CHAOS_SAID_OK)
        return said;
    *ret_deadline_ns = deadline_ns;
    *ret_token = token;
    return CHAOS_SAID_OK;
}

/* Questions that end or extend a lock wait for masters, and get a little time after the run's
 * end. */
static enum chaos_said ask_masters(struct chaos_protocol *protocol, const char *line)
{
    const char *rest;
    const struct chaos_patience long_enough = patience(protocol, -1, STOPPING_MS);
    enum chaos_said said = ask(protocol, line, &long_enough, true, &rest);
    if (said == CHAOS_SAID_OK && *rest != '\0')
        return spoil(protocol, line, "said what is no answer");
    return said;
}

enum chaos_said chaos_protocol_extend(struct chaos_protocol *protocol, int64_t *ret_deadline_ns)
{
    enum chaos_said said = ask_masters(protocol, "extend\n");
    return said == CHAOS_SAID_OK ? chaos_protocol_validity(protocol, ret_deadline_ns) : said;
}

enum chaos_said chaos_protocol_release(struct chaos_protocol *protocol)
{
    return ask_masters(protocol, "release\n");
}

bool chaos_protocol_wrong(const struct chaos_protocol *protocol)
{
    return protocol->wrong;
}

const char *chaos_protocol_reason(const struct chaos_protocol *protocol)
{
    return protocol->reason;
}

int chaos_protocol_code(const struct chaos_protocol *protocol)
{
    return protocol->code;
}

void chaos_protocol_quit(struct chaos_protocol *protocol)
{
    if (protocol == NULL)
        return;
    chaos_line_process_write(&protocol->process, "quit\n");
    chaos_line_process_end(&protocol->process);
    free(protocol);
}
