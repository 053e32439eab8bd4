-- Remove the waiter ARGV[2] from the queues, the second half of KEYS. The first half of KEYS
-- are the locks. Each lock that is free, or reserved for this waiter, is reserved for the next
-- waiter in its queue during ARGV[3] ms.
-- Returns the nonce.
-- include shared/foreign_data
-- include shared/holder_text
-- include shared/waiters
-- include shared/wake_next
local count, kept = #KEYS / 2, 'redlock:next:' .. ARGV[2]
for i = 1, count do
  local lock, queue = KEYS[i], KEYS[count + i]
  redis.pcall('ZREM', queue, ARGV[2])
  local holder = holder_of(lock)
  if holder == kept then
    redis.call('DEL', lock)
  end
  if holder == kept or not holder then
    hand_on(lock, queue, ARGV[3])
  end
end
return ARGV[1]
