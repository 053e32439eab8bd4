-- As read_acquire, for one who will listen to the lock's channel. Where it is refused its
-- client is put among the readers KEYS[4] who wait, for ARGV[6] ms. There is no queue: the place
-- in it, a fifth element of every refusal, is 0.
local field, new_mode = ARGV[2], 'read'
-- include redisson_rw/rw_free
-- include redisson_rw/rw_holds
-- include redisson_rw/rw_gaps
-- include redisson_rw/rw_stands
local client = string.sub(ARGV[5], 1, 36)
-- include redisson_rw/rw_turn
-- include redisson_rw/rw_read
local code, left, who = take(kept_out_ms)
if code == 1 then
  goes_out()
  return {ARGV[1], 1}
elseif code == 0 then
  goes_in(ARGV[6])
end
return {ARGV[1], code, left, who, 0}
