-- Delete the lock KEYS[1], of whatever kind and whoever has it, and what its holders and those
-- who wait to read or write have beside it; the queues stay. Who waits is woken: the first in
-- the queue KEYS[2], for whom it is kept free during ARGV[2] ms, all who listen to the channels
-- of Redisson's locks, and the first in the queue of its fair ones who listens. By pcall: no right
-- to a channel, or foreign data where a queue should be, must not undo the deletion. What has the
-- shape of a lock and no end (TTL) is one only if ARGV[3] is 1; a string is a token, which is short.
-- Returns {nonce, 1}, {nonce, 0} where there was none, or {nonce, 3, remaining ms (-1: for
-- ever), what} where somebody's data stands, which stays.
-- include shared/hand_on
-- include shared/found
-- include shared/force_beside
local kind, there = found(KEYS[1], true)
local left = redis.call('PTTL', KEYS[1])
there = there or 'string'
if kind == 'data' or kind == 'plain' and #redis.call('GET', KEYS[1]) > 512 then
  return {ARGV[1], 3, left, 'a ' .. there .. ' that is no lock'}
elseif left == -1 and ARGV[3] ~= '1' then
  return {ARGV[1], 3, left, 'a ' .. there .. ' without an end (TTL)'}
end
if kind == 'read-write' and there == 'hash' then
  drop_leases()
end
local gone = redis.call('DEL', KEYS[1])
drop_beside('holds', {}, {'^' .. string.rep('%x', 32) .. ':'})
drop_beside('writer', {client_id}, {client_id})
drop_beside('readers', {'^wait$', '^turn:%d+$'}, {client_id, '^turn$'})
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
