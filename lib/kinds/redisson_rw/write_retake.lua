-- As write_extend, but the lock is taken if no other owner has it. A majority has just
-- confirmed the hold, and this master lost or never had it.
-- Returns {nonce, 1}, or {nonce, 0} if others have it.
-- include redisson_rw/rw_holds
-- include redisson_rw/rw_compact
-- include redisson_rw/rw_state
-- include redisson_rw/rw_write
local code = take(true)
return {ARGV[1], code == 1 and 1 or 0}
