-- As qwrite_acquire, for a waiter that listens on the lock's channel. A message there wakes all
-- waiters at once.
-- Returns:
--   nonce: taken
--   {nonce, 0, remaining ms, holder, 0}: another keeps it out
--   {nonce, 2, remaining ms, holder, -1}: this owner reads
--   {nonce, 3, remaining ms, text, -1}: other data is under that name
-- include quorum_rw/qrw
-- include quorum_rw/qwrite_free
-- include shared/foreign_data
-- include quorum_rw/qrw_owner
-- include quorum_rw/qrw_tidy
-- include quorum_rw/qrw_put
-- include quorum_rw/qrw_live
-- include quorum_rw/qwrite_take
-- include quorum_rw/qwrite_mark
local code, left, holder = take_or_mark()
if code == 1 then
  return ARGV[1]
end
return {ARGV[1] .. '-', code, left, holder, code == 0 and 0 or -1}
