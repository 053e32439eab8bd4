-- Give the lock KEYS[1] up, if the token ARGV[2] has it. Where nobody has it now, the first in
-- the queue KEYS[2] is woken, and the lock kept free for it during ARGV[3] ms (0: nobody is).
-- Returns {nonce, 1}, or {nonce, 0} where it was gone or another's already.
-- include shared/other_data
-- include shared/holder
-- include shared/hand_on
local holder = holder_of(KEYS[1])
local mine = holder == ARGV[2]
if mine then
  redis.call('DEL', KEYS[1])
end
if ARGV[3] ~= '0' and (mine or not holder) then
  hand_on(KEYS[1], KEYS[2], ARGV[3])
end
return {ARGV[1], mine and 1 or 0}
