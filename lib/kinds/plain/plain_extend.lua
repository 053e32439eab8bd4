-- Make the lock KEYS[1] last at least ARGV[3] ms more, if the token ARGV[2] has it.
-- Upwards only: an extension that arrives late must not cut a longer one.
-- Returns {nonce, 1}, or {nonce, 0} where it is gone or another's.
-- The usual case needs no function: it is ours.
if redis.pcall('GET', KEYS[1]) ~= ARGV[2] then
-- include shared/other_data
-- include shared/holder
  holder_of(KEYS[1])
  return {ARGV[1], 0}
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return {ARGV[1], 1}
