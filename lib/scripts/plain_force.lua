-- Delete the lock KEYS[1], whoever has it, and wake the first in the queue KEYS[2], for whom it
-- is kept free during ARGV[2] ms. GET first: it fails on data of another type.
-- Returns {nonce, 1}, or {nonce, 0} where there was none.
-- include hand_on
local there = 0
if redis.call('GET', KEYS[1]) then
  there = redis.call('DEL', KEYS[1])
end
hand_on(KEYS[1], KEYS[2], ARGV[2])
return {ARGV[1], there}
