-- Take the read lock KEYS[1] for the owner ARGV[2] with the token ARGV[3] during ARGV[4] ms.
-- The format is that of Redisson's RReadWriteLock. KEYS[2] begins the names of its leases.
-- Another owner's write lock refuses it. The mark KEYS[3] of a waiting writer refuses it too,
-- unless the owner has the lock already. The mark does not count in the turn of the readers
-- KEYS[4], if these include the client of the waiter ARGV[5].
-- Returns:
--   nonce: taken
--   {nonce, 0, remaining ms (-1: for ever), holder}: another keeps it out
--   {nonce, 3, remaining ms, text}: no read-write lock is under that name
local field, new_mode = ARGV[2], 'read'
-- include redisson_rw/rw_free
-- include redisson_rw/rw_holds
-- include redisson_rw/rw_compact
-- include redisson_rw/rw_state
local client = string.sub(ARGV[5], 1, 36)
-- include redisson_rw/rw_turn
-- include redisson_rw/rw_read
local code, left, who = take(kept_out_ms)
if code == 1 then
  return ARGV[1]
end
return {ARGV[1] .. '-', code, left, who}
