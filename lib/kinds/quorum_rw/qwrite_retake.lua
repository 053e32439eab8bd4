-- As qwrite_extend, and where the hold is gone and nobody but this owner has the lock, it is
-- taken: for a master that lost or never had a hold that a majority has just confirmed.
-- Returns {nonce, 1}, or {nonce, 0} where another has it, or other data stands there.
-- include shared/other_data
-- include quorum_rw/qrw
if tidy(KEYS[1]) then
  return {ARGV[1], 0}
end
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  if owner_of(member) ~= ARGV[2] then
    return {ARGV[1], 0}
  end
end
put(KEYS[1], 'w:' .. me, ARGV[4])
return {ARGV[1], 1}
