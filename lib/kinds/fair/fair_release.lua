-- Give the token ARGV[3] of the owner ARGV[2] back: see reentrant_release. Where nobody has
-- the lock then, the first in its queue is told in its own channel, KEYS[6] and its name
-- (ARGV[4] 0: it is told only where this has made the lock free).
-- Returns {nonce, 1}, or {nonce, 0} where it was given back or lost already.
-- include shared/other_data
-- include shared/counted
-- include reentrant/reentrant
-- include reentrant/reentrant_give
local mine = give()
-- include fair/fair_queue
if (mine or ARGV[4] ~= '0') and redis.call('EXISTS', KEYS[1]) == 0 then
  local fine, head = pcall(first)
  wake(fine and head)
end
return {ARGV[1], mine and 1 or 0}
