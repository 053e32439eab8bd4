/* old_scripts.h - scripts of plain locks as the first version sent them, to the byte, and their
 * digests. */
#ifndef TEST_OLD_SCRIPTS_H
#define TEST_OLD_SCRIPTS_H

/* clang-format off */
#define OTHER_DATA                                                                             \
    "local function other_data(name, expected, failed)\n"                                      \
    "  if failed and not string.find(failed.err, '^WRONGTYPE') then\n"                         \
    "    return nil\n"                                                                         \
    "  end\n"                                                                                  \
    "  local there = redis.call('TYPE', name).ok\n"                                            \
    "  if there ~= expected and there ~= 'none' then\n"                                        \
    "    return there == 'zset' and 'a sorted set' or 'a ' .. there\n"                         \
    "  end\n"                                                                                  \
    "end\n"

#define HOLDER_OF                                                                              \
    "local function holder_of(lock)\n"                                                         \
    "  local holder = redis.pcall('GET', lock)\n"                                              \
    "  if type(holder) == 'table' and not other_data(lock, 'string', holder) then\n"           \
    "    redis.call('GET', lock) -- it failed for another reason\n"                            \
    "  end\n"                                                                                  \
    "  return holder\n"                                                                        \
    "end\n"

static const char old_acquire_body[] =
    OTHER_DATA
    "local function other_kind(lock, failed)\n"
    "  local what = other_data(lock, 'string', failed) or redis.call('GET', lock)\n"
    "  if what == 'a hash' then\n"
    "    return 'a hash (a reentrant, fair or read-write lock, or data)'\n"
    "  end\n"
    "  return what == 'a sorted set' and 'a sorted set (a read-write lock, or data)' or what\n"
    "end\n"
    "if redis.call('SET', KEYS[1], ARGV[2], 'NX', 'PX', ARGV[3]) then\n"
    "  return {ARGV[1], 1}\n"
    "end\n"
    "local left, holder = redis.call('PTTL', KEYS[1]), redis.pcall('GET', KEYS[1])\n"
    "if type(holder) == 'table' then\n"
    "  return {ARGV[1], 3, left, other_kind(KEYS[1], holder)}\n"
    "end\n"
    "return {ARGV[1], 0, left, string.sub(holder, 1, 512)}\n";

static const char old_extend_body[] =
    OTHER_DATA HOLDER_OF
    "if holder_of(KEYS[1]) ~= ARGV[2] then\n"
    "  return {ARGV[1], 0}\n"
    "end\n"
    "if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then\n"
    "  redis.call('PEXPIRE', KEYS[1], ARGV[3])\n"
    "end\n"
    "return {ARGV[1], 1}\n";

static const char old_release_body[] =
    OTHER_DATA HOLDER_OF
    "local function hand_on(lock, queue, ms)\n"
    "  for _ = 1, 1000 do\n"
    "    local first = redis.pcall('ZRANGE', queue, 0, 0)\n"
    "    if first.err or not first[1] then\n"
    "      return\n"
    "    end\n"
    "    if redis.pcall('ZREM', queue, first[1]) ~= 1 then\n"
    "      return\n"
    "    end\n"
    "    local heard = redis.pcall('PUBLISH', 'redlock:wake:' .. "
    "string.sub(first[1], 1, 36), first[1])\n"
    "    if type(heard) ~= 'number' then\n"
    "      return\n"
    "    end\n"
    "    if heard > 0 then\n"
    "      redis.call('SET', lock, 'redlock:next:' .. first[1], 'PX', ms)\n"
    "      return\n"
    "    end\n"
    "  end\n"
    "end\n"
    "local holder = holder_of(KEYS[1])\n"
    "local mine = holder == ARGV[2]\n"
    "if mine then\n"
    "  redis.call('DEL', KEYS[1])\n"
    "end\n"
    "if ARGV[3] ~= '0' and (mine or not holder) then\n"
    "  hand_on(KEYS[1], KEYS[2], ARGV[3])\n"
    "end\n"
    "return {ARGV[1], mine and 1 or 0}\n";
/* clang-format on */

#define OLD_ACQUIRE_SHA "8cf9fa168c17989c44105f35cf4a4ebff0379d0a"
#define OLD_EXTEND_SHA "a7c65705e7bb020edbde3b6c0f82974780619847"
#define OLD_RELEASE_SHA "88a125efb387e2876c0f28fd405aa2bcf5ea3bbc"

#endif
