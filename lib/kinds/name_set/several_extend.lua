-- Make all the locks KEYS last at least ARGV[3] ms more, if the token ARGV[2] has every one. An
-- extension never shortens a lock, because a late one must not cut a longer one.
-- Returns the nonce. If a lock is gone or another has it, returns {nonce, 0} and changes
-- nothing.
-- include shared/foreign_data
-- include shared/holder_text
for i = 1, #KEYS do
  if holder_of(KEYS[i]) ~= ARGV[2] then
    return {ARGV[1] .. '-', 0}
  end
end
for i = 1, #KEYS do
  if redis.call('PTTL', KEYS[i]) < tonumber(ARGV[3]) then
    redis.call('PEXPIRE', KEYS[i], ARGV[3])
  end
end
return ARGV[1]
