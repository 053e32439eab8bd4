-- The usual case goes first, before any function is made: the lock is free, and no old token is
-- left. HMGET and SISMEMBER fail for a user without a right to them. Such a user could not
-- release the lock, so it must not take it.
local has, known = redis.pcall('HMGET', KEYS[1], ARGV[2], 'mode'),
  redis.pcall('SISMEMBER', KEYS[2], ARGV[3])
if not has.err and known == 0 and string.find(ARGV[4] or '', '^%d+$') and
  redis.pcall('EXISTS', KEYS[1], KEYS[2]) == 0 and
  redis.pcall('HINCRBY', KEYS[1], ARGV[2], 1) == 1 then
  redis.call('SADD', KEYS[2], ARGV[3])
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
  redis.call('PEXPIRE', KEYS[2], ARGV[4])
  return ARGV[1]
end
