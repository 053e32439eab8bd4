-- Delete the lock KEYS[1], whatever its kind and its holder. The keys that its holders and its
-- waiting readers and writers have beside it are deleted too; the queues stay.
-- Then wake the first waiter in the queue KEYS[2], and reserve the lock for it during ARGV[2]
-- ms. All listeners on the channels of Redisson's locks are woken too. In the queue of a
-- Redisson fair lock, the first waiter that listens is woken.
-- By pcall, because a missing right to a channel, or foreign data in a queue's place, must not
-- undo the deletion.
-- A note is left for the holder, for as long as the lock had, and ARGV[5] ms at most: when, by
-- this master's clock, and ARGV[4], which is who. By pcall, too: a note is no condition.
-- A hash or a set of a lock's shape but without a TTL counts as a lock only if ARGV[3] is 1. A
-- string counts as a token only if it is short.
-- Returns:
--   nonce: deleted
--   {nonce, 0}: there was no lock
--   {nonce, 3, remaining ms (-1: for ever), text}: foreign data, which stays
-- include shared/waiters
-- include shared/wake_next
-- include shared/key_kind
-- include shared/own_key
-- include shared/force_beside
-- include shared/broken_note
local kind, there = found(KEYS[1], true)
local left = redis.call('PTTL', KEYS[1])
there = there or 'string'
if kind == 'data' or kind == 'plain' and #redis.call('GET', KEYS[1]) > 512 then
  return {ARGV[1] .. '-', 3, left, 'a ' .. there .. ' that is no lock'}
elseif left == -1 and ARGV[3] ~= '1' then
  return {ARGV[1] .. '-', 3, left, 'a ' .. there .. ' without an end (TTL)'}
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
if gone ~= 1 then
  return {ARGV[1] .. '-', 0}
end
leave_note(left)
return ARGV[1]
