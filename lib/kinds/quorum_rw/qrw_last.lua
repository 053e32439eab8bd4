-- The set lives for as long as the last one in it. A score of somebody else's may be no time: a
-- script that failed on it would have done what it is for, and not say so.
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
if last[2] then
  local ends = math.min(tonumber(last[2]), 1e15)
  redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', ends))
end
