-- The set lives as long as its last member. A foreign score may be no time, so it is limited:
-- otherwise the script would fail here after its work is done.
local function settle(set)
  local last = redis.call('ZRANGE', set, -1, -1, 'WITHSCORES')
  if last[2] then
    local ends = math.min(tonumber(last[2]), 1e15)
    redis.call('PEXPIREAT', set, string.format('%.0f', ends))
  end
end

-- Add the member, to last `ms` at least; a longer time stays. A master without memory refuses
-- ZADD as a script's first write. It allows the PEXPIREAT of settle(), and after that any
-- write.
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
