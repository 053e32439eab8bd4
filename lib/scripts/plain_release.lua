-- Give the lock KEYS[1] up, if the token ARGV[2] has it.
-- Returns {nonce, 1}, or {nonce, 0} where it was gone or another's already.
if redis.call('GET', KEYS[1]) == ARGV[2] then
  return {ARGV[1], redis.call('DEL', KEYS[1])}
end
return {ARGV[1], 0}
