-- Make all the locks KEYS last at least ARGV[3] ms more, if the token ARGV[2] has every one. An
-- extension never shortens a lock, because a late one must not cut a longer one.
-- Returns the nonce. If a lock is gone or another has it, refuses (not_ours.lua) and
-- changes nothing.
-- include shared/foreign_data
-- include shared/holder_text
-- include shared/own_key
-- include shared/not_ours
for i = 1, #KEYS do
  if holder_of(KEYS[i]) ~= ARGV[2] then
    return not_ours(KEYS[i])
  end
end
for i = 1, #KEYS do
  if redis.call('PTTL', KEYS[i]) < tonumber(ARGV[3]) then
    redis.call('PEXPIRE', KEYS[i], ARGV[3])
  end
end
return ARGV[1]
