-- As read_acquire, for a waiter that will listen on the lock's channel. If it is refused, its
-- client is added to the waiting readers KEYS[4] for ARGV[6] ms. There is no queue, so the
-- fifth element of every refusal, the place in the queue, is 0.
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
  goes_out()
  return ARGV[1]
elseif code == 0 then
  goes_in(ARGV[6])
end
return {ARGV[1] .. '-', code, left, who, 0}
