-- Release the write hold of the owner ARGV[2] with the token ARGV[3] on the lock KEYS[1].
-- KEYS[2] begins the names of its leases. After the owner's last write hold, wake the waiters
-- on the channel KEYS[3] (ARGV[4] 0: wake nobody). This is so even if the owner goes on as a
-- reader.
-- Returns the nonce, or {nonce, 0} if the hold was gone already.
local field, was = ARGV[2] .. ':write', 'write'
-- include redisson_rw/rw_release_last
if not gone then
-- include redisson_rw/rw_holds
-- include redisson_rw/rw_compact
-- include redisson_rw/rw_release
  gone, free, was = give_up(field)
end
-- include redisson_rw/rw_tell
if gone ~= 1 then
  return {ARGV[1] .. '-', 0}
end
return ARGV[1]
