-- The data under a key, in words. For a Redisson lock of one owner, also that owner.
local function what_stands(key)
  local what = other_data(key, 'hash')
  if what then
    return what == 'a string' and 'a string (a plain lock, or data)' or what
  elseif redis.call('HEXISTS', key, 'mode') == 1 then
    return 'a read-write lock of Redisson'
  end
  local pair = redis.call('HLEN', key) == 1 and redis.call('HGETALL', key)
  if pair and counted(pair[2]) and redis.call('PTTL', key) >= 0 then
    return 'a reentrant or a fair lock', pair[1]
  end
  return 'a hash that is no lock'
end
