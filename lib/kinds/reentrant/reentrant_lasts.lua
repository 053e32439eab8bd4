-- Never shorten a key: among nested leases, the longest counts.
local function at_least(key, ms)
  if redis.call('PTTL', key) < tonumber(ms) then
    redis.call('PEXPIRE', key, ms)
  end
end
