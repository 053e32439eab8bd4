-- Delete the lock KEYS[1], of whatever kind and whoever has it, and what its holders and those
-- who wait to read or write have beside it; the queues stay. Who waits is woken: the first in
-- the queue KEYS[2], for whom it is kept free during ARGV[2] ms, all who listen to the channels
-- of Redisson's locks, and the first in the queue of its fair ones who listens. By pcall: no right
-- to a channel, or foreign data where a queue should be, must not undo the deletion.
-- Returns {nonce, 1}, {nonce, 0} where there was none, or {nonce, 3, remaining ms (-1: for
-- ever), what} where somebody's data stands, which stays.
-- include hand_on
-- include found
local kind, there = found(KEYS[1])
if kind == 'data' then
  return {ARGV[1], 3, redis.call('PTTL', KEYS[1]), 'a ' .. there .. ' that is no lock'}
end
local gone = redis.call('DEL', KEYS[1])
redis.pcall('DEL', KEYS[1] .. ':redlock:holds')
redis.pcall('DEL', KEYS[1] .. ':redlock:writer')
redis.pcall('DEL', KEYS[1] .. ':redlock:readers')
hand_on(KEYS[1], KEYS[2], ARGV[2])
local channel = derived('redisson_lock__channel:')
redis.pcall('PUBLISH', channel, '0')
redis.pcall('PUBLISH', derived('redisson_rwlock:'), '1')
for _, owner in ipairs(redis.pcall('LRANGE', derived('redisson_lock_queue:'), 0, 999)) do
  local heard = redis.pcall('PUBLISH', channel .. ':' .. owner, '0')
  if type(heard) ~= 'number' or heard > 0 then
    break
  end
end
return {ARGV[1], gone}
