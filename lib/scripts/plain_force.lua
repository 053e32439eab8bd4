-- Delete the lock KEYS[1], whoever has it. GET first: it fails on data of another type.
-- Returns {nonce, 1}, or {nonce, 0} where there was none.
if redis.call('GET', KEYS[1]) then
  return {ARGV[1], redis.call('DEL', KEYS[1])}
end
return {ARGV[1], 0}
