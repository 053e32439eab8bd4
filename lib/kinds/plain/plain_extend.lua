-- Make the lock KEYS[1] last at least ARGV[3] ms more, if the token ARGV[2] has it.
-- Upwards only: an extension that arrives late must not cut a longer one.
-- Returns {nonce, 1}, or {nonce, 0} where it is gone or another's.
-- include shared/other_data
-- include shared/holder
if holder_of(KEYS[1]) ~= ARGV[2] then
  return {ARGV[1], 0}
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return {ARGV[1], 1}
