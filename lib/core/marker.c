/* marker.c - see marker.h. Core. */
#include "config_auto.h"

#include "core/marker.h"

#include "base/limits.h"
#include "base/times.h"
#include "core/statement.h"

#include <assert.h>
#include <string.h>

/* No window of any client is as long: a key that lives longer was set by hand. */
#define LEFT_MAX_MS (4 * RL_TTL_LIMIT_MS)

/* R9: Every half of max-ttl. */
int64_t rl_marker_check_ns(int64_t max_ttl_ns)
{
    assert(max_ttl_ns > 0);
    return max_ttl_ns / 2;
}

static const char *reason(const char *word)
{
    static const struct {
        const char *word, *text;
    } table[] = {
        {"missing", "it has no marker: it was emptied, lost it in a restart, or is new"},
        {"moved", "its keys are those of another database"},
        {"restarted", "it was restarted, or has another server's keys"},
        {"resynced", "it was a replica"},
        {"strange", "what stands in libredlock:quarantine is another program's, or was set by hand"},
        {"failover", "another server was the master before: there was a failover"},
        {"termless", "its marker is of clients that ask no Sentinels"},
        {"forgotten", "its Sentinels have forgotten which server was the last master"},
        {"init", "somebody set libredlock:quarantine by hand, or another program did"},
    };
    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(table[i].word, word) == 0)
            return table[i].text;
    }
    return "another client found its keys lost";
}

static const char *unfit(const struct rl_marker_reading *reading, const char *run_id)
{
    if (strcmp(reading->why, "replica") == 0)
        return "is a replica, as its script says, so it has no vote";
    if (strcmp(reading->why, "foreign") == 0)
        return "libredlock:marker is another program's, so lost keys could not be seen: no vote";
    if (strcmp(reading->why, "later") == 0)
        return "knows of a later failover than its Sentinels: no vote until they do";
    if (!reading->run_id[0])
        return "names no run_id inside of a script, so its marker proves nothing: no vote";
    if (strcmp(reading->run_id, run_id) != 0)
        return "two servers answer under this name: INFO and the marker are not of one";
    return NULL;
}

/* Its fifth word, as `@7`. Digits that are no term are a later one than any. */
static uint64_t term_of(const char *text)
{
    char digits[RL_MARKER_TEXT_MAX];
    uint64_t term;
    for (unsigned words = 0; words < 4 && text; words++) {
        text = strchr(text, ' ');
        text += text != NULL;
    }
    if (!text || text[0] != '@')
        return 0;
    size_t len = 0;
    for (text++; *text >= '0' && *text <= '9'; text++)
        digits[len++] = *text;
    digits[len] = '\0';
    return rl_term_parse(digits, &term) ? term : RL_TERM_MAX;
}

/* R9, R22: A quarantine is over when it is over by both clocks. */
enum rl_marker_says rl_marker_learn(struct rl_marker *marker,
                                    const struct rl_marker_reading *reading, const char *run_id,
                                    int64_t window_ns, int64_t now_ns)
{
    assert(window_ns > 0 && now_ns > 0 && marker->until_ns >= 0);
    assert(reading->left_ms >= -1);
    assert(memchr(reading->text, '\0', sizeof(reading->text)));
    marker->read_ns = now_ns;
    memcpy(marker->text, reading->text, sizeof(marker->text));
    marker->term = term_of(marker->text);
    marker->why = unfit(reading, run_id);
    if (marker->why)
        return RL_MARKER_UNFIT;
    bool endless = reading->left_ms < 0 || reading->left_ms > LEFT_MAX_MS;
    int64_t left_ns = endless ? INT64_MAX : reading->left_ms * RL_NS_PER_MS;
    int64_t wait_ns = rl_earlier_ns(left_ns, window_ns);
    if (left_ns > 0)
        marker->until_ns = rl_later_ns(marker->until_ns, now_ns + wait_ns);
    if (left_ns == 0 && now_ns >= marker->until_ns)
        return RL_MARKER_FREE;
    marker->why = reason(reading->why);
    marker->ends_ns = endless ? INT64_MAX : now_ns + left_ns;
    marker->ends_ns = rl_later_ns(marker->ends_ns, marker->until_ns);
    assert(marker->until_ns > now_ns);
    return RL_MARKER_QUARANTINED;
}
