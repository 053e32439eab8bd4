-- Release the token ARGV[3] of the owner ARGV[2]: see reentrant_release. If the lock is free
-- then, wake the first waiter on its own channel, which is KEYS[6] and the waiter's name. If
-- ARGV[4] is 0, it is woken only if this release made the lock free.
-- Returns the nonce, or {nonce, 0} if the token was released or lost already.
-- include reentrant/reentrant_give
local free = left == 0 or not mine and ARGV[4] ~= '0' and redis.call('EXISTS', KEYS[1]) == 0
if free and redis.pcall('EXISTS', KEYS[3], KEYS[4], KEYS[5]) ~= 0 then
-- include shared/foreign_data
-- include fair/fair_queue
  local fine, head = pcall(first)
  wake(fine and head)
end
if not mine then
  return {ARGV[1] .. '-', 0}
end
return ARGV[1]
