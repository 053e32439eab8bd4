-- Give the token ARGV[3] of the owner ARGV[2] back: out of KEYS[2], and off the owner's count in
-- the lock KEYS[1], which is deleted when neither has anything left. Was it there?
local function give()
  local count = count_of_owner()
  if not count or not among_tokens('SREM') then
    return false
  end
  count = math.max(count - 1, redis.call('SCARD', KEYS[2]))
  if count > 0 then
    redis.call('HSET', KEYS[1], ARGV[2], count)
  else
    redis.call('DEL', KEYS[1])
  end
  return true
end
