-- As write_acquire, for a waiter that will listen on the lock's channel. There is no queue, so
-- the fifth element of every refusal, the place in the queue, is 0.
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
return {ARGV[1] .. '-', code, left, who, 0}
