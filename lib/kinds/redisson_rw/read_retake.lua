-- As read_extend, but the lock is taken if no other owner has the write lock, even while a
-- writer waits. A majority has just confirmed the hold, and this master lost or never had it.
-- Returns the nonce, or {nonce, 0} if another has it.
-- include redisson_rw/rw_holds
-- include redisson_rw/rw_compact
-- include redisson_rw/rw_state
-- include redisson_rw/rw_read
local code = take()
if code ~= 1 then
  return {ARGV[1] .. '-', 0}
end
return ARGV[1]
