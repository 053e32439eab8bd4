-- As reentrant_acquire, for a waiter that will listen on the lock's channel. There is no queue,
-- so the fifth element of every refusal, the place in the queue, is -1.
-- include reentrant/reentrant_free
-- include shared/foreign_data
-- include shared/redisson_count
-- include reentrant/reentrant
-- include reentrant/reentrant_lasts
-- include shared/describe_key
-- include reentrant/reentrant_take
local code, left, who = take()
if code == 1 then
  return ARGV[1]
end
return {ARGV[1] .. '-', code, left, who, -1}
