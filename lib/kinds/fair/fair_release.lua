-- Give the token ARGV[3] of the owner ARGV[2] back: see reentrant_release. Where nobody has
-- the lock then, the first in its queue is told in its own channel, KEYS[6] and its name
-- (ARGV[4] 0: it is told only where this has made the lock free).
-- Returns {nonce, 1}, or {nonce, 0} where it was given back or lost already.
-- include reentrant/reentrant_give
local free = left == 0 or not mine and ARGV[4] ~= '0' and redis.call('EXISTS', KEYS[1]) == 0
if free and redis.pcall('EXISTS', KEYS[3], KEYS[4], KEYS[5]) ~= 0 then
-- include shared/other_data
-- include fair/fair_queue
  local fine, head = pcall(first)
  wake(fine and head)
end
return {ARGV[1], mine and 1 or 0}
