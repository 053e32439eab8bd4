-- Make the hold of the lock KEYS[1] to read, by the owner ARGV[2] with the token ARGV[3], last
-- at least ARGV[4] ms more; never less than it would. One that was over is not there any more.
-- Returns {nonce, 1}, or {nonce, 0} where it is gone.
-- include shared/other_data
-- include quorum_rw/qrw
if tidy(KEYS[1]) or not redis.call('ZSCORE', KEYS[1], 'r:' .. me) then
  return {ARGV[1], 0}
end
put(KEYS[1], 'r:' .. me, ARGV[4])
return {ARGV[1], 1}
