-- As qwrite_extend, but a hold that is gone is taken, unless another owner has the lock. A
-- majority has just confirmed the hold, and this master lost or never had it.
-- Returns the nonce, or {nonce, 0} if another has it, or other data is there.
-- include quorum_rw/qrw
-- include shared/foreign_data
-- include quorum_rw/qrw_owner
-- include quorum_rw/qrw_tidy
-- include quorum_rw/qrw_put
-- include quorum_rw/qrw_live
if tidy(KEYS[1]) then
  return {ARGV[1] .. '-', 0}
end
for at = 0, 1000000, 16 do
  local some = live(KEYS[1], at, 16)
  for i = 1, #some, 2 do
    if owner_of(some[i]) ~= ARGV[2] then
      return {ARGV[1] .. '-', 0}
    end
  end
  if #some < 32 then
    break
  end
end
put(KEYS[1], 'w:' .. me, ARGV[4])
return ARGV[1]
