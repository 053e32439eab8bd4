-- Upwards only: the longest lease of those that are nested counts.
local function at_least(key, ms)
  if redis.call('PTTL', key) < tonumber(ms) then
    redis.call('PEXPIRE', key, ms)
  end
end
