-- Take the write lock KEYS[1], as Redisson's RReadWriteLock has it, for the owner ARGV[2] and
-- the token ARGV[3] during ARGV[4] ms, if nobody else has it. KEYS[2] begins the names of its
-- leases. A mark KEYS[3] of those who wait keeps new readers out.
-- Returns {nonce, 1}, or {nonce, 0, remaining ms (-1: for ever), who has it}, or {nonce, 2,
-- remaining ms, owner} for who has the read lock, or {nonce, 3, remaining ms, what stands there
-- that is no read-write lock}.
local field, new_mode = ARGV[2] .. ':write', 'write'
-- include redisson_rw/rw_free
-- include redisson_rw/rw_holds
-- include redisson_rw/rw_gaps
-- include redisson_rw/rw_stands
-- include redisson_rw/rw_write
-- include redisson_rw/rw_mark
local code, left, who = take_or_mark()
if code == 1 then
  return {ARGV[1], 1}
end
return {ARGV[1], code, left, who}
