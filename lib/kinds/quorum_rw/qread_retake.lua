-- As qread_extend, and where the hold is gone and no other's writer has the lock, it is taken:
-- for a master that lost or never had a hold that a majority has just confirmed.
-- Returns {nonce, 1}, or {nonce, 0} where a writer has it, or other data stands there.
-- include quorum_rw/qrw
-- include shared/other_data
-- include quorum_rw/qrw_owner
-- include quorum_rw/qrw_tidy
-- include quorum_rw/qrw_put
-- include quorum_rw/qread
if tidy(KEYS[1]) or writer(KEYS[1]) then
  return {ARGV[1], 0}
end
put(KEYS[1], 'r:' .. me, ARGV[4])
return {ARGV[1], 1}
