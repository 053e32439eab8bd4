-- Take the lock KEYS[1] for the token ARGV[2] during ARGV[3] ms, if nobody has it.
-- ARGV[1] is a nonce that every reply starts with, so that replies can't be mistaken.
-- Returns {nonce, 1}, or {nonce, 0, remaining ms (-1: for ever), holder}.
if redis.call('SET', KEYS[1], ARGV[2], 'NX', 'PX', ARGV[3]) then
  return {ARGV[1], 1}
end
return {ARGV[1], 0, redis.call('PTTL', KEYS[1]), redis.call('GET', KEYS[1])}
