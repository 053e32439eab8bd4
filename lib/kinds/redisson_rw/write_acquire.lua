-- Take the write lock KEYS[1] for the owner ARGV[2] with the token ARGV[3] during ARGV[4] ms,
-- unless another owner has it. The format is that of Redisson's RReadWriteLock. KEYS[2] begins
-- the names of its leases. The mark KEYS[3] of waiting writers keeps new readers out.
-- Returns:
--   nonce: taken
--   {nonce, 0, remaining ms (-1: for ever), holder}: another has it
--   {nonce, 2, remaining ms, owner}: this owner has the read lock
--   {nonce, 3, remaining ms, text}: no read-write lock is under that name
local field, new_mode = ARGV[2] .. ':write', 'write'
-- include redisson_rw/rw_free
-- include redisson_rw/rw_holds
-- include redisson_rw/rw_compact
-- include redisson_rw/rw_state
-- include redisson_rw/rw_write
-- include redisson_rw/rw_mark
local code, left, who = take_or_mark()
if code == 1 then
  return ARGV[1]
end
return {ARGV[1] .. '-', code, left, who}
