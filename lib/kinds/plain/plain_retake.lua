-- R8: As plain_extend, but a free lock is taken. A majority has just confirmed the lock, and
-- this master lost or never had its key.
-- Returns the nonce, or {nonce, 0} if another has it.
-- include shared/foreign_data
-- include shared/holder_text
local holder = holder_of(KEYS[1])
if not holder then
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
  return ARGV[1]
end
if holder ~= ARGV[2] then
  return {ARGV[1] .. '-', 0}
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return ARGV[1]
