-- As qread_extend, but a hold that is gone is taken, unless another owner writes. A majority
-- has just confirmed the hold, and this master lost or never had it.
-- Returns the nonce, or {nonce, 0} if a writer has the lock, or other data is there.
-- include quorum_rw/qrw
-- include shared/foreign_data
-- include quorum_rw/qrw_owner
-- include quorum_rw/qrw_tidy
-- include quorum_rw/qrw_put
-- include quorum_rw/qrw_live
-- include quorum_rw/qread
if tidy(KEYS[1]) or writer(KEYS[1]) then
  return {ARGV[1] .. '-', 0}
end
put(KEYS[1], 'r:' .. me, ARGV[4])
return ARGV[1]
