-- Give the hold of the owner ARGV[2] with the token ARGV[3] of the write lock KEYS[1] up.
-- KEYS[2] begins the names of its leases. Where it was the last one, those who wait are told in
-- the channel KEYS[3] (ARGV[4] 0: they are not), also where the owner goes on as a reader.
-- Returns {nonce, 1}, or {nonce, 0} where it was gone already.
local field, was = ARGV[2] .. ':write', 'write'
-- include redisson_rw/rw_release_last
if not gone then
-- include redisson_rw/rw_holds
-- include redisson_rw/rw_gaps
-- include redisson_rw/rw_release
  gone, free, was = give_up(field)
end
-- include redisson_rw/rw_tell
return {ARGV[1], gone}
