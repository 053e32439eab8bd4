-- The set lives for as long as the last one in it. A score of somebody else's may be no time: a
-- script that failed on it would have done what it is for, and not say so.
local function settle(set)
  local last = redis.call('ZRANGE', set, -1, -1, 'WITHSCORES')
  if last[2] then
    local ends = math.min(tonumber(last[2]), 1e15)
    redis.call('PEXPIREAT', set, string.format('%.0f', ends))
  end
end

-- Put that member in, to last for at least so long; upwards only. A master without memory allows
-- the write of settle(), and behind one, any other.
local function put(set, member, ms, known)
  local ends, had = now + ms + 1, known or redis.call('ZSCORE', set, member)
  if not had or tonumber(had) < ends then
    local score = string.format('%.0f', ends)
    if not had or type(redis.pcall('ZADD', set, score, member)) == 'table' then
      if had then
        settle(set)
      end
      redis.call('ZADD', set, score, member)
    end
    settle(set)
  end
end
