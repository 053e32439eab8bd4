/* talk.c - a foreign lock client: the questions to it, and the meaning of its answers.
 *
 * A question is one line, and so is the answer. No second question is sent before the answer to
 * the first. A malformed answer ends the conversation. If we don't know what a client holds, it
 * must not be believed to hold anything. */
#include "config_auto.h"

#include "chaos/workload/talk.h"

#include "chaos/workload/lines.h"
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

struct chaos_talk {
    struct chaos_lines lines;
    struct chaos_talk_plan plan;
    enum chaos_said greeted;
    bool spoilt; /* nothing may be asked any more */
    bool wrong;  /* and that is an error */
    int code;
    char reason[256];
    char answer[CHAOS_LINE_MAX + 1];
};

/* Its words, without the secrets of the masters' URLs. */
static void show(const struct chaos_talk *talk, const char *said, char *ret_text, size_t size)
{
    char text[CHAOS_LINE_MAX + 1];
    size_t len = strnlen(said, CHAOS_LINE_MAX);
    memcpy(text, said, len);
    for (unsigned i = 0; i < talk->plan.nodes; i++)
        len = rl_mask_text(&talk->plan.mask[i], text, len, false);
    rl_text_escape(ret_text, size, text, len);
}

/* End the conversation, and note the sentence with the reason. */
static enum chaos_said spoil_when(struct chaos_talk *talk, const char *when, const char *asked,
                                  const char *what)
{
    size_t asked_len = strcspn(asked, " \n");
    char line[128];
    show(talk, talk->answer, line, sizeof(line));
    snprintf(talk->reason, sizeof(talk->reason), "the client %s%s%s%s %s \"%.*s\"", what,
             line[0] != '\0' ? ": \"" : "", line, line[0] != '\0' ? "\"" : "", when,
             (int)asked_len, asked);
    talk->code = REDLOCK_ESYSTEM;
    talk->spoilt = talk->wrong = true;
    return CHAOS_SAID_WRONG;
}

static enum chaos_said spoil(struct chaos_talk *talk, const char *asked, const char *what)
{
    return spoil_when(talk, "after", asked, what);
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
static enum chaos_said take_reason(struct chaos_talk *talk, const char *why,
                                   enum chaos_said said)
{
    show(talk, why, talk->reason, sizeof(talk->reason));
    talk->code = said == CHAOS_SAID_GONE      ? REDLOCK_EEXPIRED
                 : after(why, "held") != NULL ? REDLOCK_EHELD
                                              : REDLOCK_ENOQUORUM;
    return said;
}

/* Send a line, and read one. `gone`: whether that is an allowed answer. `ret_rest`: the text
 * after "ok". */
static enum chaos_said ask(struct chaos_talk *talk, const char *line,
                           const struct chaos_patience *patience, bool gone,
                           const char **ret_rest)
{
    if (talk->spoilt)
        return CHAOS_SAID_NOTHING;
    talk->reason[0] = '\0';
    talk->code = 0;
    talk->answer[0] = '\0';
    if (chaos_lines_more(&talk->lines)) {
        const struct chaos_patience none = {0, NULL, NULL, 0};
        if (chaos_lines_hear(&talk->lines, &none, talk->answer) != CHAOS_LINE_END)
            return spoil_when(talk, "before", line, "spoke without being asked");
    }
    char ending[64], what[96];
    chaos_lines_say(&talk->lines, line);
    switch (chaos_lines_hear(&talk->lines, patience, talk->answer)) {
    case CHAOS_LINE_STOPPED:
        talk->spoilt = true;
        talk->code = REDLOCK_ECANCELED;
        return CHAOS_SAID_NOTHING;
    case CHAOS_LINE_LATE:
        snprintf(what, sizeof(what), "did not answer in %" PRId64 " ms", patience->limit_ms);
        return spoil(talk, line, what);
    case CHAOS_LINE_END:
        chaos_lines_ending(&talk->lines, ending, sizeof(ending));
        (void)poll(NULL, 0, ENDED_TOGETHER_MS);
        return spoil(talk, line, ending);
    case CHAOS_LINE_BAD:
        return spoil(talk, line, "sent what is no line of text");
    case CHAOS_LINE:
        break;
    }
    const char *rest;
    if ((rest = after(talk->answer, "ok")) != NULL) {
        *ret_rest = rest;
        return CHAOS_SAID_OK;
    }
    if ((rest = after(talk->answer, "no")) != NULL)
        return take_reason(talk, rest, CHAOS_SAID_NO);
    if (gone && (rest = after(talk->answer, "gone")) != NULL)
        return take_reason(talk, rest, CHAOS_SAID_GONE);
    return spoil(talk, line, "said what is no answer");
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
static struct chaos_patience patience(const struct chaos_talk *talk, int64_t limit_ms,
                                      int64_t grace_ms)
{
    return (struct chaos_patience){limit_ms, talk->plan.stop, talk->plan.stop_context,
                                   grace_ms};
}

static void greet(struct chaos_talk *talk)
{
    size_t size = 64 + (size_t)talk->plan.nodes * (NODE_LEN_MAX + 1);
    char *line = malloc(size);
    const char *rest = "";
    talk->greeted = CHAOS_SAID_WRONG;
    if (line == NULL) {
        spoil(talk, "hello", "could not be greeted: out of memory");
        return;
    }
    size_t len =
        (size_t)snprintf(line, size, "hello 1 ttl_ms %" PRId64 " nodes", talk->plan.ttl_ms);
    for (unsigned i = 0; i < talk->plan.nodes; i++) {
        assert(strlen(talk->plan.node[i]) <= NODE_LEN_MAX);
        len += (size_t)snprintf(line + len, size - len, " %s", talk->plan.node[i]);
    }
    snprintf(line + len, size - len, "\n");
    const struct chaos_patience of_hello = patience(talk, HELLO_MS, 0);
    talk->greeted = ask(talk, line, &of_hello, false, &rest);
    if (talk->greeted == CHAOS_SAID_NO)
        talk->greeted = spoil(talk, line, "refused to begin");
    free(line);
}

struct chaos_talk *chaos_talk_start(const struct chaos_talk_plan *plan)
{
    struct chaos_talk *talk = calloc(1, sizeof(*talk));
    assert(plan->nodes > 0 && plan->ttl_ms > 0);
    if (talk == NULL)
        return NULL;
    talk->plan = *plan;
    if (!chaos_lines_start(&talk->lines, plan->command, plan->log_fd)) {
        int code = errno;
        free(talk);
        errno = code;
        return NULL;
    }
    greet(talk);
    return talk;
}

enum chaos_said chaos_talk_greeted(const struct chaos_talk *talk)
{
    return talk->greeted;
}

enum chaos_said chaos_talk_validity(struct chaos_talk *talk, int64_t *ret_deadline_ns)
{
    const struct chaos_patience soon = patience(talk, VALIDITY_MS, STOPPING_MS);
    const char *rest;
    uint64_t left_ms;
    int64_t asked_ns = rl_clock_now_ns();
    enum chaos_said said = ask(talk, "validity\n", &soon, true, &rest);
    if (said == CHAOS_SAID_NO ||
        (said == CHAOS_SAID_OK && !number(rest, RL_TTL_LIMIT_MS, &left_ms)))
        return spoil(talk, "validity", "said what is no answer");
    if (said != CHAOS_SAID_OK)
        return said;
    if (left_ms == 0)
        return take_reason(talk, "it has run out", CHAOS_SAID_GONE);
    *ret_deadline_ns = asked_ns + (int64_t)left_ms * RL_NS_PER_MS;
    return CHAOS_SAID_OK;
}

enum chaos_said chaos_talk_acquire(struct chaos_talk *talk, const char *name, int64_t wait_ms,
                                   int64_t *ret_deadline_ns, uint64_t *ret_token)
{
    char line[RL_LINE_MAX];
    const char *rest;
    uint64_t token = 0;
    const struct chaos_patience all = patience(talk, -1, 0);
    assert(strlen(name) + 64 < sizeof(line) && strpbrk(name, " \r\n") == NULL);
    snprintf(line, sizeof(line), "acquire %s %" PRId64 "\n", name, wait_ms);
    enum chaos_said said = ask(talk, line, &all, false, &rest);
    if (said != CHAOS_SAID_OK)
        return said;
    if (*rest != '\0' && !number(rest, UINT64_MAX, &token))
        return spoil(talk, line, "said what is no answer");
    int64_t deadline_ns = 0;
    said = chaos_talk_validity(talk, &deadline_ns);
    if (said == CHAOS_SAID_GONE) {
        said = chaos_talk_release(talk);
        return said == CHAOS_SAID_WRONG
                   ? said
                   : take_reason(talk, "held too late: it had run out", CHAOS_SAID_NO);
    }
    if (said != CHAOS_SAID_OK)
        return said;
    *ret_deadline_ns = deadline_ns;
    *ret_token = token;
    return CHAOS_SAID_OK;
}

/* Questions that end or extend a lock wait for masters, and get a little time after the run's
 * end. */
static enum chaos_said ask_masters(struct chaos_talk *talk, const char *line)
{
    const char *rest;
    const struct chaos_patience long_enough = patience(talk, -1, STOPPING_MS);
    enum chaos_said said = ask(talk, line, &long_enough, true, &rest);
    if (said == CHAOS_SAID_OK && *rest != '\0')
        return spoil(talk, line, "said what is no answer");
    return said;
}

enum chaos_said chaos_talk_extend(struct chaos_talk *talk, int64_t *ret_deadline_ns)
{
    enum chaos_said said = ask_masters(talk, "extend\n");
    return said == CHAOS_SAID_OK ? chaos_talk_validity(talk, ret_deadline_ns) : said;
}

enum chaos_said chaos_talk_release(struct chaos_talk *talk)
{
    return ask_masters(talk, "release\n");
}

bool chaos_talk_wrong(const struct chaos_talk *talk)
{
    return talk->wrong;
}

const char *chaos_talk_reason(const struct chaos_talk *talk)
{
    return talk->reason;
}

int chaos_talk_code(const struct chaos_talk *talk)
{
    return talk->code;
}

void chaos_talk_quit(struct chaos_talk *talk)
{
    if (talk == NULL)
        return;
    chaos_lines_say(&talk->lines, "quit\n");
    chaos_lines_end(&talk->lines);
    free(talk);
}
