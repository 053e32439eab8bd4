/* tally.c - see tally.h. */
#include "config_auto.h"

#include "engine/client/client.h"

#include "base/text_escape.h"
#include "kinds/name_set.h"

#include <assert.h>
#include <stdio.h>

static const char *const met[] = {
    [RL_TOLD_NOT_RENEWED] = "not renewed",
    [RL_TOLD_LOST] = "lost",
    [RL_TOLD_UNCONFIRMED] = "given up, and the release was not confirmed",
};
_Static_assert(sizeof(met) / sizeof(met[0]) == RL_TOLD, "one for each");

void rl_target_text(const struct rl_target *target, char *ret_text, size_t size)
{
    size_t at = 0, count = rl_names_count(target);
    redlock_bytes name = {.bytes = "", .len = 0};
    char first[120];
    (void)rl_names_next(target, &at, &name);
    rl_text_escape(first, sizeof(first), name.bytes, name.len);
    if (count > 1)
        snprintf(ret_text, size, "'%s' and %zu other%s", first, count - 1,
                 count > 2 ? "s" : "");
    else
        snprintf(ret_text, size, "'%s'", first);
}

static void tell(redlock *client, enum rl_told what, int64_t now_ns)
{
    struct rl_tally *tally = &client->tallies.of[what];
    assert(tally->count > 0 && what < RL_TOLD);
    if (tally->count == 1)
        rl_client_log(client, REDLOCK_LOG_WARNING, "%s was %s: %s", tally->name, met[what],
                      tally->text);
    else
        rl_client_log(client, REDLOCK_LOG_WARNING, "%u locks were %s, for example %s: %s",
                      tally->count, met[what], tally->name, tally->text);
    tally->count = 0;
    tally->again_ns = now_ns + RL_TOLD_AGAIN_NS;
    tally->turn++;
}

bool rl_tally_count(struct rl_tallies *tallies, enum rl_told what, int64_t now_ns)
{
    struct rl_tally *tally = &tallies->of[what];
    assert(what < RL_TOLD && now_ns > 0);
    return tally->count++ == 0;
}

void rl_tally_text(redlock *client, enum rl_told what, const struct rl_target *target,
                   const char *text, int64_t now_ns)
{
    struct rl_tally *tally = &client->tallies.of[what];
    assert(tally->count == 1);
    rl_target_text(target, tally->name, sizeof(tally->name));
    snprintf(tally->text, sizeof(tally->text), "%s", text);
    if (now_ns >= tally->again_ns)
        tell(client, what, now_ns);
}

void rl_tallies_tell(redlock *client, bool all, int64_t now_ns)
{
    for (enum rl_told what = 0; what < RL_TOLD; what++) {
        const struct rl_tally *tally = &client->tallies.of[what];
        if (tally->count > 0 && (all || now_ns >= tally->again_ns))
            tell(client, what, now_ns);
    }
}

int64_t rl_tallies_due_ns(const struct rl_tallies *tallies)
{
    int64_t due_ns = INT64_MAX;
    for (enum rl_told what = 0; what < RL_TOLD; what++) {
        const struct rl_tally *tally = &tallies->of[what];
        if (tally->count > 0)
            due_ns = rl_earlier_ns(due_ns, tally->again_ns);
    }
    return due_ns;
}
