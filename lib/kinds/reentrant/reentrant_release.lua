-- Release the token ARGV[3] of the owner ARGV[2]. It is removed from KEYS[2], and the owner's
-- count in the lock KEYS[1] lowered. The lock is deleted when neither count nor tokens are
-- left.
-- If the lock is free then, wake its waiters on the channel KEYS[3], as Redisson does (ARGV[4]
-- 0: wake nobody). By pcall, because a missing right to a channel must not undo the release.
-- Returns the nonce, or {nonce, 0} if the token was released or lost already.
-- include reentrant/reentrant_give
if ARGV[4] ~= '0' and (left == 0 or not mine and redis.call('EXISTS', KEYS[1]) == 0) then
  redis.pcall('PUBLISH', KEYS[3], '0')
end
if not mine then
  return {ARGV[1] .. '-', 0}
end
return ARGV[1]
