-- Take the fair lock KEYS[1] for the owner ARGV[2], also if the owner has it already. The lock
-- is refused while another owner is first in the queue KEYS[3] to [5]. ARGV[3] is added to the
-- owner's tokens KEYS[2]. Both keys last ARGV[4] ms at least. A waiter of this library leaves
-- the queue after ARGV[5] ms of silence.
-- Returns:
--   nonce: taken
--   {nonce, 0, remaining ms (-1: for ever), the holder or the first waiter}
--   {nonce, 3, remaining ms, text}: other data is under that name
-- The usual case goes first: the queue is empty.
if redis.pcall('EXISTS', KEYS[3], KEYS[4], KEYS[5]) == 0 then
-- include reentrant/reentrant_free
end
-- include shared/foreign_data
-- include shared/redisson_count
-- include reentrant/reentrant
-- include reentrant/reentrant_lasts
-- include shared/describe_key
-- include reentrant/reentrant_take
-- include fair/fair_queue
-- include fair/fair_take
local code, left, who = fair_take()
if code == 1 then
  return ARGV[1]
end
return {ARGV[1] .. '-', code, left, who}
