-- Remove expired holds, 500 at most. What is left of them ends before all others, and counts for
-- nothing. Returns nil, or the type of foreign data, which is left alone.
local function tidy(set)
  local first = redis.pcall('ZRANGE', set, 0, 0, 'WITHSCORES')
  if first.err then
    return other_data(set, 'zset', first) or redis.call('ZRANGE', set, 0, 0)
  end
  if first[1] and not string.find(first[1], '^[rw]:%d+:') then
    return 'a sorted set'
  end
  if first[1] and tonumber(first[2]) <= now then
    local last = redis.call('ZRANGE', set, 499, 499, 'WITHSCORES')
    if last[1] and tonumber(last[2]) <= now then
      redis.call('ZREM', set, unpack(redis.call('ZRANGE', set, 0, 499)))
    else
      redis.call('ZREMRANGEBYSCORE', set, '-inf', string.format('%.0f', now))
    end
  end
end
