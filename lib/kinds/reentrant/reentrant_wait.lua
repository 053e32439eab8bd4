-- As reentrant_acquire, for one who will listen to the lock's channel: there is no queue, and so
-- the place in it, a fifth element of every refusal, is -1.
-- include reentrant/reentrant_free
-- include shared/other_data
-- include shared/counted
-- include reentrant/reentrant
-- include reentrant/reentrant_lasts
-- include shared/what_stands
-- include reentrant/reentrant_take
local code, left, who = take()
if code == 1 then
  return {ARGV[1], 1}
end
return {ARGV[1], code, left, who, -1}
