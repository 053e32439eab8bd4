-- Give the token ARGV[3] of the owner ARGV[2] back: out of KEYS[2], and off the owner's count in
-- the lock KEYS[1], which is deleted when neither has anything left. Where nobody has it then,
-- those who wait are told in the channel KEYS[3], as Redisson does (ARGV[4] 0: they are not).
-- By pcall: no right to a channel must not undo the release.
-- Returns {nonce, 1}, or {nonce, 0} where it was given back or lost already.
-- include reentrant/reentrant_give
if ARGV[4] ~= '0' and (left == 0 or not mine and redis.call('EXISTS', KEYS[1]) == 0) then
  redis.pcall('PUBLISH', KEYS[3], '0')
end
return {ARGV[1], mine and 1 or 0}
