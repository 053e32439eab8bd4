-- Take the lock KEYS[1] for the token ARGV[2] during ARGV[3] ms, if it is free.
-- ARGV[1] is a nonce. Every reply is this, or starts with it, so that one reply can't be
-- mistaken for another.
-- Returns:
--   nonce: taken
--   {nonce, 0, remaining ms (-1: for ever), holder}: another has it
--   {nonce, 3, remaining ms (-1: for ever), text}: other data is under that name
if redis.call('SET', KEYS[1], ARGV[2], 'NX', 'PX', ARGV[3]) then
  return ARGV[1]
end
local left, holder = redis.call('PTTL', KEYS[1]), redis.pcall('GET', KEYS[1])
if type(holder) == 'table' then
-- include shared/foreign_data
-- include shared/foreign_kind
  return {ARGV[1] .. '-', 3, left, other_kind(KEYS[1], holder)}
end
return {ARGV[1] .. '-', 0, left, string.sub(holder, 1, 512)}
