-- Remove the waiter ARGV[2] from the queue KEYS[2]. If the lock KEYS[1] is free, or reserved
-- for this waiter, wake the next waiter and reserve the lock for that one during ARGV[3] ms.
-- Returns the nonce.
-- include shared/foreign_data
-- include shared/holder_text
-- include shared/waiters
-- include shared/wake_next
redis.pcall('ZREM', KEYS[2], ARGV[2])
local holder = holder_of(KEYS[1])
local kept = holder == 'redlock:next:' .. ARGV[2]
if kept then
  redis.call('DEL', KEYS[1])
end
if kept or not holder then
  hand_on(KEYS[1], KEYS[2], ARGV[3])
end
return ARGV[1]
