-- Remove the owner ARGV[2] from the queue KEYS[3] to [5] of the fair lock KEYS[1]. If the lock
-- is free, wake the first waiter, because it may have become the first only now.
-- Returns the nonce.
-- include shared/foreign_data
-- include fair/fair_queue
local _, foreign = first()
if not foreign then
  drop(ARGV[2])
  if redis.call('EXISTS', KEYS[1]) == 0 then
    wake(redis.call('LINDEX', KEYS[3], 0))
  end
end
return ARGV[1]
