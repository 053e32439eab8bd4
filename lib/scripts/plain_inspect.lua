-- Who has the lock KEYS[1], and for how long?
-- Returns {nonce, 0, remaining ms (-1: for ever), holder}, or {nonce, 1} where nobody has.
local holder = redis.call('GET', KEYS[1])
if not holder then
  return {ARGV[1], 1}
end
return {ARGV[1], 0, redis.call('PTTL', KEYS[1]), holder}
