-- The owner ARGV[2] waits no more for the fair lock KEYS[1]: out of its queue KEYS[3] to [5],
-- and where the lock is free the first in it is told, for it may be the next one only now.
-- Returns {nonce, 1}.
-- include shared/other_data
-- include fair/fair_queue
local _, foreign = first()
if not foreign then
  drop(ARGV[2])
  if redis.call('EXISTS', KEYS[1]) == 0 then
    wake(redis.call('LINDEX', KEYS[3], 0))
  end
end
return {ARGV[1], 1}
