-- The set lives as long as its last member. A foreign score may be no time, so it is limited:
-- otherwise the script would fail here after its work is done.
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
if last[2] then
  local ends = math.min(tonumber(last[2]), 1e15)
  redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', ends))
  last = ends > now and last or {}
end
