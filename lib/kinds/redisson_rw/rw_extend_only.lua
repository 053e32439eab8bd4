-- The usual case goes first, before any function is made. The hold is the only one of its
-- owner, and both its lease and the lock are to be extended.
local only, ms = KEYS[2] .. ':' .. field .. ':rwlock_timeout:1', tonumber(ARGV[4])
local has = redis.pcall('HMGET', KEYS[1], field, other)
if has[1] == '1' and not has[2] and redis.pcall('GET', only) == ARGV[3] and ms and
  redis.call('PTTL', only) < ms and redis.call('PTTL', KEYS[1]) < ms and
  redis.pcall('PEXPIRE', only, ARGV[4]) == 1 then
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
  return ARGV[1]
end
