-- Take the fair lock KEYS[1] for the owner ARGV[2], or once more if it has it, with the token
-- ARGV[3] among its tokens KEYS[2], during ARGV[4] ms at least, unless somebody else is the
-- first in the queue KEYS[3] to [5], where waiters of ours live for ARGV[5] ms unheard.
-- Returns {nonce, 1}, or {nonce, 0, remaining ms (-1: for ever), who has it or comes first}, or
-- {nonce, 3, remaining ms, what else stands there}.
-- Nobody is queued mostly.
if redis.pcall('EXISTS', KEYS[3], KEYS[4], KEYS[5]) == 0 then
-- include reentrant/reentrant_free
end
-- include shared/other_data
-- include shared/counted
-- include reentrant/reentrant
-- include reentrant/reentrant_lasts
-- include shared/what_stands
-- include reentrant/reentrant_take
-- include fair/fair_queue
-- include fair/fair_take
local code, left, who = fair_take()
if code == 1 then
  return {ARGV[1], 1}
end
return {ARGV[1], code, left, who}
