-- R13: Release the lock KEYS[1], if its token is ARGV[1]. If it is free then, wake the first waiter
-- in the queue KEYS[2] and reserve the lock for it during ARGV[2] ms (0: wake nobody).
-- Returns the proof, or {proof, 0} if the lock was gone or another had it already. The proof is the
-- token without its first character: a GET that shows the token is no answer to this.
-- The usual case goes first, before any function is made: the lock is ours, and nobody waits.
-- A queue that is not there is found by PTTL at the least cost.
local proof = string.sub(ARGV[1], 2)
local mine = redis.pcall('GET', KEYS[1]) == ARGV[1]
if mine then
  redis.call('DEL', KEYS[1])
  if ARGV[2] == '0' or redis.pcall('PTTL', KEYS[2]) == -2 then
    return proof
  end
end
-- include shared/foreign_data
-- include shared/holder_text
-- include shared/waiters
-- include shared/wake_next
if not holder_of(KEYS[1]) and ARGV[2] ~= '0' then
  hand_on(KEYS[1], KEYS[2], ARGV[2])
end
if not mine then
  return {proof .. '-', 0}
end
return proof
