/* old_client.c - see old_client.h. */
#include "config_auto.h"

#include "old_client.h"

#include "old_scripts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NONCE "0123456789abcdef"
#define RESERVE_MS "100" /* for which a lock is kept for its next waiter */

enum { WORDS_MAX = 8 };

struct request {
    const char *sha, *body;
    unsigned argc;
    const char *argv[WORDS_MAX]; /* how many keys, these, and the arguments */
};

static struct reply ask(struct masters *masters, unsigned node, const struct request *request)
{
    const char *argv[WORDS_MAX + 2] = {"EVALSHA", request->sha};
    size_t lens[WORDS_MAX + 2];
    memcpy(argv + 2, request->argv, sizeof(request->argv));
    for (unsigned i = 0; i < request->argc + 2; i++)
        lens[i] = strlen(argv[i]);
    return master_do_n(masters, node, request->argc + 2, argv, lens);
}

/* A master that does not know the script is taught it. The bytes are those of the digest. */
static bool says_yes(struct masters *masters, unsigned node, const struct request *request)
{
    struct reply reply = ask(masters, node, request);
    if (strncmp(reply.text, "NOSCRIPT", 8) == 0) {
        reply = master_do(masters, node, "SCRIPT", "LOAD", request->body, NULL);
        ck_assert_str_eq(reply.text, request->sha);
        reply = ask(masters, node, request);
    }
    ck_assert_msg(reply.type == '*' && strncmp(reply.text, NONCE " ", sizeof(NONCE)) == 0, "%s",
                  reply.text);
    return strcmp(reply.text, NONCE " 1") == 0;
}

static unsigned ask_all(struct masters *masters, const struct request *request)
{
    unsigned yes = 0;
    for (unsigned i = 0; i < masters->n; i++)
        yes |= (unsigned)says_yes(masters, i, request) << i;
    return yes;
}

/* The scripts that take and extend have the same words. */
static unsigned ask_with_ttl(struct masters *masters, const char *sha, const char *body,
                             const char *name, const char *token, int64_t ttl_ms)
{
    char ttl[24];
    snprintf(ttl, sizeof(ttl), "%" PRId64, ttl_ms);
    const struct request request = {sha, body, 5, {"1", name, NONCE, token, ttl}};
    return ask_all(masters, &request);
}

unsigned old_acquire(struct masters *masters, const char *name, const char *token,
                     int64_t ttl_ms)
{
    return ask_with_ttl(masters, OLD_ACQUIRE_SHA, old_acquire_body, name, token, ttl_ms);
}

unsigned old_extend(struct masters *masters, const char *name, const char *token,
                    int64_t ttl_ms)
{
    return ask_with_ttl(masters, OLD_EXTEND_SHA, old_extend_body, name, token, ttl_ms);
}

unsigned old_release(struct masters *masters, const char *name, const char *token)
{
    char queue[128];
    snprintf(queue, sizeof(queue), "%s:redlock:queue", name);
    const struct request request = {OLD_RELEASE_SHA, old_release_body, 6,
                                    {"2", name, queue, NONCE, token, RESERVE_MS}};
    return ask_all(masters, &request);
}

bool old_try(struct masters *masters, const char *name, const char *token, int64_t ttl_ms)
{
    unsigned yes = old_acquire(masters, name, token, ttl_ms);
    if ((unsigned)__builtin_popcount(yes) > masters->n / 2)
        return true;
    old_release(masters, name, token);
    return false;
}
