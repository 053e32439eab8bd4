-- As write_extend, but the lock is taken if no other owner has it. A majority has just
-- confirmed the hold, and this master lost or never had it.
-- Returns the nonce, or {nonce, 0} if others have it.
-- include redisson_rw/rw_holds
-- include redisson_rw/rw_compact
-- include redisson_rw/rw_state
-- include redisson_rw/rw_write
local code = take(true)
if code ~= 1 then
  return {ARGV[1] .. '-', 0}
end
return ARGV[1]
