/* rights.c - see rights.h. Tests take each right away, and see what fails. */
#include "config_auto.h"

#include "redlock/rights.h"

#include "kinds/keys.h"
#include "kinds/fencing.h"
#include "kinds/lists.h"
#include "kinds/marker.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char *const words[RIGHTS_USES] = {"plain",      "reentrant", "fair",
                                               "read-write", "fenced",    "inspect",
                                               "status",     "wake-ups",  "connections",
                                               "init"};

/* Only where there is such a thing. */
enum condition { ALWAYS, WITH_DB, WITH_GUARD, WITHOUT_GUARD, WITH_MARKER, WITH_LISTS,
                 WITH_STRICT };

struct right {
    const char *right; /* a command; "~q", "&c": a key or a channel, by its letter; "~KEY" */
    const char *command;
    unsigned one, more; /* who needs it, on one master and on more */
    unsigned with;      /* and only if also one of these is wanted; 0: in any case */
    enum condition condition;
};

#define P RIGHTS_PLAIN
#define R RIGHTS_REENTRANT
#define F RIGHTS_FAIR
#define W RIGHTS_READ_WRITE
#define X RIGHTS_FENCED
#define I RIGHTS_INSPECT
#define WAKE RIGHTS_WAKE
#define CONNECT RIGHTS_CONNECT
#define INIT RIGHTS_INIT

static const struct right rights[] = {
    {"~n", "EVAL x 1 ~n", P, P, 0, ALWAYS},
    {"~q", "EVAL x 1 ~q", P, P, 0, ALWAYS},
    {"~B", "EVAL x 1 ~B", P | I, P | I, 0, ALWAYS},
    {"~h", "EVAL x 1 ~h", R | F, R, 0, ALWAYS},
    {"~s", "EVAL x 1 ~s", F, 0, 0, ALWAYS},
    {"~m", "EVAL x 1 ~m", W, W, 0, ALWAYS},
    {"~m", "EVAL x 1 ~m", I, I, 0, ALWAYS},
    {"~R", "EVAL x 1 ~R", W, W, 0, ALWAYS},
    {"~F", "EVAL x 1 ~F", X, X, 0, ALWAYS},
    {"~b", "EVAL x 1 ~b", W, 0, 0, ALWAYS},
    {"~c", "EVAL x 1 ~c", R | F, R, 0, ALWAYS},
    {"~C", "EVAL x 1 ~C", W, W, 0, ALWAYS},
    {"~Q", "EVAL x 1 ~Q", F | I, I, 0, ALWAYS},
    {"~O", "EVAL x 1 ~O", F, 0, 0, ALWAYS},
    {"~k", "EVAL x 1 ~k", X, 0, R | F, ALWAYS},
    {"~" RL_MARKER_KEY, "EVAL x 1 " RL_MARKER_KEY, P, P, 0, WITH_MARKER},
    {"~" RL_QUARANTINE_KEY, "EVAL x 1 " RL_QUARANTINE_KEY, P, P, 0, WITH_MARKER},
    {"+time", "TIME", P, P, 0, WITH_MARKER},
    {"~" RL_LISTS_KEY, "EVAL x 1 " RL_LISTS_KEY, P, P, 0, WITH_LISTS},
    {"+time", "TIME", P, P, 0, WITH_LISTS},
    {"+hgetall", "HGETALL ~n", P, P, 0, WITH_LISTS},
    {"+hset", "HSET ~n x x", P, P, 0, WITH_LISTS},
    {"+hdel", "HDEL ~n x", P, P, 0, WITH_LISTS},
    {"~" RL_FENCING_KEY, "EVAL x 1 " RL_FENCING_KEY, P, P, 0, WITH_STRICT},
    {"+info", "INFO", P, P, 0, WITH_STRICT},
    {"&w", "PUBLISH &w x|SUBSCRIBE &w", WAKE, WAKE, 0, ALWAYS},
    {"&c", "PUBLISH &c x|SUBSCRIBE &c", R | F | I, R | I, 0, ALWAYS},
    {"&C", "PUBLISH &C x|SUBSCRIBE &C", W | I, W | I, 0, ALWAYS},
    {"+eval", "EVAL x 0", P, P, 0, ALWAYS},
    {"+evalsha", "EVALSHA x 0", P, P, 0, ALWAYS},
    {"+info", "INFO", P, P, 0, WITH_GUARD},
    {"+info", "INFO", CONNECT, CONNECT, 0, WITHOUT_GUARD},
    {"+ping", "PING", CONNECT, CONNECT, 0, ALWAYS},
    {"+select", "SELECT 1", CONNECT, CONNECT, 0, WITH_DB},
    {"+client|setname", "CLIENT SETNAME x", CONNECT, CONNECT, 0, ALWAYS},
    {"+subscribe", "SUBSCRIBE;SUBSCRIBE &w", WAKE, WAKE, 0, ALWAYS},
    {"+unsubscribe", "UNSUBSCRIBE", WAKE, WAKE, 0, ALWAYS},
    {"+set", "SET ~n x", P, P, 0, ALWAYS},
    {"+get", "GET ~n", P, P, 0, ALWAYS},
    {"+del", "DEL ~n", P, P, 0, ALWAYS},
    {"+pttl", "PTTL ~n", P, P, 0, ALWAYS},
    {"+pexpire", "PEXPIRE ~n 1", P, P, 0, ALWAYS},
    {"+zadd", "ZADD ~q 1 x", WAKE | F, WAKE | W, 0, ALWAYS},
    {"+zrange", "ZRANGE ~q 0 1", WAKE | F, WAKE | W, 0, ALWAYS},
    {"+zrank", "ZRANK ~q x", WAKE | F, WAKE, 0, ALWAYS},
    {"+zrem", "ZREM ~q x", WAKE | F, WAKE | W, 0, ALWAYS},
    {"+time", "TIME", WAKE | F, WAKE | W, 0, ALWAYS},
    {"+publish", "PUBLISH;PUBLISH &w x", WAKE, WAKE, 0, ALWAYS},
    {"+exists", "EXISTS ~n", R | F | W, R | W, 0, ALWAYS},
    {"+hdel", "HDEL ~n x", W, 0, 0, ALWAYS},
    {"+hexists", "HEXISTS ~n x", R | F | W, R, 0, ALWAYS},
    {"+hget", "HGET ~n x", W, 0, 0, ALWAYS},
    {"+hgetall", "HGETALL ~n", R | F | W, R, 0, ALWAYS},
    {"+hincrby", "HINCRBY ~n x 1", R | F | W, R, 0, ALWAYS},
    {"+hkeys", "HKEYS ~n", W, 0, 0, ALWAYS},
    {"+hlen", "HLEN ~n", R | F | W, R, 0, ALWAYS},
    {"+hmget", "HMGET ~n x", R | F | W, R, 0, ALWAYS},
    {"+hset", "HSET ~n x x", R | F | W, R, 0, ALWAYS},
    {"+lindex", "LINDEX ~Q 0", F, 0, 0, ALWAYS},
    {"+llen", "LLEN ~Q", F, 0, 0, ALWAYS},
    {"+lrange", "LRANGE ~Q 0 1", F, 0, 0, ALWAYS},
    {"+lrem", "LREM ~Q 0 x", F, 0, 0, ALWAYS},
    {"+persist", "PERSIST ~h", F, 0, 0, ALWAYS},
    {"+pexpireat", "PEXPIREAT ~n 1", F, W, 0, ALWAYS},
    {"+rename", "RENAME ~R ~R", W, 0, 0, ALWAYS},
    {"+rpush", "RPUSH ~Q x", F, 0, 0, ALWAYS},
    {"+sadd", "SADD ~h x", R | F, R, 0, ALWAYS},
    {"+sadd", "SADD ~R x", W, 0, 0, ALWAYS},
    {"+scard", "SCARD ~h", R | F, R, 0, ALWAYS},
    {"+scard", "SCARD ~R", W, 0, 0, ALWAYS},
    {"+sismember", "SISMEMBER ~h x", R | F, R, 0, ALWAYS},
    {"+sismember", "SISMEMBER ~R x", W, 0, 0, ALWAYS},
    {"+srem", "SREM ~h x", R | F, R, 0, ALWAYS},
    {"+srem", "SREM ~R x", W, 0, 0, ALWAYS},
    {"+type", "TYPE ~n", R | F | W, R | W, 0, ALWAYS},
    {"+zcard", "ZCARD ~O", F, 0, 0, ALWAYS},
    {"+zremrangebyscore", "ZREMRANGEBYSCORE ~n 0 1", 0, W, 0, ALWAYS},
    {"+zrevrange", "ZREVRANGE ~n 0 1", 0, W, 0, ALWAYS},
    {"+zscore", "ZSCORE ~O x", F, 0, 0, ALWAYS},
    {"+zscore", "ZSCORE ~n x", 0, W, 0, ALWAYS},
    {"+llen", "LLEN ~Q", I, I, 0, ALWAYS},
    {"+zcard", "ZCARD ~q", I, I, 0, ALWAYS},
    {"+pubsub|numsub", "PUBSUB NUMSUB x", I, I, 0, ALWAYS},
    {"+hget", "HGET ~n x", I, 0, R | F | W, ALWAYS},
    {"+hget", "HGET ~n x", 0, I, R, ALWAYS},
    {"+hvals", "HVALS ~n", I, 0, R | F | W, ALWAYS},
    {"+hvals", "HVALS ~n", 0, I, R, ALWAYS},
    {"+lrange", "LRANGE ~Q 0 1", I, I, 0, ALWAYS},
    {"+srandmember", "SRANDMEMBER ~h", I, I, R | F | W, ALWAYS},
    {"+client|list", "CLIENT LIST", I, I, R | F | W, ALWAYS},
    {"+client|list", "CLIENT LIST", RIGHTS_STATUS, RIGHTS_STATUS, 0, ALWAYS},
    {"+config|get", "CONFIG GET x", RIGHTS_STATUS, RIGHTS_STATUS, 0, WITHOUT_GUARD},
    {"+acl|dryrun", "ACL DRYRUN x x", RIGHTS_STATUS, RIGHTS_STATUS, 0, WITHOUT_GUARD},
    {"~" RL_MARKER_KEY, "EVAL x 1 " RL_MARKER_KEY, INIT, INIT, 0, ALWAYS},
    {"~" RL_QUARANTINE_KEY, "EVAL x 1 " RL_QUARANTINE_KEY, INIT, INIT, 0, ALWAYS},
    {"~" RL_LISTS_KEY, "EVAL x 1 " RL_LISTS_KEY, INIT, INIT, 0, ALWAYS},
    {"~" RL_FENCING_KEY, "EVAL x 1 " RL_FENCING_KEY, INIT, INIT, 0, ALWAYS},
    {"+exists", "EXISTS " RL_MARKER_KEY, INIT, INIT, 0, ALWAYS},
    {"+dbsize", "DBSIZE", INIT, INIT, 0, ALWAYS},
};
_Static_assert(sizeof(rights) / sizeof(rights[0]) <= RIGHTS_MAX, "RIGHTS_MAX");

const char *rights_word(unsigned number)
{
    assert(number < RIGHTS_USES);
    return words[number];
}

static unsigned use_of(const char *word, size_t len)
{
    if (len == 3 && memcmp(word, "all", 3) == 0)
        return RIGHTS_ALL;
    for (unsigned i = 0; i < RIGHTS_USES; i++) {
        if (!(RIGHTS_ALWAYS & ~P & 1U << i) && strlen(words[i]) == len &&
            memcmp(words[i], word, len) == 0)
            return 1U << i;
    }
    return 0;
}

unsigned rights_parse(const char *list)
{
    unsigned uses = RIGHTS_ALWAYS;
    for (;;) {
        size_t len = strcspn(list, ",");
        unsigned use = use_of(list, len);
        if (!use)
            return 0;
        uses |= use;
        if (!list[len])
            return uses;
        list += len + 1;
    }
}

bool rights_possible(unsigned uses, unsigned masters)
{
    return !(uses & RIGHTS_FAIR) || uses == RIGHTS_ALL || masters == 1;
}

unsigned rights_count(void)
{
    return sizeof(rights) / sizeof(rights[0]);
}

unsigned rights_needed(unsigned number, const struct rights_use *use)
{
    const struct right *right = &rights[number];
    if ((right->condition == WITH_DB && !use->db) ||
        (right->condition == WITH_GUARD && !use->guard) ||
        (right->condition == WITHOUT_GUARD && use->guard) ||
        (right->condition == WITH_MARKER && !use->marker) ||
        (right->condition == WITH_LISTS && !use->lists) ||
        (right->condition == WITH_STRICT && !use->strict) ||
        (right->with && !(use->uses & right->with)))
        return 0;
    return use->uses & (use->masters > 1 ? right->more : right->one);
}

struct rights_text rights_text(unsigned number)
{
    const struct rl_target target = {.name = "NAME", .name_len = 4, .owner = ""};
    const char *right = rights[number].right;
    struct rights_text shown;
    char key[RL_KEY_MAX];
    if (*right == '+' || right[2] != '\0')
        snprintf(shown.text, sizeof(shown.text), "%s", right);
    else if (strcmp(right, "&w") == 0)
        snprintf(shown.text, sizeof(shown.text), "&redlock:wake:*");
    else
        snprintf(shown.text, sizeof(shown.text), "%c%.*s%s", *right,
                 (int)rl_key_text(right[1], &target, key), key, *right == '&' ? "*" : "");
    return shown;
}

bool rights_spared(unsigned number)
{
    const char *right = rights[number].right;
    return right[0] == '&' || strcmp(right, "~B") == 0;
}

const char *rights_command(unsigned number)
{
    return rights[number].command;
}

bool rights_hidden(unsigned number, const char *may)
{
    const struct right *right = &rights[number];
    for (unsigned i = 0; i < rights_count(); i++) {
        bool on_key = rights[i].right[0] == '~';
        bool on_channel = rights[i].right[0] == '&' && may[number] == 'n';
        if ((on_key || on_channel) && may[i] == '0' && right->right[0] == '+' &&
            strstr(right->command, rights[i].right))
            return true;
    }
    return false;
}
