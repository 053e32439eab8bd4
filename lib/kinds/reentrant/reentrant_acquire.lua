-- Take the lock KEYS[1] for the owner ARGV[2], or once more if it has it, with the token ARGV[3]
-- among its tokens KEYS[2], during ARGV[4] ms at least.
-- Returns {nonce, 1}, or {nonce, 0, remaining ms (-1: for ever), owner}, or {nonce, 3, remaining
-- ms, what else stands there}.
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
return {ARGV[1], code, left, who}
