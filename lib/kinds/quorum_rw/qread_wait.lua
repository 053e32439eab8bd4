-- As qread_acquire, for a waiter that listens on the lock's channel. A message there wakes all
-- waiters at once. KEYS[3] shows for ARGV[5] ms that a reader waits.
-- During the readers' turn, the mark does not keep out a reader that was waiting when the turn
-- began. The reader has waited for ARGV[6] us.
-- Returns:
--   nonce: taken
--   {nonce, 0, remaining ms, holder, 0}: a writer keeps it out
--   {nonce, 3, remaining ms (-1: for ever), text, -1}: other data is under that name
-- include quorum_rw/qrw
-- include quorum_rw/qread_free
-- include shared/foreign_data
-- include quorum_rw/qrw_owner
-- include quorum_rw/qrw_tidy
-- include quorum_rw/qrw_put
-- include quorum_rw/qrw_live
-- include quorum_rw/qread
-- include quorum_rw/qread_take
local readers = redis.pcall('GET', KEYS[3])
local turn = type(readers) == 'string' and string.match(readers, '^turn:(%d+)$')
local code, left, holder =
  take(turn and ARGV[6] / 1000 >= turn - redis.call('PTTL', KEYS[3]))
if code == 1 then
  return ARGV[1]
end
if code == 0 and not turn and type(readers) ~= 'table' then
  redis.pcall('SET', KEYS[3], 'wait', 'PX', ARGV[5])
end
return {ARGV[1] .. '-', code, left, holder, code == 0 and 0 or -1}
