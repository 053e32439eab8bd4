-- Make the lock KEYS[1] last at least ARGV[3] ms more, if its token is ARGV[2].
-- An extension never shortens the lock, because a late one must not cut a longer one.
-- Returns the nonce, or a refusal (not_ours.lua) if the lock is gone or another has it.
-- The usual case needs no function: the lock is ours.
if redis.pcall('GET', KEYS[1]) ~= ARGV[2] then
-- include shared/foreign_data
-- include shared/holder_text
-- include shared/own_key
-- include shared/not_ours
  holder_of(KEYS[1])
  return not_ours(KEYS[1])
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return ARGV[1]
