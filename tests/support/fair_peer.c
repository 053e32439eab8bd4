/* fair_peer.c - see fair_peer.h. The scripts are written after what Redisson 3.50 and 4.7 do
 * to the keys. Stale waiters at the queue's front are taken out. When a waiter takes the lock,
 * its wait is subtracted from every time that is left. When one gives up, it is subtracted
 * from those behind it. */
#include "config_auto.h"

#include "fair_peer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* KEYS: the lock, the queue, the times, the channel. ARGV: owner, lease, wait, now. */
#define STALE                                                                                  \
    "local head = redis.call('LINDEX', KEYS[2], 0) "                                           \
    "while head do "                                                                           \
    "  local till = redis.call('ZSCORE', KEYS[3], head) "                                      \
    "  if not till or tonumber(till) > tonumber(ARGV[4]) then break end "                      \
    "  redis.call('ZREM', KEYS[3], head) redis.call('LPOP', KEYS[2]) "                         \
    "  head = redis.call('LINDEX', KEYS[2], 0) "                                               \
    "end "

#define TAKE                                                                                   \
    STALE                                                                                      \
    "if redis.call('EXISTS', KEYS[1]) == 0 and (not head or head == ARGV[1]) then "            \
    "  redis.call('LPOP', KEYS[2]) redis.call('ZREM', KEYS[3], ARGV[1]) "                      \
    "  for _, who in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do "                         \
    "    redis.call('ZINCRBY', KEYS[3], -ARGV[3], who) "                                       \
    "  end "                                                                                   \
    "  redis.call('HSET', KEYS[1], ARGV[1], 1) redis.call('PEXPIRE', KEYS[1], ARGV[2]) "       \
    "  return 1 "                                                                              \
    "end "                                                                                     \
    "if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then "                                    \
    "  redis.call('HINCRBY', KEYS[1], ARGV[1], 1) redis.call('PEXPIRE', KEYS[1], ARGV[2]) "    \
    "  return 1 "                                                                              \
    "end "

static const char try_script[] = TAKE "return 0";
static const char lock_script[] =
    TAKE "if redis.call('ZSCORE', KEYS[3], ARGV[1]) then return 0 end "
         "local last = redis.call('LINDEX', KEYS[2], -1) "
         "local till = last and last ~= ARGV[1] and redis.call('ZSCORE', KEYS[3], last) "
         "if not till then till = redis.call('PTTL', KEYS[1]) + ARGV[4] end "
         "if redis.call('ZADD', KEYS[3], till + ARGV[3], ARGV[1]) == 1 then "
         "  redis.call('RPUSH', KEYS[2], ARGV[1]) "
         "end "
         "return 0";

static const char leave_script[] =
    "local behind = false "
    "for _, who in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do "
    "  if behind then redis.call('ZINCRBY', KEYS[3], -ARGV[3], who) end "
    "  behind = behind or who == ARGV[1] "
    "end "
    "redis.call('ZREM', KEYS[3], ARGV[1]) redis.call('LREM', KEYS[2], 0, ARGV[1]) "
    "return 1";

static const char unlock_script[] =
    STALE "local count = -1 "
          "if redis.call('EXISTS', KEYS[1]) == 0 then "
          "  count = 0 "
          "elseif redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then "
          "  count = redis.call('HINCRBY', KEYS[1], ARGV[1], -1) "
          "  redis.call('PEXPIRE', KEYS[1], ARGV[2]) "
          "end "
          "if count ~= 0 then return count > 0 and 0 or -1 end "
          "redis.call('DEL', KEYS[1]) "
          "if head then redis.call('PUBLISH', KEYS[4] .. ':' .. head, '0') end "
          "return 1";

int64_t fair_wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

const char *fair_peer_key(char letter, const char *name, char ret[FAIR_KEY_MAX])
{
    bool braces = !strchr(name, '{');
    const char *prefix = letter == 'Q'   ? "redisson_lock_queue:"
                         : letter == 'O' ? "redisson_lock_timeout:"
                                         : "redisson_lock__channel:";
    snprintf(ret, FAIR_KEY_MAX, "%s%s%s%s", prefix, braces ? "{" : "", name, braces ? "}" : "");
    return ret;
}

const char *fair_peer_channel(const char *name, const char *owner, char ret[FAIR_KEY_MAX])
{
    size_t len = strlen(fair_peer_key('c', name, ret));
    snprintf(ret + len, FAIR_KEY_MAX - len, ":%s", owner);
    return ret;
}

static int64_t run(const struct fair_peer *peer, const char *script)
{
    char queue[FAIR_KEY_MAX], times[FAIR_KEY_MAX], channel[FAIR_KEY_MAX];
    char lease[24], wait[24], now[24];
    snprintf(lease, sizeof(lease), "%" PRId64, peer->lease_ms);
    snprintf(wait, sizeof(wait), "%" PRId64, peer->wait_ms);
    snprintf(now, sizeof(now), "%" PRId64, fair_wall_ms());
    fair_peer_key('c', peer->name, channel);
    struct wire_item told =
        talk_do(peer->talk, "EVAL", script, "4", peer->name,
                fair_peer_key('Q', peer->name, queue), fair_peer_key('O', peer->name, times),
                channel, peer->owner, lease, wait, now, (char *)NULL);
    if (told.type != ':')
        suite_die("Redisson's script: %.*s", (int)told.len, told.bytes);
    return told.number;
}

bool fair_peer_locks(const struct fair_peer *peer)
{
    return run(peer, lock_script) == 1;
}

bool fair_peer_tries(const struct fair_peer *peer)
{
    return run(peer, try_script) == 1;
}

void fair_peer_leaves(const struct fair_peer *peer)
{
    run(peer, leave_script);
}

int64_t fair_peer_unlocks(const struct fair_peer *peer)
{
    return run(peer, unlock_script);
}
