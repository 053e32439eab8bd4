-- Release those locks in the first half of KEYS that the token ARGV[2] has. If a lock is free
-- then, wake the first waiter in its queue, in the second half of KEYS. The lock is reserved
-- for that waiter during ARGV[3] ms (0: wake nobody).
-- Returns the nonce, or {nonce, 0} if a lock was gone or another had it already.
-- include shared/foreign_data
-- include shared/holder_text
-- include shared/waiters
-- include shared/wake_next
local count, all = #KEYS / 2, true
for i = 1, count do
  local holder = holder_of(KEYS[i])
  local mine = holder == ARGV[2]
  if mine then
    redis.call('DEL', KEYS[i])
  else
    all = false
  end
  if ARGV[3] ~= '0' and (mine or not holder) then
    hand_on(KEYS[i], KEYS[count + i], ARGV[3])
  end
end
if not all then
  return {ARGV[1] .. '-', 0}
end
return ARGV[1]
