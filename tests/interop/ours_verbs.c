/* ours_verbs.c - what the suite can ask of the library, one call each. */
#include "config_auto.h"

#include "ours.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(char *ret_answer, const char *word, int code)
{
    (void)snprintf(ret_answer, OURS_ANSWER, "%s %s: %s", word, redlock_err_name(code),
                   redlock_strerror(code));
}

/* What came of a call: released, lost before, or neither. */
static void say_result(char *ret_answer, int code)
{
    if (code == 0)
        (void)snprintf(ret_answer, OURS_ANSWER, "ok");
    else
        say(ret_answer, code == REDLOCK_EEXPIRED ? "gone" : "no", code);
}

static const struct kind {
    const char *word;
    int kind;
    int fenced;
} kinds[] = {
    {"plain", REDLOCK_PLAIN, 0},      {"reentrant", REDLOCK_REENTRANT, 0},
    {"fair", REDLOCK_FAIR, 0},        {"read", REDLOCK_READ, 0},
    {"write", REDLOCK_WRITE, 0},      {"fenced", REDLOCK_REENTRANT, 1},
    {"fenced-fair", REDLOCK_FAIR, 1}, {NULL, -1, 0},
};

static const struct kind *kind_named(const char *word)
{
    const struct kind *kind = kinds;
    while (kind->word && strcmp(word, kind->word) != 0)
        kind++;
    return kind;
}

static int kind_of(const char *word)
{
    return kind_named(word)->kind;
}

/* The newest hold of that name, and of that kind: a writer may be a reader, too. */
static struct ours_hold *find(struct ours_actor *actor, const char *name, int kind)
{
    for (unsigned i = actor->held; i > 0; i--) {
        struct ours_hold *hold = &actor->hold[i - 1];
        if (strcmp(hold->name, name) == 0 && (kind < 0 || hold->kind == kind))
            return hold;
    }
    return NULL;
}

/* Names that are parted by commas are taken together. */
static int take(redlock *client, const char *name, const redlock_options *options,
                redlock_lock **ret_lock)
{
    redlock_bytes names[OURS_WORDS];
    size_t count = 0;
    if (!strchr(name, ','))
        return redlock_try(client, name, options, ret_lock);
    for (const char *at = name; at && count < OURS_WORDS; count++) {
        size_t len = strcspn(at, ",");
        names[count] = (redlock_bytes){at, len};
        at = at[len] ? at + len + 1 : NULL;
    }
    return redlock_try_names_n(client, names, count, options, ret_lock);
}

static void say_token(const struct ours_hold *hold, char *ret_answer)
{
    (void)snprintf(ret_answer, OURS_ANSWER, "ok %llu",
                   (unsigned long long)redlock_fencing_token(hold->lock));
}

/* acquire NAME WAIT_MS KIND [LEASE_MS]; without a lease it is renewed until it is released. */
static void acquire(struct ours_actor *actor, int count, char **words, char *ret_answer)
{
    struct ours_hold *hold = &actor->hold[actor->held];
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.kind = kind_of(words[3]);
    options.fenced = kind_named(words[3])->fenced;
    options.wait_ms = strtoll(words[2], NULL, 10);
    options.owner = actor->owner[0] ? actor->owner : NULL;
    options.ttl_ms = count > 4 ? strtoll(words[4], NULL, 10) : 0;
    options.auto_renew = count <= 4;
    if (actor->held == OURS_HOLDS || strlen(words[1]) >= sizeof(hold->name)) {
        (void)snprintf(ret_answer, OURS_ANSWER, "no room");
        return;
    }
    int code = take(actor->client, words[1], &options, &hold->lock);
    if (code != 0) {
        if (code == REDLOCK_EHELD)
            (void)snprintf(ret_answer, OURS_ANSWER, "no held");
        else
            say(ret_answer, "no", code);
        return;
    }
    (void)snprintf(hold->name, sizeof(hold->name), "%s", words[1]);
    hold->kind = options.kind;
    actor->held++;
    if (options.fenced)
        say_token(hold, ret_answer);
    else
        (void)snprintf(ret_answer, OURS_ANSWER, "ok");
}

static void release(struct ours_actor *actor, struct ours_hold *hold, char *ret_answer)
{
    say_result(ret_answer, redlock_release(hold->lock));
    actor->held--;
    size_t behind = (size_t)(&actor->hold[actor->held] - hold);
    memmove(hold, hold + 1, behind * sizeof(*hold));
}

static void validity(const struct ours_hold *hold, char *ret_answer)
{
    long long left_ms = (long long)redlock_validity_ms(hold->lock);
    if (left_ms > 0)
        (void)snprintf(ret_answer, OURS_ANSWER, "ok %lld", left_ms);
    else
        (void)snprintf(ret_answer, OURS_ANSWER, "gone");
}

static void answer_of_hold(struct ours_actor *actor, int count, char **words, char *ret_answer)
{
    struct ours_hold *hold = find(actor, words[1], count > 2 ? kind_of(words[2]) : -1);
    if (!hold)
        (void)snprintf(ret_answer, OURS_ANSWER, "gone: no hold of that name");
    else if (strcmp(words[0], "release") == 0)
        release(actor, hold, ret_answer);
    else if (strcmp(words[0], "extend") == 0)
        say_result(ret_answer, redlock_extend(hold->lock, 0, NULL));
    else if (strcmp(words[0], "token") == 0)
        say_token(hold, ret_answer);
    else
        validity(hold, ret_answer);
}

/* count, held or left NAME KIND: as the masters see the actor. */
static void look(struct ours_actor *actor, char **words, char *ret_answer)
{
    redlock_lock_info info = REDLOCK_LOCK_INFO_INIT(NULL, 0, NULL, 0);
    int kind = kind_of(words[2]);
    int code = redlock_inspect_n(actor->client, words[1], strlen(words[1]),
                                 actor->owner[0] ? actor->owner : NULL, &info);
    unsigned count = kind == REDLOCK_READ    ? info.own_read
                     : kind == REDLOCK_WRITE ? info.own_write
                                             : info.own_exclusive;
    long long left_ms = (long long)(info.held ? info.held_ms : -2);
    if (code != 0)
        say(ret_answer, "no", code);
    else if (strcmp(words[0], "count") == 0)
        (void)snprintf(ret_answer, OURS_ANSWER, "ok %u", count);
    else if (strcmp(words[0], "held") == 0)
        (void)snprintf(ret_answer, OURS_ANSWER, "ok %d", count > 0);
    else
        (void)snprintf(ret_answer, OURS_ANSWER, "ok %lld", left_ms);
}

/* vote INDEX: does that master have a vote, and if not, why? */
static void say_vote(redlock *client, const char *index, char *ret_answer)
{
    redlock_node_status nodes[REDLOCK_NODES_MAX];
    redlock_status_report status = REDLOCK_STATUS_INIT(nodes, REDLOCK_NODES_MAX);
    unsigned long at = strtoul(index, NULL, 10);
    (void)redlock_get_status(client, &status);
    if (at >= status.node_count)
        (void)snprintf(ret_answer, OURS_ANSWER, "no such master");
    else if (nodes[at].state == REDLOCK_NODE_READY)
        (void)snprintf(ret_answer, OURS_ANSWER, "ok ready");
    else
        (void)snprintf(ret_answer, OURS_ANSWER, "ok %s %s",
                       nodes[at].state == REDLOCK_NODE_GUARDED ? "guarded" : "away",
                       nodes[at].text);
}

void ours_answer(struct ours_actor *actor, int count, char **words, char *ret_answer)
{
    const char *verb = words[0];
    (void)snprintf(ret_answer, OURS_ANSWER, "no such verb");
    if (count < 2)
        return;
    if (strcmp(verb, "acquire") == 0 && count >= 4) {
        acquire(actor, count, words, ret_answer);
    } else if (strcmp(verb, "release") == 0 || strcmp(verb, "extend") == 0 ||
               strcmp(verb, "token") == 0 || strcmp(verb, "validity") == 0) {
        answer_of_hold(actor, count, words, ret_answer);
    } else if (count > 2 && (strcmp(verb, "count") == 0 || strcmp(verb, "held") == 0 ||
                             strcmp(verb, "left") == 0)) {
        look(actor, words, ret_answer);
    } else if (strcmp(verb, "force") == 0) {
        int code = redlock_force_release_n(actor->client, words[1], strlen(words[1]),
                                           REDLOCK_DEFAULT, NULL);
        say_result(ret_answer, code);
    } else if (strcmp(verb, "vote") == 0) {
        say_vote(actor->client, words[1], ret_answer);
    } else if (count > 3 && (strcmp(verb, "pairs") == 0 || strcmp(verb, "callbacks") == 0)) {
        ours_pairs(actor->client, strcmp(verb, "pairs") == 0, words, ret_answer);
    } else if (strcmp(verb, "owner") == 0) {
        /* "-": the thread itself. */
        const char *owner = strcmp(words[1], "-") == 0 ? "" : words[1];
        (void)snprintf(actor->owner, sizeof(actor->owner), "%s", owner);
        (void)snprintf(ret_answer, OURS_ANSWER, "ok");
    }
}
