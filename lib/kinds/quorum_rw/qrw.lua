-- A read-write lock of several masters is a sorted set on each. A member is "r" or "w", the
-- length of its owner, the owner and the token, as in "r:5:alice:TOKEN"; its score is the first
-- ms of this server's clock at which it is over. While a writer is in the set, everybody in it
-- is the same owner: no script puts anything else in.
local me = #ARGV[2] .. ':' .. ARGV[2] .. ':' .. ARGV[3]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function owner_of(member)
  local head, len = string.match(member, '^([rw]:(%d+):)')
  return head and string.sub(member, #head + 1, #head + len) or member
end

-- Take out whoever is over. Returns nil, or what else stands there, which is left alone.
local function tidy(set)
  local first = redis.pcall('ZRANGE', set, 0, 0, 'WITHSCORES')
  if first.err then
    return other_data(set, 'zset', first) or redis.call('ZRANGE', set, 0, 0)
  end
  if first[1] and not string.find(first[1], '^[rw]:%d+:') then
    return 'a sorted set'
  end
  if first[1] and tonumber(first[2]) <= now then
    redis.call('ZREMRANGEBYSCORE', set, '-inf', string.format('%.0f', now))
  end
end

-- The set lives for as long as the last one in it. A score of somebody else's may be no time: a
-- script that failed on it would have done what it is for, and not say so.
local function settle(set)
  local last = redis.call('ZRANGE', set, -1, -1, 'WITHSCORES')
  if last[2] then
    local ends = math.min(tonumber(last[2]), 1e15)
    redis.call('PEXPIREAT', set, string.format('%.0f', ends))
  end
end

-- Put that member in, to last for at least so long; upwards only.
local function put(set, member, ms)
  local ends, had = now + ms + 1, redis.call('ZSCORE', set, member)
  if not had or tonumber(had) < ends then
    if had then
      settle(set) -- a write that a master without memory allows; and behind one, any other
    end
    redis.call('ZADD', set, string.format('%.0f', ends), member)
    settle(set)
  end
end
