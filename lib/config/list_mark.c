/* list_mark.c - see list_mark.h. */
#include "config_auto.h"

#include "config/list_mark.h"

#include "base/duration.h"
#include "base/limits.h"
#include "base/text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DIGITS_MAX 13 /* of any number that is written */
#define DRIFT_MAX_PPM 999999
#define HASH_DIGITS 8
#define KEYS_WORD "keys2-"
#define STRICT_WORD "certified" /* behind the guard's: fencing strict */

/* By enum rl_guard. */
static const char *const guard_words[] = {"open", "guard", "marker", "strict"};

const char *rl_guard_word(int guard)
{
    static const char *const words[] = {"off", "on", "marker", "strict"};
    assert(guard >= RL_GUARD_OFF && guard <= RL_GUARD_STRICT);
    return words[guard];
}

uint32_t rl_node_mark(const struct rl_node_config *node)
{
    char address[RL_HOST_MAX + RL_UNIX_PATH_MAX + 32];
    int len =
        node->service ? snprintf(address, sizeof(address), "sentinel 1 %s/%d", node->service,
                                 node->db)
        : node->transport == RL_UNIX
            ? snprintf(address, sizeof(address), "%s?%d", node->path, node->db)
            : snprintf(address, sizeof(address), "%s:%d/%d", node->host, node->port, node->db);
    assert(len > 0 && (size_t)len < sizeof(address));
    return (uint32_t)rl_hash(address, (size_t)len);
}

void rl_list_mark_of(const struct rl_config *config, struct rl_list_mark *ret_mark)
{
    *ret_mark = (struct rl_list_mark){
        .nodes = config->node_count,
        .max_ttl_ms = config->max_ttl_ms,
        .drift_ppm = (int64_t)(config->drift_factor * 1e6 + 0.5),
        .guard = config->guard,
        .strict = config->fencing == REDLOCK_FENCING_STRICT,
    };
    for (unsigned i = 0; i < config->node_count; i++)
        ret_mark->addresses += rl_node_mark(&config->nodes[i]);
}

void rl_list_mark_write(const struct rl_list_mark *mark, char ret_text[RL_LIST_MARK_MAX + 1])
{
    if (mark->other[0]) {
        memcpy(ret_text, mark->other, sizeof(mark->other));
        return;
    }
    int len =
        snprintf(ret_text, RL_LIST_MARK_MAX + 1,
                 "n%u-ttl%" PRId64 "-%sdrift%" PRId64 "-%s%s-%08" PRIx32, mark->nodes,
                 mark->max_ttl_ms, mark->former ? "" : KEYS_WORD, mark->drift_ppm,
                 guard_words[mark->guard], mark->strict ? STRICT_WORD : "", mark->addresses);
    assert(len > 0 && len <= RL_LIST_MARK_MAX);
}

void rl_list_mark_compare(const struct rl_list_mark *its, const struct rl_list_mark *own,
                          char ret_text[RL_LIST_DIFFERENCE_MAX])
{
    const size_t size = RL_LIST_DIFFERENCE_MAX;
    char its_ttl[RL_DURATION_TEXT_MAX], own_ttl[RL_DURATION_TEXT_MAX];
    rl_duration_format(its->max_ttl_ms, its_ttl);
    rl_duration_format(own->max_ttl_ms, own_ttl);
    if (its->other[0])
        snprintf(ret_text, size, "it is of another version of this library");
    else if (its->former && !own->former)
        snprintf(ret_text, size, "it is of a former version, whose keys have other names");
    else if (its->nodes != own->nodes)
        snprintf(ret_text, size, "its list has %u masters, this one %u", its->nodes,
                 own->nodes);
    else if (its->max_ttl_ms != own->max_ttl_ms)
        snprintf(ret_text, size, "its max-ttl is %s, here %s", its_ttl, own_ttl);
    else if (its->guard != own->guard)
        snprintf(ret_text, size, "its guard is %s, here %s", rl_guard_word(its->guard),
                 rl_guard_word(own->guard));
    else if (its->strict != own->strict)
        snprintf(ret_text, size, "its fencing is %s, here %s", its->strict ? "strict" : "clock",
                 own->strict ? "strict" : "clock");
    else if (its->drift_ppm != own->drift_ppm)
        snprintf(ret_text, size, "its drift-factor is 0.%06" PRId64 ", here 0.%06" PRId64,
                 its->drift_ppm, own->drift_ppm);
    else
        snprintf(ret_text, size, "it names other masters, or other databases of them");
}

/* ---- reading ---------------------------------------------------------------------------- */

/* A word, decimal digits and a dash. */
static bool take_number(struct rl_cursor *cursor, const char *word, int64_t *ret_number)
{
    if (!rl_skip(cursor, word))
        return false;
    const char *dash = memchr(cursor->at, '-', (size_t)(cursor->end - cursor->at));
    if (!dash || dash - cursor->at > DIGITS_MAX)
        return false;
    *ret_number = rl_decimal(cursor->at, (size_t)(dash - cursor->at));
    cursor->at = dash + 1;
    return *ret_number >= 0;
}

static bool take_hash(struct rl_cursor *cursor, uint32_t *ret_hash)
{
    *ret_hash = 0;
    if (cursor->end - cursor->at != HASH_DIGITS)
        return false;
    for (; cursor->at < cursor->end; cursor->at++) {
        int digit = rl_hex_value(*cursor->at);
        if (digit < 0)
            return false;
        *ret_hash = *ret_hash << 4 | (uint32_t)digit;
    }
    return true;
}

/* What this version writes, and the former one. */
static bool read_own(struct rl_cursor cursor, struct rl_list_mark *ret_mark)
{
    int64_t nodes;
    *ret_mark = (struct rl_list_mark){.nodes = 0};
    if (!take_number(&cursor, "n", &nodes) || nodes < 1 || nodes > REDLOCK_NODES_MAX ||
        !take_number(&cursor, "ttl", &ret_mark->max_ttl_ms) ||
        ret_mark->max_ttl_ms > RL_TTL_LIMIT_MS)
        return false;
    ret_mark->former = !rl_skip(&cursor, KEYS_WORD);
    if (!take_number(&cursor, "drift", &ret_mark->drift_ppm) ||
        ret_mark->drift_ppm > DRIFT_MAX_PPM)
        return false;
    ret_mark->nodes = (unsigned)nodes;
    for (int i = RL_GUARD_OFF; i <= RL_GUARD_STRICT; i++) {
        if (!rl_skip(&cursor, guard_words[i]))
            continue;
        ret_mark->guard = i;
        ret_mark->strict = rl_skip(&cursor, STRICT_WORD);
        return rl_skip(&cursor, "-") && take_hash(&cursor, &ret_mark->addresses);
    }
    return false;
}

/* Digits, one or more, of any length. */
static bool skip_digits(struct rl_cursor *cursor)
{
    const char *begin = cursor->at;
    while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9')
        cursor->at++;
    return cursor->at > begin;
}

/* How the marks of all versions begin, and what else they consist of. */
static bool is_mark(struct rl_cursor cursor)
{
    if (cursor.end - cursor.at > RL_LIST_MARK_MAX || !rl_skip(&cursor, "n") ||
        !skip_digits(&cursor) || !rl_skip(&cursor, "-ttl") || !skip_digits(&cursor) ||
        !rl_skip(&cursor, "-") || cursor.at == cursor.end)
        return false;
    for (; cursor.at < cursor.end; cursor.at++) {
        char at = rl_lower(*cursor.at);
        if (at != '-' && !(at >= '0' && at <= '9') && !(at >= 'a' && at <= 'z'))
            return false;
    }
    return true;
}

/* R17: A mark of another version is another list. */
bool rl_list_mark_read(const char *text, size_t len, struct rl_list_mark *ret_mark)
{
    const struct rl_cursor cursor = {text, text + len};
    if (!is_mark(cursor))
        return false;
    if (!read_own(cursor, ret_mark)) {
        *ret_mark = (struct rl_list_mark){.nodes = 0};
        memcpy(ret_mark->other, text, len);
    }
    return true;
}
